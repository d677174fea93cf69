// @ts-check
// A listener of a fault run: the inner loop of `writ governor listen`, on a port that stays the same over its lives. With `drive` it also drives governors; without, others do, and it asks them how they have decided.
import { openSync, writeSync } from 'node:fs';
import { listenUntilStopped } from '../../../../dist/cli/governor/listening.js';
import { Output } from '../../../../dist/cli/output.js';
import { Writ } from '../../../../dist/index.js';
import { onFaultPoint } from '../../../../dist/testing/index.js';

const { url, record, options } = JSON.parse(String(process.env.WRIT_FAULTS_WORKER));
const { port, spool, drive, secret, token } = options;
const file = openSync(record, 'a');
const note = (/** @type {string} */ line) => writeSync(file, `${line}\n`);
const say = (/** @type {object} */ message) =>
  new Promise((done) => process.send?.(message, undefined, undefined, done));

/** @type {(import('../../plan.mjs').Fault & { passages: number }) | undefined} */
let armed;
onFaultPoint((point) => {
  if (armed?.point !== point || ++armed.passages !== armed.nth) return;
  const { holdMs } = armed;
  armed = undefined;
  // Blocks the whole thread: what comes in meanwhile stays unread.
  if (holdMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, holdMs);
  process.kill(process.pid, 'SIGKILL');
});
process.on(
  'message',
  (/** @type {{ type: string, fault: import('../../plan.mjs').Fault }} */ order) => {
    if (order.type === 'arm') armed = { ...order.fault, passages: 0 };
    if (order.type === 'stop') process.kill(process.pid, 'SIGTERM');
  },
);
process.on('disconnect', () => process.exit(3));
if (!process.connected) process.exit(3);

/**
 * The server may be down at this moment, or the port not yet free. @template T @param {() =>
 * Promise<T>} make @returns {Promise<T>}
 */
async function insistently(make) {
  for (;;) {
    try {
      return await make();
    } catch (error) {
      if (
        !['database_unreachable', 'EADDRINUSE'].includes(
          String(/** @type {{ code?: string }} */ (error).code),
        )
      )
        throw error;
      await new Promise((resume) => setTimeout(resume, 100));
    }
  }
}

const writ = await insistently(async () => {
  const connected = await Writ.connect({ connectionString: url, max: 8, actor: 'listener' });
  try {
    if (drive) await connected.drive({ onError: (error) => note(`driving: ${error}`) });
    return connected;
  } catch (error) {
    await connected.close().catch(() => undefined);
    throw error;
  }
});
const output = Object.assign(new Output({ json: true }), {
  note,
  line: note,
  data: (/** @type {unknown} */ value) => note(JSON.stringify(value)),
});
await say({ type: 'ready', workerId: String(process.pid) });
await insistently(() =>
  listenUntilStopped(
    {
      intake: writ.governors.intake(),
      host: '127.0.0.1',
      port,
      spool,
      secretsOf: async () => [secret],
      tokensOf: async () => [token],
    },
    output,
  ),
);
await writ.close();
process.exit(0);
