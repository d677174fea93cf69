/** Numbers in logs, where one call appends to several of them. */
import { describe, expect, test } from 'vitest';
import { defineJob, definePlan } from '../../../src/index.js';
import { reference } from '../../../src/runs/plans/typed.js';
import { session } from '../../races/sessions.js';
import { scene } from './scene.js';

const s = scene();
const plan = definePlan('append', { version: '1' }, (p) => p.step('only', defineJob('only')));

test('of events of several runs, one that is left when the others have happened is counted on in its own log', async () => {
  s.unchecked(); // what is appended here no rule allows
  const first = await s.writ.start(plan, undefined);
  const second = await s.writ.start(plan, undefined);
  const append = (runs: string[], types: string[]) =>
    s.db.query(
      `select writ_data.append_events($1::uuid[], $2::text[], array_fill('RUN'::text, array[cardinality($2::text[])]), array_fill('1'::text, array[cardinality($2::text[])]), array_fill(null::integer, array[cardinality($2::text[])]),
         array_fill('{}'::jsonb, array[cardinality($2::text[])]), null, null, 'test', 'test', now())`,
      [runs, types],
    );
  await append([first.runId, first.runId], ['RunApproved', 'RunQueued']);
  await append([first.runId, second.runId], ['RunApproved', 'RunApproved']);
  expect(
    (await s.writ.runs.events(second.runId)).items.map(({ runSeq, eventType }) => [
      runSeq,
      eventType,
    ]),
  ).toEqual([
    [1, 'RunStarted'],
    [2, 'RunApproved'],
  ]);
});

