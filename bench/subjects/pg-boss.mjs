// @ts-check
// pg-boss at its best for each mode. Throughput: two loops that fetch 1,000 jobs each and do not
// wait while batches are full; a batch is one handler call and succeeds or fails as a whole, so
// one call per job is imitated inside it. Latency: woken by NOTIFY instead of polling.
import { PgBoss } from 'pg-boss';
import { packageVersion } from './package-version.mjs';

const workOptions = {
  throughput: {
    batchSize: 1000,
    localConcurrency: 2,
    pollingIntervalSeconds: 0.5,
    burstWhenBatchFull: true,
  },
  latency: { batchSize: 10, localConcurrency: 4 },
};

/**
 * @param {string} url
 * @param {number} max
 * @param {object} [options]
 */
async function start(url, max, options = {}) {
  const boss = new PgBoss({ connectionString: url, max, ...options });
  boss.on('error', (error) => console.error(error.message));
  await boss.start();
  return boss;
}

/** @type {import('./subject.mjs').Subject} */
export const subject = {
  name: 'pg-boss',
  version: () => packageVersion('pg-boss'),
  async setup(url, mode) {
    const boss = await start(url, 4);
    await boss.createQueue('noop', { notify: mode === 'latency' });
    await boss.stop({ graceful: false });
  },
  async producer(url, { connections }) {
    const boss = await start(url, connections, {
      supervise: false,
      schedule: false,
      migrate: false,
    });
    return {
      enqueue: (input) => boss.send('noop', input),
      enqueueMany: (inputs) =>
        boss.insert(
          'noop',
          inputs.map((data) => ({ data })),
        ),
      close: () => boss.stop({ graceful: false }),
    };
  },
  async worker(url, { mode }, onJob) {
    const boss = await start(url, 20, { useListenNotify: mode === 'latency' });
    await boss.work('noop', workOptions[mode], async (jobs) => {
      for (const job of jobs) await onJob(job.data);
    });
    return { close: () => boss.stop({ graceful: false }) };
  },
  unfinished:
    "select count(*)::int as n from pgboss.job where name = 'noop' and state < 'completed'",
};
