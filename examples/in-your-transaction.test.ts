import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Writ } from 'writ';
import { runUntilIdle, type TestDatabase, testDatabase } from 'writ/testing';
import { pack, placeOrder } from './in-your-transaction.js';

let db: TestDatabase;
let writ: Writ;
let shop: pg.Pool;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  shop = new pg.Pool({ connectionString: db.connectionString });
  await shop.query('create table purchases (id serial primary key, sku text, quantity int)');
  await shop.query('create table stock (sku text primary key, left_over int)');
  await shop.query(`insert into stock values ('tea', 10)`);
});
afterEach(async () => {
  await shop.end();
  await db.drop();
});

test('an order that is placed is packed', async () => {
  const orderId = await placeOrder(shop, writ, 'tea', 3);
  const packed: number[] = [];
  await runUntilIdle(writ, [pack.handle(({ input }) => void packed.push(input.orderId))]);
  expect(packed).toEqual([orderId]);
});

test('an order that is not placed leaves no job', async () => {
  await expect(placeOrder(shop, writ, 'tea', 30)).rejects.toThrow('not enough tea');
  expect(await writ.jobs.health()).toMatchObject({ backlog: 0 });
  expect((await shop.query('select from purchases')).rowCount).toBe(0);
});
