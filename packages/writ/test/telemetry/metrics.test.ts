/**
 * Every metric of the table is emitted by a scene in which everything happens once, with the
 * table's unit and attributes; and nothing else is.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  defineJob,
  definePlan,
  definePolicy,
  PermanentFailure,
  type Writ,
} from '../../src/index.js';
import { keyOfSeed, privateKeyText } from '../../src/ledger/note.js';
import { type Metric, metrics } from '../../src/telemetry/metrics.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { patient } from '../governor/patient.js';
import { append, entryOf } from '../ledger/receipts.js';
import { sealEverything } from '../ledger/sealing.js';
import { MemoryBus } from '../outbox/scene.js';
import { latch } from '../queue/latch.js';
import { until } from '../races/sessions.js';
import { registerMetrics } from './sdk.js';

const measured = registerMetrics();
let db: TestDatabase;
let writ: Writ;
let folder: string;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect({ observe: true });
  folder = mkdtempSync(join(tmpdir(), 'writ-telemetry-'));
});
afterEach(async () => {
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

const work = defineJob<{ n: number }>('work', { retry: { attempts: 2, base: '7d', cap: '7d' } });
const step = defineJob('step');
const plan = definePlan('plan', { version: '1' }, (p) => p.step('only', step));

/** The value of a point, which for a histogram is how many there are. */
async function read(): Promise<Record<string, Record<string, number>>> {
  const all = await measured.collect();
  return Object.fromEntries(
    [...all].map(([name, points]) => [
      name,
      Object.fromEntries(
        points.map(({ attributes, value }) => [
          Object.values(attributes).join(' '),
          typeof value === 'object' ? (value as { count: number }).count : Number(value),
        ]),
      ),
    ]),
  );
}

async function everything(): Promise<void> {
  // Jobs that succeed, fail, are to be tried again, and wait.
  await writ.enqueueMany(
    work,
    [1, 2, 3].map((n) => ({ input: { n } })),
  );
  await writ.enqueue(work, { n: 4 }, { key: 'once' });
  await writ.enqueue(work, { n: 4 }, { key: 'once' }); // there already
  await writ.enqueue(work, { n: 5 }, { delay: '1h' });
  await runUntilIdle(writ, [
    work.handle(({ input }) => {
      if (input.n === 2) throw new PermanentFailure('no');
      if (input.n === 3) throw new Error('not now');
    }),
  ]);
  // A lease that is lost.
  const stuck = defineJob('stuck', { retry: { base: '7d', cap: '7d' } });
  const begun = latch();
  const lost = latch();
  await writ.enqueue(stuck);
  const worker = await writ.work(
    [
      stuck.handle(async ({ signal }) => {
        signal.addEventListener('abort', () => lost.open());
        begun.open();
        await lost.opened;
      }),
    ],
    { lease: '3s', poll: '10m', onError: () => undefined },
  );
  await begun.opened;
  // Together: the worker would renew it in between.
  await db.query(
    `update writ_data.job_lease set leased_until = writ.now() - interval '1 second'; select writ.fn_job_lease_reaper('test')`,
  );
  await lost.opened;
  await worker.stop();
  // A run, and one that waits for room.
  await writ.start(plan, undefined);
  await runUntilIdle(writ, [step.handle(() => undefined)]);
  await writ.runs.setAdmission('crowded', { policy: 'QUEUE', maxRunning: 1 });
  for (const n of [1, 2])
    await writ.start(plan, undefined, { tenant: 'crowded', requestId: String(n) });
  // Destinations: one that accepts, one that refuses.
  const good = new MemoryBus();
  const bad = new MemoryBus();
  bad.answer = (event) =>
    event.type === 'dot.run.RunStarted'
      ? 'refuse'
      : event.type === 'dot.run.StepStarted'
        ? 'fail'
        : 'ok';
  for (const name of ['good', 'bad'])
    await writ.destinations.put(name, {
      bus: 'webhook',
      types: ['dot.run.*'],
      config: {},
      since: new Date(0),
    });
  const relay = await writ.relay({
    buses: { webhook: ({ name }) => (name === 'good' ? good : bad) },
  });
  await until(async () => good.accepted.length > 3 && bad.arrived.length > 3);
  await relay.stop();
  // A governor that has settled a signal.
  await patient(db);
  const governor = await writ.governor();
  const driving = await writ.drive();
  await until(
    async () =>
      (await governor.get()).state === 'boot' && Number((await governor.get()).events) > 0,
  );
  const key = await writ.principals.add({
    id: 'olga',
    kind: 'person',
    rights: ['operate'],
  });
  await writ.governors.entitlements.put({ tier: 'free' }, { tenant: 'default', as: key });
  await governor.publish(definePolicy('watch', { when: { error_rate: { above: 0.1 } } }), {
    as: key,
  });
  await until(async () => (await governor.get()).state === 'stable');
  await governor.signal({ type: 'error_rate', value: 0 });
  await until(async () => Number((await governor.get()).in_mailbox) === 0);
  await driving.stop();
  // The ledger: sealed, sequenced and signed.
  await append(db, [entryOf('acme', 'governor:1', 1)]);
  const turning = await writ.work([], { poll: '20ms' });
  await until(
    async () => (await db.query(`select from writ.ledger_entry where log_id = 'acme'`)).length > 0,
  );
  await until(async () => (await db.query('select from writ.run_snapshots')).length > 0);
  await turning.stop();
  await sealEverything(db);
  const signing = privateKeyText(keyOfSeed('acme.example/writ', new Uint8Array(32).fill(7)));
  await writ.ledger.checkpoint({ key: signing, places: [join(folder, 'checkpoint')] });
}

