// @ts-check
// DBOS: a job is a workflow of one step, because a workflow without a step records nothing of the
// work it did. For throughput the queue takes 100 at a time and polls without delay (without a
// limit it claims the whole backlog at once, which is slower); for latency it polls each 10 ms. A
// run is a workflow whose steps are calls of DBOS.runStep, started by the process that works on it,
// without a queue: the handle then waits for a promise and not for a poll of the database.
import dbos from '@dbos-inc/dbos-sdk';
import { packageVersion } from './package-version.mjs';
import { stepNames } from './subject.mjs';

const { DBOS, DBOSClient } = dbos;
const queueOptions = {
  throughput: { workerConcurrency: 100, minPollingIntervalMs: 1 },
  latency: { minPollingIntervalMs: 10 },
};

/** Connections of a process that runs workflows: its default. */
const RUNS_POOL = 10;

/** @type {import('./subject.mjs').OnStep} */
let handleStep = async () => ({});
/** @type {(input: any) => Promise<void>} */
let handle = async () => {};
DBOS.registerWorkflow(
  async (/** @type {any} */ input) => {
    await handle(input);
    await DBOS.runStep(async () => 1, { name: 'step' });
  },
  { name: 'noop' },
);

const tenSteps = DBOS.registerWorkflow(
  async (/** @type {any} */ input) => {
    let last;
    for (const name of stepNames)
      last = await DBOS.runStep(() => handleStep(name, input), { name });
    return last;
  },
  { name: 'ten-steps' },
);

/**
 * @param {string} url
 * @param {number} pool
 */
async function launch(url, pool) {
  DBOS.setConfig({
    name: 'bench',
    systemDatabaseUrl: url,
    systemDatabasePoolSize: pool,
    logLevel: 'error',
    runAdminServer: false,
    applicationVersion: 'v1',
  });
  await DBOS.launch();
}

/** @type {import('./subject.mjs').Subject} */
export const subject = {
  name: 'dbos',
  version: () => packageVersion('@dbos-inc/dbos-sdk'),
  async setup(url, mode) {
    await launch(url, 4);
    await DBOS.registerQueue('jobs', queueOptions[mode]);
    await DBOS.shutdown();
  },
  async producer(url, { connections }) {
    const client = await DBOSClient.create({
      systemDatabaseUrl: url,
      systemDatabasePoolSize: connections,
      applicationName: 'bench',
    });
    return {
      enqueue: (input) => client.enqueue({ workflowName: 'noop', queueName: 'jobs' }, input),
      enqueueMany: null,
      close: () => client.destroy(),
    };
  },
  async worker(url, _options, onJob) {
    handle = onJob;
    await launch(url, 20);
    return { close: () => DBOS.shutdown() };
  },
  async runs(url, onStep) {
    handleStep = onStep;
    await launch(url, RUNS_POOL);
    return {
      run: async (input) => (await DBOS.startWorkflow(tenSteps)(input)).getResult(),
      close: () => DBOS.shutdown(),
    };
  },
  async verifyRuns(query, runs) {
    const [found] = await query(`
      select (select count(*)::int from dbos.workflow_status where status = 'SUCCESS') as workflows,
             (select count(*)::int from dbos.operation_outputs where error is null and output is not null) as steps`);
    return found.workflows === runs && found.steps === runs * stepNames.length
      ? null
      : `${found.workflows} workflows of ${runs} succeeded, ${found.steps} steps are recorded instead of ${runs * stepNames.length}`;
  },
  unfinished:
    "select count(*)::int as n from dbos.workflow_status where status in ('ENQUEUED', 'PENDING')",
};
