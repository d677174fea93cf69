// @ts-check
// Runs under faults: workers, which also project, are killed at every named point, stopped past their leases and woken, or told to leave; jobs are delivered twice, connections cut, and
// PostgreSQL is stopped at once and started again, while runs of several plans go through their steps and are paused, resumed, cancelled and stopped. At the end everything has to be at
// rest; then jobs of finished runs are offered once more, and must be turned away; then the checker counts.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { Writ } from '../../../dist/index.js';
import { tallied } from '../checker.mjs';
import { paced } from '../paced.mjs';
import { generator, planOf } from '../plan.mjs';
import { checkRuns, prepareRuns } from '../runs-checker.mjs';
import { standstill } from '../standstill.mjs';
import { WorkerSlots } from '../worker-slots.mjs';
import { OutsideFaults } from './queue/outside.mjs';
import { plans, writing } from './runs/plans.mjs';
import { orderOf, Starter } from './runs/starter.mjs';

/**
 * Which points see one passage per batch and which one per step decides how many passages to wait
 * for. The turn of a projector that dies lasts for ten seconds: fewer of those.
 */
const points = /** @type {[string, upTo: number, full: number][]} */ ([
  ['claimed', 4, 26],
  ['started', 25, 26],
  ['before_commit', 12, 26],
  ['commit_sent', 12, 26],
  ['after_commit', 12, 26],
  ['finish_sent', 10, 26],
  ['projecting', 4, 10],
  ['projection_sent', 4, 10],
]);

/** @param {boolean} quick @returns {import('../plan.mjs').Shape} */
function shape(quick) {
  const count = (/** @type {number} */ full, /** @type {number} */ short) => (quick ? short : full);
  return {
    jobs: count(1_100, 60),
    kills: points.map(([point, upTo, full]) => [
      point,
      count(full, 1),
      quick ? Math.ceil(upTo / 2) : upTo,
    ]),
    stops: [
      ['claimed', count(4, 0), 3],
      ['started', count(10, 1), 10],
      ['before_commit', count(4, 0), 8],
    ],
    leaves: [
      ['started', count(8, 1), 10],
      ['after_commit', count(4, 0), 8],
    ],
    duplicates: [
      ['started', count(16, 2), 10],
      ['after_commit', count(8, 1), 10],
    ],
    outside: [
      ['crash', count(8, 1)],
      ['disconnect', count(12, 1)],
      ['duplicate', count(12, 1)],
    ],
  };
}

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

/** @param {import('./queue.mjs').Run} run */
export async function run({ seed, quick, server, progress, onEnd }) {
  const form = shape(quick);
  const plan = planOf(seed, form);
  const random = generator(seed + 1);
  const url = server.url('postgres');
  const admin = new pg.Pool({ connectionString: url, max: 4 });
  admin.on('error', () => undefined); // the server is stopped under it on purpose
  await prepareRuns(admin);
  const writ = await Writ.connect({ connectionString: url, max: 8, actor: 'starter' });
  await writ.migrate({ enable: true });
  // Here the harness kills, not the jobs: a job that was hit by chance must not be taken for
  // poison, however often.
  await admin.query(`select writ.fn_setting_set('queue.poison.crashes', '10000', 'faults')`);
  for (const { plan: one } of Object.values(plans)) await writ.runs.register(one);

  /** @type {string[]} */
  const said = [];
  const onFinding = (/** @type {string} */ what) => void said.push(what);
  // The starter lives in this process: what Writ throws outside of every call would end a user's
  // program, and is a finding here.
  const stray = (/** @type {Error} */ error) =>
    onFinding(`thrown outside of every call: ${error?.stack ?? error}`);
  process.on('uncaughtException', stray);
  process.on('unhandledRejection', stray);
  /** @type {Record<string, number>} */
  const happened = {};
  const count = (/** @type {import('../plan.mjs').Fault} */ { action, point }) => {
    happened[`${action} ${point}`] = (happened[`${action} ${point}`] ?? 0) + 1;
  };
  const slots = new WorkerSlots({
    url,
    folder: server.folder,
    module: new URL('./runs/plans.mjs', import.meta.url).href,
    count: 3,
    options: { concurrency: 5, lease: '1500ms', poll: '200ms', batch: 20, grace: '5s' },
    faults: plan.workers,
    leasesOf: async (workerId) => {
      const { rows } = await admin.query(
        'select count(*)::integer as held from writ_data.job_lease where holder = $1',
        [workerId],
      );
      return rows[0].held;
    },
    onFault: count,
    onFinding,
  });
  onEnd(() => slots.kill());

  const starter = new Starter(writ, url);
  const outside = new OutsideFaults({
    faults: plan.outside,
    server,
    admin,
    onFault: count,
    onFinding,
  });
  slots.start();
  const operations = await start({
    runs: form.jobs,
    random,
    starter,
    slots,
    outside,
    progress,
    onFinding,
  });
  const rested = await rest(admin, progress, 120_000);
  if (rested) await offerAgain(admin, server.folder, progress, onFinding);
  await slots.stop();

  progress('counting');
  await keepBooks(admin, starter.books, (await recordsOf(server.folder)).outside);
  const client = await admin.connect();
  const findings = await checkRuns(client, writing);
  if (said.length > 0)
    findings.push({
      verdict: 'wrong',
      what: 'the run itself found',
      times: said.length,
      rows: said.slice(0, 10),
    });
  const figures = await figuresOf(client);
  client.release();
  await Promise.all([starter.close(), writ.close()]);
  await admin.end();
  process.off('uncaughtException', stray);
  process.off('unhandledRejection', stray);
  return {
    operations,
    ...tallied(findings, happened),
    signals: starter.signals,
    worker_lives: slots.lives,
    calls_thrown: starter.thrown,
    ...figures,
    details: findings,
  };
}

