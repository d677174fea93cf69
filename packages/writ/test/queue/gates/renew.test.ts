import { expect, test } from 'vitest';
import { rolledBackGates, stranger } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_job_renew_many';

async function secondsLeft(token: string): Promise<number> {
  const [row] = await gates.db.query(
    'select extract(epoch from leased_until - writ.now())::float as left from writ_data.job_lease where lease_token = $1',
    [token],
  );
  return Number(row?.left);
}

test('a lease that is held is renewed from now on', async () => {
  const { token } = await gates.held({ ttl: 30 });
  await gates.db.clock.advance('20s');
  expect(await gates.call(gate, { lease_tokens: [token], lease_ttl_seconds: 30 })).toEqual({
    renewed: [token],
    lost: [],
    cancel: [],
  });
  expect(await secondsLeft(token)).toBeGreaterThan(20);
});

test('renewing with a shorter time never shortens a lease', async () => {
  const { token } = await gates.held({ ttl: 300 });
  for (const ttl of [1, 0, -1000, null]) {
    await gates.call(gate, { lease_tokens: [token], lease_ttl_seconds: ttl });
    expect(await secondsLeft(token)).toBeGreaterThan(200);
  }
});

test('an expired lease that nobody has taken back is renewed', async () => {
  const { token } = await gates.held({ ttl: 1 });
  await gates.db.clock.advance('10s');
  expect(await gates.call(gate, { lease_tokens: [token], lease_ttl_seconds: 30 })).toMatchObject({
    renewed: [token],
  });
});

test('tokens that hold nothing are answered as lost, and nothing changed', async () => {
  const answer = await gates.unchanged(() =>
    gates.call(gate, { lease_tokens: [stranger], lease_ttl_seconds: 30 }),
  );
  expect(answer).toEqual({ renewed: [], lost: [stranger], cancel: [] });
});

test('a lease whose jobs have run past their timeout is answered as lost', async () => {
  const { token } = await gates.held({ definition: { timeout_s: 60 } });
  await gates.db.clock.advance('61s');
  const answer = await gates.unchanged(() =>
    gates.call(gate, { lease_tokens: [token], lease_ttl_seconds: 30 }),
  );
  expect(answer).toEqual({ renewed: [], lost: [token], cancel: [] });
});

test('each of several leases is answered by itself', async () => {
  const { token } = await gates.held();
  const answer = await gates.call(gate, { lease_tokens: [token, stranger], lease_ttl_seconds: 30 });
  expect(answer).toEqual({ renewed: [token], lost: [stranger], cancel: [] });
});

test('no tokens at all change nothing', async () => {
  await gates.held();
  for (const tokens of [[], null]) {
    const answer = await gates.unchanged(() =>
      gates.call(gate, { lease_tokens: tokens, lease_ttl_seconds: 30 }),
    );
    expect(answer).toEqual({ renewed: [], lost: [], cancel: [] });
  }
});

test('a request to cancel a job that has ended since is not repeated', async () => {
  await gates.register();
  const first = await gates.enqueue();
  await gates.enqueue();
  const { token } = await gates.claim({ limit: 2, start: 2 });
  await gates.call('fn_job_cancel', { job_id: first, reason: 'r', actor: 'ada' });
  await gates.call('fn_job_release', { job_id: first, lease_token: token, actor: 'w1' });
  expect(await gates.call(gate, { lease_tokens: [token], lease_ttl_seconds: 30 })).toMatchObject({
    cancel: [],
  });
});

test('a lease cannot be made to last for ever', async () => {
  const { token } = await gates.held();
  for (const ttl of [1e12, Number.MAX_VALUE, 'Infinity', 'NaN']) {
    await gates
      .call(gate, { lease_tokens: [token], lease_ttl_seconds: ttl })
      .catch(() => undefined);
    expect(await secondsLeft(token)).toBeLessThan(7 * 86_400);
  }
});
