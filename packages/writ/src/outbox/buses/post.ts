/**
 * One POST, or GET, and its answer. Node's own http is used with an agent of its own, not fetch:
 * fetch takes no `lookup`, so the address that is connected to could not be checked, and it has no
 * separate bound for connecting. Redirects are not followed, because a redirect leads where nobody
 * has said that webhooks may go.
 */
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { request as requestHttp } from 'node:http';
import { request as requestHttps, type Agent as SecureAgent } from 'node:https';

/** More of an answer is not read. */
const longestAnswer = 65_536;

export interface Call {
  /** POST unless given. */
  readonly method?: 'GET' | 'POST';
  readonly url: URL;
  readonly agent: Agent | SecureAgent;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly connectTimeoutMs: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** Left out where it was too long. */
  readonly body?: Buffer;
}

/** Why there is no answer. */
export class Unanswered extends Error {
  override name = 'Unanswered';
  /** Whether there was a connection at all. */
  readonly connected: boolean;
  /**
   * The connection had been used before, and the other end may have closed it before it saw this
   * request.
   */
  readonly stale: boolean;

  constructor(
    message: string,
    state: { connected: boolean; stale?: boolean },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.connected = state.connected;
    this.stale = state.stale ?? false;
  }
}

export function post(call: Call): Promise<Answer> {
  return new Promise((answered, failed) => {
    const secure = call.url.protocol === 'https:';
    const request: ClientRequest = (secure ? requestHttps : requestHttp)(call.url, {
      method: call.method ?? 'POST',
      agent: call.agent,
      headers: { ...call.headers, 'content-length': call.body.length },
    });
    let connected = false;
    let response: IncomingMessage | undefined;
    const end = (act: () => void) => {
      clearTimeout(connecting);
      clearTimeout(whole);
      call.signal.removeEventListener('abort', stop);
      act();
    };
    const fail = (message: string, options?: ErrorOptions) => {
      const stale = request.reusedSocket && response === undefined && options !== undefined;
      end(() => failed(new Unanswered(message, { connected, stale }, options)));
      request.destroy();
    };
    const stop = () => fail('sending was stopped');
    let connecting: NodeJS.Timeout | undefined;
    const whole = setTimeout(
      () => fail(`no whole answer within ${call.timeoutMs} ms`),
      call.timeoutMs,
    );

    const ready = () => {
      connected = true;
      clearTimeout(connecting);
    };
    request.once('socket', (socket) => {
      if (request.reusedSocket) return ready();
      connecting = setTimeout(
        () => fail(`no connection within ${call.connectTimeoutMs} ms`),
        call.connectTimeoutMs,
      );
      socket.once(secure ? 'secureConnect' : 'connect', ready);
    });
    request.once('response', (incoming) => {
      response = incoming;
      const answer = {
        status: incoming.statusCode ?? 0,
        retryAfter: incoming.headers['retry-after'],
      };
      const chunks: Buffer[] = [];
      let length = 0;
      incoming.on('data', (chunk: Buffer) => {
        length += chunk.length;
        chunks.push(chunk);
        if (length <= longestAnswer) return;
        // The status has been said; the rest is not worth waiting for.
        end(() => answered(answer));
        request.destroy();
      });
      incoming.once('end', () => end(() => answered({ ...answer, body: Buffer.concat(chunks) })));
      incoming.on('error', (error) => fail('the answer broke off', { cause: error }));
    });
    request.on('error', (error: NodeJS.ErrnoException) => fail(reasonOf(error), { cause: error }));
    if (call.signal.aborted) return stop();
    call.signal.addEventListener('abort', stop, { once: true });
    request.end(call.body);
  });
}

/** What an error of the network or of TLS says, in words that name nothing private. */
function reasonOf(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'ECONNREFUSED':
      return 'the connection was refused';
    case 'ECONNRESET':
    case 'EPIPE':
      return 'the connection was closed before there was an answer';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its name has no address';
    case 'EADDRESSREFUSED':
      return 'its name has no public address; allowPrivate lets private ones';
    default:
      return `the connection failed: ${error.code ?? error.message}`;
  }
}
