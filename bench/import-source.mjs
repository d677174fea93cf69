// @ts-check
// A peer with jobs in it, for the tests of `writ queue import`: the real package installs its schema, takes the jobs, and works on them.
//   node import-source.mjs pg-boss|graphile-worker URL add  '{"schema"?, "queues"?: [{name, policy?, …}], "jobs"?: [{name, data, …options}]}'
//   node import-source.mjs pg-boss|graphile-worker URL work '{"schema"?, "names": [...]}'
// `work` says `working` and goes on until its input ends. Its handler writes the job's `n` into the table `ran`; one with `fail` then fails, one
// with `hang` says `hanging` and never ends.
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { PgBoss } from 'pg-boss';

const [system, url = '', action, text = '{}'] = process.argv.slice(2);
const asked = JSON.parse(text);
const schema = asked.schema ?? (system === 'pg-boss' ? 'pgboss' : 'graphile_worker');
const logger = new Logger(() => () => {});

async function boss() {
  const instance = new PgBoss({ connectionString: url, schema });
  instance.on('error', (error) => console.error(error.message));
  await instance.start();
  return instance;
}

const add = {
  async 'pg-boss'() {
    const instance = await boss();
    for (const { name, ...options } of asked.queues ?? [])
      await instance.createQueue(name, options);
    for (const { name, data, ...options } of asked.jobs ?? []) {
      if (!(await instance.send(name, data, options)))
        throw new Error(`pg-boss took no job ${name} ${JSON.stringify(data)}`);
    }
    for (const { name, jobs } of asked.bulk ?? []) await instance.insert(name, jobs);
    if (asked.flow) await instance.flow(asked.flow);
    if (asked.schedule) await instance.schedule(asked.schedule, '0 3 * * *');
    await instance.stop({ graceful: false });
  },
  async 'graphile-worker'() {
    const tools = await makeWorkerUtils({ connectionString: url, schema, logger });
    await tools.migrate();
    for (const { name, data, runAt, ...options } of asked.jobs ?? []) {
      await tools.addJob(name, data, { ...options, ...(runAt && { runAt: new Date(runAt) }) });
    }
    for (const { name, jobs } of asked.bulk ?? []) {
      await tools.addJobs(
        jobs.map((/** @type {{ data: unknown }} */ { data }) => ({
          identifier: name,
          payload: data,
        })),
      );
    }
    await tools.release();
  },
};

const pool = new pg.Pool({ connectionString: url, max: 4 });

/** @param {any} data */
async function handle(data) {
  await pool.query('insert into ran (n, side) values ($1, $2)', [data.n, system]);
  if (data.fail) throw new Error('as asked');
  if (data.hang) {
    console.log('hanging');
    await new Promise(() => {});
  }
}

const work = {
  async 'pg-boss'() {
    const instance = await boss();
    for (const name of asked.names) {
      await instance.work(
        name,
        { batchSize: asked.batch ?? 1, pollingIntervalSeconds: 0.5 },
        async (/** @type {any[]} */ jobs) => {
          for (const job of jobs) await handle(job.data);
        },
      );
    }
    return () => instance.stop({ graceful: false });
  },
  async 'graphile-worker'() {
    const runner = await run({
      connectionString: url,
      schema,
      logger,
      noHandleSignals: true,
      concurrency: 4,
      pollInterval: 100,
      taskList: Object.fromEntries(asked.names.map((/** @type {string} */ name) => [name, handle])),
      crontab: asked.crontab ?? '',
    });
    return () => runner.stop();
  },
};

if (system !== 'pg-boss' && system !== 'graphile-worker') throw new Error(`no source ${system}`);
if (action === 'add') await add[system]();
else {
  const stop = await work[system]();
  console.log('working');
  process.stdin.resume();
  await new Promise((done) => process.stdin.on('end', done));
  // A handler that hangs would be waited for.
  await Promise.race([stop(), new Promise((done) => setTimeout(done, 2000))]);
}
await pool.end();
process.exit(0);
