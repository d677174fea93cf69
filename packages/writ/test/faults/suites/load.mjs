// @ts-check
// Saturated workers: more jobs than they can run, most of them longer than the pace of a claim, with
// bursts of quick ones between. Every so often so many quick jobs come together that workers claim
// ahead, and behind them slow ones that occupy every handler for seconds: these workers have claimed
// too much. The order of the lane has to hold, a worker gives a job back once and at most one job in a
// hundred, and the tables grow with finished work.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { Writ } from '../../../dist/index.js';
import { tallied } from '../checker.mjs';
import { generator } from '../plan.mjs';
import { standstill } from '../standstill.mjs';
import { WorkerSlots } from '../worker-slots.mjs';
import { work } from './load/jobs.mjs';

const workers = 2;
const concurrency = 10;
/** Jobs that stand in line at any time: no worker ever finds the queue empty. */
const backlog = 1_000;

/**
 * One job in ten comes with a burst of quick ones. @param {ReturnType<typeof generator>} random
 * @param {number} n
 */
function jobsAt(random, n) {
  if (random.next() < 0.02) return Array.from({ length: 20 }, (_, i) => ({ n: n + i, ms: 0 }));
  return [{ n, ms: random.between(60, 2_500) }];
}

/**
 * How often workers are led to claim too much. The short form is too short for one in a hundred.
 */
const surgeMs = 15_000;
const quickOnes = 400;

/**
 * Quick jobs, so many that the pace of a worker follows, and behind them jobs for all handlers,
 * twice. @param {number} n
 */
const surgeAt = (n) =>
  Array.from({ length: quickOnes + 2 * workers * concurrency }, (_, i) => ({
    n: n + i,
    ms: i < quickOnes ? 0 : 2_500,
  }));

/**
 * @typedef {{ verdict: import('../checker.mjs').Verdict, what: string, times: number, rows:
 * unknown[] }} Finding
 */

/** @param {import('./queue.mjs').Run} run */
export async function run({ seed, quick, server, progress, onEnd }) {
  const random = generator(seed);
  const url = server.url('postgres');
  const admin = new pg.Pool({ connectionString: url, max: 2 });
  await admin.query(
    'create schema fault; create table fault.effect (n integer not null, job_id uuid not null)',
  );
  const writ = await Writ.connect({ connectionString: url, max: 4, actor: 'producer' });
  await writ.migrate({ enable: true });

  /** @type {Finding[]} */
  const details = [];
  const find = (
    /** @type {Finding['verdict']} */ verdict,
    /** @type {string} */ what,
    /** @type {unknown[]} */ rows,
  ) => {
    if (rows.length > 0)
      details.push({ verdict, what, times: rows.length, rows: rows.slice(0, 10) });
  };
  /** @type {string[]} */
  const deaths = [];
  const slots = new WorkerSlots({
    url,
    folder: server.folder,
    module: new URL('./load/jobs.mjs', import.meta.url).href,
    count: workers,
    options: { concurrency, lease: '10s' },
    faults: [],
    leasesOf: async () => 0,
    onFault: () => undefined,
    onFinding: (what) => void deaths.push(what),
  });
  onEnd(() => slots.kill());
  slots.start();

  // Produce, so that the line never ends before the time does.
  const until = Date.now() + (quick ? 20_000 : 300_000);
  let made = 0;
  let surges = 0;
  const began = Date.now();
  while (Date.now() < until) {
    const { rows } = await admin.query('select count(*)::integer as done from fault.effect');
    /** @type {{ n: number, ms: number }[]} */
    const jobs = [];
    if (!quick && Date.now() - began > surges * surgeMs) {
      surges++;
      jobs.push(...surgeAt(made));
    }
    while (made + jobs.length < rows[0].done + backlog)
      jobs.push(...jobsAt(random, made + jobs.length));
    if (jobs.length > 0)
      await writ.enqueueMany(
        work,
        jobs.map((input) => ({ input })),
      );
    made += jobs.length;
    progress(
      `${rows[0].done} of ${made} jobs done, ${Math.round((until - Date.now()) / 1000)} s left`,
    );
    await pause(100);
  }
  const figures = await growthOf(admin, made);
  const still = standstill(120_000);
  for (let left = made; left > 0 && !still(left); await pause(200)) {
    const { rows } = await admin.query('select count(*)::integer as done from fault.effect');
    left = made - rows[0].done;
    progress(`waiting for the last ${left} jobs`);
  }
  await slots.stop();

  progress('counting');
  const lost = await admin.query(
    'select n from generate_series(0, $1::integer) n except select n from fault.effect',
    [made - 1],
  );
  const twice = await admin.query(
    'select n, count(*)::integer from fault.effect group by n having count(*) > 1',
  );
  const { rows } = await admin.query(`select count(*)::integer as executions,
    count(*) filter (where abort_kind = 'released')::integer as given_back from writ_data.job_execution`);
  const { executions, given_back } = rows[0];
  const again =
    await admin.query(`select job_id, lease_owner, count(*)::integer from writ_data.job_execution
    where abort_kind = 'released' group by 1, 2 having count(*) > 1`);
  const overtakes = displacementOf(await recordsOf(server.folder));
  find('lost', 'a job has no effect', lost.rows);
  find('repeated', 'an effect is there more than once', twice.rows);
  find('stuck', 'a worker ended by itself', deaths);
  find(
    'wrong',
    'workers gave back more than one job in a hundred',
    given_back > executions / 100 ? [rows[0]] : [],
  );
  find('wrong', 'a worker gave a job back more than once', again.rows);
  // A job begins after those before it in line, except that the handlers of all workers begin side
  // by side, and that one worker does quick jobs while another holds what it claimed ahead. A job
  // that lost its place would be overtaken by the whole line.
  const most = 2 * workers * concurrency + (surges > 0 ? quickOnes : 0);
  find(
    'wrong',
    'a job was overtaken by more than there are handlers and quick jobs',
    overtakes.filter(({ by }) => by > most),
  );
  find('wrong', 'a table grew beyond finished work', figures.grown);
  await writ.close();
  await admin.end();
  return {
    operations: made,
    ...tallied(details, {}),
    surges,
    executions,
    given_back,
    most_overtaken_by: Math.max(0, ...overtakes.map(({ by }) => by)),
    rows_per_job: figures.perJob,
    details,
  };
}

