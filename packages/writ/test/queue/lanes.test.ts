/**
 * What can be claimed stands in lanes, the jobs of one call in rows of a hundred. No job is lost in
 * one, handed out twice, or out of turn.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { disagreements, type Session, session, untilBlocked } from '../races/sessions.js';
import { abort, bulk, bulkOf, call, claim, idsOf, newIds, register, statuses } from './bulk.js';

let db: TestDatabase;
let a: Session;
let b: Session;

beforeEach(async () => {
  db = await testDatabase();
  [a, b] = await Promise.all([session(db), session(db)]);
  await register(db, 'chore');
});
afterEach(async () => {
  await Promise.all([a.end(), b.end()]);
  await db.drop();
});

const cancel = (on: Session | TestDatabase, id: unknown) =>
  call(on, 'writ.fn_job_cancel', { job_id: id, reason: null, actor: 'test' });

test('a call of a thousand jobs is ten ready rows, whichever gate it came through', async () => {
  await bulk(db, 1000);
  await bulkOf(
    db,
    Array.from({ length: 1000 }, (_, n) => ({ input: { n } })),
  );
  const rows = await db.query(
    'select seq, cardinality(job_ids) as jobs, count(*)::int as n from writ_data.job_ready group by 1, 2 order by 1',
  );
  expect(rows).toMatchObject([
    { jobs: 100, n: 10 },
    { jobs: 100, n: 10 },
  ]);
  expect(await db.query('select count(*)::int as n from writ_data.lane')).toEqual([{ n: 1 }]);
});

test('a claim takes part of a row and leaves the rest in order', async () => {
  const ids = await bulk(db, 250);
  const taken: string[] = [];
  for (const limit of [30, 1, 130, 60, 100]) taken.push(...idsOf(await claim(db, limit)));
  expect(taken).toEqual(ids);
  expect(await claim(db, 1)).toMatchObject({ jobs: [] });
});

test('the jobs of one call keep its order, though they differ in everything a lane does not ask about', async () => {
  const ids = await bulkOf(
    db,
    Array.from({ length: 900 }, (_, n) => ({
      input: { n },
      ...(n % 3 === 0 && { key: `k${n}` }),
      ...(n % 5 === 0 && { max_attempts: 2 }),
    })),
  );
  expect(idsOf(await claim(db, 1000))).toEqual(ids);
});

test('the best priority first, then age, over calls, rows and kinds', async () => {
  await register(db, 'errand');
  const expected: Record<number, string[]> = {};
  for (const priority of [0, 9, -3, 0, 9]) {
    expected[priority] = [...(expected[priority] ?? []), ...(await bulk(db, 120, { priority }))];
  }
  const urgent = await bulk(db, 5, { kind: 'errand', priority: 20 });
  const taken: string[] = [];
  for (let n = 0; n < 5; n++)
    taken.push(...idsOf(await claim(db, 121, { kinds: ['chore', 'errand'] })));
  expect(taken).toEqual([
    ...urgent,
    ...(expected[9] ?? []),
    ...(expected[0] ?? []),
    ...(expected[-3] ?? []),
  ]);
});

test('rows that an open claim is taking are passed over, and what it leaves is there when it ends', async () => {
  const ids = await bulk(db, 300);
  await a.query('begin');
  expect(idsOf(await claim(a, 10))).toEqual(ids.slice(0, 10));
  expect(idsOf(await claim(b, 150))).toEqual(ids.slice(100, 250));
  await a.query('commit');
  expect(idsOf(await claim(b, 1000))).toEqual([...ids.slice(10, 100), ...ids.slice(250)]);
});

test('a claim that is rolled back leaves the row as it was', async () => {
  const ids = await bulk(db, 100);
  await a.query('begin');
  await claim(a, 40);
  await a.query('rollback');
  expect(idsOf(await claim(b, 100))).toEqual(ids);
});

test('jobs past their deadline are cancelled instead of handed out, and those behind them are not kept from anybody', async () => {
  await bulkOf(
    db,
    Array.from({ length: 150 }, () => ({ deadline_ms: 1000 })),
  );
  const live = await bulk(db, 50);
  await db.clock.advance('2s');
  const taken = idsOf(await claim(db, 20));
  expect(taken).toHaveLength(20);
  expect(await statuses(db)).toEqual({ cancelled: 150, leased: 20, queued: 30 });
  expect([...taken, ...idsOf(await claim(db, 100))]).toEqual(live);
  expect(await statuses(db)).toEqual({ cancelled: 150, leased: 50 });
  expect(await disagreements(db)).toEqual([]);
});

test('one job of a row of a hundred can be cancelled, and the others are claimed in order', async () => {
  const ids = await bulk(db, 100);
  expect(await cancel(db, ids[42])).toMatchObject({ status: 'cancelled' });
  expect(await statuses(db)).toEqual({ cancelled: 1, queued: 99 });
  expect(idsOf(await claim(db, 200))).toEqual(ids.filter((id) => id !== ids[42]));
});

test('two cancels at once in one row take out one job each', async () => {
  const ids = await bulk(db, 100);
  await a.query('begin');
  await cancel(a, ids[10]);
  const second = cancel(b, ids[90]);
  await untilBlocked(db, b);
  await a.query('commit');
  expect(await second).toMatchObject({ status: 'cancelled' });
  expect(idsOf(await claim(db, 200))).toEqual(ids.filter((id) => id !== ids[10] && id !== ids[90]));
  expect(await disagreements(db)).toEqual([]);
});

test('a cancel that meets an open claim of its row waits: then it is a request for what was taken, and takes out what was left', async () => {
  const ids = await bulk(db, 100);
  await a.query('begin');
  await claim(a, 50);
  const ofTaken = cancel(b, ids[0]);
  const c = await session(db);
  const ofLeft = cancel(c, ids[99]);
  await untilBlocked(db, b);
  await untilBlocked(db, c);
  await a.query('commit');
  expect(await ofTaken).toMatchObject({ status: 'cancel_requested' });
  expect(await ofLeft).toMatchObject({ status: 'cancelled' });
  await c.end();
  expect(idsOf(await claim(db, 200))).toEqual(ids.slice(50, 99));
});

test('every job of a big row has its own status', async () => {
  const ids = await bulk(db, 300);
  const first = await claim(db, 130, { start: 70 });
  expect(await statuses(db)).toEqual({ in_progress: 70, leased: 60, queued: 170 });
  await abort(db, first, 'transient', [1, 2, 3]);
  await call(db, 'writ.fn_job_succeed_many', { lease_token: first.lease_token, positions: [4, 5] });
  await cancel(db, ids[299]);
  expect(await statuses(db)).toEqual({
    cancelled: 1,
    in_progress: 65,
    leased: 60,
    queued: 169,
    retry_waiting: 3,
    succeeded: 2,
  });
  expect(
    await db.query('select state, count(*)::int as n from writ.v_job_state group by 1 order by 1'),
  ).toEqual([
    { state: 'FAILED', n: 1 },
    { state: 'PENDING', n: 172 },
    { state: 'RUNNING', n: 125 },
    { state: 'SUCCEEDED', n: 2 },
  ]);
  expect(await disagreements(db)).toEqual([]);
});

test('a released job stands where it stood, can be cancelled there, and keeps its attempts', async () => {
  const ids = await bulk(db, 5);
  await abort(db, await claim(db, 3, { start: 3 }), 'released');
  expect(await statuses(db)).toEqual({ queued: 5 });
  expect(await cancel(db, ids[1])).toMatchObject({ status: 'cancelled' });
  const again = await claim(db, 10);
  expect(idsOf(again)).toEqual([ids[0], ids[2], ids[3], ids[4]]);
  expect(again.jobs.map((job) => [job[4], job[5]])).toEqual([
    [1, 2],
    [1, 2],
    [1, 1],
    [1, 1],
  ]);
});

test('two calls that need a lane at the same time do not wait for each other, and both are claimed', async () => {
  await a.query('begin');
  const first = await bulk(a, 120, { tenant: 'new' });
  const second = await bulk(b, 3, { tenant: 'new' });
  const third = await bulkOf(b, [{ tenant: 'new' }, { tenant: 'new' }]);
  expect(idsOf(await claim(db, 1))).toEqual(second.slice(0, 1));
  await a.query('commit');
  expect(new Set(idsOf(await claim(db, 200)))).toEqual(
    new Set([...first, ...second.slice(1), ...third]),
  );
  expect((await claim(db, 1)).jobs).toEqual([]);
  expect(await statuses(db)).toEqual({ leased: 125 });
});

test('each job is handed out as it was enqueued, with its own input, however its row was cut, thinned out or given back', async () => {
  const tenant = 'o"brien \\ \u{1f71a}';
  const texts = [
    null,
    'a "quoted" \\ text',
    '\u{1f71a}',
    { nested: [1, { deep: true }] },
    1e21,
    'x'.repeat(9000),
    '',
    [],
    false,
  ];
  const enqueue = async (count: number, how: number) => {
    const inputs = Array.from({ length: count }, (_, n) => ({
      n,
      text: texts[(n + how) % texts.length],
    }));
    if (how % 2 === 1) {
      return bulkOf(
        db,
        inputs.map((input, n) => ({
          input,
          tenant,
          priority: 3,
          ...(n % 4 === 0 && { deadline_ms: 60_000 + n }),
          ...(n % 7 === 0 && { key: `"${how}/${n}` }),
          ...(n % 5 === 0 && { max_attempts: 2 }),
        })),
      );
    }
    const ids = newIds(count);
    const answer = await call(db, 'writ.fn_job_enqueue_alike', {
      kind: 'chore',
      ids,
      inputs:
        how % 4 === 0 ? JSON.stringify(inputs) : JSON.stringify(inputs.map(({ text }) => text)),
      actor: 'test',
      tenant_id: tenant,
      priority: 3,
    });
    expect(answer).toMatchObject({ enqueued: count });
    return ids;
  };
  const known: string[] = [];
  for (let how = 0; how < 6; how++) known.push(...(await enqueue(70 + how * 40, how)));
  const gone = new Set<string>();
  const taken = new Set<string>();
  for (let n = 0; taken.size + gone.size < known.length; n++) {
    const victim = known[(n * 37) % known.length] as string;
    if (!taken.has(victim) && !gone.has(victim)) {
      expect(await cancel(db, victim)).toMatchObject({ status: 'cancelled' });
      gone.add(victim);
    }
    const answer = await claim(db, [1, 3, 40, 150, 7, 101][n % 6] as number);
    const rows = await db.query(
      `select q.job_id, q.job_kind, q.tenant_id, j.idempotency_key, q.deadline_at, j.input::jsonb as input, j.input is null as none, q.priority, q.max_attempts
       from writ.job_queue q join writ_data.job j using (job_id) where q.job_id = any ($1)`,
      [idsOf(answer)],
    );
    const byId = new Map(rows.map((row) => [String(row.job_id), row]));
    for (const [
      id,
      kind,
      of,
      key,
      attempt,
      no,
      deadline,
      input,
      ,
      ,
      ,
      priority,
      attempts,
    ] of answer.jobs) {
      const row = byId.get(String(id));
      expect([kind, of, key, attempt, input, priority, attempts]).toEqual([
        row?.job_kind,
        row?.tenant_id,
        row?.idempotency_key,
        1,
        row?.none ? null : [row?.input],
        row?.priority,
        row?.max_attempts,
      ]);
      expect(deadline === null ? null : Date.parse(String(deadline))).toBe(
        (row?.deadline_at as Date | null)?.getTime() ?? null,
      );
      expect(no).toBeGreaterThanOrEqual(1);
      expect(gone.has(String(id))).toBe(false);
    }
    if (n % 3 === 0 && answer.jobs.length > 1) await abort(db, answer, 'released');
    else for (const id of idsOf(answer)) taken.add(id);
  }
  expect(await statuses(db)).toEqual({ cancelled: gone.size, leased: taken.size });
});

test('jobs that are given back stand where they stood, in whichever order they come back', async () => {
  const ids = [
    ...(await bulk(db, 10)),
    ...(await bulkOf(db, [{ input: 1 }, { input: 2 }, { input: 3 }])),
    ...(await bulk(db, 150)),
  ];
  const first = await claim(db, 4);
  const second = await claim(db, 8);
  const third = await claim(db, 5);
  for (const lease of [second, third, first]) await abort(db, lease, 'released');
  expect(idsOf(await claim(db, 500))).toEqual(ids);
});

test('a job that is given back twice, or by the reaper, keeps its place', async () => {
  const ids = await bulk(db, 6);
  for (let time = 0; time < 2; time++) await abort(db, await claim(db, 2), 'released');
  await claim(db, 3, { lease_ttl_seconds: 0 });
  await call(db, 'writ.fn_job_lease_reaper');
  expect(idsOf(await claim(db, 10))).toEqual(ids);
});

test('a job that is given back behind the head of its lane is found', async () => {
  const ids = await bulk(db, 3);
  await bulk(db, 1);
  const lease = await claim(db, 3);
  await db.query(
    `update writ_data.lane set head = (select last_value from writ_data.job_ready_seq)`,
  );
  await abort(db, lease, 'released');
  expect(idsOf(await claim(db, 3))).toEqual(ids);
  expect(await disagreements(db)).toEqual([]);
});

test('a head never moves past a job that is being given back', async () => {
  const [id] = await bulk(db, 1);
  await bulk(db, 1);
  const lease = await claim(db, 1);
  const move =
    'select writ_data.move_head(lane_id, (select last_value from writ_data.job_ready_seq)) from writ_data.lane';
  await a.query('begin');
  await abort(a, lease, 'released');
  await b.query(move);
  await a.query('commit');
  await b.query(move);
  expect(idsOf(await claim(db, 1))).toEqual([id]);
});
