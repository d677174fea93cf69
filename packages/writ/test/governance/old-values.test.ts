/**
 * The old value that a change of configuration names is part of what is proposed, and has to be
 * what stands there.
 */
import { describe, expect, test } from 'vitest';
import { configure, param } from '../../src/index.js';
import { codeOf } from '../runs/engine/scene.js';
import { scene } from './scene.js';
import { verifying } from './verifying.js';

const s = scene();
const raise = (old: unknown, to: unknown = 200) => ({
  scope: ['limits'],
  steps: [configure('limits', 'max', to, { old })],
});
/** By another hand. */
const set = (value: number) =>
  s.sql(`update writ_data.configuration set value = $1 where key = 'max'`, [JSON.stringify(value)]);
const history = () => s.sql('select count(*)::integer as n from writ_data.contract_history');

test('as the specification names it, {key, old_value, new_value}, it is what is approved and done', async () => {
  await s.work();
  const { contract, end } = await s.done({
    scope: ['limits'],
    steps: [
      { type: 'configuration_update', scope: 'limits', key: 'max', old_value: 100, new_value: 200 },
    ],
  });
  expect(end.status).toBe('COMPLETED');
  const { steps } = await contract.get();
  expect(steps.map(({ parameters }) => parameters)).toEqual([
    { key: 'max', old_value: 100, new_value: 200 },
  ]);
  expect(await s.state()).toMatchObject({ 'limits#max': 200 });
});

describe('a proposal', () => {
  test.each([
    ['another value', 99],
    ['a value of another type', '100'],
    ['no value, where there is one', null],
  ])('that expects %s is refused, and nothing is there', async (_, old) => {
    expect(await codeOf(s.propose(raise(old)))).toBe('pre_value_conflict');
    expect(await s.sql('select from writ.system_contracts')).toEqual([]);
  });

  test('may expect that there is no value', async () => {
    expect(
      await codeOf(
        s.propose({ scope: ['limits'], steps: [configure('limits', 'burst', 5, { old: 4 })] }),
      ),
    ).toBe('pre_value_conflict');
    const contract = await s.propose({
      scope: ['limits'],
      steps: [configure('limits', 'burst', 5, { old: null })],
    });
    expect(contract as never).toMatchObject({ status: 'ELIGIBLE' });
  });

  test('expects of a later step what the steps before will have made of it', async () => {
    const after = (old: number) => ({
      scope: ['limits'],
      steps: [
        configure('limits', 'max', 200, { old: 100 }),
        configure('limits', 'max', 300, { old }),
      ],
    });
    expect(await codeOf(s.propose(after(100)))).toBe('pre_value_conflict');
    expect((await s.propose(after(200))) as never).toMatchObject({ status: 'ELIGIBLE' });
  });

  test('that says what nobody reads of a value is refused', async () => {
    const steps = [
      {
        step_type: 'config_update',
        target: 'limits',
        parameters: { key: 'max', oldValue: 99, new_value: 200 },
      },
    ];
    expect(await codeOf(s.propose({ scope: ['limits'], steps }))).toBe('invalid_contract');
  });
});

test('a value that has changed since the proposal: there is no preview, no approval and no glass to break, and nothing is changed', async () => {
  const contract = await s.propose({ ...raise(100), risk: 'high' });
  await verifying(s.writ);
  const { hash } = await contract.preview({ as: s.keys.ada });
  await contract.approve({ as: s.keys.ada, hash });
  await set(150);
  const before = [await contract.get(), await history()];
  expect(await codeOf(contract.preview({ as: s.keys.ada }))).toBe('pre_value_conflict');
  expect(await codeOf(s.breakGlass(contract, 'the shop is down'))).toBe('pre_value_conflict');
  expect([await contract.get(), await history()]).toEqual(before);
  expect(await s.state()).toMatchObject({ 'limits#max': 150 });
  await set(100);
  expect(await contract.preview({ as: s.keys.ada })).toMatchObject({ hash, approved_by: ['ada'] });
});

test('a draft is not submitted, nor escalated into eligibility, while something else stands there', async () => {
  const draft = await s.writ.contracts.propose(
    { title: 'Later', risk: 'critical', ...raise(7) },
    { as: s.keys.agent, draft: true },
  );
  expect(await codeOf(draft.submit({ as: s.keys.agent }))).toBe('pre_value_conflict');
  expect(await codeOf(draft.escalate({ as: s.keys.ada, reason: 'it burns' }))).toBe(
    'pre_value_conflict',
  );
  expect(await draft.get()).toMatchObject({ status: 'DRAFT', escalated_by: null });
  await set(7);
  expect(await draft.escalate({ as: s.keys.ada, reason: 'it burns' })).toMatchObject({
    status: 'ELIGIBLE',
  });
});

test('of a template it is compared when an instance is activated', async () => {
  const template = {
    params: { to: { min: 1, max: 500 } },
    pre: { 'limits#max': { min: 1, max: 500 } },
    activations: 5,
    expiresIn: '1d',
  } as const;
  const contract = await s.approved({ template, ...raise(100, param('to')) });
  await set(150);
  expect(await codeOf(contract.instantiate({ to: 200 }, { as: s.keys.service }))).toBe(
    'pre_value_conflict',
  );
  expect(await s.sql('select from writ.system_contracts where template_id is not null')).toEqual(
    [],
  );
  await set(100);
  await s.work();
  expect(
    await (await contract.instantiate({ to: 200 }, { as: s.keys.service })).finished({
      timeoutMs: 20_000,
    }),
  ).toMatchObject({
    status: 'COMPLETED',
  });
  expect(await s.state()).toMatchObject({ 'limits#max': 200 });
});
