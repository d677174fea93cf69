/**
 * Health is judged by stored answers of probes, at the database's own time, and by no word of a
 * caller.
 */
import { describe, expect, test } from 'vitest';
import { enable, recordSignal } from '../../src/index.js';
import { outside, probes } from '../governance/outside.js';
import { scene } from '../governance/scene.js';
import { codeOf } from '../runs/engine/scene.js';
import { attackers } from './attackers.js';

const s = scene();
const enter = attackers(s);
const probe = probes();
const future = '2999-01-01T00:00:00Z';

async function sick(): Promise<void> {
  const url = await probe(() => 500);
  await s.writ.probes.put(
    { name: 'up', capability: 'checkout', type: 'http', config: { url } },
    { as: s.keys.ops },
  );
  await s.sql(
    `update writ_data.probe set status = 'UNHEALTHY', checked_at = now(), due_at = now() + interval '1 hour'`,
  );
}

/** The lease of the only job of a kind, for a hostile applier. */
async function lease(kind: string) {
  const applier = await enter(['writ_applier', 'writ_worker']);
  const [row] = await applier.query<{ answer: { lease_token: string; jobs: [string][] } }>(
    `select writ.fn_job_claim_many('{${kind}}', 'external_worker', 'mallory', 30, 1, 1) as answer`,
  );
  return { applier, job: row?.answer.jobs[0]?.[0], token: row?.answer.lease_token };
}

test('a step stays blocked by UNHEALTHY although its caller sends evidence from the future', async () => {
  const contract = await s.approved({ steps: [enable('checkout')] });
  await contract.activate({ as: s.keys.service });
  await sick();
  const { applier, job, token } = await lease('governance.change');
  const evidence = { up: { status: 'HEALTHY', detail: 'fine', at: future } };
  const [row] = await applier.query<{ answer: object[] }>(
    `select writ.fn_changes_apply($1::jsonb, 'mallory') as answer`,
    [JSON.stringify([{ job, token, evidence, read: evidence }])],
  );
  expect(row?.answer).toMatchObject([{ reason: 'health_block' }]);
  expect(await s.state()).toMatchObject({ checkout: 'DISABLED' });
});

test('an audit sees UNHEALTHY although its caller sends other evidence', async () => {
  const contract = await s.approved({ steps: [enable('checkout')] });
  const job = await contract.activate({ as: s.keys.service });
  const step = await lease('governance.change');
  await step.applier.query(`select writ.fn_changes_apply($1::jsonb, 'mallory')`, [
    JSON.stringify([{ job: step.job, token: step.token }]),
  ]);
  await sick();
  const audit = await lease('governance.audit');
  const evidence = { up: { status: 'HEALTHY', detail: 'fine', at: future } };
  const [row] = await audit.applier.query<{ answer: object[] }>(
    `select writ.fn_governance_audits($1::jsonb, 'mallory') as answer`,
    [JSON.stringify([{ job: audit.job, token: audit.token, evidence }])],
  );
  expect(row?.answer).toMatchObject([{ verdict: 'FAIL' }]);
  expect(await job.get()).toMatchObject({ status: 'ROLLBACK_PENDING' });
});

test('fn_governance_audits refuses an audit without the lease of its queue job', async () => {
  const contract = await s.approved({ steps: [enable('checkout')] });
  const job = await contract.activate({ as: s.keys.service });
  const step = await lease('governance.change');
  await step.applier.query(`select writ.fn_changes_apply($1::jsonb, 'mallory')`, [
    JSON.stringify([{ job: step.job, token: step.token }]),
  ]);
  const items = [
    { job: job.id },
    { job: step.job, token: step.token },
    { job: 'x', token: null },
    7,
  ];
  const [row] = await step.applier.query<{ answer: { reason: string }[] }>(
    `select writ.fn_governance_audits($1::jsonb, 'mallory') as answer`,
    [JSON.stringify(items)],
  );
  expect(row?.answer.map(({ reason }) => reason)).toEqual(items.map(() => 'job_not_found'));
  expect(await job.get()).toMatchObject({ status: 'AUDIT_PENDING' });
});

