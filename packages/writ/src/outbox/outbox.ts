/** What a connection has of the outbox: destinations, relays, and the stream of events. */
import type pg from 'pg';
import { type Host, tenantOf } from '../database/acting.js';
import type { Queryable } from '../database/connection.js';
import { WritError } from '../errors/index.js';
import { detached } from '../telemetry/tracer.js';
import { Destinations } from './destinations.js';
import {
  type EventsRead,
  type Followed,
  type FollowOptions,
  follow,
  type ReadEventsOptions,
  readEvents,
} from './follow.js';
import type { Relay, RelayOptions } from './relay.js';

export class Outbox {
  readonly destinations: Destinations;
  readonly #host: Host;
  readonly #db: Queryable;
  readonly #connectionString: string | undefined;
  readonly #relays = new Set<Relay>();

  /** `connectionString` is for LISTEN, past any pooler. */
  constructor(host: Host, connectionString: string | undefined) {
    this.#host = host;
    this.#db = host.db;
    this.#connectionString = connectionString;
    this.destinations = new Destinations(host);
  }

  async relay(options: RelayOptions): Promise<Relay> {
    const listenConnection = this.#listen('writ relay');
    if (!listenConnection) throw new WritError('connection_string_required');
    const { Relay } = await import('./relay.js');
    const relay = new Relay({ db: this.#db, listenConnection }, options);
    this.#relays.add(relay);
    await detached(() => relay.start());
    return relay;
  }

  events(options: FollowOptions = {}): AsyncGenerator<Followed, void, void> {
    return follow({ db: this.#db, listenConnection: this.#listen('writ events') }, options);
  }

  read(options: ReadEventsOptions): Promise<EventsRead> {
    const tenant = tenantOf(this.#host, options);
    return readEvents(this.#db, { ...options, ...(tenant !== undefined && { tenant }) });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#relays].map((relay) => relay.stop()));
  }

  #listen(name: string): pg.ClientConfig | undefined {
    return this.#connectionString
      ? { connectionString: this.#connectionString, application_name: name }
      : undefined;
  }
}
