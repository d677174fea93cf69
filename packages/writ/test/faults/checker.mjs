// @ts-check
// Counts what went wrong, in the database and with SQL of its own: nothing that the program under test counted is believed. It needs the tables of
// schema `fault` (see `prepare`), in which the producer's answers, the effects and the workers' records of begun jobs are. Every check is a query
// that answers one row per violation.

export const verdicts = /** @type {const} */ ([
  'lost',
  'repeated',
  'unreceipted',
  'stuck',
  'wrong',
]);
/** @typedef {(typeof verdicts)[number]} Verdict */
/**
 * @typedef {{ query(sql: string, params?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
 * }} Client
 */

/**
 * The sums that every suite ends with. @param {readonly { verdict: string, times: number }[]}
 * findings @param {Record<string, number>} happened
 */
export function tallied(findings, happened) {
  const sum = (/** @type {Verdict} */ verdict) =>
    findings.reduce(
      (total, finding) => total + (finding.verdict === verdict ? finding.times : 0),
      0,
    );
  const times = (/** @type {string} */ prefix) =>
    Object.entries(happened).reduce(
      (total, [name, count]) => total + (name.startsWith(prefix) ? count : 0),
      0,
    );
  return {
    faults: times(''),
    lost: sum('lost'),
    repeated: sum('repeated'),
    unreceipted: sum('unreceipted'),
    stuck: sum('stuck'),
    wrong: sum('wrong'),
    kills: times('kill'),
    happened,
  };
}

/** The tables that a run writes to, without a unique key anywhere. @param {Client} client */
export async function prepare(client) {
  await client.query(`
    create schema fault;
    create table fault.effect (n integer not null, job_id uuid not null, execution_no integer not null, worker integer not null,
      at timestamptz not null default clock_timestamp());
    create table fault.placed (n integer not null);
    create table fault.duplicated (job_id uuid not null);
    create table fault.owed (n integer not null, kind text not null, owed text not null, job_id uuid, transaction boolean not null);
    create table fault.begun (job_id uuid not null);`);
}

/**
 * What is looked at more than once, computed once. A job is found by the number in its input: the
 * producer may not know its id.
 */
const views = `
  create temp table j as
    select q.job_id, q.job_kind, q.status, q.attempts, q.max_attempts, q.parent_job_id, s.state, (w.input ->> 'n')::integer as n,
      exists (select from fault.duplicated d where d.job_id = q.job_id) as duplicated
    from (select distinct on (job_id) * from writ.job_queue order by job_id) q
    join writ_data.job w on w.job_id = q.job_id
    left join writ.v_job_state s on s.job_id = q.job_id;
  create temp table x as select e.*, d.job_id is null or d.lease_token is not null as leased
    from writ.job_execution e left join writ_data.job_execution d using (job_id, execution_no);
  create temp table f as
    select event_subject_ref::uuid as job_id, replace(event_type, 'dot.job.', '') as fact, count(*)::integer as times
    from writ.event_outbox where event_subject_table = 'job_queue' group by 1, 2;
  create temp table e as select n, count(*)::integer as effects from fault.effect group by n;
  create temp table o as
    select o.*, coalesce(e.effects, 0) as effects, (select count(*)::integer from j join x using (job_id) where j.n = o.n and j.job_kind = o.kind and x.status = 'DONE') as done
    from fault.owed o left join e on e.n = o.n;
  create index on j (n); create index on j (job_id); create index on x (job_id); create index on f (job_id); create index on o (n);
  analyze j; analyze x; analyze f; analyze o;`;

/**
 * A frail job that has used its attempts up, the last of them by failing: no crash may have taken
 * it.
 */
const died = `exists (select from j join x using (job_id) where j.n = o.n and o.kind = 'fault.frail' and j.status = 'dead_letter'
  and j.attempts = j.max_attempts and x.final and x.abort_kind = 'transient')`;
const times = (/** @type {string} */ fact) =>
  `coalesce((select times from f where f.job_id = j.job_id and f.fact = '${fact}'), 0)`;

