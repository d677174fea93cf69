// @ts-check
// The roles that a subject plays in the queue suite, each in a process of its own. Inputs are
// distinct for every job: equal ones would flatter a subject that stores equal content once.
import pg from 'pg';
import { monotonicMs, percentile, sleep } from '../harness/figures.mjs';

/** @typedef {import('../subjects/subject.mjs').Subject} Subject */
/**
 * @typedef {{ url: string, mode: import('../subjects/subject.mjs').Mode, jobs: number, bytes?:
 * number, variant?: string, from?: number }} Options
 */
/** @typedef {(value: unknown) => Promise<unknown>} Report */

const WARM_UP = 200;
const LOOPS = 16;
const PACED_WARM_UP = 100;
/** Inputs of a measurement start here, far from those of the seed. */
const MEASURED_FROM = 1_000_000;

/** @param {Subject} subject @param {Options} options */
export async function setup(subject, { url, mode }) {
  await subject.setup(url, mode);
}

/** @param {Subject} subject @param {Options} options */
export async function seed(subject, { url, mode, jobs, bytes, variant, from = 0 }) {
  const producer = await subject.producer(url, { connections: LOOPS, mode, variant });
  const all = inputs(from, jobs, bytes);
  if (producer.enqueueMany) {
    for (let i = 0; i < jobs; i += 5000) await producer.enqueueMany(all.slice(i, i + 5000));
  } else {
    await inLoops(all, producer.enqueue);
  }
  await producer.close();
}

/**
 * 16 loops in one process, each enqueueing one job at a time, for a given time: a given number of
 * jobs would measure a fast subject while its code is still being compiled.
 * @param {Subject} subject
 * @param {Options & { seconds: number }} options
 */
export async function enqueueInLoops(subject, { url, mode, seconds, variant }) {
  const producer = await subject.producer(url, { connections: LOOPS, mode, variant });
  let next = MEASURED_FROM;
  /** @param {number} ms */
  const during = async (ms) => {
    const first = next;
    const start = monotonicMs();
    const loop = async () => {
      while (monotonicMs() - start < ms) {
        next += 1;
        await producer.enqueue({ i: next });
      }
    };
    await Promise.all(Array.from({ length: LOOPS }, loop));
    return { jobs: next - first, ms: monotonicMs() - start };
  };
  const warmUp = await during(Math.min(1000, seconds * 500));
  const measured = await during(seconds * 1000);
  await producer.close();
  return { rate: (measured.jobs / measured.ms) * 1000, jobs: warmUp.jobs + measured.jobs };
}

/** All jobs in one call. @param {Subject} subject @param {Options} options */
export async function enqueueInBulk(subject, { url, mode, jobs }) {
  const producer = await subject.producer(url, { connections: LOOPS, mode });
  if (!producer.enqueueMany) throw new Error(`${subject.name} has no call for many jobs`);
  await producer.enqueueMany(inputs(MEASURED_FROM, WARM_UP));
  const measured = inputs(MEASURED_FROM + WARM_UP, jobs);
  const start = monotonicMs();
  await producer.enqueueMany(measured);
  const ms = monotonicMs() - start;
  await producer.close();
  return { rate: (jobs / ms) * 1000, jobs: jobs + WARM_UP };
}

/**
 * A fresh worker on a full queue. The clock runs from the first handler's start until the database
 * says that nothing is unfinished; it is asked only after the last handler has run. The answer
 * is as old as its snapshot, so the moment of asking is the end.
 * @param {Subject} subject
 * @param {Options} options
 */
export async function drain(subject, { url, mode, jobs, variant }) {
  if (!subject.worker || !subject.unfinished) throw new Error(`${subject.name} has no worker`);
  const client = new pg.Client(url);
  await client.connect();
  let first = 0;
  let handled = 0;
  await new Promise((resolve, reject) => {
    subject
      .worker?.(url, { mode, variant }, async () => {
        if (handled === 0) first = monotonicMs();
        handled += 1;
        if (handled === jobs) resolve(undefined);
      })
      .catch(reject);
  });
  for (let polls = 1; ; polls += 1) {
    const asked = monotonicMs();
    const { rows } = await client.query(subject.unfinished);
    if (rows[0].n === 0) return { rate: (jobs / (asked - first)) * 1000, jobs, handled, polls };
    await sleep(5);
  }
}

/**
 * The idle worker of the latency case. @param {Subject} subject @param {Options} options @param
 * {Report} report
 */
export async function latencyWorker(subject, { url, mode, jobs, variant }, report) {
  /** @type {number[]} */
  const latencies = [];
  /** @type {(value: unknown) => void} */
  let complete = () => {};
  const all = new Promise((resolve) => {
    complete = resolve;
  });
  await subject.worker?.(url, { mode, variant }, async (input) => {
    const now = monotonicMs();
    if (input.warm) return;
    latencies.push(now - input.sent);
    if (latencies.length === jobs) complete(undefined);
  });
  await sleep(500);
  await report('ready');
  await all;
  return {
    p50: percentile(latencies, 50),
    p99: percentile(latencies, 99),
    max: Math.max(...latencies),
    jobs,
  };
}

/**
 * The producer of the latency case: one job each 10 ms whatever happened to the last (open loop),
 * so that a slow answer is not hidden by asking less. The first jobs open connections, and the next
 * second at the same pace lets both processes compile what they run; neither is measured.
 * @param {Subject} subject
 * @param {Options} options
 */
export async function latencyProducer(subject, { url, mode, jobs }) {
  const producer = await subject.producer(url, { connections: 4, mode });
  for (let i = 0; i < 20; i += 1) await producer.enqueue({ warm: true, i });
  await sleep(500);
  const sent = [];
  const start = monotonicMs();
  for (let i = 0; i < PACED_WARM_UP + jobs; i += 1) {
    const early = start + i * 10 - monotonicMs();
    if (early > 0) await sleep(early);
    sent.push(producer.enqueue({ sent: monotonicMs(), i, warm: i < PACED_WARM_UP }));
  }
  await Promise.all(sent);
  await producer.close();
}

/** @param {number} from @param {number} count @param {number} [bytes] */
export function inputs(from, count, bytes = 0) {
  return Array.from({ length: count }, (_, k) => {
    const input = { i: from + k };
    const missing = bytes - JSON.stringify({ ...input, text: '' }).length;
    return missing > 0 ? { ...input, text: filler(from + k, missing) } : input;
  });
}

/**
 * Text that differs from job to job and does not compress to nothing. @param {number} seed @param
 * {number} length
 */
function filler(seed, length) {
  let state = (seed * 2654435761 + 1) % 4294967296;
  let text = '';
  while (text.length < length) {
    state = (state * 1664525 + 1013904223) % 4294967296;
    text += state.toString(36);
  }
  return text.slice(0, length);
}

/** @param {object[]} all @param {(input: any) => Promise<unknown>} enqueue */
async function inLoops(all, enqueue) {
  let next = 0;
  const loop = async () => {
    while (next < all.length) {
      next += 1;
      await enqueue(all[next - 1]);
    }
  };
  await Promise.all(Array.from({ length: LOOPS }, loop));
}
