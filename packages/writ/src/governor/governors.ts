/** The governors of one connection: opened, told, watched, driven. */
import type pg from 'pg';
import { type Authorizer, grantedPermissions } from '../authorization/authorizer.js';
import { Coalescer } from '../database/coalescer.js';
import { type Queryable, queryable } from '../database/connection.js';
import { gate, readJson, readRows } from '../database/gate.js';
import { isUuid, uuidv7 } from '../database/uuid.js';
import { PermanentFailure, refusalIn, WritRefusal } from '../errors/index.js';
import { type ActingHost, type As, credentialOf, type In, put } from '../governance/actor.js';
import type { Contracts } from '../governance/contracts.js';
import type { Receipt } from '../ledger/receipt.js';
import type { Reach } from '../outbox/buses/addresses.js';
import type { HandledJob } from '../queue/job.js';
import type { Transaction } from '../queue/worker/context.js';
import { pass } from '../queue/worker/fault-points.js';
import { Listener } from '../queue/worker/listener.js';
import { printError } from '../queue/worker/listeners.js';
import { refuseSecrets } from '../secrets/redaction.js';
import type { ActionKind } from './actuators/handler.js';
import type { ActionContext, Report, Reporter } from './actuators/job.js';
import { actuators } from './actuators.js';
import { SignalAnswers } from './answers.js';
import type { State } from './decision.js';
import { Driver, type DriverHost } from './driver.js';
import type { EntitlementStatus } from './events.js';
import { checkIncoming, type IncomingSignal } from './incoming.js';
import { policyHash, validatePolicy } from './policy.js';
import type { Parameters, PolicyDocument } from './policy-document.js';
import type { GovernorName, SignalTaker } from './taker.js';
import { takerOf } from './taking.js';

/** A signal as a program sends it: what it leaves out is said for it. */
export interface SentSignal {
  readonly type: string;
  readonly value?: number;
  /** `custom` unless given. */
  readonly source?: IncomingSignal['source'];
  /** `MEDIUM` unless given. */
  readonly severity?: IncomingSignal['severity'];
  /** The same id again within a day gets the answer of the first. A new one unless given. */
  readonly id?: string;
  readonly threshold?: number;
  readonly observedAt?: Date;
  readonly correlationId?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What became of a signal within a tenth of a second. */
export type Signalled = { readonly arrivalSeq: number; readonly duplicate?: true } & (
  | { readonly status: 'decided'; readonly receipt: Receipt }
  /** Its turn has not come; buffered: because its tenant sends more than is taken in. */
  | { readonly status: 'accepted' | 'buffered' }
);

export interface EntitlementChange {
  readonly entitlementId?: string;
  readonly status?: EntitlementStatus;
  readonly tier?: 'free' | 'starter' | 'professional' | 'enterprise';
  /** Actions per UTC month; null: without limit; that of the tier unless given. */
  readonly quota?: number | null;
  readonly expiresAt?: Date | null;
  /** When it was told, by the clock of whoever tells it: what was told before that is not taken any more. */
  readonly toldAt?: Date;
}

export interface GovernorsHost extends ActingHost {
  readonly actor: string;
  /** For LISTEN, past any pooler. */
  readonly listening: string | undefined;
}

export interface DriveOptions extends Pick<DriverHost, 'twicePercent' | 'decide'> {
  /** Who says what principals may do; what their permissions name unless given. */
  readonly authorizer?: Authorizer;
  readonly onError?: (error: unknown) => void;
}

type TakenAnswer = {
  readonly g: string;
  readonly n: number;
  readonly storm?: number;
  readonly duplicate?: true;
};

export class Governors {
  readonly #host: GovernorsHost;
  readonly #drivers = new Set<Driver>();
  readonly #answers: SignalAnswers;
  readonly #signals: Coalescer<object, unknown>;
  #retry = { seconds: 30, readAt: Number.NEGATIVE_INFINITY };

  constructor(host: GovernorsHost) {
    this.#host = host;
    this.#answers = new SignalAnswers(host.db, () => this.#drivers.size > 0);
    this.#signals = new Coalescer(
      async (items) => {
        const wake = String(this.#drivers.size === 0);
        const answers = await gate<unknown[]>(
          host.db,
          'fn_signals_take($1::text::json, $2, $3::text::boolean)',
          [JSON.stringify(items), host.actor, wake],
        );
        this.poke();
        return answers;
      },
      () => 400,
    );
  }

