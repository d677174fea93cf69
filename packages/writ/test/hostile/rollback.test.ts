/** A rollback follows a failed change, whatever becomes of the queue job that would have begun it. */
import { expect, test } from 'vitest';
import { configure, enable, soak } from '../../src/index.js';
import { scene } from '../governance/scene.js';
import { attackers } from './attackers.js';

const s = scene();
const enter = attackers(s);
const before = { checkout: 'DISABLED', search: 'LAUNCHED', 'limits#max': 100 };
const claim = (kind: string) =>
  `select writ.fn_job_claim_many('{${kind}}', 'external_worker', 'mallory', 30, 10, 10) as answer`;

/** A change whose first step is done and whose second has failed; no worker is there to hear of its end. */
async function failed() {
  const contract = await s.approved({ steps: [enable('checkout'), soak('1h')] });
  const job = await contract.activate({ as: s.keys.service });
  const applier = await enter(['writ_applier']);
  const take = async (kind: string) => {
    const [row] = await applier.query<{ answer: { lease_token: string; jobs: [string][] } }>(
      claim(kind),
    );
    return [String(row?.answer.jobs[0]?.[0]), String(row?.answer.lease_token)] as const;
  };
  const [step, token] = await take('governance.change');
  await applier.query(`select writ.fn_changes_apply($1::jsonb, 'applier')`, [
    JSON.stringify([{ job: step, token }]),
  ]);
  const [watch, lease] = await take('governance.soak');
  await applier.query(`select writ.fn_job_fail_permanent($1, $2, 'burnt', 'it burns', 'applier')`, [
    watch,
    lease,
  ]);
  expect(await s.sql('select job_id from writ_data.governance_ended')).toEqual([
    { job_id: job.id },
  ]);
  return job;
}

test('a worker that claims and finishes governance.ended keeps no rollback from coming', async () => {
  const job = await failed();
  const mallory = await enter(['writ_worker']);
  const taken = await mallory
    .query<{ answer: { jobs?: unknown[] } }>(claim('governance.ended'))
    .catch(() => []);
  expect(taken[0]?.answer.jobs ?? []).toEqual([]);

  // An applier may claim it, and finishes nothing with the gates of the queue.
  const applier = await enter(['writ_applier', 'writ_worker']);
  const [lease] = await applier.query<{ answer: { lease_token: string; jobs: [string][] } }>(
    claim('governance.ended'),
  );
  expect(lease?.answer.jobs).toHaveLength(1);
  const token = lease?.answer.lease_token;
  for (const sql of [
    `select writ.fn_job_succeed_many('${token}', '{1}')`,
    `select writ.fn_job_commit('${lease?.answer.jobs[0]?.[0]}', '${token}')`,
  ])
    await applier.query(sql).catch(() => undefined);
  await s.sql(`delete from writ_data.job_lease where lease_token = $1`, [token]); // the queue job is lost for good

  await s.work();
  expect(await job.finished({ timeoutMs: 30_000 })).toMatchObject({ status: 'ROLLED_BACK' });
  expect(await s.state()).toEqual(before);
});

test('a rollback follows by the clock alone', async () => {
  const job = await failed();
  const engine = await enter(['writ_engine']);
  await engine.query(`select writ.fn_governance_tick('clockwork')`);
  expect(await job.get()).toMatchObject({
    status: 'ROLLBACK_PENDING',
    rollback_job_id: expect.any(String),
  });
});

test('one governance job that cannot be ended keeps no other from its turn', async () => {
  const bad = await failed();
  await s.sql(`create function writ_data.burn() returns trigger language plpgsql as $$ begin
    if new.job_id = '${bad.id}' then raise exception 'burnt'; end if; return new; end $$;
    create trigger burn before update on writ_data.governance_job for each row execute function writ_data.burn()`);
  const contract = await s.propose({
    title: 'Other',
    scope: ['limits'],
    steps: [configure('limits', 'max', 1)],
  });
  await s.sql(
    `update writ_data.contract set due_at = now() - interval '1 second' where contract_id = $1`,
    [contract.id],
  );
  await s.sql(
    `update writ_data.contract set review_due_at = now() - interval '1 second' where contract_id = $1`,
    [contract.id],
  );
  const engine = await enter(['writ_engine']);
  const [turn] = await engine.query<{ answer: object }>(
    `select writ.fn_governance_tick('clockwork') as answer`,
  );
  expect(turn?.answer).toMatchObject({ moved: 1 });
  expect(await contract.get()).toMatchObject({ status: 'EXPIRED' });
  expect(await s.alerts()).toContain('GOVERNANCE_SET_ASIDE');
});

test('a step that was committed past its own gate stops no clockwork, and its job comes to rest', async () => {
  const contract = await s.approved({ steps: [enable('checkout')] });
  const job = await contract.activate({ as: s.keys.service });
  const applier = await enter(['writ_applier', 'writ_worker', 'writ_engine']);
  const [lease] = await applier.query<{ answer: { lease_token: string; jobs: [string][] } }>(
    claim('governance.change'),
  );
  const [id, token] = [lease?.answer.jobs[0]?.[0], lease?.answer.lease_token];
  expect(id).toBeDefined();
  await applier.query('select writ.fn_job_commit($1, $2)', [id, token]).catch(() => undefined);
  await applier.query(`select writ.fn_job_succeed_many($1, '{1}')`, [token]).catch(() => undefined);
  await s.sql(`update writ_data.job_lease set leased_until = now() - interval '1 hour'`);
  const tick = await applier.query<{ answer: object }>(
    `select writ.fn_job_tick('clockwork') as answer`,
  );
  expect(tick).toHaveLength(1);
  await s.work();
  expect(await job.finished({ timeoutMs: 30_000 })).toMatchObject({
    status: expect.stringMatching(/^(COMPLETED|ROLLED_BACK)$/),
  });
});