test('every metric of the table is emitted as the table says, and no other', {
  timeout: 60_000,
}, async () => {
  await everything();
  await writ.enqueue(work, { n: 6 });
  const seen = await measured.collect();
  expect([...seen.keys()].sort()).toEqual(Object.keys(metrics).sort());
  for (const [name, { unit, description, attributes }] of Object.entries<Metric>(metrics)) {
    const points = seen.get(name) ?? [];
    expect(points.length, name).toBeGreaterThan(0);
    for (const point of points) {
      expect([point.unit, point.description], name).toEqual([unit, description]);
      expect(Object.keys(point.attributes), name).toEqual(attributes);
      for (const value of Object.values(point.attributes)) expect(value, name).toBeDefined();
    }
  }

  const figures = await read();
  expect(figures['writ.jobs.enqueued']).toEqual({ work: 6, stuck: 1 });
  expect(figures['writ.jobs.finished']).toMatchObject({
    'work succeeded': 2,
    'work permanent': 1,
    'work transient': 1,
    'stuck lost': 1,
    'step succeeded': 1,
  });
  expect(figures['writ.job.duration']).toEqual(figures['writ.jobs.finished']);
  expect(figures['writ.jobs.claimed']).toEqual({ work: 4, stuck: 1, step: 1 });
  expect(figures['writ.job.queue_time']).toEqual({ work: 4, stuck: 1, step: 1 });
  expect(figures['writ.leases.lost']).toEqual({ '': 1 });
  expect(figures['writ.runs.started']).toEqual({ plan: 3 });
  expect(figures['writ.queue.ready']).toMatchObject({ work: 1, stuck: 0 });
  expect(figures['writ.queue.waiting']).toMatchObject({ work: 2, stuck: 1, step: 0 });
  expect(figures['writ.queue.dead_letters']).toEqual({ '': 1 });
  expect(figures['writ.queue.in_progress']).toEqual({ '': 0 });
  expect(figures['writ.runs.open']).toEqual({ PENDING: 1, RUNNING: 1, PAUSED: 0 });
  expect(figures['writ.outbox.dead_letters']).toMatchObject({ good: 0 });
  expect(figures['writ.outbox.dead_letters']?.bad).toBeGreaterThan(0);
  expect(figures['writ.outbox.events']?.['bad dead']).toBe(
    figures['writ.outbox.dead_letters']?.bad,
  );
  expect(figures['writ.outbox.undelivered']?.bad).toBeGreaterThan(0);
  expect(figures['writ.governor.signals']).toEqual({ accept: 1 });
  expect(figures['writ.governors']).toEqual({
    boot: 0,
    stable: 1,
    warning: 0,
    intervening: 0,
    refusing: 0,
    degraded: 0,
  });
  expect(figures['writ.governor.mailbox']).toEqual({ '': 0 });
  const alerts = await db.query(
    'select severity, count(*)::int as open from writ.alert where cleared_at is null group by 1',
  );
  expect(figures['writ.alerts.open']).toEqual({
    P1: 0,
    P2: 0,
    P3: 0,
    ...Object.fromEntries(alerts.map(({ severity, open }) => [severity, open])),
  });
  expect(figures['writ.alerts.open']?.P2).toBeGreaterThan(0);
});

test('a connection that is not told to observe asks the database nothing, and one that is closed no longer', async () => {
  const kinds = async () =>
    (await measured.collect())
      .get('writ.queue.ready')
      ?.map(({ attributes }) => attributes['writ.job.kind']);
  await writ.enqueue(defineJob('before'));
  expect(await kinds()).toContain('before');
  await writ.close(); // it could only answer with an error now
  await (await db.connect()).enqueue(defineJob('after'));
  expect(await kinds()).not.toContain('after');
});

test('figures are of all tenants, and refused to whoever is bound to one', async () => {
  await expect(
    db.query(
      `do $$ begin perform set_config('writ.tenant', 'acme', true); if (writ.fn_metrics() ->> 'reason') = 'tenant_forbidden' then raise 'refused'; end if; end $$`,
    ),
  ).rejects.toThrow('refused');
});
