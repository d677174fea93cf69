// @ts-check
// The queue under faults: workers killed at every named point, stopped past their leases and woken, or told to leave, jobs delivered twice, connections cut, PostgreSQL
// stopped at once and started again, all under load. Production keeps step with the faults, so that they are spread over the run, and the last jobs
// come after the last fault: at the end everything has to be at rest, and the checker counts.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { Writ } from '../../../dist/index.js';
import { check, prepare } from '../checker.mjs';
import { generator, planOf } from '../plan.mjs';
import { standstill } from '../standstill.mjs';
import { WorkerSlots } from '../worker-slots.mjs';
import { OutsideFaults } from './queue/outside.mjs';
import { orderOf, Producer } from './queue/producer.mjs';

/**
 * Which points see one passage per batch and which one per job decides how many passages to wait
 * for.
 */
const points = /** @type {[string, number][]} */ ([
  ['claimed', 6],
  ['started', 25],
  ['before_commit', 15],
  ['commit_sent', 15],
  ['after_commit', 15],
  ['finish_sent', 10],
]);

/** @param {boolean} quick @returns {import('../plan.mjs').Shape} */
function shape(quick) {
  const count = (/** @type {number} */ full, /** @type {number} */ short) => (quick ? short : full);
  return {
    jobs: count(5_200, 650),
    kills: points.map(([point, upTo]) => [point, count(36, 3), quick ? Math.ceil(upTo / 2) : upTo]),
    stops: [
      ['claimed', count(6, 1), 4],
      ['started', count(12, 2), 10],
      ['before_commit', count(4, 1), 8],
    ],
    leaves: [
      ['claimed', count(6, 1), 4],
      ['started', count(10, 1), 10],
      ['after_commit', count(4, 1), 8],
    ],
    duplicates: [
      ['started', count(20, 3), 10],
      ['after_commit', count(10, 2), 10],
    ],
    outside: [
      ['crash', count(8, 2)],
      ['disconnect', count(12, 2)],
      ['duplicate', count(30, 4)],
    ],
  };
}

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

/**
 * @typedef {{ seed: number, quick: boolean, server: Awaited<ReturnType<typeof
 * import('../server.mjs').startServer>>, progress: (line: string) => void, onEnd: (end: () => void)
 * => void }} Run
 */

