/** Routes from operations: who calls, what they bring, the operation, and its answer or problem. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Admitted, type Requester, type Writ, WritError, WritRefusal } from 'writ';
import { parseJson } from './json.js';
import { openApi } from './openapi.js';
import type { Given, Input, Operation } from './operation.js';
import { operations as all } from './operations.js';
import { InvalidRequest, meaningOf, mediaType, problemOf } from './problem.js';
import { queryOf, validator } from './validation.js';

export interface MountOptions {
  /** The path before `/api/v1`, for a proxy that passes it on; none unless given. */
  readonly basePath?: string;
  /**
   * Finds who a request comes from; its API key unless given. Throw `not_authenticated`, or answer
   * undefined.
   */
  readonly authenticate?: (request: FastifyRequest) => Promise<Requester | undefined>;
  /** Refuses every operation that changes something. */
  readonly readOnly?: boolean;
  /** Bytes of a request's body at most; 1 MiB unless given. */
  readonly bodyLimit?: number;
  /** How long an operation may take; 30 s unless given. */
  readonly timeoutMs?: number;
  /** All of them unless given. */
  readonly operations?: readonly Operation[];
}

declare module 'fastify' {
  interface FastifyRequest {
    admitted: Admitted | null;
  }
}

const headers = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Adds the operations to a Fastify server, below `/api/v1`. */
export function mount(app: FastifyInstance, writ: Writ, options: MountOptions = {}): void {
  const operations = options.operations ?? all;
  const prefix = `${options.basePath ?? ''}/api/v1`;
  const description = JSON.stringify(openApi(operations, options.basePath));
  app.register(
    async (scope) => {
      scope.decorateRequest('admitted', null);
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser(
        'application/json',
        { parseAs: 'buffer', bodyLimit: options.bodyLimit ?? 1_048_576 },
        async (_: unknown, body: Buffer) => bodyOf(body),
      );
      scope.addHook('onRequest', async (request, reply) => {
        reply.headers({ ...headers, 'x-request-id': request.id });
      });
      scope.setErrorHandler((error, request, reply) => fail(error, request, reply, prefix));
      scope.setNotFoundHandler(notFound(operations, prefix));
      scope.get('/openapi.json', (_, reply) => reply.type('application/json').send(description));
      for (const operation of operations) route(scope, writ, operation, options);
    },
    { prefix },
  );
}

function bodyOf(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw new WritRefusal('invalid_json', 'The body is not UTF-8.');
  }
  return parseJson(text);
}

function route(
  scope: FastifyInstance,
  writ: Writ,
  operation: Operation,
  { authenticate = byApiKey, readOnly = false, timeoutMs = 30_000 }: MountOptions,
): void {
  const given = reader(operation);
  scope.route({
    method: operation.method,
    url: operation.path,
    // Before the body is read: a stranger's body costs nothing.
    onRequest: async (request) => {
      const requester = await authenticate(request);
      if (!requester) throw new WritRefusal('not_authenticated');
      const tenant = request.headers['writ-tenant'];
      request.admitted = await writ.apiKeys.admit(requester, {
        right: operation.right ?? undefined,
        tenant: typeof tenant === 'string' ? tenant : undefined,
        allTenants: operation.wide,
      });
      if (readOnly && operation.kind === 'act') throw new WritRefusal('server_read_only');
    },
    handler: async (request, reply) => {
      const caller = request.admitted as Admitted;
      const once = operation.kind === 'act' ? onceOf(request) : undefined;
      const ends = endOf(reply, operation.kind === 'stream' ? undefined : timeoutMs);
      const bound = writ.with({
        as: { principalId: caller.principal },
        actor: caller.principal,
        ...(!operation.wide && { tenant: caller.tenant, onlyTenant: true }),
        requestId: request.id,
        signal: ends,
        ...(once !== undefined && { once }),
      });
      if (operation.kind === 'stream')
        return send(reply, bound, operation, { ...given(request), caller }, request);
      try {
        const answer = await before(
          ends,
          operation.run(bound, { ...given(request), caller }) as Promise<unknown>,
        );
        const { version } = (answer ?? {}) as { version?: unknown };
        if (Number.isSafeInteger(version)) reply.header('etag', `"${version}"`);
        return reply
          .code(operation.status)
          .type('application/json')
          .send(JSON.stringify(answer ?? {}));
      } finally {
        await bound.close();
      }
    },
  });
}

/**
 * Aborts when the caller goes away, or after a time. Fastify's own signal aborts as soon as a body
 * has been read, because Node closes a request then, and its timer ends with it.
 */
function endOf({ raw }: FastifyReply, timeoutMs: number | undefined): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableEnded) gone.abort(new WritError('request_late'));
  });
  return timeoutMs === undefined
    ? gone.signal
    : AbortSignal.any([gone.signal, AbortSignal.timeout(timeoutMs)]);
}

