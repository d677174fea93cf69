import { expect, test } from 'vitest';
import { rolledBackGates } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_payload_read';

test('an input is read back by its reference', async () => {
  await gates.register();
  const input = { to: 'ada@example.org', body: 'Hello, Ada', list: [1, null, { deep: true }], größe: '☃' };
  const id = await gates.enqueue({ input });
  const { payload_ref } = await gates.job(id);
  expect(payload_ref).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(await gates.unchanged(() => gates.call(gate, { ref: payload_ref, tenant_id: 'default' }))).toEqual(input);
});

test('the same input is stored once per tenant', async () => {
  await gates.register();
  await gates.enqueue({ input: { same: 1 } });
  await gates.enqueue({ input: { same: 1 } });
  await gates.enqueue({ input: { same: 1 }, tenant: 'acme' });
  expect(await gates.db.query('select tenant_id from writ_data.payload order by 1')).toEqual([
    { tenant_id: 'acme' },
    { tenant_id: 'default' },
  ]);
});

test("another tenant's input is not there", async () => {
  await gates.register();
  const id = await gates.enqueue({ input: { secret: 1 }, tenant: 'acme' });
  const { payload_ref } = await gates.job(id);
  expect(await gates.call(gate, { ref: payload_ref, tenant_id: 'globex' })).toBeNull();
  expect(await gates.call(gate, { ref: payload_ref, tenant_id: 'acme' })).toEqual({ secret: 1 });
});

test.each([
  '',
  'sha256:',
  'sha256:xyz',
  `sha256:${'A'.repeat(64)}`,
  `sha256:${'0'.repeat(64)}`,
  `sha256:${'0'.repeat(63)}`,
  's3://elsewhere',
  null,
])('a reference that is none of ours (%j) is answered with null', async (ref) => {
  await gates.register();
  await gates.enqueue({ input: { a: 1 } });
  expect(await gates.unchanged(() => gates.call(gate, { ref, tenant_id: 'default' }))).toBeNull();
});

test('without a tenant nothing is read', async () => {
  await gates.register();
  const id = await gates.enqueue({ input: { a: 1 } });
  expect(await gates.call(gate, { ref: (await gates.job(id)).payload_ref, tenant_id: null })).toBeNull();
});