/** @type {[Verdict, what: string, sql: string][]} */
export const checks = [
  [
    'lost',
    'an owed effect is missing',
    `select o.n, o.kind, o.job_id from o where owed = 'one' and kind <> 'fault.plain' and effects = 0 and not ${died}`,
  ],
  [
    'lost',
    'an owed return is missing',
    `select o.n, o.job_id from o where owed = 'one' and kind = 'fault.plain' and done = 0`,
  ],
  [
    'lost',
    'an answered enqueue left no job',
    `select o.n, o.job_id from o where job_id is not null and not exists (select from j where j.job_id = o.job_id)`,
  ],
  [
    'repeated',
    'an effect is there more than once',
    `select n, effects from e, generate_series(2, effects) where effects > 1`,
  ],
  [
    'repeated',
    'a job is done more than once',
    `select job_id, count(*) from x where status in ('COMMITTED', 'DONE') group by job_id having count(*) > 1`,
  ],
  [
    'repeated',
    'one order became several jobs',
    `select n, job_kind, count(*) from j where job_kind <> 'fault.follow' group by n, job_kind having count(*) > 1`,
  ],
  [
    'repeated',
    'one commit enqueued several jobs',
    `select n, count(*) from j where job_kind = 'fault.follow' group by n having count(*) > 1`,
  ],
  [
    'unreceipted',
    'facts of a succeeded job do not match',
    `
    select j.job_id, j.job_kind, ${times('enqueued')} as enqueued, ${times('committed')} as committed, ${times('succeeded')} as succeeded from j
    where j.status = 'succeeded' and (${times('enqueued')}, ${times('committed')}, ${times('succeeded')}) <> (1, 1, 1)`,
  ],
  [
    'unreceipted',
    'facts of a job that ended without effect do not match',
    `
    select j.job_id, j.status, j.job_kind from j where j.status in ('dead_letter', 'cancelled') and (${times('enqueued')} <> 1 or ${times('committed')} + ${times('succeeded')} > 0
      or (select coalesce(sum(times), 0) from f where f.job_id = j.job_id and f.fact = j.status) <> 1)`,
  ],
  [
    'unreceipted',
    'there are not as many leased facts as executions',
    `
    select j.job_id, j.job_kind, ${times('leased')} as leased, c.executions from j
    cross join lateral (select count(*)::integer as executions from x where x.job_id = j.job_id and leased) c
    where ${times('leased')} <> c.executions and not (j.duplicated and ${times('leased')} > c.executions)`,
  ],
  [
    'unreceipted',
    'there are not as many started facts as started executions',
    `
    select j.job_id, j.job_kind, ${times('started')} as started, c.executions from j
    cross join lateral (select count(*)::integer as executions from x where x.job_id = j.job_id and started_at is not null) c
    where ${times('started')} <> c.executions and not (j.duplicated and ${times('started')} > c.executions)`,
  ],
  [
    'unreceipted',
    'a fact has the id of another',
    `select id, count(*) from writ.event_outbox group by id having count(*) > 1`,
  ],
  [
    'stuck',
    'a job is not at rest',
    `select job_id, job_kind, status, attempts from j where coalesce(status, '') not in ('succeeded', 'dead_letter', 'cancelled')`,
  ],
  [
    'stuck',
    'a ready row is left',
    `select j.job_id, j.job_kind, attempts, execution_no from writ_data.job_ready r join writ_data.job j on j.job_id = any (r.job_ids)`,
  ],
  ['stuck', 'a waiting row is left', `select job_id, job_kind, due_at from writ_data.job_wait`],
  [
    'stuck',
    'a lease is left',
    `select lease_token, holder, leased_until, job_ids from writ_data.job_lease`,
  ],
  [
    'stuck',
    'a commit was not finished',
    `select job_id, execution_no from x where status = 'COMMITTED'`,
  ],
  [
    'wrong',
    'v_job_state disagrees with the status',
    `
    select job_id, status, state from j where state is distinct from case when status in ('queued', 'retry_waiting') then 'PENDING'
      when status in ('leased', 'in_progress') then 'RUNNING' when status = 'succeeded' then 'SUCCEEDED' else 'FAILED' end`,
  ],
  [
    'wrong',
    'a dead letter was never begun by a handler',
    `
    select job_id, job_kind, attempts from j where status = 'dead_letter' and not exists (select from fault.begun b where b.job_id = j.job_id)`,
  ],
  [
    'wrong',
    'a job with attempts left is dead',
    `
    select job_id, job_kind, attempts from j where status = 'dead_letter' and job_kind not in ('fault.doomed', 'fault.hurried') and attempts < max_attempts`,
  ],
  [
    'wrong',
    'a job has an effect and did not succeed',
    `
    select j.job_id, j.status from j where status is distinct from 'succeeded' and exists (select from fault.effect e where e.job_id = j.job_id)`,
  ],
  [
    'wrong',
    'an effect is not of the execution that committed',
    `
    select e.n, e.job_id, e.execution_no from fault.effect e
    where not exists (select from x where x.job_id = e.job_id and x.execution_no = e.execution_no and x.status in ('COMMITTED', 'DONE'))`,
  ],
  [
    'wrong',
    'an effect that nobody owes',
    `
    select o.n, o.kind, o.owed from o where owed = 'none' and effects > 0
    union all select e.n, null, null from e where not exists (select from o where o.n = e.n)`,
  ],
  [
    'wrong',
    'a job that nobody asked for',
    `select job_id, n from j where not exists (select from o where o.n = j.n)`,
  ],
  [
    'wrong',
    'a job and the transaction that enqueued it are not one',
    `
    select o.n, o.kind from o where transaction and exists (select from fault.placed p where p.n = o.n)
      <> exists (select from j where j.n = o.n and j.job_kind = o.kind)`,
  ],
  [
    'wrong',
    'execution numbers have holes',
    `
    select job_id, array_agg(execution_no order by execution_no) from x group by job_id having max(execution_no) <> count(*)`,
  ],
  [
    'wrong',
    'an attempt was charged that did not start, or not charged that did',
    `
    select c.*
    from (select x.job_id, execution_no, x.status, abort_kind, started_at, attempt, max_attempts,
        attempt - coalesce(lag(attempt) over (partition by x.job_id order by execution_no), 0) as charged
      from x join j using (job_id)) c
    where abort_kind is distinct from 'cancelled' and charged <> case
      when abort_kind = 'released' or abort_kind = 'lease_expired' and started_at is null then 0
      when abort_kind = 'lease_expired' and charged = 0 and attempt >= max_attempts - 1 then 0 -- a crash never takes the last attempt
      else 1 end`,
  ],
  [
    'wrong',
    'more attempts were charged than the job has',
    `select job_id, attempts, max_attempts from j where attempts > max_attempts`,
  ],
  [
    'wrong',
    'times run backwards',
    `
    select job_id, execution_no, started_at, committed_at, finished_at from x where committed_at < started_at or finished_at < committed_at or finished_at < started_at`,
  ],
];

