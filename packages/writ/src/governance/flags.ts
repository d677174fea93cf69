/**
 * What applications read: capabilities and configuration, kept in memory and followed. A
 * notification says that something has changed, and no more; then, and by the clock, a fingerprint
 * of all versions is compared, so a lost notification costs seconds. While the database is away the
 * last known flags stand.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { WritError } from '../errors/index.js';
import { type Duration, milliseconds } from '../queue/duration.js';
import { Listener } from '../queue/worker/listener.js';
import { tell } from '../queue/worker/listeners.js';

export interface Flag {
  /** Of a capability its lifecycle, of a configuration its value. */
  readonly value: unknown;
  /** Changes with every change. */
  readonly version: number;
}

export interface FollowFlagsOptions {
  /**
   * The tenant that is followed from the beginning; `default` unless given. Others are, from when
   * they are first asked for.
   */
  readonly tenant?: string | undefined;
  /**
   * How often the fingerprint is compared while notifications come; '5s' unless given. Where none
   * can come it is every second.
   */
  readonly poll?: Duration | undefined;
  /** Told which flags of a tenant have changed, came or went. */
  readonly onChanged?: ((tenant: string, names: readonly string[]) => void) | undefined;
  /** The database cannot be reached, or does not answer. */
  readonly onAway?: ((error: Error) => void) | undefined;
  /** It answers, for the first time or again; what changed meanwhile has been told. */
  readonly onBack?: (() => void) | undefined;
}

export interface FlagsHost {
  readonly db: Queryable;
  /** For LISTEN, past any pooler. */
  readonly listenConnection: pg.ClientConfig | undefined;
}

type Snapshot = Map<string, Flag>;
type Ask = Record<string, { known?: string }>;
type Answer = Record<string, Record<string, [version: number, value: unknown]>>;

const channel = 'flags_changed';
const deafPollMs = 1_000;
const retryMs = 500;
/** So long a call may take before the database counts as away. */
const patienceMs = 5_000;
/** Tenants that are kept: who was not asked for longest is let go. */
const mostTenants = 1_000;

export class Flags {
  readonly #host: FlagsHost;
  readonly #options: FollowFlagsOptions;
  readonly #pollMs: number;
  readonly #listener: Listener | undefined;
  /** In the order in which they were asked for. */
  readonly #tenants = new Map<string, Snapshot>();
  readonly #loading = new Map<string, Promise<Snapshot>>();
  #everything = true;
  #refreshing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #deaf = true;
  #state: 'new' | 'following' | 'away' | 'stopped' = 'new';

  constructor(host: FlagsHost, options: FollowFlagsOptions = {}) {
    this.#host = host;
    this.#options = options;
    this.#pollMs = milliseconds(options.poll ?? '5s');
    this.#listener =
      host.listenConnection &&
      new Listener({
        connection: host.listenConnection,
        channels: [channel],
        onWake: () => this.#hear(),
        onConnected: () => this.#lookAtEverything(false),
        onError: () => this.#lookAtEverything(true),
      });
  }

  /** The tenant that is meant where none is named. */
  get tenant(): string {
    return this.#options.tenant ?? 'default';
  }

  /** Whether the database answers: if not, what is known may be old. */
  get away(): boolean {
    return this.#state === 'away';
  }

  /**
   * Resolves when the first flags are there. It goes on trying if the database cannot be reached,
   * though this call then fails.
   */
  async start(): Promise<void> {
    this.#tenants.set(this.tenant, new Map());
    await this.#listener?.start();
    await this.#refresh();
    if (this.away)
      throw new WritError('database_unreachable', 'flags come as soon as it can be reached');
  }

