/**
 * A lane's head says where its live rows begin, and empty lanes are removed. Both must never leave
 * a job behind that another transaction was about to add: each test holds such a transaction open
 * at the moment that matters.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Asks, bulk, bulkOf, call, claim, idsOf, register, tick } from '../queue/bulk.js';
import { type Session, session, until, untilBlocked } from './sessions.js';

let db: TestDatabase;
let a: Session;
let b: Session;
let c: Session;

beforeEach(async () => {
  db = await testDatabase();
  [a, b, c] = await Promise.all([session(db), session(db), session(db)]);
  await register(db, 'chore');
});
afterEach(async () => {
  await Promise.all([a.end(), b.end(), c.end()]);
  await db.drop();
});

const heads = async () =>
  Number((await db.query('select max(head) as head from writ_data.lane'))[0]?.head);
const safe = async () =>
  Number((await db.query('select last_value as n from writ_data.job_ready_safe'))[0]?.n);
const drawn = async () =>
  Number((await db.query('select last_value as n from writ_data.job_ready_seq'))[0]?.n);
const lanes = async () =>
  Number((await db.query('select count(*)::int as n from writ_data.lane'))[0]?.n);
const watch = async (times: number) => {
  for (let n = 0; n < times; n++) await db.query('select writ_data.watch_ready()');
};
const firstRow = async (on: Asks) =>
  Number((await on.query('select min(seq) as seq from writ_data.job_ready'))[0]?.seq);

/** Every lane's head is moved as far as a claim may move it now. */
const moveHeads = () =>
  db.query(
    'select writ_data.move_head(l.lane_id, (select last_value from writ_data.job_ready_safe)) from writ_data.lane l',
  );

/** A minute later: lanes, partitions and retention are seen to. */
const upkeep = async (on: Asks = db) => {
  await db.clock.advance('61s');
  await on.query(`select writ_data.upkeep(writ.now(), 'test')`);
};

/**
 * Lanes go when older transactions have ended, and those of other databases of the server are among
 * them.
 */
const untilRemoved = () =>
  until(async () => {
    await upkeep();
    return (await lanes()) === 0;
  });

// Heads
// ----------------------------------------------------------------------------------------------------------

test('a head moves over dead rows, and not over live ones', async () => {
  for (let n = 0; n < 5; n++) await bulk(db, 1);
  const last = await bulk(db, 1);
  await claim(db, 5);
  await watch(3);
  await moveHeads();
  expect(await heads()).toBe(await firstRow(db));
  expect(idsOf(await claim(db, 10))).toEqual(last);
});

test('a job whose transaction drew its number before the head moved and commits after it is claimed', async () => {
  await bulk(db, 1);
  await claim(db, 1);
  await a.query('begin');
  const late = await bulk(a, 3);
  const others = await bulk(db, 200);
  await watch(5); // whatever the clockwork learns meanwhile
  await moveHeads();
  await a.query('commit');
  expect(idsOf(await claim(db, 1000))).toEqual([...late, ...others]);
});

test('the horizon stands still while somebody may still add a row below it, and moves on when he has ended', async () => {
  await bulk(db, 1);
  await watch(2);
  await a.query('begin');
  await bulk(a, 1);
  const mine = await drawn();
  for (let n = 0; n < 3; n++) await bulk(db, 1);
  await watch(5);
  expect(await safe()).toBeLessThan(mine);
  await a.query('commit');
  await watch(2);
  expect(await safe()).toBe(await drawn());
});

test('a savepoint that was rolled back to does not hide what its transaction adds afterwards', async () => {
  await bulk(db, 1);
  await watch(2);
  await a.query('begin');
  await a.query('savepoint s');
  await bulk(a, 1);
  await a.query('rollback to savepoint s');
  await watch(3);
  const late = await bulk(a, 1);
  await bulk(db, 1);
  await watch(3);
  await moveHeads();
  await a.query('commit');
  expect(idsOf(await claim(db, 10))).toEqual(expect.arrayContaining(late));
});

test('a job whose transaction is prepared, and committed later by another session, is claimed', async (context) => {
  const [row] = await db.query('show max_prepared_transactions');
  if (row?.max_prepared_transactions === '0')
    return context.skip('the server was given, and its max_prepared_transactions is 0');
  await bulk(db, 1);
  await claim(db, 1);
  await a.query('begin');
  const prepared = await bulk(a, 1);
  const name = `writ_${process.pid}_${Date.now()}`;
  const other = await bulk(db, 1);
  await watch(2);
  await a.query(`prepare transaction '${name}'`);
  // a restart of the server gives it another name than we knew
  await db.query(`update writ_data.clockwork set ready_writers = '{99/99}'`);
  await watch(5);
  await moveHeads();
  await b.query(`commit prepared '${name}'`);
  expect(idsOf(await claim(db, 10))).toEqual([...prepared, ...other]);
});

test('an idle transaction that has written elsewhere, and a held snapshot, do not stop the horizon', async () => {
  await db.query('create table elsewhere (n integer)');
  await a.query('begin');
  await a.query('insert into elsewhere values (1)');
  await b.query('begin isolation level repeatable read');
  await b.query('select count(*) from writ_data.job_ready');
  for (let n = 0; n < 5; n++) await bulk(db, 1);
  await watch(3);
  expect(await safe()).toBe(await drawn());
  await claim(db, 4);
  await moveHeads();
  expect(await heads()).toBe(await firstRow(db));
  await Promise.all([a.query('rollback'), b.query('rollback')]);
});

