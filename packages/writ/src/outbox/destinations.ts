/** `writ.destinations`: places outside that are told of events. */
import { type Acting, act, actorOf, type Host, tenantOf } from '../database/acting.js';
import { readJson } from '../database/gate.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { uuidFloor } from '../database/uuid.js';
import { WritRefusal } from '../errors/index.js';
import { everythingOfRuns } from './follow.js';

export interface DestinationSettings extends Acting {
  readonly bus: 'webhook' | 'nats';
  /**
   * Types of events; one that ends with * is the beginning of types. Everything about runs, and
   * alerts, unless given.
   */
  readonly types?: readonly string[] | undefined;
  /** Told of this tenant's events only. */
  readonly tenant?: string | undefined;
  /**
   * Where it is: for a webhook `url` and `secrets`, the names of its secrets; for NATS `servers`,
   * `stream`, `prefix`. Never a secret.
   */
  readonly config: Readonly<Record<string, unknown>>;
  /** Told also of what has happened since then, as far as it is still recorded. */
  readonly since?: Date | string | undefined;
}

export interface ListedDestination {
  readonly name: string;
  readonly bus: 'webhook' | 'nats';
  readonly tenant: string | null;
  readonly types: readonly string[];
  readonly config: Readonly<Record<string, unknown>>;
  readonly state: 'active' | 'paused';
  /** Why it is paused, or its last answer while it accepts nothing. */
  readonly note: string | null;
  /** Calls in a row in which it accepted nothing. */
  readonly failures: number;
  readonly retryAt: string | null;
  /** The relay that has its turn. */
  readonly relay: string | null;
  readonly undelivered: number;
  readonly dead: number;
  /** When the first thing happened that it has not been told. */
  readonly behindSince: string | null;
}

export interface DeadLetter {
  readonly eventId: string;
  readonly stream: string;
  readonly runSeq: number | null;
  readonly attempts: number;
  readonly deadAt: string;
  readonly status: number | null;
  readonly reason: string | null;
}

export interface Delivery {
  readonly eventId: string;
  readonly attempt: number;
  readonly at: string;
  readonly ok: boolean;
  readonly ms: number | null;
  readonly status: number | null;
  readonly reason: string | null;
}

export interface RedeliverOptions extends Acting {
  /** These dead letters; all that it has unless `events` or `since` is given. */
  readonly events?: readonly string[] | undefined;
  /** Everything that has happened since then, accepted or not, with the same ids. */
  readonly since?: Date | string | undefined;
}

/** How many events of a type. */
export interface EventCount {
  readonly type: string;
  readonly events: number;
}

