/** The door to everything: a connection to one database in which Writ is installed, or will be. */
import type { ConnectOptions } from './connect-options.js';
import { budget, defaultBudgetMs } from './database/budget.js';
import { databaseTime } from './database/clock.js';
import { type Queryable, queryable } from './database/connection.js';
import { gate, readRows } from './database/gate.js';
import { lazily } from './database/lazily.js';
import { assertSchemaFits } from './database/made-by.js';
import {
  type MigrateOptions,
  type MigrationPlan,
  migrate,
  planMigration,
} from './database/migrate.js';
import { inTransaction, openPools, type Pools } from './database/pools.js';
import type { Role } from './database/roles.js';
import { isUuid } from './database/uuid.js';
import { Doctor } from './doctor/doctor.js';
import { fromDatabase, WritError, WritRefusal } from './errors/index.js';
import type { Actor } from './governance/actor.js';
import { ApiKeys } from './governance/api-keys.js';
import type { Audits } from './governance/audits.js';
import type { Capabilities } from './governance/capabilities.js';
import type { Changes } from './governance/changes.js';
import type { Configuration } from './governance/configuration.js';
import type { Contracts } from './governance/contracts.js';
import type { Deployment } from './governance/deployment.js';
import { Flags, type FollowFlagsOptions } from './governance/flags.js';
import type { Freezes } from './governance/freezes.js';
import type { Governance, GovernedWork } from './governance/governance.js';
import type { Health } from './governance/health.js';
import type { Incidents } from './governance/incidents.js';
import type { Logins } from './governance/logins.js';
import type { GovernancePolicy } from './governance/policy.js';
import type { Principals } from './governance/principals.js';
import type { Probes } from './governance/probes.js';
import type { GovernanceSignals } from './governance/signals.js';
import type { AnyStepType } from './governance/steps.js';
import type { Trust } from './governance/trust/comparison.js';
import { trustOf } from './governance/trust/source.js';
import type {
  DriveOptions,
  GovernorHandle,
  Governors,
  GovernorWork,
} from './governor/governors.js';
import type { GovernorName } from './governor/intake.js';
import { Alerts } from './ground/alerts.js';
import { Settings } from './ground/settings.js';
import { turnLedger } from './ledger/clockwork.js';
import type { Ledger } from './ledger/ledger.js';
import type { Destinations } from './outbox/destinations.js';
import type { EventsRead, Followed, FollowOptions, ReadEventsOptions } from './outbox/follow.js';
import { Outbox } from './outbox/outbox.js';
import type { Relay, RelayOptions } from './outbox/relay.js';
import { Consumers } from './queue/consumers.js';
import { milliseconds } from './queue/duration.js';
import type { CallOptions, Enqueued, EnqueueOptions, InputOf, ManyItem } from './queue/enqueue.js';
import type { EmittedGraph, GraphJob, Workflow } from './queue/graph.js';
import type { HandledJob, JobKind } from './queue/job.js';
import { Jobs } from './queue/jobs.js';
import { Kinds } from './queue/kinds.js';
import { Producer } from './queue/producer.js';
import { Subscriptions } from './queue/subscriptions.js';
import { guarded, printError } from './queue/worker/listeners.js';
import type { WorkerOptions } from './queue/worker/options.js';
import { Worker } from './queue/worker/worker.js';
import { Workers } from './queue/workers.js';
import type { Plan } from './runs/plans/plan.js';
import { Plans } from './runs/plans/registry.js';
import { projectRuns } from './runs/projector.js';
import { startQueuedRuns } from './runs/reconciler.js';
import { type RunHandle, Runs, type StartOptions } from './runs/runs.js';
import { StepSecrets } from './runs/secrets.js';
import { Scheduler } from './schedules/scheduler.js';
import { Schedules } from './schedules/schedules.js';
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

