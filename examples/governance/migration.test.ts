import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Writ } from 'writ';
import { type TestDatabase, testDatabase } from 'writ/testing';
import { currency, migrations } from './migration.ts';
import { carryOut, meet, type People } from './people.ts';

let db: TestDatabase;
let pool: pg.Pool;
let writ: Writ;
let people: People;

beforeEach(async () => {
  db = await testDatabase();
  pool = new pg.Pool({ connectionString: db.directConnectionString });
  writ = await db.connect();
  people = await meet(writ);
  await pool.query(
    'create table orders (id integer primary key, total numeric); insert into orders values (1, 10), (2, -3)',
  );
});
afterEach(async () => {
  await pool.end();
  await db.drop();
});

const columns = async () =>
  (
    await db.query(
      `select column_name as name from information_schema.columns where table_name = 'orders' order by 1`,
    )
  ).map(({ name }) => name);

test('an agent proposes a migration, a person approves its words, and it stands', async () => {
  const migration = migrations(pool);
  await writ.work([], { governance: [migration] });
  const proposal = {
    title: 'A currency',
    scope: ['migration:orders-currency'],
    steps: [migration(currency)],
  };
  expect(await carryOut(writ, people, proposal)).toMatchObject({ status: 'COMPLETED' });
  expect(await columns()).toEqual(['currency', 'id', 'total']);
  expect(await db.query('select name from applied_migration')).toEqual([
    { name: 'orders-currency' },
  ]);
});

test('the second of two cannot be done, because of the data: the first is undone, too', async () => {
  const migration = migrations(pool);
  await writ.work([], { governance: [migration], onError: () => undefined });
  const positive = {
    name: 'orders-positive',
    up: 'alter table orders add constraint total_is_positive check (total >= 0)',
    down: 'alter table orders drop constraint total_is_positive',
  };
  const end = await carryOut(writ, people, {
    title: 'A currency, and no debts',
    scope: ['migration:orders-currency', 'migration:orders-positive'],
    steps: [migration(currency), migration(positive)],
  });
  expect(end).toMatchObject({ status: 'ROLLED_BACK', state_after: end.state_before });
  expect((await writ.changes.handle(end.job_id).get()).rollback_reason).toContain(
    'total_is_positive',
  );
  expect(await columns()).toEqual(['id', 'total']);
  expect(await db.query('select name from applied_migration')).toEqual([]);
});

test('a migration whose answer was lost is not done twice', async () => {
  const migration = migrations(pool);
  const { apply } = migration;
  let lost = 0;
  // As if the connection had broken between the commit and its answer.
  Object.assign(migration, {
    apply: async (...given: Parameters<typeof apply>) => {
      await apply(...given);
      if (lost++ === 0) throw new Error('Connection terminated unexpectedly');
    },
  });
  await writ.work([], { governance: [migration], onError: () => undefined });
  const proposal = {
    title: 'A currency',
    scope: ['migration:orders-currency'],
    steps: [migration(currency)],
  };
  expect(await carryOut(writ, people, proposal)).toMatchObject({ status: 'COMPLETED' });
  expect(lost).toBe(2);
  expect(await columns()).toEqual(['currency', 'id', 'total']);
});
