/**
 * A job enqueued with `db` exists if and only if the transaction behind it commits, and a `db` that
 * is not a transaction is refused. The same promises for each library whose transactions are
 * understood: each says how to open a connection, and how to run a transaction with a statement of
 * the application in it.
 */

import { readFileSync } from 'node:fs';
import { PrismaPg } from '@prisma/adapter-pg';
import { sql as drizzleSql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { CamelCasePlugin, Kysely, sql as kyselySql, PostgresDialect } from 'kysely';
import pg from 'pg';
import postgres from 'postgres';
import { DataSource, EntitySchema } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AnyConnection, defineJob, definePlan, Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { PrismaClient } from './prisma-client.mjs';

interface Library {
  /**
   * What the application has outside a transaction; Writ.connect takes it, and a call refuses it.
   */
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

const Order = new EntitySchema<{ id: string }>({
  name: 'Order',
  tableName: 'orders',
  columns: { id: { type: 'text', primary: true } },
});

/** Libraries that map objects: only their transactions are taken. */
const mappers: Record<string, (connectionString: string) => Library> = {
  TypeORM: (url) => {
    const dataSource = new DataSource({
      type: 'postgres',
      url,
      entities: [Order],
      extra: { max: 2 },
    });
    const ready = dataSource.initialize();
    const transaction: Library['transaction'] = async (work) => {
      await ready;
      return dataSource.transaction(async (manager) => {
        await manager.insert(Order, { id: 'o-1' });
        await work(manager);
      });
    };
    return { db: dataSource, transaction, close: () => dataSource.destroy() };
  },
  'a query runner of TypeORM': (url) => {
    const dataSource = new DataSource({
      type: 'postgres',
      url,
      entities: [Order],
      extra: { max: 2 },
    });
    const ready = dataSource.initialize();
    const transaction: Library['transaction'] = async (work) => {
      await ready;
      const runner = dataSource.createQueryRunner();
      await runner.startTransaction();
      try {
        await runner.manager.insert(Order, { id: 'o-1' });
        await work(runner);
        await runner.commitTransaction();
      } catch (error) {
        await runner.rollbackTransaction();
        throw error;
      } finally {
        await runner.release();
      }
    };
    return { db: dataSource.manager, transaction, close: () => dataSource.destroy() };
  },
  Prisma: (connectionString) => {
    const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString, max: 2 }) });
    const transaction: Library['transaction'] = (work) =>
      prisma.$transaction(async (tx: PrismaTransaction) => {
        await tx.order.create({ data: { id: 'o-1' } });
        await work({ query: (sql, params = []) => tx.$queryRawUnsafe(sql, ...params) });
      });
    return { db: prisma, transaction, close: () => prisma.$disconnect() };
  },
};
interface PrismaTransaction {
  readonly order: { create(what: { data: { id: string } }): Promise<unknown> };
  $queryRawUnsafe(sql: string, ...params: unknown[]): Promise<unknown[]>;
}

const ship = defineJob<{ order: string }>('ship');
const input = { order: 'o-1' };
const plan = definePlan<{ order: string }>(
  'ships',
  { version: '1.0.0' },
  (p) => void p.step('ship', ship, { input: p.input }),
);

/** Every call that takes a transaction of the caller's. */
const calls: Record<string, (writ: Writ, db: AnyConnection) => Promise<unknown>> = {
  enqueue: (writ, db) => writ.enqueue(ship, input, { db }),
  tryEnqueue: (writ, db) => writ.tryEnqueue(ship, input, { db }),
  enqueueMany: (writ, db) => writ.enqueueMany(ship, [{ input }, { input, key: 'k' }], { db }),
  tryEnqueueMany: (writ, db) => writ.tryEnqueueMany(ship, [{ input }], { db }),
  emitGraph: (writ, db) =>
    writ.emitGraph({ kind: 'fulfil', generator: 'shop' }, [{ job: ship, input }], { db }),
  start: (writ, db) => writ.start(plan, input, { db }),
  'contracts.stop': (writ, db) => writ.contracts.stop([], { reason: 'no longer wanted', db }),
};

const libraryTests = [...Object.entries(libraries), ...Object.entries(mappers)];

