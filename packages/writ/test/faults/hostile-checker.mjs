// @ts-check
// Counts what hostile callers achieved, with SQL of its own over the tables and over witnesses that
// are triggers of this run. Nothing that a gate or an attacker says is believed. Beside the five
// verdicts of every suite it has a sixth: `escaped`.
import { createPublicKey, verify as verifySignature } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { emptySnapshot, reduce } from '../../dist/runs/snapshot.js';
import { eventsOf } from './runs-checker.mjs';

/** @typedef {import('./checker.mjs').Verdict | 'escaped'} Verdict */
/**
 * @typedef {{ query(sql: string, params?: unknown[]): Promise<{ rows: Record<string, any>[] }> }}
 * Client
 */
/** @typedef {{ verdict: Verdict, what: string, times: number, rows: unknown[] }} Finding */
/**
 * What a login is to the checker. @typedef {{ login: string, role: string, bound: boolean }} Login
 */

/**
 * Witnesses: effects of handlers, writes of governed values, and rows that hostile logins touch.
 *            @param {Client} client
 */
export async function prepareHostile(client) {
  await client.query(`
    create schema fault;
    create table fault.effect (n integer not null, job_id uuid not null);
    create table fault.owed (n integer not null, what text not null, tenant text not null, id text,
      ends text not null, before jsonb, after jsonb);
    create table fault.rested (at timestamptz not null);
    create table fault.arrival (place integer not null, destination text not null, id uuid not null,
      run uuid not null, seq integer, type text not null);
    create table fault.moved (destination text not null, login name not null, from_xid xid8, from_batch uuid,
      to_xid xid8, to_batch uuid);
    create table fault.forfeited (what text not null, id text not null);
    create table fault.key (principal_id text not null, public_key bytea not null);
    insert into fault.key select principal_id, public_key from writ_data.principal where public_key is not null;
    create table fault.handled (login name not null, what text not null, id text not null, gate text);
    create table fault.calm (place text not null, digest text);
    create table fault.kind (job_kind text not null);
    create table fault.touched (login name not null, place text not null, op text not null,
      tenant text, gate text, n bigint not null);
    create table fault.scope_made (tenant text not null, scope text not null, xact xid8 not null);
    create table fault.written (tenant text not null, slot text not null, op text not null,
      value jsonb, version bigint, login name not null, made_here boolean not null);
    grant usage on schema fault to public;

    create function fault.witness() returns trigger language plpgsql security definer as $$
    begin
      if tg_table_name = 'configuration_scope' then
        insert into fault.scope_made values (new.tenant_id, new.scope, pg_current_xact_id());
      elsif tg_table_name = 'capability' then
        insert into fault.written values (new.tenant_id, new.capability_name, tg_op,
          to_jsonb(new.lifecycle), new.version, session_user, tg_op = 'INSERT');
      elsif tg_op = 'DELETE' then
        insert into fault.written values (old.tenant_id, old.scope || '#' || old.key, tg_op, 'null',
          0, session_user, false);
      else
        insert into fault.written values (new.tenant_id, new.scope || '#' || new.key, tg_op, new.value,
          new.version, session_user, exists (select from fault.scope_made m
            where (m.tenant, m.scope, m.xact) = (new.tenant_id, new.scope, pg_current_xact_id())));
      end if;
      return null;
    end $$;
    create trigger witness after insert on writ_data.configuration_scope
      for each row execute function fault.witness();
    create trigger witness after insert or update of lifecycle, version on writ_data.capability
      for each row execute function fault.witness();
    create trigger witness after insert or update or delete on writ_data.configuration
      for each row execute function fault.witness();

    create function fault.key() returns trigger language plpgsql security definer as $$
    begin
      insert into fault.key select new.principal_id, new.public_key where new.public_key is not null;
      return null;
    end $$;
    create trigger key after insert or update of public_key on writ_data.principal
      for each row execute function fault.key();

    create function fault.position() returns trigger language plpgsql security definer as $$
    begin
      insert into fault.moved values (new.name, session_user, (old.position).xid, (old.position).fact,
        (new.position).xid, (new.position).fact);
      return null;
    end $$;
    create trigger position after update on writ_data.destination for each row
      when (old.position <> new.position) execute function fault.position();

    -- Rows that a hostile login held or made itself: what an unbound one does with them is its own.
    create function fault.handle() returns trigger language plpgsql security definer as $$
    declare
      v_row jsonb := to_jsonb(case when tg_op = 'DELETE' then old else new end);
    begin
      insert into fault.handled select session_user, tg_argv[0], x.id, substring(current_query() from 'writ\\.([a-z_0-9]+)')
      from unnest(case tg_argv[0]
        when 'held' then array(select jsonb_array_elements_text(v_row -> 'job_ids'))
        when 'schedule' then array[(v_row ->> 'tenant_id') || '/' || (v_row ->> 'schedule')]
        else array[v_row ->> tg_argv[1]] end) x(id);
      return null;
    end $$;
    create trigger handle after insert or update of job_ids on writ_data.job_lease for each row
      when (session_user like 'hostile%') execute function fault.handle('held');
    create trigger handle after insert on writ_data.job for each row
      when (session_user like 'hostile%') execute function fault.handle('made', 'job_id');
    create trigger handle after insert or update or delete on writ_data.schedule for each row
      when (session_user like 'hostile%') execute function fault.handle('schedule');
    create trigger handle after insert or update on writ_data.undelivered for each row
      when (session_user like 'hostile%') execute function fault.handle('stream', 'stream');
    create trigger handle after insert on writ_data.delivery for each row
      when (session_user like 'hostile%') execute function fault.handle('event', 'event_id');

    create function fault.touch() returns trigger language plpgsql security definer as $$
    declare
      v_tenant text := tg_argv[0];
    begin
      execute format('insert into fault.touched select %L, %L, %L, %s, %L, count(*) from rows_touched group by 4',
        session_user, tg_table_name, tg_op, v_tenant,
        substring(current_query() from 'writ\\.([a-z_0-9]+)'));
      return null;
    end $$;`);
  const { rows } = await client.query(`
    select c.relname as name, coalesce((select a.attname from pg_attribute a
      where a.attrelid = c.oid and a.attname in ('tenant_id', 'log_id') order by a.attname desc limit 1), 'null::text') as tenant
    from pg_class c where c.relnamespace = 'writ_data'::regnamespace and c.relkind in ('r', 'p')
      and not c.relispartition`);
  for (const { name, tenant } of rows)
    for (const [op, which] of [
      ['insert', 'new'],
      ['update', 'new'],
      ['delete', 'old'],
    ])
      await client.query(`create trigger touch_${op} after ${op} on writ_data.${name}
        referencing ${which} table as rows_touched for each statement
        when (session_user like 'hostile%') execute function fault.touch('${tenant}')`);
}

