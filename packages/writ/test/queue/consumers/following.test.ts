import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../../src/database/uuid.js';
import { session, until } from '../../races/sessions.js';
import { asIfRestored } from '../../restored.js';
import { type Answer, freshGates } from '../gates/harness.js';

const gates = freshGates();
const put = (consumer: string, change: object = {}): Promise<Answer> =>
  gates.call('fn_consumer_register', {
    consumer,
    event_type: 'dot.job.enqueued',
    job_kind: 'audit',
    options: {},
    actor: 'test',
    ...change,
  });
/**
 * Transactions are numbered per server: those of other databases hold the log back too, and here
 * other tests run beside.
 */
const settled = () =>
  until(async () => {
    const [row] = await gates.db.query(
      `select not exists (select from pg_stat_activity where datname <> current_database() and backend_xid::text::bigint <=
         (select max(xid::text::bigint) from writ_data.event_batch where xid < '1000000000')) as yes`,
    );
    return row?.yes === true;
  });
const follow = async (limit?: number): Promise<Answer> => {
  await settled();
  return gates.call('fn_consumer_dispatch_many', limit === undefined ? {} : { limit });
};
const items = (count: number, kind = 'chore') =>
  Array.from({ length: count }, () => ({ id: uuidv7(), kind }));
const idsOf = (jobs: readonly { id: string }[]) => jobs.map((job) => job.id);
/** Whom the jobs of a consumer are about, in the order in which they were enqueued. */
const followed = async (consumer: string): Promise<string[]> => {
  const rows = await gates.db.query(
    `select q.source_ref from writ_data.job_ready r cross join lateral unnest(r.job_ids) with ordinality u(job_id, n)
     join writ.job_queue q on q.job_id = u.job_id where q.idempotency_key like $1 order by r.seq, r.part, u.n`,
    [`consumer:${consumer}:%`],
  );
  return rows.map((row) => String(row.source_ref).replace('job/', ''));
};
const positions = () =>
  gates.db.query(
    'select consumer, position_xid, position_event_id from writ.consumer_registry order by consumer',
  );
const nothing = { facts: 0, jobs: 0, more: false, refused: [] };

beforeEach(async () => {
  await gates.register('chore');
  await gates.register('audit');
});

test('without a consumer nothing is done, and nothing is locked', async () => {
  await gates.enqueue();
  const a = await session(gates.db);
  await a.query('begin');
  expect(await a.gate('fn_consumer_dispatch_many()')).toEqual(nothing);
  expect(
    await a.query(`select from pg_locks where pid = pg_backend_pid() and locktype = 'advisory'`),
  ).toEqual([]);
  await a.end();
});

test('every fact from the registration on becomes a job once, in the order of the log', async () => {
  await gates.enqueue();
  await put('auditor');
  const jobs = items(20);
  await gates.enqueueMany(jobs.slice(0, 7));
  await gates.enqueueMany(jobs.slice(7));
  expect(await follow()).toEqual({ ...nothing, facts: 20, jobs: 20 });
  expect(await followed('auditor')).toEqual(idsOf(jobs));
});

test('without anything new, nothing is written', async () => {
  await put('auditor');
  await gates.enqueue();
  await follow();
  await follow(); // over the record of its own jobs
  const before = await positions();
  expect(await gates.unchanged(() => follow())).toEqual(nothing);
  expect(await positions()).toEqual(before);
});

test('a call is bounded, within a batch too, and says that there is more; the next one goes on there', async () => {
  await put('auditor');
  const jobs = items(25);
  await gates.enqueueMany(jobs);
  for (const done of [10, 10, 5])
    expect(await follow(10)).toMatchObject({ jobs: done, more: true });
  // What is left are the facts about its own jobs.
  for (let answer = await follow(10); answer.more; ) {
    answer = await follow(10);
    expect(answer.facts).toBeLessThanOrEqual(10);
    expect(answer.jobs).toBe(0);
  }
  expect(await followed('auditor')).toEqual(idsOf(jobs));
});

test('batches without a fact for anybody are read in bounded numbers as well', async () => {
  await put('auditor', { event_type: 'dot.job.succeeded' });
  for (let n = 0; n < 25; n++) await gates.enqueue();
  expect(await follow(1)).toEqual({ ...nothing, more: true });
  expect(await follow(1)).toEqual({ ...nothing, more: true });
  const [between] = await positions();
  expect(await follow(1)).toEqual(nothing);
  expect(await positions()).not.toEqual([between]);
  expect(await follow(1)).toEqual(nothing);
});

test('the position is one row per consumer that moves once per call', async () => {
  await put('auditor');
  await gates.enqueueMany(items(500));
  await settled();
  const a = await session(gates.db);
  await a.query('begin');
  expect(await a.gate('fn_consumer_dispatch_many()')).toMatchObject({ jobs: 500 });
  const updates = `select n_tup_upd::int as n from pg_stat_xact_all_tables where relid = 'writ_data.consumer_position'::regclass`;
  expect(await a.query(updates)).toEqual([{ n: 1 }]);
  await a.end();
});

