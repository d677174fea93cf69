// @ts-check
// Counts what went wrong with runs. Most of it with SQL of its own, on the tables and on what the run's own witnesses say (see `prepareRuns`): the effects, what handlers did outside,
// and how each run had to end. Then each log by itself: its snapshot has to be what a fresh reduction gives, and every event what the rules of its plan allow.
import { isDeepStrictEqual } from 'node:util';
import { checkLog } from '../../dist/runs/check-log.js';
import { emptySnapshot, reduce } from '../../dist/runs/snapshot.js';

/** @typedef {import('./checker.mjs').Verdict} Verdict */
/**
 * @typedef {{ query(sql: string, params?: unknown[]): Promise<{ rows: Record<string, any>[] }> }}
 * Client
 */
/**
 * @typedef {{ verdict: Verdict, what: string, times: number, rows: unknown[], history_of_first?:
 * unknown }} Finding
 */

/** The tables that a run writes to, without a unique key anywhere. @param {Client} client */
export async function prepareRuns(client) {
  await client.query(`
    create schema fault;
    create table fault.effect (run_id uuid not null, step_id text not null, attempt integer not null, job_id uuid not null, execution_no integer not null, worker integer not null,
      at timestamptz not null default clock_timestamp());
    create table fault.outside (run_id uuid not null, step_id text not null, attempt integer not null);
    create table fault.placed (run_id uuid not null);
    create table fault.duplicated (job_id uuid not null);
    create table fault.owed (run_id uuid not null, plan text not null, owed text not null, ends text not null, stopped boolean not null, sum integer, last text, transaction boolean not null);`);
}

/**
 * What is looked at more than once, computed once. s: a step in an attempt, or an element of a
 * list, as the log has it, with its job. w: a kind that writes its effect. f: facts about jobs. v:
 * events as the rows of the record name and hash them.
 */
const views = `
  create temp table r as select x.*, p.plan_id, o.plan, o.owed, o.ends, o.stopped, o.sum, o.last, o.transaction from writ_data.run x join writ_data.plan p on p.plan_no = x.plan_no left join fault.owed o on o.run_id = x.run_id;
  create temp table e as select * from writ_data.run_event;
  create temp table x as select * from writ_data.job_execution;
  create index on e (run_id, step_id); create index on x (job_id); create index on r (run_id); analyze e; analyze x; analyze r;
  create temp table s as
    select e.run_id, e.step_id, e.logical_attempt, max(e.data ->> 'jobId') filter (where e.event_type = 'StepStarted') as job_id, max(e.data ->> 'kind') filter (where e.event_type = 'StepStarted') as kind,
      count(*) filter (where e.event_type = 'StepCompleted') as completed, max(e.data #>> '{artifacts,0,sha256}') filter (where e.event_type = 'StepCompleted') as output
    from e where e.step_id <> 'RUN' group by 1, 2, 3;
  create index on s (run_id, step_id); analyze s;
  create temp table f as
    select event_subject_ref::uuid as job_id, replace(event_type, 'dot.job.', '') as fact, count(*)::integer as times
    from writ.event_outbox where event_type like 'dot.job.%' group by 1, 2;
  create index on f (job_id); analyze f;
  create temp table v as
    select u.run as run_id, u.seq as run_seq, substring(b.run_leaves from 32 * u.n::integer - 31 for 32) as leaf, b.batch_id
    from writ_data.event_batch b cross join lateral unnest(b.run_ids, b.run_seqs) with ordinality u(run, seq, n) where b.run_ids is not null;
  create index on v (run_id, run_seq); analyze v;`;

const ended = `('COMPLETED', 'FAILED', 'CANCELLED')`;
const times = (/** @type {string} */ fact) =>
  `coalesce((select times from f where f.job_id = j.job_id and f.fact = '${fact}'), 0)`;
const effects = `(select count(*) from fault.effect z where z.run_id = s.run_id and z.step_id = s.step_id and z.attempt = s.logical_attempt::integer)`;

