// @ts-check
// Counts what a superuser made honest appliers do, and what verification did not notice. It believes the books of the
// persons (which bytes each has really signed), the outside world (what was done to it, and by whom), and nothing of
// the database.
import { canonicalize } from '../../dist/ledger/canonical.js';

/**
 * What persons have signed. @typedef {{ tenant: string, document:
 * import('../../dist/governance/document.js').SignedDocument, persons: string[] }} Signed
 */
/**
 * Something done to the outside world. @typedef {{ honest: boolean, op: 'apply' | 'revert', tenant:
 * string, slot: string, value: unknown, effectKey: string }} Effect
 */
/**
 * Something that verification has named. @typedef {{ kind: string, log: string | null, message:
 * string }} Problem
 */
/**
 * What a tenant's verification has to name, one of the kinds; without kinds: nothing. @typedef {{
 * tenant: string, what: string, kinds: string[] }} Forced
 */
/**
 * @typedef {{ quorum: Record<string, number>, signed: Signed[], effects: Effect[], problems:
 * Problem[], forced: Forced[], displayed: { tenant: string, slot: string, value: unknown }[] }}
 * Books
 */
/**
 * @typedef {{ verdict: import('./hostile-checker.mjs').Verdict, what: string, times: number, rows:
 * unknown[] }} Finding
 */

const same = (/** @type {unknown} */ a, /** @type {unknown} */ b) =>
  canonicalize(a) === canonicalize(b);

/**
 * The checks by what they are called; each answers one row per violation. @type {[verdict:
 * Finding['verdict'], what: string, check: (books: Books) => unknown[]][]}
 */
export const trustChecks = [
  [
    'escaped',
    'an honest applier had an effect without an approval by persons of the trust file',
    ({ effects, signed, quorum }) =>
      effects.filter(
        ({ honest, op, tenant, slot, value }) =>
          honest &&
          op === 'apply' &&
          !signed.some(
            (one) =>
              one.tenant === tenant &&
              new Set(one.persons).size >=
                Math.max(one.document.policy.quorum, Number(quorum[one.document.risk])) &&
              one.document.steps.some(
                (step) => step.target === slot && same(step.parameters.value, value),
              ),
          ),
      ),
  ],
  [
    'escaped',
    'an honest applier restored a value that was not signed',
    ({ effects, signed }) =>
      effects.filter(
        ({ honest, op, tenant, slot, value }) =>
          honest &&
          op === 'revert' &&
          !signed.some(
            ({ tenant: theirs, document }) =>
              theirs === tenant && same(document.pre_state[slot] ?? null, value),
          ),
      ),
  ],
  [
    'escaped',
    'a contract was applied a second time, and verification does not name it',
    ({ effects, problems }) =>
      effects.filter(
        ({ op, tenant, slot, effectKey }) =>
          op === 'apply' &&
          effects.find((one) => one.op === 'apply' && one.tenant === tenant && one.slot === slot)
            ?.effectKey !== effectKey &&
          !problems.some(({ kind, log }) => kind === 'applied_twice' && log === tenant),
      ),
  ],
  [
    'escaped',
    'verification does not name what a superuser forced',
    ({ forced, problems }) =>
      forced.filter(
        ({ tenant, kinds }) =>
          kinds.length > 0 &&
          !problems.some(({ kind, log }) => log === tenant && kinds.includes(kind)),
      ),
  ],
  [
    'escaped',
    'the effect is not what was displayed to the approver',
    ({ displayed, effects }) =>
      displayed.filter(
        ({ tenant, slot, value }) =>
          !effects.some(
            (one) =>
              one.op === 'apply' &&
              one.tenant === tenant &&
              one.slot === slot &&
              same(one.value, value),
          ),
      ),
  ],
  [
    'wrong',
    'verification names what nobody has forced',
    ({ problems, forced }) =>
      problems.filter(
        ({ log }) => !forced.some(({ tenant, kinds }) => tenant === log && kinds.length > 0),
      ),
  ],
];

/** @param {Books} books @returns {Finding[]} */
export function checkTrust(books) {
  return trustChecks.flatMap(([verdict, what, check]) => {
    const rows = check(books);
    return rows.length > 0 ? [{ verdict, what, times: rows.length, rows: rows.slice(0, 8) }] : [];
  });
}
