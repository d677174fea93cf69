/** The command line as data: every command with its options. main.ts runs it; the reference page is generated from it. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addConsumers } from './commands/consumers.js';
import { addDemo } from './commands/demo.js';
import { addDev } from './commands/dev.js';
import { addDoctor } from './commands/doctor.js';
import { addEvents } from './commands/events/index.js';
import { addLedger } from './commands/ledger/index.js';
import { addMigrate } from './commands/migrate.js';
import { addQueue } from './commands/queue/index.js';
import { addRelay } from './commands/relay.js';
import { addRuns } from './commands/runs/index.js';
import { addSchedules } from './commands/schedules/index.js';
import { addSettings } from './commands/settings.js';
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
