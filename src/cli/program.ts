/** The command line as data: every command with its options. main.ts runs it; the reference page is generated from it. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addCapabilities } from './commands/capabilities.js';
import { addConsumers } from './commands/consumers.js';
import { addContracts } from './commands/contracts/index.js';
import { addDemo } from './commands/demo.js';
import { addDev } from './commands/dev.js';
import { addDoctor } from './commands/doctor.js';
import { addEvents } from './commands/events/index.js';
import { addFreeze } from './commands/freeze.js';
import { addHealth } from './commands/health.js';
import { addIncidents } from './commands/incidents.js';
import { addJobs } from './commands/jobs/index.js';
import { addLedger } from './commands/ledger/index.js';
import { addMigrate } from './commands/migrate.js';
import { addPrincipals } from './commands/principals.js';
import { addProbes } from './commands/probes.js';
import { addQueue } from './commands/queue/index.js';
import { addRelay } from './commands/relay.js';
import { addRuns } from './commands/runs/index.js';
import { addSchedules } from './commands/schedules/index.js';
import { addSettings } from './commands/settings.js';
import { addSignals } from './commands/signals.js';
import { addSubscriptions } from './commands/subscriptions.js';
import { addWebhooks } from './commands/webhooks/index.js';
import { addWorker } from './commands/worker.js';
import { exitCodeHelp } from './failure.js';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };

export const program = new Command('writ')
  .description('Jobs on PostgreSQL that are never lost, never repeated, and always on the record.')
  .version(version)
  .option('--database-url <url>', 'the database; otherwise DATABASE_URL, otherwise the server of `writ dev` in this folder')
  .option('--json', 'print data as JSON, for programs')
  .option('--debug', 'print stack traces')
  .configureHelp({ showGlobalOptions: true })
  .addHelpText('after', exitCodeHelp)
  .showHelpAfterError('See --help.')
  .exitOverride();

const commands = [
  addDev,
  addDemo,
  addMigrate,
  addWorker,
  addQueue,
  addRuns,
  addContracts,
  addJobs,
  addCapabilities,
  addHealth,
  addProbes,
  addSignals,
  addIncidents,
  addFreeze,
  addPrincipals,
  addSchedules,
  addConsumers,
  addSubscriptions,
  addEvents,
  addWebhooks,
  addRelay,
  addLedger,
  addSettings,
  addDoctor,
];
for (const add of commands) add(program);
