/**
 * Requests that nobody thought of: each is answered within its schema, and none breaks the server.
 */
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rights, Writ } from 'writ';
import { type TestDatabase, testDatabase } from 'writ/testing';
import { type Login, login } from '../../writ/test/hostile/logins.js';
import type { Operation } from '../src/operation.js';
import { operations } from '../src/operations.js';
import { problemSchema } from '../src/problem.js';
import { writServer } from '../src/server.js';

let db: TestDatabase;
let serverLogin: Login;
let writ: Writ;
let app: FastifyInstance;
let key: string;

beforeAll(async () => {
  db = await testDatabase();
  const owner = await Writ.connect({ connectionString: db.connectionString });
  await owner.principals.add({ id: 'all', kind: 'person', rights });
  ({ key } = await owner.apiKeys.make({ principal: 'all' }));
  await owner.close();
  serverLogin = await login(db, ['writ_server']);
  writ = await Writ.connect({ connectionString: serverLogin.connectionString });
  app = writServer(writ);
  await app.ready();
});

afterAll(async () => {
  await app.close();
  await writ.close();
  await serverLogin.end();
});

const id = fc.constantFrom(
  '019a0000-0000-7000-8000-000000000000',
  '00000000-0000-0000-0000-000000000000',
  '0000000000000000',
);
/** Texts that look like SQL, hold what no text in a database holds, or are long. */
const hostile = fc.oneof(
  fc.constantFrom("'; drop table writ_data.job; --", '\u0000', '\ud800', '$1', '%00', '../..', ''),
  fc.string({ unit: 'binary', maxLength: 50 }),
  fc.integer().map(String),
  id,
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    hostile,
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(hostile, tie('any'), { maxKeys: 3 }),
  ),
})).any;

/** Names of the operation's own fields, so that some requests come further than the first check. */
const namesOf = (operation: Operation, part: 'query' | 'body') =>
  Object.keys((operation.input?.[part] as { properties?: object } | undefined)?.properties ?? {});
const fields = (names: readonly string[], of: fc.Arbitrary<unknown>) =>
  fc.dictionary(names.length > 0 ? fc.oneof(fc.constantFrom(...names), hostile) : hostile, of, {
    maxKeys: 4,
  });

const request = fc.constantFrom(...operations).chain((operation) =>
  fc.record({
    operation: fc.constant(operation),
    params: fc.array(fc.oneof(id, hostile), { minLength: 3, maxLength: 3 }),
    query: fc.oneof(fc.constant({}), fields(namesOf(operation, 'query'), hostile)),
    body: fc.oneof(fields(namesOf(operation, 'body'), value), value, fc.constant(undefined)),
    once: fc.option(hostile),
    version: fc.constantFrom('"1"', '*', 'W/"1"', undefined),
    tenant: fc.option(fc.constantFrom('default', 'acme', '_system', 'x'.repeat(300))),
  }),
);

const isProblem = Compile(problemSchema);

test('300 requests made at random break nothing', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(request, async (given) => {
      const { operation, params, query, body, once, version, tenant } = given;
      let n = 0;
      const path = operation.path.replace(/:\w+/g, () =>
        encodeURIComponent((params[n++] ?? '').toWellFormed()),
      );
      const search = new URLSearchParams(query as Record<string, string>);
      const header = (text: string) => text.replace(/[^\x20-\x7e]/g, '?');
      const payload = operation.method === 'GET' ? undefined : JSON.stringify(body);
      const answer = await app.inject({
        method: operation.method,
        url: `/api/v1${path}?${search}`,
        headers: {
          authorization: `Bearer ${key}`,
          ...(payload !== undefined && { 'content-type': 'application/json' }),
          ...(once !== null && { 'idempotency-key': header(once) }),
          ...(version !== undefined && { 'if-match': version }),
          ...(tenant !== null && { 'writ-tenant': tenant }),
        },
        ...(payload !== undefined && { payload }),
      });
      const { statusCode } = answer;
      expect(statusCode, answer.body).toBeLessThan(500);
      if (statusCode >= 400) expect(isProblem.Check(answer.json()), answer.body).toBe(true);
      else expect(Compile(operation.output).Check(answer.json()), answer.body).toBe(true);
    }),
    { numRuns: 300, seed: 20 },
  );
});
