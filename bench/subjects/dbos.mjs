// @ts-check
// DBOS: a job is a workflow of one step, because a workflow without a step records nothing of the
// work it did. For throughput the queue takes 100 at a time and polls without delay (without a limit
// it claims the whole backlog at once, which is slower); for latency it polls each 10 ms.
import dbos from '@dbos-inc/dbos-sdk';
import { packageVersion } from './package-version.mjs';

const { DBOS, DBOSClient } = dbos;
const queueOptions = {
  throughput: { workerConcurrency: 100, minPollingIntervalMs: 1 },
  latency: { minPollingIntervalMs: 10 },
};

/** @type {(input: any) => Promise<void>} */
let handle = async () => {};
DBOS.registerWorkflow(
  async (/** @type {any} */ input) => {
    await handle(input);
    await DBOS.runStep(async () => 1, { name: 'step' });
  },
  { name: 'noop' },
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
  unfinished: "select count(*)::int as n from dbos.workflow_status where status in ('ENQUEUED', 'PENDING')",
};
