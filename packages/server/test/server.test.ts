/** The API server: authentication, rights, bad input, problems and repetition. */
import { readFileSync } from 'node:fs';
import type { FastifyInstance, InjectOptions } from 'fastify';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { defineStep, presets, principal, type Right, Writ } from 'writ';
import { type TestDatabase, testDatabase } from 'writ/testing';
import { canonicalize } from '../../writ/src/ledger/canonical.js';
import { type Login, login } from '../../writ/test/hostile/logins.js';
import { openApi } from '../src/openapi.js';
import { act, type Operation, read, stream } from '../src/operation.js';
import { operations } from '../src/operations.js';
import { problemSchema } from '../src/problem.js';
import { object } from '../src/schema.js';
import { writServer } from '../src/server.js';

let db: TestDatabase;
let owner: Writ;
let serverLogin: Login;
let writ: Writ;
let app: FastifyInstance;
const keys: Record<string, string> = {};

const echo = [
  act({
    id: 'tests.echo',
    path: '/tests/echo',
    summary: 'Answers what it is given.',
    right: 'view',
    input: { body: Type.Unknown() },
    output: Type.Unknown(),
    run: (_, { body }) => ({ body }),
  }),
  read({
    id: 'tests.query',
    path: '/tests/query',
    summary: 'Answers what it is asked.',
    right: 'view',
    input: { query: object({ limit: Type.Optional(Type.Integer({ maximum: 100 })) }) },
    output: Type.Unknown(),
    run: (_, { query }) => ({ query, version: 7 }),
  }),
  act({
    id: 'tests.freeze',
    path: '/tests/freeze',
    summary: 'Freezes changes.',
    right: 'operate',
    version: 'required',
    output: Type.Unknown(),
    run: async (bound, { version }) => ({
      id: await bound.freezes.put({ reason: 'a quiet week for everybody' }),
      version,
    }),
  }),
  read({
    id: 'tests.fail',
    path: '/tests/fail',
    summary: 'Fails.',
    right: 'view',
    output: Type.Unknown(),
    run: () => {
      throw new Error('the password is hunter2');
    },
  }),
  stream({
    id: 'tests.count',
    path: '/tests/count',
    summary: 'Counts.',
    right: 'view',
    input: { query: object({ after: Type.Optional(Type.String()) }) },
    output: Type.Unknown(),
    run: async function* (_, __, after) {
      for (let n = Number(after ?? 0) + 1; n <= 3; n++) yield { id: String(n), data: { n } };
    },
  }),
  read({
    id: 'tests.wait',
    path: '/tests/wait',
    summary: 'Waits.',
    right: 'view',
    output: Type.Unknown(),
    run: () => new Promise((done) => setTimeout(done, 3_000, {})),
  }),
];

beforeAll(async () => {
  db = await testDatabase();
  owner = await Writ.connect({ connectionString: db.connectionString });
  serverLogin = await login(db, ['writ_server']);
  writ = await Writ.connect({ connectionString: serverLogin.connectionString });
  app = writServer(writ, { operations: [...operations, ...echo], timeoutMs: 2_000 });
  await app.ready();
  for (const [id, rights] of Object.entries({ ...presets, nobody: [] })) {
    const agent = id === 'agent';
    await owner.principals.add({
      id,
      kind: agent ? 'agent' : 'person',
      rights: rights as readonly Right[],
      ...(agent && { onBehalfOf: 'viewer' }),
    });
    keys[id] = (await owner.apiKeys.make({ principal: id })).key;
  }
});

afterAll(async () => {
  await app.close();
  await writ.close();
  await owner.close();
  await serverLogin.end();
});

const isProblem = Compile(problemSchema);

async function send(as: string | null, method: string, path: string, more: InjectOptions = {}) {
  const answer = await app.inject({
    method: method as 'GET',
    url: `/api/v1${path}`,
    ...more,
    headers: {
      ...(as !== null && { authorization: `Bearer ${keys[as] ?? as}` }),
      ...more.headers,
    },
  });
  const body = answer.body === '' ? undefined : answer.json();
  if (answer.statusCode >= 400) {
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(isProblem.Check(body), answer.body).toBe(true);
    expect(body.status).toBe(answer.statusCode);
  }
  return { status: answer.statusCode, headers: answer.headers, body };
}

