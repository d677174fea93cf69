// @ts-check
// The end of the attack: honest work comes to rest, and new work of every kind still goes through.

import { standstill } from '../../standstill.mjs';

/** @typedef {import('./honest.mjs').Honest} Honest */

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

/**
 * Waits until the honest tenants have nothing open but what attackers of all tenants hold or asked
 * for. @param {import('pg').Pool} admin @param {(line: string) => void} progress @param {number}
 * patienceMs @param {Honest} honest @param {string[]} tenants
 */
export async function rest(admin, progress, patienceMs, honest, tenants) {
  for (const still = standstill(patienceMs); ; await pause(250)) {
    const { rows } = await admin.query(
      `with own as materialized (
        select j.job_id, j.run_id, j.input ->> 'job' as governs
        from fault.handled d join writ_data.job j on j.job_id = d.id::uuid
        where d.what = 'held' and j.tenant_id = any ($1)
      ), theirs as materialized (
        select p.plan_no from writ_data.plan p where p.plan_id ~ '^(m|calm)-'
      )
      select
        (select count(*)::integer from writ_data.job_ready r join writ_data.lane l on l.lane_id = r.lane_id
          where l.tenant_id = any ($1) and l.job_kind !~ '^(m|calm)\\.') as ready,
        (select count(*)::integer from writ_data.job_lease l
          where exists (select from writ_data.job j where j.job_id = any (l.job_ids) and j.tenant_id = any ($1)
            and j.job_id not in (select o.job_id from own o))) as leased,
        (select count(*)::integer from writ_data.run r
          where r.tenant_id = any ($1) and r.status not in ('COMPLETED', 'FAILED', 'CANCELLED')
            and r.plan_no not in (select t.plan_no from theirs t)
            and not exists (select from own o where o.run_id = r.run_id)) as runs,
        (select count(*)::integer from writ_data.run r where r.tenant_id = any ($1)
          and r.plan_no not in (select t.plan_no from theirs t) and not exists
          (select from writ_data.run_snapshot s where s.run_id = r.run_id and s.status = r.status)) as snapshots,
        (select count(*)::integer from writ_data.governance_job g where g.tenant_id = any ($1)
          and g.status not in ('COMPLETED', 'ROLLED_BACK', 'CANCELLED', 'ROLLBACK_FAILED')
          and not exists (select from own o join writ_data.governance_job x
            on o.run_id = x.run_id or o.governs = x.job_id::text
            where x.contract_id = g.contract_id)) as changes,
        (select coalesce(sum(in_mailbox + buffered + postponed), 0)::integer from writ.governor
          where tenant_id = any ($1)) as signals,
        (select count(*)::integer from writ_data.schedule
          where tenant_id = any ($1) and schedule like 'honest-%' and next_tick <= writ.now()) as schedules,
        (select count(*)::integer from writ_data.destination d where d.tenant_id = any ($1)
          and (exists (select from writ_data.undelivered u where u.destination = d.name and u.dead_at is null
            and u.stream::text not in (select h.id from fault.handled h where h.what = 'stream'))
            or exists (select from writ_data.event_batch b cross join lateral unnest(b.run_ids) u(run)
              join writ_data.run r on r.run_id = u.run and r.tenant_id = d.tenant_id
              where (b.xid, b.batch_id) > ((d.position).xid, (d.position).fact)))) as untold,
        writ.now() as at`,
      [tenants],
    );
    const { at, ...counts } = rows[0];
    const open = { ...counts, calls: honest.open };
    honest.restedAt = at;
    const left = Object.values(open).reduce((sum, n) => sum + n, 0);
    if (left === 0) return true;
    if (still(left)) return false;
    progress(`waiting for the last: ${JSON.stringify(open)}`);
  }
}

/**
 * Asks for one more piece of every kind of work: each has to come to its end. Answers what did not.
 * @param {import('../../../../dist/index.js').Writ} writ @param {import('pg').Pool} admin @param
 * {Honest} honest @param {(line: string) => void} progress @returns {Promise<string[]>}
 */
export async function alive(writ, admin, honest, progress) {
  void writ;
  const stopped = [];
  for (const gate of [
    'fn_job_tick',
    'fn_governance_tick',
    'fn_governor_tick',
    'fn_ledger_tick',
    'fn_job_lease_reaper',
  ]) {
    const { rows } = await admin
      .query(`select writ.${gate}('honest') as answer`)
      .catch((error) => ({ rows: [{ answer: { refused: true, reason: String(error) } }] }));
    if (rows[0].answer?.refused) stopped.push(`${gate} has stopped: ${rows[0].answer.reason}`);
  }
  const before = honest.n;
  for (let n = 0; n < 6; n++) honest.place(true);
  if (!(await rest(admin, progress, 120_000, honest, ['alpha', 'beta'])))
    stopped.push('work that began after the attack did not end');
  progress(`${honest.n - before} pieces of work after the attack`);
  return stopped;
}
