import { beforeEach, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../../src/database/uuid.js';
import { type Row, rolledBackGates } from './harness.js';

const gates = rolledBackGates();
const job = (change: Row = {}): Row => ({ id: uuidv7(), kind: 'chore', ...change });

test('many jobs are enqueued in one call, with one record of it', async () => {
  await gates.register();
  const jobs = Array.from({ length: 500 }, (_, n) => job({ input: { n }, key: `k${n}` }));
  expect(await gates.enqueueMany(jobs)).toEqual({ enqueued: 500, duplicates: [], refused: [] });
  expect(
    await gates.db.query(`select jobs from writ.command_run where command = 'fn_job_enqueue'`),
  ).toEqual([{ jobs: 500 }]);
  expect(
    await gates.db.query(
      'select count(*)::int as n, count(distinct id)::int as ids from writ.event_outbox',
    ),
  ).toEqual([{ n: 500, ids: 500 }]);
});

test('each job is taken or refused by itself', async () => {
  await gates.register();
  const jobs = [job(), job({ kind: 'unheard' }), job({ safe_payload: { token: 1 } }), job()];
  const answer = await gates.enqueueMany(jobs);
  expect(answer).toEqual({
    enqueued: 2,
    duplicates: [],
    refused: [
      { index: 1, reason: 'unknown_job_kind', detail: 'unheard' },
      { index: 2, reason: 'forbidden_payload_key', detail: 'token' },
    ],
  });
});

test('the same call again finds what it wrote, and changes nothing', async () => {
  await gates.register();
  const jobs = [job(), job({ key: 'k', input: { a: 1 } })];
  await gates.enqueueMany(jobs);
  const answer = await gates.unchanged(() => gates.enqueueMany(jobs));
  expect(answer).toEqual({
    enqueued: 0,
    duplicates: [
      { index: 0, job_id: jobs[0]?.id, same_payload: true },
      { index: 1, job_id: jobs[1]?.id, same_payload: true },
    ],
    refused: [],
  });
});

test('one key twice in one call is one job', async () => {
  await gates.register();
  const jobs = [job({ key: 'k', input: { n: 1 } }), job({ key: 'k', input: { n: 2 } })];
  const answer = await gates.enqueueMany(jobs);
  expect(answer).toMatchObject({ enqueued: 1, refused: [] });
  expect(answer.duplicates).toHaveLength(1);
  const rows = await gates.db.query('select job_id from writ_data.job');
  expect(rows).toHaveLength(1);
  expect(answer.duplicates[0].job_id).toBe(rows[0]?.job_id);
});

test('one id twice in one call is enqueued once, and is a duplicate of itself', async () => {
  await gates.register();
  const id = uuidv7();
  expect(await gates.enqueueMany([job({ id }), job({ id })])).toMatchObject({
    enqueued: 1,
    duplicates: [{ index: 1, job_id: id, same_payload: true }],
    refused: [],
  });
});

describe('an id that a different job has taken', () => {
  const taken = (index: number) => ({
    index,
    reason: 'invalid_job_id',
    detail: 'A supplied job id is taken by a different job.',
  });
  let id: string;
  beforeEach(async () => {
    await gates.register('chore');
    await gates.register('errand');
    id = await gates.enqueue({ tenant: 'acme' });
  });

  test('is refused, without saying whose it is', async () => {
    for (const other of [{ tenant: 'globex' }, { tenant: 'acme', kind: 'errand' }]) {
      expect(await gates.enqueueMany([job({ id, ...other })])).toEqual({
        enqueued: 0,
        duplicates: [],
        refused: [taken(0)],
      });
    }
  });

  test('keeps no other job of the call from being enqueued, and each keeps its index', async () => {
    const [known, fresh] = [await gates.enqueue({ tenant: 'acme', key: 'k' }), uuidv7()];
    const answer = await gates.enqueueMany([
      job({ id: uuidv7(), kind: 'unheard' }),
      job({ id, kind: 'errand' }),
      job({ id: fresh }),
      job({ id: fresh, kind: 'errand' }),
      job({ tenant: 'acme', key: 'k' }),
    ]);
    expect(answer).toEqual({
      enqueued: 1,
      duplicates: [{ index: 4, job_id: known, same_payload: true }],
      refused: [{ index: 0, reason: 'unknown_job_kind', detail: 'unheard' }, taken(1), taken(3)],
    });
  });

  test('takes every job of an atomic call back', async () => {
    const before = await gates.db.query('select from writ_data.job');
    const jobs = JSON.stringify([job({ id, kind: 'errand' }), job({})]);
    expect(await gates.call('fn_job_enqueue_many', { jobs, actor: 'test', atomic: true })).toEqual({
      enqueued: 0,
      duplicates: [],
      refused: [taken(0)],
    });
    expect(await gates.db.query('select from writ_data.job')).toHaveLength(before.length);
  });

  test('leaves no key behind', async () => {
    expect(await gates.enqueueMany([job({ id, tenant: 'globex', key: 'k' })])).toMatchObject({
      refused: [taken(0)],
    });
    expect(await gates.enqueueMany([job({ tenant: 'globex', key: 'k' })])).toMatchObject({
      enqueued: 1,
    });
  });
});

test('an id of the same tenant and kind under a new key is no new job, and the key is not taken by it', async () => {
  await gates.register();
  const id = await gates.enqueue({ key: 'first' });
  await gates.enqueueMany([job({ id, key: 'second' })]).catch(() => undefined);
  expect(await gates.db.query('select idempotency_key, job_id from writ_data.job_key')).toEqual([
    { idempotency_key: 'first', job_id: id },
  ]);
});

test('no jobs are no work', async () => {
  expect(await gates.unchanged(() => gates.enqueueMany([]))).toEqual({
    enqueued: 0,
    duplicates: [],
    refused: [],
  });
});

test('ten thousand jobs are one call like any other', async () => {
  await gates.register();
  expect(await gates.enqueueMany(Array.from({ length: 10_000 }, () => job()))).toMatchObject({
    enqueued: 10_000,
  });
  expect(
    await gates.db.query('select sum(cardinality(job_ids))::int as n from writ_data.job_ready'),
  ).toEqual([{ n: 10_000 }]);
});

test('jobs of one call are claimed in the order in which they were given', async () => {
  await gates.register();
  const jobs = Array.from({ length: 50 }, () => job());
  await gates.enqueueMany(jobs);
  expect((await gates.claim({ limit: 50 })).ids).toEqual(jobs.map((one) => one.id));
});

test('without an actor: actor_required', async () => {
  for (const actor of [null, '', ' '])
    await gates.refuses('actor_required', 'fn_job_enqueue_many', { jobs: '[]', actor });
});