const post = (as: string, path: string, text: string, headers: Record<string, string> = {}) =>
  send(as, 'POST', path, {
    payload: text,
    headers: { 'content-type': 'application/json', ...headers },
  });

/** A request of an operation that fits its schema, about things that are not there. */
function requestOf({ path, input = {}, version }: Operation): {
  path: string;
  more: InjectOptions;
} {
  const id = '019a0000-0000-7000-8000-000000000000';
  const filled = path.replace(/:(\w+)/g, (_, name: string) => {
    const { pattern } = (input.params?.properties[name] ?? {}) as { pattern?: string };
    return pattern?.includes('{16}') ? '0'.repeat(16) : name === 'id' ? id : 'closed';
  });
  return {
    path: filled,
    more: {
      headers: version === 'required' ? { 'if-match': '"1"' } : {},
      ...(input.body && {
        payload: example(input.body) as object,
      }),
    },
  };
}

interface JsonSchema {
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly type?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly minimum?: number;
}

/** The least that fits a schema. */
function example(schema: JsonSchema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.anyOf) return example(schema.anyOf[0] ?? {});
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, example(schema.properties?.[name] ?? {})]),
      );
    case 'array':
      return [];
    case 'integer':
    case 'number':
      return schema.minimum ?? 0;
    case 'boolean':
      return true;
    case 'string':
      return 'a text that is long enough';
    default:
      return {};
  }
}

describe('rights', () => {
  const table = operations.flatMap((operation) =>
    [...Object.keys(presets), 'nobody'].map((role) => ({ operation, role })),
  );

  test.each(table.map(({ operation, role }) => [operation.id, role, operation] as const))(
    '%s for a caller with the rights of %s',
    async (_, role, operation) => {
      const rights: readonly string[] = presets[role as keyof typeof presets] ?? [];
      const { path, more } = requestOf(operation);
      const { status, body } = await send(role, operation.method, path, more);
      const may = operation.right === null ? rights.length > 0 : rights.includes(operation.right);
      if (may) {
        expect([401, 403, 500], JSON.stringify(body)).not.toContain(status);
        if (status < 300) {
          const output = Compile(operation.output);
          expect(output.Check(body), JSON.stringify([...output.Errors(body)])).toBe(true);
        }
      } else expect(status).toBe(403);
    },
  );

  test.each(operations.map((operation) => [operation.id, operation] as const))(
    '%s refuses a stranger before it reads the body',
    async (_, operation) => {
      const { path } = requestOf(operation);
      for (const as of [null, `writ_${'0'.repeat(16)}_${'0'.repeat(64)}`, 'nonsense']) {
        const { status, headers, body } = await send(as, operation.method, path, {
          payload: operation.method === 'GET' ? undefined : '{"not": json',
          headers: { 'content-type': 'application/json' },
        } as InjectOptions);
        expect([status, body.code]).toEqual([401, 'not_authenticated']);
        expect(headers['www-authenticate']).toContain('Bearer');
      }
    },
  );

  test('a tenant is refused to a caller of another one', async () => {
    await owner.principals.add({
      id: 'acme-viewer',
      kind: 'service',
      rights: ['view'],
      tenant: 'acme',
    });
    keys['acme-viewer'] = (await owner.apiKeys.make({ principal: 'acme-viewer' })).key;
    expect((await send('acme-viewer', 'GET', '/caller')).body).toMatchObject({ tenant: 'acme' });
    const { status, body } = await send('acme-viewer', 'GET', '/caller', {
      headers: { 'writ-tenant': 'globex' },
    });
    expect([status, body.code]).toEqual([403, 'TENANT_ACCESS_DENIED']);
  });

  test('a key of one tenant reaches no other, whatever its principal may', async () => {
    await owner.principals.add({ id: 'root', kind: 'person', rights: ['administer'] });
    keys.root = (await owner.apiKeys.make({ principal: 'root' })).key;
    keys['root-of-acme'] = (await owner.apiKeys.make({ principal: 'root', tenant: 'acme' })).key;
    await owner.principals.add({
      id: 'globex-bot',
      kind: 'service',
      rights: ['view'],
      tenant: 'globex',
    });
    const make = (as: string, tenant: string) =>
      send(as, 'POST', '/api-keys', {
        payload: { principal: 'globex-bot' },
        headers: { 'writ-tenant': tenant },
      });
    expect((await make('root-of-acme', 'acme')).body.code).toBe('TENANT_ACCESS_DENIED');
    expect((await make('root-of-acme', 'globex')).body.code).toBe('TENANT_ACCESS_DENIED');
    expect((await make('root', 'acme')).body.code).toBe('TENANT_ACCESS_DENIED');
    expect((await make('root', 'globex')).status).toBe(201);
  });

  test('a read-only server changes nothing', async () => {
    const readOnly = writServer(writ, { readOnly: true });
    const answer = await readOnly.inject({
      method: 'POST',
      url: '/api/v1/api-keys',
      headers: { authorization: `Bearer ${keys.administrator}` },
      payload: { principal: 'viewer' },
    });
    expect([answer.statusCode, answer.json().code]).toEqual([403, 'server_read_only']);
    await readOnly.close();
  });
});

