/**
 * Random histories: hundreds of gate calls over several jobs and two workers, sensible and
 * senseless, with stale tokens and a clock that jumps. Whatever happened, every view must tell one
 * story: a job is in exactly one place, its status and its four-state view agree, no effect stands
 * twice, and the facts fit what the tables say. fast-check makes the histories and, when one fails,
 * a shorter one.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { type Row, rolledBackGates } from './gates/harness.js';

const gates = rolledBackGates();

type Step = readonly [action: keyof typeof actions, a: number, b: number, c: number];

class History {
  readonly jobs: string[] = [];
  readonly leases: { token: string; ids: string[] }[] = [];
}

const pick = <T>(list: readonly T[], n: number): T | undefined =>
  list[n % Math.max(1, list.length)];
const failure = { error_code: 'e', error_message: 'm', actor: 'test' };

/** A lease, often the newest, sometimes a stale one; and a place in it, sometimes outside of it. */
function place(
  history: History,
  a: number,
  b: number,
): { token: string; id: string; position: number } | undefined {
  const lease =
    a % 3 === 0
      ? pick(history.leases, a)
      : (history.leases.at(-1 - (a % 2)) ?? history.leases.at(-1));
  if (!lease) return undefined;
  const position = 1 + (b % (lease.ids.length + (b % 11 === 0 ? 1 : 0)));
  return { token: lease.token, id: lease.ids[position - 1] ?? uuidv7(), position };
}

/** The first places of a lease, sometimes one of them twice. */
const places = (b: number, c: number) => [
  ...[...Array(1 + (c % 4)).keys()].map((n) => n + 1),
  ...(b % 4 === 0 ? [1] : []),
];

const single = (gate: string, rest: Row) => async (history: History, a: number, b: number) => {
  const at = place(history, a, b);
  if (at)
    await gates.call(gate, { job_id: at.id, lease_token: at.token, ...rest }).catch(onlyRaised);
};

/** fn_job_commit raises its refusals; nothing else may raise anything. */
function onlyRaised(error: { code?: string }): void {
  if (error.code !== 'WR001') throw error;
}

const actions = {
  enqueue: async (history: History, a: number, b: number, c: number) => {
    const id = uuidv7();
    const optional = {
      ...(a % 3 === 0 && { key: `k${b % 5}` }),
      ...(a % 5 === 0 && { delay_ms: (c % 60) * 1000 }),
    };
    const job = {
      id,
      kind: 'chore',
      ...optional,
      ...(b % 7 === 0 && { deadline_ms: (c % 90) * 1000 }),
      max_attempts: 1 + (c % 3),
    };
    const answer = await gates.enqueueMany([
      { ...job, priority: b % 3, tenant: c % 2 ? 'acme' : 'globex' },
    ]);
    if (answer.enqueued === 1) history.jobs.push(id);
  },
  enqueueAlike: async (history: History, a: number, b: number, c: number) => {
    const ids = Array.from({ length: 1 + (a % 5) }, uuidv7);
    const call = {
      kind: 'chore',
      ids,
      inputs: null,
      actor: 'test',
      tenant_id: c % 2 ? 'acme' : 'globex',
      priority: b % 3,
    };
    if ((await gates.call('fn_job_enqueue_alike', call)).enqueued === ids.length)
      history.jobs.push(...ids);
  },
  claim: async (history: History, a: number, b: number, c: number) => {
    const how = { limit: 1 + (b % 4), start: c % 5, alone: a % 4 < 2, after: a % 3 ? '' : 'acme' };
    const { token, ids } = await gates.claim({ lease_holder: a % 2 ? 'w1' : 'w2', ...how });
    if (token) history.leases.push({ token, ids });
  },
  start: async (history: History, a: number, b: number) => {
    const at = place(history, a, b);
    if (at) await gates.call('fn_job_start_many', { lease_token: at.token, upto: at.position });
  },
  progress: single('fn_job_progress', { status_signal_only: 'on the way', actor: 'test' }),
  commit: single('fn_job_commit', { actor: 'test' }),
  succeed: single('fn_job_succeed', { result_ref: null, actor: 'test' }),
  failTransient: single('fn_job_fail_transient', failure),
  failPermanent: single('fn_job_fail_permanent', failure),
  release: single('fn_job_release', { actor: 'test' }),
  succeedMany: async (history: History, a: number, b: number, c: number) => {
    const at = place(history, a, b);
    const positions = places(b, c);
    if (at)
      await gates.call('fn_job_succeed_many', {
        lease_token: at.token,
        positions,
        start_upto: c % 6,
      });
  },
  abortMany: async (history: History, a: number, b: number, c: number) => {
    const at = place(history, a, b);
    const positions = places(b, c);
    const kinds = positions.map((n) => ['transient', 'permanent', 'released'][(b + n) % 3]);
    const call = {
      positions,
      abort_kinds: kinds,
      codes: kinds,
      messages: kinds,
      start_upto: c % 6,
    };
    if (at) await gates.call('fn_job_abort_many', { lease_token: at.token, ...call });
  },
  renew: async (history: History, a: number) => {
    await gates.call('fn_job_renew_many', {
      lease_tokens: history.leases.slice(-3).map((lease) => lease.token),
      lease_ttl_seconds: a % 60,
    });
  },
  cancel: async (history: History, a: number) => {
    await gates.call('fn_job_cancel', {
      job_id: pick(history.jobs, a) ?? uuidv7(),
      reason: 'r',
      actor: 'ada',
    });
  },
  replay: async (history: History, a: number) => {
    const answer = await gates.call('fn_job_dead_letter_replay', {
      job_id: pick(history.jobs, a) ?? uuidv7(),
      triage: 't',
      actor: 'ada',
    });
    if (answer.job_id) history.jobs.push(answer.job_id);
  },
  reap: () => gates.call('fn_job_lease_reaper'),
  tick: () => gates.call('fn_job_tick', { actor: 'test' }),
  sweep: () => gates.call('fn_job_cleanup_sweep'),
  advance: (_: History, a: number) => gates.db.clock.advance(((a % 40) + 1) * 1000),
  sleep: (_: History, a: number) =>
    a % 8 === 0 ? gates.db.clock.advance('31d') : gates.db.clock.advance('1h'),
} satisfies Record<string, (history: History, a: number, b: number, c: number) => Promise<unknown>>;