describe('transactions that overlap', () => {
  test('a fact whose transaction commits late is late, and not passed over', async () => {
    await put('auditor');
    const [late, early] = [items(1), items(1)];
    const a = await session(gates.db);
    await a.query('begin');
    await a.gate(`fn_job_enqueue_many($1, 'a')`, [JSON.stringify(late)]);
    await gates.enqueueMany(early); // has a later id and commits first
    expect(await follow()).toEqual(nothing);
    await a.query('commit');
    await a.end();
    expect(await follow()).toEqual({ ...nothing, facts: 2, jobs: 2 });
    expect(await followed('auditor')).toEqual(idsOf([...late, ...early]));
  });

  test('a transaction that has begun early and records late is not passed over either', async () => {
    await put('auditor');
    const a = await session(gates.db);
    await a.query('begin');
    await a.query('select pg_current_xact_id()');
    const [early, late] = [items(1), items(1)];
    await gates.enqueueMany(early);
    expect(await follow()).toEqual(nothing);
    await a.gate(`fn_job_enqueue_many($1, 'a')`, [JSON.stringify(late)]);
    await a.query('commit');
    await a.end();
    expect(await follow()).toMatchObject({ jobs: 2 });
    expect((await followed('auditor')).sort()).toEqual(idsOf([...early, ...late]).sort());
  });

  test('one that rolls back leaves nothing and stops nothing', async () => {
    await put('auditor');
    const a = await session(gates.db);
    await a.query('begin');
    await a.gate(`fn_job_enqueue_many($1, 'a')`, [JSON.stringify(items(1))]);
    const kept = items(1);
    await gates.enqueueMany(kept);
    await a.query('rollback');
    await a.end();
    expect(await follow()).toMatchObject({ jobs: 1 });
    expect(await followed('auditor')).toEqual(idsOf(kept));
  });

  test('what was recorded before a consumer was registered is none of its business, even if it commits after', async () => {
    const a = await session(gates.db);
    await a.query('begin');
    await a.gate(`fn_job_enqueue_many($1, 'a')`, [JSON.stringify(items(1))]);
    await gates.db.query('select pg_sleep(0.002)'); // ids tell milliseconds apart
    await put('auditor');
    await a.query('commit');
    await a.end();
    const after = items(1);
    await gates.enqueueMany(after);
    await follow();
    expect(await followed('auditor')).toEqual(idsOf(after));
  });

  test('a call that finds another one at work answers at once that it is busy', async () => {
    await put('auditor');
    await gates.enqueue();
    await settled();
    const a = await session(gates.db);
    await a.query('begin');
    expect(await a.gate('fn_consumer_dispatch_many()')).toMatchObject({ jobs: 1 });
    expect(await follow()).toEqual({ ...nothing, busy: true });
    await a.query('rollback');
    await a.end();
    expect(await follow()).toMatchObject({ jobs: 1 });
  });

  test('eight sessions that follow while others enqueue dispatch each fact once', async () => {
    await put('auditor');
    await put('second', { options: { subject_kind: 'chore' } });
    const sessions = await Promise.all(Array.from({ length: 12 }, () => session(gates.db)));
    const jobs: string[] = [];
    let producing = 4;
    const produce = async (s: (typeof sessions)[number]) => {
      for (let n = 0; n < 15; n++) {
        const some = items(1 + (n % 4));
        await s.query('begin');
        await s.gate(`fn_job_enqueue_many($1, 'p')`, [JSON.stringify(some)]);
        await s.query(n % 5 === 4 ? 'rollback' : 'commit');
        if (n % 5 !== 4) jobs.push(...idsOf(some));
      }
      producing--;
    };
    const pursue = async (s: (typeof sessions)[number]) => {
      while (producing > 0) await s.gate('fn_consumer_dispatch_many(5)');
    };
    await Promise.all([...sessions.slice(0, 4).map(produce), ...sessions.slice(4).map(pursue)]);
    while ((await follow()).more);
    await Promise.all(sessions.map((s) => s.end()));
    for (const name of ['auditor', 'second'])
      expect((await followed(name)).sort()).toEqual([...jobs].sort());
  });
});

