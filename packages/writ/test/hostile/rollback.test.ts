/**
 * A rollback follows a failed change, whatever becomes of the queue job that would have begun it.
 */
import { expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { configure, enable, soak } from '../../src/index.js';
import { scene } from '../governance/scene.js';
import { attackers } from './attackers.js';
import type { Login } from './logins.js';

const s = scene();
const enter = attackers(s);
const before = { checkout: 'DISABLED', search: 'LAUNCHED', 'limits#max': 100 };
const claim = (kind: string, ttl = 30) =>
  `select writ.fn_job_claim_many('{${kind}}', 'external_worker', 'mallory', ${ttl}, 10, 10) as answer`;

/** Claims one job of a kind: its id, and the token of its lease. */
async function taken(as: Login, kind: string, ttl?: number): Promise<[id: string, token: string]> {
  const [row] = await as.query<{ answer: { lease_token: string; jobs: [string][] } }>(
    claim(kind, ttl),
  );
  expect(row?.answer.jobs).toHaveLength(1);
  return [String(row?.answer.jobs[0]?.[0]), String(row?.answer.lease_token)];
}

/**
 * A change whose first step is done and whose second has failed; no worker is there to hear of its
 * end.
 */
async function failed() {
  const contract = await s.approved({ steps: [enable('checkout'), soak('30m')] });
  const job = await contract.activate({ as: s.keys.service });
  const applier = await enter(['writ_applier']);
  const [step, token] = await taken(applier, 'governance.change');
  await applier.query(`select writ.fn_changes_apply($1::jsonb, 'applier')`, [
    JSON.stringify([{ job: step, token }]),
  ]);
  const [watch, lease] = await taken(applier, 'governance.soak');
  await applier.query(`select writ.fn_job_fail_permanent($1, $2, 'burnt', 'it burns', 'applier')`, [
    watch,
    lease,
  ]);
  expect(await s.sql('select job_id from writ_data.governance_ended')).toEqual([
    { job_id: job.id },
  ]);
  return job;
}

test('a worker cannot prevent a rollback by claiming and finishing governance.ended', async () => {
  const job = await failed();
  const mallory = await enter(['writ_worker']);
  const [refused] = await mallory.query(claim('governance.ended'));
  expect(refused).toMatchObject({ answer: { reason: 'reserved_job_kind' } });

  // An applier may claim it, and finishes nothing with the gates of the queue.
  const applier = await enter(['writ_applier', 'writ_worker']);
  const [id, token] = await taken(applier, 'governance.ended');
  expect(
    await applier.call('fn_job_succeed_many', { lease_token: token, positions: [1] }),
  ).toMatchObject({
    done: 0,
    refused: [{ position: 1, reason: 'reserved_job_kind' }],
  });
  await expect(applier.call('fn_job_commit', { job_id: id, lease_token: token })).rejects.toThrow(
    'reserved_job_kind',
  );
  // the queue job is lost for good
  await s.sql(`delete from writ_data.job_lease where lease_token = $1`, [token]);

  await s.work();
  expect(await job.finished({ timeoutMs: 30_000 })).toMatchObject({ status: 'ROLLED_BACK' });
  expect(await s.state()).toEqual(before);
});

const permanently = { error_code: 'no', error_message: 'I will not', actor: 'mallory' };
const hostile: Record<string, (mallory: Login) => Promise<unknown>> = {
  'failed for good': async (mallory) => {
    const [id, token] = await taken(mallory, 'governance.ended');
    const answer = await mallory.call('fn_job_fail_permanent', {
      job_id: id,
      lease_token: token,
      ...permanently,
    });
    expect(answer).toMatchObject({ status: 'dead_letter' });
  },
  'held for a day': (mallory) => taken(mallory, 'governance.ended', 86_400),
};
test.each(Object.entries(hostile))(
  'a rollback happens although an applier’s attack left its governance.ended %s',
  async (_, attack) => {
    const job = await failed();
    await attack(await enter(['writ_applier']));
    await s.work();
    expect(await job.finished({ timeoutMs: 30_000 })).toMatchObject({ status: 'ROLLED_BACK' });
    expect(await s.state()).toEqual(before);
  },
);

test.each(['writ_applier', 'dot_executor'])(
  '%s can end a step of a change only through fn_changes_apply',
  async (role) => {
    const contract = await s.approved({ steps: [enable('checkout'), soak('30m')] });
    const job = await contract.activate({ as: s.keys.service });
    const mallory = await enter([role]);
    for (const [kind, index] of [
      ['governance.change', 0],
      ['governance.soak', 1],
    ] as const) {
      const [id, token] = await taken(mallory, kind);
      const [run] = await s.sql<{ run: string }>(
        'select run_id as run from writ_data.job where job_id = $1',
        [id],
      );
      const one = { job_id: id, lease_token: token };
      await expect(mallory.call('fn_job_commit', one)).rejects.toThrow('reserved_job_kind');
      await expect(mallory.call('fn_run_step_commit', { ...one, result: '{}' })).rejects.toThrow(
        'reserved_job_kind',
      );
      expect(
        await mallory.call('fn_job_succeed', { ...one, result_ref: null, actor: 'mallory' }),
      ).toMatchObject({
        reason: 'reserved_job_kind',
      });
      expect(
        await mallory.call('fn_job_succeed_many', { lease_token: token, positions: [1] }),
      ).toMatchObject({
        done: 0,
        refused: [{ position: 1, reason: 'reserved_job_kind' }],
      });
      const steps = {
        tokens: [token],
        positions: [1],
        jobs: [id],
        runs: [run?.run],
        results: [null],
        take: [true],
      };
      const going = { kinds: [kind], token: uuidv7(), lease_ttl_seconds: 30, holder: 'mallory' };
      expect(await mallory.call('fn_run_steps_succeed', { ...steps, ...going })).toEqual({
        unusual: true,
      });
      expect(await s.sql('select from writ_data.job_execution where job_id = $1', [id])).toEqual(
        [],
      );
      expect(await job.get()).toMatchObject({ completed_steps: index });
      if (index > 0) continue;

      // The same lease, by the gate of the kind: the effect stands, and the report ends the job.
      expect(await s.state()).toEqual(before);
      const items = JSON.stringify([{ job: id, token }]);
      expect(await mallory.call('fn_changes_apply', { items, actor: 'applier' })).toMatchObject([
        { done: [expect.anything()] },
      ]);
      expect(
        await mallory.call('fn_job_succeed_many', { lease_token: token, positions: [1] }),
      ).toMatchObject({ done: 1, refused: [] });
      expect(await s.state()).toEqual({ ...before, checkout: 'LAUNCHED' });
    }
  },
);

test('the clockwork alone starts a rollback', async () => {
  const job = await failed();
  const engine = await enter(['writ_engine']);
  await engine.query(`select writ.fn_governance_tick('clockwork')`);
  expect(await job.get()).toMatchObject({
    status: 'ROLLBACK_PENDING',
    rollback_job_id: expect.any(String),
  });
});

test('one governance job that cannot be ended does not delay the others', async () => {
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

test('a step that was committed without its gate does not stop the clockwork, and its governance job ends', async () => {
  const contract = await s.approved({ steps: [enable('checkout')] });
  const job = await contract.activate({ as: s.keys.service });
  const [id, token] = await taken(await enter(['writ_applier']), 'governance.change');
  // No gate does that. The owner of the database can.
  await s.sql(
    `select writ_data.commit_leased(array[$1::uuid], array[$2::uuid], array[null], writ.now())`,
    [id, token],
  );
  await s.sql(`update writ_data.job_lease set leased_until = now() - interval '1 hour'`);
  const engine = await enter(['writ_engine']);
  expect(await engine.query(`select writ.fn_job_tick('clockwork')`)).toHaveLength(1);
  await s.work();
  expect(await job.finished({ timeoutMs: 30_000 })).toMatchObject({
    status: expect.stringMatching(/^(COMPLETED|ROLLED_BACK)$/),
  });
});
