/** `writ.runs`: plans and their runs. */
import { randomUUID } from 'node:crypto';
import { Coalescer } from '../database/coalescer.js';
import { type AnyConnection, type Queryable, queryable } from '../database/connection.js';
import { gate, readRows, unlessBrokenOff } from '../database/gate.js';
import { fitsJsonb } from '../database/json.js';
import { isUuid, uuidv7 } from '../database/uuid.js';
import { asRefusal, WritRefusal } from '../errors/index.js';
import type { RunState } from '../machines/run.js';
import type { JobKind } from '../queue/job.js';
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
import type { RunSignal, SignalAnswer } from './engine.js';
import type { RunEvent } from './events.js';
import { type EventsOptions, readEvents, readRun, readSnapshots, type WantedRun } from './log.js';
import type { Plan } from './plans/plan.js';
import { signalText } from './signals.js';
import type { RunSnapshot } from './snapshot.js';
import { Waiters } from './waiters.js';

export interface StartOptions {
  /** The same request is the same run: a start that is repeated, by anybody, answers the run that is there. */
  readonly requestId?: string;
  readonly tenant?: string;
  readonly project?: string;
  readonly environment?: string;
  readonly priority?: number;
  /** A UUIDv7; made here unless given. */
  readonly runId?: string;
  /** Who executes the steps; `native`, this database, unless given. Of another engine, events come by `append`. */
  readonly engine?: 'native' | 'temporal' | 'external';
  /** A transaction of yours: the run starts when it commits. */
  readonly db?: AnyConnection;
}

export interface AdmissionRule {
  /** What becomes of a run that is one too many: refused with `TENANT_OVERLOADED` (429), started when there is room, or started `delayMs` later. */
  readonly policy: 'REJECT' | 'QUEUE' | 'DELAY';
  readonly maxRunning: number;
  /** So many wait; more are refused. 10,000 unless given. */
  readonly maxPending?: number;
  /** One second unless given. */
  readonly delayMs?: number;
}

export interface RunHandle {
  readonly runId: string;
  /** The request had been made before. */
  readonly duplicate: boolean;
  /** The snapshot of the run when it has ended. */
  finished(options?: { readonly timeoutMs?: number }): Promise<RunSnapshot>;
}

export interface ListedRun {
  readonly runId: string;
  readonly tenant: string;
  readonly planId: string;
  readonly planVersion: string;
  readonly status: RunState;
  readonly substatus?: string;
  readonly requestId?: string;
  readonly createdAt: string;
  readonly endedAt?: string;
}

export interface ListOptions {
  readonly tenant?: string;
  readonly status?: RunState;
  readonly plan?: string;
  /** 20 unless given, 100 at most. */
  readonly limit?: number;
  /** The runId of the last one that was seen: those started before it. */
  readonly before?: string;
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

/** Who may send which signal, or deliver what, to which run. Denied: the code and a reason, which are recorded in the log of the run. */
export type AuthorizeSignal = (
  request: SignalRequest,
) =>
  | true
  | { readonly denied: 'AUTHZ_DENIED' | 'AUTHZ_REASON_REQUIRED' | 'AUTHZ_TENANT_FORBIDDEN' }
  | Promise<
      | true
      | { readonly denied: 'AUTHZ_DENIED' | 'AUTHZ_REASON_REQUIRED' | 'AUTHZ_TENANT_FORBIDDEN' }
    >;

export interface RunsHost extends AppendsHost {
  readonly register: (job: JobKind<never, unknown>) => Promise<void>;
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
}

/** What a snapshot and the events since may weigh, so that those of a few hundred runs are read at once. */
const readBytes = 10_000;

/** Those of $1 that have ended, and those that are not there. */
const endedRuns =
  'select u.id::text, r.status from unnest($1::text::uuid[]) u(id) left join writ.run r on r.run_id = u.id where r.run_id is null or r.ended_at is not null';

export class Runs {
  readonly #host: RunsHost;
  readonly #plans = new Map<string, Promise<void>>();
  readonly #starts: Coalescer<StartItem, Started | WritRefusal>;
  readonly #reads: Coalescer<WantedRun, RunSnapshot | WritRefusal>;
  readonly #waiters: Waiters;
  readonly #appends: Appends;

