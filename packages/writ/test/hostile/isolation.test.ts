/**
 * A transaction that has looked before others changed something cannot use the old picture to get
 * past a check.
 */
import { describe, expect, test } from 'vitest';
import { principal } from '../../src/governance/keys.js';
import { configure, enable } from '../../src/index.js';
import { scene } from '../governance/scene.js';
import { attackers } from './attackers.js';
import type { Login } from './logins.js';

const s = scene();
const enter = attackers(s);

/** Begins a transaction that sees the database as it is now, whatever happens later. */
async function oldPicture(of: Login, level: string): Promise<void> {
  await of.query(`begin isolation level ${level}`);
  await of.query('select count(*) from pg_class');
}

const raised = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (answer) => answer,
    (error) => (error as { code?: string }).code,
  );

describe.each(['repeatable read', 'serializable'])('a %s transaction', (level) => {
  test('does not propose more contracts than an agent may', async () => {
    await s.setting('governance.agent.open_contracts', 1);
    const agents = [
      await enter(['writ_principal'], { principal_id: 'agent' }),
      await enter(['writ_principal'], { principal_id: 'agent' }),
    ];
    const propose = (as: Login, key: string) =>
      as.call('fn_contract_propose', {
        key: null,
        content: `{"scope":["limits"],"steps":[{"parameters":{"key":"${key}","new_value":1},"step_type":"config_update","target":"limits"}]}`,
        about: JSON.stringify({ title: 'Proposal' }),
      });
    for (const agent of agents) await oldPicture(agent, level);
    for (const [n, agent] of agents.entries()) {
      await raised(propose(agent, `k${n}`));
      await agent.query('commit');
    }
    expect((await s.sql('select from writ.system_contracts')).length).toBeLessThanOrEqual(1);
  });

  test('activates no contract that was frozen meanwhile', async () => {
    const contract = await s.approved({ steps: [enable('checkout')] });
    const service = await enter(['writ_principal'], { principal_id: 'deployer' });
    await oldPicture(service, level);
    await s.sql(`select writ.fn_freeze_put($1, '{"reason": "Nothing changes today."}')`, [
      principal(s.keys.ops).credential,
    ]);
    const items = JSON.stringify([{ contract: contract.id }]);
    expect(await raised(service.call('fn_contracts_activate', { key: null, items }))).toBe('25000');
    await service.query('rollback');
    expect(await s.sql('select from writ.governance_jobs')).toEqual([]);
  });

  test('applies no step that a signal blocks meanwhile', async () => {
    const contract = await s.approved({ steps: [configure('limits', 'max', 5)] });
    await contract.activate({ as: s.keys.service });
    const applier = await enter(['writ_applier']);
    const [row] = await applier.query<{ answer: { lease_token: string; jobs: [string][] } }>(
      `select writ.fn_job_claim_many('{governance.change}', 'external_worker', 'mallory', 30, 1, 1) as answer`,
    );
    await oldPicture(applier, level);
    const signal = JSON.stringify({
      signal_type: 'GUARD',
      scope: 'checkout',
      decision: 'BLOCKED',
      reason: 'It burns.',
    });
    await s.sql('select writ.fn_signal_record($1, $2::jsonb)', [
      principal(s.keys.ops).credential,
      signal,
    ]);
    const items = JSON.stringify([
      { job: row?.answer.jobs[0]?.[0], token: row?.answer.lease_token },
    ]);
    expect(await raised(applier.call('fn_changes_apply', { items, actor: 'mallory' }))).toBe(
      '25000',
    );
    await applier.query('rollback');
    expect(await s.state()).toMatchObject({ 'limits#max': 100 });
  });

  test('starts no more runs than a tenant may have', async () => {
    const sha256 = 'c'.repeat(64);
    await s.sql(`select writ.fn_admission_put('default', 'REJECT', 1, 0, null, 'ops')`);
    const producer = await enter(['writ_producer']);
    await oldPicture(producer, level);
    const runs = JSON.stringify([{ plan_id: 'p', plan_version: '1', sha256 }]);
    expect(await raised(producer.call('fn_run_start_many', { runs, actor: 'p' }))).toBe('25000');
    await producer.query('rollback');
  });
});
