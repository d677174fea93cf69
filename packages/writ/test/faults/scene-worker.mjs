// @ts-check
// A worker process of scene.ts: it works on a job for longer than its lease lasts, and then writes its effect, inside the commit boundary or, as a
// program without one would, beside it. It tells its parent when the work begins and how the write went.
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { defineJob, Writ } from '../../dist/index.js';
import { onFaultPoint } from '../../dist/testing/index.js';

const {
  url,
  boundary,
  workMs = 2_000,
  lease = '1s',
  blocked,
  blockedUntil,
  dieAt,
  stall,
} = JSON.parse(String(process.env.WRIT_SCENE));
const say = (/** @type {object} */ message) =>
  new Promise((done) => process.send?.(message, undefined, undefined, done));
// A worker without its parent has nobody to stop it; the parent may have gone while this process
// was starting.
process.on('disconnect', () => process.exit(3));
if (!process.connected) process.exit(3);

onFaultPoint((point) => {
  if (point === dieAt) process.kill(process.pid, 'SIGKILL');
});

/** Stops the event loop, not the process. @param {number} ms */
const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const beside = new pg.Client(url);
await beside.connect();
const insert = 'insert into effect (job_id, pid) values ($1, $2)';

const work = defineJob('scene', { retry: { attempts: 10, base: '50ms', cap: '100ms' } }).handle(
  async ({ job, commit }) => {
    await say({ type: 'working' });
    if (blocked) block(workMs);
    else if (blockedUntil) while (!existsSync(blockedUntil)) block(20);
    else await pause(workMs);
    try {
      if (boundary) await commit((tx) => tx.query(insert, [job.id, process.pid]));
      else await beside.query(insert, [job.id, process.pid]);
      await say({ type: 'written' });
    } catch (error) {
      await say({ type: 'refused', code: /** @type {{ code?: string }} */ (error).code });
      throw error;
    }
  },
);

const writ = await Writ.connect({ connectionString: url });
const worker = await writ.work([work], {
  lease,
  poll: '100ms',
  ...(stall && { stall }),
  onError: () => undefined,
});
process.on('message', async () => {
  await worker.stop();
  await Promise.all([writ.close(), beside.end()]);
  process.exit(0);
});
