import { expect, test } from 'vitest';
import { rolledBackGates } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_job_kind_register';
const kinds = () =>
  gates.db.query(
    `select * from writ.job_kind where registered_by <> 'migration' order by job_kind`,
  );

test('a kind is registered with what its definition says', async () => {
  const definition = {
    max_attempts: 3,
    backoff_base_s: 1.5,
    backoff_cap_s: 60,
    timeout_s: 5,
    event_domain: 'kg',
    executor: 'Agent',
    source_system: 'shop',
  };
  expect(
    await gates.call(gate, { kind: 'shop/charge.v2:eu_west-1', definition, actor: 'ada' }),
  ).toEqual({
    registered: 'shop/charge.v2:eu_west-1',
  });
  expect(await kinds()).toMatchObject([
    { job_kind: 'shop/charge.v2:eu_west-1', ...definition, registered_by: 'ada' },
  ]);
});

test('what a definition leaves out has defaults', async () => {
  await gates.register('bare', {});
  expect(await kinds()).toMatchObject([
    { event_domain: 'dot', executor: 'external_worker', source_system: 'writ', max_attempts: null },
  ]);
});

test('registering the same again changes nothing', async () => {
  await gates.register('chore', { max_attempts: 3 });
  expect(
    await gates.unchanged(() =>
      gates.call(gate, { kind: 'chore', definition: { max_attempts: 3 }, actor: 'bob' }),
    ),
  ).toEqual({
    registered: 'chore',
  });
});

test('a new definition replaces the old one, and jobs that are queued keep their attempts', async () => {
  await gates.register('chore', { max_attempts: 3 });
  const id = await gates.enqueue();
  await gates.register('chore', { max_attempts: 7 });
  expect(await kinds()).toMatchObject([{ max_attempts: 7 }]);
  expect(await gates.job(id)).toMatchObject({ max_attempts: 3 });
});