describe('bad input', () => {
  const code = async (text: string, type = 'application/json') =>
    (await post('viewer', '/tests/echo', text, { 'content-type': type })).body.code ?? 'done';

  test.each([
    ['a duplicate key', '{"a": 1, "a": 2}'],
    ['a duplicate key that is escaped', '{"a": 1, "\\u0061": 2}'],
    ['a duplicate key further in', '{"b": [{"a": 1, "c": {}, "a": 2}]}'],
    ['an integer that JavaScript rounds', '{"n": 9007199254740993}'],
    ['a fraction that JavaScript rounds', '{"n": 0.1000000000000000055511151231257827}'],
    ['a number beyond all', '{"n": 1e999}'],
    ['a number that becomes zero', '{"n": 1e-999}'],
    ['a key of a prototype', '{"__proto__": {"admin": true}}'],
    ['a depth of 10,000', `${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    ['half of an object', '{"a": '],
    ['two values', '{} {}'],
    ['a byte order mark', '\ufeff{}'],
    ['NaN', '{"n": NaN}'],
  ])('refuses %s', async (_, text) => {
    expect(await code(text)).toBe('invalid_json');
  });

  test.each([
    ['equal keys in different objects', '{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}'],
    ['a key that is a value, too', '{"a": "a", "b": "a:", "c": ["a", "a"]}'],
    ['quotes and braces in texts', '{"a": "\\"}{", "b": "\\\\", "c": "[[["}'],
    ['exact numbers', '[1.50, 1e3, 0.0, 0.1, 9007199254740991, 1E-7, 100000000000000000e-5]'],
  ])('takes %s', async (_, text) => {
    const { status, body } = await post('viewer', '/tests/echo', text);
    expect([status, body.body]).toEqual([200, JSON.parse(text)]);
  });

  test('refuses bytes that are not UTF-8', async () => {
    const { body } = await send('viewer', 'POST', '/tests/echo', {
      payload: Buffer.from([0x22, 0xff, 0x22]),
      headers: { 'content-type': 'application/json' },
    });
    expect(body.code).toBe('invalid_json');
  });

  test('refuses other media types, and bodies that are too large', async () => {
    expect(await code('a=1', 'application/x-www-form-urlencoded')).toBe('unsupported_media_type');
    expect(await code(JSON.stringify('x'.repeat(1_100_000)))).toBe('request_too_large');
  });

  test('converts nothing in a body, and refuses fields that it does not know', async () => {
    const { status, body } = await post(
      'administrator',
      '/api-keys',
      '{"principal": 5, "expiresInDays": "5", "surprise": true}',
    );
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.errors.map(({ place }: { place: string }) => place).sort()).toEqual([
      'body/expiresInDays',
      'body/principal',
      'body/surprise',
    ]);
  });

  test('reads numbers of a query, and refuses others', async () => {
    const query = async (text: string) =>
      (await send('viewer', 'GET', `/tests/query?${text}`)).body;
    expect(await query('limit=5')).toMatchObject({ query: { limit: 5 } });
    for (const wrong of [
      'limit=5.0',
      'limit=05',
      'limit=0x5',
      'limit=',
      'limit=101',
      'limit=1&limit=2',
      'other=1',
    ])
      expect(await query(wrong)).toMatchObject({ code: 'invalid_request' });
  });

  test('refuses a body where none is read', async () => {
    const { body } = await send('operator', 'POST', '/tests/freeze', {
      payload: { a: 1 },
      headers: { 'if-match': '"1"' },
    });
    expect(body.code).toBe('invalid_request');
  });
});

describe('answers', () => {
  test('name the methods of a path', async () => {
    const { status, headers, body } = await send('viewer', 'PUT', '/api-keys');
    expect([status, body.code]).toEqual([405, 'method_not_allowed']);
    expect(String(headers.allow).split(', ').sort()).toEqual(['GET', 'HEAD', 'POST']);
    expect((await send('viewer', 'GET', '/nothing')).status).toBe(404);
    expect((await send('viewer', 'PATCH', `/api-keys/${'0'.repeat(16)}`)).headers.allow).toBe(
      'DELETE',
    );
  });

  test('carry the id of the request, the caller’s if it gives one', async () => {
    const own = await send('viewer', 'GET', '/nothing', { headers: { 'x-request-id': 'r-1' } });
    expect([own.headers['x-request-id'], own.body.requestId]).toEqual(['r-1', 'r-1']);
    const made = await send('viewer', 'GET', '/nothing', {
      headers: { 'x-request-id': 'a b\u00e9' },
    });
    expect(made.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('say nothing of a cause that is no error of ours', async () => {
    const { status, body } = await send('viewer', 'GET', '/tests/fail');
    expect([status, body.code]).toEqual([500, 'internal_error']);
    expect(JSON.stringify(body)).not.toContain('hunter2');
  });

  test('come in time', async () => {
    const { status, headers, body } = await send('viewer', 'GET', '/tests/wait');
    expect([status, body.code, headers['retry-after']]).toEqual([503, 'request_late', '1']);
  });

  test('have an ETag where the row has a version, and none may be stored', async () => {
    const { headers } = await send('viewer', 'GET', '/tests/query');
    expect(headers).toMatchObject({
      etag: '"7"',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
  });

  test('are the same for a repeated request, which has one effect', async () => {
    const freeze = (once: string, version = '"1"') =>
      send('operator', 'POST', '/tests/freeze', {
        headers: { 'idempotency-key': once, 'if-match': version },
      });
    const first = await freeze('f-1');
    expect(first.status).toBe(200);
    expect((await freeze('f-1')).body).toEqual(first.body);
    expect((await freeze('f-2')).body.id).not.toBe(first.body.id);
    expect((await freeze('not one word')).body.code).toBe('invalid_once');
    const [record] = await db.query(
      `select actor, request_id from writ.command_run where command = 'fn_freeze_put' limit 1`,
    );
    expect(record).toMatchObject({ actor: 'operator' });
    expect(record?.request_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('stream events after the last one that the caller has seen', async () => {
    const count = (path: string, headers: Record<string, string> = {}) =>
      app.inject({
        url: `/api/v1/tests/count${path}`,
        headers: { authorization: `Bearer ${keys.viewer}`, ...headers },
      });
    const all = await count('');
    expect(all.headers['content-type']).toContain('text/event-stream');
    expect(all.body.match(/^id: .*$/gm)).toEqual(['id: 1', 'id: 2', 'id: 3']);
    expect((await count('', { 'last-event-id': '2' })).body).toBe('id: 3\ndata: {"n":3}\n\n');
    expect((await count('?after=1', { 'last-event-id': '2' })).body).toContain('id: 2');
  });

  test('refuse a change without the version of its row', async () => {
    const freeze = (headers: Record<string, string>) =>
      send('operator', 'POST', '/tests/freeze', { headers });
    expect((await freeze({})).body.code).toBe('version_required');
    expect((await freeze({ 'if-match': '*' })).body.code).toBe('invalid_request');
  });

  test('are 503 while the database is away', async () => {
    let away = false;
    const query = async (sql: string, params?: unknown[]) => {
      if (away) throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
      return { rows: await serverLogin.query(sql, params) };
    };
    const server = writServer(await Writ.connect({ db: { query } }));
    const ask = (url: string) =>
      server.inject({ url, headers: { authorization: `Bearer ${keys.viewer}` } });
    expect((await ask('/api/v1/caller')).statusCode).toBe(200);
    expect((await ask('/readyz')).statusCode).toBe(200);
    away = true;
    const answer = await ask('/api/v1/caller');
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1']);
    expect(answer.json()).toMatchObject({ code: 'database_unreachable', retryable: true });
    expect((await ask('/healthz')).statusCode).toBe(200);
    expect((await ask('/readyz')).statusCode).toBe(503);
    await server.close();
  });
});

test('the committed OpenAPI document is that of the operations', async () => {
  const committed = readFileSync(new URL('../openapi.json', import.meta.url), 'utf8');
  expect(`${JSON.stringify(openApi(operations), null, 2)}\n`).toBe(committed);
  const { body } = await send(null, 'GET', '/openapi.json');
  expect(body.openapi).toBe('3.1.0');
});

test('every operation has an id, a path and a method of its own, and its layer as tag', () => {
  const places = operations.map(({ method, path }) => `${method} ${path}`);
  expect(new Set(places).size).toBe(operations.length);
  expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
  for (const { id } of operations) expect(id).toMatch(/^[a-zA-Z]+\.[a-zA-Z]+$/);
});

describe('a change outside the database', () => {
  test('is previewed and approved by a server that has no step types', async () => {
    const values: Record<string, unknown> = { a: 10 };
    const flag = defineStep<{ key: string; percent: number }>('flag', {
      target: ({ key }) => `flag:${key}`,
      read: async ({ key }) => values[key] ?? null,
      apply: async ({ key, percent }) => {
        values[key] = percent;
      },
      revert: async (found, { key }) => {
        values[key] = found;
      },
    });
    await (await owner.work([], { governance: [flag], trust: 'database' })).stop();
    const key = await owner.principals.add({
      id: 'signer',
      kind: 'person',
      rights: presets.approver,
    });
    keys.signer = (await owner.apiKeys.make({ principal: 'signer' })).key;
    const person = principal(key);
    // Tests of rights have put freezes.
    for (const { freeze_id } of (await owner.freezes.list()).items)
      await owner.freezes.lift(freeze_id, { as: { principalId: 'operator' } });
    const proposal = { title: 'Flag', scope: ['flag:a'], risk: 'low' };
    const steps = [flag({ key: 'a', percent: 50 })];
    const proposed = await post('approver', '/contracts', JSON.stringify({ ...proposal, steps }));
    expect(proposed.status).toBe(201);
    const at = `/contracts/${proposed.body.contract_id}`;

    const early = await send('signer', 'GET', `${at}/preview`);
    expect(early.body).toMatchObject({
      hash: '',
      outside: [{ slot: 'flag:a', read_at: null, open: true, applier: false }],
    });
    const worker = await owner.work([], {
      governance: [flag],
      trust: 'database',
      poll: '200ms',
    });
    const asked = await send('signer', 'POST', `${at}/read`);
    expect(asked.status).toBe(202);
    const { body: preview } = await vi.waitFor(
      async () => {
        const seen = await send('signer', 'GET', `${at}/preview`);
        expect(seen.body.hash).not.toBe('');
        return seen;
      },
      { timeout: 60_000, interval: 100 },
    );
    expect(preview).toMatchObject({
      document: { pre_state: { 'flag:a': 10 } },
      outside: [{ slot: 'flag:a', code: null, read_at: expect.any(String) }],
    });
    const document = canonicalize(preview.document);
    const signed = { document, signature: person.sign(preview.hash), scheme: 'ed25519' };
    // Where nobody verifies in time, the request ends before the approval does.
    const approved = await post('signer', `${at}/approve`, JSON.stringify(signed));
    expect([200, 503, 504]).toContain(approved.status);
    await vi.waitFor(
      async () =>
        expect((await send('signer', 'GET', at)).body).toMatchObject({ status: 'APPROVED' }),
      { timeout: 60_000, interval: 100 },
    );
    const activated = await send('signer', 'POST', `${at}/activate`);
    expect(activated.status).toBe(202);
    await owner.changes.handle(activated.body.job_id).finished({ timeoutMs: 60_000 });
    expect(values).toEqual({ a: 50 });
    await worker.stop();
  });
});
