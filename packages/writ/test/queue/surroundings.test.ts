/**
 * Consumers, subscriptions and graphs as a program uses them: with real workers, which drive the
 * consumers by themselves.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, type EventReference, PermanentFailure, type Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { until } from '../races/sessions.js';

const charge = defineJob<{ order: number }>('charge');
const ship = defineJob('ship');
const alert = defineJob<EventReference>('alert');
let db: TestDatabase;
let writ: Writ;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect({ actor: 'shop' });
});
afterEach(() => db.drop());

test('a worker turns events into jobs by itself, once each', async () => {
  await writ.consumers.put('dead-letter-alert', {
    on: 'dot.job.dead_letter',
    job: alert,
    priority: 9,
  });
  const heard: EventReference[] = [];
  const handlers = [
    charge.handle(() => {
      throw new PermanentFailure('no');
    }),
    alert.handle(({ input }) => void heard.push(input)),
  ];
  const options = { poll: '20ms', onError: () => undefined } as const;
  await Promise.all([writ.work(handlers, options), writ.work(handlers, options)]);
  const jobs = await writ.enqueueMany(charge, [{ input: { order: 1 } }, { input: { order: 2 } }]);
  await until(async () => heard.length >= 2);
  expect(heard.map((event) => event.subject).sort()).toEqual(jobs.map((job) => job.jobId).sort());
  for (const event of heard) {
    expect(event.eventType).toBe('dot.job.dead_letter');
    expect(
      await db.query('select event_subject_ref from writ.event_outbox where id = $1', [
        event.eventId,
      ]),
    ).toEqual([{ event_subject_ref: event.subject }]);
  }
  expect(
    await db.query(`select priority, enqueued_by from writ.job_queue where job_kind = 'alert'`),
  ).toEqual([
    { priority: 9, enqueued_by: 'consumer:dead-letter-alert' },
    { priority: 9, enqueued_by: 'consumer:dead-letter-alert' },
  ]);
});

test('consumers are listed as they were put, and removed by name', async () => {
  await writ.tryEnqueue(charge, { order: 1 });
  await writ.consumers.put('b', {
    on: 'dot.job.succeeded',
    job: alert,
    subjectKind: 'charge',
    subjectDomain: 'dot',
    delay: '5s',
    attempts: 1,
  });
  await writ.consumers.put('a', { on: 'dot.job.cancelled', job: alert });
  const rest = { jobKind: 'alert', refused: null };
  expect((await writ.consumers.list()).items).toMatchObject([
    {
      name: 'a',
      on: 'dot.job.cancelled',
      subjectKind: null,
      subjectDomain: null,
      ...rest,
    },
    { name: 'b', on: 'dot.job.succeeded', subjectKind: 'charge', subjectDomain: 'dot', ...rest },
  ]);
  await writ.consumers.remove('a');
  expect((await writ.consumers.list()).items.map((consumer) => consumer.name)).toEqual(['b']);
  await expect(writ.consumers.remove('a')).rejects.toMatchObject({ code: 'consumer_not_found' });
  await expect(
    writ.consumers.put('loop', { on: 'dot.job.failed', job: alert, subjectKind: 'alert' }),
  ).rejects.toMatchObject({
    code: 'consumer_loop',
  });
  await expect(
    writ.consumers.put('x', { on: 'dot.job.failed', job: alert, priority: Number.NaN }),
  ).rejects.toMatchObject({
    code: 'invalid_consumer',
  });
});

test('a worker gets only what its subscriptions allow, and everything when the last one is taken back', async () => {
  await writ.enqueue(charge, { order: 1 });
  await writ.enqueue(ship);
  await writ.subscriptions.put('till', { kind: 'charge', priorityFloor: -5 });
  expect((await writ.subscriptions.list()).items).toEqual([
    { worker: 'till', kind: 'charge', domain: null, priorityFloor: -5 },
  ]);
  const done: string[] = [];
  const handlers = [
    charge.handle(() => void done.push('charge')),
    ship.handle(() => void done.push('ship')),
  ];
  const worker = await writ.work(handlers, { name: 'till', poll: '20ms' });
  await until(async () => done.length > 0);
  await writ.enqueue(charge, { order: 2 });
  await until(async () => done.length > 1);
  expect(done).toEqual(['charge', 'charge']);
  expect(await writ.subscriptions.remove('till', { kind: 'charge' })).toEqual({ limited: false });
  await until(async () => done.length > 2);
  expect(done).toEqual(['charge', 'charge', 'ship']);
  await worker.stop();
  await expect(writ.subscriptions.put('till', { priorityFloor: 0.5 })).rejects.toMatchObject({
    code: 'invalid_subscription',
  });
  await expect(writ.subscriptions.remove('till')).rejects.toMatchObject({
    code: 'subscription_not_found',
  });
});

test('a graph is emitted whole, in your transaction if you give it, and once per key', async () => {
  const jobs = [{ job: charge, input: { order: 1 }, key: 'order-1' }, { job: ship }] as const;
  const workflow = { kind: 'fulfil', generator: 'shop', key: 'order-1', correlationId: 'order-1' };
  const first = await writ.emitGraph(workflow, jobs);
  expect(first).toMatchObject({
    duplicate: false,
    jobIds: [expect.any(String), expect.any(String)],
  });
  expect(await writ.emitGraph(workflow, jobs)).toEqual({ ...first, duplicate: true });
  const rows = await db.query(
    'select job_id, job_kind, correlation_id, enqueued_by from writ.job_queue where workflow_id = $1',
    [first.workflowId],
  );
  expect(first.jobIds.map((id) => rows.find((row) => row.job_id === id)?.job_kind)).toEqual([
    'charge',
    'ship',
  ]);
  expect(rows).toMatchObject([
    { correlation_id: 'order-1', enqueued_by: 'shop' },
    { enqueued_by: 'shop' },
  ]);

  await expect(writ.emitGraph({ ...workflow, key: 'order-2' }, jobs)).rejects.toMatchObject({
    code: 'workflow_job_exists',
  });
  expect(await db.query('select count(*)::int as n from writ.job_workflow')).toEqual([{ n: 1 }]);
  await writ.close();
  await expect(writ.emitGraph(workflow, jobs)).rejects.toMatchObject({ code: 'closed' });
});

test('a graph in a transaction that rolls back was never there', async () => {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: db.connectionString });
  await client.connect();
  await client.query('begin');
  await writ.emitGraph(
    { kind: 'fulfil', generator: 'shop', tenant: 'acme' },
    [{ job: ship }, { job: ship }],
    { db: client },
  );
  expect((await client.query('select tenant_id, status from writ.job_workflow')).rows).toEqual([
    { tenant_id: 'acme', status: 'active' },
  ]);
  await client.query('rollback');
  await client.end();
  expect(await db.query('select * from writ.job_workflow')).toEqual([]);
  expect(await db.query('select * from writ.job_queue')).toEqual([]);
});