/** Tables that move by the clock, or have no row of a tenant's own. */
const moving = `('lane', 'limit_hold', 'limit_meter', 'receipt', 'ledger_leaf', 'run_snapshot',
  'request')`; // of a login, whatever tenant it names

/**
 * A digest of every row of the calm tenant, by table, and of kinds and settings that belong to
 * nobody who attacks. @param {Client} client @returns {Promise<Record<string, string>>}
 */
async function digestsOf(client) {
  const { rows } = await client.query(`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relnamespace = 'writ_data'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not in ${moving} order by 1`);
  const parts = rows.map(({ name }) => [
    name,
    `select x::text as row from writ_data.${name} x where x.tenant_id = 'calm'`,
  ]);
  parts.push(
    [
      'run_event',
      `select x::text as row from writ_data.run_event x join writ_data.run r using (run_id) where r.tenant_id = 'calm'`,
    ],
    [
      'contract_history',
      `select x::text as row from writ_data.contract_history x join writ_data.contract c using (contract_id) where c.tenant_id = 'calm'`,
    ],
    [
      'job_kind',
      `select (to_jsonb(x) - '{registered_at,registered_by}'::text[])::text as row from writ_data.job_kind x where x.job_kind in (select k.job_kind from fault.kind k)`,
    ],
    [
      'principal',
      `select x::text as row from writ_data.principal x where x.principal_id ~ '^(alpha|beta|calm)-'`,
    ],
  );
  /** @type {Record<string, string>} */
  const digests = {};
  for (const [name, sql] of parts) {
    const found = await client.query(
      `select md5(coalesce(string_agg(y.row, chr(10) order by y.row), '')) as digest from (${sql}) y`,
    );
    digests[String(name)] = found.rows[0]?.digest;
  }
  return digests;
}

/** Remembers what must not change from here on. @param {Client} client */
export async function rememberCalm(client) {
  await client.query('delete from fault.calm');
  // Kinds of others that exist now: new ones are anybody's.
  await client.query(
    `insert into fault.kind select job_kind from writ_data.job_kind where job_kind !~ '^m\\.'`,
  );
  for (const [place, digest] of Object.entries(await digestsOf(client)))
    await client.query('insert into fault.calm values ($1, $2)', [place, digest]);
}

/** Roles that a login may have without a tenant, beside honest work. */
const tenantless = `('writ_producer', 'writ_worker', 'writ_applier', 'writ_engine', 'dot_executor')`;

/**
 * What a clockwork does, it does for all tenants: by rows that it has locked, not by what it is
 * told.
 */
const clockwork = `('fn_job_tick', 'fn_job_lease_reaper', 'fn_job_cleanup_sweep', 'fn_ledger_tick', 'fn_ledger_heads', 'fn_governance_tick',
  'fn_governor_tick', 'fn_ledger_accept_restore')`;

/**
 * a: the attackers. h: receipts, taken apart. s: steps with the slot they write. o: what honest
 * work owes. f: facts that a destination is owed. z: honest work that a login of all tenants held
 * itself, which its role lets it do: what became of that is not counted as lost, stuck or wrong.
 */
