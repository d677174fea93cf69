// @ts-check
// The wire between Writ and PostgreSQL under faults: producers, workers, starters of runs, readers of
// governance and senders of signals reach the server through a proxy that cuts connections before and
// after statements, swallows answers, and delays both. Nobody is killed and the server never stops:
// these faults are cheap, so a minute has many. What was answered has to hold, as after an outage.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { Writ } from '../../../dist/index.js';
import { check, prepare, tallied } from '../checker.mjs';
import { generator } from '../plan.mjs';
import { CuttingProxy } from '../proxy.mjs';
import { checkRuns, prepareRuns } from '../runs-checker.mjs';
import { standstill } from '../standstill.mjs';
import { WorkerSlots } from '../worker-slots.mjs';
import { prepareStage } from './governor/stage.mjs';
import { Producer, orderOf as queueOrder } from './queue/producer.mjs';
import { drain, keepBooks as keepQueueBooks, recordsOf } from './queue.mjs';
import { plans, writing } from './runs/plans.mjs';
import { orderOf as runOrder, Starter } from './runs/starter.mjs';
import { keepBooks as keepRunBooks, rest, recordsOf as runRecordsOf } from './runs.mjs';
import { Asker, misplaced, settled } from './wire/asker.mjs';

/** Faults of a run. */
const full = 2_000;
const short = 250;
/** Faults per statement. */
const rate = 0.04;
const tenants = ['bare-1', 'bare-2'];

/**
 * A database of its own on the server, with everybody's way to it through the proxy.
 * @param {import('./queue.mjs').Run} run @param {CuttingProxy} proxy @param {string} name
 */
async function opened({ server, onEnd }, proxy, name) {
  const direct = server.url(name);
  const admin = new pg.Pool({ connectionString: direct, max: 4 });
  admin.on('error', () => undefined);
  const good = await Writ.connect({ connectionString: direct, max: 2, actor: 'operator' });
  await good.migrate({ enable: true });
  // Here the wire fails, not the jobs: one that was hit by chance must not be taken for poison.
  await admin.query(`select writ.fn_setting_set('queue.poison.crashes', '10000', 'faults')`);
  const url = proxy.through(direct);
  const folder = join(server.folder, name);
  mkdirSync(folder);
  return {
    ...{ admin, good, url, folder },
    /** @param {string} module @param {number} count @param {(what: string) => void} onFinding */
    workers: (module, count, onFinding) => {
      const slots = new WorkerSlots({
        url,
        folder,
        module: new URL(module, import.meta.url).href,
        count,
        options: { concurrency: 5, lease: '1500ms', poll: '200ms', batch: 20, grace: '5s' },
        faults: [],
        leasesOf: async () => 0,
        onFault: () => undefined,
        onFinding,
      });
      onEnd(() => slots.kill());
      slots.start();
      return slots;
    },
  };
}

/** How many jobs stand in line: no more are placed than workers can do. @param {pg.Pool} admin */
async function waitingIn(admin) {
  const { rows } = await admin.query(
    'select coalesce(sum(cardinality(job_ids)), 0)::integer as waiting from writ_data.job_ready',
  );
  return rows[0].waiting;
}

