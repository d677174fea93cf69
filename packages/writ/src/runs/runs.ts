/** `writ.runs`: plans and their runs. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { type Acting, act, actorOf, tenantOf } from '../database/acting.js';
import { followDatabase } from '../database/clock.js';
import { Coalescer } from '../database/coalescer.js';
import { type AnyConnection, type Queryable, transactionOf } from '../database/connection.js';
import { readJson, unlessBrokenOff } from '../database/gate.js';
import { fitsJsonb } from '../database/json.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { isUuid, uuidFloor, uuidv7 } from '../database/uuid.js';
import { Waiters } from '../database/waiters.js';
import { asRefusal, WritError, WritRefusal } from '../errors/index.js';
import type { RunState } from '../machines/run.js';
import type { ArtifactRef } from '../queue/artifacts.js';
import { refuseSecrets } from '../secrets/redaction.js';
import type { Merged } from '../spool/spool.js';
import { count } from '../telemetry/meter.js';
import { traced } from '../telemetry/sending.js';
import {
  type Appended,
  type AppendedEvent,
  Appends,
  type AppendsHost,
  type Spooled,
} from './appends.js';
import { effectsOf } from './effects.js';
import type { RunSignal, SignalAnswer } from './engine.js';
import type { RunEvent } from './events.js';
import { type HistoryVerdict, type RunHistory, readHistory, verifyHistory } from './history.js';
import {
  type EventsOptions,
  type ListedRun,
  readEventPage,
  readPlan,
  readReferences,
  readRun,
  readSnapshots,
  runColumns,
  type WantedRun,
} from './log.js';
import type { PlanDocument } from './plans/document.js';
import type { Plan } from './plans/plan.js';
import { Plans, type PlansHost } from './plans/registry.js';
import { signalText } from './signals.js';
import { emptySnapshot, isTerminal, type RunSnapshot, reduce } from './snapshot.js';

export interface StartOptions {
  /**
   * The same request is the same run: a start that is repeated, by anybody, answers the run that is
   * there.
   */
  readonly requestId?: string | undefined;
  /**
   * As in every acting call, and the requestId unless one is given: another input under it is
   * refused (`once_conflict`).
   */
  readonly once?: string | undefined;
  readonly tenant?: string | undefined;
  readonly project?: string | undefined;
  readonly environment?: string | undefined;
  readonly priority?: number | undefined;
  /** A UUIDv7; made here unless given. */
  readonly runId?: string | undefined;
  /**
   * Who executes the steps; `native`, this database, unless given. Of another engine, events come
   * by `append`.
   */
  readonly engine?: 'native' | 'external' | undefined;
  /**
   * Of an external engine: how it finds the run again, if that is known already. Otherwise its
   * RunStarted says so.
   */
  readonly engineRunRef?: Readonly<Record<string, unknown>> | undefined;
  /** A transaction of yours: the run starts when it commits. */
  readonly db?: AnyConnection | undefined;
}

export interface AdmissionRule {
  /**
   * What becomes of a run that is one too many: refused with `TENANT_OVERLOADED` (429), started
   * when there is room, or started `delayMs` later.
   */
  readonly policy: 'REJECT' | 'QUEUE' | 'DELAY';
  readonly maxRunning: number;
  /** So many wait; more are refused. 10,000 unless given. */
  readonly maxPending?: number | undefined;
  /** One second unless given. */
  readonly delayMs?: number | undefined;
}

/**
 * What became of a queued run. FAILED: it could not begin, and was cancelled with an alert.
 * SKIPPED: another session had it.
 */
export interface QueuedStart {
  readonly runId: string;
  readonly status: 'STARTED' | 'FAILED' | 'SKIPPED';
}

export interface RunHandle {
  readonly runId: string;
  /** The request had been made before. */
  readonly duplicate: boolean;
  /** The snapshot of the run when it has ended. */
  finished(options?: { readonly timeoutMs?: number | undefined }): Promise<RunSnapshot>;
}

export interface RunFilter extends PageOptions {
  readonly tenant?: string | undefined;
  readonly status?: RunState | undefined;
  readonly plan?: string | undefined;
  /** Only runs that were started at or after this time, in ISO 8601. */
  readonly since?: string | undefined;
  /** Only runs that were started before this time. */
  readonly until?: string | undefined;
  /** Only runs that were started before this one. */
  readonly before?: string | undefined;
}

