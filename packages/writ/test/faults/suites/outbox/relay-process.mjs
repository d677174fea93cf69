// @ts-check
// A relay process of a fault run. The parent arms one fault at a time: at its passage, or so many tenths of a second later, this process kills itself.
import { nats, Writ, webhooks } from '../../../../dist/index.js';
import { onFaultPoint } from '../../../../dist/testing/index.js';

const { url, options } = JSON.parse(String(process.env.WRIT_FAULTS_WORKER));
const say = (/** @type {object} */ message) =>
  new Promise((done) => process.send?.(message, undefined, undefined, done));
const die = () => process.kill(process.pid, 'SIGKILL');

/** @type {(import('../../plan.mjs').Fault & { passages: number }) | undefined} */
let armed;
onFaultPoint((point) => {
  if (armed?.point !== point || ++armed.passages !== armed.nth) return;
  // Blocks the whole thread: what comes in meanwhile stays unread.
  if (armed.holdMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, armed.holdMs);
  die();
});

/** The server may be down at this moment; a relay that cannot begin tries again. */
async function begin() {
  const buses = {
    webhook: webhooks({
      secretOf: () => options.secret,
      allowPrivate: true,
      allowHttp: true,
      timeoutMs: 1_000,
      connectTimeoutMs: 500,
    }),
    nats: nats({ timeoutMs: 1_000 }),
  };
  for (;;) {
    let writ;
    try {
      writ = await Writ.connect({ connectionString: url, max: 6, actor: 'faults' });
      return {
        writ,
        relay: await writ.relay({ buses, batch: options.batch, onError: () => undefined }),
      };
    } catch (error) {
      await writ?.close().catch(() => undefined);
      if (/** @type {{ code?: string }} */ (error).code !== 'database_unreachable') throw error;
      await new Promise((resume) => setTimeout(resume, 100));
    }
  }
}

process.on(
  'message',
  (/** @type {{ type: string, fault: import('../../plan.mjs').Fault }} */ order) => {
    if (order.type === 'arm') {
      armed = { ...order.fault, passages: 0 };
      if (armed.point === 'any_time') setTimeout(die, armed.nth * 100);
    }
    if (order.type === 'stop') void stop();
  },
);
// A relay without its parent has nobody to stop it; the parent may have gone while this process was
// starting.
process.on('disconnect', () => process.exit(3));
if (!process.connected) process.exit(3);

const running = begin();
async function stop() {
  armed = undefined;
  const { writ, relay } = await running;
  await relay.stop();
  await writ.close();
  process.exit(0);
}
const { relay } = await running;
await say({ type: 'ready', workerId: relay.name });