const views = `
  create temp table h as select r.receipt_no, r.receipt_id, r.log_id, r.stream, r.stream_seq, x.e ->> 'reason' as reason,
    x.e ->> 'sku_id' as sku, x.e ->> 'tenant_id' as tenant, x.e -> 'context' as context
    from writ_data.receipt r cross join lateral (select r.entry::jsonb as e) x;
  create temp table s as select x.*, y.tenant_id, y.kind as job_kind, y.contract_id,
    (select k from jsonb_object_keys(x.applied) k limit 1) as slot
    from writ_data.governance_step x join writ_data.governance_job y on y.job_id = x.job_id;
  create temp table o as select * from fault.owed;
  create temp table f as
    select 'honest-' || r.tenant_id as destination, r.run_id as run, e.run_seq as seq, g.type, b.xid, b.batch_id,
      (left(b.batch_id::text, 30) || lpad(to_hex(g.ordinal), 6, '0'))::uuid as id
    from writ_data.event_batch b
    cross join lateral (
      select b.types[t.i] as type, n.n, row_number() over (order by t.i, n.n) as ordinal
      from generate_subscripts(b.types, 1) t(i) cross join lateral generate_series(b.first[t.i], b.last[t.i]) n(n)) g
    join writ_data.run r on r.run_id = b.subjects[g.n] and r.tenant_id in ('alpha', 'beta')
    join writ_data.run_event e on e.run_id = r.run_id and e.run_seq = b.run_seqs[g.n] and e.batch_id = b.batch_id
    where b.run_ids is not null and g.type = 'dot.run.' || e.event_type;
  create temp table j as select distinct d.what, d.login, d.gate, j.* from fault.handled d
    cross join lateral (select j.job_id, j.tenant_id, j.job_kind, j.run_id, j.input ->> 'job' as governs, j.input ->> 'n' as n
      from writ_data.job j where j.job_id = d.id::uuid) j where d.what in ('held', 'made');
  create index on h (stream); create index on h (receipt_no); create index on s (tenant_id, slot);
  create index on f (id); create index on f (run);
  create temp table z as
    with free as (select login from a where not bound and role in ${tenantless}), held as (select * from j where what = 'held' and login in (select login from free))
    select 'job' as what, job_id::text as id from held
    union select 'run', run_id::text from held where run_id is not null
    union select 'contract', g.contract_id::text from writ_data.governance_job g
      where g.run_id in (select run_id from held) or g.job_id::text in (select governs from held)
        or g.contract_id in (select p.contract_id from writ_data.governance_job p where p.run_id in (select run_id from held))
    union select 'schedule', id from fault.handled where what = 'schedule' and login in (select login from free)
    union select 'made', job_id::text from j where what = 'made' and login in (select login from free)
    union select 'told', f.run::text from f join fault.moved m on m.destination = f.destination and m.login in (select login from free)
      and (f.xid, f.batch_id) > (m.from_xid, m.from_batch) and (f.xid, f.batch_id) <= (m.to_xid, m.to_batch)
    union select 'told', id from fault.handled where what = 'stream' and login in (select login from free)
    union select 'told', f.run::text from f join fault.handled d on d.what = 'event' and d.id::uuid = f.id and d.login in (select login from free);
  create index on z (what, id);
  analyze h; analyze s; analyze f; analyze j; analyze z;`;

const own = (/** @type {string} */ what, /** @type {string} */ id) =>
  `exists (select from z where z.what = '${what}' and z.id = ${id})`;

const subjects = `
  select 'contract:' || c.contract_id as stream, c.tenant_id as tenant from writ_data.contract c
  union all select 'governance_job:' || g.job_id, g.tenant_id from writ_data.governance_job g
  union all select distinct 'governor:' || g.sku_id, g.tenant_id from writ_data.governor g`;

const control =
  'principal|login|dot_config|entitlement|governor_policy|governance_policy|freeze|incident|admission|tenant_weight';
const governed =
  'capability|configuration|configuration_scope|contract_review|governance_step|governance_audit';
const signed = 'ledger_key|ledger_checkpoint|receipt_archive';
/**
 * What a role never writes, bound or not, by the names of tables: "must never achieve" of each
 * role. The second pattern is for everything but the clockwork, which any process may wind: it ends
 * leases and runs, and records that.
 * @type {Record<string, [always: string, itself?: string]>}
 */
const neverWrites = {
  writ_principal: [`job_lease|principal|login|dot_config|governance_step|${signed}`],
  writ_producer: [
    `${control}|${governed}|${signed}`,
    'job_lease|job_cancel|run_signal|destination|receipt.*|contract.*|governance_.*|target_hold',
  ],
  writ_worker: [
    `${control}|${governed}|${signed}`,
    'job_cancel|run_signal|destination|schedule|receipt.*|contract.*|governance_.*|target_hold',
  ],
  // An applier that carries a governor's action out stops contracts with the key of a principal,
  // and that is a run signal (fn_governance_stop).
  writ_applier: [
    `${control}|contract_review|configuration_scope|${signed}`,
    'destination|schedule',
  ],
  writ_engine: [`${control}|${governed}|${signed}|run_signal`],
  writ_server: [`job_lease|principal|login|dot_config|governance_step|${signed}`],
  writ_signer: ['(?!ledger_|receipt|event_seal|event_batch|command_run|alert).*'],
  writ_admin: [
    `contract_review|governance_step|governance_audit|governance_policy|capability|configuration|configuration_scope|${signed}`,
  ],
};