/** The job of a step that runs: how often it was tried, and the error of the last try. */
export interface StepTries {
  readonly attempts: number;
  readonly max: number;
  readonly waiting: boolean;
  readonly error: string | null;
  /** When the next try is due. */
  readonly dueAt: string;
}

/** A run as it stands, for one look at it. */
export interface RunDetail {
  readonly run: ListedRun;
  readonly snapshot: RunSnapshot;
  readonly plan: PlanDocument;
  /** As its steps see it now; absent where this role may not read it. */
  readonly input?: unknown;
  /** By step, of steps that run. */
  readonly tries: Readonly<Record<string, StepTries>>;
  readonly alerts: readonly RunAlert[];
  /** The time of the database. */
  readonly now: string;
}

export interface RunAlert {
  readonly code: string;
  readonly severity: string;
  readonly detail: unknown;
  readonly raisedAt: string;
  readonly clearedAt: string | null;
}

/** What came from outside for a run. */
export interface ListedDelivery {
  readonly deliveryId: string;
  readonly event: string;
  /** Of the payload, which only steps read. */
  readonly sizeBytes: number | null;
  readonly deliveredAt: string;
  readonly deliveredBy: string;
  /** The step that took it; null while none waits for it. */
  readonly takenBy: string | null;
}

/** A pointer to something that a step made, with the event that says so. */
export interface RunArtifact extends ArtifactRef {
  readonly stepId: string;
  readonly runSeq: number;
}

/** A rule, with how many runs of its tenant there are; null for `*`, which is many tenants. */
export interface ListedAdmission {
  readonly tenant: string;
  readonly policy: AdmissionRule['policy'];
  readonly maxRunning: number;
  readonly maxPending: number;
  readonly delayMs: number;
  /** Counted up to one more than the rule allows. */
  readonly running: number | null;
  readonly pending: number | null;
}

/** A registered plan: the version given, or the one registered last. */
export interface PlanName {
  readonly planId: string;
  readonly planVersion?: string;
}

/** Something from outside, for a step that waits for it. */
export interface RunDelivery {
  readonly type: 'DELIVER';
  readonly event: string;
  readonly deliveryId: string;
}

export interface SignalRequest {
  readonly principal: string;
  readonly signal: RunSignal | RunDelivery;
  readonly run: {
    readonly runId: string;
    readonly tenant: string;
    readonly planId: string;
    readonly planVersion: string;
    readonly status: string;
  };
}

/**
 * Who may send which signal, or deliver what, to which run. Denied: the code and a reason, which
 * are recorded in the log of the run.
 */
export type AuthorizeSignal = (
  request: SignalRequest,
) =>
  | true
  | { readonly denied: 'AUTHZ_DENIED' | 'AUTHZ_REASON_REQUIRED' | 'AUTHZ_TENANT_FORBIDDEN' }
  | Promise<
      | true
      | { readonly denied: 'AUTHZ_DENIED' | 'AUTHZ_REASON_REQUIRED' | 'AUTHZ_TENANT_FORBIDDEN' }
    >;

export interface RunsHost extends AppendsHost, PlansHost {
  /** Lets `close` wait for a call. */
  readonly calling: <T>(call: () => Promise<T>) => Promise<T>;
  readonly authorize: AuthorizeSignal | undefined;
}

interface StartItem {
  readonly runId: string;
  readonly json: string;
}

interface Started {
  readonly runId: string;
  readonly duplicate: boolean;
  /** Only of duplicates: whether the run that is there has the same input. */
  readonly sameInput: boolean | undefined;
}

/** Whose run it has to be; the connection's tenant unless given. */
interface OfTenant {
  readonly tenant?: string | undefined;
}

const pauses = { first: 250, longest: 1_000 };
/** As many as a person reads. */
const mostTries = 20;

/** The steps whose jobs may have been tried: those that run, and are jobs. */
export const runningSteps = ({ steps }: RunSnapshot): string[] =>
  steps
    .filter(({ status, type }) => status === 'RUNNING' && type === undefined)
    .map(({ stepId }) => stepId);

/** The first id of this time. */
function floorOf(time: string): string {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) throw new WritError('invalid_argument', `${time} is not a time`);
  return uuidFloor(ms);
}

/**
 * What a snapshot and the events since may weigh, so that those of a few hundred runs are read at
 * once.
 */
const readBytes = 10_000;