/** @param {import('./queue.mjs').Run} run */
export async function run(run) {
  const { seed, quick, server, progress, onEnd } = run;
  const wanted = quick ? short : full;
  const random = generator(seed + 1);
  const proxy = await CuttingProxy.open({ url: server.url('postgres'), seed, rate });
  proxy.calm = true;
  onEnd(() => proxy.close());
  const postgres = new pg.Pool({ connectionString: server.url('postgres'), max: 1 });
  for (const name of ['queue', 'runs']) await postgres.query(`create database ${name}`);
  await postgres.end();
  const [queue, runs] = await Promise.all([
    opened(run, proxy, 'queue'),
    opened(run, proxy, 'runs'),
  ]);
  await prepare(queue.admin);
  await prepareRuns(runs.admin);
  for (const { plan } of Object.values(plans)) await runs.good.runs.register(plan);
  const subjects = tenants.map((tenant) => ({ tenant, sku: 'default', kind: 'bare' }));
  await Asker.prepare(runs.good, await prepareStage(runs.good, runs.admin, subjects));

  /** @type {string[]} */
  const said = [];
  const onFinding = (/** @type {string} */ what) => void said.push(what);
  const unlike = (/** @type {any} */ error) =>
    onFinding(
      `a call failed in a way that is not an outage: ${error?.stack ?? error} ${error?.detail ?? ''}`,
    );
  // What Writ throws outside of every call would end a user's program, and is a finding here.
  const stray = (/** @type {Error} */ error) =>
    onFinding(`thrown outside of every call: ${error?.stack ?? error}`);
  process.on('uncaughtException', stray);
  process.on('unhandledRejection', stray);

  const [placing, starting] = await Promise.all(
    [queue, runs].map(({ url }) => Writ.connect({ connectionString: url, max: 6, actor: 'wire' })),
  );
  if (!placing || !starting) throw new Error('no connection');
  const producer = new Producer(placing, queue.url);
  const starter = new Starter(starting, runs.url);
  const asker = new Asker(starting, tenants, onFinding);
  proxy.calm = false;
  const slots = [
    queue.workers('./queue/jobs.mjs', 2, onFinding),
    runs.workers('./wire/jobs.mjs', 1, onFinding),
  ];
  const asked = Promise.all([asker.read(), asker.signal()]);

  const began = Date.now();
  let [jobs, started] = [0, 0];
  const still = standstill(120_000);
  while (proxy.faults < wanted) {
    if (still(wanted - proxy.faults)) {
      onFinding(`it stands still after ${proxy.faults} of ${wanted} faults`);
      break;
    }
    const inLine = await Promise.all([queue.admin, runs.admin].map(waitingIn));
    for (; producer.open < 24 && Number(inLine[0]) < 200; jobs++)
      void producer.place(queueOrder(random, jobs)).catch(unlike);
    for (; starter.open < 12 && Number(inLine[1]) < 60; started++)
      void starter.place(runOrder(random), () => undefined).catch(unlike);
    progress(`${proxy.faults} of ${wanted} faults, ${jobs} jobs, ${started} runs`);
    await pause(40);
  }
  const minutes = (Date.now() - began) / 60_000;
  proxy.calm = true;
  asker.asking = false;
  await asked;
  const answered = standstill(130_000);
  for (; producer.open + starter.open > 0; await pause(20))
    if (answered(producer.open + starter.open)) {
      onFinding(`${producer.open} jobs and ${starter.open} runs still wait for an answer`);
      break;
    }
  const atRest = [
    await drain(queue.admin, progress, 120_000),
    await rest(runs.admin, progress, 120_000),
    await settled(runs.admin, 120_000),
  ];
  await Promise.all(slots.map((one) => one.stop()));

  progress('counting');
  for (const { admin } of [queue, runs]) await admin.query('analyze');
  await keepQueueBooks(queue.admin, producer.books, (await recordsOf(queue.folder)).begun);
  await keepRunBooks(runs.admin, starter.books, (await runRecordsOf(runs.folder)).outside);
  const [ofQueue, ofRuns] = await Promise.all([queue.admin.connect(), runs.admin.connect()]);
  /** @type {import('../runs-checker.mjs').Finding[]} */
  const findings = [...(await check(ofQueue)).details, ...(await checkRuns(ofRuns, writing))];
  const find = (
    /** @type {import('../checker.mjs').Verdict} */ verdict,
    /** @type {string} */ what,
    /** @type {unknown[]} */ rows,
  ) => {
    if (rows.length > 0)
      findings.push({ verdict, what, times: rows.length, rows: rows.slice(0, 10) });
  };
  find(
    'wrong',
    'a signal is not where its sender was told',
    await misplaced(runs.admin, asker.sent),
  );
  find('stuck', 'not everything came to rest', atRest.includes(false) ? [{ atRest }] : []);
  find('wrong', 'the run itself found', said);
  // A short run calls too little for that to say anything.
  if (!quick) find('wrong', 'a gate that was called often was never cut', proxy.uncutGates());
  ofQueue.release();
  ofRuns.release();
  const { rows } = await queue.admin.query(`select jsonb_object_agg(status, n) as statuses
    from (select status, count(*) as n from writ.job_queue group by 1) s`);
  await Promise.all([producer.close(), starter.close(), placing.close(), starting.close()]);
  await Promise.all([queue, runs].flatMap(({ admin, good }) => [admin.end(), good.close()]));
  process.off('uncaughtException', stray);
  process.off('unhandledRejection', stray);
  proxy.close();
  return {
    operations: jobs + started + asker.answered,
    ...tallied(findings, /** @type {Record<string, number>} */ (proxy.counts)),
    faults_per_minute: Math.round(proxy.faults / minutes),
    jobs,
    statuses: rows[0].statuses,
    runs: started,
    signals: asker.sent.length,
    calls_thrown: producer.thrown + starter.thrown + asker.thrown,
    statements: [...proxy.statements.values()].reduce((sum, one) => sum + one.seen, 0),
    different_statements: proxy.statements.size,
    never_cut: proxy.spared,
    details: findings,
  };
}