/** One row per violation; $1 is neverWrites. @type {[Verdict, what: string, sql: string][]} */
export const hostileChecks = [
  [
    'lost',
    'a job has no effect',
    `select o.n, o.id from o where what = 'job' and not exists (select from fault.effect e where e.n = o.n) and not ${own('job', 'o.id')}`,
  ],
  [
    'lost',
    'a run does not have both of its effects',
    `select o.n, o.id from o where what = 'run' and (select count(distinct e.job_id) from fault.effect e where e.n = o.n + 1000000) < 2
       and not ${own('run', 'o.id')}`,
  ],
  [
    'lost',
    'a signal was not settled',
    `select o.n, o.tenant from o where what = 'signal' and not exists (select from writ_data.governor_mail m
      join writ_data.governor_settled t on t.governor_id = m.governor_id and t.arrival_seq = m.arrival_seq where m.signal_id = o.id)`,
  ],
  [
    'repeated',
    'an effect is there more than once',
    `select job_id, count(*) from fault.effect group by job_id having count(*) > 1
     union all select null, count(*) from o join fault.effect e on e.n = o.n where o.what = 'job' group by o.n having count(*) > 1`,
  ],
  [
    'repeated',
    'a contract has more than one forward job',
    `select contract_id, count(*) from writ_data.governance_job where kind = 'forward' group by 1 having count(*) > 1`,
  ],
  [
    'repeated',
    'a signal was taken twice',
    `select m.signal_id, count(*) from writ_data.governor_mail m where m.signal_id like 'honest-%' group by 1 having count(*) > 1`,
  ],
  [
    'unreceipted',
    'a completed step has no receipt of its completion',
    `select s.job_id, s.step_no from s left join h on h.receipt_no = s.receipt_no where s.done_at is not null and
      (h.log_id, h.stream, h.reason, (h.context ->> 'step')::integer, h.context ->> 'target') is distinct from (s.tenant_id,
      'governance_job:' || s.job_id, case when s.of_step_no is null then 'change_applied' else 'change_reverted' end, s.step_no, s.target)`,
  ],
  [
    'unreceipted',
    'the ledger does not have a review as its reviewer gave it',
    `select r.contract_id, r.by, r.action from writ_data.contract_review r where r.action in ('APPROVE', 'REJECT') and not exists
      (select from h where h.stream = 'contract:' || r.contract_id and h.reason = 'contract_reviewed' and h.context ->> 'by' = r.by
        and coalesce(h.context ->> 'signature', '') = coalesce(encode(r.signature, 'hex'), ''))`,
  ],
  [
    'unreceipted',
    'a move of a governance job has no receipt',
    `select y.job_id, y.from_status, y.to_status from (select job_id, min(from_status) filter (where version = a) as from_status, min(to_status) filter (where version = z) as to_status
       from (select *, min(version) over w as a, max(version) over w as z from writ_data.governance_job_history window w as (partition by job_id, event, at)) x group by job_id, event, at) y
     where not exists (select from h where h.stream = 'governance_job:' || y.job_id and h.reason = 'governance_job_moved' and coalesce(h.context ->> 'from', '') = y.from_status and h.context ->> 'to' = y.to_status)`,
  ],
  [
    'stuck',
    'honest work has not come to rest',
    `select o.what, o.n, o.id, coalesce(r.status, g.status) as status from o left join writ_data.run r on o.what = 'run' and r.run_id::text = o.id
       left join writ_data.governance_job g on o.what = 'contract' and g.contract_id::text = o.id and g.kind = 'forward'
     where (o.what = 'run' and coalesce(r.status, '') not in ('COMPLETED', 'FAILED', 'CANCELLED')
       or o.what = 'contract' and coalesce(g.status, '') not in ('COMPLETED', 'ROLLED_BACK', 'CANCELLED', 'ROLLBACK_FAILED'))
       and not exists (select from z where z.what = o.what and z.id = o.id)`,
  ],
  [
    'stuck',
    'a lease of an honest tenant never ended',
    `select l.lease_token, l.holder, j.job_kind from writ_data.job_lease l join writ_data.job j on j.job_id = any (l.job_ids)
     where j.tenant_id in ('alpha', 'beta') and l.leased_until < writ.now() - interval '5 seconds'`,
  ],
  [
    'wrong',
    'honest work ended as it may not',
    `select o.what, o.n, o.id, o.ends, coalesce(r.status, g.status) as status, coalesce(g.status_reason, '') as why
     from o left join writ_data.run r on o.what = 'run' and r.run_id::text = o.id
       left join writ_data.governance_job g on o.what = 'contract' and g.contract_id::text = o.id and g.kind = 'forward'
     where (o.what = 'run' and r.status in ('FAILED', 'CANCELLED') or o.what = 'contract' and g.status is distinct from o.ends)
       and not exists (select from z where z.what = o.what and z.id = o.id)`,
  ],
  [
    'wrong',
    'a target does not have the value that its contract left',
    `select o.n, o.tenant, k.key as slot, k.value as owed, t.value as stands from o cross join lateral jsonb_each(o.after) k
     left join (select tenant_id, capability_name as slot, to_jsonb(lifecycle) as value from writ_data.capability
       union all select tenant_id, scope || '#' || key, value from writ_data.configuration) t on t.tenant_id = o.tenant and t.slot = k.key
     where o.what = 'contract' and t.value is distinct from k.value and not ${own('contract', 'o.id')}`,
  ],
  [
    'wrong',
    'an honest tenant has a job that it did not enqueue',
    `select j.job_id, j.tenant_id, j.job_kind, j.input from writ_data.job j where j.tenant_id in ('alpha', 'beta') and j.run_id is null
       and j.job_kind !~ '^(governance|governor|writ)\\.' and j.job_kind not in ('honest.relieve') and not exists (select from o where o.what = 'job' and o.n::text = j.input ->> 'n' and o.tenant = j.tenant_id)
       and not exists (select from o where o.what = 'schedule' and o.id = j.safe_payload ->> 'schedule' and o.tenant = j.tenant_id)
       and not ${own('made', 'j.job_id::text')} and not ${own('schedule', `j.tenant_id || '/' || (j.safe_payload ->> 'schedule')`)}`,
  ],
  [
    'lost',
    'a destination never received a fact',
    `select f.destination, f.run, f.seq, f.type from f where not exists (select from fault.arrival r where r.id = f.id and r.destination = f.destination)
       and not ${own('told', 'f.run::text')}`,
  ],
  [
    'wrong',
    'a destination received the events of a run out of order',
    `select x.* from (select r.destination, r.run, r.seq, lag(r.seq) over (partition by r.destination, r.run order by r.place) as before
       from (select distinct on (destination, id) * from fault.arrival order by destination, id, place) r) x
     where x.seq <= x.before and not ${own('told', 'x.run::text')}`,
  ],
  [
    'wrong',
    'a destination was told of what is not in the log',
    `select r.destination, r.run, r.seq, r.type from fault.arrival r where not exists (select from f
       where (f.id, f.destination, f.run, f.seq, f.type) = (r.id, r.destination, r.run, r.seq, r.type))`,
  ],
  [
    'wrong',
    'the position of a destination is past a fact that it did not receive',
    `select d.name, f.run, f.seq from writ_data.destination d join f on f.destination = d.name and (f.xid, f.batch_id) <= ((d.position).xid, (d.position).fact)
     where not exists (select from fault.arrival r where r.id = f.id and r.destination = f.destination)
       and not exists (select from writ_data.undelivered u where u.destination = d.name and u.event_id = f.id) and not ${own('told', 'f.run::text')}`,
  ],
  [
    'stuck',
    'a relay has stopped',
    `select t.name, d.state, d.note from unnest(array['honest-alpha', 'honest-beta']) t(name) left join writ_data.destination d on d.name = t.name
     where d.state is distinct from 'active' or exists (select from f where f.destination = t.name and (f.xid, f.batch_id) > ((d.position).xid, (d.position).fact))
       or exists (select from writ_data.undelivered u where u.destination = t.name and not ${own('told', 'u.stream::text')})`,
  ],
  [
    'lost',
    'a tick of a schedule did not fire',
    `select o.n, o.id, t.tick from o cross join fault.rested r
       cross join lateral generate_series((o.before ->> 'first')::timestamptz, r.at, interval '30 minutes') t(tick)
     where o.what = 'schedule' and not exists (select from writ_data.schedule_tick k join fault.effect e on e.job_id = k.job_id
         where (k.tenant_id, k.schedule, k.tick) = (o.tenant, o.id, t.tick))
       and not exists (select from writ_data.schedule_tick k join z on z.what = 'job' and z.id = k.job_id::text
         where (k.tenant_id, k.schedule, k.tick) = (o.tenant, o.id, t.tick))
       and not ${own('schedule', `o.tenant || '/' || o.id`)}`,
  ],
  [
    'repeated',
    'a tick of a schedule fired twice',
    `select j.tenant_id, j.safe_payload, count(*) from writ_data.job j where j.tenant_id in ('alpha', 'beta') and j.safe_payload ? 'tick'
       and not ${own('made', 'j.job_id::text')} group by 1, 2 having count(*) > 1
     union all select o.tenant, o.before, count(*) from o join fault.effect e on e.n = o.n + 2000000 where o.what = 'schedule'
       and not exists (select from z where z.what = 'made' and z.id = e.job_id::text)
     group by 1, 2, o.n, o.id having count(*) > (select count(*) from writ_data.schedule_tick k where (k.tenant_id, k.schedule) = (o.tenant, o.id))`,
  ],
  [
    'stuck',
    'a schedule has stopped',
    `select o.tenant, o.id, s.next_tick, s.paused_by from o cross join fault.rested r
       left join writ_data.schedule s on s.tenant_id = o.tenant and s.schedule = o.id
     where o.what = 'schedule' and (s.next_tick is null or s.paused_at is not null or s.next_tick <= r.at or s.next_tick > r.at + interval '1 hour')
       and not ${own('schedule', `o.tenant || '/' || o.id`)}`,
  ],
  [
    'wrong',
    'a schedule is not as it was put',
    `select o.tenant, o.id, s.cron, s.catch_up, s.job_kind, s.job from o join writ_data.schedule s on s.tenant_id = o.tenant and s.schedule = o.id
     where o.what = 'schedule' and (s.cron, s.time_zone, s.catch_up, s.job_kind, (s.job #>> '{input,n}')::integer, s.version)
         <> ('*/30 * * * *', 'UTC', 'all', 'honest.effect', o.n + 2000000, 1) and not ${own('schedule', `o.tenant || '/' || o.id`)}`,
  ],
  [
    'escaped',
    'a governed value changed without a step of an approved contract',
    `select w.* from fault.written w where not w.made_here and not exists (select from s where s.tenant_id = w.tenant and s.slot = w.slot
       and s.done_at is not null and (s.written_version = w.version or w.op = 'DELETE') and coalesce(s.applied -> s.slot, 'null') = w.value)`,
  ],
  [
    'escaped',
    'a receipt of a change has no step',
    `select h.receipt_no, h.log_id, h.stream from h where h.reason in ('change_applied', 'change_reverted') and not exists (select from s where s.receipt_no = h.receipt_no and s.done_at is not null)`,
  ],
  [
    'escaped',
    'a receipt of a review has no review',
    `select h.receipt_no, h.log_id, h.stream, h.context from h where h.reason = 'contract_reviewed' and not exists (select from writ_data.contract_review r
       where h.stream = 'contract:' || r.contract_id and r.by = h.context ->> 'by' and coalesce(encode(r.signature, 'hex'), '') = coalesce(h.context ->> 'signature', ''))`,
  ],
  [
    'escaped',
    'a receipt of a move has no move',
    `select h.receipt_no, h.log_id, h.stream, h.context from h where h.reason = 'governance_job_moved' and not exists (select from writ_data.governance_job_history y
       where h.stream = 'governance_job:' || y.job_id and y.to_status = h.context ->> 'to')
     union all select h.receipt_no, h.log_id, h.stream, h.context from h where h.reason = 'contract_moved' and not exists (select from writ_data.contract_history y
       where h.stream = 'contract:' || y.contract_id and y.to_status = h.context ->> 'to')`,
  ],
  [
    'escaped',
    'a receipt of an audit has no audit',
    `select h.receipt_no, h.log_id, h.stream, h.context from h where h.reason = 'audit_verdict' and not exists (select from writ_data.governance_audit a where h.stream = 'governance_job:' || a.job_id)`,
  ],
  [
    'escaped',
    'a receipt is in the log of another tenant than its subject',
    `select h.receipt_no, h.log_id, h.stream, h.reason from h
     where h.stream ~ '^(contract|governance_job|governor):' and (h.tenant is distinct from h.log_id
       or not exists (select from (${subjects}) u where u.stream = h.stream and u.tenant = h.log_id))`,
  ],
  [
    'escaped',
    'a stream of receipts is not dense',
    `select log_id, stream, count(*), max(stream_seq) from h group by 1, 2 having count(*) <> max(stream_seq) or count(distinct stream_seq) <> count(*)`,
  ],
  [
    'escaped',
    'a subject has more or fewer receipts than it counted',
    `select u.stream, u.receipts, count(h.receipt_no) from (select 'contract:' || contract_id as stream, receipts from writ_data.contract
       union all select 'governance_job:' || job_id, receipts from writ_data.governance_job) u left join h on h.stream = u.stream
     group by 1, 2 having count(h.receipt_no) <> u.receipts`,
  ],
  [
    'escaped',
    'an ended run has a governance job that has not ended',
    `select g.job_id, g.tenant_id, g.status, r.status as run from writ_data.governance_job g join writ_data.run r on r.run_id = g.run_id
     where r.status in ('COMPLETED', 'FAILED', 'CANCELLED') and g.status in ('PENDING', 'RUNNING', 'FAILED')`,
  ],
  [
    'escaped',
    'a login of a tenant changed rows of another tenant',
    `select t.login, t.gate, t.place, t.op, t.tenant, sum(t.n) as n from fault.touched t join a on a.login = t.login
     where (a.bound or a.role not in ${tenantless}) and t.tenant in ('alpha', 'beta', 'calm')
       -- A row of request belongs to its login; the tenant in it only tells its keys apart.
       and (a.bound or t.place <> 'request')
       and not (t.gate in ${clockwork} and a.role not in ('writ_principal', 'writ_auditor', 'nobody'))
     group by 1, 2, 3, 4, 5 order by 6 desc`,
  ],
  [
    'escaped',
    'a login of a tenant moved the position of a destination of another tenant',
    `select m.* from fault.moved m join a on a.login = m.login where m.destination like 'honest-%' and (a.bound or a.role not in ${tenantless})`,
  ],
  [
    'escaped',
    'a login of a tenant held or made a job of another tenant',
    `select j.* from j join a on a.login = j.login where a.bound and j.tenant_id in ('alpha', 'beta', 'calm')
       and not (j.what = 'made' and coalesce(j.gate, '') in ${clockwork})`,
  ],
  [
    'escaped',
    'a worker or a producer held or made a job of a reserved kind',
    `select j.* from j join a on a.login = j.login where a.role in ('writ_worker', 'writ_producer')
       and (j.what = 'held' and j.job_kind ~ '^(governance|governor|writ)\\.' or j.job_kind ~ '^(governance|governor)\\.')`,
  ],
  [
    'escaped',
    'a login wrote where its role never writes',
    `select t.login, t.gate, t.place, t.op, t.tenant, sum(t.n) as n from fault.touched t join a on a.login = t.login
       join jsonb_each($1::jsonb) r(role, never) on r.role = a.role
     where t.place ~ concat('^(', r.never ->> 0, ')$')
       or coalesce(t.gate, '') not in ${clockwork} and t.place ~ concat('^(', coalesce(r.never ->> 1, '-'), ')$') group by 1, 2, 3, 4, 5`,
  ],
  [
    'escaped',
    'a read-only login changed a row',
    `select t.login, t.gate, t.place, t.op, sum(t.n) as n from fault.touched t join a on a.login = t.login
     where a.role in ('writ_auditor', 'nobody') group by 1, 2, 3, 4`,
  ],
  [
    'escaped',
    'a login of a tenant changed a row that all tenants share',
    `select t.login, t.gate, t.place, t.op, sum(t.n) as n from fault.touched t join a on a.login = t.login
     where (a.bound or a.role not in ('writ_signer', 'writ_engine', 'dot_executor')) and t.place in ('dot_config', 'principal', 'tenant_weight', 'ledger_key', 'ledger_restore', 'ledger_checkpoint', 'event_type_registry', 'schema_migration', 'schema_object', 'receipt_archive', 'consumer_registry', 'login')
       and not (t.place = 'principal' and coalesce(t.tenant, '') = 'mallory') and not (t.place = 'tenant_weight' and t.tenant = 'mallory') group by 1, 2, 3, 4`,
  ],
];