/**
 * Starts the runs in step with the faults. Answers how many were asked for.
 * @param {{ runs: number, random: ReturnType<typeof generator>, starter: Starter, slots:
 * WorkerSlots, outside: OutsideFaults, progress: (line: string) => void,
 *   onFinding: (what: string) => void }} run
 */
function start({ runs, random, starter, slots, outside, progress, onFinding }) {
  const place = () => {
    starter
      .place(orderOf(random), () => outside.passed(starter.answered, null))
      .catch((error) =>
        onFinding(
          `a call failed in a way that is not an outage: ${error?.stack ?? error} ${error?.detail ?? ''}`,
        ),
      );
  };
  return paced({
    amount: runs,
    atFirst: 0.05,
    atOnce: 100,
    what: 'runs',
    left: () => slots.faults.length + slots.armed + outside.left,
    open: () => starter.open,
    answered: () => starter.answered,
    place,
    last: () => outside.last,
    progress,
    onFinding,
  });
}

/**
 * Waits until every run has ended, nothing is ready, waiting or leased, and the projector has seen
 * it all, or until that stands still.
 * @param {pg.Pool} admin @param {(line: string) => void} progress @param {number} patienceMs
 */
export async function rest(admin, progress, patienceMs) {
  const still = standstill(patienceMs);
  for (;;) {
    const { rows } =
      await admin.query(`select (select count(*) from writ_data.job_ready) + (select count(*) from writ_data.job_wait) + (select count(*) from writ_data.job_lease) as jobs,
      (select count(*) from writ_data.run where status not in ('COMPLETED', 'FAILED', 'CANCELLED')) as runs,
      (select count(*) from writ_data.run r where not exists (select from writ_data.run_snapshot s where s.run_id = r.run_id and s.status = r.status)) as snapshots`);
    const { jobs, runs, snapshots } = rows[0];
    const left = Number(jobs) + Number(runs) + Number(snapshots);
    if (left === 0) return true;
    if (still(left)) return false;
    progress(`waiting for the last: ${runs} runs, ${jobs} rows of jobs, ${snapshots} snapshots`);
    await pause(200);
  }
}

/**
 * Offers jobs of finished runs once more, as a late delivery would: no handler may begin one.
 * @param {pg.Pool} admin @param {string} folder @param {(line: string) => void} progress @param
 * {(what: string) => void} onFinding
 */
