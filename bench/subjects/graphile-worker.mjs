// @ts-check
// graphile-worker in its batched mode: a local queue that fetches 500 jobs at once and completion
// in batches without delay, which is ten times its plain mode. The variant `plain` leaves both out;
// it starts a single job a little sooner.
import { Logger, makeWorkerUtils, run, runMigrations } from 'graphile-worker';
import { packageVersion } from './package-version.mjs';

const logger = new Logger(() => () => {});
const plain = { concurrentJobs: 24, maxPoolSize: 26 };
const batched = {
  ...plain,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};

/** @type {import('./subject.mjs').Subject} */
export const subject = {
  name: 'graphile-worker',
  version: () => packageVersion('graphile-worker'),
  async setup(url) {
    await runMigrations({ connectionString: url, logger });
  },
  async producer(url, { connections }) {
    const tools = await makeWorkerUtils({
      connectionString: url,
      maxPoolSize: connections,
      logger,
    });
    return {
      enqueue: (input) => tools.addJob('noop', input),
      enqueueMany: (inputs) =>
        tools.addJobs(inputs.map((payload) => ({ identifier: 'noop', payload }))),
      close: async () => tools.release(),
    };
  },
  async worker(url, { variant }, onJob) {
    const runner = await run({
      preset: {
        worker: { connectionString: url, logger, ...(variant === 'plain' ? plain : batched) },
      },
      logger,
      noHandleSignals: true,
      taskList: { noop: (payload) => onJob(payload) },
      parsedCronItems: [],
    });
    return { close: () => runner.stop() };
  },
  unfinished: 'select count(*)::int as n from graphile_worker._private_jobs',
};
