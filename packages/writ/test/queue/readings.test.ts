/** What a reading counts, and that it stays cheap however much has been finished. */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { uuidFloor, uuidv7 } from '../../src/database/uuid.js';
import {
  firstMark,
  type Mark,
  pause,
  type QueueReading,
  read,
  readingSql,
} from '../../src/queue/readings.js';
import { testDatabase } from '../../src/testing/index.js';
import { Gates } from './gates/harness.js';

let gates: Gates;
beforeEach(async () => {
  gates = new Gates(await testDatabase());
});
afterEach(() => gates.db.drop());

/** Counts of a reading, not rates: over a window of exactly a second both are the same. */
async function counted(
  session: pg.Client,
  since: Mark,
): Promise<{ reading: QueueReading; mark: Mark; counts: number[] }> {
  const { reading, mark } = await read(session, since);
  const seconds = (mark.ms - since.ms) / 1000;
  const { enqueued_per_s, started_per_s, succeeded_per_s, failed_per_s } = reading;
  return {
    reading,
    mark,
    counts: [enqueued_per_s, started_per_s, succeeded_per_s, failed_per_s].map((rate) =>
      Math.round(rate * seconds),
    ),
  };
}
const jobs = (n: number, more = {}) =>
  Array.from({ length: n }, () => ({ id: uuidv7(), kind: 'chore', ...more }));
async function reading<T>(use: (session: pg.Client) => Promise<T>): Promise<T> {
  const session = new pg.Client({ connectionString: gates.db.connectionString });
  await session.connect();
  try {
    return await use(session);
  } finally {
    await session.end();
  }
}

describe('a reading', () => {
  test('counts what came, began, succeeded and failed since the one before, and nothing twice', async () => {
    await gates.register();
    await gates.enqueueMany(jobs(7)); // before the watch begins
    await reading(async (session) => {
      let mark = await firstMark(session);
      await gates.enqueueMany(jobs(5));
      const { token } = await gates.claim({ limit: 6, start: 4 });
      await gates.call('fn_job_succeed_many', { lease_token: token, positions: [1, 2, 3] });
      await gates.call('fn_job_abort_many', {
        lease_token: token,
        positions: [4],
        abort_kinds: ['transient'],
        codes: ['e'],
        messages: ['m'],
      });
      const first = await counted(session, mark);
      expect(first.counts).toEqual([5, 4, 3, 1]);
      expect(first.reading).toMatchObject({
        backlog: 6,
        waiting: 1,
        in_progress: 2,
        lease_active: 1,
      });
      mark = first.mark;
      expect((await counted(session, mark)).counts).toEqual([0, 0, 0, 0]);
    });
  });

  test('counts a transaction that commits late in the reading that first sees it', async () => {
    await gates.register();
    const late = new pg.Client({ connectionString: gates.db.connectionString });
    await late.connect();
    try {
      await reading(async (session) => {
        const mark = await firstMark(session);
        await late.query('begin');
        await late.query('select writ.fn_job_enqueue_many($1, $2)', [
          JSON.stringify(jobs(3)),
          'late',
        ]);
        await gates.enqueueMany(jobs(2)); // comes after it, and is seen before it
        const first = await counted(session, mark);
        expect(first.counts[0]).toBe(2);
        await late.query('commit');
        expect((await counted(session, first.mark)).counts[0]).toBe(3);
      });
    } finally {
      await late.end();
    }
  });

  test('tells how long jobs waited once they could begin: not for a delay, and not for a retry', async () => {
    await gates.register('chore', { backoff_base_s: 0 });
    await gates.enqueueMany(jobs(2));
    await gates.enqueueMany(jobs(2, { delay_ms: 3_590_000 }));
    await gates.db.clock.advance('1h');
    await gates.call('fn_job_tick', { actor: 'test' });
    await reading(async (session) => {
      const mark = await firstMark(session);
      const { token, ids } = await gates.claim({ limit: 4, start: 4 });
      expect(ids).toHaveLength(4);
      const first = await read(session, mark);
      expect(first.reading.wait_sample).toBe(4);
      // Two waited an hour, two ten seconds, and the middle is between them.
      expect(first.reading.wait_p99_ms).toBeGreaterThan(3_500_000);
      expect(first.reading.wait_p50_ms).toBeGreaterThan(1_800_000);
      expect(first.reading.wait_p50_ms).toBeLessThan(1_900_000);
      await gates.call('fn_job_abort_many', {
        lease_token: token,
        positions: [1, 2, 3, 4],
        abort_kinds: Array(4).fill('transient'),
        codes: Array(4).fill('e'),
        messages: Array(4).fill('m'),
      });
      await gates.call('fn_job_tick', { actor: 'test' });
      const between = await read(session, first.mark);
      await gates.claim({ limit: 4, start: 4 });
      expect((await read(session, between.mark)).reading).toMatchObject({
        wait_sample: 0,
        wait_p50_ms: null,
      });
    });
  });

  test('shows the eight kinds with the largest backlog, what runs of each, and how it changes', async () => {
    for (let n = 1; n <= 10; n++) {
      await gates.register(`k${n}`);
      await gates.enqueueMany(jobs(n, { kind: `k${n}` }));
    }
    await reading(async (session) => {
      const first = await read(session, await firstMark(session));
      expect(first.reading.kinds_in_all).toBe(10);
      expect(first.reading.kinds.map(({ kind, backlog }) => [kind, backlog])).toEqual(
        [10, 9, 8, 7, 6, 5, 4, 3].map((n) => [`k${n}`, n]),
      );
      expect(first.reading.kinds[0]).toMatchObject({ change_per_s: null, running: 0 });
      await gates.claim({ kinds: ['k10'], limit: 9 });
      await gates.enqueueMany(jobs(20, { kind: 'k1' }));
      const second = await read(session, first.mark);
      expect(second.reading.kinds[0]).toMatchObject({
        kind: 'k1',
        backlog: 21,
        change_per_s: expect.any(Number),
      });
      expect(second.reading.kinds[0]?.change_per_s).toBeGreaterThan(0);
      const { reading: third } = await read(session, second.mark);
      expect(third.in_progress).toBe(9);
    });
  });

  test('tells fresh workers from late and silent ones', async () => {
    const beat = (id: string) =>
      gates.call('fn_queue_heartbeat', {
        executor_id: id,
        executor_kind: 'external_worker',
        domain_scope: ['dot'],
        cadence_seconds: 10,
      });
    await beat('silent');
    await gates.db.clock.advance('6m');
    await beat('late');
    await gates.db.clock.advance('6m');
    await beat('fresh');
    await reading(async (session) => {
      expect((await read(session, await firstMark(session))).reading).toMatchObject({
        workers: 1,
        workers_late: 1,
        workers_silent: 1,
      });
    });
  });
});

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: Plan[];
}

