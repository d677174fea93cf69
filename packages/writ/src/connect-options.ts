/** What `Writ.connect` takes. */
import type { AnyConnection } from './database/connection.js';
import type { Outside } from './ledger/ledger.js';
import type { ArtifactStore } from './queue/artifacts.js';
import type { Duration } from './queue/duration.js';
import type { FailOpenEvent } from './runs/appends.js';
import type { AuthorizeSignal } from './runs/runs.js';
import type { SecretsProvider } from './secrets/provider.js';

export interface ConnectOptions {
  /** A PostgreSQL connection string. */
  readonly connectionString?: string | undefined;
  /** For LISTEN, where connectionString leads through a pooler in transaction mode. */
  readonly listenConnectionString?: string | undefined;
  /**
   * Connections for the transactions of handlers; 10 unless given. Gate calls have four of their
   * own.
   */
  readonly max?: number | undefined;
  /** How a connection calls itself in pg_stat_activity; `writ` unless given. */
  readonly applicationName?: string | undefined;
  /** How long a connection may take to be there; unlimited unless given. */
  readonly connectTimeout?: Duration | undefined;
  /**
   * Instead of a connection string: a connection or pool of `pg`, postgres.js, Kysely or Drizzle.
   * Enough to enqueue, not to work.
   */
  readonly db?: AnyConnection | undefined;
  /** Who enqueues, for the record; `app` unless given. */
  readonly actor?: string | undefined;
  /** Whose things calls are about that do not say; `default` unless given. */
  readonly tenant?: string | undefined;
  /**
   * The key of a principal, as whom contracts are proposed, approved and activated unless a call
   * says otherwise.
   */
  readonly key?: string | undefined;
  /**
   * Where this database's checkpoints are kept outside: one that is older than what is known there
   * is refused.
   */
  readonly ledger?: Outside | undefined;
  /** Where handlers put what is too large for a row: `fileArtifacts` or `s3Artifacts`. */
  readonly artifacts?: ArtifactStore | undefined;
  /**
   * How long the database may take with a write of a run before it counts as unanswered: '3s'
   * unless given. A report of a worker is then made again, and `runs.append` is refused with
   * WRITE_BUDGET_EXCEEDED. Not a setting in the database: what is to be known when it is slow
   * cannot be asked of it.
   */
  readonly writeBudget?: Duration | undefined;
  /**
   * A folder of this machine, for a StepStarted of another engine that the database does not take
   * in time: `runs.append` answers when it is there, and it is appended later.
   */
  readonly spool?: string | undefined;
  /**
   * Which events of another engine may wait in the spool: `['StepStarted']` unless given. Events
   * that end a step, and those that move the run, never may.
   */
  readonly failOpen?: readonly FailOpenEvent[] | undefined;
  /** Who may send which signal to which run; everybody who can connect unless given. */
  readonly authorizeSignal?: AuthorizeSignal | undefined;
  /**
   * Where secrets are that plans and handlers name. Of the connection and not of one worker: what
   * is known as a secret is kept out of what it sends, too.
   */
  readonly secrets?: SecretsProvider | undefined;
  /**
   * How long a secret is kept in memory before it is asked for again; '1m' unless given, 0 for not
   * at all.
   */
  readonly secretsCache?: Duration | undefined;
  /**
   * Tells OpenTelemetry what is in the database each time metrics are collected: backlog, lag,
   * alerts. For one process of all, since each would tell the same. Register the SDK before you
   * connect.
   */
  readonly observe?: boolean | undefined;
  /**
   * False connects to a database whose schema another release has made, too: to migrate it, or to
   * let the doctor look at it.
   */
  readonly checkSchema?: boolean | undefined;
}