/** Checks that hold whoever steers: what was done stays done, and each receipt has its act. */
const lasting = new Set([
  'an effect is there more than once',
  'a contract has more than one forward job',
  'a completed step has no receipt of its completion',
  'the ledger does not have a review as its reviewer gave it',
  'a move of a governance job has no receipt',
  'a governed value changed without a step of an approved contract',
  'a receipt of a change has no step',
  'a receipt of a review has no review',
  'a receipt of a move has no move',
  'a receipt of an audit has no audit',
  'a receipt is in the log of another tenant than its subject',
  'a stream of receipts is not dense',
  'a subject has more or fewer receipts than it counted',
  'a login wrote where its role never writes',
  'a read-only login changed a row',
]);

/**
 * @param {Client} client one session: it makes temporary tables @param {readonly Login[]} logins
 * @returns {Promise<Finding[]>}
 */
export async function checkHostile(client, logins) {
  return checked(client, logins, hostileChecks, [
    ['a calm row has changed', calmChanged],
    ['a change ran without the signatures that its policy asks for', unsigned],
    ['a snapshot differs from its reduced log', falseSnapshots],
  ]);
}

/**
 * After logins that steer all tenants have called gates. @param {Client} client @param {readonly
 * Login[]} logins
 */
export async function checkSteered(client, logins) {
  const checks = hostileChecks.filter(([, what]) => lasting.has(what));
  return checked(client, logins, checks, [
    ['a change ran without the signatures that its policy asks for', unsigned],
  ]);
}

