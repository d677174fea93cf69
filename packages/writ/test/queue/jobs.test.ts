/** `writ.jobs`, `kinds` and `workers`: what they find, and what they change. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { defineJob, type ListedJob, type Writ } from '../../src/index.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';

let db: TestDatabase;
let writ: Writ;
beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect({ actor: 'ada' });
});
afterEach(() => db.drop());

const greet = defineJob<{ name: string }>('greet', { retry: { attempts: 1 } });
const other = defineJob('other');
const fails = greet.handle(() => {
  throw new Error('no');
});
const ids = (jobs: readonly ListedJob[]) => jobs.map(({ job_id }) => job_id);

async function deadLetters(n: number, tenant = 'default'): Promise<string[]> {
  const jobs = await writ.enqueueMany(
    greet,
    Array.from({ length: n }, (_, i) => ({ input: { name: `${i}` }, tenant })),
  );
  await runUntilIdle(writ, [fails], { skipTime: db });
  return jobs.map(({ jobId }) => jobId);
}

describe('list', () => {
  test('pages through all jobs, the newest first, each once', async () => {
    const jobs = await writ.enqueueMany(
      other,
      Array.from({ length: 7 }, () => ({ input: undefined })),
    );
    const seen: string[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const page = await writ.jobs.list({ limit: 3, ...(after && { after }) });
      seen.push(...ids(page.items));
      after = page.next;
    }
    expect(seen).toEqual(jobs.map(({ jobId }) => jobId).reverse());
  });

  test('pages through dead letters of a kind and tenant', async () => {
    const dead = await deadLetters(5, 'acme');
    await deadLetters(2, 'beta');
    const filter = { status: 'dead_letter', kind: 'greet', tenant: 'acme', limit: 3 } as const;
    const first = await writ.jobs.list(filter);
    const second = await writ.jobs.list({ ...filter, after: first.next as string });
    expect([...ids(first.items), ...ids(second.items)]).toEqual([...dead].reverse());
    expect(second.next).toBeNull();
    expect((await writ.jobs.list({ ...filter, kind: 'other' })).items).toEqual([]);
  });

  test('shows a bound tenant its own jobs only', async () => {
    const mine = (await writ.enqueue(other, undefined, { tenant: 'acme' })).jobId;
    const theirs = (await writ.enqueue(other, undefined, { tenant: 'beta' })).jobId;
    const acme = writ.with({ tenant: 'acme' });
    expect(ids((await acme.jobs.list()).items)).toEqual([mine]);
    expect(ids((await acme.jobs.list({ status: 'queued' })).items)).toEqual([mine]);
    await expect(acme.jobs.get(theirs)).rejects.toMatchObject({ code: 'job_not_found' });
    expect((await acme.jobs.executions(theirs)).items).toEqual([]);
    expect(await acme.jobs.events(theirs)).toEqual([]);
    await expect(acme.jobs.payload(theirs)).rejects.toMatchObject({ code: 'job_not_found' });
    await expect(acme.jobs.cancel(theirs)).rejects.toMatchObject({ code: 'job_not_found' });
  });

  test.each(['', 'not a cursor', Buffer.from('["x"]').toString('base64url')])(
    'refuses a cursor that no page has answered: %j',
    async (after) => {
      for (const filter of [{}, { status: 'dead_letter' }, { status: 'cancelled' }] as const)
        await expect(writ.jobs.list({ ...filter, after })).rejects.toMatchObject({
          code: 'invalid_cursor',
        });
    },
  );

  test('refuses a status that is SQL', async () => {
    await expect(
      writ.jobs.list({ status: `queued' or true --` as 'queued' }),
    ).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});

describe('finished', () => {
  test('resolves with the result when the job has ended', async () => {
    const { jobId } = await writ.enqueue(greet, { name: 'Ada' });
    const finished = writ.jobs.finished(jobId, { timeoutMs: 20_000 });
    await runUntilIdle(writ, [greet.handle(({ input }) => `Hello ${input.name}`)]);
    expect(await finished).toMatchObject({ status: 'succeeded', result: 'Hello Ada' });
  });

  test('rejects after its timeout, and for a job that is not there', async () => {
    const { jobId } = await writ.enqueue(other);
    await expect(writ.jobs.finished(jobId, { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'job_not_finished',
    });
    await expect(writ.jobs.finished(uuidv7())).rejects.toMatchObject({ code: 'job_not_found' });
  });
});

describe('requeueMany', () => {
  test('requeues each dead letter by itself and refuses the others', async () => {
    const [dead = ''] = await deadLetters(1);
    const alive = (await writ.enqueue(other)).jobId;
    const done = await writ.jobs.requeueMany([alive, dead, dead], { reason: 'mended' });
    expect(done).toMatchObject([
      { parent_job_id: alive, reason: 'dead_letter_not_found' },
      { parent_job_id: dead, job_id: expect.any(String) },
      { parent_job_id: dead, reason: 'dead_letter_not_found' },
    ]);
    expect(await writ.jobs.get(dead)).toMatchObject({ status: 'cleaned' });
  });

  test('refuses more than 1,000 at once, and what is no id', async () => {
    const many = Array.from({ length: 1_001 }, () => uuidv7());
    await expect(writ.jobs.requeueMany(many, { reason: 'r' })).rejects.toMatchObject({
      code: 'batch_too_large',
    });
    await expect(writ.jobs.requeueMany(['x'], { reason: 'r' })).rejects.toMatchObject({
      code: 'dead_letter_not_found',
    });
  });
});

describe('a paused kind', () => {
  const claim = async (kinds: string) =>
    (
      await db.query(
        `select writ.fn_job_claim_many($1::text[], 'external_worker', 'me', 60, 10, 0) as answer`,
        [kinds],
      )
    )[0]?.answer as { jobs: unknown[][]; paused?: boolean };

  test('is kept from workers, and other kinds are not', async () => {
    await writ.enqueue(greet, { name: 'Ada' });
    await writ.enqueue(other);
    expect(await writ.kinds.pause('greet')).toEqual({ changed: true });
    expect(await writ.kinds.pause('greet')).toEqual({ changed: false });
    expect(await writ.kinds.get('greet')).toMatchObject({ pausedBy: 'ada', backlog: 1 });
    expect(await claim('{greet}')).toEqual({ jobs: [], paused: true });
    expect((await claim('{greet,other}')).jobs).toHaveLength(1);
    expect(await writ.kinds.resume('greet')).toEqual({ changed: true });
    expect((await claim('{greet}')).jobs).toHaveLength(1);
  });

  test('stays paused when a worker defines it anew', async () => {
    await writ.enqueue(greet, { name: 'Ada' });
    await writ.kinds.pause('greet');
    await db.query(`select writ.fn_job_kind_register('greet', '{"timeout_s": 5}', 'worker')`);
    expect(await writ.kinds.get('greet')).toMatchObject({ pausedBy: 'ada', timeoutS: 5 });
  });

  test('is none of governance, and none that is not there', async () => {
    await expect(writ.kinds.pause('governance.apply')).rejects.toMatchObject({
      code: 'reserved_job_kind',
    });
    await expect(writ.kinds.pause('nothing')).rejects.toMatchObject({ code: 'unknown_job_kind' });
  });
});

test('kinds show their work, and workers what they hold', async () => {
  await deadLetters(2);
  await writ.enqueue(other);
  expect((await writ.kinds.list()).items).toMatchObject([
    { kind: 'greet', backlog: 0, inProgress: 0, deadLetters: 2, attempts: 1 },
    { kind: 'other', backlog: 1, inProgress: 0, deadLetters: 0 },
  ]);
  const worker = await writ.work([other.handle(() => undefined)], { name: 'till' });
  expect((await writ.workers.list()).items).toMatchObject([
    { worker: 'till', freshness: 'fresh', kinds: ['other'] },
  ]);
  await worker.stop();
});

test('a tenant has the weight that was set', async () => {
  expect(await writ.workers.setWeight('acme', 2)).toEqual({ tenant: 'acme', weight: 2 });
  expect((await writ.workers.weights()).items).toMatchObject([
    { tenant: 'acme', weight: 2, setBy: 'ada' },
  ]);
});
