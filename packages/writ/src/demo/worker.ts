/**
 * A worker process of the demo. With WRIT_DEMO_DIES it kills itself over the first changes, once
 * the database has committed them and before this process has heard so: the worst moment there is,
 * because nobody can tell from inside whether the effect stands. Should the answer come first, as
 * on a machine that is very busy, it dies with the answer in its hands; it says which it was.
 */
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { onFaultPoint } from '../queue/worker/fault-points.js';
import { Writ } from '../writ.js';

const {
  WRIT_DEMO_NAME: name = 'worker',
  WRIT_DEMO_KEY: key = '',
  WRIT_DEMO_DIES: dies,
  DATABASE_URL: connectionString = '',
} = process.env;

// Nobody is left to tell the story; they may have gone while this process was starting.
process.once('disconnect', () => process.exit(1));
if (!process.connected) process.exit(1);

if (dies) {
  const db = new pg.Client({ connectionString, application_name: 'writ demo' });
  await db.connect();
  const committed = async () => {
    const { rows } = await db.query(
      `select from writ.run_events where event_type = 'StepCompleted' limit 1`,
    );
    return rows.length > 0;
  };
  onFaultPoint(async (point) => {
    if (point !== 'change_sent' && point !== 'after_commit') return;
    for (const until = Date.now() + (point === 'change_sent' ? 300 : 0); ; await sleep(2)) {
      if (await committed()) {
        writeSync(1, `died ${point}\n`); // at once: what is buffered dies with the process
        process.kill(process.pid, 'SIGKILL');
      }
      // Sent, and not committed after all this time: it was refused. It is sent again, with the
      // answers of the probes, when it needs them.
      if (Date.now() >= until) return;
    }
  });
}

const writ = await Writ.connect({ connectionString, max: 12, actor: name, key });
const worker = await writ.work([], {
  governance: true,
  trust: 'database', // the persons of this story have no file
  governor: true,
  probes: { allowPrivate: true },
  name,
  lease: '2s',
  poll: '200ms',
  onError: () => undefined,
});
writeSync(1, 'ready\n');

const stop = async () => {
  await worker.stop();
  await writ.close();
  process.exit(0);
};
process.once('SIGTERM', () => void stop());
// Ctrl-C reaches the whole terminal; the story stops its workers itself
process.on('SIGINT', () => undefined);
