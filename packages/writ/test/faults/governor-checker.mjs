// @ts-check
// Counts what went wrong with governors, with SQL of its own, on the tables and on what the run's own witnesses say: the books of whoever sent signals, and what the service did that actions are carried out by. Nothing
// that the program under test counted is believed: what settles a signal is read from the receipts.

/** @typedef {import('./checker.mjs').Verdict} Verdict */
/**
 * @typedef {{ query(sql: string, params?: unknown[]): Promise<{ rows: Record<string, any>[] }> }}
 * Client
 */
/** @typedef {{ verdict: Verdict, what: string, times: number, rows: unknown[] }} Finding */

/** The tables that a run writes to, without a unique key anywhere. @param {Client} client */
export async function prepareGovernor(client) {
  await client.query(`
    create schema fault;
    create table fault.sent (id text not null, tenant text not null, sku text not null, status integer not null, receipt_id uuid, arrival_seq bigint, tries integer not null);
    create table fault.call (tenant text not null, key text not null, of text, did boolean not null, status integer not null);
    create table fault.duplicated (job_id uuid not null);`);
}

/** @param {Client} client @param {object[]} sent @param {object[]} calls */
export async function keepGovernorBooks(client, sent, calls) {
  await client.query(
    `insert into fault.sent select * from jsonb_to_recordset($1::jsonb) o(id text, tenant text, sku text, status integer, receipt_id uuid, arrival_seq bigint, tries integer)`,
    [JSON.stringify(sent)],
  );
  await client.query(
    `insert into fault.call select * from jsonb_to_recordset($1::jsonb) o(tenant text, key text, of text, did boolean, status integer)`,
    [JSON.stringify(calls)],
  );
}

/**
 * g: a governor. m: its mails. h: its receipts. t: which of them settles which signal. a: attempts
 * at actions, as jobs.
 */
const views = `
  create temp table g as select x.*, b.mails, b.arrivals from writ_data.governor x left join writ_data.governor_inbox b on b.governor_id = x.governor_id;
  create temp table m as select * from writ_data.governor_mail;
  create temp table h as select g.governor_id, r.receipt_id, r.stream_seq, r.entry::jsonb ->> 'reason' as reason, r.entry::jsonb -> 'context' as context from writ_data.receipt r join g on g.tenant_id = r.log_id and r.stream = 'governor:' || g.sku_id;
  create temp table t as select h.governor_id, h.receipt_id, (h.context ->> 'arrival_seq')::bigint as arrival_seq from h where (h.context ->> 'terminal')::boolean and h.context ? 'arrival_seq'
    union all select h.governor_id, h.receipt_id, n from h cross join lateral jsonb_array_elements(h.context -> 'arrival_ranges') r cross join lateral generate_series((r ->> 0)::bigint, (r ->> 1)::bigint) n where (h.context ->> 'terminal')::boolean;
  create temp table a as select j.job_id, j.tenant_id, j.input ->> 'governor_id' as governor_id, j.input ->> 'action_id' as action_id, j.input ->> 'of' as of from writ_data.job j where j.job_kind like 'governor.%';
  create index on g (governor_id); create index on m (governor_id, signal_id); create index on h (governor_id, reason); create index on t (governor_id, arrival_seq); create index on a (action_id); create index on h ((context ->> 'action_id'));
  analyze g; analyze m; analyze h; analyze t; analyze a;`;

/** What each signal that was answered is: its governor, and its place there. */
const sent = `fault.sent s join g on g.tenant_id = s.tenant and g.sku_id = s.sku`;
/** Counts without a gap: @param {string} of @param {string} seq */
const dense = (of, seq) =>
  `select x.governor_id, count(*) as n, count(distinct x.${seq}) as different, max(x.${seq}) as last from ${of} x where x.${seq} is not null group by 1 having count(*) <> max(x.${seq}) or count(distinct x.${seq}) <> count(*) or min(x.${seq}) <> 1`;

