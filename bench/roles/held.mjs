// @ts-check
// The role that makes work for a database beside a held snapshot: one process that enqueues and works, with a queue that stays short, as
// in a system that keeps up.
import { inputs } from './queue.mjs';

/** Jobs that may wait at any moment. */
const BACKLOG = 5_000;
const BATCH = 500;
const LOOPS = 16;

/**
 * @param {import('../subjects/subject.mjs').Subject} subject
 * @param {{ url: string, jobs: number, variant?: string }} options
 */
export async function churn(subject, { url, jobs, variant }) {
  const mode = 'throughput';
  let handled = 0;
  let enqueued = 0;
  /** @type {(() => void)[]} */
  let waiting = [];
  const worker = await subject.worker?.(url, { mode }, async () => {
    handled += 1;
    if (handled % BATCH === 0) for (const resume of waiting.splice(0)) resume();
  });
  const producer = await subject.producer(url, { connections: LOOPS, mode, variant });
  const loop = async () => {
    while (enqueued < jobs) {
      if (enqueued - handled > BACKLOG) {
        await new Promise((resume) => waiting.push(() => resume(undefined)));
        continue;
      }
      const next = enqueued;
      enqueued += variant === 'singly' ? 1 : BATCH;
      if (variant === 'singly') await producer.enqueue({ i: next });
      else await producer.enqueueMany?.(inputs(next, BATCH));
    }
  };
  await Promise.all(Array.from({ length: variant === 'singly' ? LOOPS : 2 }, loop));
  while (handled < enqueued) {
    await new Promise((resume) => {
      waiting.push(() => resume(undefined));
      setTimeout(resume, 20);
    });
  }
  waiting = [];
  await worker?.close();
  await producer.close();
  return { jobs: enqueued };
}