async function offerAgain(admin, folder, progress, onFinding) {
  const before = new Set((await recordsOf(folder)).begun);
  const { rows } = await admin.query(
    `with again as (
       insert into writ_data.job_ready (lane_id, seq, part, job_ids, attempts, execution_no, deadline_at, moved)
       select writ_data.open_lane(j.job_kind, j.tenant_id, j.limit_key, j.priority, false), nextval('writ_data.job_ready_seq'), 0, array[j.job_id], 0::smallint, 50::smallint, null, true
       from (select distinct on (x.run_id) x.* from writ_data.job x where x.run_id is not null and x.executor <> 'PG_worker' order by x.run_id, x.job_id desc limit 50) j returning job_ids[1] as job_id)
     insert into fault.duplicated (job_id) select job_id from again returning job_id`,
  );
  const offered = rows.map(({ job_id }) => job_id);
  const times = (/** @type {string[]} */ begun) =>
    begun.filter((id) => offered.includes(id)).length;
  const had = times([...(await recordsOf(folder)).begun]);
  if (!(await rest(admin, progress, 120_000))) return; // the checker counts what is left
  const has = times([...(await recordsOf(folder)).begun]);
  if (has > had)
    onFinding(
      `${has - had} of ${offered.length} jobs of finished runs (${before.size} had begun) were run once more`,
    );
}

/**
 * Puts into the database what the starter was told and what the handlers did outside of it. @param
 * {pg.Pool} admin @param {import('./runs/starter.mjs').Entry[]} books @param {string[][]} outside
 */
export async function keepBooks(admin, books, outside) {
  const last = Object.fromEntries(
    Object.entries(plans).map(([name, plan]) => [name, plan.last ?? null]),
  );
  await admin.query(
    `insert into fault.owed (run_id, plan, owed, ends, stopped, sum, last, transaction)
     select o.run_id, o.plan, o.owed, o.ends, o.stopped, o.sum, $2::jsonb ->> o.plan, o.transaction
     from jsonb_to_recordset($1::jsonb) o(run_id uuid, plan text, owed text, ends text, stopped boolean, sum integer, transaction boolean)`,
    [JSON.stringify(books), JSON.stringify(last)],
  );
  await admin.query(
    'insert into fault.outside (run_id, step_id, attempt) select (o ->> 0)::uuid, o ->> 1, (o ->> 2)::integer from jsonb_array_elements($1::jsonb) o',
    [JSON.stringify(outside)],
  );
  await admin.query(
    'create index on fault.outside (run_id); create index on fault.effect (run_id); analyze fault.outside; analyze fault.effect',
  );
}

/** What the worker processes wrote down before they died. @param {string} folder */
export async function recordsOf(folder) {
  /** @type {{ begun: string[], outside: string[][] }} */
  const records = { begun: [], outside: [] };
  for (const name of await readdir(folder)) {
    if (!name.startsWith('worker-')) continue;
    for (const line of (await readFile(join(folder, name), 'utf8')).split('\n')) {
      const [word, ...rest] = line.split(' ');
      if (word === 'begun') records.begun.push(String(rest[0]));
      if (word === 'outside') records.outside.push(rest);
    }
  }
  return records;
}

/** What else is worth knowing about the run. @param {pg.PoolClient} client */
async function figuresOf(client) {
  const { rows } = await client.query(`
    select (select jsonb_object_agg(k, n) from (select p.plan_id || ' ' || r.status as k, count(*) as n from writ_data.run r join writ_data.plan p on p.plan_no = r.plan_no group by 1 order by 1) x) as runs,
      (select count(*)::integer from writ_data.run_event) as events, (select count(*)::integer from writ_data.run_event where event_type = 'StepCompleted') as steps_completed,
      (select count(*)::integer from writ_data.run_event where step_id like 'undo:%' and event_type = 'StepCompleted') as undone, (select count(*)::integer from fault.effect) as effects,
      (select count(*)::integer from fault.outside) as done_outside, (select count(*)::integer from writ_data.job_execution where error_code = 'run_not_running') as turned_away,
      (select count(*)::integer from writ_data.job_execution where abort_kind = 'lease_expired') as leases_expired, (select count(*)::integer from fault.duplicated) as delivered_twice`);
  return rows[0];
}
