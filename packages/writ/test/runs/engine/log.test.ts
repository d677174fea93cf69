/** The log of a run: dense, identified, sealed, and never changed. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { defineJob, definePlan, eventId, idempotencyKey } from '../../../src/index.js';
import { resolveRef } from '../../../src/runs/conditions.js';
import { allEvents, codeOf, scene } from './scene.js';

const s = scene();
const act = defineJob<unknown>('act');
const item = defineJob<number>('item');
const fan = definePlan<{ list: number[] }>('fan', { version: '3.1.4' }, (p) => {
  const top = p.step('top', act, { input: null });
  const all = p.each('all', item, { over: p.input.list, parallel: 20, after: top });
  const sides = Array.from({ length: 10 }, (_, n) =>
    p.step(`side-${n}`, act, { after: top, input: null }),
  );
  p.step('bottom', act, { after: [all, ...sides], input: null });
});
const input = { list: Array.from({ length: 60 }, (_, n) => n) };

/** Runs of a plan that fans out, done by eight workers of two connections at once. */
async function fanned(count: number): Promise<string[]> {
  const other = await s.db.connect();
  const handlers = [act.handle(() => ({ ok: true })), item.handle(({ input: n }) => n)];
  for (let n = 0; n < 8; n++)
    await (n % 2 ? other : s.writ).work(handlers, { poll: '20ms', concurrency: 5 });
  const runs = await Promise.all(Array.from({ length: count }, () => s.writ.start(fan, input)));
  for (const { runId } of runs) expect((await s.ended(runId)).status).toBe('COMPLETED');
  return runs.map(({ runId }) => runId);
}

test('numbers are dense from one, whoever appends, and each event happens once', {
  timeout: 60_000,
}, async () => {
  for (const runId of await fanned(4)) {
    const events = await allEvents(s.writ, runId);
    // RunStarted and RunCompleted; a start and an end of 12 steps, of the list and of each of its
    // elements.
    expect(events.map(({ runSeq }) => runSeq)).toEqual(
      Array.from({ length: 2 + 2 * (12 + 1 + 60) }, (_, n) => n + 1),
    );
    expect(new Set(events.map(({ idempotencyKey: key }) => key)).size).toBe(events.length);
  }
});

test('ids and keys in the database are those that anybody can compute', async () => {
  const [runId] = (await fanned(1)) as [string];
  await s.writ
    .start(fan, input)
    .then(({ runId: other }) => s.writ.runs.signal(other, { type: 'CANCEL', reason: 'enough' }));
  const rows = await s.db.query('select * from writ.run_events');
  expect(rows.filter(({ run_id }) => run_id === runId)).toHaveLength(148);
  for (const row of rows) {
    const [run, step, attempt, type] = [
      row.run_id,
      row.step_id,
      row.logical_attempt_id,
      row.event_type,
    ].map(String) as [string, string, string, string];
    expect(row.event_id).toBe(eventId(run, Number(row.run_seq)));
    expect(row.idempotency_key).toBe(idempotencyKey(run, step, attempt, type, '3.1.4'));
  }
});

test('every event is sealed: the record has the hash of its document', async () => {
  await fanned(1);
  const rows = await s.db.query(
    `select writ_data.run_event_document(e.run_id, e.run_seq, e.event_type, e.step_id, e.logical_attempt, e.engine_attempt, e.data::text, e.signal_id, e.at) as document,
       encode(substring(b.run_leaves from ((n.n - 1) * 32 + 1)::integer for 32), 'hex') as leaf
     from writ_data.run_event e left join writ_data.event_batch b on b.batch_id = e.batch_id
     left join lateral (select u.n from unnest(b.run_ids, b.run_seqs) with ordinality u(run, seq, n) where u.run = e.run_id and u.seq = e.run_seq) n on true`,
  );
  expect(rows).toHaveLength(148);
  for (const { document, leaf } of rows) {
    expect(leaf).toBe(createHash('sha256').update('\0').update(String(document)).digest('hex'));
    expect(JSON.parse(String(document))).toHaveLength(9);
  }
});

test('an event cannot be changed or removed, even by the owner', async () => {
  await s.writ.start(fan, input);
  const [before] = await s.db.query('select * from writ_data.run_event');
  for (const sql of [
    `update writ_data.run_event set data = '{}'`,
    'delete from writ_data.run_event',
  ])
    expect(await codeOf(s.db.query(sql))).toBeDefined();
  expect(await s.db.query('select * from writ_data.run_event limit 1')).toEqual([before]);
});

test('a path into a list leads to the same value in the database as in TypeScript', async () => {
  const input = {
    list: ['a', { '-1': 'b', '01': 'c', ' 1': 'd' }, ['e']],
    text: 'abc',
    none: null,
  };
  const { runId } = await s.writ.start(
    definePlan<unknown>('paths', { version: '1' }, (p) => {
      p.waitFor('never');
    }),
    input,
  );
  const paths = [
    '0',
    '1',
    '2',
    '3',
    '-1',
    '-3',
    '01',
    '+1',
    ' 1',
    '1.-1',
    '1.01',
    '1. 1',
    '2.0',
    '2.-1',
    '99999999999',
    '1e0',
    '0.0',
  ];
  const refs = [
    ...paths.map((path) => `input.list.${path}`),
    'input.text.0',
    'input.none.0',
    'input.list',
    'input.list.length',
  ];
  const [row] = await s.db.query('select writ.fn_run_values($1, $2) as answer', [runId, refs]);
  const scope = { runId, input, stepIds: [], outputs: () => undefined };
  expect(row?.answer).toEqual(Object.fromEntries(refs.map((ref) => [ref, resolveRef(ref, scope)])));
});
