/**
 * A database, runs whose logs grow by one event at a time, and a bus in memory that keeps what it
 * was given and answers as a test likes.
 */
import { afterEach, beforeEach } from 'vitest';
import {
  defineJob,
  definePlan,
  type Relay,
  type RelayOptions,
  type Writ,
} from '../../src/index.js';
import { type Bus, held, heldByOrder, type Outcome } from '../../src/outbox/buses/bus.js';
import type { CloudEvent } from '../../src/outbox/envelope.js';
import { onFaultPoint, type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { onServerOfItsOwn } from '../own-server.js';
import { type Session, until } from '../races/sessions.js';

type Answer = 'ok' | 'fail' | 'refuse' | 'down' | 'gone' | 'hang';

/**
 * Events of one run are sent in their order, and behind one that failed none; runs side by side.
 */
export class MemoryBus implements Bus {
  readonly name = 'memory';
  /** What arrived, also what was not accepted. */
  readonly arrived: CloudEvent[] = [];
  readonly accepted: CloudEvent[] = [];
  calls = 0;
  answer: (event: CloudEvent) => Answer = () => 'ok';

  async publish(events: readonly CloudEvent[], signal: AbortSignal): Promise<Outcome[]> {
    this.calls++;
    const stuck = new Set<string>();
    const outcomes: Outcome[] = [];
    for (const event of events) {
      if (stuck.has(event.partitionkey)) outcomes.push(heldByOrder);
      else if (signal.aborted) outcomes.push(held('stopped'));
      else outcomes.push(await this.#one(event, signal));
      if (!outcomes.at(-1)?.ok) stuck.add(event.partitionkey);
    }
    return outcomes;
  }

  async #one(event: CloudEvent, signal: AbortSignal): Promise<Outcome> {
    const answer = this.answer(event);
    if (answer === 'down')
      return { ok: false, retryable: true, busDown: true, ms: 1, reason: 'refused' };
    this.arrived.push(event);
    if (answer === 'hang') {
      await new Promise<void>((resume) => signal.addEventListener('abort', () => resume()));
      return held('stopped');
    }
    if (answer === 'ok') {
      this.accepted.push(event);
      return { ok: true, ms: 1, status: 204 };
    }
    if (answer === 'gone')
      return { ok: false, retryable: true, gone: true, ms: 1, status: 410, reason: 'gone' };
    return {
      ok: false,
      retryable: answer === 'fail',
      ms: 1,
      status: answer === 'fail' ? 500 : 400,
      reason: `answered ${answer}`,
    };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** RUN/NUMBER of what was accepted, in its order. */
  get told(): string[] {
    return this.accepted.map(({ partitionkey, sequence }) => `${partitionkey}/${Number(sequence)}`);
  }
}

const plan = definePlan('outbox', { version: '1' }, (p) => p.step('only', defineJob('only')));

export interface Scene {
  readonly db: TestDatabase;
  readonly writ: Writ;
  readonly bus: MemoryBus;
  /** A run with its first event, RunStarted, and StepStarted; nobody works on it. */
  run(tenant?: string): Promise<string>;
  /**
   * Appends events to the log of a run, as one call of a gate; `on`: in the transaction of this
   * session.
   */
  append(run: string, times?: number, on?: Session, type?: string): Promise<void>;
  relay(options?: Partial<RelayOptions>): Promise<Relay>;
  /** Works until there is nothing to do now. */
  drain(options?: Partial<RelayOptions>): Promise<void>;
  /**
   * Resolves when nothing of now is hidden by a transaction in another database: other tests share
   * the server, and its numbers.
   */
  settled(): Promise<void>;
  setting(key: string, value: number): Promise<void>;
  undelivered(name?: string): Promise<
    {
      event_id: string;
      stream: string;
      run_seq: number;
      attempts: number;
      due_ms: number | null;
      dead: boolean;
    }[]
  >;
  alerts(): Promise<string[]>;
  /** What a relay would do next. */
  take(relay?: string, limit?: number): Promise<Record<string, unknown>>;
}

export function scene(): Scene {
  let db: TestDatabase;
  let writ: Writ;
  let bus: MemoryBus;
  let marks = 0;
  onServerOfItsOwn();
  beforeEach(async () => {
    db = await testDatabase();
    writ = await db.connect({ actor: 'test' });
    bus = new MemoryBus();
    await writ.runs.register(plan);
  });
  afterEach(async () => {
    onFaultPoint(undefined);
    await db?.drop();
  });
  const busesOf = () => ({ webhook: () => bus, nats: () => bus });
  const take = async (relay = 'looker', limit = 200) =>
    (
      await db.query(`select writ.fn_outbox_take($1, '{webhook,nats}', $2) as answer`, [
        relay,
        limit,
      ])
    )[0]?.answer as Record<string, unknown>;
  const settled = async () => {
    const [row] = await db.query('select pg_current_xact_id()::text as xid');
    const others = `select from pg_stat_activity where datname is distinct from current_database() and backend_xid is not null and backend_xid::text::bigint <= $1::bigint`;
    await until(async () => (await db.query(others, [row?.xid])).length === 0);
  };
  const start = (options?: Partial<RelayOptions>) =>
    writ.relay({ buses: busesOf(), onError: () => undefined, ...options });
  return {
    get db() {
      return db;
    },
    get writ() {
      return writ;
    },
    get bus() {
      return bus;
    },
    run: async (tenant) => (await writ.runs.start(plan, undefined, tenant ? { tenant } : {})).runId,
    append: async (run, times = 1, on, type = 'StepCompleted') => {
      const steps = Array.from({ length: times }, () => `mark${++marks}`);
      const sql = `select writ_data.append_events(array_fill(r.run_id, array[$2::integer]), array_fill($4::text, array[$2::integer]), $3::text[], array_fill('1'::text, array[$2::integer]), array_fill(null::integer, array[$2::integer]),
        array_fill('{}'::jsonb, array[$2::integer]), null, null, 'test', 'test', writ.now()) from (select run_id from writ_data.run where run_id = $1 for update) r`;
      await (on ?? db).query(sql, [run, times, steps, type]);
    },
    relay: start,
    settled,
    drain: async (options) => {
      await settled();
      const relay = await start({ concurrency: 1, ...options });
      try {
        for (const giveUpAt = Date.now() + 20_000; ; ) {
          const [row] =
            await db.query(`select not exists (select from writ_data.destination d where d.state = 'active' and d.retry_at <= writ.now() and (d.held_until > writ.now()
            or exists (select from writ_data.record_after(d.position, writ_data.era_end((d.position).era)) b where b.xid < pg_snapshot_xmin(pg_current_snapshot()))
            or exists (select from writ_data.undelivered u where u.destination = d.name and u.due_at <= writ.now() and u.dead_at is null))) as idle`);
          if (row?.idle) return;
          if (Date.now() > giveUpAt) throw new Error('the relay does not come to an end');
          await new Promise((resume) => setTimeout(resume, 5));
        }
      } finally {
        await relay.stop();
      }
    },
    setting: async (key, value) => {
      await db.query(`select writ.fn_setting_set($1, to_jsonb($2::numeric), 'test')`, [key, value]);
    },
    undelivered: async (name = 'd') =>
      (await db.query(
        `select event_id, stream, run_seq, attempts, round(extract(epoch from due_at - writ.now()) * 1000)::integer as due_ms, dead_at is not null as dead
         from writ_data.undelivered where destination = $1 order by place`,
        [name],
      )) as unknown as Awaited<ReturnType<Scene['undelivered']>>,
    alerts: async () =>
      (
        await db.query(`select code from writ_data.alert where cleared_at is null order by code`)
      ).map(({ code }) => String(code)),
    take,
  };
}
