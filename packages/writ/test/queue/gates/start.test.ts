import { expect, test } from 'vitest';
import { rolledBackGates, stranger } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_job_start_many';

async function leaseOfThree() {
  await gates.register();
  const ids = [await gates.enqueue(), await gates.enqueue(), await gates.enqueue()];
  const { token } = await gates.claim({ limit: 3 });
  const statuses = () => Promise.all(ids.map((id) => gates.statusOf(id)));
  return { ids, token, statuses };
}

test('jobs up to a place are started, those behind it are not', async () => {
  const { token, statuses, ids } = await leaseOfThree();
  expect(await gates.call(gate, { lease_token: token, upto: 2 })).toEqual({ started_upto: 2 });
  expect(await statuses()).toEqual(['in_progress', 'in_progress', 'leased']);
  expect(await gates.history(ids[2] as string)).toEqual(['enqueued', 'leased']);
});

test('each start is recorded once, at its own time', async () => {
  const { token, ids } = await leaseOfThree();
  await gates.call(gate, { lease_token: token, upto: 1 });
  await gates.db.clock.advance('10s');
  await gates.call(gate, { lease_token: token, upto: 3 });
  const started = (await Promise.all(ids.map((id) => gates.executions(id)))).map(([e]) =>
    e.started_at.getTime(),
  );
  expect(started[1]).toBeGreaterThanOrEqual(started[0] + 10_000);
  expect(started[2]).toBe(started[1]);
  for (const id of ids) expect(await gates.history(id)).toEqual(['enqueued', 'leased', 'started']);
});

test('start marks only grow: a place before the last one changes nothing', async () => {
  const { token } = await leaseOfThree();
  await gates.call(gate, { lease_token: token, upto: 2 });
  for (const upto of [2, 1, 0, -5, null]) {
    expect(await gates.unchanged(() => gates.call(gate, { lease_token: token, upto }))).toEqual({
      started_upto: 2,
    });
  }
});

test('a place beyond the end starts what there is', async () => {
  const { token, statuses } = await leaseOfThree();
  expect(await gates.call(gate, { lease_token: token, upto: 2147483647 })).toEqual({
    started_upto: 3,
  });
  expect(await statuses()).toEqual(['in_progress', 'in_progress', 'in_progress']);
});

test('a token that is not held: lease_lost', async () => {
  await leaseOfThree();
  await gates.refuses('lease_lost', gate, { lease_token: stranger, upto: 1 });
  await gates.refuses('lease_lost', gate, { lease_token: null, upto: 1 });
});

test('a job that has ended before it was started is never told to have started', async () => {
  const { ids, token } = await leaseOfThree();
  await gates.call('fn_job_release', { job_id: ids[0], lease_token: token, actor: 'w1' });
  await gates.call(gate, { lease_token: token, upto: 2 });
  expect(await gates.history(ids[0] as string)).toEqual(['enqueued', 'leased', 'released']);
  expect(await gates.history(ids[1] as string)).toEqual(['enqueued', 'leased', 'started']);
});

test('jobs that end in the call that marks others as started are not told to have started after it', async () => {
  const { ids, token } = await leaseOfThree();
  const released = { positions: [1], abort_kinds: ['released'], codes: null, messages: null };
  await gates.call('fn_job_abort_many', { lease_token: token, ...released, start_upto: 3 });
  expect(await gates.history(ids[0] as string)).toEqual(['enqueued', 'leased', 'released']);
});