/**
 * What a finished job leaves behind, by table, beside what is still open.
 * @param {Pick<pg.Pool, 'query'>} admin @param {number} made
 */
export async function growthOf(admin, made) {
  const { rows } = await admin.query(`
    select (select count(*) from fault.effect)::integer as done,
      (select count(*) from writ_data.job_execution)::integer as executions,
      (select count(*) from writ_data.event_batch)::integer as batches,
      (select count(*) from writ_data.job_lease)::integer as leases`);
  const { done, executions, batches, leases } = rows[0];
  const { rows: others } = await admin.query(
    `select t.name, t.rows from (
       select c.relname as name, (xpath('//n/text()', query_to_xml(
         format('select count(*) as n from writ_data.%I', c.relname), false, true, '')))[1]::text::integer as rows
       from pg_class c where c.relnamespace = 'writ_data'::regnamespace and c.relkind = 'r') t
     where t.rows > $1`,
    [made * 4 + 5_000],
  );
  const perJob = { executions: executions / done, batches: batches / done, leases };
  // A job is enqueued, claimed, committed and reported: four calls, each one row of the record.
  const grown = [
    ...(executions > done * 1.01 + workers * concurrency
      ? [`${executions} executions of ${done} finished jobs`]
      : []),
    ...(batches > done * 4 + 1_000
      ? [`${batches} rows of the record for ${done} finished jobs`]
      : []),
    ...(leases > workers * concurrency * 2
      ? [`${leases} leases for ${workers * concurrency} handlers`]
      : []),
    ...others.map((table) => `${table.rows} rows of ${table.name} for ${made} jobs`),
  ];
  return {
    perJob: { ...perJob, executions: round(perJob.executions), batches: round(perJob.batches) },
    grown,
  };
}

const round = (/** @type {number} */ value) => Math.round(value * 1_000) / 1_000;

/**
 * By how many younger jobs each job was overtaken, by when handlers began. @param {{ n: number, at:
 * number }[]} begun
 */
export function displacementOf(begun) {
  const order = begun.sort((a, b) => a.at - b.at || a.n - b.n).map(({ n }) => n);
  // The younger ones that began before, counted with a tree over the numbers.
  const most = Math.max(0, ...order);
  const tree = new Int32Array(most + 2);
  return order.map((n, before) => {
    let olderBefore = 0;
    for (let i = n + 1; i > 0; i -= i & -i) olderBefore += tree[i] ?? 0;
    for (let i = n + 1; i < tree.length; i += i & -i) tree[i] = (tree[i] ?? 0) + 1;
    return { n, by: before - olderBefore };
  });
}

/** When each handler began, from the records of the workers. @param {string} folder */
async function recordsOf(folder) {
  const begun = [];
  for (const name of (await readdir(folder)).filter((file) => file.startsWith('worker-')))
    for (const line of (await readFile(join(folder, name), 'utf8')).split('\n')) {
      const [word, n, at] = line.split(' ');
      if (word === 'ran') begun.push({ n: Number(n), at: Number(at) });
    }
  return begun;
}