const weights: Partial<Record<keyof typeof actions, number>> = {
  enqueue: 6,
  enqueueAlike: 3,
  claim: 8,
  start: 3,
  succeed: 3,
  failTransient: 3,
  commit: 3,
  sleep: 1,
};
const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom(
    ...(Object.keys(actions) as (keyof typeof actions)[]).flatMap((name) =>
      Array<keyof typeof actions>(weights[name] ?? 2).fill(name),
    ),
  ),
  fc.nat(1000),
  fc.nat(1000),
  fc.nat(1000),
);

/** Each answers the rows that break a promise. */
const promises: Record<string, string> = {
  'a job is in exactly one place': `
    with place as (
      select unnest(job_ids) as job_id from writ_data.job_ready union all select job_id from writ_data.job_wait
      union all select job_id from writ.job_execution where status in ('LEASED', 'IN_PROGRESS', 'COMMITTED')
      union all select job_id from writ_data.job_execution where final or status = 'DONE')
    select j.job_id, count(p.job_id) from writ_data.job j left join place p using (job_id) group by 1 having count(p.job_id) <> 1`,
  'status and state agree': `
    select q.job_id, q.status, s.state from writ.job_queue q join writ.v_job_state s using (job_id)
    left join writ_data.job_cleaned c using (job_id)
    where s.state is distinct from case coalesce(c.was, q.status)
      when 'queued' then 'PENDING' when 'retry_waiting' then 'PENDING' when 'leased' then 'RUNNING' when 'in_progress' then 'RUNNING'
      when 'succeeded' then 'SUCCEEDED' else 'FAILED' end or (c.job_id is null) = (q.status = 'cleaned')`,
  'every job is in both views': `
    select j.job_id from writ_data.job j where (select count(*) from writ.job_queue q where q.job_id = j.job_id) <> 1
      or (select count(*) from writ.v_job_state s where s.job_id = j.job_id) <> 1`,
  'at most one execution of a job commits': `
    select job_id from writ.job_execution where status in ('COMMITTED', 'DONE') group by 1 having count(*) > 1`,
  'attempts stay within max_attempts': `select job_id from writ.job_queue where attempts > max_attempts or attempts < 0`,
  'a job that has ended has one end': `select job_id from writ.job_execution where final or status = 'DONE' group by 1 having count(*) > 1`,
  'the numbers of executions are unique and without gaps': `
    select job_id from writ.job_execution group by 1
    having count(*) <> max(execution_no) or count(distinct execution_no) <> count(*)`,
  'a lease counts its open jobs': `
    select l.lease_token from writ_data.job_lease l where open_jobs <> (
      select count(*) from unnest(l.job_ids, l.execution_nos) h(job_id, execution_no)
      join writ.job_execution e using (job_id, execution_no) where e.status in ('LEASED', 'IN_PROGRESS', 'COMMITTED'))`,
  'every fact is of a registered type': `
    select event_type from writ.event_outbox where event_type not in (select event_type from writ.event_type_registry)`,
  'fact ids are unique': `select id from writ.event_outbox group by 1 having count(*) > 1`,
  'a fact id resolves to its batch': `
    select o.id from writ.event_outbox o
    where not exists (select from writ_data.event_batch b where b.batch_id = (left(o.id::text, 30) || '000000')::uuid and o.event_type = any (b.types))`,
  'every batch is shown in full': `
    select b.batch_id from writ_data.event_batch b where (select sum(l - f + 1) from unnest(b.first, b.last) r(f, l))
      <> (select count(*) from writ.event_outbox o where left(o.id::text, 30) = left(b.batch_id::text, 30))`,
  'the facts of a job fit its executions': `
    with fact as (select event_subject_ref::uuid as job_id, replace(event_type, 'dot.job.', '') as f from writ.event_outbox where event_subject_table = 'job_queue'),
    told as (select job_id, count(*) filter (where f = 'enqueued') as enqueued, count(*) filter (where f = 'leased') as leased,
        count(*) filter (where f = 'started') as started, count(*) filter (where f = 'committed') as committed,
        count(*) filter (where f = 'succeeded') as succeeded, count(*) filter (where f in ('dead_letter', 'cancelled')) as ended,
        count(*) filter (where f = 'cleaned') as cleaned from fact group by 1),
    held as (select job_id, count(lease_owner) as leased, count(*) filter (where started_at is not null) as started,
        count(*) filter (where committed_at is not null) as committed, count(*) filter (where status = 'DONE') as succeeded,
        count(*) filter (where final) as ended from writ.job_execution group by 1)
    select t::text as told, h::text as held from writ_data.job j left join told t using (job_id) left join held h using (job_id)
    where t.enqueued is distinct from 1 or t.leased <> coalesce(h.leased, 0) or t.started <> coalesce(h.started, 0)
      or t.committed <> coalesce(h.committed, 0) or t.succeeded <> coalesce(h.succeeded, 0) or t.ended <> coalesce(h.ended, 0)
      or t.cleaned <> (select count(*) from writ_data.job_cleaned c where c.job_id = j.job_id)`,
  'a key stands for a job that has it and is retained': `
    select k.* from writ_data.job_key k left join writ_data.job j using (job_id)
    where j.tenant_id is distinct from k.tenant_id or j.idempotency_key is distinct from k.idempotency_key
      or exists (select from writ_data.job_cleaned c where c.job_id = k.job_id)`,
};

