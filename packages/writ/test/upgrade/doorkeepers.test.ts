/**
 * What an upgrade of the tables asks of those who are at work meanwhile: little, and never more
 * than they can give.
 */
import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { closeDoors, placeDoorkeepers } from '../../src/database/doorkeepers.js';
import { defineJob, type Writ } from '../../src/index.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';

const note = defineJob<{ n: number }>('note');

let db: TestDatabase;
let writ: Writ;
let installer: pg.Client;
let user: pg.Client;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  installer = new pg.Client({ connectionString: db.connectionString });
  user = new pg.Client({ connectionString: db.connectionString });
  await Promise.all([installer.connect(), user.connect()]);
});
afterEach(async () => {
  await Promise.all([installer.end(), user.end()]);
  await db.drop();
});

async function asOwner(work: () => Promise<void>): Promise<void> {
  await installer.query('begin; set local role writ_owner');
  await work();
}
const place = () =>
  asOwner(() => placeDoorkeepers(installer)).then(() => installer.query('commit'));
const gates = () =>
  db.query(`select oid::regprocedure::text as gate, proacl::text as acl, md5(prosrc) as body, proconfig::text as settings from pg_proc
    where pronamespace = 'writ'::regnamespace order by 1`);
const waiting = `select from pg_locks where relation = 'writ_data.door'::regclass and not granted
  and database = (select oid from pg_database where datname = current_database())`;
const waitingForTheDoor = () =>
  vi.waitFor(async () => expect(await db.query(waiting)).toHaveLength(1), {
    timeout: 20_000,
    interval: 20,
  });

test('an upgrade that was broken off after its preparation leaves a queue that works, with the same rights', async () => {
  const before = await gates();
  await place();
  await place(); // the next try finds them
  const kept = await gates();
  expect(kept.map(({ gate, acl }) => [gate, acl])).toEqual(
    before.map(({ gate, acl }) => [gate, acl]),
  );
  expect(kept).not.toEqual(before);
  const ran: number[] = [];
  await writ.enqueue(note, { n: 1 });
  await runUntilIdle(writ, [note.handle(({ input }) => ran.push(input.n))]);
  expect(ran).toEqual([1]);
});

test('the gates are back as they were when the upgrade has them in its hands', async () => {
  const before = await gates();
  await place();
  await asOwner(() => closeDoors(installer));
  await installer.query('commit');
  expect(await gates()).toEqual(before);
  expect(
    await db.query(
      `select from pg_proc where pronamespace = 'writ_data'::regnamespace and prosecdef`,
    ),
  ).toEqual([]);
});

test('a gate that was installed since the preparation is not undone', async () => {
  await place();
  await db.query(`create or replace function writ.fn_job_queue_health(p_kinds text[] default null) returns jsonb language sql security definer
    set search_path = pg_catalog, pg_temp as $$ select '{"newer": true}'::jsonb $$`);
  await asOwner(() => closeDoors(installer));
  await installer.query('commit');
  expect(await db.query('select writ.fn_job_queue_health() as answer')).toEqual([
    { answer: { newer: true } },
  ]);
});

test('a call that comes during the upgrade waits at the door, and is answered by the gate that is there then', async () => {
  await place();
  await asOwner(() => closeDoors(installer));
  const asking = user.query('select writ.fn_job_queue_health() as answer');
  // It had entered the doorkeeper before the upgrade took it away, as far as it can know.
  await installer.query('rollback');
  expect((await asking).rows[0].answer).toHaveProperty('backlog');

  await installer.query(
    'begin; set local role writ_owner; lock table writ_data.door in access exclusive mode',
  );
  const asked = user.query('select writ.fn_job_queue_health() as answer');
  await waitingForTheDoor();
  await installer.query(`drop function writ.fn_job_queue_health(text[]); drop function writ_data.fn_job_queue_health(text[]);
    create function writ.fn_job_queue_health(p_kinds text[] default null, p_more text default 'more') returns jsonb language sql security definer
    set search_path = pg_catalog, pg_temp as $$ select jsonb_build_object('newer', p_more) $$; commit`);
  expect((await asked).rows).toEqual([{ answer: { newer: 'more' } }]);
});

test('while a transaction stays open the upgrade waits, and the others hardly do', async () => {
  await place();
  await writ.enqueue(note, { n: 0 });
  await user.query('begin');
  await writ.enqueue(note, { n: 1 }, { db: user });
  let closed = false;
  const closing = asOwner(() => closeDoors(installer)).then(() => {
    closed = true;
  });
  for (let n = 2; n < 12; n++) {
    const asked = Date.now();
    await writ.enqueue(note, { n });
    expect(Date.now() - asked).toBeLessThan(5_000);
  }
  expect(closed).toBe(false);
  // The open transaction itself is never kept waiting for long, so it can come to its end.
  await writ.enqueue(note, { n: 12 }, { db: user });
  await user.query('commit');
  await closing;
  await installer.query('commit');
  expect(await db.query('select from writ.job_queue')).toHaveLength(13);
});
