/**
 * A job enqueued with `db` exists if and only if the transaction behind it commits. The same promises for each library whose transactions
 * are understood: each says how to open a connection, and how to run a transaction with a statement of the application in it.
 */

import { sql as drizzleSql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { CamelCasePlugin, Kysely, sql as kyselySql, PostgresDialect } from 'kysely';
import pg from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AnyConnection, defineJob, Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';

interface Library {
  /** What the application has; the same object is given to Writ.connect. */
  readonly db: AnyConnection;
  /** Runs the work in a transaction that also inserts an order; rolls back when the work throws. */
  transaction(work: (tx: AnyConnection) => Promise<unknown>): Promise<unknown>;
  close(): Promise<unknown>;
}

const insertOrder = "insert into orders (id) values ('o-1')";

const libraries: Record<string, (connectionString: string) => Library> = {
  pg: (connectionString) => {
    const pool = new pg.Pool({ connectionString, max: 2 });
    const transaction: Library['transaction'] = async (work) => {
      const client = await pool.connect();
      try {
        await client.query('begin');
        await client.query(insertOrder);
        await work(client);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    };
    return { db: pool, transaction, close: () => pool.end() };
  },
  'postgres.js': (connectionString) => {
    // Its own statements are named unless it is told; what Writ sends through it is not.
    const prepare = !process.env.WRIT_TEST_POOLER_URL;
    const sql = postgres(connectionString, { max: 2, prepare, onnotice: () => undefined });
    const transaction: Library['transaction'] = (work) =>
      sql.begin(async (tx) => {
        await tx`insert into orders (id) values (${'o-1'})`;
        await work(tx);
      });
    return { db: sql, transaction, close: () => sql.end() };
  },
  Kysely: (connectionString) => {
    const db = new Kysely<unknown>({
      dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString, max: 2 }) }),
    });
    const transaction: Library['transaction'] = (work) =>
      db.transaction().execute(async (tx) => {
        await kyselySql.raw(insertOrder).execute(tx);
        await work(tx);
      });
    return { db, transaction, close: () => db.destroy() };
  },
  'Kysely with CamelCasePlugin': (connectionString) => {
    const dialect = new PostgresDialect({ pool: new pg.Pool({ connectionString, max: 2 }) });
    const db = new Kysely<unknown>({ dialect, plugins: [new CamelCasePlugin()] });
    const transaction: Library['transaction'] = (work) =>
      db.transaction().execute(async (tx) => {
        await kyselySql.raw(insertOrder).execute(tx);
        await work(tx);
      });
    return { db, transaction, close: () => db.destroy() };
  },
  Drizzle: (connectionString) => {
    const pool = new pg.Pool({ connectionString, max: 2 });
    const db = drizzle({ client: pool });
    const transaction: Library['transaction'] = (work) =>
      db.transaction(async (tx) => {
        await tx.execute(drizzleSql.raw(insertOrder));
        await work(tx);
      });
    return { db, transaction, close: () => pool.end() };
  },
};

const ship = defineJob<{ order: string }>('ship');
const input = { order: 'o-1' };

