/**
 * What to do about a finding of the doctor on the command line, by its code. Each function takes
 * the facts of its finding, so this file also declares which facts a finding has.
 */

import { registry } from '../registry.js';
import { plain } from '../words.js';
import { alerts } from './alerts.js';
import { remedyOfCause } from './causes.js';
import { remedies } from './codes.js';

/** The limit of connections that is reached first. */
export interface ConnectionLimit {
  /** Whose connections are counted. */
  readonly of: 'server' | 'user' | 'database';
  readonly name: string;
  readonly used: number;
  readonly most: number;
}

/** Something that keeps an old snapshot or transaction. */
export interface Holder {
  readonly kind: 'session' | 'standby' | 'prepared' | 'slot';
  /** The process, the prepared transaction's identifier, or the slot's name. */
  readonly name: string;
  readonly who: string | null;
  readonly application: string | null;
  readonly state: string | null;
  readonly database: string | null;
  /** Seconds since it began; null: not shown to this user, or not known. */
  readonly age_s: number | null;
  /** How many transactions its snapshot is behind; null: it holds none. */
  readonly behind: number | null;
  /** Of a slot: whether a reader is connected to it. */
  readonly active: boolean;
  /** Of a slot: whether it holds back the cleaning of catalogs only. */
  readonly catalogs_only: boolean;
}

/** A login with roles that it should not have or has not got, and the statement that mends it. */
interface LoginRoles {
  readonly login: string;
  readonly roles: readonly string[];
  readonly statement: string;
}

interface Ages {
  readonly age_s: number;
}

const settings: Readonly<Record<string, string>> = {
  autovacuum: 'alter system set autovacuum = on; select pg_reload_conf();',
  track_counts: 'alter system set track_counts = on; select pg_reload_conf();',
  fsync: 'alter system set fsync = on; select pg_reload_conf();',
  full_page_writes: 'alter system set full_page_writes = on; select pg_reload_conf();',
  synchronous_commit:
    'Take the setting back for the roles that use Writ: alter role ROLE reset synchronous_commit;',
  default_transaction_isolation:
    'Take the setting back for the roles that use Writ: alter role ROLE reset default_transaction_isolation;',
  transaction_read_only:
    'Connect to the primary (target_session_attrs=read-write), or reset default_transaction_read_only.',
  statement_timeout:
    "For the roles that workers log in with, at least 30 seconds: alter role ROLE set statement_timeout = '30s';",
  idle_in_transaction_session_timeout:
    "For the roles that applications and workers log in with: alter role ROLE set idle_in_transaction_session_timeout = '5min';",
};

const logSays = 'If one runs, its log says why it cannot.';
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const quoted = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;

const endSession = ({ name, who }: Holder): string =>
  `End it where it was begun, or, as ${who ?? 'its user'} or with the role pg_signal_backend: select pg_terminate_backend(${name});`;

const endHolder: Readonly<Record<Holder['kind'], (holder: Holder) => string>> = {
  session: endSession,
  standby: () =>
    'Look for the long query on the standby and end it there, or turn hot_standby_feedback off there.',
  prepared: ({ name, who, database }) =>
    `Ask its transaction manager first. Then, as ${who} in database ${database}: rollback prepared ${literal(name)}; or commit prepared ${literal(name)};`,
  slot: ({ name, active }) =>
    active
      ? 'Whoever reads it is slow, or a standby with hot_standby_feedback runs a long query: look there.'
      : `Connect its reader again or, if it is not coming back: select pg_drop_replication_slot(${literal(name)});`,
};

/** The remedy of an error, by its code. */
function ofError({ error }: { readonly error: string }): string {
  if (!Object.hasOwn(registry, error)) return 'Run it again with --debug to see where it happened.';
  const code = error as keyof typeof registry;
  return remedies[code] ?? registry[code].remedy;
}

