/**
 * A login without any role of Writ can take every advisory lock, and everybody can read in the
 * sources which keys Writ used. It cannot stop an installation or an upgrade: their locks are
 * tables that only the owner can lock. Nor can it put itself below the gates by creating our
 * schemas first.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { migrate, planMigration } from '../../src/database/migrate.js';
import { testDatabase } from '../../src/testing/index.js';
import { cents, type EmptyDatabase, emptyDatabase, euros, release } from '../upgrade/releases.js';

const stranger = `stranger_${randomBytes(4).toString('hex')}`;
let db: EmptyDatabase;
let installer: pg.Client;
let attacker: pg.Client;

beforeAll(async () => (await testDatabase()).drop()); // roles are the whole server's
beforeEach(async () => {
  db = await emptyDatabase();
  installer = await db.connect();
  await installer.query(`create role ${stranger} login password 'test'`);
  attacker = await db.connect(stranger);
});
afterEach(async () => {
  await installer.query(`drop owned by ${stranger} cascade`);
  await db.drop();
  const admin = new pg.Client({ connectionString: process.env.WRIT_TEST_DATABASE_URL });
  await admin.connect();
  await admin.query(`drop role ${stranger}`);
  await admin.end();
});

/** Every name that Writ has ever made the key of an advisory lock from. */
const names = [
  ...['writ.migrate', 'writ.upgrade', 'writ.fn_job_tick', 'writ.fn_job_cleanup_sweep'],
  ...['writ.fn_consumer_dispatch_many', 'writ.relay_idle', 'writ.limit chore ', 'writ.template'],
  ...['writ principal alice', 'governance_policy/acme'],
];
const takeEveryLock = () =>
  attacker.query(
    'select pg_advisory_lock(hashtextextended(name, 0)) from unnest($1::text[]) name',
    [names],
  );

test('a stranger who holds every advisory lock does not stop an installation', async () => {
  await takeEveryLock();
  await installer.query(`set statement_timeout = '15s'`);
  expect(await migrate(installer, { enable: true })).toMatchObject({ from: 0 });
  expect(await planMigration(installer)).toMatchObject({ migrations: [], objects: [] });
});

test('a stranger who holds every advisory lock does not stop an upgrade', async () => {
  await migrate(installer, {}, release(euros));
  await takeEveryLock();
  await installer.query(`set statement_timeout = '15s'`);
  expect(await migrate(installer, {}, release(cents))).toMatchObject({ from: 1, to: 2 });
  expect((await installer.query(`select writ.fn_pay('a', 1) as answer`)).rows).toEqual([
    { answer: { release: '1.1.0' } },
  ]);
});

test.each(['schema_migration', 'door'])('a stranger cannot lock %s', async (table) => {
  await migrate(installer, {}, release(euros));
  await attacker.query('begin');
  await expect(
    attacker.query(`lock table writ_data.${table} in access share mode`),
  ).rejects.toMatchObject({ code: '42501' });
});

test('two installers at once install once, though a stranger holds every advisory lock', async () => {
  await takeEveryLock();
  const plans = await Promise.all(
    [installer, await db.connect()].map((one) => migrate(one, {}, release(euros))),
  );
  expect(plans.map((plan) => plan.migrations.length).sort()).toEqual([0, 1]);
});

test('a second installer installs when the first one gives up', async () => {
  const second = await db.connect();
  await installer.query('begin; create schema writ; create schema writ_data');
  const installing = migrate(second, {}, release(euros));
  await new Promise((resume) => setTimeout(resume, 200));
  await installer.query('rollback');
  expect(await installing).toMatchObject({ from: 0, to: 1 });
});

test.each(['writ', 'writ_data'])(
  'refuses to install into a schema %s that a stranger owns',
  async (schema) => {
    const database = new URL(db.url).pathname.slice(1);
    await installer.query(`grant create on database ${database} to ${stranger}`);
    await attacker.query(`create schema ${schema}`);
    await expect(migrate(installer)).rejects.toMatchObject({ code: 'schema_taken' });
  },
);
