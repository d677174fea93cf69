/** Every operation that reads answers about things that are there, within its schema. */
import type { FastifyInstance } from 'fastify';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { action, defineJob, definePlan, definePolicy, enable, rights, Writ } from 'writ';
import { type TestDatabase, testDatabase } from 'writ/testing';
import { type Login, login } from '../../writ/test/hostile/logins.js';
import { operations } from '../src/operations.js';
import { writServer } from '../src/server.js';

let db: TestDatabase;
let owner: Writ;
let serverLogin: Login;
let writ: Writ;
let app: FastifyInstance;
const keys: Record<string, string> = {};
/** The path of an operation about what the set-up made, by the operation's path. */
const about: Record<string, string> = {};

beforeAll(async () => {
  db = await testDatabase();
  owner = await Writ.connect({ connectionString: db.connectionString });
  const as = await owner.principals.add({ id: 'all', kind: 'person', rights });
  await owner.principals.add({ id: 'acme', kind: 'person', rights, tenant: 'acme' });
  for (const id of ['all', 'acme']) keys[id] = (await owner.apiKeys.make({ principal: id })).key;
  await owner.capabilities.put(
    [
      { capability_name: 'search', domain: 'shop', monitored: true },
      { scope: 'limits', owner_capability: 'search', values: { max: 5 } },
    ],
    { as },
  );
  await owner.probes.put({ name: 'beat', capability: 'search', type: 'heartbeat' }, { as });
  await owner.freezes.put({ reason: 'a quiet week for everybody' }, { as });
  const incident = await owner.incidents.open({ summary: 'the shop is slow' }, { as });
  await owner.signals.record({ scope: 'search', decision: 'WARN', reason: 'it is slow' }, { as });
  const contract = await owner.contracts.propose(
    { title: 'switch search on', scope: ['search'], steps: [enable('search', 'PREVIEW')] },
    { as },
  );
  const mail = defineJob('mail');
  const { jobId } = await owner.enqueue(mail, undefined, { key: 'one' });
  await owner.schedules.put('nightly', mail, { cron: '@daily' });
  await owner.schedules.runNow('nightly');
  await owner.destinations.put('audit', {
    bus: 'webhook',
    tenant: 'default',
    config: { url: 'https://audit.example/hook', secrets: ['audit'] },
  });
  const plan = definePlan('served', { version: '1.0.0' }, (p) => {
    p.waitFor('word');
    p.waitFor('more');
  });
  const { runId } = await owner.start(plan);
  await owner.runs.deliver(runId, 'word', { n: 1 });
  const governor = await owner.governor();
  await governor.publish(
    definePolicy('load', {
      when: { load: { above: 80 } },
      then: action.webhook('scale_up_cloud_run', {
        target: 'catalog',
        url: 'https://relief.example/',
      }),
      requires: 'pool:write',
    }),
    { as, shadow: true },
  );
  await owner.governors.entitlements.put({ tier: 'starter', quota: 5 }, { as });
  await governor.signal({ type: 'load', value: 10, source: 'monitoring' });

  await db.query(`select writ.fn_ledger_tick('test')`);
  const { items: receipts } = await owner.ledger.receipts({ tenant: 'default', limit: 1 });
  const { items: caller } = await owner.apiKeys.list();
  expect(caller).toHaveLength(2);
  Object.assign(about, {
    capabilities: 'search',
    probes: 'beat',
    incidents: incident,
    contracts: contract.id,
    queue: jobId,
    schedules: 'nightly',
    destinations: 'audit',
    plans: 'served',
    runs: runId,
    governors: governor.name.sku,
    governorPolicies: governor.name.sku,
    principals: 'all',
    kinds: 'mail',
    settings: 'queue.retry.max_attempts_default',
    errors: 'job_not_found',
    ledger: receipts[0]?.receipt.receipt_id,
  });
  serverLogin = await login(db, ['writ_server']);
  writ = await Writ.connect({ connectionString: serverLogin.connectionString });
  app = writServer(writ);
  await app.ready();
});

afterAll(async () => {
  await app?.close();
  await writ?.close();
  await owner.close();
  await serverLogin?.end();
});

const reads = operations.filter(({ kind }) => kind === 'read');
const layerOf = (id: string) => id.slice(0, id.indexOf('.'));
const get = (as: string, path: string) =>
  app.inject({
    method: 'GET',
    url: `/api/v1${path}`,
    headers: { authorization: `Bearer ${keys[as]}` },
  });
const nothing = '019a0000-0000-7000-8000-000000000000';
const pathOf = ({ id, path }: { id: string; path: string }) =>
  path.replace(':version', '1').replace(/:\w+/, about[layerOf(id)] ?? nothing);

/** Governance jobs and audits follow from activations; a proof needs a signed checkpoint. */
const absent = ['changes.get', 'changes.steps', 'audits.get', 'audits.checks', 'audits.evidence'];
const unsigned = ['ledger.proof'];

test.each(reads.filter(({ id }) => ![...absent, ...unsigned].includes(id)))(
  '$id shows what is there, within its schema',
  async (operation) => {
    const answer = await get('all', pathOf(operation));
    expect(answer.statusCode, answer.body).toBe(200);
    const value = answer.json();
    expect([...Compile(operation.output).Errors(value)]).toEqual([]);
    // No list of the set-up's own objects is empty, so each schema is compared with a row.
    const empty = [
      'queue.executions',
      'contracts.templates',
      'changes.list',
      'audits.list',
      'workers.list',
      'workers.weights',
      'alerts.list',
      'runs.artifacts',
      'schedules.ticks',
      'destinations.deliveries',
      'destinations.deadLetters',
      'governors.actions',
      'governors.events',
      'governors.receipts',
      'ledger.checkpoints',
    ];
    if (Array.isArray(value.items) && !empty.includes(operation.id))
      expect(value.items.length).toBeGreaterThan(0);
  },
);

test.each(reads.filter(({ id }) => absent.includes(id)))('$id finds nothing', async (operation) => {
  const path = operation.path.replace(':id', nothing);
  expect((await get('all', path)).statusCode).toBe(404);
});

test.each(reads.filter(({ wide }) => wide))(
  '$id is refused to a caller of one tenant, with a receipt',
  async (operation) => {
    const answer = await get('acme', pathOf(operation));
    expect([answer.statusCode, answer.json().code]).toEqual([403, 'TENANT_ACCESS_DENIED']);
    const denied = await db.query(
      `select coalesce(sum(receipts), 0)::integer as receipts from writ_data.denial
       where principal_id = 'acme'`,
    );
    expect(Number(denied[0]?.receipts)).toBeGreaterThan(0);
  },
);

test.each(reads.filter(({ wide, path }) => !wide && path.includes(':')))(
  '$id shows nothing of another tenant',
  async (operation) => {
    // Principals, errors and plans that nobody registered for a tenant belong to all of them.
    if (['principals.get', 'errors.get', 'plans.get'].includes(operation.id)) return;
    const answer = await get('acme', pathOf(operation));
    if (answer.statusCode === 200) expect(answer.json().items).toEqual([]);
    else expect([403, 404]).toContain(answer.statusCode);
  },
);