describe('an external engine', () => {
  const act = defineJob<unknown>('act');
  const abroad = definePlan<unknown>('abroad', { version: '1' }, (p) => {
    const a = p.step('a', act, { compensate: act });
    p.each('list', act, { over: reference<unknown[]>('input'), after: a });
    p.step('maybe', act, { after: a, optional: true });
  });
  const start = async (options: object = {}) =>
    (await s.writ.start(abroad, [1], { engine: 'external', ...options })).runId;
  const append = (runId: string, eventType: string, stepId?: string, more: object = {}) =>
    s.writ.runs.append(runId, { eventType, ...(stepId && { stepId }), ...more });
  const refused = (call: Promise<unknown>) =>
    expect(call).rejects.toMatchObject({ code: 'EVENT_OUT_OF_ORDER' });
  const step = async (runId: string, stepId: string, end = 'StepCompleted') => {
    await append(runId, 'StepStarted', stepId);
    await append(runId, end, stepId, {
      eventData: end === 'StepCompleted' ? { artifacts: [] } : {},
    });
  };

  test('cannot tell of steps that the plan does not have, of their elements, or of undoing what it does not compensate', async () => {
    const runId = await start();
    await append(runId, 'RunStarted');
    for (const stepId of ['b', 'a[0]', 'undo:list', 'undo:b', 'list[0][1]']) {
      await expect(append(runId, 'StepStarted', stepId)).rejects.toMatchObject({
        code: expect.stringMatching(/EVENT_OUT_OF_ORDER|invalid_argument/),
      });
    }
    for (const stepId of ['a', 'list', 'list[0]', 'undo:a'])
      await append(runId, 'StepStarted', stepId);
    s.unchecked();
  });

  test('cannot complete a run while a step is open, or has not been done', async () => {
    const runId = await start();
    await append(runId, 'RunStarted');
    await refused(append(runId, 'RunCompleted'));
    await step(runId, 'a');
    await append(runId, 'StepStarted', 'list', { eventData: { items: 1, parallel: 1 } });
    await append(runId, 'StepStarted', 'list[0]');
    await refused(append(runId, 'RunCompleted'));
    await append(runId, 'StepCompleted', 'list', { eventData: { items: 1, artifacts: [] } });
    await refused(append(runId, 'RunCompleted')); // its element
    await append(runId, 'StepCompleted', 'list[0]', { eventData: { artifacts: [] } });
    await append(runId, 'StepStarted', 'maybe');
    await refused(append(runId, 'RunCompleted'));
    await append(runId, 'StepCompleted', 'maybe', { eventData: { artifacts: [] } });
    await append(runId, 'RunCompleted');
    expect((await s.writ.runs.snapshot(runId)).status).toBe('COMPLETED');
    s.unchecked(); // the list ends before its element
  });

  test('says how it finds the run, when an event happened, with which version, and what it follows from', async () => {
    const engineRunRef = { engine: 'temporal', namespace: 'shop', workflowId: 'w-1', runId: 'r-1' };
    const runId = await start();
    const began = await append(runId, 'RunStarted', undefined, {
      eventData: { engineRunRef },
      emittedAt: '2026-01-02T03:04:05.678+01:00',
    });
    if (began.spooled) throw new Error('it was spooled');
    await append(runId, 'StepStarted', 'a', {
      adapterVersion: 'shop-engine/2.1',
      parentEventId: began.eventId,
    });
    expect((await s.writ.runs.events(runId)).items).toMatchObject([
      { emittedAt: '2026-01-02T02:04:05.678Z', eventData: { engineRunRef, planId: 'abroad' } },
      { adapterVersion: 'shop-engine/2.1', parentEventId: began.eventId },
    ]);
    expect(
      await s.db.query(
        `select emitted_at < persisted_at as earlier, adapter_version, parent_event_id, engine_run_ref from writ.run_events where run_id = $1 order by run_seq`,
        [runId],
      ),
    ).toEqual([
      {
        earlier: true,
        adapter_version: 'external/1',
        parent_event_id: null,
        engine_run_ref: engineRunRef,
      },
      {
        earlier: false,
        adapter_version: 'shop-engine/2.1',
        parent_event_id: began.eventId,
        engine_run_ref: engineRunRef,
      },
    ]);
    expect(await s.writ.runs.snapshot(runId)).toMatchObject({
      engineRunRef,
      startedAt: '2026-01-02T02:04:05.678Z',
    });
    s.unchecked();
  });

  test('keeps the reference that the run was started with', async () => {
    const runId = await start({ engineRunRef: { workflowId: 'first' } });
    await append(runId, 'RunStarted', undefined, {
      eventData: { engineRunRef: { workflowId: 'second' } },
    });
    expect((await s.writ.runs.snapshot(runId)).engineRunRef).toEqual({ workflowId: 'first' });
  });

  test.each<[string, object, string]>([
    ['a time that is none', { emittedAt: '2026-13-45T00:00:00Z' }, 'invalid_argument'],
    ['a time in words', { emittedAt: 'tomorrow' }, 'invalid_argument'],
    ['a time to come', { emittedAt: '2999-01-01T00:00:00Z' }, 'invalid_argument'],
    ['a version of 41 characters', { adapterVersion: 'x'.repeat(41) }, 'invalid_argument'],
    [
      'a parent that is no event of the run',
      { parentEventId: '00000000-0000-8000-8000-000000000000' },
      'EVENT_OUT_OF_ORDER',
    ],
    ['a reference that is a text', { eventData: { engineRunRef: 'w-1' } }, 'invalid_argument'],
    ['what only the gate writes', { eventData: { told: {} } }, 'invalid_argument'],
  ])('is refused %s', async (_, more, code) => {
    const runId = await start();
    await expect(append(runId, 'RunStarted', undefined, more)).rejects.toMatchObject({ code });
  });
});

test('a run of an engine that nobody has is refused, and nothing is left of it', async () => {
  const started = s.writ.start(plan, undefined, { engine: 'temporal' as never });
  await expect(started).rejects.toMatchObject({ code: 'CAPABILITIES_NOT_SUPPORTED' });
  expect(await s.db.query('select from writ_data.run')).toEqual([]);
});

test('the log of a run of this database says how the engine finds it', async () => {
  const { runId } = await s.writ.start(plan, undefined);
  expect((await s.writ.runs.snapshot(runId)).engineRunRef).toEqual({ engine: 'native', runId });
});

test('events of a type in a period are found by an index', async () => {
  const [{ partition } = { partition: '' }] = await s.db.query(
    `select c.relname as partition from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'writ_data.run_event'::regclass order by 1 desc limit 1`,
  );
  const client = await session(s.db);
  try {
    await client.query('set enable_seqscan = off');
    for (const [which, index] of [
      [`event_type = 'RunFailed' and at > now()`, 'run_event_by_type'],
      ['at > now()', 'run_event_by_time'],
    ]) {
      expect(
        JSON.stringify(
          await client.query(`explain select from writ_data.${partition} where ${which}`),
        ),
      ).toContain(index);
    }
  } finally {
    await client.end();
  }
});
