// @ts-check
// How much memory a worker process takes at its peak: while it drains a full queue as fast as it can, and through a steady load after
// that. Inputs have 500 bytes. What a worker holds is a tenth of it; the rest is the space in which Node lets garbage collect before it looks: 48 MB up
// to version 22, 96 MB after, unless told. Both are measured, and docs/operate.md says how to tell it.
import { fileURLToPath } from 'node:url';

const roleFile = fileURLToPath(new URL('../roles/memory.mjs', import.meta.url));
const queueFile = fileURLToPath(new URL('../roles/queue.mjs', import.meta.url));
const BYTES = 500;
const PER_SECOND = 2_000;
/** Three times this is the space for young objects. */
const nursery = ['--max-semi-space-size=8'];

/** @type {import('../harness/bench.mjs').Measurement} */
export const memory = {
  participants: [
    { label: 'writ', subject: 'writ' },
    { label: 'writ, unbounded nursery', subject: 'writ', variant: 'unbounded' },
  ],
  rounds: 2,
  async measure(bench, { subject, variant }) {
    const drained = bench.size({ full: 20_000, quick: 10_000 });
    const steady = PER_SECOND * bench.size({ full: 60, quick: 5 });
    const mode = 'throughput';
    const schema = `${subject} ${mode}`;
    const play = (/** @type {string} */ role, /** @type {object} */ options) =>
      bench.start({ subject, roleFile: queueFile, role, options: { mode, ...options } }).finished;
    await bench.template(schema, null, (url) => play('setup', { url }));
    const seeded = (/** @type {string} */ url) =>
      play('seed', { url, jobs: drained, bytes: BYTES });
    const template = await bench.template(`${schema} ${drained} ${BYTES}`, schema, seeded);
    return bench.onCopy(template, async ({ url }) => {
      const options = { url, drained, steady, perSecond: PER_SECOND, bytes: BYTES };
      const worker = bench.start({
        subject,
        roleFile,
        role: 'steadyWorker',
        options,
        seconds: 300,
        flags: variant === 'unbounded' ? [] : nursery,
      });
      try {
        await worker.reported;
        await bench.start({ subject, roleFile, role: 'steadyProducer', options, seconds: 300 })
          .finished;
        return await worker.finished;
      } finally {
        worker.kill();
      }
    });
  },
};
