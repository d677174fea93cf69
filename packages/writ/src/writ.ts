/** The door to everything: a connection to one database in which Writ is installed, or will be. */
import type { ConnectOptions } from './connect-options.js';
import { budget, defaultBudgetMs } from './database/budget.js';
import { type Queryable, queryable } from './database/connection.js';
import { gate, readRows } from './database/gate.js';
import { assertSchemaFits } from './database/made-by.js';
import {
  type MigrateOptions,
  type MigrationPlan,
  migrate,
  planMigration,
} from './database/migrate.js';
import { openPools, type Pools } from './database/pools.js';
import type { Role } from './database/roles.js';
import { isUuid } from './database/uuid.js';
import { fromDatabase, WritError, WritRefusal } from './errors/index.js';
import type { Contracts } from './governance/contracts.js';
import { Governance, type GovernedWork } from './governance/governance.js';
import {
  type DriveOptions,
  type Governor,
  Governors,
  type GovernorWork,
} from './governor/governors.js';
import type { GovernorName } from './governor/taker.js';
import { turnLedger } from './ledger/clockwork.js';
import { Ledger } from './ledger/ledger.js';
import type { Destinations } from './outbox/destinations.js';
import type { Followed, FollowOptions } from './outbox/follow.js';
import { Outbox } from './outbox/outbox.js';
import type { Relay, RelayOptions } from './outbox/relay.js';
import { Consumers } from './queue/consumers.js';
import { milliseconds } from './queue/duration.js';
import type { CallOptions, Enqueued, InputOf, ManyItem } from './queue/enqueue.js';
import type { EmittedGraph, GraphJob, Workflow } from './queue/graph.js';
import type { HandledJob, JobKind } from './queue/job.js';
import { Producer } from './queue/producer.js';
import { Subscriptions } from './queue/subscriptions.js';
import type { WorkerOptions } from './queue/worker/options.js';
import { Worker } from './queue/worker/worker.js';
import type { Plan } from './runs/plans/plan.js';
import { projectRuns } from './runs/projector.js';
import { startQueuedRuns } from './runs/reconciler.js';
import { type RunHandle, Runs, type StartOptions } from './runs/runs.js';
import { StepSecrets } from './runs/secrets.js';
import { Scheduler } from './schedules/scheduler.js';
import { Schedules } from './schedules/schedules.js';
import { refuseSecrets } from './secrets/redaction.js';
import { Secrets } from './secrets/secrets.js';
import { observe } from './telemetry/observe.js';
import { detached } from './telemetry/sending.js';

/** What Writ knows of a database login. */
export interface Login {
  readonly login: string;
  /** The one principal that it acts for, without a key. */
  readonly principal_id: string | null;
  /** The one tenant that it may touch. */
  readonly tenant_id: string | null;
  readonly roles: readonly Role[];
}

export class Writ {
  /** Jobs that recur by the clock. Every worker fires what is due. */
  readonly schedules: Schedules;
  readonly #pools: Pools | undefined;
  /** Statements are named where the connections are our own. */
  readonly #db: Queryable;
  readonly #options: ConnectOptions;
  readonly #actor: string;
  readonly #producer: Producer;
  readonly #workers = new Set<Worker>();
  /** Plans and their runs: starting, looking, signalling. */
  readonly runs: Runs;
  /** Receipts that an auditor can check without us: signing, proving, exporting, verifying. */
  readonly ledger: Ledger;
  readonly #outbox: Outbox;
  /** Changes that are approved, done, watched, undone and proved. */
  readonly governance: Governance;
  /** State machines that decide about signals, one per tenant and product. */
  readonly governors: Governors;
  /** Which jobs follow from which facts. */
  readonly consumers: Consumers;
  /** What workers may claim, for those that are limited. */
  readonly subscriptions: Subscriptions;
  readonly #secrets: Secrets;
  readonly #writeBudgetMs: number;
  readonly #calls = new Set<Promise<unknown>>();
  #stopObserving: (() => void) | undefined;
  #closed = false;

