/** The governors of one connection: opened, told, watched, driven. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type Authorizer, grantedPermissions } from '../authorization/authorizer.js';
import type { Acting } from '../database/acting.js';
import { Coalescer } from '../database/coalescer.js';
import { type Queryable, queryable } from '../database/connection.js';
import { gate, readJson, readRows } from '../database/gate.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { isUuid, uuidv7 } from '../database/uuid.js';
import { isConnectionLoss, PermanentFailure, refusalIn, WritRefusal } from '../errors/index.js';
import { type ActingHost, actAs, type In } from '../governance/actor.js';
import type { Contracts } from '../governance/contracts.js';
import type { Receipt } from '../ledger/receipt.js';
import type { Reach } from '../outbox/buses/addresses.js';
import type { HandledJob } from '../queue/job.js';
import type { Transaction } from '../queue/worker/context.js';
import { pass } from '../queue/worker/fault-points.js';
import { Listener } from '../queue/worker/listener.js';
import { guarded, printError } from '../queue/worker/listeners.js';
import { refuseSecrets } from '../secrets/redaction.js';
import type { ActionKind } from './actuators/handler.js';
import type { ActionContext, Report, Reporter } from './actuators/job.js';
import { actuators } from './actuators.js';
import { SignalAnswers } from './answers.js';
import { awaitedBy, whyOf } from './causes.js';
import type { State } from './decision.js';
import { Driver, type DriverHost } from './driver.js';
import { Entitlements } from './entitlements.js';
import { checkIncoming, type IncomingSignal } from './incoming.js';
import { type GovernorName, intakeOf, type SignalIntake, type Signalled } from './intake.js';
import { Policies, type Publishing } from './policies.js';
import type { GovernorPolicy, Parameters } from './policy-document.js';
import type {
  Governor,
  GovernorDetails,
  HandledEvent,
  PublishedVersion,
  TenantEntitlement,
} from './rows.js';
import { readWindow } from './window.js';

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
  readonly observedAt?: Date | string;
  readonly correlationId?: string;
  /**
   * Which of several things of its type it is about: each has a level of its own, and its type is
   * over while one of them is.
   */
  readonly instance?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface AskedAction {
  readonly type: string;
  /** Those of the policy unless given. */
  readonly parameters?: Parameters | undefined;
  /** A UUID; the same id again asks for nothing new. */
  readonly id?: string | undefined;
}

export interface ReceiptFilter {
  readonly tenant?: string | undefined;
  /** Only what has a higher number. */
  readonly beyond?: number | undefined;
  /** Newest first unless given. */
  readonly order?: 'asc' | 'desc' | undefined;
}

const eventColumns = `e.event_seq, e.at, e.kind, e.from_state, e.state, e.mail_seq, e.arrived_at,
  e.arrival_seq, e.content, e.added`;

/** How often `follow` looks: less often the longer nothing has come. */
const pauses = { first: 250, longest: 1_000 };

export interface GovernorsHost extends ActingHost {
  readonly actor: string;
  /** For LISTEN, past any pooler. */
  readonly listening: string | undefined;
}

export interface DriveOptions extends Pick<DriverHost, 'twicePercent' | 'decide'> {
  /** Who says what principals may do; what their permissions name unless given. */
  readonly authorizer?: Authorizer | undefined;
  readonly onError?: ((error: unknown) => void) | undefined;
}

type TakenAnswer = {
  readonly g: string;
  readonly n: number;
  readonly storm?: number;
  readonly duplicate?: true;
};

/** In place of an answer. */
class Failed {
  constructor(readonly error: unknown) {}
}

/**
 * Signals that came together and could not be put together, each by itself: one that cannot be
 * stored loses no other.
 */
async function eachAlone(
  items: readonly object[],
  take: (items: readonly object[]) => Promise<unknown[]>,
  error: unknown,
): Promise<unknown[]> {
  if (items.length === 1 || isTransient(error)) throw error;
  const answers: unknown[] = [];
  for (const item of items)
    answers.push(
      await take([item]).then(
        ([answer]) => answer,
        (failure) => {
          if (isTransient(failure)) throw failure;
          return new Failed(failure);
        },
      ),
    );
  return answers;
}

