// @ts-check
// The runs suite: how many runs of ten steps end in a second, beside DBOS; how one run fans out over a thousand elements; what it takes to append to a log, and until it
// is projected; and how fast events become snapshots.
// The peer is used as its documentation shows; subjects/dbos.mjs says with which settings.

import { fileURLToPath } from 'node:url';
import { built } from '../build.mjs';
import { withLockWaits } from '../harness/lock-waits.mjs';

/** @typedef {import('../harness/bench.mjs').Bench} Bench */
/** @typedef {import('../harness/bench.mjs').Measurement} Measurement */

const roleFile = fileURLToPath(new URL('../roles/runs.mjs', import.meta.url));
const reduceFile = fileURLToPath(new URL('../roles/reduce.mjs', import.meta.url));
const queueFile = fileURLToPath(new URL('../roles/queue.mjs', import.meta.url));
const writ = { label: 'writ', subject: 'writ' };
const dbos = { label: 'dbos', subject: 'dbos' };
const shortLog = { label: 'after 100 events', subject: 'writ', variant: 'short' };
const manySteps = { label: 'after 1,000 events of 1,000 steps', subject: 'writ', variant: 'steps' };

/**
 * @param {Bench} bench @param {string} subject @param {string} role @param {object} options @param
 * {string} file
 */
const play = (bench, subject, role, options, file = roleFile) =>
  bench.start({ subject, roleFile: file, role, options, seconds: 300 }).finished;

/** @param {Bench} bench @param {string} subject */
const installed = (bench, subject) =>
  bench.template(`${subject} throughput`, null, (url) =>
    play(bench, subject, 'setup', { url, mode: 'throughput' }, queueFile),
  );

/** @param {number} inFlight @returns {Measurement} */
const tenSteps = (inFlight) => ({
  participants: [writ, dbos],
  async measure(bench, { subject }) {
    const runs = bench.size({ full: 1_000, quick: 200 });
    let started = 0;
    return bench.onCopy(
      await installed(bench, subject),
      async ({ url }) => {
        const figures = await play(bench, subject, 'tenSteps', { url, runs, inFlight });
        started = figures.jobs;
        return figures;
      },
      async (url) => (await play(bench, subject, 'verifyRuns', { url, runs: started })).missing,
    );
  },
});

/** @type {Measurement} */
const fanOut = {
  participants: [writ],
  async measure(bench, { subject }) {
    const items = 1_000;
    const { uuidv7 } = await built('database/uuid.js');
    return bench.onCopy(
      await installed(bench, subject),
      ({ url }) =>
        withLockWaits(bench.databases, url, async () => {
          const runId = uuidv7();
          const workers = [1, 2].map(() =>
            bench.start({
              subject,
              roleFile,
              role: 'fanOutWorker',
              options: { url, runId },
              seconds: 120,
            }),
          );
          await Promise.all(workers.map(({ reported }) => reported));
          const figures = await play(bench, subject, 'fanOut', { url, runId, items });
          const each = await Promise.all(workers.map(({ finished }) => finished));
          return { ...figures, fewest: Math.min(...each.map(({ handled }) => handled)) };
        }),
      async (url) => (await play(bench, subject, 'verifyFanOut', { url, items })).missing,
    );
  },
};

/** @type {Measurement} */
const append = {
  participants: [writ],
  async measure(bench, { subject }) {
    const runs = bench.size({ full: 2_000, quick: 300 });
    return bench.onCopy(
      await installed(bench, subject),
      ({ url }) => play(bench, subject, 'appendEvents', { url, runs }),
      async (url) => (await play(bench, subject, 'verifyRuns', { url, runs: runs + 100 })).missing,
    );
  },
};

/** @param {{ length: number, steps?: number }} log @returns {Measurement} */
const reduce = (log) => ({
  participants: [writ],
  measure: (bench, { subject }) =>
    play(
      bench,
      subject,
      'reduceLogs',
      { events: bench.size({ full: 1_000_000, quick: 200_000 }), ...log },
      reduceFile,
    ),
});

/**
 * The logs onto whose snapshots new events are projected, by variant. @type {Record<string, {
 * before: number, steps?: number }>}
 */
const logs = {
  long: { before: 100_000 },
  short: { before: 100 },
  steps: { before: 1_000, steps: 1_000 },
};

/** @type {Measurement} */
const project = {
  participants: [writ, shortLog, manySteps],
  measure: (bench, { subject, variant = 'long' }) =>
    play(
      bench,
      subject,
      'projectFurther',
      { ...logs[variant], samples: bench.size({ full: 1_000, quick: 200 }) },
      reduceFile,
    ),
};

const perSecond = {
  unit: 'runs/s',
  better: 'higher',
  figure: 'rate',
  targets: [{ peer: dbos.label, ratio: 6 }],
};
const events = {
  unit: 'events/s',
  better: 'higher',
  figure: 'rate',
  targets: [{ bound: 1_000_000 }],
};

/** @type {import('../harness/bench.mjs').Suite} */
export const suite = {
  name: 'runs',
  ours: 'writ',
  cases: [
    { name: 'ten-steps-16', ...perSecond, measurement: tenSteps(16) },
    { name: 'ten-steps-100', ...perSecond, measurement: tenSteps(100) },
    {
      name: 'fan-out-1000',
      unit: 'elements/s',
      better: 'higher',
      figure: 'rate',
      measurement: fanOut,
      targets: [],
      details: {
        durationMs: 'from the first event to the last, ms',
        lockP99: 'of all transactions, 99 % waited for locks at most, ms',
        lockWaits: 'waits of a millisecond or more',
        waitMax: 'the longest, ms',
        fewest: 'elements that the less busy of two workers did',
      },
    },
    {
      name: 'append-p99',
      unit: 'ms',
      better: 'lower',
      figure: 'appendP99',
      measurement: append,
      targets: [{ bound: 10 }],
      details: {
        appendP50: 'the median, ms',
        startP99: 'starts of runs alone, ms',
        stepP99: 'reports of steps alone, ms',
      },
    },
    {
      name: 'projection-lag',
      unit: 'ms',
      better: 'lower',
      figure: 'lagMs',
      measurement: append,
      targets: [{ bound: 1_000 }],
    },
    { name: 'reduce-short', ...events, measurement: reduce({ length: 22, steps: 10 }) },
    { name: 'reduce-long', ...events, measurement: reduce({ length: 100_000 }) },
    {
      name: 'project',
      unit: 'µs',
      better: 'lower',
      figure: 'projectUs',
      measurement: project,
      targets: [{ peer: shortLog.label, ratio: 2 }],
      details: { snapshotKb: 'the snapshot as JSON, KB' },
    },
  ],
};
