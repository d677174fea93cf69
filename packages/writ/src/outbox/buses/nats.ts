/**
 * The bus of NATS JetStream. An event is published with its id as Nats-Msg-Id, so a stream drops
 * what it already has; it counts as sent when the stream has acknowledged it. The events of one run
 * are published one after the other, each after the acknowledgement of the one before, and runs
 * side by side. Events go in structured mode of CloudEvents: the message is the whole event, so
 * what a consumer stores or passes on without its headers is still one. The connection is made at
 * the first publish and restored by the client.
 */
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { MsgHdrs, NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import { WritError } from '../../errors/index.js';
import { type CloudEvent, cloudEventsJson, encodeEvent } from '../envelope.js';
import { type Bus, heldByBus, heldByStop, type NotSent, type Outcome, tooLarge } from './bus.js';
import { concurrencyOf, publishInLanes, UnderWay } from './lanes.js';

export interface NatsOptions {
  readonly name: string;
  /** Such as `nats://host:4222`; more than one for a cluster. */
  readonly servers: string | readonly string[];
  /** The stream that the events are to be in. */
  readonly stream: string;
  /** Subjects are PREFIX.TENANT.TYPE. Default `writ`. */
  readonly prefix?: string;
  /** Make the stream if it is missing. Left out: a missing stream is a bus that is down. */
  readonly create?: {
    /**
     * For how long the stream knows the ids of what it has. Default one hour: longer than the relay
     * tries.
     */
    readonly duplicateWindowSec?: number;
    readonly replicas?: number;
    readonly maxAgeSec?: number;
  };
  /** How many runs are published at once. Default 128. */
  readonly concurrency?: number;
  /** How long to wait for a connection, and for an acknowledgement. Default 5 s. */
  readonly timeoutMs?: number;
  /**
   * What else the client's `connect` takes, such as token, user and pass, authenticator, tls. Asked
   * when a connection is made.
   */
  readonly connectOptions?: () => object | Promise<object>;
}

interface Connected {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly client: JetStreamClient;
  readonly headers: () => MsgHdrs;
}

const packages = ['@nats-io/transport-node', '@nats-io/jetstream'] as const;
/** The stream takes no message of this length: sending it again will not help. */
const messageTooLong = 10_054;
const streamNotFound = 10_059;

export function natsBus(options: NatsOptions): Bus {
  return new NatsBus(options);
}

/**
 * The subject of an event. Characters that mean something in a subject are written as %XX, so two
 * tenants never have the same one.
 */
export function subjectOf(prefix: string, event: CloudEvent): string {
  const tokens = event.type.split('.').map(subjectToken);
  return [prefix, subjectToken(event.tenantid), ...tokens].join('.');
}

function subjectToken(text: string): string {
  // An empty token is no subject at all.
  return text === ''
    ? '%'
    : text.replace(/[^A-Za-z0-9_:@/-]/gu, (char) => [...Buffer.from(char)].map(percent).join(''));
}

const percent = (byte: number) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;

class NatsBus implements Bus {
  readonly name: string;
  readonly #options: NatsOptions;
  readonly #prefix: string;
  readonly #concurrency: number;
  readonly #underWay = new UnderWay();
  #connecting: Promise<Connected> | undefined;
  /** Something was not acknowledged: the stream may be gone, as when a server has lost its disk. */
  #doubt = false;

  constructor(options: NatsOptions) {
    const { prefix = 'writ' } = options;
    if (!/^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/.test(prefix))
      throw new WritError('invalid_bus', 'the prefix of the subjects is no subject');
    this.name = options.name;
    this.#options = options;
    this.#prefix = prefix;
    this.#concurrency = concurrencyOf(options.concurrency, 128);
  }

  publish(events: readonly CloudEvent[], caller: AbortSignal): Promise<Outcome[]> {
    return this.#underWay.publish(caller, (signal) => this.#publish(events, signal));
  }

  async close(): Promise<void> {
    await this.#underWay.close();
    const connecting = this.#connecting;
    this.#connecting = undefined;
    const connected = await connecting?.catch(() => undefined);
    await connected?.connection.close();
  }

  async #publish(events: readonly CloudEvent[], signal: AbortSignal): Promise<Outcome[]> {
    if (signal.aborted) return events.map(() => heldByStop);
    let connected: Connected;
    try {
      connected = await this.#connected();
    } catch (error) {
      // What no waiting can mend is not an outcome of an event.
      if (error instanceof WritError && error.code === 'bus_package_missing') throw error;
      return events.map((_, at) => (at === 0 ? down(error, 0) : heldByBus));
    }
    return publishInLanes(events, this.#concurrency, signal, (event) =>
      this.#send(connected, event, signal),
    );
  }

  /**
   * One connection for all, made when it is first needed and again when the client has given it up;
   * the stream is looked at again when something went wrong.
   */
  async #connected(): Promise<Connected> {
    this.#connecting ??= this.#connect();
    const connecting = this.#connecting;
    try {
      const connected = await connecting;
      if (connected.connection.isClosed()) throw new Error('the connection was closed');
      if (this.#doubt) await this.#checkStream(connected.manager);
      this.#doubt = false;
      return connected;
    } catch (error) {
      const closed = await connecting
        .then(({ connection }) => connection.isClosed())
        .catch(() => true);
      if (closed && this.#connecting === connecting) this.#connecting = undefined;
      throw error;
    }
  }

  async #connect(): Promise<Connected> {
    const { transport, jetstream } = await packagesOfNats();
    const { servers, timeoutMs = 5_000, name } = this.#options;
    const connection = await transport.connect({
      ...((await this.#options.connectOptions?.()) as NodeConnectionOptions | undefined),
      servers: typeof servers === 'string' ? servers : [...servers],
      name: `writ ${name}`,
      timeout: timeoutMs,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
    });
    let manager: JetStreamManager;
    try {
      manager = await jetstream.jetstreamManager(connection, { timeout: timeoutMs });
      await this.#checkStream(manager);
    } catch (error) {
      await connection.close();
      throw error;
    }
    return {
      connection,
      manager,
      client: jetstream.jetstream(connection, { timeout: timeoutMs }),
      headers: () => transport.headers(),
    };
  }

  async #checkStream(manager: JetStreamManager): Promise<void> {
    const { stream, create } = this.#options;
    const wanted = `${this.#prefix}.>`;
    try {
      const { config } = await manager.streams.info(stream);
      if ((config.subjects ?? []).some((subject) => covers(subject, wanted))) return;
      throw new Error(`stream ${stream} does not take ${wanted}`);
    } catch (error) {
      if (!create || codeOf(error) !== streamNotFound) throw error;
    }
    const { duplicateWindowSec = 3_600, replicas = 1, maxAgeSec = 0 } = create;
    await manager.streams.add({
      name: stream,
      subjects: [wanted],
      num_replicas: replicas,
      max_age: maxAgeSec * 1e9,
      // A stream may not know ids for longer than it has messages.
      duplicate_window:
        (maxAgeSec > 0 ? Math.min(duplicateWindowSec, maxAgeSec) : duplicateWindowSec) * 1e9,
    });
  }

  async #send(
    { client, headers }: Connected,
    event: CloudEvent,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const body = encodeEvent(event);
    if (!body) return tooLarge;
    const began = performance.now();
    const ms = () => Math.round(performance.now() - began);
    const described = headers();
    described.set('Content-Type', cloudEventsJson);
    try {
      const acknowledged = client.publish(subjectOf(this.#prefix, event), body, {
        msgID: event.id,
        headers: described,
        expect: { streamName: this.#options.stream },
        timeout: this.#options.timeoutMs ?? 5_000,
      });
      const ack = await untilAborted(acknowledged, signal);
      if (!ack) return { ...heldByStop, ms: ms() };
      return { ok: true, ms: ms(), ...(ack.duplicate && { duplicate: true }) };
    } catch (error) {
      if (codeOf(error) === messageTooLong)
        return { ok: false, retryable: false, reason: reasonOf(error), ms: ms() };
      if (codeOf(error) !== undefined)
        return { ok: false, retryable: true, reason: reasonOf(error), ms: ms() };
      this.#doubt = true;
      return down(error, ms());
    }
  }
}

function down(error: unknown, ms: number): NotSent {
  return { ok: false, retryable: true, busDown: true, reason: reasonOf(error), ms };
}

/**
 * The client's errors name subjects and servers, not credentials; the one of a refused login says
 * only that.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'NATS failed without saying why';
  return `NATS: ${error.name === error.message ? error.name : `${error.name}: ${error.message}`}`.replace(
    /\/\/[^\s@/]*@/g,
    '//',
  );
}

/** The code in an answer of JetStream; undefined if there was no answer. */
function codeOf(error: unknown): number | undefined {
  const code =
    error instanceof Error && 'apiError' in error && 'code' in error ? error.code : undefined;
  return typeof code === 'number' ? code : undefined;
}

/** Whether a stream's subject takes all that `prefix.>` does. */
function covers(subject: string, wanted: string): boolean {
  const [ours, theirs] = [wanted.split('.'), subject.split('.')];
  for (const [at, token] of theirs.entries()) {
    if (token === '>') return ours.length > at;
    if (ours[at] === '>' || (token !== '*' && token !== ours[at])) return false;
  }
  return false;
}

/**
 * Undefined if the signal comes first. The acknowledgement may come later; nobody waits for it, and
 * the id tells it apart from a second sending.
 */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Loaded at the first use: optional peers, because most do without NATS. */
async function packagesOfNats() {
  try {
    const [transport, jetstream] = await Promise.all([
      import('@nats-io/transport-node'),
      import('@nats-io/jetstream'),
    ]);
    return { transport, jetstream };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new WritError('bus_package_missing', `npm install ${packages.join(' ')}`, {
      cause: error,
    });
  }
}
