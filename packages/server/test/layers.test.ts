/** What the layers answer through the server: each answer fits the schema of its operation. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineJob, definePlan, principal, rights, Writ } from 'writ';
import { type TestDatabase, testDatabase } from 'writ/testing';
import { canonicalize } from '../../writ/src/ledger/canonical.js';
import { type Login, login } from '../../writ/test/hostile/logins.js';
import { operations } from '../src/operations.js';
import { writServer } from '../src/server.js';

let db: TestDatabase;
let owner: Writ;
let serverLogin: Login;
let writ: Writ;
let app: FastifyInstance;
const keys: Record<string, string> = {};
/** The keys that sign, which no server has. */
const signing: Record<string, string> = {};

beforeAll(async () => {
  db = await testDatabase();
  owner = await Writ.connect({ connectionString: db.connectionString });
  for (const [id, tenant] of Object.entries({ all: undefined, second: undefined, acme: 'acme' })) {
    signing[id] = await owner.principals.add({
      id,
      kind: 'person',
      rights,
      ...(tenant !== undefined && { tenant }),
    });
    keys[id] = (await owner.apiKeys.make({ principal: id })).key;
  }
  serverLogin = await login(db, ['writ_server']);
  writ = await Writ.connect({ connectionString: serverLogin.connectionString });
  app = writServer(writ);
  await app.ready();
});

afterAll(async () => {
  await app.close();
  await writ.close();
  await owner.close();
  await serverLogin.end();
});

/** Calls an operation and compares its answer with the schema. */
async function call(
  id: string,
  params: Record<string, string> = {},
  {
    as = 'all',
    query = {},
    body,
    headers = {},
  }: { as?: string; query?: object; body?: unknown; headers?: Record<string, string> } = {},
) {
  const operation = operations.find((one) => one.id === id);
  if (!operation) throw new Error(`There is no operation ${id}.`);
  const path = operation.path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '');
  const answer = await app.inject({
    method: operation.method,
    url: `/api/v1${path}`,
    query: query as Record<string, string>,
    headers: { ...headers, authorization: `Bearer ${keys[as]}` },
    ...(body !== undefined && { payload: body as object }),
  });
  const value = answer.json();
  if (answer.statusCode < 300) {
    const output = Compile(operation.output);
    expect([...output.Errors(value)]).toEqual([]);
  }
  return { status: answer.statusCode, body: value };
}

test('runs are listed, shown and read by their tenant only', async () => {
  const plan = definePlan('served', { version: '1.0.0' }, (p) => {
    p.waitFor('word');
  });
  const { runId } = await owner.start(plan);
  await owner.start(plan);
  const first = await call('runs.list', {}, { query: { limit: '1' } });
  expect(first.body.items).toHaveLength(1);
  const second = await call('runs.list', {}, { query: { limit: '1', after: first.body.next } });
  expect(second.body).toMatchObject({ items: [{ runId, planId: 'served' }] });
  expect((await call('runs.get', { id: runId })).body).toMatchObject({ runId });
  expect((await call('runs.snapshot', { id: runId })).body).toMatchObject({ runId });
  expect((await call('runs.events', { id: runId })).body.items.length).toBeGreaterThan(0);
  expect((await call('runs.list', {}, { as: 'acme' })).body.items).toEqual([]);
  for (const id of ['runs.get', 'runs.snapshot', 'runs.events'])
    expect((await call(id, { id: runId }, { as: 'acme' })).status).toBe(404);
});

test('queue jobs are listed, shown and cancelled by their tenant only', async () => {
  const mail = defineJob('served.mail');
  const { jobId } = await owner.enqueue(mail, { to: 'a' } as never);
  const { jobId: other } = await owner.enqueue(mail, { to: 'b' } as never, { key: 'b' });
  const first = await call('queue.list', {}, { query: { limit: '1', kind: 'served.mail' } });
  expect(first.body.items).toMatchObject([{ job_id: other, idempotency_key: 'b' }]);
  expect((await call('queue.get', { id: jobId })).body).toMatchObject({ status: 'queued' });
  expect((await call('queue.executions', { id: jobId })).body.items).toEqual([]);
  expect((await call('queue.get', { id: jobId }, { as: 'acme' })).status).toBe(404);
  const body = { reason: 'sent by mistake' };
  expect((await call('queue.cancel', { id: jobId }, { as: 'acme', body })).status).toBe(404);
  expect((await call('queue.cancel', { id: jobId }, { body })).body).toEqual({
    job_id: jobId,
    status: 'cancelled',
  });
  expect(
    (await call('queue.list', {}, { query: { status: 'cancelled' } })).body.items,
  ).toMatchObject([{ job_id: jobId }]);
  expect((await call('queue.requeue', { id: jobId }, { body })).body.code).toBe(
    'dead_letter_not_found',
  );
});

