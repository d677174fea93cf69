/** What the load suite takes for order and for growth, and that it sees what is wrong. */
import type pg from 'pg';
import { expect, test } from 'vitest';
import { testDatabase } from '../../src/testing/index.js';
import { displacementOf, growthOf } from './suites/load.mjs';

const begun = (...order: number[]) => order.map((n, at) => ({ n, at }));

test('a job was overtaken by the younger ones that began before it', () => {
  expect(displacementOf(begun(0, 1, 2, 3)).map(({ by }) => by)).toEqual([0, 0, 0, 0]);
  expect(displacementOf(begun(0, 2, 3, 1))).toEqual([
    { n: 0, by: 0 },
    { n: 2, by: 0 },
    { n: 3, by: 0 },
    { n: 1, by: 2 },
  ]);
  const last = displacementOf(begun(...Array.from({ length: 99 }, (_, n) => n + 1), 0)).at(-1);
  expect(last).toEqual({ n: 0, by: 99 });
});

test('rows of any table are growth when they are more than finished work leaves', async () => {
  const db = await testDatabase();
  try {
    const admin = {
      query: async (sql: string, values?: unknown[]) => ({ rows: await db.query(sql, values) }),
    } as unknown as pg.Pool;
    await db.query('create schema fault');
    await db.query('create table fault.effect as select generate_series(1, 100) as n');
    expect((await growthOf(admin, 100)).grown).toEqual([]);
    await db.query('create table writ_data.leftover as select generate_series(1, 5401) as n');
    await db.query(
      `insert into writ_data.job_lease (lease_token, holder, claimed_at, leased_until, ttl_s, timeout_s, job_ids, attempts, execution_nos, open_jobs)
       select gen_random_uuid(), 'w', now(), now(), 1, 1, array[gen_random_uuid()], '{1}', '{1}', 1 from generate_series(1, 41)`,
    );
    expect((await growthOf(admin, 100)).grown).toEqual([
      '41 leases for 20 handlers',
      '5401 rows of leftover for 100 jobs',
    ]);
  } finally {
    await db.drop();
  }
});
