// @ts-check
// Counts what went wrong with governance, with SQL of its own, on the tables and on what the run's own witnesses say (see `prepareGovernance`): every write of a target, the books of whoever
// proposed, and what the server outside did and holds. Nothing that the program under test counted is believed.
import { governanceJob } from '../../dist/machines/governance-job.js';

/** @typedef {import('./checker.mjs').Verdict} Verdict */
/**
 * @typedef {{ query(sql: string, params?: unknown[]): Promise<{ rows: Record<string, any>[] }> }}
 * Client
 */
/**
 * @typedef {{ verdict: Verdict, what: string, times: number, rows: unknown[], history_of_first?:
 * unknown }} Finding
 */

/**
 * The tables that a run writes to, without a unique key anywhere; and a witness of every write of a
 * capability or a value. To be called when the schema is there. @param {Client} client
 */
export async function prepareGovernance(client) {
  await client.query(`
    create schema fault;
    create table fault.owed (contract_id uuid not null, job_id uuid, name text not null, n integer not null, ends text[] not null, person boolean not null, meddled boolean not null, retried boolean not null, before jsonb not null, after jsonb not null);
    create table fault.outside (at integer not null, key text not null, effect text not null, value jsonb, undo boolean not null);
    create table fault.flag (slot text not null, value jsonb not null);
    create table fault.duplicated (job_id uuid not null);
    create table fault.bystander (slot text not null, value jsonb not null, version bigint);
    create table fault.written (at bigint generated always as identity, slot text not null, value jsonb not null, version bigint not null, by text);
    create function fault.witness() returns trigger language plpgsql security definer as $$ begin
      if tg_table_name = 'capability' then
        insert into fault.written (slot, value, version, by) values (new.capability_name, to_jsonb(new.lifecycle), new.version, new.updated_by);
      elsif tg_op = 'DELETE' then
        insert into fault.written (slot, value, version) values (old.scope || '#' || old.key, 'null', 0);
      else
        insert into fault.written (slot, value, version, by) values (new.scope || '#' || new.key, new.value, new.version, new.updated_by);
      end if;
      return null;
    end $$;
    create trigger witness after insert or update of lifecycle, version on writ_data.capability for each row execute function fault.witness();
    create trigger witness after insert or update or delete on writ_data.configuration for each row execute function fault.witness();`);
}

/**
 * What nobody may change, in the database and outside: remembered as it is now. @param {Client}
 * client @param {Iterable<[key: string, value: unknown]>} flags
 */
export async function rememberBystanders(client, flags) {
  await client.query(
    `
    insert into fault.bystander select capability_name, to_jsonb(lifecycle), version from writ_data.capability where capability_name like 'bystander%'
    union all select scope || '#' || key, value, version from writ_data.configuration where scope like 'bystander%'
    union all select 'flag:' || (x ->> 0), x -> 1, null from jsonb_array_elements($1::jsonb) x where x ->> 0 like 'bystander%'`,
    [JSON.stringify([...flags])],
  );
}

/**
 * Puts into the database what whoever proposed was told, and what the server outside did and holds.
 * @param {Client} client @param {object[]} books @param {object[]} puts @param {Iterable<[key:
 * string, value: unknown]>} flags
 */
export async function keepGovernanceBooks(client, books, puts, flags) {
  await client.query(
    `insert into fault.owed select * from jsonb_to_recordset($1::jsonb) o(contract_id uuid, job_id uuid, name text, n integer, ends text[], person boolean, meddled boolean, retried boolean, before jsonb, after jsonb)`,
    [JSON.stringify(books)],
  );
  await client.query(
    `insert into fault.outside select x.n, x.o ->> 'key', x.o ->> 'effect', nullif(x.o -> 'value', 'null'), (x.o ->> 'undo')::boolean from jsonb_array_elements($1::jsonb) with ordinality x(o, n)`,
    [JSON.stringify(puts)],
  );
  await client.query(
    `insert into fault.flag select 'flag:' || (x ->> 0), x -> 1 from jsonb_array_elements($1::jsonb) x`,
    [JSON.stringify([...flags])],
  );
}

/**
 * g: a governance job with its contract, and, of a forward job, what is owed. s: a step that has
 * begun or ended. e: the log of its run. t: what stands at each slot now. h: receipts of
 * governance.
 */