/**
 * What the database knows of a job, for whoever has to explain a violation. @param {Client} client
 * @param {string} jobId
 */
async function historyOf(client, jobId) {
  const { rows } = await client.query(
    `select (select jsonb_agg(jsonb_build_array(execution_no, attempt, status, abort_kind, started_at, committed_at, finished_at, leased) order by execution_no) from x where job_id = $1) as executions,
       (select jsonb_agg(jsonb_build_array(occurred_at, event_type, actor_ref) order by occurred_at) from writ.event_outbox where event_subject_ref = $1::text) as facts,
       (select count(*)::integer from fault.duplicated where job_id = $1) as delivered_again`,
    [jobId],
  );
  return rows[0];
}

/**
 * @param {Client} client one session: it makes temporary tables
 * @returns {Promise<Record<Verdict, number> & { details: { verdict: Verdict, what: string, times:
 * number, rows: unknown[] }[] }>}
 */
export async function check(client) {
  await client.query(views);
  const result = {
    lost: 0,
    repeated: 0,
    unreceipted: 0,
    stuck: 0,
    wrong: 0,
    details: /** @type {any[]} */ ([]),
  };
  for (const [verdict, what, sql] of checks) {
    const { rows } = await client.query(sql);
    if (rows.length === 0) continue;
    result[verdict] += rows.length;
    const first =
      typeof rows[0]?.job_id === 'string' ? await historyOf(client, rows[0].job_id) : undefined;
    result.details.push({
      verdict,
      what,
      times: rows.length,
      rows: rows.slice(0, 5),
      history_of_first: first,
    });
  }
  await client.query('drop table j, x, f, e, o');
  return result;
}