/**
 * One row per violation; $1 is the list of the kinds that write. @type {[Verdict, what: string,
 * sql: string][]}
 */
export const runChecks = [
  [
    'lost',
    'an answered start left no run',
    `select o.run_id, o.plan from fault.owed o where o.owed = 'one' and not exists (select from r where r.run_id = o.run_id)`,
  ],
  [
    'lost',
    'a step that completed has no effect',
    `select s.run_id, s.step_id, s.kind from s where s.completed > 0 and s.kind = any ($1) and ${effects} = 0`,
  ],
  [
    'lost',
    'a step that completed was never done outside',
    `
    select s.run_id, s.step_id from s where s.completed > 0 and s.kind = 'fault.tell'
      and not exists (select from fault.outside o where o.run_id = s.run_id and o.step_id = s.step_id and o.attempt = s.logical_attempt::integer)`,
  ],
  [
    'lost',
    'what was done is not undone',
    `
    select s.run_id, s.step_id, r.status from s join r on r.run_id = s.run_id where s.completed > 0 and s.step_id like 'h_ld%' and s.kind is not null and r.status in ('FAILED', 'CANCELLED') and not r.stopped
      and not exists (select from s u where u.run_id = s.run_id and u.step_id = 'undo:' || s.step_id and u.completed > 0)`,
  ],
  [
    'repeated',
    'an effect is there more than once',
    `select run_id, step_id, attempt, count(*) from fault.effect group by 1, 2, 3 having count(*) > 1`,
  ],
  [
    'repeated',
    'a step is done by several jobs or executions',
    `
    select j.run_id, j.step_no, j.place, count(*) from writ_data.job j join x on x.job_id = j.job_id and x.status in ('COMMITTED', 'DONE')
    where j.run_id is not null group by j.run_id, j.step_no, j.place, j.undo, j.logical_attempt having count(*) > 1`,
  ],
  [
    'repeated',
    'an event is in its log more than once',
    `select run_id, step_id, logical_attempt, event_type from e group by 1, 2, 3, 4 having count(*) > 1`,
  ],
  [
    'unreceipted',
    'an event is not in the record once, as it is',
    `
    select e.run_id, e.run_seq, e.event_type, count(v.run_id) as rows from e left join v on v.run_id = e.run_id and v.run_seq = e.run_seq
      and v.leaf = sha256('\\x00'::bytea || convert_to(format('["%s",%s,"%s","%s","%s",%s,%s,%s,%s]', e.run_id, e.run_seq, e.event_type, e.step_id, e.logical_attempt, coalesce(e.engine_attempt::text, 'null'),
        e.data, coalesce('"' || e.signal_id || '"', 'null'), (extract(epoch from e.at) * 1000000)::bigint), 'UTF8'))
    group by 1, 2, 3 having count(v.run_id) <> 1`,
  ],
  [
    'unreceipted',
    'the record names an event that is not there',
    `select v.run_id, v.run_seq from v where not exists (select from e where e.run_id = v.run_id and e.run_seq = v.run_seq)`,
  ],
  [
    'unreceipted',
    'facts of a job that was done do not match',
    `
    select j.run_id, j.job_id, j.job_kind, ${times('enqueued')} as enqueued, ${times('committed')} as committed, ${times('succeeded')} as succeeded from writ_data.job j
    where j.executor <> 'PG_worker' and exists (select from x where x.job_id = j.job_id and x.status = 'DONE') and (${times('enqueued')}, ${times('committed')}, ${times('succeeded')}) <> (1, 1, 1)`,
  ],
  [
    'unreceipted',
    'a job that was not done has facts of one that was',
    `
    select j.run_id, j.job_id, j.job_kind from writ_data.job j
    where not exists (select from x where x.job_id = j.job_id and x.status in ('COMMITTED', 'DONE')) and ${times('committed')} + ${times('succeeded')} > 0`,
  ],
  [
    'stuck',
    'a run has not ended',
    `select run_id, plan, status, ending, pauses from r where status not in ${ended} and owed = 'one'`,
  ],
  [
    'stuck',
    'a ready row is left',
    `select j.run_id, j.job_id, j.job_kind, r.execution_no from writ_data.job_ready r join writ_data.job j on j.job_id = any (r.job_ids)`,
  ],
  [
    'stuck',
    'a waiting row is left',
    `select j.run_id, w.job_id, w.job_kind, w.due_at from writ_data.job_wait w join writ_data.job j on j.job_id = w.job_id`,
  ],
  [
    'stuck',
    'a lease is left',
    `select lease_token, holder, leased_until, job_ids from writ_data.job_lease`,
  ],
  [
    'stuck',
    'a commit was not finished',
    `select j.run_id, x.job_id from x join writ_data.job j on j.job_id = x.job_id where x.status = 'COMMITTED'`,
  ],
  [
    'stuck',
    'a snapshot is behind its log, or stale',
    `
    select r.run_id, l.seq, n.last_seq, n.missing from r cross join lateral (select max(run_seq) as seq from e where e.run_id = r.run_id) l left join writ_data.run_snapshot n on n.run_id = r.run_id
    where n.last_seq is distinct from l.seq or n.missing is not null`,
  ],
  [
    'stuck',
    'an alert stands',
    `select code, subject, detail from writ_data.alert where cleared_at is null`,
  ],
  ['wrong', 'a run that nobody asked for', `select run_id, plan_id from r where owed is null`],
  [
    'wrong',
    'a run did not end as its plan and its signals say',
    `select run_id, plan, status, ends from r where status in ${ended} and status <> ends`,
  ],
  [
    'wrong',
    'a run and the transaction that started it are not one',
    `select o.run_id from fault.owed o where o.transaction and exists (select from r where r.run_id = o.run_id) <> exists (select from fault.placed p where p.run_id = o.run_id)`,
  ],
  [
    'wrong',
    'an effect of a step that has not completed',
    `
    select z.run_id, z.step_id, z.attempt from fault.effect z
    where not exists (select from s where s.run_id = z.run_id and s.step_id = z.step_id and s.logical_attempt = z.attempt::text and s.completed > 0)`,
  ],
  [
    'wrong',
    'an effect is not of the execution that committed',
    `
    select z.run_id, z.step_id, z.execution_no from fault.effect z
    where not exists (select from x where x.job_id = z.job_id and x.execution_no = z.execution_no and x.status in ('COMMITTED', 'DONE'))`,
  ],
  [
    'wrong',
    'something is undone in a run that goes well',
    `select s.run_id, s.step_id from s join r on r.run_id = s.run_id
     where s.step_id like 'undo:%' and r.status = 'COMPLETED'`,
  ],
  [
    'wrong',
    // A run that fails may have begun to undo before it was stopped.
    'an undo began after its run was stopped at once',
    `select u.run_id, u.step_id, u.run_seq
     from e stop
     join e u on u.run_id = stop.run_id and u.run_seq > stop.run_seq
     where stop.event_type = 'SignalAccepted' and stop.data ->> 'type' = 'EMERGENCY_STOP'
       and u.event_type = 'StepStarted' and u.step_id like 'undo:%'`,
  ],
  [
    'wrong',
    'something is undone that was not done',
    `
    select s.run_id, s.step_id from s where s.step_id like 'undo:%'
      and not exists (select from s d where d.run_id = s.run_id and 'undo:' || d.step_id = s.step_id and d.completed > 0)`,
  ],
  [
    'wrong',
    'a log is not dense',
    `select run_id, count(*), min(run_seq), max(run_seq) from e group by run_id having min(run_seq) <> 1 or max(run_seq) <> count(*) or count(distinct run_seq) <> count(*)`,
  ],
  [
    'wrong',
    'a run without a log',
    `select run_id from r where not exists (select from e where e.run_id = r.run_id)`,
  ],
  [
    'wrong',
    'the row of a run does not say what its log says',
    `
    select r.run_id, r.status, l.event_type from r cross join lateral (select event_type from e where e.run_id = r.run_id and e.step_id = 'RUN' and e.event_type like 'Run%' order by run_seq desc limit 1) l
    where r.status <> case l.event_type when 'RunCompleted' then 'COMPLETED' when 'RunFailed' then 'FAILED' when 'RunCancelled' then 'CANCELLED' when 'RunPaused' then 'PAUSED' else 'RUNNING' end`,
  ],
  [
    'wrong',
    'something happened after the end of a run',
    `
    select e.run_id, e.event_type, e.step_id from e join e t on t.run_id = e.run_id and t.step_id = 'RUN' and t.event_type in ('RunCompleted', 'RunFailed', 'RunCancelled') where e.run_seq > t.run_seq`,
  ],
  [
    'wrong',
    'a log does not name the output that is kept',
    `
    select s.run_id, s.step_id, s.output from s join x on x.job_id = s.job_id::uuid and x.status in ('COMMITTED', 'DONE')
    where s.output is distinct from encode(sha256(convert_to(x.result::text, 'UTF8')), 'hex')`,
  ],
  [
    'wrong',
    'the last step was not given what the others gave',
    `
    select r.run_id, r.plan, r.sum, x.result::text from r join s on s.run_id = r.run_id and s.step_id = r.last and s.completed > 0 join x on x.job_id = s.job_id::uuid and x.status in ('COMMITTED', 'DONE')
    where r.status = 'COMPLETED' and (x.result ->> 'sum')::integer is distinct from r.sum`,
  ],
  [
    'wrong',
    'a gap was seen, or an undoing failed',
    `select code, subject, detail, raised_at from writ_data.alert where code in ('PROJECTOR_GAP_DETECTED', 'COMPENSATION_FAILED')`,
  ],
];

