/**
 * Drives governors: takes those that are due, many in one transaction, decides about their events,
 * and writes down what follows, or nothing of it. Any number of hosts may do it; whoever holds a
 * governor's row decides, the others pass it over. Nothing is asked of anybody outside while rows
 * are held: what has to be asked is asked after the transaction, and the governor is taken again
 * with the answer, if it still stands where it stood.
 *
 * What a crash leaves: before COMMIT nothing, the governor is as due as it was; after it
 * everything, whether or not anybody heard of it.
 */
import { hostname } from 'node:os';
import type pg from 'pg';
import type { Authorizer } from '../authorization/authorizer.js';
import type { Queryable } from '../database/connection.js';
import { gate, readRows } from '../database/gate.js';
import { fromDatabase, isConnectionLoss } from '../errors/index.js';
import type { Receipt } from '../ledger/receipt.js';
import { pass } from '../queue/worker/fault-points.js';
import { countEach, measuring } from '../telemetry/meter.js';
import { type Asked, Asking, type HostBounds, wordsOf } from './asking.js';
import { decide as decideNow, decideVersion } from './decide.js';
import { DocumentCache } from './document-cache.js';
import type { Answers, Failure } from './events.js';
import type { Decide } from './machine.js';
import type { GovernorPolicy, PolicyVersion } from './policy-document.js';
import {
  policyOf,
  type StoredPolicy,
  type TakenBatch,
  type TakenGovernor,
  takenFrom,
} from './stored.js';
import {
  askingMs,
  clockToleranceMs,
  type Put,
  putAside,
  rowsOf,
  type Turned,
  type TurnRows,
  turn,
  wakesOf,
} from './turn.js';

export interface DriverHost {
  readonly transactions: pg.Pool;
  readonly db: Queryable;
  readonly actor: string;
  readonly authorizer: Authorizer;
  /** Signals that were settled or put aside, after the commit. */
  readonly onDecided?: (
    governorId: string,
    settled: readonly (readonly [number, Receipt])[],
    put: readonly Put[],
  ) => void;
  readonly onError: (error: unknown) => void;
  /** How many of a hundred events are decided twice; all of them in tests. */
  readonly twicePercent?: number;
  /** Replaced in tests of what follows when deciding goes wrong. */
  readonly decide?: Decide;
}

/**
 * Which governors to take whatever is due; the answers that they go on with, by revision; or what
 * this host has to tell them.
 */
interface Given {
  readonly rev?: number;
  readonly answers?: Answers;
  readonly told?: Failure;
  /** What was decided about its next event could not be written, by itself, here. */
  readonly unwritable?: boolean;
}
type Named = ReadonlyMap<string, Given>;

const governorsAtOnce = 200;
const mailsAtOnce = 64;
const eventsAtOnce = 256;
const pollMs = 1_000;
const rescanMs = 200;
/**
 * A call that took its time before others may have ended after them: so far back the hint does not
 * reach.
 */
const lateMs = 2_000;
/** When somebody else has those that are due. */
const heldMs = 20;
const slowTurns = 3;

// Without names: a pooler in transaction mode moves a client to connections that do not know them.
const take =
  'select * from writ.fn_governors_take($1, $2, $3::text::timestamptz, $4::text::uuid[])';
const apply = 'select writ.fn_governors_apply($1::text::jsonb, $2)::text as answer';

export class Driver {
  readonly #host: DriverHost;
  readonly #asking: Asking;
  readonly #policies: DocumentCache;
  /** Read before anything turns, and with each ping. */
  #bounds!: HostBounds;
  #timer: NodeJS.Timeout | undefined;
  #ping: NodeJS.Timeout | undefined;
  #turning: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  /** What was due before is taken: where to look first. */
  #after = '-infinity';
  #rescanAt = 0;
  #slow = 0;
  #failedPings = 0;
  /** The clock of the database when it was last read. */
  #clock = Number.NEGATIVE_INFINITY;
  readonly #background = new Set<Promise<unknown>>();
  /** Whose questions are being asked here, and at which revision. */
  readonly #asked = new Map<string, number>();

  constructor(host: DriverHost) {
    this.#host = host;
    this.#asking = new Asking(host.db, host.authorizer, () => this.#bounds);
    this.#policies = new DocumentCache(host.db, () => this.#bounds.policy_ms);
  }

