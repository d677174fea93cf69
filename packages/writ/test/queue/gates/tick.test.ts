import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { freshGates, rolledBackGates } from './harness.js';

const gates = rolledBackGates();
const tick = () => gates.call('fn_job_tick', { actor: 'test' });

test('with nothing due it changes nothing', async () => {
  await gates.held();
  await gates.enqueue();
  expect(await gates.unchanged(tick)).toMatchObject({
    promoted: 0,
    late: 0,
    reaped: { leases: 0 },
    next_due_ms: null,
  });
});

test('a delayed job becomes claimable when it is due, not before', async () => {
  await gates.register();
  const id = await gates.enqueue({ delay_ms: 60_000 });
  expect((await gates.claim()).ids).toEqual([]);
  const { next_due_ms } = await gates.unchanged(tick);
  expect(next_due_ms).toBeGreaterThan(50_000);
  expect(next_due_ms).toBeLessThanOrEqual(60_000);
  await gates.db.clock.advance('61s');
  expect(await tick()).toMatchObject({ promoted: 1, next_due_ms: null });
  expect((await gates.claim()).ids).toEqual([id]);
});

test('a queued job past its deadline is cancelled as deadline_exceeded', async () => {
  await gates.register();
  const queued = await gates.enqueue({ deadline_ms: 1000 });
  const delayed = await gates.enqueue({ deadline_ms: 1000, delay_ms: 500_000 });
  await gates.db.clock.advance('2s');
  expect(await tick()).toMatchObject({ late: 2, promoted: 0 });
  for (const id of [queued, delayed]) {
    expect(await gates.job(id)).toMatchObject({
      status: 'cancelled',
      last_error_code: 'deadline_exceeded',
    });
    expect(await gates.executions(id)).toMatchObject([
      { execution_no: 1, attempt: 0, final: true, abort_kind: 'cancelled' },
    ]);
  }
});

test('a running job past its deadline is not touched', async () => {
  const { id } = await gates.held({ job: { deadline_ms: 1000 }, ttl: 600 });
  await gates.db.clock.advance('2s');
  expect(await gates.unchanged(tick)).toMatchObject({ late: 0 });
  expect(await gates.statusOf(id)).toBe('in_progress');
});

test('expired leases are taken back', async () => {
  const { id } = await gates.held();
  await gates.db.clock.advance('31s');
  expect(await tick()).toMatchObject({ reaped: { leases: 1, retry_waiting: 1 } });
  expect(await gates.statusOf(id)).toBe('retry_waiting');
});

test('priority and age decide the order among promoted jobs', async () => {
  await gates.register();
  const late = await gates.enqueue({ delay_ms: 2000 });
  const early = await gates.enqueue({ delay_ms: 1000 });
  const urgent = await gates.enqueue({ delay_ms: 3000, priority: 9 });
  await gates.db.clock.advance('5s');
  await tick();
  expect((await gates.claim({ limit: 3 })).ids).toEqual([urgent, early, late]);
});

describe('beside another connection', () => {
  const apart = freshGates();

  test('one at a time: while another runs, a tick answers busy and changes nothing', async () => {
    await apart.register();
    await apart.enqueue({ delay_ms: 1000 });
    await apart.db.clock.advance('2s');
    const client = new pg.Client({ connectionString: apart.db.connectionString });
    await client.connect();
    try {
      await client.query('begin');
      await client.query(`select writ.fn_job_tick('other')`);
      expect(
        await apart.unchanged(() => apart.call('fn_job_tick', { actor: 'test' })),
      ).toMatchObject({ busy: true });
      await client.query('rollback');
    } finally {
      await client.end();
    }
    expect(await apart.call('fn_job_tick', { actor: 'test' })).toMatchObject({ promoted: 1 });
  });
});
