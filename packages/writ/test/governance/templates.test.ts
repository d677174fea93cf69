import { describe, expect, test } from 'vitest';
import { configure, defineStep, enable, param, soak } from '../../src/index.js';
import { codeOf } from '../runs/engine/scene.js';
import { scene } from './scene.js';

const s = scene();
const template = {
  params: { max: { min: 50, max: 500 } },
  pre: { 'limits#max': { min: 1, max: 1000 } },
  activations: 3,
  cooldown: '5m',
  expiresIn: '30d',
} as const;
const proposal = {
  title: 'Limits',
  scope: ['limits'],
  steps: [configure('limits', 'max', param('max'))],
  template,
};

describe('a template', () => {
  test('is approved once, and its instances are done within its bounds, so often, with pauses, until it expires', async () => {
    await s.work();
    const contract = await s.approved(proposal);
    expect(await codeOf(contract.activate({ as: s.keys.service }))).toBe('invalid_transition');
    const go = (max: unknown) => contract.instantiate({ max }, { as: s.keys.service });
    for (const value of [49, 501, '100', null])
      expect(await codeOf(go(value))).toBe('out_of_bounds');
    expect(await codeOf(contract.instantiate({ max: 100, more: 1 }, { as: s.keys.service }))).toBe(
      'out_of_bounds',
    );
    expect(await codeOf(contract.instantiate({ max: 100 }, { as: s.keys.agent }))).toBe(
      'agents_only_propose',
    );
    const end = await (await go(200)).finished();
    expect(end).toMatchObject({ status: 'COMPLETED' });
    expect(await s.state()).toMatchObject({ 'limits#max': 200 });
    const history = (await s.writ.contracts.get(end.contract_id)).transition_history;
    expect(history.map(({ to_status }) => to_status)).toEqual([
      'DRAFT',
      'VALIDATED',
      'ELIGIBLE',
      'APPROVED',
      'ACTIVE',
      'COMPLETED',
    ]);
    expect(await codeOf(go(300))).toBe('template_cooling_down');
    await s.db.clock.advance('6m');
    expect(await (await go(300)).finished()).toMatchObject({ status: 'COMPLETED' });
    await s.db.clock.advance('6m');
    expect(await (await go(50)).finished()).toMatchObject({ status: 'COMPLETED' });
    await s.db.clock.advance('6m');
    expect(await codeOf(go(60))).toBe('template_exhausted');
    expect(await s.state()).toMatchObject({ 'limits#max': 50 });
  });

  test('does nothing when it was edited after its approval, or what stands there is out of its range', async () => {
    const contract = await s.approved(proposal);
    await s.sql(`update writ_data.configuration set value = '5000' where key = 'max'`);
    expect(await codeOf(contract.instantiate({ max: 100 }, { as: s.keys.service }))).toBe(
      'stale_pre_value',
    );
    await s.sql(`update writ_data.configuration set value = '100' where key = 'max'`);
    await s.sql(
      `update writ_data.contract set template = jsonb_set(template, '{params,max,max}', '9000') where contract_id = $1`,
      [contract.id],
    );
    expect(await codeOf(contract.instantiate({ max: 8000 }, { as: s.keys.service }))).toBe(
      'approval_void',
    );
    expect(await s.state()).toMatchObject({ 'limits#max': 100 });
  });

  test('whose parameters have no bounds is refused', async () => {
    expect(await codeOf(s.propose({ ...proposal, template: { ...template, params: {} } }))).toBe(
      'invalid_template',
    );
  });

  test('fills its parameters at any depth, and a value that looks like one stays as it is', async () => {
    await s.work();
    const value = {
      per: [{ minute: param('n'), burst: param('burst') }],
      unit: 'requests',
      none: null,
    };
    const contract = await s.approved({
      title: 'Deep',
      scope: ['limits'],
      steps: [
        configure('limits', 'rate', value),
        configure('limits', 'list', [param('n'), [param('n')]]),
      ],
      template: {
        params: { n: { min: 1, max: 9 }, burst: { in: [null, [1, 2]] } },
        pre: { 'limits#rate': { in: [null] }, 'limits#list': { in: [null] } },
        activations: 3,
        expiresIn: '30d',
      },
    });
    const job = await contract.instantiate({ n: 5, burst: [1, 2] }, { as: s.keys.service });
    expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
    expect(await s.state()).toMatchObject({
      'limits#rate': { per: [{ minute: 5, burst: [1, 2] }], unit: 'requests', none: null },
      'limits#list': [5, [5]],
    });
  });

  test('fills the input of a step type of an application at any depth', async () => {
    const set: unknown[] = [];
    const flag = defineStep<{ rules: { percent: unknown }[] }>('flag', {
      target: () => 'flag:a',
      read: async () => set.at(-1) ?? null,
      apply: async (input) => void set.push(input),
      revert: async () => undefined,
    });
    await s.use(flag);
    await s.work([flag]);
    const template = {
      params: { n: { min: 1, max: 9 } },
      pre: { 'flag:a': { in: [null] } },
      activations: 3,
      expiresIn: '30d',
    } as const;
    const contract = await s.approved({
      scope: ['flag:a'],
      steps: [flag({ rules: [{ percent: param('n') }] })],
      template,
    });
    const job = await contract.instantiate({ n: 7 }, { as: s.keys.service });
    expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
    expect(set).toEqual([{ rules: [{ percent: 7 }] }]);
  });

  test.each([
    [
      'in the key of a value',
      {
        step_type: 'config_update',
        target: 'limits',
        parameters: { key: param('max'), new_value: 1 },
      },
    ],
    ['in an old value', configure('limits', 'max', 1, { old: param('max') })],
    ['in the length of a soak', { ...soak('1s'), parameters: { duration_ms: param('max') } }],
    ['in a lifecycle', enable('checkout', param('max') as never)],
    ['with a key beside it', configure('limits', 'max', { ...param('max'), more: 1 })],
    ['with a name that is no text', configure('limits', 'max', { $param: { $param: 'max' } })],
    [
      'deeper than anyone looks',
      configure('limits', 'max', JSON.parse(`${'['.repeat(60)}{"$param":"max"}${']'.repeat(60)}`)),
    ],
    ['that is unknown, inside a value', configure('limits', 'max', { of: [param('min')] })],
  ])('is refused with a parameter %s', async (_, step) => {
    const scope = ['checkout', 'limits'];
    expect(await codeOf(s.propose({ ...proposal, scope, steps: [step as never] }))).toBe(
      'invalid_template',
    );
  });

  test('is refused with bounds that contain a parameter', async () => {
    expect(
      await codeOf(
        s.propose({
          ...proposal,
          template: { ...template, params: { max: { in: [param('max')] } } },
        }),
      ),
    ).toBe('invalid_template');
  });

  test('has parameters, and a contract that is none is refused with one, proposed or submitted', async () => {
    for (const value of [param('n'), { of: [param('n')] }])
      expect(
        await codeOf(s.propose({ scope: ['limits'], steps: [configure('limits', 'max', value)] })),
      ).toBe('invalid_contract');
    const draft = await s.writ.contracts.propose(
      { title: 'Left over', scope: ['limits'], steps: [configure('limits', 'max', param('n'))] },
      { as: s.keys.agent, draft: true },
    );
    expect(await draft.submit({ as: s.keys.agent })).toMatchObject({ status: 'REJECTED' });
  });

  test('expires', async () => {
    const contract = await s.approved(proposal);
    await s.db.clock.advance('31d');
    expect(await codeOf(contract.instantiate({ max: 100 }, { as: s.keys.service }))).toBe(
      'window_elapsed',
    );
    await s.sql(`select writ.fn_governance_tick('test')`);
    expect(await contract.get()).toMatchObject({ status: 'FAILED' });
  });
});