test('a claim does not move the head by what has become known only after it looked', async () => {
  // A thousand rows, so that the claim moves the head for certain; all of them late, so that it can
  // be held up between its look and the move.
  await bulk(db, 1);
  await claim(db, 1);
  await a.query('begin');
  const late = await bulk(a, 1);
  await bulkOf(
    db,
    Array.from({ length: 1100 }, () => ({ delay_ms: 1000, deadline_ms: 5000 })),
  );
  await db.clock.advance('2s');
  await tick(db);
  await watch(2);
  await db.clock.advance('10s');

  await c.query('begin');
  await c.query('lock table writ_data.job_execution in access exclusive mode');
  const claiming = claim(b, 2000);
  await untilBlocked(db, b); // it has seen which row is the first, and is ending the late ones
  await a.query('commit');
  await watch(3);
  await c.query('commit');
  await claiming;
  const taken = idsOf(await claiming);
  expect([...taken, ...idsOf(await claim(db, 2000))]).toEqual(late);
});

test('what a claim leaves of a row stands before no head', async () => {
  const ids = await bulk(db, 100);
  await bulk(db, 100);
  await watch(3);
  await a.query('begin');
  await claim(a, 50); // deletes the first row, and writes what is left of it under the same number
  await watch(3);
  expect(idsOf(await claim(b, 10))).toHaveLength(10);
  await moveHeads();
  await a.query('commit');
  expect(idsOf(await claim(db, 50))).toEqual(ids.slice(50));
});

// Removal of lanes
// -------------------------------------------------------------------------------------------------

test('a lane that stays empty goes after some minutes, and is made again by the next job', async () => {
  await bulk(db, 2);
  await claim(db, 2);
  await untilRemoved();
  const again = await bulk(db, 2);
  expect(idsOf(await claim(db, 5))).toEqual(again);
});

test('a lane with work in it stays, whatever the time', async () => {
  const ids = await bulk(db, 2);
  for (let n = 0; n < 5; n++) await upkeep();
  expect(idsOf(await claim(db, 5))).toEqual(ids);
});

test('a lane that was about to go stays when a job comes', async () => {
  await bulk(db, 1);
  await claim(db, 1);
  await upkeep();
  const came = await bulk(db, 1);
  for (let n = 0; n < 3; n++) await upkeep();
  expect(idsOf(await claim(db, 5))).toEqual(came);
});

test.each(['read committed', 'repeatable read'])(
  'a lane does not go under a transaction (%s) that saw it open before it was marked',
  async (isolation) => {
    await bulk(db, 1);
    await claim(db, 1);
    await a.query(`begin isolation level ${isolation}`);
    const ids = await bulk(a, 3);
    for (let n = 0; n < 4; n++) await upkeep();
    await a.query('commit');
    for (let n = 0; n < 4; n++) await upkeep();
    expect(idsOf(await claim(db, 5))).toEqual(ids);
  },
);

test('a lane does not go under a transaction that saw it open while it was being marked', async () => {
  await bulk(db, 1);
  await claim(db, 1);
  await b.query('begin');
  await upkeep(b);
  await a.query('begin');
  const ids = await bulk(a, 3); // younger than the mark, which it cannot see yet
  await b.query('commit');
  for (let n = 0; n < 4; n++) await upkeep();
  await a.query('commit');
  expect(idsOf(await claim(db, 5))).toEqual(ids);
});

test('a transaction whose snapshot shows a lane that has gone since does not lose its job: it is told to try again', async () => {
  await bulk(db, 1);
  await claim(db, 1);
  await a.query('begin isolation level repeatable read');
  await a.query('select count(*) from writ_data.lane'); // a snapshot, and no transaction id yet
  await untilRemoved();
  const attempt = await bulk(a, 1).then(
    async (ids) => {
      await a.query('commit');
      return ids;
    },
    async (error: { code?: string }) => {
      await a.query('rollback');
      return error.code;
    },
  );
  if (Array.isArray(attempt)) expect(idsOf(await claim(db, 5))).toEqual(attempt);
  else expect(attempt).toBe('40001');
});

test('an enqueue that meets the removal of its lane does not wait for it, and makes another', async () => {
  await bulk(db, 1);
  await claim(db, 1);
  await upkeep();
  await upkeep();
  await b.query('begin');
  await until(async () => {
    await upkeep(b);
    return (await b.query('select from writ_data.lane')).length === 0;
  });
  const ids = [...(await bulk(a, 2)), ...(await bulkOf(a, [{}]))];
  await b.query('commit');
  for (let n = 0; n < 3; n++) await upkeep();
  expect(idsOf(await claim(db, 5))).toEqual(ids);
});

test('retries and releases open lanes as enqueues do', async () => {
  const [id] = await bulk(db, 1);
  const held = await claim(db, 1, { start: 1 });
  await untilRemoved();
  await a.query('begin');
  await call(a, 'writ.fn_lease_release', { lease_token: held.lease_token });
  await upkeep();
  await a.query('commit');
  expect(idsOf(await claim(db, 5))).toEqual([id]);
});

test('jobs of one call that go back at the same time to two new lanes keep their order', async () => {
  const ids = await bulk(db, 6);
  const leases = [await claim(db, 2), await claim(db, 2), await claim(db, 2)];
  await untilRemoved();
  const sessions = [a, b, c];
  for (const session of sessions) await session.query('begin');
  for (const session of sessions) {
    const { lease_token } = leases.pop() as (typeof leases)[number]; // the last jobs first
    await call(session, 'writ.fn_lease_release', { lease_token });
  }
  for (const session of sessions) await session.query('commit');
  expect(await lanes()).toBe(3);
  expect(idsOf(await claim(db, 6))).toEqual(ids);
});
