// @ts-check
// The ledger suite: how fast receipts go into their logs compared with rows of a plain table, what sealing costs a queue that is drained meanwhile, and how fast an
// auditor gets through an export.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @typedef {import('../harness/bench.mjs').Bench} Bench */

const roleFile = fileURLToPath(new URL('../roles/ledger.mjs', import.meta.url));
const queueFile = fileURLToPath(new URL('../roles/queue.mjs', import.meta.url));
const subject = 'writ';
const writ = { label: subject, subject };
const raw = { label: 'raw', subject: 'raw' };
const unsealed = { label: 'writ, sealing off', subject, variant: 'unsealed' };

/** @type {import('../harness/bench.mjs').Measurement} */
const receipts = {
  participants: [writ, raw],
  async measure(bench, who) {
    const ours = who.subject === subject;
    const amount = bench.size({ full: 200_000, quick: 40_000 });
    const template = ours
      ? await installed(bench)
      : await bench.template('raw receipts', null, (url) =>
          play(bench, 'plainTable', { url }, who.subject),
        );
    return bench.onCopy(template, ({ url }) =>
      play(
        bench,
        ours ? 'appendReceipts' : 'insertReceipts',
        { url, receipts: amount },
        who.subject,
      ),
    );
  },
};

/** @type {import('../harness/bench.mjs').Measurement} */
const drain = {
  participants: [writ, unsealed],
  async measure(bench, { variant }) {
    const jobs = bench.size({ full: 200_000, quick: 60_000 });
    await installed(bench);
    const full = await bench.template(`writ throughput ${jobs}`, 'writ throughput', (url) =>
      play(bench, 'seed', { url, jobs }, subject, queueFile),
    );
    const template = variant
      ? await bench.template(`writ ${variant} ${jobs}`, `writ throughput ${jobs}`, (url) =>
          play(bench, 'unseal', { url }),
        )
      : full;
    return bench.onCopy(
      template,
      async ({ url }) => {
        const figures = await play(bench, 'drain', { url, jobs }, subject, queueFile);
        return { ...figures, ...(await play(bench, 'sealed', { url })), rssMb: figures.rssMb };
      },
      (url) => bench.verify(subject, url, jobs),
    );
  },
};

/** @type {import('../harness/bench.mjs').Measurement} */
const verify = {
  participants: [writ],
  async measure(bench) {
    const amount = bench.size({ full: 200_000, quick: 40_000 });
    await installed(bench);
    const template = await bench.template(`writ ledger ${amount}`, 'writ throughput', (url) =>
      play(bench, 'fillLedger', { url, receipts: amount }),
    );
    const folder = await mkdtemp(
      join(process.env.WRIT_BENCH_DIR ?? tmpdir(), 'writ-bench-export-'),
    );
    try {
      return await bench.onCopy(template, async ({ url }) => {
        const { exportRate } = await play(bench, 'exportLedger', { url, folder });
        return { ...(await play(bench, 'verifyLedger', { folder, receipts: amount })), exportRate };
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/** @param {Bench} bench */
const installed = (bench) =>
  bench.template('writ throughput', null, (url) =>
    play(bench, 'setup', { url }, subject, queueFile),
  );

/**
 * @param {Bench} bench @param {string} role @param {object} options @param {string} who @param
 * {string} file
 */
const play = (bench, role, options, who = subject, file = roleFile) =>
  bench.start({
    subject: who,
    roleFile: file,
    role,
    options: { mode: 'throughput', ...options },
    seconds: 300,
  }).finished;

/** @type {import('../harness/bench.mjs').Suite} */
export const suite = {
  name: 'ledger',
  ours: 'writ',
  cases: [
    {
      name: 'receipts',
      unit: 'receipts/s',
      better: 'higher',
      figure: 'rate',
      measurement: receipts,
      targets: [{ peer: 'raw', ratio: 0.5 }, { bound: 20_000 }],
      details: { appended: 'until all were committed, not yet all in their logs, receipts/s' },
    },
    {
      name: 'drain-sealed',
      unit: 'jobs/s',
      better: 'higher',
      figure: 'rate',
      measurement: drain,
      targets: [{ peer: unsealed.label, ratio: 0.9 }],
      details: {
        segments: 'segments sealed by the end',
        rows: 'rows in them',
        batches: 'rows of the record',
      },
    },
    {
      name: 'verify',
      unit: 'entries/s',
      better: 'higher',
      figure: 'rate',
      measurement: verify,
      targets: [{ bound: 100_000 }],
      details: { exportRate: 'the export itself, receipts/s' },
    },
  ],
};
