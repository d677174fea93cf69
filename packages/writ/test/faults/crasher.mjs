// @ts-check
// The process of crasher.ts.
import { setTimeout as pause } from 'node:timers/promises';
import { defineJob, Writ } from '../../dist/index.js';

process.on('disconnect', () => process.exit(3));
if (!process.connected) process.exit(3);

const kind = defineJob('crasher', { retry: { attempts: 5, base: '20ms', cap: '40ms' } });
const writ = await Writ.connect({ connectionString: String(process.env.WRIT_CRASHER) });
await writ.work(
  [
    kind.handle(async ({ input }) => {
      if (/** @type {{ deadly: boolean }} */ (/** @type {unknown} */ (input)).deadly)
        process.kill(process.pid, 'SIGKILL');
      await pause(50);
    }),
  ],
  { lease: '1s', poll: '50ms', concurrency: 4, onError: () => undefined },
);