async function check(): Promise<void> {
  for (const [promise, sql] of Object.entries(promises))
    expect(await gates.db.query(sql), promise).toEqual([]);
}

async function play(steps: readonly Step[]): Promise<void> {
  await gates.db.query('savepoint history');
  const history = new History();
  let n = 0;
  try {
    for (const [action, a, b, c] of steps) {
      await actions[action](history, a, b, c);
      if (++n % 50 === 0) await check();
    }
    await check();
  } finally {
    await gates.db.query('rollback to savepoint history');
  }
}

test('whatever happens, every view tells one story', { timeout: 120_000 }, async () => {
  await gates.register('chore', { backoff_base_s: 5 });
  const options = {
    numRuns: Number(process.env.WRIT_TEST_RUNS ?? 12),
    seed: Number(process.env.WRIT_TEST_SEED ?? 20240607),
    endOnFailure: process.env.WRIT_TEST_SHRINK !== '1',
  };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 400, size: 'max' }), play),
    options,
  );
});

test('a job that stands nowhere has no status and no state', async () => {
  await gates.register();
  const id = await gates.enqueue();
  await gates.db.query('savepoint damage');
  await gates.db.query('delete from writ_data.job_ready');
  expect(await gates.statusOf(id)).toBeNull();
  expect(await gates.db.query('select state from writ.v_job_state')).toEqual([{ state: null }]);
  await gates.db.query('rollback to savepoint damage');
  expect(await gates.statusOf(id)).toBe('queued');
});

test('the checks can fail: a job that is lost, doubled or told wrongly is found', async () => {
  await gates.register();
  const id = await gates.enqueue();
  await check();
  for (const sql of [
    `delete from writ_data.job_ready`,
    `insert into writ_data.job_ready select * from writ_data.job_ready`,
    `insert into writ_data.event_batch (batch_id, at, command, actor, types, first, last, subjects) values (writ_data.uuidv7(), now(), 'x', 'x', '{dot.job.succeeded}', '{1}', '{1}', array['${id}'::uuid])`,
    `insert into writ_data.job_cleaned (job_id, cleaned_at, was) values ('${id}', now(), 'succeeded')`,
  ]) {
    await gates.db.query('savepoint damage');
    await gates.db.query(sql);
    await expect(check(), sql).rejects.toThrow();
    await gates.db.query('rollback to savepoint damage');
  }
});
