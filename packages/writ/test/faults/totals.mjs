// @ts-check
// What all runs of `--suite all` add up to, kept in a file. Faults are counted over all runs since
// the file was begun; whoever changes the program and wants to count anew deletes it.
//
// Callers: all.mjs. A file that is no totals is refused: it is never written over.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { verdicts } from './checker.mjs';

/** What has to be zero. */
export const zeros = /** @type {const} */ ([...verdicts, 'escaped']);

/** @typedef {{ suite: string, seed: number, at: string, findings: unknown[] }} Failure */
/**
 * @typedef {{ format: 'writ-faults-1', since: string, seconds: number, operations: number,
 *   faults: number, of: Record<string, { runs: number, faults: number }>,
 *   happened: Record<string, number>, failures: Failure[] }
 *   & Record<typeof zeros[number], number>} Totals
 */
/**
 * What a suite writes with --json; only the seed and the suite where it did not come to an end.
 * @typedef {{ suite: string, seed: number, operations?: number, faults?: number, details?:
 * unknown[],
 *   happened?: Record<string, number> } & Partial<Record<typeof zeros[number], number>>} Outcome
 */

/** @returns {Totals} */
export function noTotals() {
  return {
    format: 'writ-faults-1',
    since: new Date().toISOString(),
    ...{ seconds: 0, operations: 0, faults: 0 },
    ...{ lost: 0, repeated: 0, unreceipted: 0, stuck: 0, wrong: 0, escaped: 0 },
    of: {},
    happened: {},
    failures: [],
  };
}

/** @param {string} file @returns {Totals} */
export function readTotals(file) {
  if (!existsSync(file)) return noTotals();
  const totals = JSON.parse(readFileSync(file, 'utf8'));
  if (totals?.format !== 'writ-faults-1') throw new Error(`${file} holds no totals of faults`);
  return totals;
}

/**
 * The file is the old one or the new one, whenever this process dies. @param {string} file @param
 * {Totals} totals
 */
export function writeTotals(file, totals) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, `${JSON.stringify(totals, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

/**
 * Adds what a suite found. @param {Totals} totals @param {Outcome} outcome @param {number} seconds
 * @returns {Totals}
 */
export function added(totals, outcome, seconds) {
  const { suite, seed, operations = 0, faults = 0, details = [], happened = {} } = outcome;
  const before = totals.of[suite] ?? { runs: 0, faults: 0 };
  const failed = zeros.some((zero) => outcome[zero]);
  const at = new Date().toISOString();
  const found = Object.fromEntries(
    zeros.map((zero) => [zero, totals[zero] + (outcome[zero] ?? 0)]),
  );
  const sums = { ...totals.happened };
  for (const [name, times] of Object.entries(happened)) sums[name] = (sums[name] ?? 0) + times;
  return /** @type {Totals} */ ({
    ...totals,
    ...found,
    seconds: totals.seconds + seconds,
    operations: totals.operations + operations,
    faults: totals.faults + faults,
    of: { ...totals.of, [suite]: { runs: before.runs + 1, faults: before.faults + faults } },
    happened: sums,
    failures: failed
      ? [...totals.failures, { suite, seed, at, findings: details.slice(0, 5) }]
      : totals.failures,
  });
}

/**
 * What follows from the counts, in one line: nothing failed in n faults, so at 95 % confidence at
 * most 3/n of them can (the rule of three). Once something failed, there is nothing to claim.
 * @param {Totals} totals
 */
export function boundOf({ faults, failures }) {
  if (failures.length > 0) return `${failures.length} runs failed: no bound follows`;
  if (faults === 0) return 'no fault happened: no bound follows';
  const bound = 3 / faults;
  return `95 % bound: fewer than ${bound.toPrecision(2)} of all faults (1 in ${Math.floor(1 / bound)}) do harm`;
}

/**
 * 0 if every run since the totals began found zeros: only then the bound holds.
 * @param {Totals} totals
 */
export const exitCodeOf = (totals) => (totals.failures.length > 0 ? 1 : 0);
