/** A worker whose handlers are all busy claims nothing that it would only hold. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defineJob, type Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { latch } from './latch.js';

let db: TestDatabase;
let writ: Writ;

const step = defineJob<{ n: number }>('step');
const many = (from: number, length: number) =>
  Array.from({ length }, (_, n) => ({ input: { n: from + n } }));

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
});
afterEach(() => db.drop());

const givenBack = async () => {
  const [row] = await db.query(`select count(*)::int as jobs, coalesce(max(n), 0)::int as times
    from (select count(*) as n from writ.job_execution where abort_kind = 'released' group by job_id) x`);
  return row as { jobs: number; times: number };
};

test('a stuck worker gives each job back once at most, and claims nothing until a handler is free', async () => {
  const begun: number[] = [];
  const goOn = latch();
  const slow = latch();
  const handler = step.handle(async ({ input: { n } }) => {
    begun.push(n);
    if (n < 300) return; // quick, so that the worker begins to claim ahead
    if (begun.filter((each) => each >= 300).length === 2) slow.open();
    await goOn.opened;
  });
  await writ.enqueueMany(step, many(0, 340));
  const worker = await writ.work([handler], { concurrency: 2 });
  await slow.opened;
  // The surplus goes back a second after the last handler began. From then on nothing moves.
  const held = () =>
    db.query(
      `select count(*)::int as jobs from writ.job_queue where status in ('leased', 'in_progress')`,
    );
  await vi.waitFor(async () => expect(await held()).toEqual([{ jobs: 2 }]), {
    timeout: 20_000,
    interval: 50,
  });
  const before = await givenBack();
  expect(before.times).toBeLessThanOrEqual(1);
  // ten rounds of a worker that claims again
  await new Promise((resume) => setTimeout(resume, 1_500));
  expect(await givenBack()).toEqual(before);
  goOn.open();
  await vi.waitFor(() => expect(begun).toHaveLength(340), { timeout: 20_000 });
  expect(new Set(begun).size).toBe(340);
  await worker.stop();
});

test('slow jobs after quick ones are given back once at most, however often the worker is stuck', async () => {
  const begun: number[] = [];
  let goOn = latch();
  let stuck = latch();
  const handler = step.handle(async ({ input: { n } }) => {
    begun.push(n);
    if (n < 300) return;
    const wait = goOn.opened;
    if (begun.filter((each) => each >= 300).length % 2 === 0) stuck.open();
    await wait;
  });
  await writ.enqueueMany(step, many(0, 340));
  const worker = await writ.work([handler], { concurrency: 2 });
  const held = () =>
    db.query(
      `select count(*)::int as jobs from writ.job_queue where status in ('leased', 'in_progress')`,
    );
  for (let round = 0; round < 4; round++) {
    await stuck.opened;
    // What was claimed ahead goes back a second after the last handler began.
    await vi.waitFor(async () => expect(await held()).toEqual([{ jobs: 2 }]), {
      timeout: 20_000,
      interval: 50,
    });
    stuck = latch();
    const wait = goOn;
    goOn = latch();
    wait.open();
  }
  await stuck.opened;
  expect((await givenBack()).times).toBeLessThanOrEqual(1);
  goOn.open();
  await vi.waitFor(() => expect(begun).toHaveLength(340), { timeout: 20_000 });
  expect(begun.slice(300)).toEqual([...begun.slice(300)].sort((a, b) => a - b));
  await worker.stop();
});

test('a job that another worker gave back is not given back again, and those behind it are', async () => {
  const begun: number[] = [];
  const goOn = latch();
  const slow = latch();
  const handler = step.handle(async ({ input: { n } }) => {
    begun.push(n);
    if (n < 300) return;
    if (begun.filter((each) => each >= 300).length === 2) slow.open();
    await goOn.opened;
  });
  // Another worker claims the first ten slow jobs, and gives them back unrun.
  await writ.enqueueMany(step, many(300, 40));
  const [claim] = await db.query(
    `select writ.fn_job_claim_many(array['step'], 'external_worker', 'other', 30, 10) as answer`,
  );
  const { lease_token } = (claim as { answer: { lease_token: string } }).answer;
  await db.query('select writ.fn_lease_release($1, $2)', [lease_token, 'other']);
  expect(await givenBack()).toEqual({ jobs: 10, times: 1 });

  const quick = many(0, 300).map((item) => ({ ...item, priority: 1 }));
  await writ.enqueueMany(step, quick);
  const worker = await writ.work([handler], { concurrency: 2 });
  await slow.opened;
  // Two run, and the other eight that went back before stay here.
  await vi.waitFor(
    async () => {
      const { jobs } = await givenBack();
      expect(jobs).toBeGreaterThan(10);
    },
    { timeout: 20_000, interval: 50 },
  );
  expect((await givenBack()).times).toBe(1);
  const held = await db.query(
    `select (job.input ->> 'n')::int as n from writ.job_queue q join writ_data.job using (job_id)
     where q.status in ('leased', 'in_progress') order by 1`,
  );
  expect(held.map(({ n }) => n)).toEqual([300, 301, 302, 303, 304, 305, 306, 307, 308, 309]);
  goOn.open();
  await vi.waitFor(() => expect(begun).toHaveLength(340), { timeout: 20_000 });
  expect(begun.slice(300)).toEqual([...begun.slice(300)].sort((a, b) => a - b));
  expect((await givenBack()).times).toBe(1);
  await worker.stop();
});