/** The whole is sent again: who was stored is told so. */
const isTransient = (error: unknown): boolean =>
  isConnectionLoss(error) ||
  ['40001', '40P01', '55P03', '57014'].includes(String((error as { code?: unknown }).code));

export class Governors {
  readonly #host: GovernorsHost;
  readonly #drivers = new Set<Driver>();
  readonly #answers: SignalAnswers;
  readonly #signals: Coalescer<object, unknown>;
  #retry = { seconds: 30, readAt: Number.NEGATIVE_INFINITY };
  #policies: Policies | undefined;
  #entitlements: Entitlements | undefined;

  constructor(host: GovernorsHost) {
    this.#host = host;
    this.#answers = new SignalAnswers(host.db, () => this.#drivers.size > 0);
    const take = (items: readonly object[]) =>
      gate<unknown[]>(host.db, 'fn_signals_take($1::text::json, $2, $3::text::boolean)', [
        JSON.stringify(items),
        host.actor,
        String(this.#drivers.size === 0),
      ]);
    this.#signals = new Coalescer(
      async (items) => {
        const answers = await take(items).catch((error) => eachAlone(items, take, error));
        this.poke();
        return answers;
      },
      () => 400,
    );
  }

  /** The policies of governors. */
  get policies(): Policies {
    this.#policies ??= new Policies(this, this.#host);
    return this.#policies;
  }

  /** What tenants are entitled to. */
  get entitlements(): Entitlements {
    this.#entitlements ??= new Entitlements(this, this.#host);
    return this.#entitlements;
  }

  /** The tenant that a call is about. */
  tenantOf({ tenant }: { readonly tenant?: string | undefined }): string {
    return tenant ?? this.#host.tenant ?? 'default';
  }

