import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startEmbedded } from '../../src/database/embedded.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { json, writ } from './run.js';

let server: TestDatabase;
let env: Record<string, string>;
const name = `writ_test_cli_migrate_${process.pid}`;

beforeAll(async () => {
  server = await testDatabase();
});
afterAll(() => server.drop());

// A database of its own without anything in it.
beforeEach(async () => {
  await server.query(`create database ${name}`);
  const url = new URL(server.connectionString);
  url.pathname = `/${name}`;
  env = { DATABASE_URL: url.href };
});
afterEach(() => server.query(`drop database ${name} with (force)`));

const isInstalled = async () => (await writ(['queue', 'stats'], { env })).code === 0;

test('a plan names what would be applied and does nothing', async () => {
  const plan = await json<{
    from: number;
    migrations: { name: string }[];
    objects: { type: string; name: string }[];
  }>(['migrate', '--plan'], { env });
  expect(plan).toMatchObject({
    from: 0,
    migrations: expect.arrayContaining([expect.objectContaining({ version: 1 })]),
  });
  expect(plan.objects).toContainEqual({ type: 'gate', name: 'writ.fn_job_enqueue_many' });
  expect(plan.objects).toContainEqual({ type: 'view', name: 'writ.job_queue' });
  const { stdout } = await writ(['migrate', '--plan'], { env });
  expect(stdout).toMatch(/version 0 → \d+/);
  expect(stdout).toMatch(/^migrations \(\d+\)\n {2}0001_ground/m);
  expect(stdout).toContain('Nothing was changed');
  expect(await isInstalled()).toBe(false);
});

test('a dry run does everything and rolls back', async () => {
  const { code, stdout } = await writ(['migrate', '--dry-run', '--enable'], { env });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^○ migration 0001 ground$/m);
  expect(stdout).toMatch(/^○ gate writ\.fn_job_claim_many$/m);
  expect(stdout).toContain('rolled back');
  expect(await isInstalled()).toBe(false);
});

test('migrate installs step by step and leaves the queue off; --enable turns it on; a second time there is nothing to do', async () => {
  const first = await writ(['migrate'], { env });
  expect(first.code).toBe(0);
  expect(first.stdout).toMatch(/^✓ migration 0001 ground$/m);
  expect(first.stdout).toContain('The queue is switched off');
  expect(await json(['queue', 'stats'], { env })).toMatchObject({ enabled: false });
  expect((await writ(['migrate', '--enable'], { env })).stdout).toContain(
    'The queue is switched on.',
  );
  expect(await json(['migrate'], { env })).toMatchObject({
    migrations: [],
    objects: [],
    dryRun: false,
    enabled: true,
  });
});

test('a migration that was changed since it was applied exits 3', async () => {
  await writ(['migrate'], { env });
  const client = new pg.Client({ connectionString: env.DATABASE_URL });
  await client.connect();
  await client.query(`update writ_data.schema_migration set sha256 = 'other'`);
  await client.end();
  const { code, stderr } = await writ(['migrate', '--plan'], { env });
  expect([code, stderr]).toEqual([3, expect.stringContaining('differs')]);
});

test('a user that may not install is told who may', async () => {
  await server.query(
    `do $$ begin create role cli_nobody login password 'nobody'; exception when duplicate_object then null; end $$`,
  );
  const url = new URL(env.DATABASE_URL as string);
  url.username = 'cli_nobody';
  url.password = 'nobody';
  const { code, stderr } = await writ(['migrate', '--database-url', url.href]);
  expect([code, stderr]).toEqual([1, expect.stringContaining('Migrate as the owner')]);
});

/** A server of its own, without the roles that the other tests have made in theirs. */
test('a user without CREATEROLE learns which roles are missing, and the statements for them complete the installation', async () => {
  const fresh = await startEmbedded();
  const admin = new pg.Client({ connectionString: fresh.connectionString });
  try {
    await admin.connect();
    await admin.query(`create role installer login password 'not-its-name'`);
    await admin.query('create database app owner installer');
    const url = new URL(fresh.urlOf('app'));
    url.username = 'installer';
    url.password = 'not-its-name';
    const options = { env: { DATABASE_URL: url.href } };

    const planned = await writ(['migrate', '--plan'], options);
    expect(planned.stdout).not.toMatch(/^roles/m);
    expect(planned.stderr).toMatch(
      /installer may not create roles: the migration leaves out 12 roles \(writ_owner, /,
    );

    const { code, stdout, stderr } = await writ(['migrate', '--enable'], options);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/ 0 roles: schema version 0 → \d+\./),
    ]);
    expect(stderr).toMatch(
      /Not created: 12 roles \(.*\), because installer may not create roles\./,
    );
    expect(await json(['migrate'], options)).toMatchObject({
      roles: [],
      missingRoles: expect.arrayContaining(['dot_executor']),
    });
    expect((await writ(['queue', 'stats'], options)).code).toBe(0);

    await admin.query(
      (/let an administrator run: ((?:create role \w+ nologin; ?)+)/.exec(stderr) ??
        [])[1] as string,
    );
    expect(await writ(['migrate'], options)).toMatchObject({ code: 0, stderr: '' });
    const app = new pg.Client({ connectionString: fresh.urlOf('app') });
    await app.connect();
    const { rows } = await app.query(
      `select has_schema_privilege('writ_worker', 'writ', 'usage') as yes`,
    );
    await app.end();
    expect(rows).toEqual([{ yes: true }]);
  } finally {
    await admin.end().catch(() => undefined);
    await fresh.stop();
  }
}, 120_000);
