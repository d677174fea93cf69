/** Migrating again: a database that this package, an older or a newer one has migrated before. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { migrate, planMigration } from '../../src/database/migrate.js';
import { readMigrations } from '../../src/database/schema.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { contents } from '../queue/gates/harness.js';

let db: TestDatabase;
let client: pg.Client;

beforeEach(async () => {
  db = await testDatabase();
  client = new pg.Client({ connectionString: db.directConnectionString });
  await client.connect();
});
afterEach(async () => {
  await client.end();
  await db.drop();
});

const rows = async (sql: string, params?: unknown[]) => (await client.query(sql, params)).rows;
const tables = () => contents({ query: rows });
const newest = readMigrations().at(-1)?.version;

test('the plan is nothing', async () => {
  expect(await planMigration(client)).toEqual({
    from: newest,
    to: newest,
    migrations: [],
    objects: [],
    removed: [],
    isOlder: false,
    roles: [],
    missingRoles: [],
    user: expect.any(String),
  });
});

test('the plan for a database with one old gate is that gate', async () => {
  await client.query(
    `update writ_data.schema_object set sha256 = 'old' where name = 'writ.fn_job_cancel'`,
  );
  expect((await planMigration(client)).objects.map((object) => object.name)).toEqual([
    'writ.fn_job_cancel',
  ]);
});

test('a second time does nothing', async () => {
  const before = await tables();
  expect(await migrate(client)).toMatchObject({
    migrations: [],
    objects: [],
    roles: [],
    missingRoles: [],
    user: expect.any(String),
  });
  expect(await tables()).toEqual(before);
  expect(
    await rows(`select value from writ_data.dot_config where key = 'queue.job_substrate.enabled'`),
  ).toEqual([{ value: true }]);
});

test('replaces a gate that has changed, and keeps the data', async () => {
  await client.query(`select writ.fn_job_kind_register('chore', '{}', 'test')`);
  await client.query(
    `create or replace function writ.fn_job_payload(p_job_id uuid, p_tenant_id text default null) returns json language sql as 'select null::jsonb'`,
  );
  await client.query(
    `update writ_data.schema_object set sha256 = 'old' where name = 'writ.fn_job_payload'`,
  );
  expect((await migrate(client)).objects).toHaveLength(1);
  expect(
    await rows(
      `select prosrc like '%writ_data.job %' as ours from pg_proc where proname = 'fn_job_payload'`,
    ),
  ).toEqual([{ ours: true }]);
  expect(
    await rows(`select job_kind from writ_data.job_kind where registered_by <> 'migration'`),
  ).toEqual([{ job_kind: 'chore' }]);
});

test('takes back rights that the files do not give', async () => {
  await client.query('grant execute on function writ.fn_setting_set to dot_executor');
  await client.query('grant usage on schema writ_data to dot_executor');
  await client.query('grant select on writ_data.job to writ_auditor');
  await client.query('grant execute on function writ.fn_job_queue_health to public');
  await migrate(client);
  const [rights] = await rows(
    `select has_function_privilege('dot_executor', 'writ.fn_setting_set(text, jsonb, text)', 'execute') as gate,
       has_schema_privilege('dot_executor', 'writ_data', 'usage') as schema, has_table_privilege('writ_auditor', 'writ_data.job', 'select') as "table",
       exists (select from aclexplode((select proacl from pg_proc where proname = 'fn_job_queue_health')) where grantee = 0) as public`,
  );
  expect(rights).toEqual({ gate: false, schema: false, table: false, public: false });
});

describe('a database that does not fit this package', () => {
  test('a base that another build has made: schema_prerelease, and nothing happens', async () => {
    await client.query(`update writ_data.schema_migration set sha256 = 'other' where version = 1`);
    const before = await tables();
    await expect(planMigration(client)).rejects.toMatchObject({ code: 'schema_prerelease' });
    await expect(migrate(client)).rejects.toMatchObject({ code: 'schema_prerelease' });
    expect(await tables()).toEqual(before);
  });

  test('a newer schema that breaks this version: schema_newer, and nothing happens', async () => {
    await client.query(
      `insert into writ_data.schema_migration (version, name, sha256, breaking) values (9999, 'future', 'x', true)`,
    );
    const before = await tables();
    await expect(migrate(client)).rejects.toMatchObject({ code: 'schema_newer' });
    expect(await tables()).toEqual(before);
  });

  test('a newer schema that this version can live with is left as it is', async () => {
    await client.query(
      `insert into writ_data.schema_migration (version, name, sha256, breaking) values (9999, 'future', 'x', false)`,
    );
    await client.query(`update writ_data.schema_object set sha256 = 'future'`);
    const before = await tables();
    expect(await migrate(client)).toMatchObject({
      from: 9999,
      to: 9999,
      migrations: [],
      objects: [],
    });
    expect(await tables()).toEqual(before);
  });
});

test('a package that is upgraded while the old one runs keeps what was granted to users by hand on its own roles', async () => {
  const user = `user_${randomBytes(4).toString('hex')}`;
  await client.query(`create role ${user}`);
  try {
    await client.query(`grant dot_executor to ${user}`);
    await migrate(client);
    expect(await rows(`select pg_has_role('${user}', 'dot_executor', 'member') as yes`)).toEqual([
      { yes: true },
    ]);
  } finally {
    await client.query(`drop role ${user}`);
  }
});
