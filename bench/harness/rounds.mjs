// @ts-check
// Rounds: every participant of a measurement once per round, the first place passing on from round
// to round. A machine has slow minutes; alternating spreads them over everybody, and the median
// drops them. A participant that fails in a round is not asked again, and the failure is reported.
import { rounded, show } from './figures.mjs';

/** @typedef {import('./bench.mjs').Case} Case */
/**
 * @typedef {import('./bench.mjs').Participant & { rounds: import('./bench.mjs').Figures[], failure:
 * string | null }} Outcome
 */
/** @typedef {Map<import('./bench.mjs').Measurement, Outcome[]>} Outcomes */

/**
 * @param {import('./bench.mjs').Bench} bench
 * @param {Case[]} cases
 * @param {{ rounds: number, only: string[] | null, absent: (subject: string) => string | null,
 * signal: AbortSignal, progress: (line: string) => void }} options
 * @returns {Promise<Outcomes>}
 */
export async function runRounds(bench, cases, { rounds, only, absent, signal, progress }) {
  /** @type {Outcomes} */
  const outcomes = new Map();
  const plan = new Map(
    cases.map((one) => [
      one.measurement,
      cases.filter((other) => other.measurement === one.measurement),
    ]),
  );
  const takingPart = (/** @type {import('./bench.mjs').Measurement} */ measurement) =>
    measurement.participants.filter(({ subject }) => !only || only.includes(subject));
  const roundsOf = (/** @type {import('./bench.mjs').Measurement} */ measurement) =>
    Math.min(rounds, measurement.rounds ?? rounds);
  const total = [...plan.keys()].reduce(
    (sum, one) => sum + roundsOf(one) * takingPart(one).length,
    0,
  );
  const started = Date.now();
  let count = 0;
  for (const [measurement, shown] of plan) {
    const names = shown.map(({ name }) => name).join(', ');
    const participants = takingPart(measurement);
    const results = participants.map((who) => ({
      ...who,
      rounds: [],
      failure: absent(who.subject),
    }));
    outcomes.set(measurement, results);
    for (let round = 0; round < roundsOf(measurement); round += 1) {
      for (let k = 0; k < participants.length; k += 1) {
        const turn = (k + round) % participants.length;
        const outcome = /** @type {Outcome} */ (results[turn]);
        count += 1;
        if (outcome.failure) continue;
        const what = await measureOnce(bench, measurement, outcome, shown);
        signal.throwIfAborted();
        const seconds = Math.round((Date.now() - started) / 1000);
        const place = `[${String(count).padStart(String(total).length)}/${total} ${seconds} s]`;
        progress(
          `${place} ${names}, round ${round + 1}/${roundsOf(measurement)}: ${outcome.label} ${what}`,
        );
      }
    }
  }
  return outcomes;
}

/**
 * @param {import('./bench.mjs').Bench} bench
 * @param {import('./bench.mjs').Measurement} measurement
 * @param {Outcome} outcome
 * @param {Case[]} cases
 */
async function measureOnce(bench, measurement, outcome, cases) {
  try {
    const figures = await measurement.measure(bench, outcome);
    outcome.rounds.push(figures);
    const told = cases.map(({ figure, unit }) => `${show(figures[figure])} ${unit}`).join(', ');
    return figures.void ? `${told} (void: ${figures.void})` : told;
  } catch (error) {
    outcome.failure = error instanceof Error ? error.message : String(error);
    return `failed: ${outcome.failure}`;
  }
}

/**
 * The values of one figure, round by round.
 * @param {Outcome} outcome
 * @param {string} figure
 */
export const values = (outcome, figure) =>
  outcome.rounds.map((figures) => rounded(figures[figure] ?? Number.NaN));