/** Those of $1 that have ended, and those that are not there. */
const endedRuns = `select u.id::text, r.status from unnest($1::text::uuid[]) u(id)
   left join lateral (select * from writ.run x where x.run_id = u.id offset 0) r on true
   where r.run_id is null or r.ended_at is not null`;

export class Runs {
  readonly #host: RunsHost;
  readonly #plans: Plans;
  readonly #starts: Coalescer<StartItem, Started | WritRefusal>;
  readonly #reads: Coalescer<WantedRun, RunSnapshot | WritRefusal>;
  readonly #waiters: Waiters;
  readonly #appends: Appends;

  constructor(host: RunsHost, plans = new Plans(host)) {
    this.#host = host;
    this.#plans = plans;
    this.#starts = new Coalescer(
      (items) => start(host.db, items, host.actor),
      ({ json }) => json.length,
    );
    this.#reads = new Coalescer(
      (wanted) => readSnapshots(host.db, wanted),
      () => readBytes,
    );
    this.#waiters = new Waiters(host.db, endedRuns, 'RUN_NOT_FOUND', host.signal);
    this.#appends = new Appends(host);
  }

  /** Registers a plan and the kinds of its jobs, once per process. `start` does it by itself. */
  register(plan: Plan<never>): Promise<unknown> {
    return this.#plans.register(plan);
  }

  /**
   * Starts a run. Resolves when it is durable, or, with `db`, when it is part of your transaction.
   */
  async start<Input>(
    plan: Plan<Input> | PlanName,
    input: Input,
    options: StartOptions = {},
  ): Promise<RunHandle> {
    // Not instanceof: the plan may come from another copy of this package.
    const known = 'canonical' in plan ? plan : await this.#plans.named<Input>(plan);
    const starting = (traceparent?: string) => this.#start(known, input, options, traceparent);
    return this.#host.calling(() => traced('start', known.id, undefined, starting));
  }

  async #start<Input>(
    plan: Plan<Input>,
    input: Input,
    options: StartOptions,
    traceparent?: string,
  ): Promise<RunHandle> {
    const { actor } = this.#host;
    await plan.parse(input);
    await this.register(plan as unknown as Plan<never>);
    const { once = this.#host.once } = options;
    const {
      requestId = once,
      tenant = this.#host.tenant,
      project,
      environment,
      priority,
      runId = uuidv7(),
      engine,
      engineRunRef,
      db: given,
    } = options;
    if (!isUuid(runId)) throw new WritRefusal('INVALID_RUN_ID', runId);
    const json = JSON.stringify({
      run_id: runId,
      plan_id: plan.id,
      plan_version: plan.version,
      sha256: plan.sha256,
      input,
      request_id: requestId,
      tenant,
      project,
      environment,
      priority,
      engine,
      engine_run_ref: engineRunRef,
      traceparent,
    });
    if (!fitsJsonb(json)) throw new WritRefusal('invalid_text', `the input of ${plan.id}`);
    refuseSecrets(json, `the input of ${plan.id}`);
    const item = { runId, json };
    const started = given
      ? (await start(transactionOf(given), [item], actor))[0]
      : await this.#starts.add(item);
    if (started instanceof WritRefusal) {
      const untimely = started.code === 'INVALID_RUN_ID' && options.runId === undefined;
      if (untimely && (await followDatabase(given ? transactionOf(given) : this.#host.db, runId)))
        return this.#start(plan, input, options, traceparent); // with an id of the database's time
      throw started;
    }
    const { runId: known, duplicate, sameInput } = started as Started;
    if (options.requestId === undefined && once !== undefined && sameInput === false)
      throw new WritRefusal('once_conflict', once);
    if (!duplicate) count('writ.runs.started', 1, plan.id);
    return this.handle(known, duplicate);
  }

  /** A handle of a run that was started elsewhere, or before. */
  handle(runId: string, duplicate = true): RunHandle {
    return { runId, duplicate, finished: (options) => this.finished(runId, options) };
  }

  /**
   * The snapshot of a run when it has ended. A process that also works on it hears of the end at
   * once, another within a tenth of a second.
   */
  async finished(
    runId: string,
    { timeoutMs }: { readonly timeoutMs?: number | undefined } = {},
  ): Promise<RunSnapshot> {
    await this.#waiters.ended(runId, timeoutMs);
    return this.snapshot(runId);
  }

  /** Runs that have ended, as a worker of this process hears it. */
  hear(runIds: readonly string[]): void {
    this.#waiters.hear(runIds);
  }

  /** A run as its own row has it. */
  get(runId: string, options: OfTenant = {}): Promise<ListedRun> {
    return readRun(this.#host.db, runId, tenantOf(this.#host, options));
  }

  /** The snapshot of a run, as fresh as its log. */
  async snapshot(runId: string, options: OfTenant = {}): Promise<RunSnapshot> {
    if (!isUuid(runId)) throw new WritRefusal('RUN_NOT_FOUND', runId);
    const snapshot = await this.#reads.add({ runId, tenant: tenantOf(this.#host, options) });
    if (snapshot instanceof WritRefusal) throw snapshot;
    return snapshot;
  }

  /** The log of a run, page by page. */
  events(runId: string, options: EventsOptions = {}): Promise<Page<RunEvent>> {
    return readEventPage(this.#host.db, runId, { ...options, ...this.#of(options) });
  }

  /** The events of a run as they come, until it has ended or `signal` aborts. */
  async *follow(
    runId: string,
    {
      afterSeq = 0,
      signal,
      ...options
    }: OfTenant & {
      readonly afterSeq?: number | undefined;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ): AsyncGenerator<RunEvent> {
    const { first, longest } = pauses;
    let snapshot = emptySnapshot(runId);
    let from = 0;
    for (let pause = first; !signal?.aborted; ) {
      const { items, next } = await this.events(runId, { ...options, afterSeq: from });
      for (const event of items) if (event.runSeq > afterSeq) yield event;
      snapshot = reduce(snapshot, items);
      from = snapshot.lastEventSeq;
      if (next !== null) continue;
      if (isTerminal(snapshot)) return;
      pause = items.length > 0 ? first : Math.min(pause * 1.25, longest);
      await setTimeout(pause, undefined, { ...(signal && { signal }) }).catch(() => undefined);
    }
  }

  /** The newest runs first. */
  async list(filter: RunFilter = {}): Promise<Page<ListedRun>> {
    const { status, plan, since, until, before, ...options } = filter;
    if (before !== undefined && !isUuid(before)) throw new WritRefusal('INVALID_RUN_ID', before);
    const numbers = plan === undefined ? undefined : await this.#plans.numbers(plan);
    return readPage<ListedRun>(
      this.#host.db,
      {
        columns: runColumns,
        from: 'writ.run',
        where: [
          ['tenant_id = ?', tenantOf(this.#host, options)],
          ['status = ?', status],
          ['plan_no = any (?::integer[])', numbers],
          ['run_id >= ?::uuid', since === undefined ? undefined : floorOf(since)],
          ['run_id < ?::uuid', before],
          ['run_id < ?::uuid', until === undefined ? undefined : floorOf(until)],
        ],
        key: [['run_id', 'uuid']],
      },
      options,
    );
  }

  /** A run as it stands: row, snapshot, plan, input, tries of running steps, alerts. */
  async detail(runId: string, options: OfTenant = {}): Promise<RunDetail> {
    const { db } = this.#host;
    const run = await this.get(runId, options);
    const [snapshot, plan, values, alerts, now] = await Promise.all([
      this.snapshot(runId, options),
      readPlan(db, run.planId, run.planVersion, run.planSha256),
      readReferences(db, runId, ['input']),
      readJson<RunAlert>(
        db,
        `select code, severity, detail, raised_at as "raisedAt", cleared_at as "clearedAt"
         from writ.alert where subject = 'run/' || $1::text order by raised_at`,
        [runId.toLowerCase()],
      ),
      readJson<{ now: string }>(db, 'select writ.now() as now'),
    ]);
    return {
      run,
      snapshot,
      plan,
      ...(values && { input: values.input }),
      tries: await this.tries(runId, runningSteps(snapshot)),
      alerts,
      now: new Date(String(now[0]?.now)).toISOString(),
    };
  }

  /**
   * How the jobs of running steps stand, twenty at most. The log says that a step began, the queue
   * how often its job was tried.
   */
  async tries(
    runId: string,
    steps: readonly string[],
  ): Promise<Readonly<Record<string, StepTries>>> {
    if (steps.length === 0) return {};
    const rows = await readJson<StepTries & { step: string }>(
      this.#host.db,
      `select e.step_id as step, q.*
       from (
         select distinct on (step_id) step_id, (event_data ->> 'jobId')::uuid as job_id
         from writ.run_events
         where run_id = $1 and step_id = any ($2::text[]) and event_type = 'StepStarted'
         order by step_id, run_seq desc) e
       cross join lateral (
         select j.attempts, j.max_attempts as max,
           j.status in ('retry_waiting', 'queued') as waiting, j.last_error as error,
           j.process_after as "dueAt"
         from writ.job_queue j where j.job_id = e.job_id offset 0) q`,
      [runId, steps.slice(0, mostTries)],
    );
    return Object.fromEntries(rows.map(({ step, ...tries }) => [step, tries]));
  }

  /** What has come from outside for a run, the oldest first. */
  async deliveries(
    runId: string,
    options: OfTenant & PageOptions = {},
  ): Promise<Page<ListedDelivery>> {
    await this.get(runId, options);
    return readPage<ListedDelivery>(
      this.#host.db,
      {
        columns: `delivery_id as "deliveryId", event, size_bytes as "sizeBytes",
          delivered_at as "deliveredAt", delivered_by as "deliveredBy", taken_by as "takenBy"`,
        from: 'writ.run_deliveries',
        where: [['run_id = ?::uuid', runId]],
        key: [
          ['delivered_at', 'timestamptz'],
          ['delivery_id', 'text'],
        ],
        order: 'asc',
      },
      options,
    );
  }

  /** Pointers to what the steps of a run made, in the order of its log. */
  async artifacts(runId: string, options: OfTenant & PageOptions = {}): Promise<Page<RunArtifact>> {
    await this.get(runId, options);
    const { items, next } = await readPage<{ ref: ArtifactRef; stepId: string; runSeq: number }>(
      this.#host.db,
      {
        columns: 'a.ref, e.step_id as "stepId", e.run_seq as "runSeq"',
        from: `writ.run_events e
          cross join lateral jsonb_array_elements(e.event_data -> 'artifacts')
            with ordinality a(ref, n)`,
        where: [
          ['e.run_id = ?::uuid', runId],
          [`e.event_type = 'StepCompleted'`, true],
        ],
        key: [
          ['e.run_seq', 'integer'],
          ['a.n', 'bigint'],
        ],
        order: 'asc',
      },
      options,
    );
    return { items: items.map(({ ref, ...rest }) => ({ ...ref, ...rest })), next };
  }

  /** All that a verification of a run needs, also without this database. */
  history(runId: string, options: OfTenant = {}): Promise<RunHistory> {
    return readHistory(this.#host.db, runId, tenantOf(this.#host, options));
  }

  /** Reduces the log of a run again, and compares with its snapshot and the rules of its plan. */
  async verify(runId: string, options: OfTenant = {}): Promise<HistoryVerdict> {
    return verifyHistory(await this.history(runId, options));
  }

  /**
   * What a signal would change, in sentences. Refuses what `signal` would refuse of a run that has
   * ended.
   */
  async effects(runId: string, signal: RunSignal, options: OfTenant = {}): Promise<string[]> {
    const { snapshot, plan, input } = await this.detail(runId, options);
    if (isTerminal(snapshot) && signal.type !== 'RETRY_RUN')
      throw new WritRefusal('RUN_TERMINAL', `Run ${runId} is ${snapshot.status}.`);
    return effectsOf(signal, { snapshot, plan, input });
  }

  #of(options: OfTenant): OfTenant {
    const tenant = tenantOf(this.#host, options);
    return tenant === undefined ? {} : { tenant };
  }

  /**
   * A command to a run. What is wrong with it is said before anybody is asked whether it is
   * allowed; the decision is recorded before it is applied.
   */
  async signal(
    runId: string,
    signal: RunSignal,
    options: Acting & { readonly as?: string | undefined } = {},
  ): Promise<SignalAnswer> {
    const { db, authorize } = this.#host;
    const { as: principal = actorOf(this.#host, options) } = options;
    const tenant = tenantOf(this.#host, options);
    const run = await readRun(db, runId, tenant);
    const signalId = signal.signalId ?? randomUUID();
    const payload = signalText({ ...signal, signalId });
    const verdict = authorize ? await authorize({ principal, signal, run }) : true;
    const denied = verdict === true ? null : verdict.denied;
    const answer = await unlessBrokenOff(() =>
      act<{
        signal_id: string;
        accepted: boolean;
        code?: string;
        duplicate: boolean;
        status: RunState;
        run_id?: string;
      }>(
        this.#host,
        'fn_run_signal($1::text::uuid, $2::text::jsonb, $3, $4, $5)',
        [runId, payload, principal, tenant ?? null, denied],
        options,
        { means: [runId, signal, principal, tenant] },
      ),
    );
    if (!answer.accepted)
      throw asRefusal(
        answer.code ?? 'AUTHZ_DENIED',
        `${signal.type} to run ${runId} by ${principal}`,
      );
    return {
      signalId,
      duplicate: answer.duplicate,
      status: answer.status,
      ...(answer.run_id !== undefined && { runId: answer.run_id }),
    };
  }

  /** The code that `authorizeSignal` denies it with; undefined: it is allowed. */
  async #denied(
    authorize: AuthorizeSignal,
    runId: string,
    principal: string,
    signal: RunSignal | RunDelivery,
    tenant: string | undefined,
  ): Promise<string | undefined> {
    const run = await readRun(this.#host.db, runId, tenant);
    const verdict = await authorize({ principal, signal, run });
    return verdict === true ? undefined : verdict.denied;
  }

  /**
   * Checks the payload against the schema of the plan, if it is given or was registered by this
   * process.
   */
  async #checkDelivery(
    runId: string,
    event: string,
    payload: unknown,
    given: Plan<never> | undefined,
  ): Promise<void> {
    if (given) return void (await given.parseEvent(event, payload));
    await this.#plans.waitingFor(event, async () => (await this.get(runId)).planSha256, payload);
  }

  /**
   * Something from outside, for a step that waits for it, now or later. The same id again changes
   * nothing. `authorizeSignal` is asked as for a signal.
   */
  async deliver(
    runId: string,
    event: string,
    payload?: unknown,
    options: Acting & {
      readonly id?: string | undefined;
      readonly as?: string;
      readonly plan?: Plan<never>;
    } = {},
  ): Promise<{ duplicate: boolean; stepId: string | undefined }> {
    const { authorize } = this.#host;
    if (!isUuid(runId)) throw new WritRefusal('RUN_NOT_FOUND', runId);
    await this.#checkDelivery(runId, event, payload, options.plan);
    const { id: deliveryId = randomUUID(), as: principal = actorOf(this.#host, options) } = options;
    const tenant = tenantOf(this.#host, options);
    const delivered = payload === undefined ? undefined : JSON.stringify(payload);
    refuseSecrets(delivered, `what is delivered to ${event}`);
    const denied =
      authorize &&
      (await this.#denied(
        authorize,
        runId,
        principal,
        { type: 'DELIVER', event, deliveryId },
        tenant,
      ));
    const answer = await unlessBrokenOff(() =>
      act<{ duplicate: boolean; step: string | null; denied?: string }>(
        this.#host,
        'fn_run_deliver($1::text::uuid, $2, $3::text::json, $4, $5, $6, $7)',
        [runId, event, delivered ?? null, deliveryId, principal, tenant ?? null, denied ?? null],
        options,
        { means: [runId, event, delivered, options.id, principal, tenant] },
      ),
    );
    if (answer.denied) throw asRefusal(answer.denied, `${event} to run ${runId} by ${principal}`);
    return { duplicate: answer.duplicate, stepId: answer.step ?? undefined };
  }

  /**
   * An event of a run that another engine executes. Its run, step, attempt and type are its key:
   * the same event again answers the one that is there, and needs no `once`. If the database does
   * not answer within the write budget, a StepStarted goes to the spool, if the connection has one;
   * anything else throws WRITE_BUDGET_EXCEEDED: tell it again.
   */
  append(
    runId: string,
    event: AppendedEvent,
    options: { readonly tenant?: string | undefined } = {},
  ): Promise<Appended | Spooled> {
    return this.#host.calling(() => this.#appends.append(runId, event, options.tenant ?? null));
  }

  /** Appends what is in the spool. A connection with a spool does it by itself, once a second. */
  mergeSpool(): Promise<Merged> {
    return this.#host.calling(() => this.#appends.merge());
  }

  /** The rules of admission, of one tenant or of all. Runs are counted as far as a rule goes. */
  async admissions(options: OfTenant & PageOptions = {}): Promise<Page<ListedAdmission>> {
    const counted = (status: string, most: string) =>
      `case when a.tenant_id <> '*' then (select count(*)::integer from (
         select from writ.run r where r.tenant_id = a.tenant_id and ${status} limit ${most} + 1) x)
       end`;
    return readPage<ListedAdmission>(
      this.#host.db,
      {
        columns: `a.tenant_id as tenant, a.policy, a.max_running as "maxRunning",
          a.max_pending as "maxPending", a.delay_ms as "delayMs",
          ${counted(`r.status in ('RUNNING', 'PAUSED')`, 'a.max_running')} as running,
          ${counted(`r.status = 'PENDING'`, 'a.max_pending')} as pending`,
        from: 'writ.admission a',
        where: [['a.tenant_id = ?', tenantOf(this.#host, options)]],
        key: [['a.tenant_id', 'text']],
        order: 'asc',
      },
      options,
    );
  }

  /**
   * How many runs of a tenant go on at once, and what becomes of more; without a rule all of them
   * do. The tenant `*` is every one that has no rule of its own.
   */
  async setAdmission(
    tenant: string,
    rule: AdmissionRule | undefined,
    options: Omit<Acting, 'tenant'> = {},
  ): Promise<void> {
    await act(
      this.#host,
      'fn_admission_put($1, $2, $3::text::integer, $4::text::integer, $5::text::integer, $6)',
      [
        tenant,
        rule?.policy ?? null,
        rule ? String(rule.maxRunning) : null,
        rule?.maxPending === undefined ? null : String(rule.maxPending),
        rule?.delayMs === undefined ? null : String(rule.delayMs),
        actorOf(this.#host, options),
      ],
      options,
    );
  }

  /**
   * Starts runs that were queued, as far as there is room. Workers do it by themselves; whoever
   * else does it at the same time starts others.
   */
  async dequeueAndStart(options: Omit<Acting, 'tenant'> = {}): Promise<QueuedStart[]> {
    const { runs, failed, skipped } = await unlessBrokenOff(() =>
      act<{ runs: string[]; failed: string[]; skipped: string[] }>(
        this.#host,
        'fn_run_dequeue_many($1)',
        [actorOf(this.#host, options)],
        options,
      ),
    );
    const as = (status: QueuedStart['status']) => (runId: string) => ({ runId, status });
    return [...runs.map(as('STARTED')), ...failed.map(as('FAILED')), ...skipped.map(as('SKIPPED'))];
  }

  /**
   * Has the projector make the snapshots of these runs anew, from their whole logs. Answers how
   * many it found.
   */
  async rebuild(runIds: readonly string[], options: Acting = {}): Promise<number> {
    const wrong = runIds.find((runId) => !isUuid(runId));
    if (wrong !== undefined) throw new WritRefusal('INVALID_RUN_ID', wrong);
    const { runs } = await act<{ runs: number }>(
      this.#host,
      'fn_run_rebuild($1::text::uuid[], $2)',
      [`{${runIds.join(',')}}`, actorOf(this.#host, options)],
      options,
    );
    return runs;
  }

  /**
   * Resolves when no start is on its way; whoever waits for the end of a run is told that we are
   * closing.
   */
  async close(): Promise<void> {
    this.#waiters.close();
    await Promise.all([this.#starts.idle(), this.#reads.idle(), this.#appends.close()]);
  }
}

interface StartAnswer {
  readonly runs: { index: number; run_id: string; duplicate: boolean; same_input?: boolean }[];
  readonly refused: { index: number; reason: string; detail?: string; retry_after_ms?: number }[];
}

async function start(
  db: Queryable,
  items: readonly StartItem[],
  actor: string,
): Promise<(Started | WritRefusal)[]> {
  const answer = await act<StartAnswer>({ db }, 'fn_run_start_many($1::text::jsonb, $2)', [
    `[${items.map(({ json }) => json).join(',')}]`,
    actor,
  ]);
  const outcomes: (Started | WritRefusal)[] = new Array(items.length);
  // The id that we fixed ourselves, come back: an earlier try of this very call had committed.
  for (const { index, run_id: runId, duplicate, same_input: sameInput } of answer.runs)
    outcomes[index] = { runId, duplicate: duplicate && runId !== items[index]?.runId, sameInput };
  for (const { index, reason, detail, retry_after_ms } of answer.refused)
    outcomes[index] = asRefusal(reason, detail, retry_after_ms);
  if (outcomes.includes(undefined as never))
    throw new Error('fn_run_start_many did not answer for every run');
  return outcomes;
}
