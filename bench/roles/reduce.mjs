// @ts-check
// The roles of the reducer: no database takes part. Whole logs are reduced from nothing, or a few new events are projected onto the
// snapshot of a log that is already long. Making the events is not measured, and every event is reduced once, as a projector does.
import { built } from '../build.mjs';
import { median, monotonicMs } from '../harness/figures.mjs';
import { eventsOf, fanningOut, inARow } from './run-logs.mjs';

/** @typedef {import('../subjects/subject.mjs').Subject} Subject */

/** Events made at a time: more would measure the collector of garbage that holds them. */
const PORTION = 100_000;
const WARM_UP = 200_000;
/** What a projector finds new. */
const NEW_EVENTS = 10;
/** Projections one after the other, each onto the snapshot of the one before. */
const CHAIN = 50;

const reducer = () => built('runs/snapshot.js');
const runIdOf = (/** @type {number} */ n) =>
  `019a0000-0000-7000-8000-${String(n).padStart(12, '0')}`;

/**
 * So many events in logs of that length each, of runs with so many steps in a row, or without them
 * of runs that fan out.
 * @param {Subject} _
 * @param {{ events: number, length: number, steps?: number }} options
 */
export async function reduceLogs(_, { events, length, steps }) {
  const { emptySnapshot, reduce } = await reducer();
  let reduced = 0;
  let ms = 0;
  for (let made = 0; made < WARM_UP + events; ) {
    const logs = [];
    const portion = Math.min(PORTION, WARM_UP + events - made);
    for (let held = 0; held < portion; held += length) {
      const runId = runIdOf(made + held);
      logs.push({ runId, log: eventsOf(runId, steps ? inARow(steps) : fanningOut(), 1, length) });
    }
    const start = monotonicMs();
    const snapshots = logs.map(({ runId, log }) => reduce(emptySnapshot(runId), log));
    const took = monotonicMs() - start;
    for (const snapshot of snapshots) confirm(snapshot, length);
    if (made >= WARM_UP) {
      ms += took;
      reduced += logs.length * length;
    }
    made += logs.length * length;
  }
  return { rate: (reduced / ms) * 1000, jobs: reduced };
}

/**
 * Ten new events at a time onto the snapshot of a log that had `before` events: the median of many
 * such projections. `steps` is the number of the plan's steps where the run does not fan out.
 * @param {Subject} _
 * @param {{ before: number, steps?: number, samples: number }} options
 */
export async function projectFurther(_, { before, steps, samples }) {
  const { emptySnapshot, reduce } = await reducer();
  /** @type {number[]} */
  const times = [];
  let size = 0;
  for (let chain = -1; times.length < samples; chain += 1) {
    const runId = runIdOf(chain + 1);
    const facts = steps ? inARow(steps) : fanningOut();
    let snapshot = reduce(emptySnapshot(runId), eventsOf(runId, facts, 1, before));
    confirm(snapshot, before);
    const portions = Array.from({ length: CHAIN }, (_none, k) =>
      eventsOf(runId, facts, before + k * NEW_EVENTS + 1, NEW_EVENTS),
    );
    for (const portion of portions) {
      const start = performance.now(); // finer than a microsecond
      snapshot = reduce(snapshot, portion);
      const took = performance.now() - start;
      if (chain >= 0) times.push(took * 1000); // the first chain warms up
    }
    confirm(snapshot, before + CHAIN * NEW_EVENTS);
    size = JSON.stringify(snapshot).length;
  }
  return { projectUs: median(times), snapshotKb: size / 1024, jobs: times.length };
}

/** A reducer that skips events is fast. @param {any} snapshot @param {number} events */
function confirm(snapshot, events) {
  if (snapshot.lastEventSeq !== events)
    throw new Error(`the snapshot is at event ${snapshot.lastEventSeq} of ${events}`);
  if (snapshot.inconsistent) throw new Error(`the reducer ignored ${snapshot.inconsistent} events`);
  if (!Object.isFrozen(snapshot)) throw new Error('the snapshot is not frozen');
}
