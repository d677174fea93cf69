/** One bad row stops nothing else: the clockwork, or a claim, sets it aside with an alert. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { defineJob, definePlan } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { makeDay, oldDays } from '../queue/old-jobs.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let producer: Login;
let worker: Login;
let engine: Login;

beforeEach(async () => {
  db = await testDatabase();
  await db.query(`select writ.fn_job_kind_register('chore', '{}', 'test')`);
  producer = await login(db, ['writ_producer']);
  worker = await login(db, ['writ_worker']);
  engine = await login(db, ['writ_engine']);
});
afterEach(async () => {
  for (const one of [producer, worker, engine]) await one.end();
  await db.drop();
});

const tick = (as = engine) => as.call('fn_job_tick', { actor: 'engine' });
const enqueue = async (more: object = {}) => {
  const id = uuidv7();
  const jobs = JSON.stringify([{ id, kind: 'chore', ...more }]);
  expect(await producer.call('fn_job_enqueue_many', { jobs, actor: 'p' })).toMatchObject({
    enqueued: 1,
  });
  return id;
};
const statusOf = async (id: string) =>
  (await db.query('select status from writ.job_queue where job_id = $1', [id]))[0]?.status;
const setAside = async () =>
  (await db.query(`select subject from writ.alert where code = 'CLOCKWORK_SET_ASIDE'`)).map(
    (row) => row.subject,
  );

/**
 * Makes every write that concerns this job raise, as a row does that a fault or a superuser
 * damaged.
 */
const poison = (table: string, when: string) =>
  db.query(`create function writ_data.poisoned() returns trigger language plpgsql as $$
      begin raise exception 'This row is damaged.'; end $$;
    create trigger poisoned before insert on writ_data.${table}
      for each row when (${when}) execute function writ_data.poisoned()`);

