import { expect, test } from 'vitest';
import { uuidv7 } from '../../../src/database/uuid.js';
import { rolledBackGates } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_job_cleanup_sweep';

async function endedJobs() {
  const { id: succeeded, token } = await gates.held({ job: { key: 's' } });
  await gates.call('fn_job_succeed', {
    job_id: succeeded,
    lease_token: token,
    result_ref: null,
    actor: 'w1',
  });
  const { id: dead, token: other } = await gates.held({ job: { key: 'd' } });
  await gates.call('fn_job_fail_permanent', {
    job_id: dead,
    lease_token: other,
    error_code: 'e',
    error_message: 'm',
    actor: 'w1',
  });
  const cancelled = await gates.enqueue({ key: 'c' });
  await gates.call('fn_job_cancel', { job_id: cancelled, reason: 'r', actor: 'ada' });
  return { succeeded, dead, cancelled };
}

test('succeeded and cancelled jobs past their retention are cleaned, dead letters stay', async () => {
  const { succeeded, dead, cancelled } = await endedJobs();
  const open = await gates.enqueue();
  await gates.db.clock.advance('31d');
  expect(await gates.call(gate)).toEqual({ cleaned: 2 });
  const statuses = await Promise.all(
    [succeeded, cancelled, dead, open].map((id) => gates.statusOf(id)),
  );
  expect(statuses).toEqual(['cleaned', 'cleaned', 'dead_letter', 'queued']);
  expect((await gates.history(succeeded)).at(-1)).toBe('cleaned');
});

test('a cleaned job keeps what it was', async () => {
  const { succeeded, cancelled } = await endedJobs();
  await gates.db.clock.advance('31d');
  await gates.call(gate);
  const rows = await gates.db.query(
    'select job_id, state from writ.v_job_state where job_id = any ($1)',
    [[succeeded, cancelled]],
  );
  expect(rows).toHaveLength(2);
  expect(rows).toEqual(
    expect.arrayContaining([
      { job_id: succeeded, state: 'SUCCEEDED' },
      { job_id: cancelled, state: 'FAILED' },
    ]),
  );
});

test('jobs within their retention stay', async () => {
  await endedJobs();
  await gates.db.clock.advance('29d');
  expect(await gates.unchanged(() => gates.call(gate))).toEqual({ cleaned: 0 });
});

test('retention is a setting', async () => {
  await endedJobs();
  await gates.set('queue.retention.finished_sec', 60);
  await gates.db.clock.advance('61s');
  expect(await gates.call(gate)).toEqual({ cleaned: 2 });
});

test('dead letters that nobody replayed are cleaned after a retention of their own', async () => {
  const { dead } = await endedJobs();
  await gates.db.clock.advance('364d');
  await gates.call(gate);
  expect(await gates.statusOf(dead)).toBe('dead_letter');
  await gates.db.clock.advance('2d');
  expect(await gates.call(gate)).toEqual({ cleaned: 1 });
  expect(await gates.statusOf(dead)).toBe('cleaned');
  expect(
    await gates.db.query('select state from writ.v_job_state where job_id = $1', [dead]),
  ).toEqual([{ state: 'FAILED' }]);
});

test('the retention of dead letters is a setting, and may be the shorter one', async () => {
  const { succeeded, dead } = await endedJobs();
  await gates.set('queue.retention.dead_letter_sec', 60);
  await gates.db.clock.advance('61s');
  expect(await gates.call(gate)).toEqual({ cleaned: 1 });
  expect(await Promise.all([succeeded, dead].map((id) => gates.statusOf(id)))).toEqual([
    'succeeded',
    'cleaned',
  ]);
});

test('the keys of cleaned jobs are free again, those of others are not', async () => {
  await endedJobs();
  await gates.db.clock.advance('31d');
  await gates.call(gate);
  const again = await gates.enqueueMany(
    ['s', 'c', 'd'].map((key) => ({ id: uuidv7(), kind: 'chore', key })),
  );
  expect(again).toMatchObject({ enqueued: 2, duplicates: [{ index: 2 }] });
});

test('one call cleans at most its limit, and answers 0 when all is done', async () => {
  await endedJobs();
  await gates.db.clock.advance('31d');
  expect(await gates.call(gate, { limit: 1 })).toEqual({ cleaned: 1 });
  expect(await gates.call(gate, { limit: 1 })).toEqual({ cleaned: 1 });
  expect(await gates.unchanged(() => gates.call(gate, { limit: 1 }))).toEqual({ cleaned: 0 });
});

test('with the queue switched off nothing is touched', async () => {
  await endedJobs();
  await gates.set('queue.job_substrate.enabled', false);
  await gates.db.clock.advance('31d');
  expect(await gates.unchanged(() => gates.call(gate))).toEqual({ cleaned: 0 });
});

test.each([0, -1])('a limit of %s cleans nothing and raises nothing', async (limit) => {
  await endedJobs();
  await gates.db.clock.advance('31d');
  expect(await gates.unchanged(() => gates.call(gate, { limit }))).toEqual({ cleaned: 0 });
});