  /** The governor of a tenant and product; made, if there is none. */
  async open({
    tenant = 'default',
    sku = 'default',
  }: Partial<GovernorName> = {}): Promise<Governor> {
    const { governor_id } = await gate<{ governor_id: string }>(
      this.#host.db,
      'fn_governor_put($1, $2, $3)',
      [tenant, sku, this.#host.actor],
    );
    this.poke();
    return new Governor(this, this.#host, governor_id, { tenant, sku });
  }

  /** The governor of a tenant and product that is there; none is made. */
  async find({ tenant, sku }: GovernorName): Promise<Governor> {
    const [row] = await readJson<{ governor_id: string }>(
      this.#host.db,
      'select governor_id from writ.governor where tenant_id = $1 and sku_id = $2',
      [tenant, sku],
    );
    if (!row) throw new WritRefusal('governor_not_found', `${tenant} ${sku}`);
    return new Governor(this, this.#host, row.governor_id, { tenant, sku });
  }

  /** Every governor, by the names of the view. */
  list({ tenant }: { readonly tenant?: string } = {}): Promise<Record<string, unknown>[]> {
    return readJson(
      this.#host.db,
      'select * from writ.governor where $1::text is null or tenant_id = $1 order by tenant_id, sku_id',
      [tenant ?? null],
    );
  }

  /** Takes a signal in and answers what became of it within a tenth of a second. */
  async take({ tenant, sku }: GovernorName, signal: IncomingSignal): Promise<Signalled> {
    const { signal_id, ...content } = checkIncoming(signal);
    refuseSecrets(
      content.metadata === undefined ? undefined : JSON.stringify(content.metadata),
      'the metadata',
    );
    const answer = await this.#signals.add({
      t: tenant,
      s: sku,
      id: signal_id,
      c: { kind: 'signal', signal_id, ...content },
    });
    const refusal = refusalIn(answer);
    if (refusal) throw refusal;
    await pass('signal_taken');
    const { g, n, storm, duplicate } = answer as TakenAnswer;
    const about = { arrivalSeq: n, ...(duplicate && { duplicate }) };
    const heard =
      (duplicate && (await this.#answers.known({ g, n }))) ||
      (await this.#answers.within({ g, n }));
    if (heard && 'receipt' in heard) return { status: 'decided', receipt: heard.receipt, ...about };
    return { status: heard?.as ?? (storm === undefined ? 'accepted' : 'buffered'), ...about };
  }

  /** How long senders should wait while it storms, as governors' receipts say, too. Read once a minute; what cannot be read now must not keep the answer to a signal that was taken. */
  async retrySeconds(): Promise<number> {
    if (performance.now() - this.#retry.readAt > 60_000) {
      const read =
        "select value::text as ms from writ.dot_config where key = 'governor.storm_retry_ms'";
      const [row] = await readRows(this.#host.db, read, []).catch(() => []);
      if (row)
        this.#retry = { seconds: Math.ceil(Number(row.ms) / 1_000), readAt: performance.now() };
    }
    return this.#retry.seconds;
  }

  /** What a tenant is entitled to, from now on. For principals with the right to operate. */
  async entitle(
    tenant: string,
    { entitlementId, status, tier, quota, expiresAt, toldAt }: EntitlementChange,
    options: As = {},
  ): Promise<Record<string, unknown>> {
    const change = {
      ...(entitlementId !== undefined && { entitlement_id: entitlementId }),
      ...(status !== undefined && { status }),
      ...(tier !== undefined && { tier }),
      ...(quota !== undefined && { quota_limit: quota }),
      ...(expiresAt !== undefined && { expires_at: expiresAt?.toISOString() ?? null }),
      ...(toldAt !== undefined && { told_at: toldAt.toISOString() }),
    };
    const answer = await put<Record<string, unknown>>(this.#host, 'fn_entitlement_put', change, {
      ...options,
      tenant,
    } as In);
    this.poke();
    return answer;
  }

  /** Drives governors in this process until it is stopped. Workers that are told so do it, too. */
  async drive(
    transactions: pg.Pool,
    options: DriveOptions = {},
  ): Promise<{ stop(): Promise<void> }> {
    const { db, actor, listening } = this.#host;
    const { authorizer = grantedPermissions(db), onError = printError, ...rest } = options;
    const driver = new Driver({
      ...rest,
      db,
      transactions,
      actor,
      authorizer,
      onError,
      onDecided: (...decided) => this.#answers.hear(...decided),
    });
    const listener =
      listening === undefined
        ? undefined
        : new Listener({
            connection: { connectionString: listening, application_name: 'writ governors' },
            channels: ['governor_due'],
            onWake: () => driver.poke(),
            onConnected: () => driver.poke(),
            onError,
          });
    await driver.start();
    this.#drivers.add(driver);
    await listener?.start();
    return {
      stop: async () => {
        if (!this.#drivers.delete(driver)) return;
        await Promise.all([listener?.stop(), driver.stop()]);
      },
    };
  }

  /** The handlers that carry actions out, for a worker. Contracts are activated with the connection's own key. */
  handlers(
    contracts: Contracts,
    work: Exclude<GovernorWork['governor'], undefined | true>,
  ): HandledJob[] {
    const { actions = [], reach, signingSecrets, onError = printError } = work;
    const reporter: Reporter = {
      begin: (context) => this.#begin(context),
      result: (context, result) => this.#report(context, () => Promise.resolve({ result })),
      late: (context, result) =>
        context
          .commitWith(({ token }) => this.#tell(this.#host.db, context, token, { result }), false)
          .then(() => this.poke(), onError),
      effect: (context, effect) => this.#report(context, effect),
    };
    return actuators(
      { contracts, reporter, ...(reach && { reach }), ...(signingSecrets && { signingSecrets }) },
      actions,
    );
  }

  /** Whoever may enqueue can make up a job: only the one that the governor has enqueued is carried out, and that only while it waits for it. */
  async #begin({ input, job }: ActionContext): Promise<void> {
    const own = `select from writ.governor where governor_id = $1::text::uuid and in_flight ->> 'job_id' = $2`;
    if ((await readRows(this.#host.db, own, [String(input.governor_id), job.id])).length > 0)
      return;
    throw new PermanentFailure(
      `the governor is not waiting for this job of action ${input.action_id}`,
      { code: 'action_not_in_flight' },
    );
  }

  /** How an attempt stands, told in the transaction that commits its job. */
  async #report(
    context: ActionContext,
    effect: (tx: Transaction) => Promise<Report>,
  ): Promise<void> {
    await pass('action_made', context.job.id);
    await context.commitBy('fn_governor_commit', async (tx, token) =>
      this.#tell(queryable(tx), context, token, await effect(tx)),
    );
    this.poke();
  }

  async #tell(db: Queryable, { job }: ActionContext, token: string, report: Report): Promise<void> {
    const reference = 'acknowledged' in report ? report.acknowledged : undefined;
    const content =
      'result' in report
        ? { kind: 'result', ...report.result }
        : { kind: 'acknowledged', reference };
    await gate(
      db,
      'fn_governor_report($1::text::uuid, $2::text::uuid, $3::text::jsonb, $4::text::uuid)',
      [job.id, token, JSON.stringify(content), reference?.replace(/^governance_job:/, '') ?? null],
    );
  }

  /** Something may be due: whoever drives in this process looks at once. */
  poke(): void {
    for (const driver of this.#drivers) driver.poke();
  }

  /** What an HTTP listener needs. */
  taker(): SignalTaker {
    return takerOf(this, this.#host);
  }

  /** What a worker does by the clock. */
  async look(workerId: string): Promise<undefined> {
    const { settled } = await gate<{ settled: number }>(this.#host.db, 'fn_governor_tick($1)', [
      workerId,
    ]);
    if (settled > 0) this.poke();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#drivers].map((driver) => driver.stop()));
    this.#drivers.clear();
  }
}

/** One governor. */
export class Governor {
  readonly #governors: Governors;
  readonly #host: GovernorsHost;
  readonly id: string;
  readonly name: GovernorName;

  constructor(governors: Governors, host: GovernorsHost, id: string, name: GovernorName) {
    this.#governors = governors;
    this.#host = host;
    this.id = id;
    this.name = name;
  }

  /** Publishes the next version of its policy and answers its number; with `shadow` it decides and writes receipts, and acts on nothing. For principals with the right to operate. */
  async publish(
    policy: PolicyDocument,
    { shadow = false, ...options }: As & { readonly shadow?: boolean } = {},
  ): Promise<number> {
    const document = validatePolicy(policy);
    return this.#publish(document.policy_id, document, policyHash(document), shadow, options);
  }

  /** It has no policy any more, and acts on nothing; what is in flight is undone. */
  async withdraw(options: As = {}): Promise<number> {
    const { policy_id } = await this.policy();
    return this.#publish(policy_id, null, '0'.repeat(64), false, options);
  }

  async #publish(
    id: string,
    document: PolicyDocument | null,
    hash: string,
    shadow: boolean,
    options: As,
  ): Promise<number> {
    const { version } = await gate<{ version: number }>(
      this.#host.db,
      'fn_governor_policy_publish($1, $2, $3, $4, $5::text::jsonb, $6, $7::text::boolean)',
      [...this.#as(options), id, document && JSON.stringify(document), hash, String(shadow)],
    );
    this.#governors.poke();
    return version;
  }

  /** Tells it what was observed. Answers the receipt, if it is there within a tenth of a second. */
  signal(signal: SentSignal): Promise<Signalled> {
    const {
      id,
      source = 'custom',
      severity = 'MEDIUM',
      observedAt,
      correlationId,
      ...rest
    } = signal;
    return this.#governors.take(this.name, {
      ...rest,
      signal_id: id ?? uuidv7(),
      source,
      severity,
      observed_at: (observedAt ?? new Date()).getTime(),
      ...(correlationId !== undefined && { correlation_id: correlationId }),
    });
  }

  /** Asks for an action of its policy, which is checked like any other. Answers its id. */
  async act(
    type: string,
    parameters: Parameters = {},
    { id = uuidv7(), ...options }: As & { readonly id?: string } = {},
  ): Promise<string> {
    if (!isUuid(id)) throw new WritRefusal('invalid_argument', 'the id of an action is a UUID');
    await gate(this.#host.db, 'fn_governor_act($1, $2, $3, $4::text::uuid, $5, $6::text::jsonb)', [
      ...this.#as(options),
      id,
      type,
      JSON.stringify(parameters),
    ]);
    this.#governors.poke();
    return id;
  }

  /** A person has looked at a cause that only a person can clear. */
  async acknowledge(
    cause: string,
    { reason, ...options }: As & { readonly reason: string },
  ): Promise<void> {
    refuseSecrets(reason, 'the reason');
    await gate(this.#host.db, 'fn_governor_ack($1, $2, $3, $4, $5)', [
      ...this.#as(options),
      cause,
      reason,
    ]);
    this.#governors.poke();
  }

  /** Everything about it, by the names of the view. */
  async get(): Promise<Record<string, unknown> & { readonly state: State }> {
    const [row] = await readJson<Record<string, unknown> & { readonly state: State }>(
      this.#host.db,
      'select * from writ.governor where governor_id = $1',
      [this.id],
    );
    if (!row) throw new WritRefusal('governor_not_found', this.name.tenant);
    return row;
  }

  /** The version of its policy that stands, or an older one. */
  async policy(version?: number): Promise<{
    readonly version: number;
    readonly policy_id: string;
    readonly shadow: boolean;
    readonly hash: string;
    readonly document: PolicyDocument | null;
  }> {
    const [row] = await readJson<{
      version: number;
      policy_id: string;
      shadow: boolean;
      hash: string;
      document: PolicyDocument | null;
    }>(
      this.#host.db,
      'select * from writ.governor_policy where governor_id = $1 and ($2::text is null or version = $2::text::integer) order by version desc limit 1',
      [this.id, version === undefined ? null : String(version)],
    );
    if (!row) throw new WritRefusal('policy_not_found', this.name.tenant);
    return row;
  }

  /** Its receipts from a number on, oldest first. */
  receipts({
    after = 0,
    limit = 100,
  }: {
    readonly after?: number;
    readonly limit?: number;
  } = {}): Promise<Receipt[]> {
    return readJson<{ receipt: Receipt }>(
      this.#host.db,
      'select receipt from writ.receipt where log_id = $1 and stream = $2 and stream_seq > $3::text::bigint order by stream_seq limit $4::text::integer',
      [this.name.tenant, `governor:${this.name.sku}`, String(after), String(limit)],
    ).then((rows) => rows.map(({ receipt }) => receipt));
  }

  #as(options: As): [string | null, string, string] {
    return [credentialOf(this.#host, options), this.name.tenant, this.name.sku];
  }
}

/** What a worker is told about governors. */
export interface GovernorWork {
  /** It also drives governors and carries their actions out; with actions of your own, or with `true` for what is built in. */
  readonly governor?:
    | true
    | (DriveOptions & {
        readonly actions?: readonly ActionKind[];
        readonly reach?: Reach;
        /** The secrets that policies may have webhooks signed with, by name; none unless given. */
        readonly signingSecrets?: readonly string[];
      });
}
