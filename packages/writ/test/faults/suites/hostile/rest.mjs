// @ts-check
// The end of the attack: honest work comes to rest, and new work of every kind still goes through.

/** @typedef {import('./honest.mjs').Honest} Honest */

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

/** Waits until the honest tenants have nothing open. @param {import('pg').Pool} admin @param {(line: string) => void} progress @param {number} limitMs @param {Honest} honest @param {string[]} tenants */
export async function rest(admin, progress, limitMs, honest, tenants) {
  for (const giveUpAt = Date.now() + limitMs; Date.now() < giveUpAt; await pause(250)) {
    const { rows } = await admin.query(
      `select
        (select count(*)::integer from writ_data.job_ready r join writ_data.lane l on l.lane_id = r.lane_id
          where l.tenant_id = any ($1)) as ready,
        (select count(*)::integer from writ_data.job_lease l
          where exists (select from writ_data.job j where j.job_id = any (l.job_ids) and j.tenant_id = any ($1))) as leased,
        (select count(*)::integer from writ_data.run
          where tenant_id = any ($1) and status not in ('COMPLETED', 'FAILED', 'CANCELLED')) as runs,
        (select count(*)::integer from writ_data.run r where r.tenant_id = any ($1) and not exists
          (select from writ_data.run_snapshot s where s.run_id = r.run_id and s.status = r.status)) as snapshots,
        (select count(*)::integer from writ_data.governance_job where tenant_id = any ($1)
          and status not in ('COMPLETED', 'ROLLED_BACK', 'CANCELLED', 'ROLLBACK_FAILED')) as changes,
        (select coalesce(sum(in_mailbox + buffered + postponed), 0)::integer from writ.governor
          where tenant_id = any ($1)) as signals`,
      [tenants],
    );
    const open = { ...rows[0], calls: honest.open };
    if (Object.values(open).every((n) => n === 0)) return true;
    progress(`waiting for the last: ${JSON.stringify(open)}`);
  }
  return false;
}

/** Asks for one more piece of every kind of work: each has to come to its end. Answers what did not. @param {import('../../../../dist/index.js').Writ} writ @param {import('pg').Pool} admin @param {Honest} honest @param {(line: string) => void} progress @returns {Promise<string[]>} */
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
  if (!(await rest(admin, progress, 30_000, honest, ['alpha', 'beta'])))
    stopped.push('work that began after the attack did not end');
  progress(`${honest.n - before} pieces of work after the attack`);
  return stopped;
}