const views = `
  create temp table g as select x.*, c.status as contract_status, c.scope, c.steps, c.pre_state::jsonb as pre_state, o.name, o.n, o.ends, o.person, o.meddled, o.retried, o.before, o.after
    from writ_data.governance_job x join writ_data.contract c on c.contract_id = x.contract_id left join fault.owed o on o.contract_id = x.contract_id;
  create temp table s as select x.*, y.of_job_id, y.run_id, y.contract_id, (select k from jsonb_object_keys(x.applied) k) as slot from writ_data.governance_step x join writ_data.governance_job y on y.job_id = x.job_id;
  create temp table e as select y.* from writ_data.run_event y join writ_data.governance_job x on x.run_id = y.run_id;
  create temp table t as select capability_name as slot, to_jsonb(lifecycle) as value, version from writ_data.capability
    union all select scope || '#' || key, value, version from writ_data.configuration union all select slot, value, null from fault.flag;
  create temp table h as select r.receipt_no, r.stream, r.stream_seq, r.entry::jsonb ->> 'reason' as reason, r.entry::jsonb -> 'context' as context from writ_data.receipt r where r.entry::jsonb ->> 'sku_id' = 'governance';
  create index on g (job_id); create index on g (contract_id); create index on s (job_id); create index on e (run_id, step_id); create index on t (slot); create index on h (receipt_no); create index on h (stream);
  analyze g; analyze s; analyze e; analyze t; analyze h;`;

const inDatabase = `('capability_enable', 'capability_disable', 'config_update')`;
/** What has to stand at the targets of a forward job, by how it ended. */
const owed = `select g.job_id, g.name, g.status, case when g.status = 'COMPLETED' then g.after else g.before end as state from g
  where g.kind = 'forward' and not g.meddled and (g.status in ('COMPLETED', 'ROLLED_BACK', 'CANCELLED') or g.status = 'ROLLBACK_FAILED' and exists (select from g r where r.of_job_id = g.job_id and r.status = 'COMPLETED'))`;

/**
 * One row per violation; $1 is the table of moves, as [{from, event, to}]. @type {[Verdict, what:
 * string, sql: string][]}
 */