describe('a report about a probe that workers query', () => {
  const answers = JSON.stringify([
    { name: 'up', status: 'HEALTHY', detail: 'fine', at: future, checked_at: future },
  ]);

  test('is ignored from a login that was not handed the probe', async () => {
    await sick();
    const engine = await enter(['writ_engine']);
    expect(await engine.call('fn_probes_report', { reports: answers, actor: 'mallory' })).toEqual({
      reported: 0,
      ignored: 1,
    });
    expect(await s.sql('select status from writ.probe')).toEqual([{ status: 'UNHEALTHY' }]);
  });

  test('gets the time of the database', async () => {
    await sick();
    const engine = await enter(['writ_engine']);
    await engine.query(`select writ.fn_probes_take(0, 'default', '{checkout}')`);
    expect(
      await engine.call('fn_probes_report', { reports: answers, actor: 'mallory' }),
    ).toMatchObject({ reported: 1 });
    expect(await s.sql(`select checked_at <= now() as past from writ.probe`)).toEqual([
      { past: true },
    ]);
  });

  test('stores its good item when the other items are bad', async () => {
    await sick();
    const engine = await enter(['writ_engine']);
    await engine.query(`select writ.fn_probes_take(0, 'default', '{checkout}')`);
    const reports = JSON.stringify([
      { name: 'up', status: 'DEGRADED' },
      { name: 'up', tenant: 'x' },
      { status: 'FINE' },
      7,
      null,
    ]);
    expect(await engine.call('fn_probes_report', { reports, actor: 'mallory' })).toEqual({
      reported: 1,
      ignored: 4,
    });
  });
});

test('a step can neither supersede a BLOCKED signal nor record a CLEAN one', async () => {
  const operator = await enter(['writ_principal'], { principal_id: 'ops' });
  const signal = JSON.stringify({
    scope: 'SYSTEM',
    signal_type: 'GUARD',
    decision: 'BLOCKED',
    reason: 'it burns',
  });
  expect(await operator.call('fn_signal_record', { key: null, signal })).toHaveProperty(
    'signal_id',
  );
  await s.work();
  const contract = await s.approved({ steps: [recordSignal('GUARD'), enable('checkout')] });
  const job = await contract.activate({ as: s.keys.service });
  expect(await job.finished({ timeoutMs: 30_000 })).toMatchObject({ status: 'ROLLED_BACK' });
  expect(
    await s.sql(
      `select decision from writ.governance_signals where stands and signal_type = 'GUARD'`,
    ),
  ).toEqual([{ decision: 'BLOCKED' }]);
  for (const parameters of [
    { signal_type: 'X', decision: 'CLEAN' },
    { signal_type: 'X', scope: 'search' },
  ])
    expect(
      await codeOf(
        s.propose({
          steps: [{ step_type: 'signal_record', target: 'SYSTEM', parameters }, enable('checkout')],
        }),
      ),
    ).toMatch(/^(invalid_contract|scope_violation)$/);
});

test('fn_changes_apply refuses a queue job that is not a step of a change', async () => {
  const { flag } = outside({});
  await s.use(flag);
  const applier = await enter(['writ_applier', 'writ_worker', 'writ_producer']);
  await applier.call('fn_job_kind_register', { kind: 'chore', definition: '{}', actor: 'x' });
  await s.writ.enqueue((await import('../../src/index.js')).defineJob('chore'), undefined as never);
  const [row] = await applier.query<{ answer: { lease_token: string; jobs: [string][] } }>(
    `select writ.fn_job_claim_many('{chore}', 'external_worker', 'mallory', 30, 1, 1) as answer`,
  );
  const items = JSON.stringify([{ job: row?.answer.jobs[0]?.[0], token: row?.answer.lease_token }]);
  const [applied] = await applier.query<{ answer: object[] }>(
    `select writ.fn_changes_apply($1::jsonb, 'mallory') as answer`,
    [items],
  );
  expect(applied?.answer).toMatchObject([{ reason: 'job_not_found' }]);
});