/** The logs, as the view shows them, with what checkLog needs besides. @param {Client} client */
async function logsOf(client) {
  const { rows: runs } = await client.query(
    `select x.run_id, x.tenant_id, x.input, p.document, n.snapshot::text as snapshot,
       (select json_object_agg(z.step_id, z.result) from (select distinct on (s.step_id) s.step_id, x2.result from s join x x2 on x2.job_id = s.job_id::uuid and x2.status in ('COMMITTED', 'DONE') where s.run_id = x.run_id order by s.step_id, s.logical_attempt desc) z) as outputs
     from r x join writ_data.plan p on p.plan_no = x.plan_no left join writ_data.run_snapshot n on n.run_id = x.run_id`,
  );
  const logs = await eventsOf(client);
  return runs.map((run) => ({ ...run, events: logs.get(run.run_id) ?? [] }));
}

/** Every log, by its run, in the words of the reducer. @param {Client} client */
export async function eventsOf(client) {
  const { rows: events } = await client.query(
    `select run_id, run_seq, event_id, event_type, step_id, logical_attempt_id, engine_attempt_id, event_data, idempotency_key, caused_by_signal_id, round(date_part('epoch', emitted_at) * 1000)::bigint::text as ms
     from writ.run_events order by run_id, run_seq`,
  );
  /** @type {Map<string, import('../../dist/index.js').RunEvent[]>} */
  const logs = new Map();
  for (const row of events) {
    const at = new Date(Number(row.ms)).toISOString();
    const event = {
      runId: row.run_id,
      runSeq: row.run_seq,
      eventId: row.event_id,
      eventType: row.event_type,
      stepId: row.step_id,
      logicalAttemptId: row.logical_attempt_id,
      ...(row.engine_attempt_id !== null && { engineAttemptId: row.engine_attempt_id }),
      eventData: row.event_data,
      idempotencyKey: row.idempotency_key,
      emittedAt: at,
      persistedAt: at,
      ...(row.caused_by_signal_id !== null && { causedBySignalId: row.caused_by_signal_id }),
    };
    logs.set(row.run_id, [...(logs.get(row.run_id) ?? []), event]);
  }
  return logs;
}

