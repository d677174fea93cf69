/** Scope is compared with what is touched, not with what a step says about itself. */
import { describe, expect, test } from 'vitest';
import { configure, defineStep, enable, recordSignal } from '../../src/index.js';
import { canonicalize } from '../../src/ledger/canonical.js';
import { outside } from '../governance/outside.js';
import { scene } from '../governance/scene.js';
import { codeOf } from '../runs/engine/scene.js';
import { attackers } from './attackers.js';

const s = scene();
const enter = attackers(s);
const disguised = {
  step_type: 'flag',
  target: 'flag:harmless',
  parameters: { value: { key: 'kill-switch', percent: 99 } },
};
const asAgent = () => enter(['writ_principal'], { principal_id: 'agent' });
const propose = async (scope: string[], steps: object[]) =>
  (await asAgent()).call('fn_contract_propose', {
    key: null,
    content: canonicalize({ scope, steps }),
    about: JSON.stringify({ title: 'Harmless', risk_level: 'low' }),
  });

describe('a step whose type touches another target than it says', () => {
  test('is refused where its type is known, when it is proposed and when it is shown', async () => {
    const { flag, values } = outside({ 'kill-switch': 1 });
    await s.use(flag);
    await (await s.work([flag])).stop();
    expect(
      await codeOf(s.propose({ scope: ['flag:harmless'], steps: [disguised], risk: 'low' })),
    ).toBe('scope_violation');
    const { contract_id } = await propose(['flag:harmless'], [disguised]);
    const contract = s.writ.contracts.handle(String(contract_id));
    const { hash, outside: reads } = await contract.preview({ as: s.keys.ada });
    expect(reads).toMatchObject([{ slot: 'flag:harmless', code: 'scope_violation' }]);
    expect(hash).toBe('');
    expect(values).toEqual({ 'kill-switch': 1 });
  });

  /** Says what it is told, for as long as it is told. */
  const liar = () => {
    const { flag: honest, values } = outside({ 'kill-switch': 1 });
    const lie = { lies: true };
    const flag = defineStep<{ key: string; percent: number }>('flag', {
      ...honest,
      target: (input) => (lie.lies ? 'flag:harmless' : honest.target(input)),
    });
    return { flag, honest, values, lie };
  };

  test('is not applied by an honest applier, even if persons approved it', async () => {
    const { flag, honest, values } = liar();
    await s.use(flag); // of a program that shows something else
    await (await s.work([flag])).stop();
    const contract = await s.approved({
      scope: ['flag:harmless'],
      steps: [disguised],
      risk: 'low',
    });
    const job = await contract.activate({ as: s.keys.service });
    const worker = await s.work([honest]);
    expect(await job.finished({ timeoutMs: 30_000 })).toMatchObject({ status: 'ROLLED_BACK' });
    expect(values).toEqual({ 'kill-switch': 1 });
    await worker.stop();
  });

  test('fails A-001 of the audit once it was applied, and its undo touches nothing', async () => {
    const { flag, lie, values } = liar();
    const { apply } = flag;
    const caught = defineStep<{ key: string; percent: number }>('flag', {
      ...flag,
      target: flag.target,
      apply: async (input, context) => {
        await apply(input, context);
      },
      read: async (input, context) => {
        const value = await flag.read(input, context);
        // the applier is replaced before the audit
        if (value === 99) setImmediate(() => (lie.lies = false));
        return value;
      },
    });
    await s.use(caught);
    await s.work([caught]);
    const contract = await s.approved({
      scope: ['flag:harmless'],
      steps: [disguised],
      risk: 'low',
    });
    const job = await contract.activate({ as: s.keys.service });
    expect(await job.finished({ timeoutMs: 30_000 })).toMatchObject({ status: 'ROLLBACK_FAILED' });
    const [audit] = await s.sql<{
      checks_performed: { check: string; result: string; detail: string }[];
    }>(`select checks_performed from writ.governance_audits where verdict = 'FAIL'`);
    expect(audit?.checks_performed.find(({ check }) => check === 'A-001')).toMatchObject({
      result: 'FAIL',
      detail: expect.stringContaining('flag:kill-switch'),
    });
    expect(values).toEqual({ 'kill-switch': 99 });
  });
});