  constructor(host: RunsHost) {
    this.#host = host;
    this.#starts = new Coalescer(
      (items) => start(host.db, items, host.actor),
      ({ json }) => json.length,
    );
    this.#reads = new Coalescer(
      (wanted) => readSnapshots(host.db, wanted),
      () => readBytes,
    );
    this.#waiters = new Waiters(host.db, endedRuns, 'RUN_NOT_FOUND');
    this.#appends = new Appends(host);
  }

  /** Tells the database about a version of a plan, and the kinds of its jobs. `start` does it by itself. Outside the caller's transaction: its rollback must not undo it. */
  register(plan: Plan<never>): Promise<void> {
    const known = this.#plans.get(plan.sha256);
    if (known) return known;
    const registering = this.#register(plan);
    registering.catch(() => this.#plans.delete(plan.sha256));
    this.#plans.set(plan.sha256, registering);
    return registering;
  }

  async #register(plan: Plan<never>): Promise<void> {
    const { db, actor, register } = this.#host;
    await Promise.all([...plan.kinds.values()].map((job) => job && register(job)));
    await gate(db, 'fn_plan_register($1, $2, $3)', [
      new TextDecoder().decode(plan.canonical),
      plan.sha256,
      actor,
    ]);
  }

  /** Starts a run. Resolves when it is durable, or, with `db`, when it is part of your transaction. */
  start<Input>(plan: Plan<Input>, input: Input, options: StartOptions = {}): Promise<RunHandle> {
    const starting = (traceparent?: string) => this.#start(plan, input, options, traceparent);
    return this.#host.calling(() => traced('start', plan.id, undefined, starting));
  }

  async #start<Input>(
    plan: Plan<Input>,
    input: Input,
    options: StartOptions,
    traceparent?: string,
  ): Promise<RunHandle> {
    const { db, actor } = this.#host;
    await plan.parse(input);
    await this.register(plan as unknown as Plan<never>);
    const {
      requestId,
      tenant,
      project,
      environment,
      priority,
      runId = uuidv7(),
      engine,
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
      traceparent,
    });
    if (!fitsJsonb(json)) throw new WritRefusal('invalid_text', `the input of ${plan.id}`);
    refuseSecrets(json, `the input of ${plan.id}`);
    const item = { runId, json };
    const started = given
      ? (await start(queryable(given) ?? db, [item], actor))[0]
      : await this.#starts.add(item);
    if (started instanceof WritRefusal) throw started;
    const { runId: known, duplicate } = started as Started;
    if (!duplicate) count('writ.runs.started', 1, plan.id);
    return this.handle(known, duplicate);
  }

  /** A handle of a run that was started elsewhere, or before. */
  handle(runId: string, duplicate = true): RunHandle {
    return { runId, duplicate, finished: (options) => this.finished(runId, options) };
  }

  /** The snapshot of a run when it has ended. A process that also works on it hears of the end at once, another within a tenth of a second. */
  async finished(
    runId: string,
    { timeoutMs }: { readonly timeoutMs?: number } = {},
  ): Promise<RunSnapshot> {
    await this.#waiters.ended(runId, timeoutMs);
    return this.get(runId);
  }

  /** Runs that have ended, as a worker of this process hears it. */
  hear(runIds: readonly string[]): void {
    this.#waiters.hear(runIds);
  }

  /** The snapshot of a run, as fresh as its log. */
  async get(runId: string, options: { readonly tenant?: string } = {}): Promise<RunSnapshot> {
    if (!isUuid(runId)) throw new WritRefusal('RUN_NOT_FOUND', runId);
    const snapshot = await this.#reads.add({ runId, tenant: options.tenant });
    if (snapshot instanceof WritRefusal) throw snapshot;
    return snapshot;
  }

  events(runId: string, options: EventsOptions = {}): Promise<RunEvent[]> {
    return readEvents(this.#host.db, runId, options);
  }

  /** The newest runs first. */
  async list({ tenant, status, plan, limit = 20, before }: ListOptions = {}): Promise<ListedRun[]> {
    if (before !== undefined && !isUuid(before)) throw new WritRefusal('INVALID_RUN_ID', before);
    const rows = await readRows(
      this.#host.db,
      `select json_build_object('runId', run_id, 'tenant', tenant_id, 'planId', plan_id, 'planVersion', plan_version, 'status', status, 'substatus', substatus, 'requestId', request_id,
         'createdAt', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'endedAt', to_char(ended_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text as run
       from writ.run where ($1::text is null or tenant_id = $1) and ($2::text is null or status = $2) and ($3::text is null or plan_id = $3) and ($4::uuid is null or run_id < $4)
       order by run_id desc limit $5`,
      [
        tenant ?? null,
        status ?? null,
        plan ?? null,
        before ?? null,
        Math.min(Math.max(1, limit), 100),
      ],
    );
    return rows.map(
      ({ run }) => JSON.parse(String(run), (_, value) => value ?? undefined) as ListedRun,
    );
  }

  /** A command to a run. What is wrong with it is said before anybody is asked whether it is allowed; the decision is recorded before it is applied. */
  async signal(
    runId: string,
    signal: RunSignal,
    options: { readonly as?: string; readonly tenant?: string } = {},
  ): Promise<SignalAnswer> {
    const { db, actor, authorize } = this.#host;
    const { as: principal = actor, tenant } = options;
    const run = await readRun(db, runId, tenant);
    const signalId = signal.signalId ?? randomUUID();
    const payload = signalText({ ...signal, signalId });
    const verdict = authorize ? await authorize({ principal, signal, run }) : true;
    const denied = verdict === true ? null : verdict.denied;
    const answer = await unlessBrokenOff(() =>
      gate<{
        signal_id: string;
        accepted: boolean;
        code?: string;
        duplicate: boolean;
        status: RunState;
        run_id?: string;
      }>(db, 'fn_run_signal($1::text::uuid, $2::text::jsonb, $3, $4, $5)', [
        runId,
        payload,
        principal,
        tenant ?? null,
        denied,
      ]),
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
   * Something from outside, for a step that waits for it, now or later. The same id again changes nothing.
   * `authorizeSignal` is asked as for a signal.
   */
  async deliver(
    runId: string,
    event: string,
    payload?: unknown,
    options: {
      readonly id?: string;
      readonly tenant?: string;
      readonly as?: string;
      readonly plan?: Plan<never>;
    } = {},
  ): Promise<{ duplicate: boolean; stepId: string | undefined }> {
    const { db, actor, authorize } = this.#host;
    if (!isUuid(runId)) throw new WritRefusal('RUN_NOT_FOUND', runId);
    if (options.plan) await options.plan.parseEvent(event, payload);
    const { id: deliveryId = randomUUID(), as: principal = actor, tenant } = options;
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
      gate<{ duplicate: boolean; step: string | null; denied?: string }>(
        db,
        'fn_run_deliver($1::text::uuid, $2, $3::text::json, $4, $5, $6, $7)',
        [runId, event, delivered ?? null, deliveryId, principal, tenant ?? null, denied ?? null],
      ),
    );
    if (answer.denied) throw asRefusal(answer.denied, `${event} to run ${runId} by ${principal}`);
    return { duplicate: answer.duplicate, stepId: answer.step ?? undefined };
  }

  /**
   * An event of a run that another engine executes. The same event again answers the one that is there. If the database does not answer within the write budget, a StepStarted goes to
   * the spool, if the connection has one; anything else throws WRITE_BUDGET_EXCEEDED: tell it again.
   */
  append(
    runId: string,
    event: AppendedEvent,
    options: { readonly tenant?: string } = {},
  ): Promise<Appended | Spooled> {
    return this.#host.calling(() => this.#appends.append(runId, event, options.tenant ?? null));
  }

  /** Appends what is in the spool. A connection with a spool does it by itself, once a second. */
  mergeSpool(): Promise<Merged> {
    return this.#host.calling(() => this.#appends.merge());
  }

  /** How many runs of a tenant go on at once, and what becomes of more; without a rule all of them do. The tenant `*` is every one that has no rule of its own. */
  async setAdmission(tenant: string, rule: AdmissionRule | undefined): Promise<void> {
    const { db, actor } = this.#host;
    await gate(
      db,
      'fn_admission_put($1, $2, $3::text::integer, $4::text::integer, $5::text::integer, $6)',
      [
        tenant,
        rule?.policy ?? null,
        rule ? String(rule.maxRunning) : null,
        rule?.maxPending === undefined ? null : String(rule.maxPending),
        rule?.delayMs === undefined ? null : String(rule.delayMs),
        actor,
      ],
    );
  }

  /** Starts runs that were queued, as far as there is room. Workers do it by themselves; whoever else does it at the same time starts others. */
  async dequeueAndStart(): Promise<{ readonly runId: string; readonly status: 'STARTED' }[]> {
    const { db, actor } = this.#host;
    const { runs } = await unlessBrokenOff(() =>
      gate<{ runs: string[] }>(db, 'fn_run_dequeue_many($1)', [actor]),
    );
    return runs.map((runId) => ({ runId, status: 'STARTED' }));
  }

  /** Has the projector make the snapshots of these runs anew, from their whole logs. Answers how many it found. */
  async rebuild(runIds: readonly string[]): Promise<number> {
    const { db, actor } = this.#host;
    const wrong = runIds.find((runId) => !isUuid(runId));
    if (wrong !== undefined) throw new WritRefusal('INVALID_RUN_ID', wrong);
    const { runs } = await gate<{ runs: number }>(db, 'fn_run_rebuild($1::text::uuid[], $2)', [
      `{${runIds.join(',')}}`,
      actor,
    ]);
    return runs;
  }

  /** Resolves when no start is on its way; whoever waits for the end of a run is told that we are closing. */
  async close(): Promise<void> {
    this.#waiters.close();
    await Promise.all([this.#starts.idle(), this.#reads.idle(), this.#appends.close()]);
  }
}

interface StartAnswer {
  readonly runs: { index: number; run_id: string; duplicate: boolean }[];
  readonly refused: { index: number; reason: string; detail?: string }[];
}

async function start(
  db: Queryable,
  items: readonly StartItem[],
  actor: string,
): Promise<(Started | WritRefusal)[]> {
  const answer = await gate<StartAnswer>(db, 'fn_run_start_many($1::text::jsonb, $2)', [
    `[${items.map(({ json }) => json).join(',')}]`,
    actor,
  ]);
  const outcomes: (Started | WritRefusal)[] = new Array(items.length);
  // The id that we fixed ourselves, come back: an earlier try of this very call had committed.
  for (const { index, run_id: runId, duplicate } of answer.runs)
    outcomes[index] = { runId, duplicate: duplicate && runId !== items[index]?.runId };
  for (const { index, reason, detail } of answer.refused)
    outcomes[index] = asRefusal(reason, detail);
  if (outcomes.includes(undefined as never))
    throw new Error('fn_run_start_many did not answer for every run');
  return outcomes;
}
