/** Every check, in the order in which findings are shown. */
import { clockChecks, gateClockChecks } from './clock.js';
import { connectionChecks } from './connection.js';
import type { Checks } from './finding.js';
import { governanceChecks } from './governance.js';
import { governorChecks } from './governor.js';
import { ledgerChecks } from './ledger.js';
import { loginChecks } from './logins.js';
import { outboxChecks } from './outbox.js';
import { poolerChecks } from './pooler.js';
import { queueChecks } from './queue.js';
import { runChecks } from './runs.js';
import { schemaChecks } from './schema.js';
import { settingsChecks } from './settings.js';
import { snapshotChecks } from './snapshots.js';
import { spoolChecks } from './spool.js';
import { tableChecks } from './tables.js';

/** Checks that need no schema of ours. */
export const ofServer: Checks = {
  ...connectionChecks,
  ...clockChecks,
  ...poolerChecks,
  ...settingsChecks,
  ...snapshotChecks,
  ...spoolChecks,
  ...schemaChecks,
};

export const ofWrit: Checks = {
  ...gateClockChecks,
  ...loginChecks,
  ...tableChecks,
  ...queueChecks,
  ...runChecks,
  ...governanceChecks,
  ...governorChecks,
  ...outboxChecks,
  ...ledgerChecks,
};