  /** A flag by its name, of one tenant; a tenant that nobody asked for before is asked for now. */
  async get(name: string, tenant = this.tenant): Promise<Flag | undefined> {
    const known = this.#tenants.get(tenant);
    if (!known) return (await this.#load(tenant)).get(name);
    if (tenant !== this.tenant) {
      this.#tenants.delete(tenant);
      this.#tenants.set(tenant, known);
    }
    return known.get(name);
  }

  async stop(): Promise<void> {
    this.#state = 'stopped';
    clearTimeout(this.#timer);
    await this.#listener?.stop();
    await this.#refreshing;
  }

  async #load(tenant: string): Promise<Snapshot> {
    if (this.#state === 'stopped') throw new WritError('closed');
    const loading = this.#loading.get(tenant) ?? this.#read(tenant);
    this.#loading.set(tenant, loading);
    try {
      return await loading;
    } finally {
      this.#loading.delete(tenant);
    }
  }

  async #read(tenant: string): Promise<Snapshot> {
    const answer = await this.#ask({ [tenant]: {} });
    const snapshot: Snapshot = new Map();
    this.#take(snapshot, answer[tenant] ?? {});
    this.#tenants.set(tenant, snapshot);
    const [, oldest] = this.#tenants.keys();
    if (this.#tenants.size > mostTenants && oldest !== undefined) this.#tenants.delete(oldest);
    // What was told while the answer was on its way was told of a tenant that nobody followed.
    this.#everything = true;
    this.#soon(0);
    return snapshot;
  }

  /** Something has changed somewhere: a notification says no more, because every login hears it. */
  #hear(): void {
    this.#everything = true;
    this.#soon(0);
  }

  #lookAtEverything(deaf: boolean): void {
    this.#deaf = deaf;
    this.#everything = true;
    this.#soon(0);
  }

  #soon(ms: number): void {
    // whoever refreshes looks again when it is done
    if (this.#state === 'stopped' || this.#state === 'new' || this.#refreshing) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#refresh(), ms);
  }

  /** One query at a time, for everything that has changed since the last. */
  async #refresh(): Promise<void> {
    this.#refreshing = this.#refreshNow();
    await this.#refreshing;
    this.#refreshing = undefined;
    if (this.#state === 'away') return this.#soon(retryMs);
    if (this.#everything) return this.#soon(0);
    clearTimeout(this.#timer);
    if (this.#state === 'stopped') return;
    this.#timer = setTimeout(
      () => {
        this.#everything = true;
        void this.#refresh();
      },
      this.#deaf ? Math.min(deafPollMs, this.#pollMs) : this.#pollMs,
    );
  }

  async #refreshNow(): Promise<void> {
    this.#everything = false;
    const ask: Ask = Object.fromEntries(
      [...this.#tenants].map(([tenant, snapshot]) => [tenant, { known: fingerprint(snapshot) }]),
    );
    const late = setTimeout(
      () => this.#leave(new Error(`no answer in ${patienceMs} ms`)),
      patienceMs,
    );
    try {
      const answer = await this.#ask(ask);
      if (this.#state === 'stopped') return;
      for (const [tenant, flags] of Object.entries(answer)) {
        const snapshot = this.#tenants.get(tenant);
        if (!snapshot) continue;
        const changed = this.#take(snapshot, flags);
        if (changed.length > 0 && this.#state !== 'new')
          tell(() => this.#options.onChanged?.(tenant, changed));
      }
      const was = this.#state;
      this.#state = 'following';
      if (was !== 'following') tell(() => this.#options.onBack?.());
    } catch (error) {
      this.#everything = true;
      this.#leave(error as Error);
    } finally {
      clearTimeout(late);
    }
  }

  #leave(error: Error): void {
    if (this.#state === 'stopped' || this.#state === 'away') return;
    this.#state = 'away';
    tell(() => this.#options.onAway?.(error));
  }

  #ask(ask: Ask): Promise<Answer> {
    return gate<Answer>(this.#host.db, 'fn_flags($1::text::jsonb)', [JSON.stringify(ask)]);
  }

  /**
   * Takes what stands now into a snapshot; answers the names of what is another, has come or has
   * gone.
   */
  #take(snapshot: Snapshot, flags: Answer[string]): string[] {
    const changed: string[] = [];
    for (const name of snapshot.keys()) {
      if (Object.hasOwn(flags, name)) continue;
      snapshot.delete(name);
      changed.push(name);
    }
    for (const [name, [version, value]] of Object.entries(flags)) {
      const before = snapshot.get(name);
      if (!before || !isDeepStrictEqual(before.value, value)) changed.push(name);
      snapshot.set(name, { version, value });
    }
    return changed;
  }
}

/** As fn_flags makes it. */
function fingerprint(snapshot: Snapshot): string {
  const names = [...snapshot.keys()]
    .map((name) => [Buffer.from(name), name] as const)
    .sort(([a], [b]) => Buffer.compare(a, b));
  return createHash('sha256')
    .update(names.map(([, name]) => `${name} ${snapshot.get(name)?.version}`).join('\n'))
    .digest('hex');
}
