// @ts-check
// The roles of the memory case. The worker first drains a full queue and then lives through a steady load; the producer sends that load,
// whatever happened to the last job, from a process of its own.
import { monotonicMs, sleep } from '../harness/figures.mjs';
import { inputs } from './queue.mjs';

/** @typedef {import('../subjects/subject.mjs').Subject} Subject */
/**
 * @typedef {{ url: string, drained: number, steady: number, perSecond: number, bytes: number }}
 * Options
 */

const TICK_MS = 10;
const mode = 'throughput';
const peakMb = () => process.resourceUsage().maxRSS / 1024;

/**
 * @param {Subject} subject @param {Options} options @param {(value: unknown) => Promise<unknown>}
 * report
 */
export async function steadyWorker(subject, { url, drained, steady }, report) {
  let handled = 0;
  /** @type {Map<number, () => void>} */
  const marks = new Map();
  const reached = (/** @type {number} */ jobs) =>
    new Promise((resolve) => marks.set(jobs, () => resolve(undefined)));
  const all = reached(drained + steady);
  const first = reached(drained);
  await subject.worker?.(url, { mode }, async () => {
    handled += 1;
    marks.get(handled)?.();
  });
  await first;
  const drainMb = peakMb();
  await report('drained');
  await all;
  return { drainMb, peakMb: peakMb(), jobs: drained + steady };
}

/** @param {Subject} subject @param {Options} options */
export async function steadyProducer(subject, { url, drained, steady, perSecond, bytes }) {
  const producer = await subject.producer(url, { connections: 4, mode });
  const perTick = (perSecond * TICK_MS) / 1000;
  const start = monotonicMs();
  /** @type {Set<Promise<unknown>>} */
  const open = new Set();
  for (let sent = 0, tick = 0; sent < steady; tick += 1) {
    const early = start + tick * TICK_MS - monotonicMs();
    if (early > 0) await sleep(early);
    const count = Math.min(perTick, steady - sent);
    for (const input of inputs(drained + sent, count, bytes)) {
      const sending = producer.enqueue(input).finally(() => open.delete(sending));
      open.add(sending);
    }
    sent += count;
  }
  await Promise.all(open);
  await producer.close();
}
