/**
 * The command line as data: every command with its options. main.ts runs it; the reference page is generated from it. A command is loaded when it
 * is named, because all of them together take longer to load than most of them take to run.
 */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { exitCodeHelp } from './failure.js';

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string };

export const program = new Command('writ')
  .description('Jobs on PostgreSQL that are never lost, never repeated, and always on the record.')
  .version(version)
  .option(
    '--database-url <url>',
    'the database; otherwise DATABASE_URL, otherwise the server of `writ dev` in this folder',
  )
  .option('--json', 'print data as JSON, for programs')
  .option('--debug', 'print stack traces')
  .configureHelp({ showGlobalOptions: true })
  .addHelpText('after', exitCodeHelp)
  .showHelpAfterError('See --help.')
  .exitOverride();

/** Every command by its name, in the order of the help. */
const commands: Record<string, () => Promise<(program: Command) => void>> = {
  dev: async () => (await import('./commands/dev.js')).addDev,
  demo: async () => (await import('./commands/demo.js')).addDemo,
  migrate: async () => (await import('./commands/migrate.js')).addMigrate,
  worker: async () => (await import('./commands/worker.js')).addWorker,
  queue: async () => (await import('./commands/queue/index.js')).addQueue,
  runs: async () => (await import('./commands/runs/index.js')).addRuns,
  contracts: async () => (await import('./commands/contracts/index.js')).addContracts,
  jobs: async () => (await import('./commands/jobs/index.js')).addJobs,
  capabilities: async () => (await import('./commands/capabilities.js')).addCapabilities,
  health: async () => (await import('./commands/health.js')).addHealth,
  probes: async () => (await import('./commands/probes.js')).addProbes,
  signals: async () => (await import('./commands/signals.js')).addSignals,
  incidents: async () => (await import('./commands/incidents.js')).addIncidents,
  freeze: async () => (await import('./commands/freeze.js')).addFreeze,
  principals: async () => (await import('./commands/principals.js')).addPrincipals,
  logins: async () => (await import('./commands/logins.js')).addLogins,
  governor: async () => (await import('./commands/governor/index.js')).addGovernor,
  schedules: async () => (await import('./commands/schedules/index.js')).addSchedules,
  consumers: async () => (await import('./commands/consumers.js')).addConsumers,
  subscriptions: async () => (await import('./commands/subscriptions.js')).addSubscriptions,
  events: async () => (await import('./commands/events/index.js')).addEvents,
  webhooks: async () => (await import('./commands/webhooks/index.js')).addWebhooks,
  relay: async () => (await import('./commands/relay.js')).addRelay,
  ledger: async () => (await import('./commands/ledger/index.js')).addLedger,
  settings: async () => (await import('./commands/settings.js')).addSettings,
  doctor: async () => (await import('./commands/doctor.js')).addDoctor,
};

/** Adds the command that the arguments name; all of them where none is named that there is, for the help. */
export async function addNamed(args: string[]): Promise<void> {
  const [name = ''] = program.parseOptions(args).operands;
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load) (await load())(program);
  else await addAll();
}

export async function addAll(): Promise<void> {
  for (const add of await Promise.all(Object.values(commands).map((load) => load()))) add(program);
}