export const findings = {
  check_failed: ofError,

  // The server.
  postgresql_too_old: (_: { version: string }) => 'Upgrade the server.',
  connections_scarce: ({ of, name }: ConnectionLimit) => {
    const raise = {
      server: 'raise max_connections',
      user: `let an administrator raise the limit: alter role "${name}" connection limit N;`,
      database: `let an administrator raise the limit: alter database "${name}" connection limit N;`,
    }[of];
    return `Lower the pool sizes (\`max\`), put a pooler in between, or ${raise}`;
  },
  clock_differs: (_: { difference_ms: number; uncertainty_ms: number }) =>
    'Synchronise both machines (NTP).',
  gate_clock_replaced: (_: { difference_ms: number }) =>
    'As the owner: create or replace function writ.now() returns timestamptz language sql volatile as $$select pg_catalog.clock_timestamp()$$;',
  listen_unheard: (_: { elsewhere: boolean }) =>
    'Give listenConnectionString, or `writ worker --listen-url`, an address that leads straight to the primary of this database.',
  listen_impossible: (_: { product: string | null }) =>
    'For quicker starts give workers a direct address to listen on: listenConnectionString, or `writ worker --listen-url`; `writ doctor --listen-url` tries it.',
  server_setting: ({ name }: { name: string; value: string }) =>
    settings[name] ?? `See what PostgreSQL's manual says about ${name}.`,
  ages_hidden: ({ user }: { user: string }) =>
    `Let an administrator run: grant pg_monitor to ${quoted(user)};`,
  snapshot_old: (holder: Holder) => endHolder[holder.kind](holder),
  transaction_old: endSession,
  snapshots_more: (_: { more: number }) => 'End these first, then look again.',
  parameters_logged: ({ of, setting, value }: { of: string; setting: string; value: string }) =>
    of === ''
      ? `alter system set ${setting} = ${value}; select pg_reload_conf();`
      : `alter ${of} set ${setting} = ${value};`,

  // The installation.
  schema_unfit: ofError,
  schema_behind: (_: { from: number; to: number }) =>
    'Run `writ migrate`; `writ migrate --plan` shows what it would do.',
  objects_differ: (_: { objects: readonly string[] }) => 'Run `writ migrate`.',
  roles_missing: ({ statement }: { roles: readonly string[]; statement: string }) =>
    `Let an administrator run: ${statement} Then \`writ migrate\`.`,
  owner_differs: ({ owner }: { owner: string; owners: readonly string[]; objects: number }) =>
    `Let an administrator create ${owner}, grant it to the installer, and reassign the objects.`,
  autovacuum_off: ({ table }: { table: string }) =>
    `alter table ${table} reset (autovacuum_enabled);`,
  dead_rows: ({ table, held }: { table: string; dead: number; live: number; held: boolean }) =>
    held
      ? 'See the check “snapshots”; when what it names has ended, the next vacuum removes them.'
      : `vacuum (verbose) ${table}; as the owner says what keeps it. Look at the server’s log for autovacuum that was cancelled, and raise autovacuum_max_workers or autovacuum_vacuum_cost_limit if it does not keep up.`,
  partitions_short: (_: { table: string; days: number }) =>
    `Start a worker, whose clockwork makes them. ${logSays}`,
  spool_damaged: (_: { folder: string; files: readonly string[] }) =>
    'Read it, append by hand what is right, and remove it. See to the disk.',
  spool_refused: (_: { folder: string; events: number }) =>
    'refused.jsonl has them, with the reasons. Read it, and remove it.',
  spool_waiting: (_: { folder: string; events: number }) =>
    'Start something that connects with this folder as its spool: it appends them by itself.',

  // Logins.
  login_gone: ({ login }: { login: string }) => `writ logins remove ${login}`,
  worker_privileged: (_: { login: string }) =>
    'Give the worker its own login: writ logins add NAME --role dot_executor',
  agent_login_broad: ({ agent }: { agent: string; login: string }) =>
    `Give the agent a login that can only propose: writ logins add ${agent} --principal ${agent}`,
  login_unregistered: ({ login, roles, statement }: LoginRoles) =>
    `If you need this login, register it: writ logins add ${login} ${roles.map((role) => `--role ${role}`).join(' ')}. Otherwise take its roles away: ${statement}`,
  login_privileged: ({ statement }: { login: string; statement: string }) => statement,
  login_roles_unneeded: ({ statement }: LoginRoles) => statement,
  login_roles_inherited: ({ login }: { login: string; roles: readonly string[] }) =>
    `Find that role with \`\\du ${login}\`, and revoke it from "${login.replaceAll('"', '""')}".`,
  login_roles_missing: ({ statement }: LoginRoles) => statement,

  // The queue.
  queue_switched_off: ({ setting }: { setting: string }) =>
    `If that is not wanted: \`writ settings set ${setting} true\`.`,
  workers_none: (_: { backlog: number }) => 'Start one: `writ worker FILE`.',
  kinds_unserved: (_: { kinds: readonly string[] }) =>
    'Start a worker with these handlers; if the name of the kind was mistyped, cancel the jobs.',
  workers_silent: (_: { workers: readonly string[] }) => 'See why they stopped.',
  dead_letters: (_: { jobs: number }) =>
    '`writ queue list --status dead_letter` shows them; `writ queue requeue` enqueues them again.',
  backlog_old: (_: Ages & { jobs: number }) =>
    'Start more workers, or raise --concurrency; `writ queue watch` shows whether it shrinks.',
  leases_expired: (_: Ages & { leases: number; jobs: number }) =>
    'Start a worker, and see that queue.lease.reaper_enabled is true.',

  // Alerts and runs.
  alert: ({ alert_id, code, subject }: { alert_id: string; code: string; subject: string }) =>
    alerts[code]?.remedy(
      subject.replace(/^(run|destination|contract|governance_job)\//, ''),
      alert_id,
    ) ?? `See to it, then \`writ alerts clear ${alert_id} --reason TEXT\`.`,
  alerts_more: (_: { more: number }) => '`writ alerts list`',
  snapshots_behind_gap: ({ run_id }: { run_id: string; missing_seq: number; snapshots: number }) =>
    `\`writ runs verify ${run_id}\` shows it; bring the event back from a backup, and the projector goes on by itself.`,

  // Governance.
  rollback_failed: ({ job_id, incident_id }: Ages & { job_id: string; incident_id: string }) =>
    `\`writ changes show ${job_id}\` says why. Put it right, then \`writ changes retry-rollback ${job_id}\`, or \`writ incidents resolve ${incident_id} --resolution TEXT\`.`,
  audit_inconclusive: ({ job_id }: Ages & { job_id: string }) =>
    `\`writ changes show ${job_id}\` says why; then \`writ changes resolve ${job_id} PASS --reason TEXT\`, or FAIL.`,
  incident_open: ({ incident_id }: Ages & { incident_id: string; severity: string }) =>
    `See to it, then \`writ incidents resolve ${incident_id} --resolution TEXT\`.`,
  incidents_more: (_: { more: number }) => '`writ incidents list`',
  probes_unasked: (_: { probes: number; name: string | null; capability: string | null }) =>
    'Start a worker that executes changes: `writ worker`, or `governance: true` in your own.',
  trust_in_database: (_: Ages & { login: string }) =>
    '`writ trust init` makes a trust file; start these workers with its path in WRIT_TRUST (docs/trust.md).',

  // Governors.
  governor_held: ({
    governor,
    tenant,
    why,
  }: Ages & {
    governor: string;
    tenant: string;
    state: string;
    why: readonly { readonly cause: string }[];
  }) =>
    why.map(({ cause }) => remedyOfCause(cause, tenant, governor)).join(' ') ||
    `\`writ governor show ${governor}\` says more.`,
  governors_more: (_: { more: number }) => '`writ governor list`',
  governors_undriven: (_: { governors: number; governor: string; late_s: number }) =>
    `Start a worker that drives governors: \`writ worker\`, or \`governor: true\` in your own. ${logSays}`,
  governor_months_missing: (_: { now: readonly string[]; next: readonly string[] }) =>
    `Start a worker that drives governors, whose clockwork makes them: \`writ worker\`. ${logSays}`,

  // Destinations.
  destination_dead_letters: ({ name }: { name: string; dead: number }) =>
    `\`writ events dead-letters ${name}\` says why; then \`writ events redeliver ${name} --all-dead\`.`,
  destination_paused: ({ name }: { name: string }) =>
    `See to its receiver, then \`writ webhooks resume ${name}\`.`,
  destination_failing: ({ name }: { name: string; failures: number }) =>
    `See to its receiver; \`writ webhooks show ${name}\` and the log of the relay say why. It goes on by itself.`,
  destination_slow: ({ name }: { name: string; behind_s: number | null }) =>
    `See how long its receiver takes: \`writ webhooks deliveries ${name}\`.`,
  destination_unattended: ({ bus }: { name: string; bus: string; behind_s: number | null }) =>
    bus === 'webhook'
      ? 'Start `writ relay`, or see in its log why it cannot.'
      : `Start \`writ relay --${bus}\`, or see in its log why it cannot.`,

  // The ledger.
  receipts_unsequenced: (_: { waiting: number; waiting_s: number }) =>
    'Start a worker; if one runs, its log says why it cannot. `writ ledger checkpoint` sequences too.',
  sealing_off: (_: object) =>
    'If that is not wanted: `writ settings set ledger.sealing.enabled true`.',
  record_unsealed: ({ held }: { unsealed: number; unsealed_s: number; held: boolean }) =>
    held
      ? 'End that transaction where it was begun; sealing then goes on by itself.'
      : 'Start a worker; if one runs, its log says why it cannot.',
  receipt_months_short: (_: { months_until: string }) =>
    `Start a worker, whose clockwork makes them. ${logSays}`,
  checkpoint_none: (_: object) =>
    'If you want that: `writ ledger keygen`, then `writ ledger checkpoint --every 60s` (docs/ledger.md).',
  checkpoint_old: (_: { signed_s: number }) =>
    'See whether `writ ledger checkpoint --every 60s` runs, and what it says.',
  places_unconfigured: (_: object) =>
    'Set WRIT_LEDGER_PLACES and WRIT_LEDGER_PUBLIC_KEYS, here and for workers.',
  place_unreadable: ofError,
  ledger_short_of_place: ofError,
  place_behind: (_: { place: string; known: number; signed: number }) =>
    'See what `writ ledger checkpoint` says of this place.',
} satisfies Readonly<Record<string, (facts: never) => string>>;

export type FindingCode = keyof typeof findings;

/** The facts of a finding. */
export type FactsOf<Code extends FindingCode> = Readonly<Parameters<(typeof findings)[Code]>[0]>;

/** What to do about a finding; undefined where all is well. */
export function remedyFor(finding: {
  readonly code: FindingCode | 'ok';
  readonly facts: object;
}): string | undefined {
  if (finding.code === 'ok') return undefined;
  const advise = findings[finding.code] as (facts: object) => string;
  return plain(advise(finding.facts));
}
