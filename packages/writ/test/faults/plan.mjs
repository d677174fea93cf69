// @ts-check
// The list of faults of a run. It follows from the seed alone: the same seed gives the same (fault point, nth passage, action) in the same
// order, whatever the machine does meanwhile. Two kinds of points exist. Those of a worker process are counted in that process from the moment
// the fault is armed; `enqueued` is counted in the producer from the start of the run.

/**
 * @typedef {'kill' | 'stop' | 'leave' | 'duplicate' | 'crash' | 'disconnect' | 'rules' | 'receiver'
 * | 'nats' | 'away' | 'clock' | 'change'} Action
 */
/** @typedef {{ point: string, nth: number, action: Action, holdMs: number }} Fault */
/**
 * How many of each: `kills`, `stops`, orderly `leaves` and `duplicates` by worker point with the
 * highest passage to wait for, and what happens to the database between the enqueues.
 * @typedef {{ jobs: number, kills: [point: string, count: number, upTo: number][], stops: [point:
 * string, count: number, upTo: number][],
 *   leaves: [point: string, count: number, upTo: number][], duplicates: [point: string, count:
 *   number, upTo: number][], outside: [action: Action, count: number][] }} Shape
 */

/**
 * A small generator with 32 bits of state (mulberry32): good enough to spread faults, and the same
 * on every machine. @param {number} seed
 */
export function generator(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return {
    /** A fraction from 0 up to 1. */
    next,
    /** A whole number from `low` to `high`. @param {number} low @param {number} high */
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    /** One of several. @template T @param {readonly T[]} values @returns {T} */
    pick: (values) => /** @type {T} */ (values[Math.floor(next() * values.length)]),
  };
}

/** @param {ReturnType<typeof generator>} random @param {Fault[]} faults */
function shuffled(random, faults) {
  for (let last = faults.length - 1; last > 0; last--) {
    const other = random.between(0, last);
    [faults[last], faults[other]] = /** @type {[Fault, Fault]} */ ([faults[other], faults[last]]);
  }
  return faults;
}

/**
 * The plan of a run: faults for worker processes, in the order in which they are armed, and faults
 * from outside, by their passage.
 * @param {number} seed
 * @param {Shape} shape
 * @returns {{ workers: Fault[], outside: Fault[] }}
 */
export function planOf(seed, shape) {
  const random = generator(seed);
  /** @type {Fault[]} */
  const workers = [];
  for (const [action, group] of /** @type {const} */ ([
    ['kill', shape.kills],
    ['stop', shape.stops],
    ['leave', shape.leaves],
    ['duplicate', shape.duplicates],
  ])) {
    for (const [point, count, upTo] of group) {
      for (let i = 0; i < count; i++) {
        // A kill at once meets a request on its way; a moment later, one that the server has
        // answered and nobody has read.
        workers.push({
          point,
          nth: random.between(1, upTo),
          action,
          holdMs: action === 'kill' ? random.pick([0, 0, 2, 10]) : 0,
        });
      }
    }
  }
  /** @type {Fault[]} */
  const outside = [];
  for (const [action, count] of shape.outside) {
    // Each in its own part of the run, so that two outages do not fall together and none falls into
    // the end.
    const part = (shape.jobs * 0.8) / count;
    for (let i = 0; i < count; i++) {
      const nth = Math.round(shape.jobs * 0.05 + part * (i + random.next()));
      outside.push({
        point: 'enqueued',
        nth,
        action,
        holdMs: action === 'crash' ? random.between(50, 1500) : 0,
      });
    }
  }
  return { workers: shuffled(random, workers), outside: outside.sort((a, b) => a.nth - b.nth) };
}