describe('a recorded signal', () => {
  const signal = (parameters: object) => ({
    step_type: 'signal_record',
    target: 'SYSTEM',
    parameters,
  });

  test('about something outside the scope is refused', async () => {
    await s.writ.capabilities.put([{ capability_name: 'payments', domain: 'shop' }], {
      as: s.keys.ops,
    });
    const steps = [
      signal({ signal_type: 'MANUAL', scope: 'payments', decision: 'EXECUTING' }),
      enable('checkout'),
    ];
    expect(await propose(['checkout'], steps)).toMatchObject({ reason: 'scope_violation' });
  });

  test('about SYSTEM neither blocks nor warns of what is outside the scope', async () => {
    for (const decision of ['BLOCKED', 'WARN'])
      expect(
        await propose(['checkout'], [signal({ signal_type: 'X', decision }), enable('checkout')]),
        decision,
      ).toMatchObject({
        reason: 'scope_violation',
      });
    expect(await propose(['checkout'], [recordSignal('X'), enable('checkout')])).not.toHaveProperty(
      'refused',
    );
  });
});

describe('a name', () => {
  const [composed, decomposed] = ['caf\u00e9', 'cafe\u0301'];

  test('has one form: the library normalises it, and gates refuse any other', async () => {
    const { flag } = outside({});
    await s.use(flag);
    await (await s.work([flag])).stop();
    await s.writ.capabilities.put(
      [{ scope: 'menu', owner_capability: 'checkout', values: { [decomposed]: 1 } }],
      { as: s.keys.ops },
    );
    expect(await s.sql(`select key from writ.configuration where scope = 'menu'`)).toEqual([
      { key: composed },
    ]);
    const contract = await s.propose({
      scope: ['menu', `flag:${decomposed}`],
      steps: [configure('menu', decomposed, 2), flag({ key: decomposed, percent: 1 })],
      risk: 'low',
    });
    const { steps, affected_capabilities: scope } = await contract.preview({ as: s.keys.ada });
    expect(scope).toEqual([`flag:${composed}`, 'menu']);
    expect(steps.map(({ slot }) => slot)).toEqual([`menu#${composed}`, `flag:${composed}`]);

    const operator = await enter(['writ_principal'], { principal_id: 'ops' });
    const items = JSON.stringify([
      { scope: 'fresh', owner_capability: 'checkout', values: { [decomposed]: 1 } },
    ]);
    expect(await operator.call('fn_capability_put', { key: null, items })).toMatchObject({
      reason: 'invalid_target',
    });
    expect(await propose([`flag:${decomposed}`], [configure('limits', 'max', 2)])).toMatchObject({
      reason: 'invalid_contract',
    });
    expect(await propose(['menu'], [configure('menu', decomposed, 2)])).toMatchObject({
      reason: 'invalid_contract',
    });
    const said = JSON.stringify({
      scope: decomposed,
      signal_type: 'X',
      decision: 'BLOCKED',
      reason: 'x',
    });
    expect(await operator.call('fn_signal_record', { key: null, signal: said })).toMatchObject({
      reason: 'invalid_signal',
    });
  });

  test('in another case is another name', async () => {
    expect(await propose(['CHECKOUT'], [enable('checkout')])).toMatchObject({
      reason: 'scope_violation',
    });
  });
});

test('a new key of a governed scope needs a contract, like a new value', async () => {
  const operator = await enter(['writ_principal'], { principal_id: 'ops' });
  for (const values of [{ fresh: 1 }, { max: 7 }])
    expect(
      await operator.call('fn_capability_put', {
        key: null,
        items: JSON.stringify([{ scope: 'limits', values }]),
      }),
    ).toMatchObject({
      reason: 'change_needs_a_contract',
    });
});
