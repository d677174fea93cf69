/**
 * A worker process of the demo. With WRIT_DEMO_DIE_AT it kills itself the moment it has sent its n-th COMMIT, before any answer can come: the
 * worst moment there is, because nobody can tell from outside whether the effect stands.
 */
import { writeSync } from 'node:fs';
import { onFaultPoint } from '../../queue/worker/fault-points.js';
import { Writ } from '../../writ.js';
import { handlers } from './jobs.js';

const { WRIT_DEMO_NAME: name = 'worker', WRIT_DEMO_DIE_AT: dieAt, DATABASE_URL: connectionString = '' } = process.env;

if (dieAt) {
  let commits = 0;
  onFaultPoint((point, jobId) => {
    if (point !== 'commit_sent' || ++commits !== Number(dieAt)) return;
    writeSync(1, `died ${jobId}\n`); // at once: what is buffered dies with the process
    process.kill(process.pid, 'SIGKILL');
  });
}

const writ = await Writ.connect({ connectionString, max: 12, actor: name });
const worker = await writ.work(handlers(name), { name, lease: '2s', poll: '200ms', concurrency: 10, batch: 50, onError: () => undefined });
writeSync(1, 'ready\n');

const stop = async () => {
  await worker.stop();
  await writ.close();
  process.exit(0);
};
process.once('SIGTERM', () => void stop());
process.on('SIGINT', () => undefined); // Ctrl-C reaches the whole terminal; the story stops its workers itself
process.once('disconnect', () => process.exit(1)); // nobody is left to tell the story
