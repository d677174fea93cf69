import { describe, expect, test } from 'vitest';
import { configure, param } from '../../src/index.js';
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
    const history = (await s.writ.contracts.get(end.contractId).get()).transition_history as {
      to_status: string;
    }[];
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
