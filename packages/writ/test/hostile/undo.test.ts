/** A proposer cannot make its change look like an undo, which needs no approval. */
import { expect, test } from 'vitest';
import { stepNote, stepWords } from '../../src/cli/governance/words.js';
import { uuidv7 } from '../../src/database/uuid.js';
import { documentBytes } from '../../src/governance/document.js';
import { canonicalize } from '../../src/ledger/canonical.js';
import { outside } from '../governance/outside.js';
import { scene } from '../governance/scene.js';
import { until } from '../races/sessions.js';
import { codeOf } from '../runs/engine/scene.js';
import { attackers, storeRead } from './attackers.js';

const s = scene();
const enter = attackers(s);
const step = {
  step_type: 'flag',
  target: 'flag:a',
  parameters: { value: { key: 'a', percent: 99, undo_of: 1 } },
};
/** Why the first governance job of a contract stopped. */
const reason = async (contractId: string) =>
  String(
    (
      await s.sql(
        'select status_reason from writ.governance_jobs where contract_id = $1 and kind = $2',
        [contractId, 'forward'],
      )
    )[0]?.status_reason ?? '',
  );
const unsigned = /ada has not signed this/;

test('a step with undo_of beside its value is refused', async () => {
  const { flag } = outside({ a: 1 });
  await s.use(flag);
  await (await s.work([flag])).stop(); // the kind is registered
  const agent = await enter(['writ_principal'], { principal_id: 'agent' });
  const proposed = await agent.call('fn_contract_propose', {
    key: null,
    content: canonicalize({
      scope: ['flag:a'],
      steps: [{ ...step, parameters: { ...step.parameters, undo_of: 1 } }],
    }),
    about: JSON.stringify({ title: 'Put it back', risk_level: 'low' }),
  });
  expect(proposed).toMatchObject({ reason: 'invalid_contract' });
});

test('a step whose parameters contain undo_of runs only with a genuine signature', async () => {
  const { flag, values } = outside({ a: 1 });
  await s.use(flag);
  await s.work([flag]);
  const agent = await enter(['writ_principal'], { principal_id: 'agent' });
  const proposed = await agent.call('fn_contract_propose', {
    key: null,
    content: canonicalize({ scope: ['flag:a'], steps: [step] }),
    about: JSON.stringify({ title: 'Put it back', risk_level: 'low' }),
  });
  expect(proposed).toMatchObject({ status: 'ELIGIBLE' });
  const contract = s.writ.contracts.handle(String(proposed.contract_id));

  const shown = (await contract.preview({ as: s.keys.ada })).steps[0];
  expect(shown && [stepWords(shown), stepNote(shown)]).toEqual(['flag flag:a', '']);

  // An approval of zero bytes, by a person whose login is hostile.
  const ada = await enter(['writ_principal'], { principal_id: 'ada' });
  const { document } = await contract.preview({ as: s.keys.ada });
  const reviewed = await ada.call('fn_contract_review', {
    key: null,
    contract_id: contract.id,
    action: 'APPROVE',
    document: documentBytes(document),
    signature: '00'.repeat(64),
  });
  expect(reviewed).toMatchObject({ status: 'ELIGIBLE', approvals: [] });
  await until(
    async () =>
      (await s.sql('select from writ.contract_review where verdict is not null')).length === 1,
  );
  expect(await s.sql('select by, verdict from writ.contract_review')).toEqual([
    { by: 'ada', verdict: 'wrong' },
  ]);
  expect(await codeOf(contract.activate({ as: s.keys.service }))).toBe('invalid_transition');

  // Past every guard: approved by a verdict that no applier gave.
  await s.sql(`begin; set local session_replication_role = replica;
    update writ_data.contract_verdict set verdict = 'valid';
    update writ_data.contract c set approval_hash = d.hash, pre_state = d.document::jsonb ->> 'pre_state'
    from writ_data.contract_document d where d.contract_id = c.contract_id; commit`);
  await s.sql(
    `select writ_data.approve_verified(contract_id, 1, 'database', 'mallory', writ.now()) from writ_data.contract`,
  );
  const job = await contract.activate({ as: s.keys.service });
  expect(await job.finished({ timeoutMs: 30_000 })).toMatchObject({ status: 'ROLLED_BACK' });
  expect(await reason(contract.id)).toMatch(unsigned);
  expect(values).toEqual({ a: 1 });
});