/** On whose behalf the calls of a bound connection are made. */
export interface Caller {
  /**
   * Who acts: the key of a principal or, where a login with writ_server has authenticated it, its
   * name.
   */
  readonly as?: Actor | undefined;
  /** Whose things the calls are about, unless one says otherwise. */
  readonly tenant?: string | undefined;
  /** For the record; the connection's own unless given. */
  readonly actor?: string | undefined;
  /** The key under which the one call that changes something is made once (`Acting`). */
  readonly once?: string | undefined;
  /** Aborts whatever waits. */
  readonly signal?: AbortSignal | undefined;
  /** The request that the calls are made for; stands in the record beside what they did. */
  readonly requestId?: string | undefined;
  /** Acting calls touch no other tenant, whatever the principal may. */
  readonly onlyTenant?: boolean | undefined;
}

/** The namespaces that a connection has of governance. */
type GovernanceName = Exclude<keyof Governance, 'handlers' | 'prober' | 'look' | 'close'>;

/** What a bound connection shares with the one that it was made of. */
interface Shared {
  readonly pools: Pools | undefined;
  readonly db: Queryable;
  readonly secrets: Secrets;
  readonly producer: Producer;
  readonly caller: Pick<Caller, 'once' | 'signal' | 'requestId'> & {
    readonly only?: string | undefined;
  };
  readonly stepTypes: Map<string, AnyStepType>;
}

export class Writ {
  readonly #pools: Pools | undefined;
  /** Statements are named where the connections are our own. */
  readonly #db: Queryable;
  readonly #options: ConnectOptions & { readonly key?: Actor | undefined };
  readonly #actor: string;
  readonly #producer: Producer;
  readonly #stepTypes: Map<string, AnyStepType>;
  readonly #workers = new Set<Worker>();
  readonly #secrets: Secrets;
  readonly #writeBudgetMs: number;
  readonly #calls = new Set<Promise<unknown>>();
  /** A connection that `with` has made: another one owns the pools and the workers. */
  readonly #bound: boolean;
  readonly #caller: Shared['caller'];
  #stopObserving: (() => void) | undefined;
  #closed = false;

  // Each layer is made when it is first used: a queue user pays for a queue, a request for its
  // call.
  #schedules: Schedules | undefined;
  #runs: Runs | undefined;
  #plans: Plans | undefined;
  #ledger: Ledger | undefined;
  #outbox: Outbox | undefined;
  #governed: Promise<Governance> | undefined;
  readonly #governedNames = new Map<keyof Governance, object>();
  readonly #flags = new Set<Flags>();
  #governors: Governors | undefined;
  #governorsLoading: Promise<Governors> | undefined;
  #consumers: Consumers | undefined;
  #subscriptions: Subscriptions | undefined;
  #apiKeys: ApiKeys | undefined;
  #jobs: Jobs | undefined;
  #kinds: Kinds | undefined;
  #queueWorkers: Workers | undefined;
  #alerts: Alerts | undefined;
  #settings: Settings | undefined;
  #doctor: Doctor | undefined;