export class Destinations {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Makes a destination or changes it. A changed one goes on where it was. */
  async put(
    name: string,
    { bus, types = everythingOfRuns, config, since, ...options }: DestinationSettings,
  ): Promise<{ readonly created: boolean }> {
    const answer = await act<{ new: boolean }>(
      this.#host,
      'fn_destination_put($1, $2, $3::text::text[], $4, $5::text::jsonb, $6::text::timestamptz, $7)',
      [
        name,
        bus,
        `{${types.map((type) => JSON.stringify(type)).join(',')}}`,
        tenantOf(this.#host, options) ?? null,
        JSON.stringify(config),
        since === undefined ? null : moment(since),
        actorOf(this.#host, options),
      ],
      options,
    );
    return { created: answer.new };
  }

  /** Tells it nothing until it is resumed. Nothing is lost, because the record is kept for it. */
  pause(name: string, { note, ...options }: Acting & { readonly note?: string | undefined } = {}) {
    return this.#set(name, 'paused', note, options);
  }

  /** Lets it go on where it was, at once. */
  resume(name: string, options: Acting = {}): Promise<void> {
    return this.#set(name, 'active', undefined, options);
  }

  /** Ends it. It is never told of what it was not told yet. */
  remove(name: string, options: Acting = {}): Promise<void> {
    return this.#set(name, 'removed', undefined, options);
  }

  async #set(
    name: string,
    state: string,
    note: string | undefined,
    options: Acting,
  ): Promise<void> {
    await act(
      this.#host,
      'fn_destination_set($1, $2, $3, $4)',
      [name, state, note ?? null, actorOf(this.#host, options)],
      options,
    );
  }

  /** Tells it again of dead letters, or of everything since a time as far as it is recorded. */
  redeliver(
    name: string,
    { events, since, ...options }: RedeliverOptions = {},
  ): Promise<{ readonly redelivered: number }> {
    return act<{ replayed: number }>(
      this.#host,
      'fn_outbox_replay($1, $2::text::uuid[], $3::text::timestamptz, $4)',
      [
        name,
        events ? `{${events.join(',')}}` : null,
        since === undefined ? null : moment(since),
        actorOf(this.#host, options),
      ],
      options,
    ).then(({ replayed }) => ({ redelivered: replayed }));
  }

  /**
   * How many events of its types the record has since a time, of all tenants. Ids of the record's
   * rows begin with their time, so an index serves it.
   */
  async recorded(name: string, since: Date | string): Promise<EventCount[]> {
    const { types } = await this.get(name);
    const patterns = types.map((type) => type.replace(/[\\_%]/g, '\\$&').replace(/\*$/, '%'));
    return readJson<EventCount>(
      this.#host.db,
      `select event_type as type, sum(jobs) as events from writ.v_queue_flow
       where batch_id >= $1::text::uuid and event_type like any ($2::text[])
       group by 1 order by 1`,
      [uuidFloor(new Date(since).getTime()), patterns],
    );
  }

  /** By name. */
  list(
    options: PageOptions & {
      readonly tenant?: string;
      readonly bus?: ListedDestination['bus'];
    } = {},
  ): Promise<Page<ListedDestination>> {
    return this.#read(undefined, options.bus, options);
  }

  async get(
    name: string,
    options: { readonly tenant?: string | undefined } = {},
  ): Promise<ListedDestination> {
    const [found] = (await this.#read(name, undefined, { ...options, limit: 1 })).items;
    if (!found) throw new WritRefusal('destination_not_found', name);
    return found;
  }

  #read(
    name: string | undefined,
    bus: string | undefined,
    options: PageOptions & { readonly tenant?: string | undefined },
  ): Promise<Page<ListedDestination>> {
    return readPage<ListedDestination>(
      this.#host.db,
      {
        columns: `name, bus, tenant_id as tenant, types, config, state, note, failures,
          retry_at as "retryAt", relay, undelivered, dead, behind_since as "behindSince"`,
        from: 'writ.destination',
        where: [
          ['name = ?', name],
          ['bus = ?', bus],
          ['tenant_id = ?', tenantOf(this.#host, options)],
        ],
        key: [['name', 'text']],
        order: 'asc',
      },
      options,
    );
  }

  /** Events that it will not be told of unless somebody has them redelivered; the oldest first. */
  deadLetters(
    name: string,
    options: PageOptions & { readonly tenant?: string | undefined } = {},
  ): Promise<Page<DeadLetter>> {
    return readPage<DeadLetter>(
      this.#host.db,
      {
        columns: `event_id as "eventId", stream, run_seq as "runSeq", attempts,
          dead_at as "deadAt", status, reason`,
        from: 'writ.undelivered',
        where: [
          ['destination = ?', name],
          ['tenant_id = ?', tenantOf(this.#host, options)],
          ['dead_at is not null', true],
        ],
        key: [
          ['dead_at', 'timestamptz'],
          ['event_id', 'uuid'],
        ],
        order: 'asc',
      },
      options,
    );
  }

  /** What was sent to it and what it answered, the newest first. */
  deliveries(
    name: string,
    options: PageOptions & {
      readonly tenant?: string | undefined;
      readonly failed?: boolean | undefined;
    } = {},
  ): Promise<Page<Delivery>> {
    return readPage<Delivery>(
      this.#host.db,
      {
        columns: 'event_id as "eventId", attempt, at, ok, ms, status, reason',
        from: 'writ.delivery',
        where: [
          ['destination = ?', name],
          ['tenant_id = ?', tenantOf(this.#host, options)],
          ['not ok', options.failed || undefined],
        ],
        key: [['delivery_id', 'uuid']],
      },
      options,
    );
  }
}

const moment = (at: Date | string): string => (typeof at === 'string' ? at : at.toISOString());