/** Each log by itself. @param {Client} client @returns {Promise<Finding[]>} */
async function checkLogs(client) {
  /** @type {[what: string, row: object][]} */
  const found = [];
  for (const {
    run_id,
    tenant_id,
    input,
    document,
    snapshot,
    outputs,
    events,
  } of /** @type {any[]} */ (await logsOf(client))) {
    const faults = checkLog(JSON.parse(document), events, {
      input,
      outputs: (stepId) => outputs?.[stepId] ?? undefined,
      atRest: true,
    });
    if (faults.length > 0)
      found.push([
        'a log is not what the rules of its plan allow',
        { run_id, faults: faults.slice(0, 3) },
      ]);
    if (snapshot === null || faults.some(({ fault }) => fault === 'not_dense')) continue;
    // As JSON, which is how it is kept.
    const fresh = JSON.parse(JSON.stringify(reduce(emptySnapshot(run_id, tenant_id), events)));
    if (!isDeepStrictEqual(JSON.parse(snapshot), fresh))
      found.push(['a snapshot is not what its log reduces to', { run_id, snapshot, fresh }]);
  }
  return [...new Set(found.map(([what]) => what))].map((what) => {
    const rows = found.flatMap(([of, row]) => (of === what ? [row] : []));
    return { verdict: 'wrong', what, times: rows.length, rows: rows.slice(0, 3) };
  });
}