/**
 * @param {Client} client @param {readonly Login[]} logins @param {typeof hostileChecks} checks
 * @param {[what: string, check: (client: Client) => Promise<unknown[]>][]} others @returns
 * {Promise<Finding[]>}
 */
async function checked(client, logins, checks, others) {
  const list = JSON.stringify(logins.map(({ login, role, bound }) => ({ login, role, bound })));
  await client.query(`create temp table a (login name, role text, bound boolean)`);
  await client.query(
    'insert into a select * from jsonb_to_recordset($1::jsonb) a(login name, role text, bound boolean)',
    [list],
  );
  await client.query(views);
  /** @type {Finding[]} */
  const findings = [];
  for (const [verdict, what, sql] of checks) {
    const { rows } = await client.query(
      sql,
      sql.includes('$1') ? [JSON.stringify(neverWrites)] : [],
    );
    if (rows.length > 0)
      findings.push({ verdict, what, times: rows.length, rows: rows.slice(0, 8) });
  }
  for (const [what, check] of others) {
    const rows = await check(client);
    if (rows.length > 0)
      findings.push({ verdict: 'escaped', what, times: rows.length, rows: rows.slice(0, 8) });
  }
  await client.query('delete from fault.forfeited');
  await client.query(
    `insert into fault.forfeited select z.what, z.id from z where z.what in ('job', 'run', 'contract', 'schedule', 'told')`,
  );
  await client.query('drop table a, h, s, o, f, j, z');
  return findings;
}