/** What an operation answers, unless its request ends first. */
async function before<T>(ends: AbortSignal, answer: Promise<T> | T): Promise<T> {
  let late = () => {};
  const ended = new Promise<never>((_, reject) => {
    late = () => reject(new WritError('request_late'));
    ends.addEventListener('abort', late, { once: true });
    if (ends.aborted) late();
  });
  try {
    return await Promise.race([answer, ended]);
  } finally {
    ends.removeEventListener('abort', late);
  }
}

/** One event of a stream. A request that names its id as the last one goes on after it. */
export interface Event {
  readonly id: string;
  readonly event?: string;
  readonly data: unknown;
}

const heartbeatMs = 15_000;

/** Sends events as they come, until the caller goes away. */
async function send(
  reply: FastifyReply,
  bound: Writ,
  operation: Operation,
  given: Given<Input>,
  { headers, query }: FastifyRequest,
): Promise<FastifyReply> {
  const last = headers['last-event-id'];
  const { after = typeof last === 'string' ? last : undefined } = query as { after?: string };
  const events = operation.run(bound, given, after) as AsyncIterable<Event>;
  const text = async function* () {
    const iterator = events[Symbol.asyncIterator]();
    try {
      let next = iterator.next();
      for (;;) {
        let timer: NodeJS.Timeout | undefined;
        const quiet = new Promise<undefined>((resolve) => {
          timer = setTimeout(() => resolve(undefined), heartbeatMs);
        });
        const come = await Promise.race([next, quiet]);
        clearTimeout(timer);
        if (come === undefined) {
          yield ': still here\n\n'; // Proxies end what is silent.
          continue;
        }
        if (come.done) return;
        const { id, event, data } = come.value;
        yield `id: ${id}\n${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
        next = iterator.next();
      }
    } finally {
      await iterator.return?.();
      await bound.close();
    }
  };
  return reply.type('text/event-stream').send(Readable.from(text()));
}

/** Reads what a request brings, and refuses what fits no schema. */
function reader({ input = {}, version }: Operation) {
  const params = input.params && validator('params', input.params);
  const query = validator('query', input.query ?? nothing);
  const body = input.body && validator('body', input.body);
  return (request: FastifyRequest): Omit<Given<Input>, 'caller'> => {
    params?.(request.params);
    const queried = queryOf(input.query ?? nothing, request.query as Record<string, unknown>);
    query(queried);
    if (body) body(request.body);
    else if (request.body !== undefined)
      throw new InvalidRequest([{ place: 'body', message: 'is not read by this operation' }]);
    const expected = version === 'none' ? undefined : versionOf(request);
    if (version === 'required' && expected === undefined) throw new WritRefusal('version_required');
    return {
      params: request.params as never,
      query: queried as never,
      body: request.body as never,
      version: expected,
    };
  };
}

const nothing = { type: 'object', properties: {}, additionalProperties: false } as never;

/** `Authorization: Bearer writ_…`. */
async function byApiKey({ headers }: FastifyRequest): Promise<Requester | undefined> {
  const [, apiKey] = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(headers.authorization ?? '') ?? [];
  return apiKey === undefined ? undefined : { apiKey };
}

function onceOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))
    throw new WritRefusal('invalid_once', 'An Idempotency-Key has 1 to 255 printable characters.');
  return key;
}

function versionOf({ headers }: FastifyRequest): number | undefined {
  const tag = headers['if-match'];
  if (tag === undefined) return undefined;
  const [, version] = /^"(\d{1,15})"$/.exec(tag) ?? [];
  if (version === undefined)
    throw new InvalidRequest([{ place: 'If-Match', message: 'is not one ETag of an answer' }]);
  return Number(version);
}

/** A path that exists with another method is 405, and says which methods it has. */
function notFound(operations: readonly Operation[], prefix: string) {
  const paths = operations.map(({ path, method }) => ({
    pattern: new RegExp(`^${prefix}${path.replace(/:\w+/g, '[^/]+')}$`),
    methods: method === 'GET' ? ['GET', 'HEAD'] : [method],
  }));
  return (request: FastifyRequest, reply: FastifyReply) => {
    const [path = ''] = request.url.split('?');
    const allowed = paths.flatMap(({ pattern, methods }) => (pattern.test(path) ? methods : []));
    if (allowed.length > 0) {
      reply.header('allow', [...new Set(allowed)].join(', '));
      return fail(new WritError('method_not_allowed', request.method), request, reply, prefix);
    }
    return fail(new WritError('route_not_found'), request, reply, prefix);
  };
}

function fail(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  prefix: string,
): FastifyReply {
  const meaning = meaningOf(error);
  if (meaning.status >= 500) request.log.error({ err: error }, meaning.code);
  if (meaning.status === 401) reply.header('www-authenticate', 'Bearer realm="writ"');
  const { retryAfterMs } = meaning as { retryAfterMs?: number };
  if (meaning.status === 429 || meaning.status === 503 || retryAfterMs !== undefined)
    reply.header('retry-after', String(Math.max(1, Math.ceil((retryAfterMs ?? 1_000) / 1_000))));
  return reply
    .code(meaning.status)
    .type(mediaType)
    .send(JSON.stringify(problemOf(meaning, request.id, prefix)));
}