/**
 * What the database knows of a run, for whoever has to explain a violation. @param {Client} client
 * @param {string} runId
 */
async function historyOf(client, runId) {
  const { rows } = await client.query(
    `select (select to_jsonb(x) from writ_data.run x where run_id = $1) as run,
       (select jsonb_agg(jsonb_build_array(run_seq, event_type, step_id, logical_attempt, engine_attempt, at, data) order by run_seq) from e where run_id = $1) as log,
       (select jsonb_agg(jsonb_build_array(j.job_id, j.step_no, j.place, j.logical_attempt, j.undo, (select jsonb_agg(jsonb_build_array(execution_no, attempt, status, abort_kind, error_code, started_at, finished_at, lease_owner)
         order by execution_no) from x where x.job_id = j.job_id)) order by j.job_id) from writ_data.job j where j.run_id = $1) as jobs,
       (select jsonb_agg(jsonb_build_array(b.batch_id, b.xid::text, b.at, b.command, b.actor, (select array_agg(u.seq) from unnest(b.run_ids, b.run_seqs) u(run, seq) where u.run = $1), cardinality(b.run_ids)) order by b.batch_id)
         from writ_data.event_batch b where b.run_ids @> array[$1::uuid]) as record,
       (select jsonb_agg(to_jsonb(z)) from fault.effect z where z.run_id = $1) as effects`,
    [runId],
  );
  return rows[0];
}

/**
 * @param {Client} client one session: it makes temporary tables @param {readonly string[]} writing
 * the kinds that write @returns {Promise<Finding[]>}
 */
export async function checkRuns(client, writing) {
  await client.query(views);
  /** @type {Finding[]} */
  const findings = [];
  for (const [verdict, what, sql] of runChecks) {
    const { rows } = await client.query(sql, sql.includes('$1') ? [writing] : []);
    if (rows.length > 0)
      findings.push({ verdict, what, times: rows.length, rows: rows.slice(0, 5) });
  }
  findings.push(...(await checkLogs(client)));
  for (const finding of findings) {
    const [first] = /** @type {{ run_id?: string }[]} */ (finding.rows);
    if (first?.run_id) finding.history_of_first = await historyOf(client, first.run_id);
  }
  await client.query('drop table r, e, x, s, f, v');
  return findings;
}
