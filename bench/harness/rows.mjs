// @ts-check
// Turns outcomes into the rows of the JSON file: medians, the ratio to the peer that the target
// names, and whether the target was met. A row whose own subject failed or left something out is
// void, and a void row has met nothing.
import { median, rounded } from './figures.mjs';
import { values } from './rounds.mjs';

/** @typedef {import('./rounds.mjs').Outcome} Outcome */

/**
 * @param {import('./bench.mjs').Suite} suite
 * @param {import('./bench.mjs').Case} one
 * @param {Outcome[]} outcomes
 */
export function rowOf(suite, one, outcomes) {
  const measured = outcomes.filter(({ rounds }) => rounds.length > 0);
  /** @type {<T>(figure: string, digest: (numbers: number[]) => T) => Record<string, T>} */
  const byLabel = (figure, digest) => Object.fromEntries(measured.map((outcome) => [outcome.label, digest(values(outcome, figure))]));
  const medians = byLabel(one.figure, (list) => rounded(median(list)));
  const ours = medians[suite.ours] ?? null;
  const pick = (/** @type {(outcome: Outcome) => boolean} */ wanted) =>
    Object.fromEntries(measured.filter(wanted).map(({ label }) => [label, medians[label] ?? Number.NaN]));
  const peers = pick(({ subject, variant }) => subject !== suite.ours && !variant);
  const against = one.target?.peer ?? bestPeer(one, peers);
  const ratio = ours !== null && against && peers[against] ? rounded(ours / peers[against]) : null;
  const voided = whyVoid(suite, one, outcomes, ratio);
  return {
    case: one.name,
    unit: one.unit,
    ours,
    peers,
    ratio,
    target: one.target?.ratio ?? null,
    met: one.target ? !voided && reached(one, ratio) : null,
    ...(voided ? { void: voided } : {}),
    better: one.better,
    against,
    beside: pick(({ variant }) => variant !== undefined),
    spread: byLabel(one.figure, (list) => /** @type {[number, number]} */ ([Math.min(...list), Math.max(...list)])),
    rounds: byLabel(one.figure, (list) => list),
    walPerJob: byLabel('walPerJob', (list) => Math.round(median(list))),
    commitsPerJob: byLabel('commitsPerJob', (list) => Number(median(list).toFixed(3))),
    rssMb: byLabel('rssMb', (list) => Math.max(...list)),
    versions: Object.fromEntries(measured.map(({ label, rounds }) => [label, rounds[0]?.version])),
    failures: Object.fromEntries(outcomes.flatMap(({ label, failure }) => (failure === null ? [] : [[label, failure]]))),
  };
}

/** @typedef {ReturnType<typeof rowOf>} Row */

/** The best product among the peers; plain SQL is a floor and not a product. @param {import('./bench.mjs').Case} one @param {Record<string, number>} peers */
function bestPeer({ better }, peers) {
  const ranked = Object.entries(peers).filter(([name]) => name !== 'raw');
  ranked.sort(([, a], [, b]) => (better === 'higher' ? b - a : a - b));
  return ranked[0]?.[0] ?? null;
}

/** @param {import('./bench.mjs').Case} one @param {number | null} ratio */
function reached({ better, target }, ratio) {
  if (ratio === null || !target) return false;
  return better === 'higher' ? ratio >= target.ratio : ratio <= target.ratio;
}

/** @param {import('./bench.mjs').Suite} suite @param {import('./bench.mjs').Case} one @param {Outcome[]} outcomes @param {number | null} ratio */
function whyVoid(suite, one, outcomes, ratio) {
  const own = outcomes.find(({ label }) => label === suite.ours);
  if (!own) return `${suite.ours} was not measured`;
  if (own.failure) return own.failure;
  const incomplete = own.rounds.find((figures) => figures.void);
  if (incomplete) return incomplete.void;
  if (one.target && ratio === null) return `${one.target.peer} was not measured`;
  return null;
}
