import { expect, test } from 'vitest';
import { rolledBackGates, stranger } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_job_payload';

test('what a job was given is read back as it was, and its reference is the hash of its text', async () => {
  await gates.register();
  const input = {
    to: 'ada@example.org',
    body: 'Hello, Ada',
    list: [1, null, { deep: true }],
    größe: '☃',
  };
  const id = await gates.enqueue({ input });
  expect((await gates.job(id)).payload_ref).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(await gates.unchanged(() => gates.call(gate, { job_id: id }))).toEqual({ input });
});

test('the same input has the same reference, another input another', async () => {
  await gates.register();
  const ids = [
    await gates.enqueue({ input: { same: 1 } }),
    await gates.enqueue({ input: { same: 1 } }),
    await gates.enqueue({ input: 2 }),
  ];
  const [one, same, other] = await Promise.all(
    ids.map(async (id) => (await gates.job(id)).payload_ref),
  );
  expect(same).toBe(one);
  expect(other).not.toBe(one);
});

test('an input of null is one, and not the same as none', async () => {
  await gates.register();
  const [none, empty] = [await gates.enqueue(), await gates.enqueue({ input: null })];
  expect(await gates.call(gate, { job_id: none })).toEqual({});
  expect((await gates.job(none)).payload_ref).toBeNull();
  expect(await gates.call(gate, { job_id: empty })).toEqual({ input: null });
  expect((await gates.job(empty)).payload_ref).toMatch(/^sha256:/);
});

test.each(['{"sum":3}', 'null', '"done"', 'false'])(
  'what a job answered (%s) stands beside its input',
  async (result) => {
    const { id, token } = await gates.held({ job: { input: { n: 1 } } });
    await gates.call('fn_job_succeed_many', {
      lease_token: token,
      positions: [1],
      results: [result],
    });
    expect(await gates.call(gate, { job_id: id })).toEqual({
      input: { n: 1 },
      result: JSON.parse(result),
    });
  },
);

test('reads a result that jsonb cannot hold: a NUL character, half a surrogate pair', async () => {
  const result = { nul: 'a\0b', half: '\ud83d' };
  const { id, token } = await gates.held({ job: { input: { n: 1 } } });
  await gates.call('fn_job_succeed_many', {
    lease_token: token,
    positions: [1],
    results: [JSON.stringify(result)],
  });
  expect(await gates.call(gate, { job_id: id })).toEqual({ input: { n: 1 }, result });
});

test('what is kept elsewhere is not here', async () => {
  const { id, token } = await gates.held({ job: { payload_ref: 's3://elsewhere' } });
  await gates.call('fn_job_succeed', {
    job_id: id,
    lease_token: token,
    result_ref: 's3://results/1',
    actor: 'w1',
  });
  expect(await gates.call(gate, { job_id: id })).toEqual({});
  expect(await gates.job(id)).toMatchObject({
    payload_ref: 's3://elsewhere',
    result_ref: 's3://results/1',
  });
});

test("another tenant's job: job_not_found", async () => {
  await gates.register();
  const id = await gates.enqueue({ input: { secret: 1 }, tenant: 'acme' });
  await gates.refuses('job_not_found', gate, { job_id: id, tenant_id: 'globex' });
  expect(await gates.call(gate, { job_id: id, tenant_id: 'acme' })).toEqual({
    input: { secret: 1 },
  });
  await gates.db.query(`select set_config('writ.tenant', 'globex', true)`);
  await gates.refuses('job_not_found', gate, { job_id: id });
});

test.each([stranger, null])('a job that is none of ours (%s): job_not_found', async (id) => {
  await gates.refuses('job_not_found', gate, { job_id: id });
});
