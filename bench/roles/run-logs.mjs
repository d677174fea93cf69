// @ts-check
// Logs of runs as a reader of the database gets them, for measurements of the reducer alone: each event is parsed from text, so that its
// strings are as new to the reducer as those that came over a connection.

/** @typedef {{ eventType: string, stepId: string, eventData: object }} Fact */
/** Items of one step at most, and how many of them are under way at once. */
const ITEMS = 10_000;
const PARALLEL = 100;
const HASH = 'a'.repeat(64);
const FIRST = Date.UTC(2026, 0, 1);

/** @param {string} stepId @param {object} [eventData] @returns {Fact} */
const started = (
  stepId,
  eventData = { jobId: '019a0000-0000-7000-8000-000000000001', kind: 'step', worker: 'worker-1' },
) => ({
  eventType: 'StepStarted',
  stepId,
  eventData,
});

/** @param {string} stepId @param {object} [eventData] @returns {Fact} */
const completed = (
  stepId,
  eventData = {
    artifacts: [{ uri: `writ:result/${stepId}`, kind: 'output', sha256: HASH, sizeBytes: 21 }],
  },
) => ({
  eventType: 'StepCompleted',
  stepId,
  eventData,
});

/** @type {Fact} */
const runStarted = {
  eventType: 'RunStarted',
  stepId: 'RUN',
  eventData: { planId: 'bench', planVersion: '1.0.0', planSha256: HASH, engine: 'native' },
};
/** @type {Fact} */
const runCompleted = { eventType: 'RunCompleted', stepId: 'RUN', eventData: {} };

/**
 * A run of so many steps in a row: two events each, and two of the run. @param {number} steps
 * @returns {Generator<Fact>}
 */
export function* inARow(steps) {
  yield runStarted;
  for (let n = 1; n <= steps; n += 1) {
    yield started(`step-${n}`);
    yield completed(`step-${n}`);
  }
  yield runCompleted;
}

/**
 * A run without an end whose steps fan out, one after the other, over as many items as a step may
 * have. @returns {Generator<Fact>}
 */
export function* fanningOut() {
  yield runStarted;
  for (let step = 1; ; step += 1) {
    yield started(`step-${step}`, { items: ITEMS, parallel: PARALLEL });
    for (let item = 0; item < ITEMS + PARALLEL; item += 1) {
      if (item >= PARALLEL) yield completed(`step-${step}[${item - PARALLEL}]`);
      if (item < ITEMS) yield started(`step-${step}[${item}]`);
    }
    yield completed(`step-${step}`, { artifacts: [], items: ITEMS });
  }
}

/**
 * The next events of a run, numbered from `from`.
 * @param {string} runId
 * @param {Iterator<Fact>} facts
 * @param {number} from
 * @param {number} count
 */
export function eventsOf(runId, facts, from, count) {
  const events = [];
  for (let runSeq = from; runSeq < from + count; runSeq += 1) {
    const { value, done } = facts.next();
    if (done) break;
    const at = new Date(FIRST + runSeq).toISOString();
    events.push(
      JSON.parse(
        JSON.stringify({
          runId,
          runSeq,
          eventId: `00000000-0000-8000-8000-${String(runSeq).padStart(12, '0')}`,
          ...value,
          logicalAttemptId: '1',
          engineAttemptId: '1',
          idempotencyKey: HASH,
          emittedAt: at,
          persistedAt: at,
        }),
      ),
    );
  }
  return events;
}