/**
 * Which of the tables that grow with everything ever done a statement reads from end to end; a
 * partition is called by its table's name, and one of a day to come, which is empty, is not read.
 */
async function readWhole(
  session: pg.Client,
  sql: string,
  params: unknown[] = [],
): Promise<string[]> {
  const [row] = (await session.query(`explain (format json) ${sql}`, params)).rows;
  const scanned: string[] = [];
  const visit = (plan: Plan) => {
    if (plan['Node Type'] === 'Seq Scan') scanned.push(plan['Relation Name'] as string);
    plan.Plans?.forEach(visit);
  };
  visit((row as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'][0].Plan);
  const { rows: tables } = await session.query<{ name: string }>(
    `select distinct coalesce(r.relname, c.relname)::text as name from pg_class c left join pg_class r on r.oid = pg_partition_root(c.oid)
     where c.relnamespace = to_regnamespace('writ_data') and c.relname = any ($1) and c.reltuples > 0`,
    [scanned],
  );
  return tables
    .map(({ name }) => name)
    .filter((name) => ['job', 'job_execution', 'job_cleaned', 'event_batch'].includes(name));
}

test('with 200,000 finished jobs nothing reads jobs, executions or the record from end to end', async () => {
  await gates.register();
  const batch = 5_000;
  for (let n = 0; n < 200_000; n += batch) {
    await gates.enqueueMany(jobs(batch));
    const { token, ids } = await gates.claim({ limit: batch, start: batch });
    expect(ids).toHaveLength(batch);
    await gates.call('fn_job_succeed_many', {
      lease_token: token,
      positions: ids.map((_, index) => index + 1),
    });
  }
  // One row per call of so many jobs is too few to tell: as many again of calls with few.
  for (let n = 0; n < 300; n++) await gates.enqueueMany(jobs(2));
  await gates.db.query('vacuum analyze');
  await reading(async (session) => {
    const mark = await firstMark(session);
    await gates.enqueueMany(jobs(50));
    await gates.claim({ limit: 40, start: 30 });
    const window = [uuidFloor(mark.ms), mark.snapshot];
    expect(await readWhole(session, 'select max(finished_at) from writ.job_execution')).toContain(
      'job_execution',
    ); // so it would be noticed
    expect(await readWhole(session, readingSql, window)).toEqual([]);
    const began = performance.now();
    const { reading } = await read(session, mark);
    expect(reading).toMatchObject({ wait_sample: 30, in_progress: 40 });
    expect(performance.now() - began).toBeLessThan(2_000); // hundreds of times what it takes
  });
}, 180_000);

test('watching takes a third of the time at most, and reads once a second where it can', () => {
  expect([pause(10), pause(300), pause(400), pause(2_000)]).toEqual([990, 700, 800, 4_000]);
});