describe.each(libraryTests)('%s', (_, open) => {
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
    db.query(
      'truncate orders, writ_data.run, writ_data.job, writ_data.job_key, writ_data.job_ready',
    ),
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

  test.each(Object.entries(calls))(
    '%s refuses what is no transaction, and nothing is written',
    async (_, call) => {
      await library
        .transaction(async () => {
          await expect(call(writ, library.db)).rejects.toMatchObject({
            code: 'transaction_required',
          });
          throw new Error('rolled back');
        })
        .catch((error) => expect(error).toMatchObject({ message: 'rolled back' }));
      expect(await counts()).toEqual({ orders: 0, jobs: 0 });
      expect(await db.query('select from writ.run')).toHaveLength(0);
    },
  );

  test('a run is there if and only if the transaction commits', async () => {
    const failing = library.transaction(async (tx) => {
      await writ.start(plan, input, { db: tx });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await counts()).toEqual({ orders: 0, jobs: 0 });
    await library.transaction((tx) => writ.start(plan, input, { db: tx }));
    expect(await counts()).toEqual({ orders: 1, jobs: 1 });
  });

  test('an enqueue that comes after the transaction has ended is refused', async () => {
    let kept: AnyConnection | undefined;
    const failing = library.transaction(async (tx) => {
      kept = tx;
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await expect(writ.enqueue(ship, input, { db: kept! })).rejects.toThrow();
    expect(await counts()).toEqual({ orders: 0, jobs: 0 });
  });
});

describe.each(Object.entries(libraries))('Writ.connect with %s', (_, open) => {
  let db: TestDatabase;
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
    library = open(db.connectionString);
  });
  beforeEach(() =>
    db.query('truncate orders, writ_data.job, writ_data.job_key, writ_data.job_ready'),
  );
  afterAll(async () => {
    await library.close();
    await db.drop();
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
    expect(await through.jobs.cancel(jobId)).toMatchObject({ status: 'cancelled' });
    expect(await through.jobs.health()).toMatchObject({ backlog: 0, dead_letter_open: 0 });
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

describe('a pg client', () => {
  let db: TestDatabase;
  let writ: Writ;
  let client: pg.Client;
  const jobs = async () => (await db.query('select from writ.job_queue')).length;

  beforeEach(async () => {
    db = await testDatabase();
    writ = await db.connect();
    client = new pg.Client({ connectionString: db.connectionString });
    await client.connect();
    await writ.enqueue(ship, input); // the kind is registered
  });
  afterEach(async () => {
    await client.end();
    await db.drop();
  });

  test('in a transaction is sent the enqueue and nothing else', async () => {
    await client.query('begin');
    const query = vi.spyOn(client, 'query');
    await writ.enqueue(ship, input, { db: client });
    expect(query).toHaveBeenCalledTimes(1);
    await client.query('commit');
    expect(await jobs()).toBe(2);
  });

  test('whose BEGIN is under way is in a transaction', async () => {
    const begun = client.query('begin');
    await writ.enqueue(ship, input, { db: client });
    await begun;
    await client.query('rollback');
    expect(await jobs()).toBe(1);
  });

  test.each(['commit', 'rollback'])('whose %s is under way is in none', async (end) => {
    await client.query('begin');
    const ended = client.query(end);
    await expect(writ.enqueue(ship, input, { db: client })).rejects.toMatchObject({
      code: 'transaction_required',
    });
    await ended;
    expect(await jobs()).toBe(1);
  });

  test('in a transaction takes several enqueues at once', async () => {
    await client.query('begin');
    await Promise.all([1, 2, 3].map(() => writ.enqueue(ship, input, { db: client })));
    await client.query('commit');
    expect(await jobs()).toBe(4);
  });

  test('whose transaction has failed says so', async () => {
    await client.query('begin');
    await client.query('select 1/0').catch(() => undefined);
    await expect(writ.enqueue(ship, input, { db: client })).rejects.toMatchObject({
      code: '25P02',
    });
  });

  test('behind an object with query is asked of the server', async () => {
    const db = { query: (sql: string, params?: unknown[]) => client.query(sql, params) };
    await expect(writ.enqueue(ship, input, { db })).rejects.toMatchObject({
      code: 'transaction_required',
    });
    await client.query('begin');
    await writ.enqueue(ship, input, { db });
    await client.query('rollback');
    expect(await jobs()).toBe(1);
    await client.query('begin');
    await writ.enqueue(ship, input, { db });
    await client.query('commit');
    expect(await jobs()).toBe(2);
  });

  test('behind an object that answers other rows is refused', async () => {
    await client.query('begin');
    const db = {
      query: async (sql: string, params?: unknown[]) => [
        (await client.query(sql, params)).rows,
        'metadata',
      ],
    };
    await expect(writ.enqueue(ship, input, { db })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    await client.query('commit');
    expect(await jobs()).toBe(1);
  });
});

describe('the refusal', () => {
  const page = readFileSync(
    new URL('../../../../docs/start.md', import.meta.url),
    'utf8',
  ).replaceAll(/^ +/gm, '');
  let db: TestDatabase;
  let writ: Writ;
  beforeAll(async () => {
    db = await testDatabase();
    writ = await db.connect();
  });
  afterAll(() => db.drop());

  /** The lines of an error, and those of them that the page does not have. */
  async function linesFor(object: object): Promise<{ lines: string[]; missing: string[] }> {
    const error = await writ
      .enqueue(ship, input, { db: object as never })
      .catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'transaction_required' });
    const lines = String(error.detail).split('\n').slice(1);
    return { lines, missing: lines.filter((line) => !page.includes(`\n${line.trim()}\n`)) };
  }

  const never = () => expect.unreachable();
  // Sequelize and MikroORM are no dependencies of ours: their objects are recognised by these
  // methods.
  test.each([
    ['Prisma', new PrismaClient({ adapter: new PrismaPg({}) }), '$queryRawUnsafe(sql, ...params)'],
    ['MikroORM', { getTransactionContext: never, execute: never }, 'em.getTransactionContext()'],
    ['Sequelize', { getDialect: never, query: never }, 'sequelize.query(sql, { bind, transaction'],
    [
      "Sequelize's transaction",
      { afterCommit: never, commit: never },
      'sequelize.query(sql, { bind, transaction',
    ],
  ])('of an object of %s has the lines that docs/start.md shows', async (_, object, line) => {
    const { lines, missing } = await linesFor(object);
    expect(lines.join('\n')).toContain(line);
    expect(missing).toEqual([]);
  });

  test('of the objects of TypeORM outside a transaction has the lines that docs/start.md shows', async () => {
    const dataSource = await new DataSource({
      type: 'postgres',
      url: db.connectionString,
      entities: [Order],
    }).initialize();
    const runner = dataSource.createQueryRunner();
    for (const object of [
      dataSource,
      dataSource.manager,
      dataSource.getRepository(Order),
      runner,
    ]) {
      const { lines, missing } = await linesFor(object);
      expect(lines.join('\n')).toContain('{ db: manager }');
      expect(missing).toEqual([]);
    }
    await runner.release();
    await dataSource.destroy();
  });
});