describe('the clockwork', () => {
  test('takes back every other job of a lease when one job of it raises', async () => {
    const ids = [await enqueue(), await enqueue(), await enqueue()];
    await worker.call('fn_job_claim_many', {
      kinds: ['chore'],
      executor: 'external_worker',
      lease_holder: 'w',
      lease_ttl_seconds: 1,
      limit: 3,
    });
    await poison('job_execution', `new.job_id = '${ids[1]}'`);
    await db.clock.advance('5s');
    expect(await tick()).toMatchObject({ reaped: { leases: 1, queued: 2 } });
    expect(await Promise.all(ids.map(statusOf))).toEqual(['queued', 'leased', 'queued']);
    expect(await setAside()).toEqual([`job/${ids[1]}`]);
  });

  test('makes every other due job claimable, and tries the bad one again in an hour', async () => {
    const [bad, good] = [await enqueue({ delay_ms: 1000 }), await enqueue({ delay_ms: 1000 })];
    await poison('job_ready', `'${bad}' = any (new.job_ids)`);
    await db.clock.advance('5s');
    expect(await tick()).toMatchObject({ promoted: 1 });
    expect(await tick()).toMatchObject({ promoted: 0 });
    expect(await setAside()).toEqual([`job/${bad}`]);
    await db.query('drop trigger poisoned on writ_data.job_ready');
    await db.clock.advance('61m');
    expect(await tick()).toMatchObject({ promoted: 1 });
    expect([await statusOf(bad), await statusOf(good)]).toEqual(['queued', 'queued']);
  });

  test('cancels every other job past its deadline, and lets no worker claim the bad one', async () => {
    const [bad, good] = [
      await enqueue({ deadline_ms: 1000 }),
      await enqueue({ deadline_ms: 1000 }),
    ];
    await poison('job_execution', `new.job_id = '${bad}'`);
    await db.clock.advance('5s');
    expect(await tick()).toMatchObject({ late: 1 });
    expect(await statusOf(good)).toBe('cancelled');
    const claim = { kinds: ['chore'], executor: 'external_worker', lease_holder: 'w', limit: 9 };
    expect(await worker.call('fn_job_claim_many', claim)).toMatchObject({ jobs: [] });
    expect(await setAside()).toEqual([`job/${bad}`]);
  });

  test('cleans every other job past its retention, and says which one it cannot clean', async () => {
    const ids = [];
    for (let n = 0; n < 5; n++) ids.push(await enqueue({ key: `k${n}` }));
    const [bad, ...good] = ids as [string, ...string[]];
    for (const id of ids) await db.query(`select writ.fn_job_cancel($1, 'r', 'ada')`, [id]);
    await poison('job_cleaned', `new.job_id = '${bad}'`);
    await db.clock.advance('31d');
    expect(await engine.call('fn_job_cleanup_sweep')).toEqual({ cleaned: 4 });
    expect(await Promise.all(good.map(statusOf))).toEqual(
      Array.from({ length: 4 }, () => 'cleaned'),
    );
    expect(await statusOf(bad)).toBe('cancelled');
    expect(await setAside()).toEqual([`job/${bad}`]);
    await db.query('drop trigger poisoned on writ_data.job_cleaned');
    expect(await engine.call('fn_job_cleanup_sweep')).toEqual({ cleaned: 1 });
  });

  test('drops every other day past its retention, and says which one it cannot drop', async () => {
    for (const daysAgo of [100, 101, 102]) await makeDay(db, daysAgo, ['event_batch']);
    const [row] = await db.query(
      `select to_char((clock_timestamp() at time zone 'UTC')::date - 102, '_YYYYMMDD') as day`,
    );
    await db.query(`create view public.watcher as select * from writ_data.event_batch${row?.day}`);
    for (const [hours, left] of [
      ['0h', [100, 102]],
      ['2h', [102]],
    ] as const) {
      await db.clock.advance(hours);
      await tick();
      expect(await oldDays(db, 'event_batch')).toEqual(left);
    }
    expect(await setAside()).toEqual([`clockwork/event_batch${row?.day}`]);
  });

  test('takes 10,000 jobs of two leases back in parts, and says that there are more', async () => {
    const ids = Array.from({ length: 10_000 }, () => uuidv7());
    await producer.call('fn_job_enqueue_alike', { kind: 'chore', ids, inputs: null, actor: 'p' });
    const claim = { kinds: ['chore'], executor: 'external_worker', lease_holder: 'w' };
    for (let n = 0; n < 2; n++) {
      await worker.call('fn_job_claim_many', { ...claim, lease_ttl_seconds: 1, limit: 5000 });
    }
    await db.clock.advance('5s');
    let queued = 0;
    for (let more = true; more; ) {
      const answer = (await tick()) as { more?: boolean; reaped: { queued: number } };
      more = answer.more === true;
      expect(answer.reaped.queued).toBeGreaterThan(more ? 0 : -1);
      expect(answer.reaped.queued).toBeLessThanOrEqual(5000);
      queued += answer.reaped.queued;
      const [row] = await db.query(
        'select coalesce(sum(open_jobs), 0)::int as open from writ_data.job_lease',
      );
      expect(row?.open).toBe(ids.length - queued);
    }
    expect(queued).toBe(ids.length);
    expect(await db.query('select from writ_data.job_lease')).toEqual([]);
    expect(await worker.call('fn_job_claim_many', { ...claim, limit: 3 })).toMatchObject({
      jobs: ids.slice(0, 3).map((id) => expect.arrayContaining([id])),
    });
  });

  test('cancels at most 10,000 late jobs at once, and says that there are more', async () => {
    const jobs = Array.from({ length: 12_000 }, () => ({
      id: uuidv7(),
      kind: 'chore',
      deadline_ms: 1000,
    }));
    await producer.call('fn_job_enqueue_many', { jobs: JSON.stringify(jobs), actor: 'p' });
    await db.clock.advance('5s');
    expect(await tick()).toMatchObject({ late: 10_000, more: true });
    expect(await tick()).toMatchObject({ late: 2_000 });
    expect(await tick()).not.toHaveProperty('more');
  });

  test('promotes jobs of every tenant although its caller has set an unknown tenant', async () => {
    const id = await enqueue({ delay_ms: 1000, tenant: 'acme' });
    await db.clock.advance('5s');
    await engine.query(`set writ.tenant = 'nobody'`);
    expect(await tick()).toMatchObject({ promoted: 1 });
    expect(await setAside()).toEqual([]);
    expect(await statusOf(id)).toBe('queued');
  });
});

describe('a claim', () => {
  const chore = defineJob('chore');
  const plan = definePlan('p', { version: '1' }, (p) => {
    p.step('a', chore, {});
  });
  const claimed = async () => {
    const answer = await worker.call('fn_job_claim_many', {
      kinds: ['chore'],
      executor: 'external_worker',
      lease_holder: 'w',
      limit: 20,
    });
    return (answer.jobs as string[][]).map(([id]) => id);
  };
  const stepOf = async (runId: string) => {
    const [row] = await db.query('select job_id from writ_data.job where run_id = $1', [runId]);
    return String(row?.job_id);
  };

  test('gets every other job when the step of one run cannot begin, and that one in an hour', async () => {
    const writ = await db.connect();
    const runs = [await writ.start(plan), await writ.start(plan), await writ.start(plan)];
    const [first, bad, last] = await Promise.all(runs.map((run) => stepOf(run.runId)));
    const ids = [await enqueue(), await enqueue()];
    await poison('run_event', `new.run_id = '${runs[1]?.runId}'`);
    expect((await claimed()).sort()).toEqual([first, last, ...ids].sort());
    expect(await setAside()).toEqual([`job/${bad}`]);
    expect(await claimed()).toEqual([]);

    await db.query('drop trigger poisoned on writ_data.run_event');
    await db.clock.advance('61m');
    await tick();
    expect(await claimed()).toContain(bad);
  });

  test('gets every other job when one past its deadline cannot be ended', async () => {
    const late = [
      await enqueue({ deadline_ms: 1000 }),
      await enqueue({ deadline_ms: 1000 }),
      await enqueue({ deadline_ms: 1000 }),
    ];
    const good = await enqueue();
    await poison('job_execution', `new.job_id = '${late[1]}'`);
    await db.clock.advance('5s');
    expect(await claimed()).toEqual([good]);
    expect(await setAside()).toEqual([`job/${late[1]}`]);
    expect(await Promise.all([late[0], late[2]].map((id) => statusOf(String(id))))).toEqual([
      'cancelled',
      'cancelled',
    ]);
    expect(await statusOf(String(late[1]))).not.toBe('cancelled');

    await db.query('drop trigger poisoned on writ_data.job_execution');
    await db.clock.advance('61m');
    await tick();
    expect(await statusOf(String(late[1]))).toBe('cancelled');
  });
});

