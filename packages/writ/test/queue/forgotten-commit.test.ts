/**
 * A handler may forget to await its commit, fail after it, or end its transaction: nothing is lost
 * in silence.
 */
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, type JobContext, type Writ } from '../../src/index.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';

let db: TestDatabase;
let writ: Writ;
let errors: { code?: string; message: string; cause?: unknown }[];

// A delay is random up to its ceiling: with a week of it no retry comes while a test looks.
const pay = defineJob<{ order: string }>('pay', { retry: { attempts: 3, base: '7d', cap: '7d' } });
type Pay = JobContext<{ order: string }>;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  errors = [];
  await db.query('create table charges (order_id text)');
  await writ.enqueue(pay, { order: 'o-1' });
});
afterEach(() => db.drop());

const onError = (error: unknown) => void errors.push(error as Error);
const work = (handler: (context: Pay) => unknown) =>
  runUntilIdle(writ, [pay.handle(handler)], { onError });
const charge = ({ commit }: Pay) =>
  commit((tx) => tx.query(`insert into charges (order_id) values ('o-1')`));
const state = async () => {
  const [row] = await db.query(
    'select status, last_error_code as code, (select count(*)::int from charges) as charges from writ.job_queue',
  );
  return row;
};

test('a handler that returns with a commit under way succeeds when the commit has', async () => {
  await work((context) => {
    void charge(context);
  });
  expect(await state()).toEqual({ status: 'succeeded', code: null, charges: 1 });
  expect(errors).toEqual([]);
});

test('a commit that fails after its handler returned fails the job', async () => {
  await work(({ commit }) => {
    void commit(async (tx) => {
      await tx.query(`insert into charges (order_id) values ('o-1')`);
      throw new Error('no money');
    });
  });
  expect(await state()).toEqual({ status: 'retry_waiting', code: 'handler_error', charges: 0 });
  expect(errors.map(({ message }) => message)).toEqual(['no money']);
});

test('a commit that failed unseen before its handler returned fails the job', async () => {
  await work(async ({ commit }) => {
    let over = () => {};
    const failed = new Promise<void>((done) => {
      over = done;
    });
    void commit(() => {
      setImmediate(over);
      throw new Error('no money');
    });
    await failed;
    for (let turn = 0; turn < 50; turn++) await new Promise((resume) => setImmediate(resume));
  });
  expect(await state()).toMatchObject({ status: 'retry_waiting', charges: 0 });
});

test('a commit that fails after its handler returned is told, though a later one stands', async () => {
  await work(async (context) => {
    await new Promise<void>((begun) => {
      void context.commit(() => {
        begun();
        throw new Error('no money');
      });
    });
    void charge(context);
  });
  expect(await state()).toEqual({ status: 'succeeded', code: null, charges: 1 });
  expect(errors).toMatchObject([{ code: 'failed_after_commit', cause: { message: 'no money' } }]);
});

test('a handler that saw its commit fail may still succeed', async () => {
  await work(async ({ commit }) => {
    await commit(() => {
      throw new Error('no money');
    }).catch(() => undefined);
  });
  expect(await state()).toEqual({ status: 'succeeded', code: null, charges: 0 });
});

test('a handler that throws while its commit is under way succeeds if the commit does', async () => {
  await work((context) => {
    void charge(context);
    throw new Error('too early');
  });
  expect(await state()).toEqual({ status: 'succeeded', code: null, charges: 1 });
  expect(errors).toMatchObject([{ code: 'failed_after_commit', cause: { message: 'too early' } }]);
});

test('onError hears of an error that is thrown after the commit', async () => {
  await work(async (context) => {
    await charge(context);
    throw new Error('the mail server is gone');
  });
  expect(await state()).toEqual({ status: 'succeeded', code: null, charges: 1 });
  expect(errors).toMatchObject([
    { code: 'failed_after_commit', cause: { message: 'the mail server is gone' } },
  ]);
});

test('an effect that runs its own COMMIT counts as done, and onError hears of it', async () => {
  await work(({ commit }) =>
    commit(async (tx) => {
      await tx.query(`insert into charges (order_id) values ('o-1')`);
      await tx.query('commit');
    }),
  );
  expect(await state()).toEqual({ status: 'succeeded', code: null, charges: 1 });
  expect(errors).toMatchObject([
    { code: 'failed_after_commit', cause: { code: 'effect_committed_itself' } },
  ]);
});

test('an effect that throws after its own COMMIT counts as done, and onError hears of it', async () => {
  await work(({ commit }) =>
    commit(async (tx) => {
      await tx.query(`insert into charges (order_id) values ('o-1')`);
      await tx.query('commit');
      throw new Error('too late');
    }),
  );
  expect(await state()).toEqual({ status: 'succeeded', code: null, charges: 1 });
  expect(errors).toMatchObject([{ code: 'failed_after_commit', cause: { message: 'too late' } }]);
});

test('an effect that runs its own ROLLBACK fails the job', async () => {
  await work(({ commit }) =>
    commit(async (tx) => {
      await tx.query(`insert into charges (order_id) values ('o-1')`);
      await tx.query('rollback');
    }),
  );
  expect(await state()).toMatchObject({
    status: 'retry_waiting',
    code: 'effect_rolled_back',
    charges: 0,
  });
});

test('a statement that nobody awaited and that fails fails its job, and the process goes on', async () => {
  await work(({ commit }) =>
    commit(async (tx) => {
      await tx.query(`insert into charges (order_id) values ('o-1')`);
      void tx.query('insert into nowhere values (1)');
    }),
  );
  expect(await state()).toMatchObject({
    status: 'retry_waiting',
    code: 'effect_rolled_back',
    charges: 0,
  });
  expect(errors).toMatchObject([
    { code: 'effect_rolled_back', cause: { message: 'relation "nowhere" does not exist' } },
  ]);
});

test('a statement that nobody awaited is part of the commit', async () => {
  await work(({ commit }) =>
    commit((tx) => {
      void tx.query(`insert into charges (order_id) values ('o-1')`);
    }),
  );
  expect(await state()).toEqual({ status: 'succeeded', code: null, charges: 1 });
});

type Late = (sql: unknown, then?: (error: unknown) => void) => Promise<unknown>;
const sql = `insert into charges (order_id) values ('late')`;
test.each<[string, (query: Late) => unknown]>([
  ['a promise', (query) => query(sql).catch((error) => error)],
  ['a callback', (query) => new Promise((done) => void query(sql, done))],
  ['throwing, where a library has a query of its own', (query) => query(new pg.Query(sql))],
])(
  'a statement after the effect has ended is refused by %s, and onError hears of it',
  async (_, send) => {
    let refused: unknown;
    await work(async ({ commit }) => {
      const query = await commit(async (tx) => {
        await tx.query(`insert into charges (order_id) values ('o-1')`);
        return { late: tx.query as Late };
      });
      try {
        refused = await send(query.late);
      } catch (error) {
        refused = error;
      }
    });
    expect(await state()).toEqual({ status: 'succeeded', code: null, charges: 1 });
    expect(refused).toMatchObject({ code: 'transaction_ended' });
    expect(errors).toMatchObject([{ code: 'transaction_ended' }]);
  },
);

test('a statement that comes late and that nobody awaited joins no other job', async () => {
  await work(({ commit }) =>
    commit(async (tx) => {
      setTimeout(() => void tx.query(`insert into charges (order_id) values ('late')`), 50);
    }),
  );
  await expect.poll(() => errors).toMatchObject([{ code: 'transaction_ended' }]);
  expect(await state()).toEqual({ status: 'succeeded', code: null, charges: 0 });
});
