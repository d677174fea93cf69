/**
 * The pool that is meant to be mean, shown to be: a suite that goes through it proves nothing about
 * sessions if they live on behind it. It stands before the server of the run, in a process of its
 * own.
 */
import { existsSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { files, tests } from './exceptions.js';
import { type Pooler, startPooler } from './pooler.js';

let db: TestDatabase;
let pooler: Pooler;
let url: string;
let client: pg.Client;

beforeAll(async () => {
  db = await testDatabase();
  pooler = await startPooler('mean', db.directConnectionString);
  url = pooler.connectionString;
  client = new pg.Client({ connectionString: url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await db.drop();
  await pooler.stop();
});

const one = async (sql: string, of = client) => Object.values((await of.query(sql)).rows[0])[0];
const pid = () => one('select pg_backend_pid()');

test('a client alone gets another backend for every transaction', async () => {
  for (let last = await pid(), round = 0; round < 20; round++) {
    const next = await pid();
    expect(next).not.toBe(last);
    last = next;
  }
});

test('a transaction stays where it began, through an error too', async () => {
  await client.query('begin');
  const here = await pid();
  expect(await pid()).toBe(here);
  await client.query('savepoint a');
  await expect(client.query('select 1/0')).rejects.toMatchObject({ code: '22012' });
  await client.query('rollback to savepoint a');
  expect(await pid()).toBe(here);
  await client.query('commit');
  expect(await pid()).not.toBe(here);
});

test('nothing that a session remembers is there afterwards, on any backend', async () => {
  await client.query(`set statement_timeout = '17min'`);
  await client.query('create temp table mine ()');
  await client.query('prepare mine as select 1');
  await client.query('select pg_advisory_lock(42)');
  await client.query('listen mine');
  for (let round = 0; round < 6; round++) {
    expect(await one('show statement_timeout')).toBe('0');
    expect(await one(`select to_regclass('pg_temp.mine')`)).toBeNull();
    expect(await one('select count(*)::int from pg_prepared_statements')).toBe(0);
    expect(await one('select count(*)::int from pg_listening_channels()')).toBe(0);
  }
  expect(await db.query(`select from pg_locks where locktype = 'advisory' and objid = 42`)).toEqual(
    [],
  );
});

test('a statement that was prepared by name in one transaction does not exist in the next', async () => {
  const named = { name: 'answer', text: 'select 42' };
  await client.query(named);
  await expect(client.query(named)).rejects.toMatchObject({ code: '26000' });
});

test('a client that leaves in the middle of a transaction leaves nothing of it', async () => {
  const leaver = new pg.Client({ connectionString: url });
  await leaver.connect();
  await leaver.query('create table left_behind (n int)');
  await leaver.query('begin');
  await leaver.query('insert into left_behind values (1)');
  await leaver.end();
  // Waits for as long as the transaction has its lock.
  await client.query('begin; lock table left_behind in access exclusive mode; commit');
  expect(await one('select count(*)::int from left_behind')).toBe(0);
});

test('a backend that dies takes its client with it', async () => {
  const other = new pg.Client({ connectionString: url });
  const lost = new Promise((done) => other.on('error', done));
  await other.connect();
  await other.query('begin');
  await client.query('select pg_terminate_backend($1)', [
    await one('select pg_backend_pid()', other),
  ]);
  await expect(lost).resolves.toMatchObject({ code: '57P01' });
});

test('answers larger than a packet, and many clients at once, come whole', async () => {
  const clients = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const each = new pg.Client({ connectionString: url });
      await each.connect();
      return each;
    }),
  );
  const lengths = await Promise.all(
    clients.map((each, n) => one(`select repeat('x', ${100_000 + n})`, each)),
  );
  expect(lengths.map((text) => String(text).length)).toEqual(clients.map((_, n) => 100_000 + n));
  await Promise.all(clients.map((each) => each.end()));
});

test.each([
  ['a wrong password', { password: 'wrong' }, '28P01'],
  ['a database that is not there', { pathname: '/none_such' }, '3D000'],
])('%s is refused with the words of the server', async (_, part, code) => {
  const stranger = new pg.Client({
    connectionString: Object.assign(new URL(url), part).toString(),
  });
  await expect(stranger.connect()).rejects.toMatchObject({ code });
});

test('what is excepted from the pooler exists, and says why', () => {
  const at = (file: string) => new URL(`../../${file}`, import.meta.url);
  for (const { file, why } of [...files, ...tests])
    expect([file, existsSync(at(file)), why.length > 5]).toEqual([file, true, true]);
  for (const { file, test: title } of tests)
    expect(readFileSync(at(file), 'utf8')).toContain(`'${title}'`);
});