describe('a login without a role of ours', () => {
  test('stops neither the clockwork, nor consumers, nor a limited kind with advisory locks', async () => {
    await db.query(
      `select writ.fn_job_kind_register('limited', '{"limit_concurrency": 1}', 'test')`,
    );
    const stranger = await login(db, []);
    const names = [
      'writ.fn_job_tick',
      'writ.fn_consumer_dispatch_many',
      'writ.fn_job_cleanup_sweep',
      'writ.limit limited ',
    ];
    for (const name of names) {
      await stranger.query('select pg_advisory_lock(hashtextextended($1, 0))', [name]);
    }
    expect(await tick()).not.toHaveProperty('busy');
    await db.query(
      `select writ.fn_consumer_register('c', 'dot.job.succeeded', 'limited', '{}', 'test')`,
    );
    expect(await engine.call('fn_consumer_dispatch_many')).not.toHaveProperty('busy');
    expect(await db.query('select writ.fn_job_cleanup_sweep() as answer')).toEqual([
      { answer: { cleaned: 0 } },
    ]);
    const id = await enqueue({ kind: 'limited' });
    const claim = { kinds: ['limited'], executor: 'external_worker', lease_holder: 'w' };
    expect(await worker.call('fn_job_claim_many', claim)).toMatchObject({
      jobs: [expect.arrayContaining([id, 'limited'])],
    });
    await stranger.end();
  });

  test('cannot lock the rows of turns', async () => {
    const stranger = await login(db, []);
    expect(await stranger.attempt('select from writ_data.turn for update')).toBe('42501');
    expect(await worker.attempt('select from writ_data.turn for update')).toBe('42501');
    expect(await worker.attempt('select from writ_data.limit_turn for update')).toBe('42501');
    await stranger.end();
  });
});

describe('a heartbeat', () => {
  const beat = {
    executor_id: 'w',
    executor_kind: 'external_worker',
    domain_scope: ['dot'],
    cadence_seconds: 10,
  };
  const idle = async () =>
    (
      await db.query(
        'select extract(epoch from idle_until - writ.now())::float as s from writ_data.queue_worker',
      )
    )[0]?.s;

  test('is refused with a huge idle time; within bounds it makes enqueues notify for a minute', async () => {
    for (const idle_seconds of [1e9, 'Infinity', 'NaN', -1]) {
      const answer = await worker.call('fn_queue_heartbeat', {
        ...beat,
        kinds: ['chore'],
        idle_seconds,
      });
      expect(answer).toMatchObject({ refused: true, reason: 'invalid_heartbeat' });
    }
    await worker.call('fn_queue_heartbeat', { ...beat, kinds: ['chore'], idle_seconds: 3600 });
    expect(await idle()).toBeLessThanOrEqual(60);
  });

  test('without an idle time makes no enqueue notify', async () => {
    await worker.call('fn_queue_heartbeat', { ...beat, kinds: ['chore'], idle_seconds: 5 });
    await worker.call('fn_queue_heartbeat', { ...beat, kinds: ['chore'] });
    expect(await idle()).toBeNull();
  });

  test('is bounded in its cadence, kinds and details', async () => {
    const reason = async (more: object) =>
      (await worker.call('fn_queue_heartbeat', { ...beat, ...more })).reason;
    expect(await reason({ cadence_seconds: 2_000_000_000 })).toBe('invalid_heartbeat');
    expect(await reason({ kinds: Array.from({ length: 1001 }, (_, n) => `k${n}`) })).toBe(
      'batch_too_large',
    );
    expect(await reason({ details: JSON.stringify({ x: 'x'.repeat(9000) }) })).toBe(
      'payload_too_large',
    );
    expect(await reason({ executor_id: 'w'.repeat(201) })).toBe('invalid_actor');
  });
});