  async start(): Promise<void> {
    await this.#readBounds();
    this.poke();
    this.#later(this.#wakeSetBack());
    this.#pingIn(this.#bounds.ping_every_ms);
  }

  /** Something may be due. */
  poke(): void {
    this.#again = true;
    if (this.#stopped || this.#turning) return;
    clearTimeout(this.#timer);
    this.#turning = this.#turns().finally(() => {
      this.#turning = undefined;
      if (this.#again) this.poke();
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#ping);
    await this.#turning;
    await Promise.allSettled(this.#background);
  }

  /** Until nothing is due. */
  async #turns(): Promise<void> {
    let wait = pollMs;
    try {
      for (;;) {
        this.#again = false;
        const rescan = this.#after !== '-infinity' && performance.now() >= this.#rescanAt;
        if (rescan) {
          this.#after = '-infinity';
          this.#rescanAt = performance.now() + rescanMs;
        }
        const { governors, next, now, last } = await this.#turn();
        if (this.#stopped) return;
        if (governors.length === 0 && !this.#again) {
          wait =
            last !== null
              ? heldMs
              : Math.min(pollMs, Math.max(next === null ? pollMs : next - now, 1));
          // Once more from the beginning before resting: what the hint has passed over is found
          // there.
          if (this.#after === '-infinity') break;
          this.#rescanAt = 0;
        }
      }
    } catch (error) {
      this.#host.onError(error);
      wait = isConnectionLoss(error) ? 200 : 100;
    }
    if (!this.#stopped) this.#timer = setTimeout(() => this.poke(), wait);
  }

  /** One transaction, and what follows from it. */
  async #turn(named?: Named): Promise<TakenBatch> {
    const { transactions, actor, onDecided } = this.#host;
    const client = await transactions.connect();
    let taken: TakenBatch | undefined;
    let turned: Turned[] = [];
    let broken: Error | undefined;
    try {
      await client.query('begin');
      const ids = named ? `{${[...named.keys()].join(',')}}` : null;
      const { rows } = await client.query(take, [governorsAtOnce, mailsAtOnce, this.#after, ids]);
      taken = takenFrom(rows);
      this.#read(taken.now);
      await pass('governors_fetched');
      const unread = this.#unread(taken, named);
      turned = this.#decide(taken, named, unread);
      for (const { steps } of turned)
        for (const [{ content }] of steps)
          if (content.kind === 'policy' && content.policy) this.#policies.add(content.policy);
      await pass('governors_decided');
      const changed = this.#rows(turned, taken.now, unread);
      if (changed) {
        const began = performance.now();
        await client.query(apply, [JSON.stringify(changed), actor]);
        await pass('governors_written');
        const committing = client.query('commit');
        await pass('governors_sent');
        await committing;
        this.#timed(performance.now() - began, turned);
      } else await client.query('commit');
    } catch (error) {
      if (isConnectionLoss(error)) broken = error as Error;
      else
        await client.query('rollback').catch((lost: Error) => {
          broken = lost;
        });
      if (broken || isBrokenOff(error) || !taken) throw fromDatabase(error);
      await this.#apart(taken, named, error);
      return taken;
    } finally {
      client.release(broken);
    }
    if (!named && taken.last !== null) this.#after = new Date(taken.last - lateMs).toISOString();
    for (const { governor, steps } of turned) {
      const settled = steps.flatMap(([, { settled, receipts }]) =>
        settled.map(
          ([arrival, id]) =>
            [arrival, receipts.find(({ receipt_id }) => receipt_id === id) as Receipt] as const,
        ),
      );
      if (measuring())
        countEach(
          'writ.governor.signals',
          settled.map(([, { status }]) => status),
        );
      if (steps.length > 0) onDecided?.(governor.id, settled, putAside(steps));
    }
    this.#later(this.#follow(turned));
    return taken;
  }

  #read(now: number): void {
    if (now < this.#clock - clockToleranceMs) this.#later(this.#wakeSetBack());
    this.#clock = now;
  }

  /**
   * The clock of the database was set back: what governors wait for may be far ahead, so each of
   * them is looked at whatever is due.
   */
  async #wakeSetBack(): Promise<void> {
    const { rows } = await this.#host.db.query(
      "select governor_id::text as id from writ.governor where last_at > writ.now() + $1::text::float8 * interval '1 millisecond'",
      [String(clockToleranceMs)],
    );
    for (let at = 0; at < rows.length; at += governorsAtOnce)
      await this.#named(
        new Map(rows.slice(at, at + governorsAtOnce).map(({ id }) => [String(id), {}])),
      );
  }

  /**
   * What of one governor cannot be written must not keep the others: each by itself, and then it is
   * known which one it is.
   */
  async #apart({ governors }: TakenBatch, named: Named | undefined, error: unknown): Promise<void> {
    if (governors.length > 1) {
      for (const { id } of governors) await this.#turn(new Map([[id, named?.get(id) ?? {}]]));
      return;
    }
    const [one] = governors;
    if (!one) throw fromDatabase(error);
    const { crashes, limit } = await this.#crashed(one.id, one.events, error);
    const given = named?.get(one.id);
    if (crashes >= limit && !given?.unwritable)
      await this.#turn(new Map([[one.id, { ...given, unwritable: true }]]));
  }

  /**
   * Those whose policies are not known here yet: they are loaded, and then these governors are
   * taken by name; until then somebody else may.
   */
  #unread({ governors }: TakenBatch, named: Named | undefined): ReadonlySet<string> {
    const unread = governors.filter((taken) => {
      const policy = policyOf(taken);
      return policy && !named?.get(taken.id)?.told && !this.#policies.known(policy.hash);
    });
    if (unread.length > 0) this.#later(this.#load(unread, named));
    return new Set(unread.map(({ id }) => id));
  }

  #decide(
    { governors, now, machine }: TakenBatch,
    named: Named | undefined,
    unread: ReadonlySet<string>,
  ): Turned[] {
    const { twicePercent = 1, decide = decideNow } = this.#host;
    const options = {
      decide,
      decideVersion,
      processId: `${hostname()}:${process.pid}`,
      now,
      machine,
      limit: eventsAtOnce,
      mails: mailsAtOnce,
      crashLimit: this.#bounds.crashes,
    };
    return governors.flatMap((taken) => {
      if (unread.has(taken.id)) return [];
      const policy = policyOf(taken);
      const { rev, answers, told, unwritable = false } = named?.get(taken.id) ?? {};
      const twice = twicePercent >= 100 || Math.random() * 100 < twicePercent;
      const published = policy ? publishedOf(policy, this.#policies.known(policy.hash)) : null;
      return [
        turn(taken, published, rev === taken.events ? answers : undefined, told, {
          ...options,
          twice,
          unwritable,
        }),
      ];
    });
  }

  /** As fn_governors_apply takes it; undefined: there is nothing to write. */
  #rows(turned: readonly Turned[], now: number, unread: ReadonlySet<string>): TurnRows | undefined {
    const wakes = [
      ...turned.flatMap((one) => wakesOf(one, now)),
      ...[...unread].map((id) => ({ id, at: now + askingMs })),
    ];
    const rows = rowsOf(turned, wakes, this.#after);
    return rows.governors.length === 0 && wakes.length === 0 ? undefined : rows;
  }

  /** What comes after the transaction: questions are asked, crashes are written down. */
  async #follow(turned: readonly Turned[]): Promise<void> {
    const asked: Asked[] = [];
    const revs = new Map<string, number>();
    for (const { governor, question, crash } of turned) {
      if (crash !== undefined) await this.#crashed(governor.id, governor.events, crash);
      // One that is asked for longer than a wake-up is due again meanwhile.
      if (!question || this.#asked.get(governor.id) === governor.events) continue;
      asked.push({ id: governor.id, tenant: governor.tenant, question });
      revs.set(governor.id, governor.events);
    }
    if (asked.length === 0 || this.#stopped) return;
    for (const [id, rev] of revs) this.#asked.set(id, rev);
    const answers = await this.#asking.answer(asked).finally(() => {
      for (const [id, rev] of revs) if (this.#asked.get(id) === rev) this.#asked.delete(id);
    });
    await this.#named(
      new Map(
        [...answers].map(([id, given]) => [id, { rev: revs.get(id) as number, answers: given }]),
      ),
    );
  }

  async #crashed(
    id: string,
    rev: number,
    error: unknown,
  ): Promise<{ readonly crashes: number; readonly limit: number }> {
    this.#host.onError(error);
    return gate(this.#host.db, 'fn_governor_crashed($1::text::uuid, $2::text::bigint, $3, $4)', [
      id,
      String(rev),
      wordsOf(error),
      this.#host.actor,
    ]);
  }

  async #named(named: Named): Promise<void> {
    if (this.#stopped) return;
    await this.#turn(named);
    this.poke();
  }

  async #load(taken: readonly TakenGovernor[], named: Named | undefined): Promise<void> {
    const failed = await this.#policies.load(
      taken.map((one) => ({ id: one.id, version: policyOf(one)?.version as number })),
    );
    const told = (message: string): Failure => ({
      cause: 'policy',
      component: 'policy_cache',
      failure_type: 'policy_load_failed',
      message,
    });
    await this.#named(
      new Map(
        taken.map(({ id }) => {
          const message = failed.get(id);
          return [id, message === undefined ? (named?.get(id) ?? {}) : { told: told(message) }];
        }),
      ),
    );
  }

  async #tell(ids: readonly string[], failure: Failure): Promise<void> {
    await gate(this.#host.db, 'fn_governor_tell($1::text::uuid[], $2::text::jsonb)', [
      `{${ids.join(',')}}`,
      JSON.stringify(failure),
    ]);
    this.poke();
  }

  /** Three turns running whose receipts took too long: those whom it concerns are told. */
  #timed(ms: number, turned: readonly Turned[]): void {
    this.#slow = ms > this.#bounds.receipt_slo_ms ? this.#slow + 1 : 0;
    if (this.#slow < slowTurns) return;
    this.#slow = 0;
    const failure: Failure = {
      cause: 'slo',
      component: 'ledger',
      failure_type: 'receipt_slow',
      message: `${slowTurns} times running over ${this.#bounds.receipt_slo_ms} ms`,
    };
    const ids = turned
      .filter(({ governor }) => governor.state !== 'degraded')
      .map(({ governor }) => governor.id);
    if (ids.length > 0) this.#later(this.#tell(ids, failure));
  }

  #pingIn(ms: number): void {
    this.#ping = setTimeout(() => this.#later(this.#pinged()), ms);
  }

  /** One ping per host; governors hear of it when it has failed three times running. */
  async #pinged(): Promise<void> {
    let failure: Failure | undefined;
    try {
      await this.#readBounds();
      await this.#wakeSetBack();
      failure = await this.#asking.ping();
    } finally {
      // Also when the database is away: the next one finds it back.
      if (!this.#stopped)
        this.#pingIn(
          failure ? Math.min(10_000, this.#bounds.ping_every_ms) : this.#bounds.ping_every_ms,
        );
    }
    this.#failedPings = failure ? this.#failedPings + 1 : 0;
    if (failure && this.#failedPings === 3) {
      const { rows } = await this.#host.db.query(
        "select governor_id::text as id from writ.governor where state <> 'degraded'",
      );
      await this.#tell(
        rows.map(({ id }) => String(id)),
        failure,
      );
    }
  }

  async #readBounds(): Promise<void> {
    const rows = await readRows(
      this.#host.db,
      "select key, value::text as value from writ.dot_config where key like 'governor.%'",
    );
    this.#bounds = Object.fromEntries(
      rows.map(({ key, value }) => [
        String(key).replace('governor.', ''),
        JSON.parse(String(value)),
      ]),
    ) as HostBounds;
  }

  #later(work: Promise<unknown>): void {
    const done = work
      .catch((error) => this.#host.onError(error))
      .finally(() => this.#background.delete(done));
    this.#background.add(done);
  }
}

/**
 * Without its document: for what can be decided without it, which is that it could not be loaded.
 */
const publishedOf = (
  { policy_id, ...policy }: StoredPolicy,
  document?: GovernorPolicy,
): PolicyVersion => ({
  ...policy,
  document: document ?? { policy_id, principal: '', when: {}, actions: {}, budget: null },
});

/** Somebody was in the way: tried again, it is decided by what stands then. */
const isBrokenOff = (error: unknown) => {
  const { code, message } = error as { code?: string; message?: string };
  return (
    ['40P01', '40001', '55P03'].includes(String(code)) ||
    (code === 'WR001' && message === 'governor_moved')
  );
};
