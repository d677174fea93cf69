// @ts-check
// Whether a claim costs more when the tables have grown: the same claims, in tables with so many finished, future and queued jobs of
// others, and in tables with few of them.
import { fileURLToPath } from 'node:url';

const roleFile = fileURLToPath(new URL('../roles/growth.mjs', import.meta.url));
const setupFile = fileURLToPath(new URL('../roles/queue.mjs', import.meta.url));
export const few = { label: 'few rows', subject: 'writ', variant: 'few' };
const FEW = 10_000;

/** @type {import('../harness/bench.mjs').Measurement} */
export const growth = {
  participants: [{ label: 'writ', subject: 'writ' }, few],
  async measure(bench, { subject, variant }) {
    const rows = variant === few.variant ? FEW : bench.size({ full: 1_000_000, quick: 20_000 });
    const schema = `${subject} throughput`;
    await bench.template(
      schema,
      null,
      (url) =>
        bench.start({
          subject,
          roleFile: setupFile,
          role: 'setup',
          options: { url, mode: 'throughput' },
        }).finished,
    );
    const template = await bench.template(
      `${schema} grown ${rows}`,
      schema,
      (url) =>
        bench.start({ subject, roleFile, role: 'fill', options: { url, rows }, seconds: 1800 })
          .finished,
    );
    const samples = bench.size({ full: 200, quick: 60 });
    const claims = (/** @type {{ url: string }} */ { url }) =>
      bench.start({
        subject,
        roleFile,
        role: 'claimAgain',
        options: { url, samples },
        seconds: 300,
      }).finished;
    return bench.onCopy(template, claims, undefined, { large: true });
  },
};
