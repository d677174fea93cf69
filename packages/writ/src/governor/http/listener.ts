/**
 * Signals by HTTP. A request passes through the same steps each time: a route, a place among those
 * in hand, its headers, its body, its signature, its values, and then whoever takes it in. The
 * first step that says no answers, and before the signature nothing is kept. What the listener has
 * answered with 200, 202 or 429 is in the database; with anything else it is not, or nobody knows,
 * and the sender tries again with the same id.
 *
 * With the database away, what was missed is on the disk of this machine before the sender hears of
 * it: its id, and whom it was for.
 */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { inTime } from '../../database/budget.js';
import { uuidv7 } from '../../database/uuid.js';
import { type ErrorCode, isConnectionLoss, registry, WritRefusal } from '../../errors/index.js';
import type { IncomingSignal } from '../incoming.js';
import type { GovernorName, Missed, SignalIntake, Signalled } from '../intake.js';
import { alertsBytes, readAlerts } from './alertmanager.js';
import {
  type Answer,
  away,
  busy,
  errorAnswer,
  outcomeOf,
  registered,
  secretsAway,
  takenAnswer,
} from './answers.js';
import { readEntitlement } from './entitlement.js';
import { bodyOf, type Route, routeOf } from './reading.js';
import {
  bodyBytes,
  type Credentials,
  checkHeaders,
  checkSender,
  type Read,
  type Refused,
  type Request,
} from './request.js';
import { readSignal } from './signal.js';

export interface HttpListenerOptions {
  readonly intake: SignalIntake;
  /** Takes the older X-Webhook-* signatures in place of Standard Webhooks. */
  readonly legacySignatures?: boolean;
  /**
   * What the requests of a tenant are signed with, and their tokens. None: nothing of it is taken.
   */
  readonly secretsOf: (tenant: string) => Promise<readonly string[]>;
  readonly tokensOf: (tenant: string) => Promise<readonly string[]>;
  /** Resolves when it is on the disk. */
  readonly onOutage: (missed: Missed) => Promise<void>;
  /** A request was refused, with this code: to be counted, since nothing of it is stored. */
  readonly onRejected?: (code: ErrorCode) => void;
  readonly onTaken?: (status: Signalled['status']) => void;
  /** What is nobody's fault outside, and the request that it happened to, if it was one. */
  readonly onFault?: (error: unknown, requestId?: string) => void;
  /** 127.0.0.1 unless given. */
  readonly host?: string;
  /** Any that is free unless given. */
  readonly port?: number;
  /** Requests in hand at once; 256 unless given. */
  readonly inHand?: number;
  /** For the headers, and for the whole of a request; 10 s unless given. */
  readonly timeoutMs?: number;
  /**
   * For the intake; past it nobody knows what became of a signal, as with the database away. 10 s
   * unless given: a intake has a budget of its own, and this keeps places free should it not keep
   * to it.
   */
  readonly takeMs?: number;
  /** For what is in hand when it is closed; 5 s unless given. */
  readonly drainMs?: number;
  /** The clock; milliseconds since 1970. */
  readonly now?: () => number;
}

/** Alerts of one notification that are taken in at the same time. */
const lanes = 32;

export class HttpListener {
  readonly #options: HttpListenerOptions;
  readonly #server: Server;
  readonly #most: number;
  readonly #takeMs: number;
  readonly #now: () => number;
  /**
   * Connections on which the next words belong to a request that is in hand, or has been answered
   * before all of it had come: what is wrong there now cannot be said.
   */
  readonly #spoken = new WeakSet<Duplex>();
  #inHand = 0;
  #closing: Promise<void> | undefined;