test('an all-zero signature completes no step, even one that a hostile applier has begun', async () => {
  const { flag, calls, values } = outside({ a: 1 });
  s.writ.contracts.use(flag);
  await (await s.work([flag])).stop(); // the kind is registered, and no worker is there
  const agent = await enter(['writ_principal'], { principal_id: 'agent' });
  const proposed = await agent.call('fn_contract_propose', {
    key: null,
    content: canonicalize({ scope: ['flag:a'], steps: [step] }),
    about: JSON.stringify({ title: 'Put it back', risk_level: 'low' }),
  });
  const contract = s.writ.contracts.handle(String(proposed.contract_id));

  // The person, the service and the applier are hostile, and say that 99 stands there: what an undo
  // would restore.
  const judge = await enter(['writ_applier']);
  await storeRead(judge, [{ slot: 'flag:a', value: 99 }]);
  const ada = await enter(['writ_principal'], { principal_id: 'ada' });
  const { document } = await ada.call('fn_contract_preview', {
    key: null,
    contract_id: contract.id,
  });
  const signed = { document: canonicalize(document), signature: '00'.repeat(64) };
  const approval = { key: null, contract_id: contract.id, action: 'APPROVE', ...signed };
  expect(await ada.call('fn_contract_review', approval)).toMatchObject({ status: 'ELIGIBLE' });
  const asked = {
    kinds: ['governance.verify'],
    executor: 'external_worker',
    lease_holder: 'mallory',
    limit: 1,
    start: 1,
  };
  const verification = (await judge.call('fn_job_claim_many', asked)) as {
    lease_token: string;
    jobs: [string][];
  };
  const verdicts = [{ review_no: 1, verdict: 'valid' }];
  const lie = {
    job: verification.jobs[0]?.[0],
    token: verification.lease_token,
    trust: 'database',
    quorum: 1,
    verdicts,
  };
  expect(
    await judge.call('fn_signatures_verified', { items: JSON.stringify([lie]), actor: 'mallory' }),
  ).toMatchObject([{ status: 'APPROVED' }]);
  const service = await enter(['writ_principal'], { principal_id: 'deployer' });
  const items = JSON.stringify([{ contract: contract.id, job: uuidv7() }]);
  expect(await service.call('fn_contracts_activate', { key: null, items })).toMatchObject([
    { contract_id: contract.id },
  ]);
  const applier = await enter(['writ_applier']);
  const claim = {
    kinds: ['governance.flag'],
    executor: 'external_worker',
    lease_holder: 'mallory',
    limit: 1,
    start: 1,
  };
  const { lease_token, jobs } = (await applier.call('fn_job_claim_many', claim)) as {
    lease_token: string;
    jobs: [string][];
  };
  const job_id = jobs[0]?.[0];
  const begun = await applier.call('fn_change_begin', {
    job_id,
    lease_token,
    found: JSON.stringify({ 'flag:a': 99 }),
    actor: 'mallory',
  });
  expect(begun).toMatchObject({ found: { 'flag:a': 99 } });
  expect(
    await applier.call('fn_job_release', { job_id, lease_token, actor: 'mallory' }),
  ).not.toHaveProperty('refused');

  await s.work([flag]);
  const [job] = await s.sql<{ job_id: string }>(
    `select job_id from writ.governance_jobs where contract_id = $1 and kind = 'forward'`,
    [contract.id],
  );
  const end = await s.writ.changes.handle(String(job?.job_id)).finished({ timeoutMs: 30_000 });
  // What the hostile applier has begun was not signed either, so nobody undoes it: a person looks
  // at it.
  expect(end).toMatchObject({ status: 'ROLLBACK_FAILED' });
  expect(await reason(contract.id)).toMatch(unsigned);
  expect(calls).toEqual([]);
  expect(values).toEqual({ a: 1 });
});
