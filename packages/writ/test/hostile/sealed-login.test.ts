/**
 * `p_actor` is the caller's word. The sealed record also names the database login of each call,
 * which PostgreSQL has authenticated, so nobody can act in another's name without a trace.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { faultOfEventRow } from '../../src/ledger/event-row.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { sealEverything } from '../ledger/sealing.js';

const login = `mallory_${randomBytes(4).toString('hex')}`;
let db: TestDatabase;
let mallory: pg.Client;

beforeAll(async () => {
  db = await testDatabase();
  await db.query(`create role ${login} login password 'test' in role dot_executor`);
  const url = new URL(db.directConnectionString);
  [url.username, url.password] = [login, 'test'];
  mallory = new pg.Client({ connectionString: url.toString() });
  await mallory.connect();
});
afterAll(async () => {
  await mallory?.end();
  await db?.query(`drop role ${login}`);
  await db?.drop();
});

const register = (kind: string, actor: string) =>
  mallory.query(`select writ.fn_job_kind_register($1, '{}', $2) as answer`, [kind, actor]);
const recorded = (actor: string) =>
  db.query(`select actor, login from writ.command_run where actor = $1`, [actor]);

test('the record names the login of a caller who claims to be alice', async () => {
  await register('as-alice', 'alice');
  expect(await recorded('alice')).toEqual([{ actor: 'alice', login }]);
});

test('the record names the login of a caller who has taken another role', async () => {
  await mallory.query('set role dot_executor');
  await register('as-bob', 'bob');
  await mallory.query('reset role');
  expect(await recorded('bob')).toEqual([{ actor: 'bob', login }]);
});

test('the sealed bytes contain the login', async () => {
  await register('sealed', 'carol');
  await sealEverything(db);
  const documents = await db.query(
    `select s.document from writ_data.event_seal e
     cross join lateral writ.fn_ledger_segment(e.segment) s order by e.segment`,
  );
  const rows = documents.map(({ document }) => JSON.parse(String(document)));
  expect(rows.map(faultOfEventRow)).toEqual(rows.map(() => undefined));
  expect(rows.find(({ actor }) => actor === 'carol')).toMatchObject({ login });
});

test('altering the login of a sealed row changes its hash', async () => {
  await register('altered', 'dave');
  await sealEverything(db);
  const hash = async () =>
    (
      await db.query(
        `select encode(sha256('\\x00'::bytea || convert_to(writ_data.event_document(b), 'UTF8')), 'hex')
         as hash from writ_data.event_batch b where actor = 'dave'`,
      )
    )[0]?.hash;
  const before = await hash();
  await db.query(`alter table writ_data.event_batch disable trigger event_batch_is_written_once`);
  await db.query(`update writ_data.event_batch set login = 'somebody' where actor = 'dave'`);
  await db.query(`alter table writ_data.event_batch enable trigger event_batch_is_written_once`);
  expect(await hash()).not.toBe(before);
});

test('no record has an actor of more than 200 characters', async () => {
  const record = (actor: string) =>
    db.query(
      `select writ_data.record('test', $1, writ.now(), '{}'::uuid[], '{}', '{}', '{}') as id`,
      [actor],
    );
  await record('a'.repeat(200));
  await expect(record('a'.repeat(201))).rejects.toMatchObject({
    constraint: expect.stringContaining('actor_is_at_most_200_characters'),
  });
});