  private constructor(options: ConnectOptions) {
    this.#options = options;
    this.#actor = options.actor ?? 'app';
    this.#secrets = new Secrets(options.secrets, milliseconds(options.secretsCache ?? '1m'));
    this.#writeBudgetMs = budget(milliseconds(options.writeBudget ?? defaultBudgetMs));
    if (options.connectionString) {
      this.#pools = openPools(options.connectionString, options.max);
      this.#db = this.#pools.prepared;
    } else if (options.db) {
      this.#db = queryable(options.db);
    } else {
      throw new WritError('invalid_argument', 'Writ.connect needs connectionString or db');
    }
    const host = {
      db: this.#db,
      actor: this.#actor,
      register: (job: JobKind<never, unknown>) => this.#producer.register(job),
      calling: <T>(call: () => Promise<T>) => this.#untilDone(call),
      gate: (name: string, params: (string | null)[]) => this.#gate(name, params),
      rows: (view: string) => this.#rows(view),
    };
    const listening = options.listenConnectionString ?? options.connectionString;
    this.#producer = new Producer({ ...host, closed: () => this.#closed });
    this.schedules = new Schedules(host);
    this.runs = new Runs({
      ...host,
      authorize: options.authorizeSignal,
      writeBudgetMs: this.#writeBudgetMs,
      spool: options.spool,
    });
    this.governance = new Governance({
      ...host,
      key: options.key,
      listening,
      secrets: this.#secrets,
    });
    this.governors = new Governors({
      db: this.#db,
      actor: this.#actor,
      key: options.key,
      listening,
    });
    this.ledger = new Ledger(this.#db, this.#actor);
    this.#outbox = new Outbox(this.#db, this.#actor, listening);
    this.consumers = new Consumers(host, this.#actor);
    this.subscriptions = new Subscriptions(host, this.#actor);
  }

  /** Proposing, previewing, approving and activating changes. */
  get contracts(): Contracts {
    return this.governance.contracts;
  }

  /** Places outside that are told of events. */
  get destinations(): Destinations {
    return this.#outbox.destinations;
  }

  /** Connects, and fails at once when the database cannot be reached. */
  static async connect(options: ConnectOptions): Promise<Writ> {
    const writ = new Writ(options);
    try {
      await assertSchemaFits(writ.#db);
      if (options.ledger) await writ.ledger.assertNotOlder(options.ledger);
      if (options.observe) writ.#stopObserving = observe(writ.#db);
      return writ;
    } catch (error) {
      await writ.#endPools();
      throw fromDatabase(error);
    }
  }

  /** Installs or upgrades the schema in this database. */
  async migrate(options: MigrateOptions = {}): Promise<MigrationPlan> {
    if (!this.#pools) throw new WritError('connection_string_required');
    const client = await this.#pools.gates.connect();
    try {
      return await migrate(client, options);
    } catch (error) {
      throw fromDatabase(error);
    } finally {
      client.release();
    }
  }

  /** What `migrate` would do. */
  async migrationPlan(): Promise<MigrationPlan> {
    return planMigration(this.#db);
  }

  /** Enqueues a job. Resolves when it is durable, or, with `db`, when it is part of your transaction. Throws WritRefusal. */
  async enqueue<Sent, Received>(
    job: JobKind<Sent, Received>,
    ...[input, options = {}]: InputOf<Sent>
  ): Promise<Enqueued> {
    const outcome = await this.#producer.enqueue(
      job as unknown as JobKind<never, unknown>,
      input,
      options,
    );
    if (outcome instanceof WritRefusal) throw outcome;
    return outcome;
  }

  /** As `enqueue`, but answers a refusal instead of throwing it. */
  async tryEnqueue<Sent, Received>(
    job: JobKind<Sent, Received>,
    ...[input, options = {}]: InputOf<Sent>
  ): Promise<Enqueued | WritRefusal> {
    try {
      return await this.#producer.enqueue(
        job as unknown as JobKind<never, unknown>,
        input,
        options,
      );
    } catch (error) {
      if (error instanceof WritRefusal) return error;
      throw error;
    }
  }

  /** `close` waits for calls that were made before it. */
  async #untilDone<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new WritError('closed');
    const calling = call();
    this.#calls.add(calling);
    try {
      return await calling;
    } finally {
      this.#calls.delete(calling);
    }
  }

  /** Enqueues many jobs of one kind in one call, all or none: the first refusal is thrown, and then nothing is enqueued. */
  async enqueueMany<Sent, Received>(
    job: JobKind<Sent, Received>,
    items: readonly ManyItem<Sent>[],
    options: CallOptions = {},
  ): Promise<Enqueued[]> {
    const outcomes = await this.#producer.enqueueMany(
      job as unknown as JobKind<never, unknown>,
      items as never,
      options,
      true,
    );
    const refused = outcomes.find((outcome) => outcome instanceof WritRefusal);
    if (refused) throw refused;
    return outcomes as Enqueued[];
  }

  /** As `enqueueMany`, but each job is taken or refused by itself. */
  async tryEnqueueMany<Sent, Received>(
    job: JobKind<Sent, Received>,
    items: readonly ManyItem<Sent>[],
    options: CallOptions = {},
  ): Promise<(Enqueued | WritRefusal)[]> {
    return this.#producer.enqueueMany(
      job as unknown as JobKind<never, unknown>,
      items as never,
      options,
      false,
    );
  }

  /** Emits jobs of one or several kinds that belong together, all or none. With the same `key` or `id` again it answers what is there. */
  async emitGraph<Sents extends readonly unknown[]>(
    workflow: Workflow,
    jobs: readonly [...{ [Place in keyof Sents]: GraphJob<Sents[Place]> }],
    options: CallOptions = {},
  ): Promise<EmittedGraph> {
    return this.#producer.emitGraph(workflow, jobs as readonly GraphJob<unknown>[], options);
  }

  /** Cancels a job: at once when no worker holds it, by request when one does. */
  async cancel(
    jobId: string,
    options: { reason?: string; tenant?: string; actor?: string } = {},
  ): Promise<'cancelled' | 'cancel_requested'> {
    if (!isUuid(jobId)) throw new WritRefusal('job_not_found', jobId);
    refuseSecrets(options.reason, 'the reason');
    const answer = await this.#gate('fn_job_cancel', [
      jobId,
      options.reason ?? null,
      options.actor ?? this.#actor,
      options.tenant ?? null,
    ]);
    return answer.status as 'cancelled' | 'cancel_requested';
  }

  /** Enqueues a dead letter again, as a new job with the same key. `triage` says why it will work now. */
  async replay(
    jobId: string,
    options: { triage: string; tenant?: string; actor?: string },
  ): Promise<{ jobId: string }> {
    if (!isUuid(jobId)) throw new WritRefusal('dead_letter_not_found', jobId);
    refuseSecrets(options.triage, 'the triage');
    const { triage, actor = this.#actor, tenant = null } = options;
    return {
      jobId: String(
        (await this.#gate('fn_job_dead_letter_replay', [jobId, triage, actor, tenant])).job_id,
      ),
    };
  }

  /** A tenant's share beside others that have work: 1 unless set, 0.01 to 100. Twice the weight, twice the jobs. */
  async setWeight(tenant: string, weight: number): Promise<void> {
    await this.#gate('fn_tenant_weight_set', [tenant, String(weight), this.#actor]);
  }

  /** The backlog, what runs and what is dead, of some kinds or of all, and who works. */
  async health(options: { kinds?: readonly string[] } = {}): Promise<Record<string, unknown>> {
    return this.#gate(
      'fn_job_queue_health',
      options.kinds ? [`{${options.kinds.map((kind) => JSON.stringify(kind)).join(',')}}`] : [],
    );
  }

  /** Starts a run of a plan. The same `requestId` again answers the run that is there. */
  start<Input>(
    plan: Plan<Input>,
    ...[input, options]: undefined extends Input
      ? [input?: Input, options?: StartOptions]
      : [input: Input, options?: StartOptions]
  ): Promise<RunHandle> {
    return this.runs.start(plan, input as Input, options);
  }

  /** The governor of a tenant and product; made, if there is none. */
  governor(name: Partial<GovernorName> = {}): Promise<Governor> {
    return this.governors.open(name);
  }

  /** The database login that this connection uses, what it is bound to, and its roles. */
  login(): Promise<Login> {
    return gate<Login>(this.#db, 'fn_login()', []);
  }

  /** Starts a worker. It is stopped by its own `stop`, or by `close`. */
  async work(
    handlers: readonly HandledJob[],
    options: WorkerOptions & GovernedWork & GovernorWork = {},
  ): Promise<Worker> {
    if (!this.#pools || !this.#options.connectionString)
      throw new WritError('connection_string_required');
    const { roles } = await this.login();
    const engine = roles.includes('writ_engine');
    const applier = roles.includes('writ_applier');
    if ((options.governance || options.governor) && !applier && !engine) {
      throw new WritError(
        'role_required',
        'writ_applier to apply changes, or writ_engine to drive them',
      );
    }
    const probes = options.governance ? this.governance.probes(options.probes) : undefined;
    const governed =
      probes && applier && options.governance
        ? this.governance.handlers(probes, options.governance === true ? [] : options.governance)
        : [];
    // Whoever hears of the worker's troubles hears of these, too.
    const governor = options.governor && {
      ...(options.onError && { onError: options.onError }),
      ...(options.governor !== true && options.governor),
    };
    const all = [
      ...handlers,
      ...governed,
      ...(governor && applier ? this.governors.handlers(this.contracts, governor) : []),
    ];
    await Promise.all(all.map((handled) => this.#producer.register(handled.job, 'worker')));
    const driving =
      governor && engine && (await this.governors.drive(this.#pools.transactions, governor));
    const connection = {
      connectionString: this.#options.connectionString,
      application_name: 'writ worker',
    };
    const worker = new Worker(
      {
        transactions: this.#pools.transactions,
        gates: this.#pools.prepared,
        artifacts: this.#options.artifacts,
        writeBudgetMs: this.#writeBudgetMs,
        connection,
        listenConnection: {
          ...connection,
          connectionString: this.#options.listenConnectionString ?? connection.connectionString,
        },
        engine,
        looks: !engine
          ? []
          : [
              (workerId) => new Scheduler(this.#db, workerId).look(),
              (workerId) => startQueuedRuns(this.#db, workerId),
              (workerId) => projectRuns(this.#db, workerId),
              (workerId) => turnLedger(this.#db, workerId),
              ...(governor ? [(workerId: string) => this.governors.look(workerId)] : []),
              ...(probes ? [(workerId: string) => this.governance.look(probes, workerId)] : []),
            ],
        secrets: new StepSecrets(this.#db, this.#secrets),
        onStopping: driving ? () => driving.stop() : undefined,
        onRunsEnded: (runIds) => this.runs.hear(runIds),
      },
      all,
      options,
    );
    this.#workers.add(worker);
    await detached(() => worker.start());
    return worker;
  }

  /** Drives governors in this process, without carrying their actions out: workers with `governor` do both. It is stopped by its own `stop`, or by `close`. */
  drive(options: DriveOptions = {}): Promise<{ stop(): Promise<void> }> {
    if (!this.#pools) throw new WritError('connection_string_required');
    return this.governors.drive(this.#pools.transactions, options);
  }

  /** Starts a relay, which tells destinations what happens. It is stopped by its own `stop`, or by `close`. */
  relay(options: RelayOptions): Promise<Relay> {
    return this.#outbox.relay(options);
  }

  /** What is recorded, as it is recorded: an endless stream of events, each with the position to go on from. */
  events(options: FollowOptions = {}): AsyncGenerator<Followed, void, void> {
    return this.#outbox.events(options);
  }

  #gate(name: string, params: (string | null)[], db = this.#db): Promise<Record<string, unknown>> {
    const casts: Record<string, string> = {
      fn_tenant_weight_set: '$1, $2::text::float8, $3',
      fn_job_queue_health: params.length ? '$1::text::text[]' : '',
      fn_consumer_register: '$1, $2, $3, $4::text::jsonb, $5',
      fn_job_subscription_put: '$1, $2, $3, $4::text::integer, $5',
    };
    const placeholders = casts[name] ?? params.map((_, index) => `$${index + 1}`).join(', ');
    return gate(db, `${name}(${placeholders})`, params);
  }

  /** Everything that a small view shows, as JSON for the same reason. */
  async #rows(view: string): Promise<Record<string, unknown>[]> {
    const [row] = await readRows(
      this.#db,
      `select coalesce(json_agg(v order by v::text), '[]')::text as answer from writ.${view} v`,
    );
    return JSON.parse(String(row?.answer)) as Record<string, unknown>[];
  }

  /** Stops the workers, waits for enqueues on their way, and closes the pool. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopObserving?.();
    await Promise.all([this.#outbox.close(), ...[...this.#workers].map((worker) => worker.stop())]);
    await Promise.allSettled(this.#calls);
    await this.#producer.idle();
    await this.runs.close();
    await Promise.all([this.governance.close(), this.governors.close()]);
    await this.#endPools();
  }

  async #endPools(): Promise<void> {
    await Promise.all([this.#pools?.transactions.end(), this.#pools?.prepared.end()]);
  }
}