  private constructor(
    options: ConnectOptions & { readonly key?: Actor | undefined },
    shared?: Shared,
  ) {
    this.#options = options;
    this.#actor = options.actor ?? 'app';
    this.#bound = shared !== undefined;
    this.#caller = shared?.caller ?? {};
    this.#stepTypes = shared?.stepTypes ?? new Map();
    this.#writeBudgetMs = budget(milliseconds(options.writeBudget ?? defaultBudgetMs));
    if (shared) {
      this.#pools = shared.pools;
      this.#db = shared.db;
      this.#secrets = shared.secrets;
      this.#producer = shared.producer;
      return;
    }
    this.#secrets = new Secrets(options.secrets, milliseconds(options.secretsCache ?? '1m'));
    if (options.connectionString) {
      this.#pools = openPools({
        connectionString: options.connectionString,
        max: options.max,
        applicationName: options.applicationName,
        ...(options.connectTimeout && { connectTimeoutMs: milliseconds(options.connectTimeout) }),
      });
      this.#db = this.#pools.prepared;
    } else if (options.db) {
      this.#db = queryable(options.db);
    } else {
      throw new WritError('invalid_argument', 'Writ.connect needs connectionString or db');
    }
    this.#producer = new Producer({ ...this.#host, closed: () => this.#closed });
  }

  get #host() {
    return {
      db: this.#db,
      actor: this.#actor,
      tenant: this.#options.tenant,
      ...this.#caller,
      register: async (job: JobKind<never, unknown>) => void (await this.#producer.register(job)),
      calling: <T>(call: () => Promise<T>) => this.#untilDone(call),
    };
  }

  get #listening(): string | undefined {
    return this.#options.listenConnectionString ?? this.#options.connectionString;
  }

  /** Jobs of the queue: finding them, waiting for them, cancelling and requeueing them. */
  get jobs(): Jobs {
    this.#jobs ??= new Jobs(this.#host);
    return this.#jobs;
  }

  /** Kinds of jobs with their work; pausing and resuming them. */
  get kinds(): Kinds {
    this.#kinds ??= new Kinds(this.#host);
    return this.#kinds;
  }

  /** Workers as the database hears them, and tenants' shares of them. */
  get workers(): Workers {
    this.#queueWorkers ??= new Workers(this.#host);
    return this.#queueWorkers;
  }

  /** Conditions that want a person. */
  get alerts(): Alerts {
    this.#alerts ??= new Alerts(this.#host);
    return this.#alerts;
  }

  /** Values in the database that hold for all processes and tenants. */
  get settings(): Settings {
    this.#settings ??= new Settings(this.#host);
    return this.#settings;
  }

  /** Looks at the database, and at everything of Writ in it. */
  get doctor(): Doctor {
    this.#doctor ??= new Doctor({
      db: this.#db,
      pool: this.#pools?.gates,
      connectionString: this.#options.connectionString,
      listenConnectionString: this.#options.listenConnectionString,
    });
    return this.#doctor;
  }

  /** Jobs that recur by the clock. Every worker fires what is due. */
  get schedules(): Schedules {
    this.#schedules ??= new Schedules(this.#host);
    return this.#schedules;
  }

  /** Runs of plans: starting, looking, signalling. */
  get runs(): Runs {
    this.#runs ??= new Runs(
      {
        ...this.#host,
        authorize: this.#options.authorizeSignal,
        writeBudgetMs: this.#writeBudgetMs,
        spool: this.#options.spool,
        failOpen: this.#options.failOpen,
      },
      this.plans,
    );
    return this.#runs;
  }

  /** Versions of plans that the database knows. */
  get plans(): Plans {
    this.#plans ??= new Plans(this.#host);
    return this.#plans;
  }

  /** Receipts that an auditor can check without us: signing, proving, exporting, verifying. */
  get ledger(): Ledger {
    let loading: Promise<Ledger> | undefined;
    const load = () => {
      loading ??= import('./ledger/ledger.js').then(({ Ledger }) => new Ledger(this.#host));
      return loading;
    };
    this.#ledger ??= lazily(load, {
      reader: (...options: Parameters<Ledger['reader']>) =>
        lazily(async () => (await load()).reader(...options)),
    });
    return this.#ledger;
  }

  get #events(): Outbox {
    this.#outbox ??= new Outbox(this.#host, this.#listening);
    return this.#outbox;
  }

  #governance(): Promise<Governance> {
    this.#governed ??= (async () => {
      const { Governance } = await import('./governance/governance.js');
      return new Governance({
        ...this.#host,
        key: this.#options.key,
        types: this.#stepTypes,
        transact: async (use) => {
          if (!this.#pools) throw new WritError('connection_string_required');
          return inTransaction(this.#pools.transactions, use);
        },
      });
    })();
    return this.#governed;
  }

  /** One of the namespaces of governance. */
  #governedBy<Name extends GovernanceName>(
    name: Name,
    members?: Partial<Record<keyof Governance[Name], unknown>>,
  ): Governance[Name] {
    const known = this.#governedNames.get(name);
    if (known) return known as Governance[Name];
    const made = lazily(async () => (await this.#governance())[name], members);
    this.#governedNames.set(name, made);
    return made;
  }

  /** State machines that decide about signals, one per tenant and product. */
  get governors(): Governors {
    const load = () => this.#loadGovernors();
    this.#governors ??= lazily(load, {
      policies: lazily(async () => (await load()).policies),
      entitlements: lazily(async () => (await load()).entitlements),
      intake: () => lazily(async () => (await load()).intake()),
      follow: async function* (...options: Parameters<Governors['follow']>) {
        yield* (await load()).follow(...options);
      },
    });
    return this.#governors;
  }

  #loadGovernors(): Promise<Governors> {
    this.#governorsLoading ??= (async () => {
      const { Governors } = await import('./governor/governors.js');
      return new Governors({ ...this.#host, key: this.#options.key, listening: this.#listening });
    })();
    return this.#governorsLoading;
  }

  /** Which jobs follow from which facts. */
  get consumers(): Consumers {
    this.#consumers ??= new Consumers(this.#host);
    return this.#consumers;
  }

  /** Keys by which the API server knows principals. */
  get apiKeys(): ApiKeys {
    this.#apiKeys ??= new ApiKeys({ ...this.#host, key: this.#options.key });
    return this.#apiKeys;
  }

  /** What workers may claim, for those that are limited. */
  get subscriptions(): Subscriptions {
    this.#subscriptions ??= new Subscriptions(this.#host);
    return this.#subscriptions;
  }

  /** Proposing, previewing, approving and activating changes. */
  get contracts(): Contracts {
    return this.#governedBy('contracts', {
      use: (...types: readonly AnyStepType[]) => {
        for (const type of types) this.#stepTypes.set(type.type, type);
      },
      handle: (id: string) =>
        lazily(async () => (await this.#governance()).contracts.handle(id), { id }),
    });
  }

  /** Governance jobs: approved changes while they are done or undone, and after. */
  get changes(): Changes {
    const load = async () => (await this.#governance()).changes;
    return this.#governedBy('changes', {
      handle: (id: string) => {
        if (!isUuid(id)) throw new WritRefusal('job_not_found', id);
        return lazily(async () => (await load()).handle(id), { id });
      },
      follow: async function* (...options: Parameters<Changes['follow']>) {
        yield* (await load()).follow(...options);
      },
    });
  }

  /** Whether changes were done as approved. */
  get audits(): Audits {
    return this.#governedBy('audits');
  }

  /** What contracts switch, and making it known. */
  get capabilities(): Capabilities {
    return this.#governedBy('capabilities');
  }

  /** Values that contracts change. */
  get configuration(): Configuration {
    return this.#governedBy('configuration');
  }

  /** How capabilities, domains and a whole tenant are, and why. */
  get health(): Health {
    return this.#governedBy('health');
  }

  /** How the health of capabilities is found out. */
  get probes(): Probes {
    return this.#governedBy('probes');
  }

  /** Times in which nothing is activated. */
  get freezes(): Freezes {
    return this.#governedBy('freezes');
  }

  /** What is wrong: opened, and resolved by a person. */
  get incidents(): Incidents {
    return this.#governedBy('incidents');
  }

  /** What is said about the health of capabilities. */
  get signals(): GovernanceSignals {
    return this.#governedBy('signals');
  }

  /** How many approve what, and how long things may take. */
  get policy(): GovernancePolicy {
    return this.#governedBy('policy');
  }

  /** Who may act, and what each may do. */
  get principals(): Principals {
    return this.#governedBy('principals');
  }

  /** The database logins that use Writ. */
  get logins(): Logins {
    return this.#governedBy('logins');
  }

  /** Which deployment this database is. */
  get deployment(): Deployment {
    return this.#governedBy('deployment');
  }

  /** A trust file beside what the database knows. */
  get trust(): Trust {
    return this.#governedBy('trust');
  }

  /**
   * Capabilities and values in memory, followed as they change. Begun with its `start`, ended with
   * its `stop` or with this connection.
   */
  flags(options: FollowFlagsOptions = {}): Flags {
    const listening = this.#listening;
    const flags = new Flags(
      {
        db: this.#db,
        listenConnection:
          listening === undefined
            ? undefined
            : { connectionString: listening, application_name: 'writ flags' },
      },
      options,
    );
    this.#flags.add(flags);
    return flags;
  }

  /** Places outside that are told of events. */
  get destinations(): Destinations {
    return this.#events.destinations;
  }

  /**
   * The same connection on behalf of a caller. It is not closed by itself, and starts no workers.
   */
  with({ as, tenant, actor, once, signal, requestId, onlyTenant }: Caller): Writ {
    return new Writ(
      {
        ...this.#options,
        ...(as !== undefined && { key: as }),
        ...(tenant !== undefined && { tenant }),
        ...(actor !== undefined && { actor }),
      } as ConnectOptions,
      {
        pools: this.#pools,
        db: this.#db,
        secrets: this.#secrets,
        producer: this.#producer,
        caller: {
          ...this.#caller,
          ...(once !== undefined && { once }),
          ...(signal !== undefined && { signal }),
          ...(requestId !== undefined && { requestId }),
          ...(onlyTenant && { only: tenant ?? this.#options.tenant ?? 'default' }),
        },
        stepTypes: this.#stepTypes,
      },
    );
  }

  /** Connects, and fails at once when the database cannot be reached. */
  static async connect(options: ConnectOptions): Promise<Writ> {
    const writ = new Writ(options);
    try {
      if (options.failOpen || options.spool) void writ.runs; // refuses wrong options at once
      if (options.checkSchema ?? true) await assertSchemaFits(writ.#db);
      else await readRows(writ.#db, 'select 1');
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

  /**
   * Enqueues a job. Resolves when it is durable, or, with `db`, when it is part of your
   * transaction. Throws WritRefusal.
   */
  async enqueue<Sent, Received>(
    job: JobKind<Sent, Received>,
    ...[input, options = {}]: InputOf<Sent>
  ): Promise<Enqueued> {
    const outcome = await this.#producer.enqueue(
      job as unknown as JobKind<never, unknown>,
      input,
      this.#own(options),
      this.#actor,
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
        this.#own(options),
        this.#actor,
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

  /**
   * Enqueues many jobs of one kind in one call, all or none: the first refusal is thrown, and then
   * nothing is enqueued.
   */
  async enqueueMany<Sent, Received>(
    job: JobKind<Sent, Received>,
    items: readonly ManyItem<Sent>[],
    options: CallOptions = {},
  ): Promise<Enqueued[]> {
    const outcomes = await this.#producer.enqueueMany(
      job as unknown as JobKind<never, unknown>,
      this.#ownItems(items, options) as never,
      options,
      true,
      this.#actor,
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
      this.#ownItems(items, options) as never,
      options,
      false,
      this.#actor,
    );
  }

  /**
   * Emits jobs of one or several kinds that belong together, all or none. With the same `key` or
   * `id` again it answers what is there.
   */
  async emitGraph<Sents extends readonly unknown[]>(
    workflow: Workflow,
    jobs: readonly [...{ [Place in keyof Sents]: GraphJob<Sents[Place]> }],
    options: CallOptions = {},
  ): Promise<EmittedGraph> {
    const { tenant } = this.#options;
    const key = workflow.key ?? options.once ?? this.#caller.once;
    return this.#producer.emitGraph(
      {
        ...(tenant !== undefined && { tenant }),
        ...workflow,
        ...(key !== undefined && workflow.id === undefined && { key }),
      },
      jobs as readonly GraphJob<unknown>[],
      options,
      this.#actor,
    );
  }

  /** The options of an enqueue, with what this connection is bound to. */
  #own<Options extends EnqueueOptions>(options: Options): Options {
    const { tenant } = this.#options;
    const { once } = this.#caller;
    if (tenant === undefined && once === undefined) return options;
    return {
      ...options,
      ...(options.tenant === undefined && tenant !== undefined && { tenant }),
      ...(options.once === undefined && once !== undefined && { once }),
    };
  }

  /** Each item of one call with a key of its own, made of the call's. */
  #ownItems<Sent>(items: readonly ManyItem<Sent>[], options: CallOptions): ManyItem<Sent>[] {
    const { once = this.#caller.once } = options;
    return items.map((item, n) => {
      const own = this.#own(item);
      return once === undefined || item.once !== undefined ? own : { ...own, once: `${once}/${n}` };
    });
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
  governor(name: Partial<GovernorName> = {}): Promise<GovernorHandle> {
    return this.governors.open(name);
  }

  /** The time of the database. */
  now(): Promise<Date> {
    return databaseTime(this.#db);
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
    if (!this.#pools || !this.#options.connectionString || this.#bound)
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
    const { governance } = options;
    const verifies = governance === 'verify';
    const turns = engine && !verifies; // the clockwork
    const governing = governance ? await this.#governance() : undefined;
    const asking = await governing?.prober(options.probes);
    const probes = verifies ? undefined : asking;
    const trust = trustOf(options.trust);
    const governed =
      governing && governance && asking && applier
        ? await governing.handlers(asking, governance, trust)
        : [];
    if (asking && applier && !trust)
      guarded(options.onError ?? printError)(new WritError('trust_missing'));
    // Whoever hears of the worker's troubles hears of these, too.
    const governor = options.governor && {
      ...(options.onError && { onError: options.onError }),
      ...(options.governor !== true && options.governor),
    };
    const governors = governor ? await this.#loadGovernors() : undefined;
    const all = [
      ...handlers,
      ...governed,
      ...(governors && governor && applier ? governors.handlers(this.contracts, governor) : []),
    ];
    const kinds = all.map(({ job }) => job.kind);
    const twice = kinds.find((kind, n) => kinds.indexOf(kind) !== n);
    if (twice !== undefined) throw new WritError('kind_handled_twice', twice);
    for (const { kind, conflict } of await Promise.all(
      all.map((handled) => this.#define(handled)),
    )) {
      if (conflict)
        guarded(options.onError ?? printError)(
          new WritError('kind_conflict', `${kind}, last defined by ${conflict}`),
        );
    }
    const driving =
      governors && engine ? await governors.drive(this.#pools.transactions, governor) : undefined;
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
        engine: turns,
        looks: !turns
          ? []
          : [
              (workerId) => new Scheduler(this.#db, workerId).look(),
              (workerId) => startQueuedRuns(this.#db, workerId),
              (workerId) => projectRuns(this.#db, workerId),
              (workerId) => turnLedger(this.#db, workerId),
              ...(governors ? [(workerId: string) => governors.look(workerId)] : []),
              ...(governing && probes
                ? [(workerId: string) => governing.look(probes, workerId)]
                : []),
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

  async #define({ job }: HandledJob): Promise<{ kind: string; conflict?: string }> {
    return { kind: job.kind, ...(await this.#producer.register(job, 'worker')) };
  }

  /**
   * Drives governors in this process, without carrying their actions out: workers with `governor`
   * do both. It is stopped by its own `stop`, or by `close`.
   */
  drive(options: DriveOptions = {}): Promise<{ stop(): Promise<void> }> {
    if (!this.#pools) throw new WritError('connection_string_required');
    return this.governors.drive(this.#pools.transactions, options);
  }

  /**
   * Starts a relay, which tells destinations what happens. It is stopped by its own `stop`, or by
   * `close`.
   */
  relay(options: RelayOptions): Promise<Relay> {
    return this.#events.relay(options);
  }

  /**
   * What is recorded, as it is recorded: an endless stream of events, each with the position to go
   * on from.
   */
  events(options: FollowOptions = {}): AsyncGenerator<Followed, void, void> {
    return this.#events.events(options);
  }

  /**
   * The next recorded events after a position that the caller keeps, in the order of the record. A
   * transaction that commits late is delayed, and never skipped.
   */
  readEvents(options: ReadEventsOptions): Promise<EventsRead> {
    return this.#events.read(options);
  }

  /** Stops the workers, waits for enqueues on their way, and closes the pool. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopObserving?.();
    await Promise.all([
      this.#outbox?.close(),
      ...[...this.#workers].map((worker) => worker.stop()),
    ]);
    await Promise.allSettled(this.#calls);
    if (!this.#bound) await this.#producer.idle();
    this.#jobs?.close();
    await this.#runs?.close();
    await Promise.all([
      ...[...this.#flags].map((flags) => flags.stop()),
      (await this.#governed)?.close(),
      (await this.#governorsLoading)?.close(),
    ]);
    if (!this.#bound) await this.#endPools();
  }

  async #endPools(): Promise<void> {
    await Promise.all([this.#pools?.transactions.end(), this.#pools?.prepared.end()]);
  }
}
