// @ts-check
// Drives governors from a process of its own, twice, and carries their actions out, until it is told to stop. Says what went wrong.
import { Writ } from '../../dist/index.js';
import { governor } from '../faults/suites/governor/actions.mjs';

const url = String(process.env.WRIT_DRIVING);
const say = (/** @type {object} */ message) =>
  new Promise((done) => process.send?.(message, undefined, undefined, done));
const onError = (/** @type {any} */ error) =>
  void say({ code: error?.code ?? error?.cause?.code, error: String(error) });
const hosts = await Promise.all([1, 2].map(() => Writ.connect({ connectionString: url, max: 4 })));
const workers = await Promise.all(
  hosts.map((writ) => writ.work([], { governor: { ...governor, onError }, poll: '50ms', onError })),
);
process.on('message', async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await Promise.all(hosts.map((writ) => writ.close()));
  process.exit(0);
});
process.on('disconnect', () => process.exit(3));
await say({ ready: true });
