/**
 * One request and its answer. A read is tried again where that may help. So is an act: every act
 * carries a key, and the server does it once.
 */
import type { Known } from './operations.js';
import { Problem } from './problem.js';

export interface ClientOptions {
  /** The address of the server, with its base path: `https://writ.example`. */
  readonly url: string;
  /** An API key, or what answers a token for each request. */
  readonly key?: string | (() => string | Promise<string>);
  /** The tenant that requests are about; that of the key unless given. */
  readonly tenant?: string;
  /** How often a request is tried in all; 5 unless given. */
  readonly tries?: number;
  /** How long one try may take; 35 s unless given, which is more than the server takes. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly tenant?: string;
  readonly signal?: AbortSignal;
}

export interface ActOptions extends CallOptions {
  /** The same call with the same key has one effect. One is made up unless given. */
  readonly once?: string;
  /** The version of the row that is changed, from its `version`. */
  readonly version?: number;
}

/** One event of a stream. A later call continues after its id. */
export interface Event<Data> {
  readonly id: string;
  readonly event: string | undefined;
  readonly data: Data;
}

export interface Request {
  readonly params: readonly string[];
  readonly given: unknown;
  readonly options: ActOptions;
}

/** Sends a request until it has an answer that another try would not change. */
export async function send(
  client: ClientOptions,
  known: Known,
  request: Request,
): Promise<unknown> {
  const once = request.options.once ?? crypto.randomUUID();
  const { tries = 5 } = client;
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await respond(client, known, request, once);
      return await answer.json();
    } catch (error) {
      const { signal } = request.options;
      if (attempt >= tries || signal?.aborted || !mayHelp(error)) throw error;
      await pause(waitOf(error, attempt), signal);
    }
  }
}

/** A lost connection and a server that is away, busy or late; no refusal of this very request. */
export const mayHelp = (error: unknown): boolean =>
  error instanceof Problem
    ? error.retryable || error.status === 502 || error.status === 504
    : error instanceof TypeError || (error as Error | null)?.name === 'TimeoutError';

/**
 * As long as the server asks for; otherwise longer with each try, and never in step with others.
 */
export const waitOf = (error: unknown, attempt: number): number =>
  (error instanceof Problem ? error.retryAfterMs : undefined) ??
  Math.min(10_000, 200 * 2 ** attempt) * (0.5 + Math.random() / 2);

export const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });

/** One try. Throws a Problem where the server refuses. */
export async function respond(
  { url, key, tenant, timeoutMs = 35_000, fetch: ask = globalThis.fetch }: ClientOptions,
  [kind, method, path, takes]: Known,
  { params, given, options }: Request,
  once: string,
  after?: string,
): Promise<Response> {
  let at = 0;
  const place = path.replace(/:\w+/g, () => encodeURIComponent(params[at++] ?? ''));
  const query = takes === 'query' ? queryOf(given) : '';
  const token = typeof key === 'function' ? await key() : key;
  const of = options.tenant ?? tenant;
  const body = takes === 'body' ? JSON.stringify(given ?? {}) : undefined;
  const limit = kind === 'stream' ? [] : [AbortSignal.timeout(timeoutMs)];
  const answer = await ask(`${url.replace(/\/$/, '')}/api/v1${place}${query}`, {
    method,
    headers: {
      accept: kind === 'stream' ? 'text/event-stream' : 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(of !== undefined && { 'writ-tenant': of }),
      ...(kind === 'act' && { 'idempotency-key': once }),
      ...(options.version !== undefined && { 'if-match': `"${options.version}"` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(after !== undefined && { 'last-event-id': after }),
    },
    ...(body !== undefined && { body }),
    signal: AbortSignal.any([...(options.signal ? [options.signal] : []), ...limit]),
  });
  if (answer.ok) return answer;
  throw new Problem(
    answer.status,
    await answer.json().catch(() => undefined),
    retryAfterOf(answer),
  );
}

function queryOf(given: unknown): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries((given ?? {}) as object))
    if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? '' : `?${search}`;
}

function retryAfterOf({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 300) * 1_000 : undefined;
}
