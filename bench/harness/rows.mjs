// @ts-check
// Turns outcomes into the rows of the JSON file: medians, how each target stands, and the ratio to
// whom the first of them names. A row whose own subject failed or left something out is void, and a
// void row has met nothing.
import { median, rounded } from './figures.mjs';
import { values } from './rounds.mjs';

/** @typedef {import('./rounds.mjs').Outcome} Outcome */
/** @typedef {import('./bench.mjs').Case} Case */
/**
 * How one target stands. Without a peer (`against` null) the target is a figure, and so is what was
 * reached. @typedef {{ against: string | null, reached: number | null, target: number, met: boolean
 * }} Standing
 */

/**
 * @param {import('./bench.mjs').Suite} suite
 * @param {Case} one
 * @param {Outcome[]} outcomes
 */
export function rowOf(suite, one, outcomes) {
  const label = one.label ?? suite.ours;
  const measured = outcomes.filter(({ rounds }) => rounds.length > 0);
  /** @type {<T>(figure: string, digest: (numbers: number[]) => T) => Record<string, T>} */
  const byLabel = (figure, digest) =>
    Object.fromEntries(measured.map((outcome) => [outcome.label, digest(values(outcome, figure))]));
  const medians = byLabel(one.figure, (list) => rounded(median(list)));
  const ours = medians[label] ?? null;
  const pick = (/** @type {(outcome: Outcome) => boolean} */ wanted) =>
    Object.fromEntries(
      measured
        .filter(wanted)
        .map((outcome) => [outcome.label, medians[outcome.label] ?? Number.NaN]),
    );
  const peers = pick(({ subject, variant }) => subject !== suite.ours && !variant);
  const beside = pick((outcome) => outcome.variant !== undefined && outcome.label !== label);
  const others = { ...peers, ...beside };
  const voided = whyVoid(label, outcomes);
  const standings = one.targets.map((target) => standing(one, target, ours, peers, others, voided));
  const against = standings[0] ? standings[0].against : (one.against ?? bestPeer(one, peers));
  return {
    case: one.name,
    unit: one.unit,
    ours,
    peers,
    ratio: ratioOf(ours, against === null ? undefined : others[against]),
    target: standings[0]?.target ?? null,
    met: standings.length > 0 ? standings.every(({ met }) => met) : null,
    ...voidOf(voided ?? unmeasured(standings)),
    label,
    better: one.better,
    against,
    targets: standings,
    beside,
    details: detailsOf(one, measured),
    spread: byLabel(
      one.figure,
      (list) => /** @type {[number, number]} */ ([Math.min(...list), Math.max(...list)]),
    ),
    rounds: byLabel(one.figure, (list) => list),
    walPerJob: byLabel('walPerJob', (list) => Math.round(median(list))),
    commitsPerJob: byLabel('commitsPerJob', (list) => Number(median(list).toFixed(3))),
    cpuPerJob: byLabel('cpuPerJob', (list) => rounded(median(list))),
    rssMb: byLabel('rssMb', (list) => Math.max(...list)),
    versions: Object.fromEntries(
      measured.map((outcome) => [outcome.label, outcome.rounds[0]?.version]),
    ),
    failures: Object.fromEntries(
      outcomes.flatMap((outcome) =>
        outcome.failure === null ? [] : [[outcome.label, outcome.failure]],
      ),
    ),
  };
}

/**
 * The case without the targets against those who were left out on purpose. @param {Case} one @param
 * {string[] | null} only @returns {Case}
 */
export function among(one, only) {
  const leftOut = one.measurement.participants.flatMap(({ label, subject }) =>
    only?.includes(subject) === false ? [label] : [],
  );
  return {
    ...one,
    targets: one.targets.filter((target) => 'bound' in target || !leftOut.includes(target.peer)),
  };
}

/** @typedef {ReturnType<typeof rowOf>} Row */

/**
 * The best product among the peers; plain SQL is a floor and not a product. @param {Case} one
 * @param {Record<string, number>} peers
 */
function bestPeer({ better }, peers) {
  const ranked = Object.entries(peers).filter(([name]) => name !== 'raw');
  ranked.sort(([, a], [, b]) => (better === 'higher' ? b - a : a - b));
  return ranked[0]?.[0] ?? null;
}

/** @param {number | null} ours @param {number | undefined} other */
const ratioOf = (ours, other) => (ours !== null && other ? rounded(ours / other) : null);

/**
 * @param {Case} one
 * @param {import('./bench.mjs').Target} target
 * @param {number | null} ours
 * @param {Record<string, number>} peers
 * @param {Record<string, number>} others
 * @param {string | null} voided
 * @returns {Standing}
 */
function standing(one, target, ours, peers, others, voided) {
  if ('bound' in target)
    return judged(one, { against: null, reached: ours, target: target.bound }, voided);
  const against = target.peer === 'best' ? (bestPeer(one, peers) ?? 'best') : target.peer;
  return judged(
    one,
    { against, reached: ratioOf(ours, others[against]), target: target.ratio },
    voided,
  );
}

/**
 * @param {Case} one @param {Omit<Standing, 'met'>} open @param {string | null} voided @returns
 * {Standing}
 */
function judged({ better }, open, voided) {
  const { reached, target } = open;
  return {
    ...open,
    met:
      voided === null &&
      reached !== null &&
      (better === 'higher' ? reached >= target : reached <= target),
  };
}

/**
 * The medians of the further figures of a case, by participant. @param {Case} one @param
 * {Outcome[]} measured
 */
function detailsOf({ details = {} }, measured) {
  const medianOf = (/** @type {Outcome} */ outcome, /** @type {string} */ figure) => {
    const given = outcome.rounds.flatMap((figures) =>
      Number.isFinite(figures[figure]) ? [figures[figure]] : [],
    );
    return given.length > 0 ? rounded(median(given)) : null;
  };
  return Object.fromEntries(
    Object.entries(details).map(([figure, what]) => [
      what,
      Object.fromEntries(measured.map((outcome) => [outcome.label, medianOf(outcome, figure)])),
    ]),
  );
}

/** @param {string} label @param {Outcome[]} outcomes @returns {string | null} */
function whyVoid(label, outcomes) {
  const own = outcomes.find((outcome) => outcome.label === label);
  if (!own) return `${label} was not measured`;
  if (own.failure) return own.failure;
  return own.rounds.find((figures) => figures.void)?.void ?? null;
}

/** @param {Standing[]} standings */
function unmeasured(standings) {
  const missing = standings.find(({ reached }) => reached === null);
  return missing ? `${missing.against} was not measured` : null;
}

/** @param {string | null} why @returns {{ void?: string }} */
const voidOf = (why) => (why === null ? {} : { void: why });