test('a contract is proposed, shown and rejected, and approved by a signature only', async () => {
  await owner.capabilities.put([{ capability_name: 'search', domain: 'shop' }], {
    as: signing.all as string,
  });
  const proposal = {
    title: 'switch search on',
    scope: ['search'],
    steps: [
      {
        step_type: 'capability_enable',
        target: 'search',
        parameters: { target_lifecycle: 'PREVIEW' },
      },
    ],
  };
  const proposed = await call('contracts.propose', {}, { body: proposal });
  expect(proposed.status, JSON.stringify(proposed.body)).toBe(201);
  const id = proposed.body.contract_id;
  expect((await call('contracts.list')).body.items).toMatchObject([{ contract_id: id }]);
  expect((await call('contracts.get', { id })).body).toMatchObject({ created_by: 'all' });
  expect((await call('contracts.history', { id })).body.moves.length).toBeGreaterThan(0);
  expect((await call('contracts.preview', { id })).body).toMatchObject({ contract_id: id });
  for (const one of ['contracts.get', 'contracts.history', 'contracts.preview'])
    expect([403, 404]).toContain((await call(one, { id }, { as: 'acme' })).status);
  const reason = 'it is not the season for it';
  expect([403, 404]).toContain(
    (await call('contracts.reject', { id }, { as: 'acme', body: { reason } })).status,
  );
  const { body: shown } = await call('contracts.preview', { id }, { as: 'second' });
  const bytes = canonicalize(shown.document);
  const signed = {
    document: bytes,
    signature: principal(signing.second as string).sign(
      createHash('sha256').update(bytes).digest('hex'),
    ),
    scheme: 'ed25519',
  };
  expect(
    (await call('contracts.approve', { id }, { as: 'second', body: { ...signed, document: '{}' } }))
      .status,
  ).toBeGreaterThanOrEqual(400);
  expect(
    (await call('contracts.approve', { id }, { as: 'second', body: signed })).body,
  ).toMatchObject({ status: 'ELIGIBLE', unverified: 'no_applier' });
  expect(
    (await call('contracts.reject', { id }, { as: 'second', body: { reason } })).body,
  ).toMatchObject({ status: 'REJECTED' });
  expect((await call('changes.list')).body.items).toEqual([]);
});

test('jobs of known kinds are enqueued once, in the tenant of the request', async () => {
  await owner.enqueue(defineJob('served.known'));
  const body = { kind: 'served.known', input: { to: 'a' }, priority: -5 };
  const once = { 'idempotency-key': 'mail-1' };
  const first = await call('queue.enqueue', {}, { as: 'acme', body, headers: once });
  expect(first).toMatchObject({ status: 201, body: { duplicate: false } });
  const again = await call('queue.enqueue', {}, { as: 'acme', body, headers: once });
  expect(again.body).toEqual({ ...first.body, duplicate: true });
  const other = { ...body, input: { to: 'b' } };
  expect(await call('queue.enqueue', {}, { as: 'acme', body: other, headers: once })).toMatchObject(
    { status: 422, body: { code: 'once_conflict' } },
  );
  const job = await call('queue.get', { id: first.body.job_id }, { as: 'acme' });
  expect(job.body).toMatchObject({ tenant_id: 'acme', priority: -5, enqueued_by: 'acme' });
  for (const kind of ['served.unknown', 'governance.change'])
    expect((await call('queue.enqueue', {}, { body: { kind } })).status).toBeGreaterThanOrEqual(
      400,
    );
});

test('a run gets what is delivered to it, and is cancelled by a signal', async () => {
  const plan = definePlan('waiting', { version: '1.0.0' }, (p) => {
    p.waitFor('word');
    p.waitFor('more');
  });
  const { runId } = await owner.start(plan);
  const body = { event: 'word', payload: { n: 1 }, id: 'd-1' };
  expect((await call('runs.deliver', { id: runId }, { as: 'acme', body })).status).toBe(404);
  expect((await call('runs.deliver', { id: runId }, { body })).body).toEqual({
    duplicate: false,
    stepId: 'word',
  });
  expect((await call('runs.deliver', { id: runId }, { body })).body.duplicate).toBe(true);
  const cancel = { type: 'CANCEL', reason: 'not needed any more' };
  expect((await call('runs.signal', { id: runId }, { as: 'acme', body: cancel })).status).toBe(404);
  const signalled = await call('runs.signal', { id: runId }, { body: cancel });
  expect(signalled).toMatchObject({ status: 200, body: { duplicate: false } });
});