  constructor(options: HttpListenerOptions) {
    this.#options = options;
    this.#most = options.inHand ?? 256;
    this.#takeMs = options.takeMs ?? 10_000;
    this.#now = options.now ?? Date.now;
    const timeout = options.timeoutMs ?? 10_000;
    this.#server = createServer(
      {
        headersTimeout: timeout,
        requestTimeout: timeout,
        connectionsCheckingInterval: Math.min(1_000, timeout),
        keepAliveTimeout: 60_000,
        requireHostHeader: false, // it would be answered without a word
      },
      (request, response) => void this.#handle(request, response),
    );
    this.#server.maxConnections = Math.max(1_024, 4 * this.#most);
    this.#server.on('drop', () => this.#options.onRejected?.('listener_busy'));
    this.#server.on('clientError', (error, socket) => this.#malformed(error, socket));
  }

  /** Resolves with where it listens. */
  listen(): Promise<{ host: string; port: number }> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#options.port ?? 0, this.#options.host ?? '127.0.0.1', () => {
        this.#server.off('error', reject).on('error', (error) => this.#options.onFault?.(error));
        const { address, port } = this.#server.address() as AddressInfo;
        resolve({ host: address, port });
      });
    });
  }

  /**
   * Takes nothing new, and resolves when what is in hand has been answered, or its time is over.
   */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      const late = setTimeout(
        () => this.#server.closeAllConnections(),
        this.#options.drainMs ?? 5_000,
      );
      this.#server.close(() => {
        clearTimeout(late);
        resolve();
      });
      this.#server.closeIdleConnections();
    });
    return this.#closing;
  }

  // Answering
  // ------------------------------------------------------------------------------------------------

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = uuidv7();
    const route = routeOf(request.url ?? '');
    if (!route)
      return this.#send(request, response, requestId, this.#rejected(requestId, 'route_not_found'));
    const allowed = route.to === 'health' ? ['GET', 'HEAD'] : ['POST'];
    if (!allowed.includes(request.method ?? '')) {
      const answer = this.#rejected(requestId, 'method_not_allowed');
      return this.#send(request, response, requestId, {
        ...answer,
        headers: { allow: allowed.join(', ') },
      });
    }
    if (route.to === 'health') return this.#send(request, response, requestId, this.#health());
    if (this.#closing || this.#inHand >= this.#most) {
      this.#options.onRejected?.('listener_busy');
      return this.#send(request, response, requestId, busy(requestId));
    }
    this.#inHand++;
    try {
      const answer = await this.#answer(route, request, requestId);
      if (answer) this.#send(request, response, requestId, answer);
    } catch (error) {
      this.#options.onFault?.(error, requestId);
      this.#send(request, response, requestId, registered(requestId, 'internal_error'));
    } finally {
      this.#inHand--;
    }
  }

  #send(
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
    { status, body, headers }: Answer,
  ): void {
    const text = Buffer.from(JSON.stringify(body));
    if (request.complete) this.#spoken.delete(request.socket);
    else {
      this.#spoken.add(request.socket);
      request.once('end', () => this.#spoken.delete(request.socket));
    }
    if (this.#closing) response.shouldKeepAlive = false;
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': text.length,
      'cache-control': 'no-store',
      'x-request-id': requestId,
      ...headers,
    });
    response.end(request.method === 'HEAD' ? undefined : text);
  }

  #health(): Answer {
    return this.#closing
      ? { status: 503, body: { status: 'closing' } }
      : { status: 200, body: { status: 'ok', in_hand: this.#inHand } };
  }

  #rejected(requestId: string, code: ErrorCode): Answer {
    this.#options.onRejected?.(code);
    return registered(requestId, code);
  }

  #refused(requestId: string, refused: Refused): Answer {
    this.#options.onRejected?.(refused.code);
    return errorAnswer(requestId, refused);
  }

  /**
   * What is no request, or not in time. node:http has read nothing that could be answered as one.
   */
  #malformed(error: Error & { code?: string }, socket: Duplex): void {
    if (!socket.writable || error.code === 'ECONNRESET' || this.#spoken.has(socket)) {
      socket.destroy();
      return;
    }
    const code =
      error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timed_out' : 'malformed_request';
    const { status, body } = this.#rejected(uuidv7(), code);
    const text = JSON.stringify(body);
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8`;
    socket.end(`${head}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`, () =>
      socket.destroy(),
    );
  }

  // Reading
  // --------------------------------------------------------------------------------------------------

  /** Undefined when there is nobody left to answer to. */
  async #answer(
    route: Exclude<Route, { to: 'health' }>,
    request: IncomingMessage,
    requestId: string,
  ): Promise<Answer | undefined> {
    const credentials = await this.#credentials(route.tenant, requestId);
    if (!credentials) return secretsAway(requestId);
    // Before anything is read: who has no token does not get to fill memory.
    const early =
      route.to === 'alerts'
        ? checkSender(request.headers, credentials.tokens)
        : checkHeaders(request.headers, credentials);
    if (early.refused) return this.#refused(requestId, early.refused);
    const body = await bodyOf(request, route.to === 'alerts' ? alertsBytes : bodyBytes);
    if (body === 'gone') return undefined;
    if (body === 'too_large') return this.#rejected(requestId, 'body_too_large');
    this.#spoken.add(request.socket);
    const whole = { headers: request.headers, body };
    if (route.to === 'signals')
      return this.#signal(route, readSignal(whole, credentials), requestId);
    if (route.to === 'alerts') return this.#alerts(route, whole, credentials, requestId);
    return this.#entitlement(route.tenant, whole, credentials, requestId);
  }

  /**
   * Undefined when they cannot be read. The time is read once: a request cannot grow old between
   * two steps.
   */
  async #credentials(tenant: string, requestId: string): Promise<Credentials | undefined> {
    const now = this.#now();
    try {
      const [secrets, tokens] = await Promise.all([
        this.#options.secretsOf(tenant),
        this.#options.tokensOf(tenant),
      ]);
      return { secrets, tokens, now, ...(this.#options.legacySignatures && { legacy: true }) };
    } catch (error) {
      this.#options.onFault?.(error, requestId);
      return undefined;
    }
  }

  // Taking in
  // ------------------------------------------------------------------------------------------------

  async #signal(
    governor: GovernorName,
    read: Read<IncomingSignal>,
    requestId: string,
  ): Promise<Answer> {
    if (read.refused) return this.#refused(requestId, read.refused);
    try {
      return takenAnswer(requestId, await this.#take(governor, read.ok));
    } catch (error) {
      return this.#failed(error, [missedSignal(governor, read.ok)], requestId);
    }
  }

  async #entitlement(
    tenant: string,
    request: Request,
    credentials: Credentials,
    requestId: string,
  ): Promise<Answer> {
    const read = readEntitlement(request, credentials);
    if (read.refused) return this.#refused(requestId, read.refused);
    const { entitlement_id, webhook_id } = read.ok;
    try {
      await inTime(this.#options.intake.entitlement(tenant, read.ok), this.#takeMs, 'the intake');
      return { status: 200, body: { status: 'accept', entitlement_id } };
    } catch (error) {
      return this.#failed(error, [{ kind: 'entitlement', tenant, webhook_id }], requestId);
    }
  }

  /**
   * One answer for many signals. Each is told apart in it; the whole has failed only if nothing of
   * it was taken, if something of it could not be, or if the database went away: Alertmanager sends
   * it again then, and knows nothing of single alerts.
   */
  async #alerts(
    { tenant, sku }: GovernorName,
    request: Request,
    credentials: Credentials,
    requestId: string,
  ): Promise<Answer> {
    const governor = { tenant, sku };
    const read = readAlerts(request, credentials);
    if (read.refused) return this.#refused(requestId, read.refused);
    const wrong = read.ok.refused.map(({ alert, why }) => ({
      alert,
      status: 'refused',
      code: why.code,
      message: why.message,
    }));
    for (const { code } of wrong) this.#options.onRejected?.(code);
    const missed: Missed[] = [];
    let lost: unknown;
    let failed = false;
    const outcomes = await inLanes(read.ok.signals, lanes, async (signal) => {
      const { signal_id } = signal;
      try {
        if (lost === undefined)
          return { signal_id, ...outcomeOf(await this.#take(governor, signal)) };
      } catch (error) {
        if (error instanceof WritRefusal && !isConnectionLoss(error)) {
          this.#options.onRejected?.(error.code);
          return { signal_id, status: 'refused', code: error.code, message: error.message };
        }
        if (!isConnectionLoss(error)) {
          // What is wrong with one is no reason to lose the others.
          this.#options.onFault?.(error, requestId);
          failed = true;
          return { signal_id, status: 'failed', code: 'internal_error' };
        }
        lost ??= error;
      }
      missed.push(missedSignal(governor, signal));
      return { signal_id, status: 'missed' };
    });
    if (lost !== undefined) return this.#failed(lost, missed, requestId);
    const signals = [...outcomes, ...wrong];
    if (failed) return registered(requestId, 'internal_error', { details: { signals } });
    const [first] = signals;
    if (first && signals.every(({ status }) => status === 'refused')) {
      const { code, message } = first as unknown as { code: ErrorCode; message: string };
      return errorAnswer(
        requestId,
        { status: registry[code].status, code, message },
        { details: { signals } },
      );
    }
    const waiting = outcomes.some(({ status }) => status === 'accepted' || status === 'buffered');
    return {
      status: waiting ? 202 : 200,
      body: { status: waiting ? 'accepted' : 'decided', signals },
    };
  }

  async #take({ tenant, sku }: GovernorName, signal: IncomingSignal): Promise<Signalled> {
    const taken = await inTime(
      this.#options.intake.take({ tenant, sku }, signal),
      this.#takeMs,
      'the intake',
    );
    this.#options.onTaken?.(taken.status);
    return taken;
  }

  /**
   * What was thrown, as an answer. An outage is on the disk first: whoever hears 503 can rely on
   * it.
   */
  async #failed(error: unknown, missed: readonly Missed[], requestId: string): Promise<Answer> {
    if (isConnectionLoss(error)) {
      try {
        await Promise.all(missed.map((one) => this.#options.onOutage(one)));
      } catch (failure) {
        this.#options.onFault?.(failure, requestId);
      }
      return away(requestId);
    }
    if (!(error instanceof WritRefusal)) throw error;
    this.#options.onRejected?.(error.code);
    return errorAnswer(requestId, error, error.status >= 500 ? { retryAfter: 10 } : {});
  }
}

const missedSignal = ({ tenant, sku }: GovernorName, { signal_id }: IncomingSignal): Missed => ({
  kind: 'signal',
  tenant,
  sku,
  signal_id,
});

/** Does something with each, so many at a time, beginning in order. */
async function inLanes<T, R>(
  items: readonly T[],
  width: number,
  act: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const rest = items.entries();
  const lane = async () => {
    for (const [at, item] of rest) results[at] = await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane));
  return results;
}