/** @param {Run} run */
export async function run({ seed, quick, server, progress, onEnd }) {
  const form = shape(quick);
  const plan = planOf(seed, form);
  const random = generator(seed + 1);
  const admin = new pg.Pool({ connectionString: server.url('postgres'), max: 4 });
  admin.on('error', () => undefined); // the server is stopped under it on purpose
  await prepare(admin);
  const writ = await Writ.connect({
    connectionString: server.url('postgres'),
    max: 8,
    actor: 'producer',
  });
  await writ.migrate({ enable: true });
  // Here the harness kills, not the jobs: a job that was hit by chance must not be taken for
  // poison, however often.
  await admin.query(`select writ.fn_setting_set('queue.poison.crashes', '10000', 'faults')`);

  /** @type {string[]} */
  const findings = [];
  const onFinding = (/** @type {string} */ what) => void findings.push(what);
  // The producer lives in this process: what Writ throws outside of every call would end a user's
  // program, and is a finding here.
  const stray = (/** @type {Error} */ error) =>
    onFinding(`thrown outside of every call: ${error?.stack ?? error}`);
  process.on('uncaughtException', stray);
  process.on('unhandledRejection', stray);
  /** @type {Record<string, number>} */
  const happened = {};
  const count = (/** @type {import('../plan.mjs').Fault} */ fault) => {
    const name = `${fault.action} ${fault.point}`;
    happened[name] = (happened[name] ?? 0) + 1;
  };
  const slots = new WorkerSlots({
    url: server.url('postgres'),
    folder: server.folder,
    module: new URL('./queue/jobs.mjs', import.meta.url).href,
    count: 3,
    options: { concurrency: 5, lease: '1500ms', poll: '200ms', batch: 40, grace: '5s' },
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

  const producer = new Producer(writ, server.url('postgres'));
  const outside = new OutsideFaults({
    faults: plan.outside,
    server,
    admin,
    onFault: count,
    onFinding,
  });
  slots.start();
  const operations = await produce({
    jobs: form.jobs,
    random,
    producer,
    slots,
    outside,
    progress,
    onFinding,
  });
  const drained = await drain(admin, progress, 120_000);
  if (!drained) progress('not everything came to rest');
  await slots.stop();

  progress('counting');
  const records = await recordsOf(server.folder);
  await keepBooks(admin, producer.books, records.begun);
  const client = await admin.connect();
  const result = await check(client);
  if (findings.length > 0)
    result.details.push({
      verdict: 'wrong',
      what: 'the run itself found',
      times: findings.length,
      rows: findings.slice(0, 10),
    });
  result.wrong += findings.length;
  const figures = await figuresOf(client);
  client.release();
  await Promise.all([producer.close(), writ.close()]);
  await admin.end();
  process.off('uncaughtException', stray);
  process.off('unhandledRejection', stray);
  const sum = (/** @type {string} */ action) =>
    Object.entries(happened).reduce(
      (total, [name, times]) => total + (name.startsWith(action) ? times : 0),
      0,
    );
  return {
    operations,
    faults: sum(''),
    ...result,
    kills: sum('kill'),
    happened,
    worker_lives: slots.lives,
    enqueues_thrown: producer.thrown,
    commits_fenced: records.fenced.length,
    ...figures,
  };
}

/**
 * Places the jobs of the run in step with its faults. The last tenth is kept for after the last
 * fault; a trickle goes on meanwhile, so that no armed fault waits for work that never comes.
 * Answers how many jobs were asked for.
 * @param {{ jobs: number, random: ReturnType<typeof generator>, producer: Producer, slots:
 * WorkerSlots, outside: OutsideFaults,
 *   progress: (line: string) => void, onFinding: (what: string) => void }} run
 */
async function produce({ jobs, random, producer, slots, outside, progress, onFinding }) {
  const faults = slots.faults.length + slots.armed + outside.left;
  const still = standstill(300_000);
  let placed = 0;
  let trickle = 0;
  const place = () =>
    producer.place(orderOf(random, ++placed)).then(
      (jobId) => outside.passed(producer.answered, jobId),
      (error) =>
        onFinding(`an enqueue failed in a way that is not an outage: ${error?.stack ?? error}`),
    );
  for (;;) {
    const left = slots.faults.length + slots.armed + outside.left;
    if (left === 0 && placed >= jobs) break;
    if (still(left + Math.max(0, jobs - placed))) {
      onFinding(
        `the plan stands still: ${left} of ${faults} faults left, ${placed} jobs asked for`,
      );
      break;
    }
    trickle += 0.5;
    const target =
      left === 0 ? jobs : Math.max(jobs * (0.05 + 0.85 * (1 - left / faults)), trickle);
    while (placed < target && producer.open < 300) void place();
    progress(
      `${placed} jobs asked for, ${producer.answered} answered, ${faults - left} of ${faults} faults`,
    );
    await pause(20);
  }
  await outside.last;
  while (producer.open > 0) await pause(20);
  return placed;
}

/**
 * Puts into the database what the producer was told and what the workers began. @param {pg.Pool}
 * admin @param {object[]} books @param {string[]} begun
 */
export async function keepBooks(admin, books, begun) {
  await admin.query('insert into fault.begun (job_id) select unnest($1::uuid[])', [begun]);
  await admin.query('create index on fault.begun (job_id)');
  await admin.query(
    `insert into fault.owed (n, kind, owed, job_id, transaction)
     select * from jsonb_to_recordset($1::jsonb) o(n integer, kind text, owed text, "jobId" uuid, transaction boolean)`,
    [JSON.stringify(books)],
  );
}

/**
 * What else is worth knowing about the run, counted where the checker counts. @param
 * {pg.PoolClient} client
 */
async function figuresOf(client) {
  const { rows } = await client.query(`
    select (select count(*)::integer from writ_data.job) as jobs, (select count(*)::integer from fault.effect) as effects,
      (select count(*)::integer from writ_data.job_execution) as executions,
      (select count(*)::integer from writ_data.job_execution where abort_kind = 'lease_expired') as leases_expired,
      (select coalesce(sum(greatest(0, x.started - b.begun)), 0)::integer
         from (select job_id, count(started_at) as started from writ_data.job_execution group by job_id) x
         cross join lateral (select count(*) as begun from fault.begun where job_id = x.job_id) b) as started_ahead_and_never_begun,
      (select count(*)::integer from fault.duplicated) as delivered_twice,
      (select jsonb_object_agg(status, n) from (select status, count(*) as n from writ.job_queue group by 1) s) as statuses`);
  return rows[0];
}

/**
 * Waits until nothing is ready, waiting or leased, or until that stands still.
 * @param {pg.Pool} admin @param {(line: string) => void} progress @param {number} patienceMs
 */
export async function drain(admin, progress, patienceMs) {
  const still = standstill(patienceMs);
  for (;;) {
    const { rows } =
      await admin.query(`select (select count(*) from writ_data.job_ready) + (select count(*) from writ_data.job_wait)
      + (select count(*) from writ_data.job_lease) as left`);
    if (Number(rows[0].left) === 0) return true;
    if (still(Number(rows[0].left))) return false;
    progress(`waiting for the last jobs: ${rows[0].left} rows`);
    await pause(200);
  }
}

/** What the worker processes wrote down before they died. @param {string} folder */
export async function recordsOf(folder) {
  /** @type {Record<string, string[]>} */
  const records = { begun: [], fenced: [] };
  for (const name of await readdir(folder)) {
    if (!name.startsWith('worker-')) continue;
    for (const line of (await readFile(join(folder, name), 'utf8')).split('\n')) {
      const [word, jobId] = line.split(' ');
      if (word && jobId) records[word]?.push(jobId);
    }
  }
  return /** @type {{ begun: string[], fenced: string[] }} */ (records);
}