test('a caller that is killed loses nothing and repeats nothing', async ({ onTestFinished }) => {
  await put('auditor');
  const jobs = items(300);
  await gates.enqueueMany(jobs);
  await settled();
  for (const calls of [1, 7, 20]) {
    const child = fork(fileURLToPath(new URL('./caller.mjs', import.meta.url)), {
      env: { ...process.env, DATABASE_URL: gates.db.connectionString },
      execArgv: [],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    for (let n = 0; n < calls; n++) {
      await once(child, 'message');
      child.send('go on'); // and so it is killed in the middle of the next
    }
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
  const soFar = (await followed('auditor')).length;
  expect(soFar).toBeGreaterThan(80);
  expect(soFar).toBeLessThan(300);
  // The server may still be ending the last one's transaction.
  for (let answer = await follow(); answer.more || answer.busy; ) answer = await follow();
  expect(await followed('auditor')).toEqual(idsOf(jobs));
});

test('a consumer whose jobs are refused waits alone, says why, and goes on when that has changed', async () => {
  await put('auditor');
  await put('worded', { event_type: 'dot.job.cancelled' });
  const jobs = items(3);
  await gates.enqueueMany(jobs);
  await gates.set('queue.payload.max_bytes', 10);
  const refused = [
    { consumer: 'auditor', reason: 'payload_too_large', detail: expect.any(String) },
  ];
  // The other one has more to read, if both were registered at the same place of the log; the
  // refused one asks for nothing.
  let answer = await follow(2);
  expect(answer).toMatchObject({ jobs: 0, refused });
  while (answer.more) answer = await follow(2);
  expect(answer).toMatchObject({ jobs: 0, refused });
  const state = () =>
    gates.db.query('select consumer, refused from writ.consumer_registry order by consumer');
  expect(await state()).toEqual([
    { consumer: 'auditor', refused: 'payload_too_large' },
    { consumer: 'worded', refused: null },
  ]);
  await gates.unchanged(() => follow()); // the same refusal again is not written again
  await gates.set('queue.payload.max_bytes', 1000);
  expect(await follow()).toMatchObject({ jobs: 3, refused: [] });
  expect(await state()).toMatchObject([{ refused: null }, { refused: null }]);
  expect(await followed('auditor')).toEqual(idsOf(jobs));
});

test('an event that was dispatched by hand is not dispatched again', async () => {
  await put('auditor');
  const id = await gates.enqueue();
  const [event] = await gates.db.query(
    'select id from writ.event_outbox where event_subject_ref = $1',
    [id],
  );
  await gates.call('fn_consumer_dispatch', { event_id: event?.id });
  expect(await follow()).toMatchObject({ jobs: 0, refused: [] });
  expect(await followed('auditor')).toEqual([id]);
});

test('a consumer does not feed itself', async () => {
  await put('auditor');
  await gates.enqueue();
  for (let n = 0; n < 5; n++) await follow();
  expect(
    await gates.db.query(
      'select job_kind, count(*)::int as n from writ.job_queue group by 1 order by 1',
    ),
  ).toEqual([
    { job_kind: 'audit', n: 1 },
    { job_kind: 'chore', n: 1 },
  ]);
});

test('a chain over kinds runs to its end', async () => {
  await gates.register('notify');
  await put('auditor', { options: { subject_kind: 'chore' } });
  await put('notifier', { job_kind: 'notify', options: { subject_kind: 'audit' } });
  await gates.enqueue();
  for (let n = 0; n < 5; n++) await follow();
  expect(await follow()).toEqual(nothing);
  expect(
    await gates.db.query(
      'select job_kind, count(*)::int as n from writ.job_queue group by 1 order by 1',
    ),
  ).toEqual([
    { job_kind: 'audit', n: 1 },
    { job_kind: 'chore', n: 1 },
    { job_kind: 'notify', n: 1 },
  ]);
});

test('while the queue is off, or for one tenant only, nothing is followed and nothing lost', async () => {
  await put('auditor');
  const jobs = items(2);
  await gates.enqueueMany(jobs);
  await gates.set('queue.job_substrate.enabled', false);
  await gates.refuses('job_substrate_disabled', 'fn_consumer_dispatch_many');
  await gates.set('queue.job_substrate.enabled', true);
  const a = await session(gates.db);
  await a.query('begin');
  await a.query(`select set_config('writ.tenant', 'acme', true)`);
  expect(await a.gate('fn_consumer_dispatch_many()')).toMatchObject({
    refused: true,
    reason: 'tenant_forbidden',
  });
  await a.end();
  await follow();
  expect(await followed('auditor')).toEqual(idsOf(jobs));
});

test('after a dump was restored into a server with younger transactions, what was open is followed, then what is new', async () => {
  await put('auditor');
  const [done, open, fresh] = [items(2), items(2), items(2)];
  await gates.enqueueMany(done);
  await follow();
  await gates.enqueueMany(open);
  await asIfRestored((sql) => gates.db.query(sql));
  await gates.enqueueMany(fresh);
  for (let answer = await follow(1); answer.more; ) answer = await follow(1);
  expect(await followed('auditor')).toEqual(idsOf([...done, ...open, ...fresh]));
  expect(await follow()).toEqual(nothing);
});