  /** The governor of a tenant and product; made, if there is none. */
  async open({ tenant, sku = 'default' }: Partial<GovernorName> = {}): Promise<GovernorHandle> {
    const name = { tenant: this.tenantOf({ tenant }), sku };
    // No request key: opening twice is opening once.
    const { governor_id } = await gate<{ governor_id: string }>(
      this.#host.db,
      'fn_governor_put($1, $2, $3)',
      [name.tenant, sku, this.#host.actor],
    );
    this.poke();
    return new GovernorHandle(this, governor_id, name);
  }

  /** The governor of a tenant and product that is there; none is made. */
  async find({ tenant, sku = 'default' }: Partial<GovernorName> = {}): Promise<GovernorHandle> {
    const name = { tenant: this.tenantOf({ tenant }), sku };
    const [row] = await readJson<{ governor_id: string }>(
      this.#host.db,
      'select governor_id from writ.governor where tenant_id = $1 and sku_id = $2',
      [name.tenant, sku],
    );
    if (!row) throw notFound(name);
    return new GovernorHandle(this, row.governor_id, name);
  }

  /** By tenant and product. */
  list({
    tenant,
    state,
    ...page
  }: {
    readonly tenant?: string | undefined;
    readonly state?: State | undefined;
  } & PageOptions = {}): Promise<Page<Governor>> {
    return readPage(
      this.#host.db,
      {
        columns: 'g.*',
        from: 'writ.governor g',
        where: [
          ['g.tenant_id = ?', tenant ?? this.#host.tenant],
          ['g.state = ?', state],
        ],
        key: [
          ['g.tenant_id', 'text'],
          ['g.sku_id', 'text'],
        ],
        order: 'asc',
      },
      page,
    );
  }

  /** A governor as it stands, with its policy, its entitlement, and what keeps it from acting. */
  async get(
    sku = 'default',
    options: { readonly tenant?: string | undefined } = {},
  ): Promise<GovernorDetails> {
    const tenant = this.tenantOf(options);
    const [row] = await readJson<
      Governor & {
        readonly policy: PublishedVersion | null;
        readonly tenant_entitlement: TenantEntitlement | null;
        readonly now: string;
      }
    >(
      this.#host.db,
      `select g.*, writ.now() as now,
         (select to_json(p) from writ.governor_policy p where p.governor_id = g.governor_id
          order by p.version desc limit 1) as policy,
         (select to_json(e) from writ.entitlement e where e.tenant_id = g.tenant_id)
           as tenant_entitlement
       from writ.governor g where g.tenant_id = $1 and g.sku_id = $2`,
      [tenant, sku],
    );
    if (!row) throw notFound({ tenant, sku });
    const { tenant_entitlement: entitlement, now, ...governor } = row;
    return {
      ...governor,
      entitlement,
      why: whyOf(governor, new Date(now)),
      awaits: awaitedBy(governor),
    };
  }

  /** The receipts of a governor, the newest first; with `beyond` only those after this number. */
  async receipts(
    sku = 'default',
    { tenant: given, beyond, order, ...page }: ReceiptFilter & PageOptions = {},
  ): Promise<Page<Receipt>> {
    const tenant = this.tenantOf({ tenant: given });
    const { items, next } = await readWindow<{ receipt: Receipt }>(
      this.#host.db,
      {
        columns: 'r.receipt',
        from: 'writ.receipt r',
        where: [
          ['r.log_id = ?', tenant],
          ['r.stream = ?', `governor:${sku}`],
        ],
        number: 'r.stream_seq',
        type: 'bigint',
        last: (await this.#counts({ tenant, sku })).receipts,
        ...(beyond !== undefined && { beyond }),
        ...(order && { order }),
      },
      page,
    );
    return { items: items.map(({ receipt }) => receipt), next };
  }

  /** The events that a governor has handled, the newest first, with what each decision read. */
  async events(
    sku = 'default',
    { tenant: given, beyond, order, ...page }: ReceiptFilter & PageOptions = {},
  ): Promise<Page<HandledEvent>> {
    const tenant = this.tenantOf({ tenant: given });
    const { governor_id, events } = await this.#counts({ tenant, sku });
    return readWindow<HandledEvent>(
      this.#host.db,
      {
        columns: eventColumns,
        from: 'writ.governor_event e',
        where: [['e.governor_id = ?::uuid', governor_id]],
        number: 'e.event_seq',
        type: 'bigint',
        last: events,
        ...(beyond !== undefined && { beyond }),
        ...(order && { order }),
      },
      page,
    );
  }

  /**
   * The events of a governor that are about actions, the newest first: asked for, acknowledged,
   * ended.
   */
  async actions(
    sku = 'default',
    { tenant: given, ...page }: { readonly tenant?: string | undefined } & PageOptions = {},
  ): Promise<Page<HandledEvent>> {
    const { governor_id } = await this.#counts({ tenant: this.tenantOf({ tenant: given }), sku });
    return readPage<HandledEvent>(
      this.#host.db,
      {
        columns: eventColumns,
        from: 'writ.governor_event e',
        where: [
          ['e.governor_id = ?::uuid', governor_id],
          [`e.kind = any ('{act,acknowledged,result}') and ?::boolean`, true],
        ],
        key: [['e.event_seq', 'bigint']],
      },
      page,
    );
  }

  /**
   * The receipts of a governor as they are written, after a number or from now on; ends with the
   * abort signal.
   */
  async *follow(
    sku = 'default',
    {
      beyond,
      signal,
      ...options
    }: {
      readonly tenant?: string | undefined;
      readonly beyond?: number | undefined;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ): AsyncGenerator<Receipt, void, void> {
    const name = { tenant: this.tenantOf(options), sku };
    let last = beyond ?? (await this.#counts(name)).receipts;
    for (let pause = pauses.first; ; ) {
      const isLastLook = signal?.aborted === true;
      const { items, next } = await this.receipts(sku, {
        ...options,
        beyond: last,
        order: 'asc',
        limit: 1_000,
      });
      yield* items;
      last = items.at(-1)?.context.stream_seq ?? last;
      if (next !== null && items.length > 0) continue;
      if (isLastLook) return;
      pause = items.length > 0 ? pauses.first : Math.min(pause * 1.25, pauses.longest);
      await sleep(pause, undefined, { ...(signal && { signal }) }).catch(() => undefined);
    }
  }

  async #counts(
    name: GovernorName,
  ): Promise<{ readonly governor_id: string; readonly events: number; readonly receipts: number }> {
    const [row] = await readJson<{ governor_id: string; events: number; receipts: number }>(
      this.#host.db,
      `select g.governor_id, g.events, g.receipts from writ.governor g
       where g.tenant_id = $1 and g.sku_id = $2`,
      [name.tenant, name.sku],
    );
    if (!row) throw notFound(name);
    return row;
  }

  /**
   * Tells a governor what was observed. Answers the receipt, if it is there within a tenth of a
   * second.
   */
  signal(
    sku: string,
    { id, source = 'custom', severity = 'MEDIUM', observedAt, correlationId, ...rest }: SentSignal,
    options: Acting = {},
  ): Promise<Signalled> {
    return this.take(
      { tenant: this.tenantOf(options), sku },
      {
        ...rest,
        signal_id: id ?? options.once ?? this.#host.once ?? uuidv7(),
        source,
        severity,
        observed_at: (observedAt === undefined ? new Date() : new Date(observedAt)).getTime(),
        ...(correlationId !== undefined && { correlation_id: correlationId }),
      },
    );
  }

  /**
   * Asks for an action of the policy, which is checked like any other. Answers its id. For
   * principals with the right to operate.
   */
  async act(
    sku: string,
    { type, parameters = {}, id = uuidv7() }: AskedAction,
    options: In = {},
  ): Promise<{ readonly action_id: string }> {
    if (!isUuid(id)) throw new WritRefusal('invalid_argument', 'the id of an action is a UUID');
    const where = [this.tenantOf(options), sku];
    const what = [type, JSON.stringify(parameters)];
    const answer = await actAs<{ readonly action_id: string }>(
      this.#host,
      'fn_governor_act($1, $2, $3, $4::text::uuid, $5, $6::text::jsonb)',
      [...where, id, ...what],
      options,
      [...where, ...what],
    );
    this.poke();
    return { action_id: answer.action_id };
  }

  /** A person has seen to a cause that only a person can clear. */
  async acknowledge(
    sku: string,
    { cause, reason }: { readonly cause: string; readonly reason: string },
    options: In = {},
  ): Promise<void> {
    refuseSecrets(reason, 'the reason');
    await actAs(
      this.#host,
      'fn_governor_ack($1, $2, $3, $4, $5)',
      [this.tenantOf(options), sku, cause, reason],
      options,
    );
    this.poke();
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
    if (answer instanceof Failed) throw answer.error;
    const refusal = refusalIn(answer);
    if (refusal) throw refusal;
    await pass('signal_taken');
    const { g, n, storm, duplicate } = answer as TakenAnswer;
    const about = { arrival_seq: n, ...(duplicate && { duplicate }) };
    const heard =
      (duplicate && (await this.#answers.known({ g, n }))) ||
      (await this.#answers.within({ g, n }));
    if (heard && 'receipt' in heard) return { status: 'decided', receipt: heard.receipt, ...about };
    return { status: heard?.as ?? (storm === undefined ? 'accepted' : 'buffered'), ...about };
  }

  /**
   * How long senders should wait while it storms, as governors' receipts say, too. Read once a
   * minute; what cannot be read now must not keep the answer to a signal that was taken.
   */
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

  /** Drives governors in this process until it is stopped. Workers that are told so do it, too. */
  async drive(
    transactions: pg.Pool,
    options: DriveOptions = {},
  ): Promise<{ stop(): Promise<void> }> {
    const { db, actor, listening } = this.#host;
    const { authorizer = grantedPermissions(db), ...rest } = options;
    const onError = guarded(options.onError ?? printError);
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

  /**
   * The handlers that carry actions out, for a worker. Contracts are activated with the
   * connection's own key.
   */
  handlers(
    contracts: Contracts,
    work: Exclude<GovernorWork['governor'], undefined | true>,
  ): HandledJob[] {
    const { actions = [], reach, signingSecrets } = work;
    const onError = guarded(work.onError ?? printError);
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

  /**
   * Whoever may enqueue can make up a job: only the one that the governor has enqueued is carried
   * out, and that only while it waits for it.
   */
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
  intake(): SignalIntake {
    return intakeOf(this, this.#host.db);
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

const notFound = ({ tenant, sku }: GovernorName) =>
  new WritRefusal('governor_not_found', `${tenant} ${sku}`);

/** Options of a call about one governor: its tenant is known. */
type InOwn = Omit<In, 'tenant'>;

/** One governor: the calls of `Governors`, with its tenant and product. */
export class GovernorHandle {
  readonly #governors: Governors;
  readonly id: string;
  readonly name: GovernorName;

  constructor(governors: Governors, id: string, name: GovernorName) {
    this.#governors = governors;
    this.id = id;
    this.name = name;
  }

  get #at(): { readonly tenant: string } {
    return { tenant: this.name.tenant };
  }

  get(): Promise<GovernorDetails> {
    return this.#governors.get(this.name.sku, this.#at);
  }

  /** The newest version of its policy, or an older one. */
  policy(version?: number): Promise<PublishedVersion> {
    return this.#governors.policies.get(this.name.sku, {
      ...this.#at,
      ...(version !== undefined && { version }),
    });
  }

  /** Publishes the next version of its policy and answers its number. */
  async publish(policy: GovernorPolicy, options: Omit<Publishing, 'tenant'> = {}): Promise<number> {
    const { policies } = this.#governors;
    return (await policies.publish(this.name.sku, policy, { ...options, ...this.#at })).version;
  }

  /** Takes its policy away and answers the number of the version that says so. */
  async withdraw(options: InOwn & Pick<Publishing, 'version'> = {}): Promise<number> {
    const { policies } = this.#governors;
    return (await policies.withdraw(this.name.sku, { ...options, ...this.#at })).version;
  }

  signal(signal: SentSignal, options: Omit<Acting, 'tenant'> = {}): Promise<Signalled> {
    return this.#governors.signal(this.name.sku, signal, { ...options, ...this.#at });
  }

  /** Asks for an action of its policy. Answers its id. */
  async act(
    type: string,
    parameters: Parameters = {},
    { id, ...options }: InOwn & { readonly id?: string | undefined } = {},
  ): Promise<string> {
    const asked = { type, parameters, ...(id !== undefined && { id }) };
    const { action_id } = await this.#governors.act(this.name.sku, asked, {
      ...options,
      ...this.#at,
    });
    return action_id;
  }

  acknowledge(
    cause: string,
    { reason, ...options }: InOwn & { readonly reason: string },
  ): Promise<void> {
    const { sku } = this.name;
    return this.#governors.acknowledge(sku, { cause, reason }, { ...options, ...this.#at });
  }

  /** Its receipts after a number, oldest first. */
  async receipts({
    after = 0,
    limit = 100,
  }: {
    readonly after?: number;
    readonly limit?: number;
  } = {}): Promise<readonly Receipt[]> {
    const filter = { ...this.#at, beyond: after, order: 'asc', limit } as const;
    return (await this.#governors.receipts(this.name.sku, filter)).items;
  }
}

/** What a worker is told about governors. */
export interface GovernorWork {
  /**
   * It also drives governors and carries their actions out; with actions of your own, or with
   * `true` for what is built in.
   */
  readonly governor?:
    | true
    | (DriveOptions & {
        readonly actions?: readonly ActionKind[];
        readonly reach?: Reach;
        /** The secrets that policies may have webhooks signed with, by name; none unless given. */
        readonly signingSecrets?: readonly string[];
      });
}
