/**
 * What a worker does on the side, done now: everything in the record is sealed. What other
 * databases of this server have open holds it up.
 */
import type { TestDatabase } from '../../src/testing/index.js';
import { until } from '../races/sessions.js';

export const sealEverything = (db: TestDatabase): Promise<void> =>
  until(async () => {
    await db.query(`select writ.fn_ledger_tick('test')`);
    const [row] = await db.query(
      `select (writ.fn_ledger_health() ->> 'unsealed')::integer as unsealed`,
    );
    return row?.unsealed === 0;
  }, 30_000);