/** One row per violation. @type {[Verdict, what: string, sql: string][]} */
export const governorChecks = [
  [
    'lost',
    'a signal that was answered is in no mailbox',
    `select s.* from fault.sent s where not exists (select from m join g on g.governor_id = m.governor_id where g.tenant_id = s.tenant and g.sku_id = s.sku and m.signal_id = s.id)`,
  ],
  [
    'lost',
    'a signal was never settled',
    `select m.governor_id, m.arrival_seq, m.signal_id from m where m.arrival_seq is not null and not exists (select from t where t.governor_id = m.governor_id and t.arrival_seq = m.arrival_seq)`,
  ],
  [
    'repeated',
    'a signal was taken in twice',
    `select governor_id, signal_id, count(*) from m where signal_id is not null group by 1, 2 having count(*) > 1`,
  ],
  [
    'repeated',
    'a signal was settled more than once',
    `select governor_id, arrival_seq, count(*) from t group by 1, 2 having count(*) > 1`,
  ],
  [
    'repeated',
    'the service was asked more often than somebody began',
    // Whoever is killed has the attempt delivered once more, under the same key.
    `select c.tenant, c.key, count(*) as calls, min(n.n) as begun from fault.call c cross join lateral (select count(*) as n from a join writ_data.job_execution x on x.job_id = a.job_id where a.action_id = c.key) n group by 1, 2 having count(*) > min(n.n)`,
  ],
  [
    'repeated',
    'an attempt was committed more than once',
    `select x.job_id, count(*) from writ_data.job_execution x join a on a.job_id = x.job_id where x.status in ('COMMITTED', 'DONE') group by 1 having count(*) > 1`,
  ],
  [
    'unreceipted',
    'something was done without a receipt of an attempt',
    `select c.* from fault.call c where not exists (select from h where h.reason = case when c.of is null then 'action_attempted' else 'action_rollback_issued' end and coalesce(h.context ->> 'rollback_action_id', h.context ->> 'action_id') = c.key)`,
  ],
  [
    'unreceipted',
    'an attempt was handed over without a receipt',
    `select a.* from a where not exists (select from h where h.reason in ('action_attempted', 'action_rollback_issued') and coalesce(h.context ->> 'rollback_action_id', h.context ->> 'action_id') = a.action_id)`,
  ],
  ['unreceipted', 'a stream of receipts is not dense', dense('h', 'stream_seq')],
  [
    'unreceipted',
    'a governor has more or fewer receipts than it counted',
    `select g.governor_id, g.receipts, (select count(*) from h where h.governor_id = g.governor_id) as are from g where g.receipts <> (select count(*) from h where h.governor_id = g.governor_id)`,
  ],
  [
    'unreceipted',
    'a change of state has no receipt',
    `select e.governor_id, e.event_seq, e.from_state, e.state from (select governor_id, count(*) as moves from writ_data.governor_event where from_state is not null and from_state <> state group by 1) n join writ_data.governor_event e on e.governor_id = n.governor_id and e.event_seq = 1 where n.moves <> (select count(*) from h where h.governor_id = n.governor_id and h.reason = 'state_transition')`,
  ],
  [
    'stuck',
    'a governor has not come to rest',
    `select tenant_id, sku_id, state, data -> 'in_flight' as in_flight, data -> 'causes' as causes from g where coalesce(state, 'boot') not in ('stable', 'warning', 'refusing', 'degraded') or jsonb_typeof(data -> 'in_flight') = 'object'`,
  ],
  [
    'stuck',
    'a mailbox is not empty',
    `select tenant_id, sku_id, state, mails, mail_done from g where mails <> mail_done`,
  ],
  [
    'stuck',
    'something waits that nobody will look at',
    `select tenant_id, sku_id, state, waiting, data -> 'storm' as storm from g where coalesce(waiting -> 'queue', '[]') <> '[]' or coalesce(waiting -> 'postponed', '[]') <> '[]' or coalesce(data #> '{storm,buffer}', '[]') <> '[]'`,
  ],
  [
    'stuck',
    'a timer has nobody who looks',
    `select tenant_id, sku_id, state, due_at from g where due_at is not null and not exists (select from writ_data.governor_due d where d.governor_id = g.governor_id and d.due_at <= g.due_at)`,
  ],
  [
    'stuck',
    'an attempt is left in the queue',
    `select a.* from a where exists (select from writ_data.job_ready r where a.job_id = any (r.job_ids)) or exists (select from writ_data.job_lease l where a.job_id = any (l.job_ids))`,
  ],
  ['wrong', 'arrivals are not 1 to n', dense('m', 'arrival_seq')],
  ['wrong', 'a mailbox is not 1 to n', dense('m', 'mail_seq')],
  ['wrong', 'events are not 1 to n', dense('writ_data.governor_event', 'event_seq')],
  [
    'wrong',
    'a mailbox has more or fewer than it counted',
    `select g.governor_id, g.mails, g.arrivals from g where g.mails <> (select count(*) from m where m.governor_id = g.governor_id) or g.arrivals <> (select count(m.arrival_seq) from m where m.governor_id = g.governor_id)`,
  ],
  [
    'wrong',
    'a mail was handled more than once, or out of order',
    `select governor_id, mail_seq from writ_data.governor_event where mail_seq is not null and coalesce(added::jsonb ->> 'from', 'mailbox') = 'mailbox' group by 1, 2 having count(*) > 1
     union all select x.governor_id, x.mail_seq from (select governor_id, mail_seq, lag(mail_seq) over (partition by governor_id order by event_seq) as before from writ_data.governor_event where mail_seq is not null and coalesce(added::jsonb ->> 'from', 'mailbox') = 'mailbox') x where x.mail_seq <= x.before`,
  ],
  [
    'wrong',
    'what is noted as settled is not what the receipts say',
    `select coalesce(x.governor_id, t.governor_id) as governor_id, coalesce(x.arrival_seq, t.arrival_seq) as arrival_seq from writ_data.governor_settled x full join t on t.governor_id = x.governor_id and t.arrival_seq = x.arrival_seq where x.receipt_id is distinct from t.receipt_id`,
  ],
  [
    'wrong',
    'a sender was answered something else',
    `select s.*, m.arrival_seq as is, t.receipt_id as settled_by from ${sent} join m on m.governor_id = g.governor_id and m.signal_id = s.id left join t on t.governor_id = m.governor_id and t.arrival_seq = m.arrival_seq where s.arrival_seq is not null and s.arrival_seq <> m.arrival_seq or s.receipt_id is not null and s.receipt_id is distinct from t.receipt_id`,
  ],
  [
    'wrong',
    'the quota is not the number of actions',
    `select coalesce(q.tenant_id, x.tenant_id) as tenant, q.used, x.n from (select tenant_id, sum(used) as used from writ_data.governor_quota group by 1) q full join (select g.tenant_id, count(distinct h.context ->> 'action_id') as n from h join g on g.governor_id = h.governor_id where h.reason = 'action_attempted' and not coalesce((h.context ->> 'shadow')::boolean, false) group by 1) x on x.tenant_id = q.tenant_id where q.used is distinct from x.n`,
  ],
  [
    'wrong',
    'a shadow has acted',
    `select c.* from fault.call c where c.tenant like 'shadow%' union all select null, a.action_id, a.of, null, null from a join h on h.context ->> 'action_id' = a.action_id and h.reason = 'action_attempted' and (h.context ->> 'shadow')::boolean`,
  ],
  [
    'wrong',
    'what was given up is neither undone nor for a person',
    `select h.governor_id, h.context ->> 'original_action_id' as action, h.context ->> 'rollback_reason' as reason from h where h.reason = 'action_rollback_issued' and not exists (select from h x where x.governor_id = h.governor_id and (x.reason = 'action_succeeded' and x.context ->> 'action_id' = h.context ->> 'rollback_action_id' or x.reason = 'action_rollback_failed' and x.context ->> 'rollback_action_id' = h.context ->> 'rollback_action_id'))`,
  ],
  [
    'wrong',
    'an action has no end',
    `select h.governor_id, h.context ->> 'action_id' as action from h where h.reason = 'action_attempted' and not coalesce((h.context ->> 'shadow')::boolean, false) and not exists (select from h x where x.governor_id = h.governor_id and (x.reason in ('action_succeeded', 'permission_denied', 'action_failed') and x.context ->> 'action_id' = h.context ->> 'action_id' or x.reason = 'action_rollback_issued' and x.context ->> 'original_action_id' = h.context ->> 'action_id'))`,
  ],
  [
    'wrong',
    'a rollback that succeeded was not carried out',
    `select h.governor_id, h.context ->> 'rollback_action_id' as rollback from h where h.reason = 'action_rollback_issued' and exists (select from h x where x.governor_id = h.governor_id and x.reason = 'action_succeeded' and x.context ->> 'action_id' = h.context ->> 'rollback_action_id') and not exists (select from fault.call c where c.key = h.context ->> 'rollback_action_id' and c.did)`,
  ],
  [
    'wrong',
    'an event was set aside',
    `select h.governor_id, h.reason, h.context from h where h.reason in ('event_failed', 'nondeterminism_detected')`,
  ],
];

/**
 * Of writ.governor v: something of it is under way, or waits for its turn. Out of safe mode its own
 * timers lead, at any moment.
 */
export const isMoving = `(v.state in ('boot', 'intervening', 'degraded') or v.in_flight is distinct from 'null' or v.in_mailbox + v.buffered + v.postponed > 0 or v.timers @@ '$[*].name like_regex "baseline|rollback|storm|look"'
  or exists (select from writ_data.governor x where x.governor_id = v.governor_id and x.waiting -> 'queue' <> '[]'))`;

/** @param {Client} client @returns {Promise<Finding[]>} */
export async function checkGovernor(client) {
  await client.query('drop table if exists pg_temp.g, pg_temp.m, pg_temp.h, pg_temp.t, pg_temp.a');
  await client.query(views);
  /** @type {Finding[]} */
  const findings = [];
  for (const [verdict, what, sql] of governorChecks) {
    const { rows } = await client.query(sql);
    if (rows.length > 0)
      findings.push({ verdict, what, times: rows.length, rows: rows.slice(0, 5) });
  }
  return findings;
}
