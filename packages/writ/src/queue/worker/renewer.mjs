// @ts-check
/**
 * Renews leases from a thread of its own, so that a handler that blocks the event loop does not
 * lose its lease. The main thread adds and removes tokens by message and moves a shared counter
 * once a second; when the counter has stood still for the stall time, the main loop is taken for
 * dead and renewal stops, so that another worker can have its jobs.
 *
 * @typedef {{ connection: import('pg').ClientConfig, ttlMs: number, everyMs: number, stallMs:
 * number, workerId: string, ticks: SharedArrayBuffer }} Settings
 * @typedef {{ type: 'hold' | 'drop', token: string } | { type: 'renew' | 'stop' }} Order
 */
import { parentPort, workerData } from 'node:worker_threads';
import pg from 'pg';

const settings = /** @type {Settings} */ (workerData);
const ticks = new Int32Array(settings.ticks);
/** @type {Set<string>} */
const tokens = new Set();
/** @type {pg.Client | undefined} */
let client;
let lastTick = 0;
let lastTickAt = performance.now();
let stopping = false;

/** @param {Order} order */
function obey(order) {
  if (order.type === 'hold') tokens.add(order.token);
  else if (order.type === 'drop') tokens.delete(order.token);
  else if (order.type === 'renew') void renew(true);
  else {
    stopping = true;
    void client?.end().catch(() => undefined);
    parentPort?.close();
    clearInterval(timer);
  }
}

async function connected() {
  if (client) return client;
  const fresh = new pg.Client(settings.connection);
  fresh.on('error', () => {
    if (client === fresh) client = undefined;
  });
  await fresh.connect();
  client = fresh;
  return fresh;
}

let renewing = false;
let again = false;
/** @param {boolean} [asked] a round under way may have asked too early: one more follows */
async function renew(asked) {
  const tick = Atomics.load(ticks, 0);
  if (tick !== lastTick) {
    lastTick = tick;
    lastTickAt = performance.now();
  }
  const stalled = performance.now() - lastTickAt > settings.stallMs;
  if (renewing && asked) again = true;
  if (renewing || stopping || stalled || tokens.size === 0) return;
  renewing = true;
  const held = [...tokens];
  try {
    const db = await connected();
    const { rows } = await db.query('select writ.fn_job_renew_many($1::uuid[], $2, $3) as answer', [
      held,
      settings.ttlMs / 1000,
      settings.workerId,
    ]);
    parentPort?.postMessage({ type: 'renewed', ...rows[0].answer });
  } catch (error) {
    // The next round tries again on a new connection; an outage longer than the lease is for the
    // reaper.
    const broken = client;
    client = undefined;
    await broken?.end().catch(() => undefined);
    parentPort?.postMessage({ type: 'failed', message: String(error) });
  } finally {
    renewing = false;
    if (again) {
      again = false;
      void renew();
    }
  }
}

const timer = setInterval(() => void renew(), settings.everyMs);
parentPort?.on('message', obey);
connected().then(
  () => parentPort?.postMessage({ type: 'ready' }),
  (error) => parentPort?.postMessage({ type: 'failed', message: String(error) }),
);