/** @param {Client} client @returns {Promise<unknown[]>} */
async function calmChanged(client) {
  const { rows } = await client.query('select place, digest from fault.calm');
  const now = await digestsOf(client);
  // A login of all tenants may enqueue for any: what a bound one changes, another check sees.
  const { rows: free } = await client.query(
    `select distinct t.place from fault.touched t join a on a.login = t.login where not a.bound and a.role in ${tenantless} and t.tenant = 'calm'`,
  );
  const excused = new Set(free.map(({ place }) => place));
  // A schedule or a run that it made there goes on in the hands of honest workers.
  if (excused.has('schedule') || excused.has('run'))
    for (const place of [
      'job',
      'job_key',
      'job_wait',
      'schedule',
      'schedule_tick',
      'run',
      'run_event',
      'run_delivery',
    ])
      excused.add(place);
  return rows
    .filter(({ place, digest }) => now[place] !== digest && !excused.has(place))
    .map(({ place }) => ({ place }));
}

const spki = Buffer.from('302a300506032b6570032100', 'hex');

/**
 * Forward jobs whose contract, or template, was not signed by as many persons as the policy asks
 * for. @param {Client} client @returns {Promise<unknown[]>}
 */
async function unsigned(client) {
  const { rows } = await client.query(`
    select g.job_id, g.tenant_id, g.status, c.contract_id, c.created_by, encode(coalesce(t.approval_hash, c.approval_hash), 'hex') as hash,
      coalesce((select (p.document #>> array['approvals', c.risk_level])::integer from writ_data.governance_policy p
        where p.tenant_id = c.tenant_id and p.version = coalesce(t.policy_version, c.policy_version)), 1) as needed,
      coalesce((select jsonb_agg(jsonb_build_object('by', r.by, 'hash', encode(r.hash, 'hex'), 'signature', encode(r.signature, 'hex'),
          'keys', (select jsonb_agg(distinct encode(k.public_key, 'hex')) from fault.key k where k.principal_id = r.by), 'kind', p.kind, 'tenant', p.tenant_id))
        from writ_data.contract_review r left join writ_data.principal p on p.principal_id = r.by
        where r.contract_id = coalesce(c.template_id, c.contract_id) and r.action = 'APPROVE'), '[]') as reviews
    from writ_data.governance_job g join writ_data.contract c on c.contract_id = g.contract_id
      left join writ_data.contract t on t.contract_id = c.template_id
    where g.kind = 'forward' and g.done_steps > 0 and c.glass_broken is null`);
  return rows.flatMap(({ job_id, tenant_id, created_by, hash, needed, reviews }) => {
    const persons = new Set(
      reviews
        .filter(
          (/** @type {any} */ review) =>
            review.kind === 'person' &&
            review.by !== created_by &&
            (review.tenant === null || review.tenant === tenant_id) &&
            review.hash === hash &&
            isSigned(review),
        )
        .map((/** @type {any} */ review) => review.by),
    );
    return persons.size >= Math.max(1, needed)
      ? []
      : [{ job_id, tenant_id, needed, signed: [...persons] }];
  });
}

