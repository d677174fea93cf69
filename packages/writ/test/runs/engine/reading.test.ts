/**
 * `writ.runs` and `writ.plans` as readers: pages, filters, tenants, and one whole look at a run.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { uuidv7 } from '../../../src/database/uuid.js';
import type { Page, RunEvent } from '../../../src/index.js';
import { documentOf, parcels, type Scene, saga, scene } from '../../cli/runs/scene.js';

let s: Scene;
beforeEach(async () => {
  s = await scene();
});
afterEach(async () => {
  await s.db.drop();
});

async function pages<Row>(read: (after?: string) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = [];
  for (let after: string | undefined, page = await read(); ; page = await read(after)) {
    rows.push(...page.items);
    if (page.next === null) return rows;
    after = page.next;
  }
}

const idsOf = (rows: readonly { readonly runId: string }[]) => rows.map(({ runId }) => runId);

test('pages through runs by tenant, plan, status, time and place, the newest first', async () => {
  await s.work();
  const { runId: failed } = await s.failed();
  const { runId: completed } = await s.completed();
  const { runId: waiting } = await s.waiting();
  const { runId: other } = await s.writ.start(parcels, { id: 'o' }, { tenant: 'acme' });
  const { runs } = s.writ;
  const all = [other, waiting, completed, failed];
  const paged = await pages((after) => runs.list({ limit: 1, ...(after && { after }) }));
  expect(idsOf(paged)).toEqual(all);
  const found = async (filter: Parameters<typeof runs.list>[0]) =>
    idsOf((await runs.list(filter)).items);
  expect(await found({ tenant: 'acme' })).toEqual([other]);
  expect(await found({ plan: 'saga' })).toEqual([completed, failed]);
  expect(await found({ plan: 'none' })).toEqual([]);
  expect(await found({ status: 'FAILED' })).toEqual([failed]);
  expect(await found({ before: completed })).toEqual([failed]);
  expect(await found({ until: '2020-01-01T00:00:00Z' })).toEqual([]);
  expect(await found({ since: '2020-01-01T00:00:00Z', tenant: 'default' })).toEqual(all.slice(1));
  expect(idsOf((await s.writ.with({ tenant: 'acme' }).runs.list()).items)).toEqual([other]);
  await expect(runs.list({ since: 'yesterday' })).rejects.toMatchObject({
    code: 'invalid_argument',
  });
  await expect(runs.list({ after: 'nonsense' })).rejects.toMatchObject({ code: 'invalid_cursor' });
});

test('answers a run as its own row has it, to its own tenant alone', async () => {
  const { runId } = await s.writ.start(saga, { id: 'o' }, { tenant: 'acme', requestId: 'r-1' });
  expect(await s.writ.runs.get(runId)).toEqual({
    runId,
    tenant: 'acme',
    project: 'default',
    environment: 'default',
    planId: 'saga',
    planVersion: '1.0.0',
    planSha256: saga.sha256,
    engine: 'native',
    status: 'RUNNING',
    substatus: null,
    requestId: 'r-1',
    originalRunId: null,
    startedBy: expect.any(String),
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    movedAt: expect.stringMatching(/Z$/),
    endedAt: null,
  });
  const elsewhere = s.writ.with({ tenant: 'other' }).runs;
  for (const read of [
    () => elsewhere.get(runId),
    () => elsewhere.snapshot(runId),
    () => elsewhere.detail(runId),
    () => elsewhere.events(runId),
    () => elsewhere.history(runId),
    () => elsewhere.deliveries(runId),
    () => elsewhere.artifacts(runId),
    () => s.writ.runs.get(uuidv7()),
    () => s.writ.runs.get('no id'),
  ])
    await expect(read()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
});

test('reads a log from either end, page by page, by step and type', async () => {
  await s.work();
  const { runId } = await s.failed();
  const { runs } = s.writ;
  const numbers = (events: readonly RunEvent[]) => events.map(({ runSeq }) => runSeq);
  const paged = (order: 'asc' | 'desc') =>
    pages((after) => runs.events(runId, { order, limit: 3, ...(after && { after }) }));
  expect(numbers(await paged('asc'))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(numbers(await paged('desc'))).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
  const charge = await runs.events(runId, { step: 'charge', types: ['StepFailed'] });
  expect(charge.items).toMatchObject([{ runId, eventType: 'StepFailed', stepId: 'charge' }]);
});

test('follows a run to its end, from a number on', async () => {
  await s.work();
  const { runId } = await s.waiting();
  const seen: RunEvent[] = [];
  const following = (async () => {
    for await (const event of s.writ.runs.follow(runId, { afterSeq: 2 })) seen.push(event);
  })();
  await s.writ.runs.deliver(runId, 'approval', { by: 'ada' });
  await following;
  const all = (await s.writ.runs.events(runId)).items;
  expect(all.at(-1)?.eventType).toBe('RunCompleted');
  expect(seen.map(({ eventId }) => eventId)).toEqual(all.slice(2).map(({ eventId }) => eventId));
});

test('stops following when its signal aborts', async () => {
  await s.work();
  const { runId } = await s.waiting();
  const stop = new AbortController();
  for await (const { stepId } of s.writ.runs.follow(runId, { signal: stop.signal }))
    if (stepId === 'approval') stop.abort();
  expect((await s.writ.runs.get(runId)).status).toBe('RUNNING');
});

test('lists what came from outside, without what it carries', async () => {
  const { runId } = await s.writ.start(parcels, { id: 'o', parcels: [] });
  const deliver = (payload: unknown, id: string) =>
    s.writ.runs.deliver(runId, 'approval', payload, { id, actor: 'bob' });
  await deliver({ secretive: true }, 'd-1');
  await deliver(undefined, 'd-2');
  const listed = async () => (await s.writ.runs.deliveries(runId, { limit: 5 })).items;
  expect(await listed()).toMatchObject([
    { deliveryId: 'd-1', event: 'approval', sizeBytes: 18, deliveredBy: 'bob', takenBy: null },
    { deliveryId: 'd-2', event: 'approval', sizeBytes: null, takenBy: null },
  ]);
  expect(JSON.stringify(await listed())).not.toContain('secretive');
  await s.work();
  await s.writ.runs.finished(runId, { timeoutMs: 20_000 });
  expect(await listed()).toMatchObject([{ takenBy: 'approval' }, { takenBy: null }]);
});

test('shows a run whole: plan, snapshot, input, and what a signal would do to it', async () => {
  await s.work();
  const { runId } = await s.waiting();
  expect(await s.writ.runs.detail(runId)).toMatchObject({
    run: { runId, status: 'RUNNING' },
    snapshot: { counts: { waiting: 1 } },
    plan: documentOf(parcels),
    input: { id: 'o-3' },
    tries: {},
    alerts: [],
    now: expect.stringMatching(/Z$/),
  });
  expect(await s.writ.runs.effects(runId, { type: 'CANCEL' })).toContain(
    '1 step will be undone, in this order: reserve.',
  );
});

test('verifies the log of a run that has ended', async () => {
  await s.work();
  const { runId } = await s.failed();
  expect(await s.writ.runs.verify(runId)).toMatchObject({ ok: true, status: 'FAILED', events: 8 });
});

test('lists, gets and registers plans, and starts a run by a plan’s name', async () => {
  const { plans, runs } = s.writ;
  await expect(plans.get('saga')).rejects.toMatchObject({ code: 'PLAN_NOT_FOUND' });
  await expect(plans.register(documentOf(saga))).rejects.toMatchObject({
    code: 'unknown_job_kind',
    detail: 'charge, release, reserve, ship, of plan saga',
  });
  await plans.register(saga as never);
  const { sha256 } = await plans.register({ ...documentOf(saga), planVersion: '2.0.0' });
  expect((await plans.list({ plan: 'saga' })).items).toMatchObject([
    { planVersion: '2.0.0', sha256, steps: 3, registeredFor: null },
    { planVersion: '1.0.0', sha256: saga.sha256 },
  ]);
  const newest = await plans.get('saga');
  expect(newest).toMatchObject({ planVersion: '2.0.0', document: { planId: 'saga' } });
  expect(newest.unserved).toEqual(['charge', 'release', 'reserve', 'ship']);
  await s.work();
  const { runId } = await runs.start({ planId: 'saga', planVersion: '1.0.0' }, { id: 'o' });
  expect(await runs.finished(runId, { timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
  await expect(runs.start({ planId: 'saga', planVersion: '9' }, {})).rejects.toMatchObject({
    detail: 'saga 9; there is 2.0.0, 1.0.0',
  });
});
