/** `writ.destinations`: places outside that are told of events. */
import type { Queryable } from '../database/connection.js';
import { gate, readRows } from '../database/gate.js';
import { everythingOfRuns } from './follow.js';

export interface DestinationSettings {
  readonly bus: 'webhook' | 'nats';
  /** Types of events; one that ends with * is the beginning of types. Everything about runs, and alerts, unless given. */
  readonly types?: readonly string[];
  /** Told of this tenant's events only. */
  readonly tenant?: string;
  /** Where it is: for a webhook `url` and `secrets`, the names of its secrets; for NATS `servers`, `stream`, `prefix`. Never a secret. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Told also of what has happened since then, as far as it is still recorded. */
  readonly since?: Date;
}

export interface ListedDestination {
  readonly name: string;
  readonly bus: string;
  readonly tenant?: string;
  readonly types: readonly string[];
  readonly config: Readonly<Record<string, unknown>>;
  readonly state: 'active' | 'paused';
  /** Why it is paused, or what it answered the last time, if it accepts nothing. */
  readonly note?: string;
  /** Calls in a row in which nothing was accepted. */
  readonly failures: number;
  readonly retryAt?: string;
  readonly relay?: string;
  readonly undelivered: number;
  readonly dead: number;
  /** When the first thing happened that it has not been told. */
  readonly behindSince?: string;
}

export interface DeadLetter {
  readonly eventId: string;
  readonly stream: string;
  readonly runSeq?: number;
  readonly attempts: number;
  readonly deadAt: string;
  readonly status?: number;
  readonly reason?: string;
}

export interface Delivery {
  readonly eventId: string;
  readonly attempt: number;
  readonly at: string;
  readonly ok: boolean;
  readonly ms?: number;
  readonly status?: number;
  readonly reason?: string;
}

const moment = (column: string) =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export class Destinations {
  readonly #db: Queryable;
  readonly #actor: string;

  constructor(db: Queryable, actor: string) {
    this.#db = db;
    this.#actor = actor;
  }

  /** Makes a destination or changes it. Changed, it goes on where it was. */
  async put(
    name: string,
    { bus, types = everythingOfRuns, tenant, config, since }: DestinationSettings,
  ): Promise<{ readonly created: boolean }> {
    const answer = await gate<{ new: boolean }>(
      this.#db,
      'fn_destination_put($1, $2, $3::text::text[], $4, $5::text::jsonb, $6::text::timestamptz, $7)',
      [
        name,
        bus,
        `{${types.map((type) => JSON.stringify(type)).join(',')}}`,
        tenant ?? null,
        JSON.stringify(config),
        since?.toISOString() ?? null,
        this.#actor,
      ],
    );
    return { created: answer.new };
  }

  /** It is told nothing until it is resumed; nothing is lost, for the record is kept for it. */
  pause(name: string, note?: string): Promise<void> {
    return this.#set(name, 'paused', note);
  }

  /** It goes on where it was, at once. */
  resume(name: string): Promise<void> {
    return this.#set(name, 'active');
  }

  /** What it was not told, it will not be. */
  remove(name: string): Promise<void> {
    return this.#set(name, 'removed');
  }

  async #set(name: string, state: string, note?: string): Promise<void> {
    await gate(this.#db, 'fn_destination_set($1, $2, $3, $4)', [
      name,
      state,
      note ?? null,
      this.#actor,
    ]);
  }

  /** Gives dead letters to it again: these, or all. */
  async replay(name: string, events?: readonly string[]): Promise<{ readonly replayed: number }> {
    return gate(this.#db, 'fn_outbox_replay($1, $2::text::uuid[], null, $3)', [
      name,
      events ? `{${events.join(',')}}` : null,
      this.#actor,
    ]);
  }

  /** Tells it once more what has happened since, with the same ids, as far as it is still recorded. */
  async replaySince(name: string, since: Date): Promise<void> {
    await gate(this.#db, 'fn_outbox_replay($1, null, $2::text::timestamptz, $3)', [
      name,
      since.toISOString(),
      this.#actor,
    ]);
  }

  list(): Promise<ListedDestination[]> {
    return this.#rows(
      `select json_build_object('name', name, 'bus', bus, 'tenant', tenant_id, 'types', types, 'config', config, 'state', state, 'note', note, 'failures', failures, 'retryAt', ${moment('retry_at')}, 'relay', relay,
         'undelivered', undelivered, 'dead', dead, 'behindSince', ${moment('behind_since')})::text as row from writ.destination order by name`,
    );
  }

  /** The oldest first. */
  deadLetters(
    name: string,
    { limit = 100 }: { readonly limit?: number } = {},
  ): Promise<DeadLetter[]> {
    return this.#rows(
      `select json_build_object('eventId', event_id, 'stream', stream, 'runSeq', run_seq, 'attempts', attempts, 'deadAt', ${moment('dead_at')}, 'status', status, 'reason', reason)::text as row
       from writ.undelivered where destination = $1 and dead_at is not null order by dead_at, event_id limit $2`,
      [name, Math.min(Math.max(1, limit), 1000)],
    );
  }

  /** What was sent to it, the newest first. */
  deliveries(
    name: string,
    { limit = 20, failed = false }: { readonly limit?: number; readonly failed?: boolean } = {},
  ): Promise<Delivery[]> {
    return this.#rows(
      `select json_build_object('eventId', event_id, 'attempt', attempt, 'at', ${moment('at')}, 'ok', ok, 'ms', ms, 'status', status, 'reason', reason)::text as row
       from writ.delivery where destination = $1 and not (ok and $2) order by delivery_id desc limit $3`,
      [name, failed, Math.min(Math.max(1, limit), 1000)],
    );
  }

  async #rows<T>(sql: string, params: readonly unknown[] = []): Promise<T[]> {
    const rows = await readRows(this.#db, sql, params);
    return rows.map(({ row }) => JSON.parse(String(row), (_, value) => value ?? undefined) as T);
  }
}