/**
 * With a key that the principal had then or later. @param {{ keys: string[] | null, hash: string,
 * signature: string }} review
 */
function isSigned({ keys, hash, signature }) {
  return (keys ?? []).some((key) => {
    const publicKey = createPublicKey({
      key: Buffer.concat([spki, Buffer.from(key, 'hex')]),
      format: 'der',
      type: 'spki',
    });
    return verifySignature(
      null,
      Buffer.from(hash, 'hex'),
      publicKey,
      Buffer.from(signature, 'hex'),
    );
  });
}

/**
 * Snapshots that the reducer does not make of their logs. @param {Client} client @returns
 * {Promise<unknown[]>}
 */
async function falseSnapshots(client) {
  const logs = await eventsOf(client);
  const { rows } = await client.query(`
    select s.run_id, r.tenant_id, s.last_seq, s.status, s.snapshot, s.missing
    from writ_data.run_snapshot s join writ_data.run r on r.run_id = s.run_id`);
  /** @type {unknown[]} */
  const found = [];
  for (const { run_id, tenant_id, last_seq, status, snapshot, missing } of rows) {
    const events = (logs.get(run_id) ?? []).filter(({ runSeq }) => runSeq <= last_seq);
    try {
      const fresh = JSON.parse(JSON.stringify(reduce(emptySnapshot(run_id, tenant_id), events)));
      if (isDeepStrictEqual(fresh, snapshot) && fresh.status === status && missing === null)
        continue;
      found.push({
        run_id,
        tenant_id,
        last_seq,
        status,
        missing,
        snapshot: JSON.stringify(snapshot)?.slice(0, 200),
      });
    } catch (error) {
      found.push({ run_id, tenant_id, last_seq, error: String(error) });
    }
  }
  return found;
}