export const governanceChecks = [
  [
    'lost',
    'an activation that was answered left no job',
    `select o.contract_id, o.name from fault.owed o where o.job_id is not null and not exists (select from g where g.job_id = o.job_id)`,
  ],
  [
    'lost',
    'a step that is done was not written',
    `select s.job_id, s.step_no, s.slot from s where s.done_at is not null and s.written_version > 0 and not exists (select from fault.written w where w.slot = s.slot and w.version = s.written_version and w.value = s.applied -> s.slot)`,
  ],
  [
    'lost',
    'a change outside that is done was never made',
    `select s.job_id, s.step_no from s where s.step_type = 'flag' and s.done_at is not null and s.of_step_no is null and not exists (select from fault.outside o where 'flag:' || o.key = s.target and not o.undo and o.value = s.applied -> s.target)`,
  ],
  [
    'repeated',
    'a contract has more than one forward job',
    `select contract_id, count(*) from g where kind = 'forward' group by 1 having count(*) > 1`,
  ],
  [
    'repeated',
    'a version was written more than once',
    `select slot, version, count(*) from fault.written where version > 1 group by 1, 2 having count(*) > 1`,
  ],
  [
    'repeated',
    'a target was written as often as no job says',
    `select w.slot, w.n as writes, coalesce(d.n, 0) as steps from (select slot, count(*) as n from fault.written where by is distinct from 'ops' and by is distinct from 'meddler' group by 1) w
     left join (select slot, count(*) as n from s where done_at is not null and step_type in ${inDatabase} group by 1) d on d.slot = w.slot where w.n is distinct from coalesce(d.n, 0)`,
  ],
  [
    'repeated',
    'a step of a run is done by several executions',
    `select j.run_id, j.step_no, count(*) from writ_data.job j join writ_data.job_execution x on x.job_id = j.job_id and x.status in ('COMMITTED', 'DONE') where j.run_id is not null group by 1, 2 having count(*) > 1`,
  ],
  [
    'repeated',
    'one effect outside put different values',
    `select effect, count(distinct coalesce(value, 'null')) from fault.outside group by 1 having count(distinct coalesce(value, 'null')) > 1`,
  ],
  [
    'repeated',
    'a step was undone more than once',
    `select of_job_id, of_step_no, count(*) from s where of_step_no is not null and done_at is not null group by 1, 2 having count(*) > 1`,
  ],
  [
    'unreceipted',
    'a step that is done has no receipt that says so',
    `select s.job_id, s.step_no from s left join h on h.receipt_no = s.receipt_no where s.done_at is not null and (h.stream, h.reason, (h.context ->> 'step')::integer, h.context ->> 'target') is distinct from
      ('governance_job:' || s.job_id, case when s.of_step_no is null then 'change_applied' else 'change_reverted' end, s.step_no, s.target)`,
  ],
  [
    'unreceipted',
    'a receipt of a change has no step',
    `select h.receipt_no, h.stream from h where h.reason in ('change_applied', 'change_reverted') and not exists (select from s where s.receipt_no = h.receipt_no and s.done_at is not null)`,
  ],
  [
    'unreceipted',
    'a target that was not restored has no receipt that says so, or the reverse',
    `select s.job_id, s.step_no, h.receipt_no from (select * from s where s.error is not null) s full join (select * from h where h.reason = 'rollback_conflict') h
       on h.receipt_no = s.receipt_no and h.stream = 'governance_job:' || s.job_id and (h.context ->> 'step')::integer = s.step_no where s.job_id is null or h.receipt_no is null`,
  ],
  [
    'wrong',
    'a rollback that did not restore a target has not failed',
    `select s.job_id, s.step_no from s join g on g.job_id = s.job_id where s.error is not null and (g.kind, g.status) is distinct from ('rollback', 'ROLLBACK_FAILED')`,
  ],
  [
    'unreceipted',
    'a move of a job has no receipt',
    `select y.job_id, y.from_status, y.to_status from (select job_id, min(from_status) filter (where version = a) as from_status, min(to_status) filter (where version = z) as to_status, count(*) as n
       from (select *, min(version) over w as a, max(version) over w as z from writ_data.governance_job_history window w as (partition by job_id, event, at)) x group by job_id, event, at) y
     where not exists (select from h where h.stream = 'governance_job:' || y.job_id and h.reason = 'governance_job_moved' and coalesce(h.context ->> 'from', '') = y.from_status and h.context ->> 'to' = y.to_status)`,
  ],
  [
    'unreceipted',
    'a stream of receipts is not dense',
    `select stream, count(*), max(stream_seq) from h group by 1 having count(*) <> max(stream_seq) or count(distinct stream_seq) <> count(*)`,
  ],
  [
    'unreceipted',
    'a job has more or fewer receipts than it counted',
    `select g.job_id, g.receipts, (select count(*) from h where h.stream = 'governance_job:' || g.job_id) from g where g.receipts <> (select count(*) from h where h.stream = 'governance_job:' || g.job_id)`,
  ],
  [
    'unreceipted',
    'an approval is not in the ledger as it was signed',
    `select r.contract_id, r.by from writ_data.contract_review r where r.action = 'APPROVE' and not exists (select from h where h.stream = 'contract:' || r.contract_id and h.reason = 'contract_reviewed' and h.context ->> 'signature' = encode(r.signature, 'hex') and h.context ->> 'approval_hash' = encode(r.hash, 'hex'))`,
  ],
  [
    'stuck',
    'a job has not come to rest',
    `select job_id, kind, name, status, status_reason from g where status not in ('COMPLETED', 'ROLLED_BACK', 'ROLLBACK_FAILED', 'CANCELLED') and not (status = 'AUDIT_PENDING' and audits = 2 and person)`,
  ],
  [
    'stuck',
    'a person is waited for without having been needed',
    `select job_id, kind, name, status, status_reason from g where status in ('AUDIT_PENDING', 'ROLLBACK_FAILED') and not coalesce(person, false)`,
  ],
  [
    'stuck',
    'a rollback that a person had tried again has not restored what could be',
    `select g.job_id, g.name, r.status, r.status_reason from g left join g r on r.of_job_id = g.job_id and r.job_id <> g.rollback_job_id where g.kind = 'forward' and g.retried and r.status is distinct from 'COMPLETED'`,
  ],
  [
    'stuck',
    'a job of the queue is left',
    `select j.job_id, j.job_kind from writ_data.job_ready r join writ_data.job j on j.job_id = any (r.job_ids) union all select j.job_id, j.job_kind from writ_data.job_lease l join writ_data.job j on j.job_id = any (l.job_ids)`,
  ],
  [
    'stuck',
    'a hold is left',
    `select x.target, g.name, g.status from writ_data.target_hold x join g on g.contract_id = x.contract_id and g.kind = 'forward' where g.status not in ('AUDIT_PENDING', 'ROLLBACK_FAILED') or exists (select from g r where r.of_job_id = g.job_id and r.status = 'COMPLETED')`,
  ],
  [
    'wrong',
    'a job has ended as its kind may not',
    `select job_id, name, status, status_reason from g where kind = 'forward' and status <> all (ends)`,
  ],
  [
    'wrong',
    'what stands at a target is not what its job left',
    `select o.job_id, o.name, o.status, k.slot, o.state -> k.slot as owed, t.value as stands from (${owed}) o
     cross join lateral (select jsonb_object_keys(o.state) as slot union select x from jsonb_object_keys((select g.pre_state from g where g.job_id = o.job_id)) x) k left join t on t.slot = k.slot
     where coalesce(t.value, 'null') is distinct from coalesce(o.state -> k.slot, 'null')`,
  ],
  [
    'wrong',
    'a target that no contract named has changed',
    `select coalesce(b.slot, t.slot) as slot, b.value as was, t.value as stands from fault.bystander b full join (select * from t where slot like '%bystander%') t on t.slot = b.slot where (t.value, t.version) is distinct from (b.value, b.version)`,
  ],
  [
    'wrong',
    'something was written outside of a scope',
    `select w.slot, w.by from fault.written w where w.by is distinct from 'ops' and w.by is distinct from 'meddler' and not exists (select from s join g on g.job_id = s.job_id where s.slot = w.slot and s.target = any (g.scope))`,
  ],
  [
    'wrong',
    'something was changed outside of the database that no contract names',
    `select o.key from fault.outside o where not exists (select from g where 'flag:' || o.key = any (g.scope))`,
  ],
  [
    'wrong',
    'a job was rolled back and its state hash is another',
    `select job_id, name from g where status = 'ROLLED_BACK' and kind = 'forward' and rollback_job_id is not null and state_after is distinct from state_before`,
  ],
  [
    'wrong',
    'a job was rolled back without a rollback that was audited',
    `select g.job_id, g.name from g where g.status = 'ROLLED_BACK' and g.rollback_job_id is not null and not exists (select from g r where r.job_id = g.rollback_job_id and r.status = 'COMPLETED' and r.audit_verdict = 'PASS')`,
  ],
  [
    'wrong',
    'a job is COMPLETED without PASS',
    `select g.job_id, g.name from g where g.status = 'COMPLETED' and not exists (select from writ_data.governance_audit a where a.audit_id = g.audit_id and a.job_id = g.job_id and a.verdict = 'PASS')`,
  ],
  [
    'wrong',
    'a job is COMPLETED without all of its steps',
    `select g.job_id, g.name, g.done_steps, g.total_steps from g where g.status = 'COMPLETED' and (select count(*) from s where s.job_id = g.job_id and s.done_at is not null) <> g.total_steps`,
  ],
  [
    'wrong',
    'steps are not what the log of the run says',
    `select g.job_id, g.name, x.step_no from g cross join lateral generate_series(1, g.total_steps) x(step_no) where exists (select from s where s.job_id = g.job_id and s.step_no = x.step_no and (s.done_at is not null or s.error is not null)) <> exists (select from e where e.run_id = g.run_id and e.event_type = 'StepCompleted' and x.step_no between split_part(substr(e.step_id, 2), '-', 1)::integer and split_part(substr(e.step_id, 2), '-', -1)::integer)`,
  ],
  [
    'wrong',
    'the count of steps is not what the log of the run says',
    `select g.job_id, g.name, g.done_steps from g where g.done_steps <> (select coalesce(sum(split_part(substr(e.step_id, 2), '-', -1)::integer - split_part(substr(e.step_id, 2), '-', 1)::integer + 1), 0) from e where e.run_id = g.run_id and e.event_type = 'StepCompleted')`,
  ],
  [
    'wrong',
    'steps did not happen one after the other',
    `select e.run_id, e.step_id from e join e b on b.run_id = e.run_id and b.event_type = 'StepCompleted' and b.step_id ~ ('^s([0-9]+-)?' || (split_part(substr(e.step_id, 2), '-', 1)::integer - 1) || '$') where e.step_id ~ '^s[0-9]+' and e.event_type = 'StepStarted' and e.run_seq < b.run_seq`,
  ],
  [
    'wrong',
    'a move is not in the table',
    `select y.job_id, y.from_status, y.event, y.to_status from writ_data.governance_job_history y where not exists (select from jsonb_to_recordset($1::jsonb) m("from" text, event text, "to" text) where (m."from", m.event, m."to") = (y.from_status, y.event, y.to_status))`,
  ],
  [
    'wrong',
    'a history is not a chain',
    `select a.job_id, a.version from writ_data.governance_job_history a left join writ_data.governance_job_history b on b.job_id = a.job_id and b.version = a.version - 1 where a.from_status is distinct from coalesce(b.to_status, '')`,
  ],
  [
    'wrong',
    'a history does not end where its job is',
    `select g.job_id, g.status from g where g.status is distinct from (select y.to_status from writ_data.governance_job_history y where y.job_id = g.job_id order by y.version desc limit 1)`,
  ],
  [
    'wrong',
    'a contract is not where its job is',
    `select g.job_id, g.name, g.status, g.contract_status from g where g.kind = 'forward' and g.contract_status <> case g.status when 'COMPLETED' then 'COMPLETED' when 'AUDIT_PENDING' then 'ACTIVE' else 'FAILED' end`,
  ],
  [
    'wrong',
    'fewer than half of the jobs are COMPLETED',
    `select count(*) filter (where status = 'COMPLETED') as completed, count(*) as jobs from g where kind = 'forward' having 2 * count(*) filter (where status = 'COMPLETED') < count(*)`,
  ],
];