describe.each(Object.entries(libraries))('%s', (_, open) => {
  let db: TestDatabase;
  let writ: Writ;
  let library: Library;

  const counts = async () => {
    const [row] = await db.query(
      'select (select count(*) from orders)::int as orders, (select count(*) from writ.job_queue)::int as jobs',
    );
    return row;
  };

  beforeAll(async () => {
    db = await testDatabase();
    await db.query('create table orders (id text)');
    writ = await db.connect();
    library = open(db.connectionString);
  });
  beforeEach(() =>
    db.query('truncate orders, writ_data.job, writ_data.job_key, writ_data.job_ready'),
  );
  afterAll(async () => {
    await library.close();
    await db.drop();
  });

  test('the job is there when the transaction has committed', async () => {
    await library.transaction((tx) => writ.enqueue(ship, input, { db: tx }));
    expect(await counts()).toEqual({ orders: 1, jobs: 1 });
  });

  test('the job is not there while the transaction is open', async () => {
    let during: unknown;
    await library.transaction(async (tx) => {
      await writ.enqueue(ship, input, { db: tx });
      during = await counts();
    });
    expect(during).toEqual({ orders: 0, jobs: 0 });
  });

  test('the job is not there when the transaction rolls back', async () => {
    const failing = library.transaction(async (tx) => {
      await writ.enqueue(ship, input, { db: tx });
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await counts()).toEqual({ orders: 0, jobs: 0 });
  });

  test('many jobs are there if and only if the transaction commits', async () => {
    const many = Array.from({ length: 20 }, (_, i) => ({ input, key: `k${i}` }));
    await library.transaction((tx) => writ.enqueueMany(ship, many.slice(0, 10), { db: tx }));
    const failing = library.transaction(async (tx) => {
      await writ.enqueueMany(ship, many.slice(10), { db: tx });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await counts()).toEqual({ orders: 1, jobs: 10 });
  });

  test('a duplicate is recognised inside the transaction', async () => {
    const first = await writ.enqueue(ship, input, { key: 'k' });
    let second: unknown;
    await library.transaction(async (tx) => {
      second = await writ.enqueue(ship, input, { key: 'k', db: tx });
    });
    expect(second).toEqual({ jobId: first.jobId, duplicate: true, samePayload: true });
  });

  test('a refusal does not break the transaction', async () => {
    await library.transaction(async (tx) => {
      expect(
        await writ.tryEnqueue(ship, input, { labels: { password: 'x' }, db: tx }),
      ).toMatchObject({ code: 'forbidden_payload_key' });
    });
    expect(await counts()).toEqual({ orders: 1, jobs: 0 });
  });

  test('Writ.connect takes it as its only connection', async () => {
    const through = await Writ.connect({ db: library.db });
    const first = await through.enqueue(ship, input, { key: 'k' });
    const again = await Promise.all([
      through.enqueue(ship, input, { key: 'k' }),
      through.enqueue(ship, input),
    ]);
    expect(again).toMatchObject([{ jobId: first.jobId, duplicate: true }, { duplicate: false }]);
    await library.transaction((tx) => through.enqueue(ship, input, { db: tx }));
    await through.close();
    expect(await counts()).toEqual({ orders: 1, jobs: 3 });
  });

  test('Writ.connect through it cancels and tells the health', async () => {
    const through = await Writ.connect({ db: library.db });
    const { jobId } = await through.enqueue(ship, input);
    expect(await through.cancel(jobId)).toBe('cancelled');
    expect(await through.health()).toMatchObject({ backlog: 0, dead_letter_open: 0 });
  });

  test('Writ.connect through it enqueues in bulk all or nothing', async () => {
    const through = await Writ.connect({ db: library.db });
    await expect(through.enqueueMany(ship, [{ input }, { input, key: '' }])).rejects.toMatchObject({
      code: 'invalid_idempotency_key',
    });
    expect(await counts()).toEqual({ orders: 0, jobs: 0 });
  });

  test('a worker needs connections of its own', async () => {
    const through = await Writ.connect({ db: library.db });
    await expect(through.work([ship.handle(() => undefined)])).rejects.toMatchObject({
      code: 'connection_string_required',
    });
  });

  test('a database without Writ is named as such through it', async () => {
    const bare = await testDatabase();
    await bare.query('drop schema writ cascade');
    const other = open(bare.connectionString);
    const through = await Writ.connect({ db: other.db });
    await expect(through.enqueue(ship, input)).rejects.toMatchObject({ code: 'schema_missing' });
    await other.close();
    await bare.drop();
  });
});

test('what is no connection is refused by name', async () => {
  await expect(Writ.connect({ db: {} as never })).rejects.toMatchObject({
    code: 'invalid_argument',
  });
});
