/**
 * Machines that run tests are slow at times, and a governor that was not answered in time goes into
 * safe mode. What the times are for is shown by tests of its own.
 */
import type { TestDatabase } from '../../src/testing/index.js';

const times = {
  receipt_slo_ms: 60_000,
  ping_ms: 10_000,
  transition_ms: 5_000,
  entitlement_ms: 5_000,
  policy_ms: 5_000,
  action_ms: 5_000,
};

/** Whoever drives governors of this database from now on has time. */
export async function patient(db: TestDatabase): Promise<void> {
  for (const [name, ms] of Object.entries(times))
    await db.query(`select writ.fn_setting_set($1, $2::jsonb, 'test')`, [
      `governor.${name}`,
      JSON.stringify(ms),
    ]);
}
