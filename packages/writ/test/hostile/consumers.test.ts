/** One fact, one consumer or one name stops no other consumer from following the log. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { until } from '../races/sessions.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let producer: Login;
let engine: Login;
let admin: Login;

beforeEach(async () => {
  db = await testDatabase();
  for (const kind of ['chore', 'audit', 'mirror'])
    await db.query(`select writ.fn_job_kind_register($1, '{}', 'test')`, [kind]);
  producer = await login(db, ['writ_producer']);
  engine = await login(db, ['writ_engine']);
  admin = await login(db, ['writ_admin']);
});
afterEach(async () => {
  for (const one of [producer, engine, admin]) await one.end();
  await db.drop();
});

const register = (consumer: string, more: object = {}) =>
  admin.call('fn_consumer_register', {
    consumer,
    event_type: 'dot.job.enqueued',
    job_kind: 'audit',
    options: '{"subject_kind": "chore"}',
    actor: 'admin',
    ...more,
  });
const enqueue = async (more: object = {}) => {
  const id = uuidv7();
  const jobs = JSON.stringify([{ id, kind: 'chore', ...more }]);
  expect(await producer.call('fn_job_enqueue_many', { jobs, actor: 'p' })).toMatchObject({
    enqueued: 1,
  });
  return id;
};
/**
 * Other tests have transactions open on this server: a fact is followed when every older one has
 * ended.
 */
const dispatch = async (parameters: Record<string, unknown> = {}) => {
  const open =
    'select from writ_data.event_batch where xid >= pg_snapshot_xmin(pg_current_snapshot())';
  await until(async () => (await db.query(open)).length === 0);
  return engine.call('fn_consumer_dispatch_many', parameters);
};
const followed = async (kind = 'audit') =>
  (
    await db.query('select source_ref from writ_data.job where job_kind = $1 order by source_ref', [
      kind,
    ])
  ).map((row) => row.source_ref);
const poison = (when: string, errcode = 'P0001') =>
  db.query(`create function writ_data.poisoned() returns trigger language plpgsql as $$
      begin raise exception 'This row is damaged.' using errcode = '${errcode}'; end $$;
    create trigger poisoned before insert on writ_data.job
      for each row when (${when}) execute function writ_data.poisoned()`);

test('a correlation id of the greatest length stops no consumer', async () => {
  await register('auditor');
  const texts = [2000, 4000, 8150].map((length) => ({
    correlation_id: 'x'.repeat(length),
    source_system: 's'.repeat(40),
  }));
  const jobs = texts.map((more) => ({ id: uuidv7(), kind: 'chore', tenant: 'evil', ...more }));
  await producer.call('fn_job_enqueue_many', { jobs: JSON.stringify(jobs), actor: 'p' });
  const id = await enqueue();
  expect(await dispatch()).toMatchObject({ refused: [] });
  expect(await followed()).toContain(`job/${id}`);
});

test('a consumer skips a fact whose job raises, with an alert, and follows the other facts', async () => {
  await register('auditor');
  await register('mirror', { job_kind: 'mirror' });
  const [good, bad, last] = [await enqueue(), await enqueue(), await enqueue()];
  await poison(`new.job_kind = 'audit' and new.source_ref = 'job/${bad}'`);
  expect(await dispatch()).toMatchObject({ jobs: 5, refused: [] });
  expect(await followed()).toEqual([`job/${good}`, `job/${last}`].sort());
  expect(await followed('mirror')).toHaveLength(3);
  expect(await db.query(`select code, subject from writ.alert`)).toEqual([
    { code: 'CLOCKWORK_SET_ASIDE', subject: 'consumer/auditor' },
  ]);

  const [note] = await db.query(`select note from writ.command_run where note like 'left out %'`);
  const [, eventId] = /^left out (\S+) /.exec(String(note?.note)) ?? [];
  await db.query('drop trigger poisoned on writ_data.job');
  expect(
    await admin.call('fn_consumer_dispatch', { event_id: eventId, actor: 'admin' }),
  ).toMatchObject({ enqueued: 1 });
  expect(await followed()).toContain(`job/${bad}`);
});

test('a consumer whose every job raises waits, loses no fact and delays no other consumer', async () => {
  await register('auditor');
  await register('mirror', { job_kind: 'mirror' });
  const id = await enqueue();
  await poison(`new.job_kind = 'audit'`);
  expect(await dispatch()).toMatchObject({ jobs: 1, refused: [{ consumer: 'auditor' }] });
  expect(await followed('mirror')).toEqual([`job/${id}`]);
  await db.query('drop trigger poisoned on writ_data.job');
  expect(await dispatch()).toMatchObject({ jobs: 1, refused: [] });
  expect(await followed()).toEqual([`job/${id}`]);
});

test('a consumer skips no fact because of a deadlock', async () => {
  await register('auditor');
  const ids = [await enqueue(), await enqueue()];
  await poison(`new.job_kind = 'audit' and new.source_ref = 'job/${ids[1]}'`, '40P01');
  expect(await dispatch()).toMatchObject({
    jobs: 0,
    refused: [{ consumer: 'auditor', reason: '40P01' }],
  });
  expect(await db.query('select from writ.alert')).toEqual([]);
  await db.query('drop trigger poisoned on writ_data.job');
  expect(await dispatch()).toMatchObject({ jobs: 2, refused: [] });
  expect(await followed()).toEqual(ids.map((id) => `job/${id}`).sort());
});

test('a consumer with the longest name follows facts', async () => {
  expect(await register('c'.repeat(200))).toMatchObject({ registered: 'c'.repeat(200) });
  const id = await enqueue();
  expect(await dispatch()).toMatchObject({ jobs: 1, refused: [] });
  expect(await followed()).toEqual([`job/${id}`]);
});

test('fn_consumer_dispatch_many clamps its limit', async () => {
  await register('auditor');
  await enqueue();
  for (const limit of [-1, 0, 2_147_483_647, null])
    expect(await dispatch({ limit })).toMatchObject({ refused: [] });
  expect(await followed()).toHaveLength(1);
});
