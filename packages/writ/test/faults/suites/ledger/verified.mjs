// @ts-check
// The end of a fault run that leaves receipts: everything comes into its log, and the product's own verification has nothing to say.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { verifyExport } from '../../../../dist/ledger/verify.js';
import { standstill } from '../../standstill.mjs';

/** @typedef {import('../../ledger-checker.mjs').Finding} Finding */

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

/**
 * Turns the clockwork until everything is sealed and in its log, or until that stands still.
 * @param {import('pg').Pool} admin @param {number} patienceMs
 */
export async function settle(admin, patienceMs) {
  const still = standstill(patienceMs);
  for (;;) {
    await admin.query(`select writ.fn_ledger_tick('faults')`);
    const { rows } =
      await admin.query(`select (select count(*) from writ_data.event_batch) - (select coalesce(sum(n_rows), 0) from writ_data.event_seal)
      + (select count(*) from writ_data.receipt) - (select count(*) from writ_data.ledger_leaf) as left`);
    if (Number(rows[0].left) === 0) return true;
    if (still(Number(rows[0].left))) return false;
    await pause(50);
  }
}

/**
 * The product's own verification, of the database and of an export of it. @param
 * {import('../../../../dist/index.js').Writ} writ @param {string} folder @param
 * {import('../../../../dist/ledger/verify.js').VerifyOptions} options @returns {Promise<Finding[]>}
 */
export async function verified(writ, folder, options) {
  const read = async (/** @type {string} */ path) =>
    readFile(join(folder, path)).catch((/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
  const verdicts = {
    'the database': await writ.ledger.verify(options),
    'an export': await verifyExport(read, options),
  };
  return Object.entries(verdicts).flatMap(([what, { ok, problems }]) =>
    ok
      ? []
      : [
          {
            verdict: /** @type {const} */ ('wrong'),
            what: `${what} does not verify`,
            times: problems.length,
            rows: problems.slice(0, 5).map(({ message }) => message),
          },
        ],
  );
}
