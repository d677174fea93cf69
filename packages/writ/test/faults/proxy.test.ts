import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { testDatabase } from '../../src/testing/index.js';
import { CuttingProxy, labelOf } from './proxy.mjs';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function wire(rate: number) {
  const db = await testDatabase();
  ends.push(() => db.drop());
  await db.query('create table public.seen (n integer)');
  const proxy = await CuttingProxy.open({ url: db.directConnectionString, seed: 3, rate });
  ends.push(() => proxy.close());
  return { db, proxy, url: proxy.through(db.directConnectionString) };
}

test('without faults a statement and its answer arrive as they are', async () => {
  const { proxy, url } = await wire(0);
  proxy.calm = true;
  const client = new pg.Client(url);
  await client.connect();
  const text = 'x'.repeat(200_000);
  for (let n = 0; n < 3; n++) {
    const { rows } = await client.query({
      name: 'same',
      text: 'select $1::text as t',
      values: [text],
    });
    expect(rows).toEqual([{ t: text }]);
  }
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await expect(client.query('select 1 / 0')).rejects.toThrow(/zero/);
  await client.end();
  expect(proxy.faults).toBe(0);
  expect(proxy.statements.get('select')?.seen).toBe(5);
});

test('what is answered has happened, what is cut before has not, and what is cut after has', async () => {
  const { db, proxy, url } = await wire(0.9);
  const answered: number[] = [];
  for (let n = 0; n < 80; n++) {
    const client = new pg.Client(url);
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('insert into public.seen (n) values ($1)', [n]);
      answered.push(n);
    } catch {
      // It was cut.
    }
    await client.end().catch(() => undefined);
  }
  const { before = 0, after = 0, half = 0, drop = 0, refuse = 0 } = proxy.counts;
  for (const times of [before, after, drop]) expect(times).toBeGreaterThan(0);
  const rows = (await db.query('select n from public.seen')).map(({ n }) => Number(n));
  expect(rows.length).toBe(80 - before - refuse);
  expect(answered.length).toBe(80 - before - after - half - drop - refuse);
  expect(rows).toEqual(expect.arrayContaining(answered));
});

test('a statement is called by its gate, or by how it begins', () => {
  expect(labelOf('select writ.fn_job_claim_many($1) as answer')).toBe(
    'select writ.fn_job_claim_many',
  );
  expect(labelOf('BEGIN')).toBe('begin');
  expect(labelOf('')).toBe('nothing');
});

test('a gate that was called often while faults happened, and never cut, is named', async () => {
  const { proxy } = await wire(0.5);
  const uncut = {
    seen: 200,
    exposed: 150,
    before: 0,
    after: 0,
    half: 0,
    drop: 0,
    delay: 9,
    slow: 9,
  };
  proxy.statements.set('select writ.fn_job_tick', uncut);
  proxy.statements.set('select writ.fn_job_commit', { ...uncut, exposed: 149 });
  proxy.statements.set('select writ.fn_job_renew_many', { ...uncut, after: 1 });
  proxy.statements.set('begin', uncut);
  expect(proxy.uncutGates()).toEqual(['select writ.fn_job_tick']);
});
