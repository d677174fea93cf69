/**
 * The command line as data: every command with its options. main.ts runs it; the reference page is
 * generated from it. A command is loaded when it is named, because all of them together take longer
 * to load than most of them take to run.
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
  queue: async () => (await import('./commands/queue.js')).addQueue,
  runs: async () => (await import('./commands/runs.js')).addRuns,
  contracts: async () => (await import('./commands/contracts.js')).addContracts,
  changes: async () => (await import('./commands/changes.js')).addChanges,
  capabilities: async () => (await import('./commands/capabilities.js')).addCapabilities,
  health: async () => (await import('./commands/health.js')).addHealth,
  probes: async () => (await import('./commands/health.js')).addProbes,
  signals: async () => (await import('./commands/health.js')).addSignals,
  incidents: async () => (await import('./commands/health.js')).addIncidents,
  freeze: async () => (await import('./commands/health.js')).addFreeze,
  serve: async () => (await import('./commands/serve.js')).addServe,
  keys: async () => (await import('./commands/keys.js')).addKeys,
  principals: async () => (await import('./commands/principals.js')).addPrincipals,
  logins: async () => (await import('./commands/logins.js')).addLogins,
  trust: async () => (await import('./commands/trust.js')).addTrust,
  governor: async () => (await import('./commands/governor.js')).addGovernor,
  schedules: async () => (await import('./commands/schedules.js')).addSchedules,
  consumers: async () => (await import('./commands/consumers.js')).addConsumers,
  subscriptions: async () => (await import('./commands/consumers.js')).addSubscriptions,
  events: async () => (await import('./commands/events.js')).addEvents,
  webhooks: async () => (await import('./commands/webhooks.js')).addWebhooks,
  relay: async () => (await import('./commands/relay.js')).addRelay,
  ledger: async () => (await import('./commands/ledger.js')).addLedger,
  alerts: async () => (await import('./commands/alerts.js')).addAlerts,
  settings: async () => (await import('./commands/settings.js')).addSettings,
  deployment: async () => (await import('./commands/deployment.js')).addDeployment,
  doctor: async () => (await import('./commands/doctor.js')).addDoctor,
};

/**
 * Adds the command that the arguments name; all of them where none is named that there is, for the
 * help.
 */
export async function addNamed(args: string[]): Promise<void> {
  const [name = ''] = program.parseOptions(args).operands;
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load) (await load())(program);
  else await addAll();
}

export async function addAll(): Promise<void> {
  for (const add of await Promise.all(Object.values(commands).map((load) => load()))) add(program);
}