/**
 * The moves that may be in a history: those of the machine, and the two of one that has a state in
 * between.
 */
const moves = [
  ...governanceJob.transitions.filter(({ event }) => event !== 'run_completed'),
  { from: 'RUNNING', event: 'run_completed', to: 'COMPLETED' },
  { from: 'COMPLETED', event: 'run_completed', to: 'AUDIT_PENDING' },
];

/**
 * What the database knows of a job, for whoever has to explain a violation. @param {Client} client
 * @param {string} jobId
 */
async function historyOf(client, jobId) {
  const { rows } = await client.query(
    `select (select to_jsonb(x) from writ.governance_jobs x where x.job_id = $1) as job, (select jsonb_agg(to_jsonb(x) order by x.step_no) from writ.governance_job_steps x where x.job_id = $1) as steps,
       (select jsonb_agg(jsonb_build_array(e.run_seq, e.event_type, e.step_id, e.at, e.data) order by e.run_seq) from e join g on g.run_id = e.run_id where g.job_id = $1) as log,
       (select jsonb_agg(jsonb_build_array(j.job_id, j.step_no, x.execution_no, x.attempt, x.status, x.abort_kind, x.error_code, x.started_at, x.finished_at) order by j.job_id, x.execution_no)
         from writ_data.job j join writ_data.job_execution x on x.job_id = j.job_id join g on g.run_id = j.run_id where g.job_id = $1) as executions,
       (select jsonb_agg(to_jsonb(w) order by w.at) from fault.written w where w.slot in (select s.slot from s where s.job_id = $1)) as written`,
    [jobId],
  );
  return rows[0];
}

/** @param {Client} client one session: it makes temporary tables @returns {Promise<Finding[]>} */
export async function checkGovernance(client) {
  await client.query(views);
  /** @type {Finding[]} */
  const findings = [];
  for (const [verdict, what, sql] of governanceChecks) {
    const { rows } = await client.query(sql, sql.includes('$1') ? [JSON.stringify(moves)] : []);
    if (rows.length > 0)
      findings.push({ verdict, what, times: rows.length, rows: rows.slice(0, 5) });
  }
  for (const finding of findings) {
    const [first] = /** @type {{ job_id?: string }[]} */ (finding.rows);
    if (first?.job_id) finding.history_of_first = await historyOf(client, first.job_id);
  }
  await client.query('drop table g, s, e, t, h');
  return findings;
}
