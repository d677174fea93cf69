/**
 * Installs and upgrades the schema. Everything happens in one transaction under one lock: a crash leaves the database as it was, and
 * two installers at once are one. Before an upgrade of the tables a transaction of its own prepares the gates for it (doorkeepers.ts). Objects belong to the role writ_owner, which nobody logs in as; where the installer may not create
 * roles, the objects are its own and `writ doctor` says what is missing.
 */
import { WritError } from '../errors/index.js';
import type { Queryable } from './connection.js';
import { closeDoors, placeDoorkeepers } from './doorkeepers.js';
import { owner, roles } from './roles.js';
import { type Migration, readMigrations, readSchemaObjects, type SchemaObject } from './schema.js';

export interface MigrationPlan {
  /** The version in the database; 0 when Writ is not installed. */
  readonly from: number;
  readonly to: number;
  readonly migrations: readonly Migration[];
  readonly objects: readonly SchemaObject[];
  /** Roles that do not exist yet. */
  readonly roles: readonly string[];
}

export interface MigrateOptions {
  /** Turn the queue on afterwards. A bare migration leaves it off. */
  readonly enable?: boolean;
  /** Do everything, then roll back. */
  readonly dryRun?: boolean;
  readonly onProgress?: (step: string) => void;
}

export async function planMigration(db: Queryable): Promise<MigrationPlan> {
  const installed = await db.query(`select to_regclass('writ_data.schema_migration') is not null as yes`);
  const applied = installed.rows[0]?.yes
    ? (await db.query('select version, sha256, breaking from writ_data.schema_migration order by version')).rows
    : [];
  const objects = installed.rows[0]?.yes ? (await db.query('select name, sha256 from writ_data.schema_object')).rows : [];
  const existing = await db.query('select rolname from pg_roles where rolname = any ($1)', [[owner, ...roles]]);

  const known = readMigrations();
  for (const row of applied) {
    const migration = known.find((m) => m.version === row.version);
    if (!migration && row.breaking) throw new WritError('schema_newer', `version ${row.version}`);
    if (migration && migration.sha256 !== row.sha256) throw new WritError('schema_changed', `migration ${row.version}`);
  }
  const current = Math.max(0, ...applied.map((row) => Number(row.version)));
  const newest = known.at(-1)?.version ?? 0;
  const hashes = new Map(objects.map((row) => [row.name, row.sha256]));
  return {
    from: current,
    to: Math.max(current, newest),
    migrations: known.filter((m) => m.version > current),
    // An older package leaves the gates of a newer one alone.
    // A migration may have taken away what stood in its way: then all of them are made anew.
    objects: current > newest ? [] : readSchemaObjects().filter((object) => current < newest || hashes.get(object.name) !== object.sha256),
    roles: [owner, ...roles].filter((role) => !existing.rows.some((row) => row.rolname === role)),
  };
}

/** The connection must be a single session (a client, not a pool). */
export async function migrate(client: Queryable, options: MigrateOptions = {}): Promise<MigrationPlan> {
  const say = options.onProgress ?? (() => {});
  // A dry run changes nothing, and so needs no doorkeepers: who waits for it finds everything as it was.
  if (!options.dryRun) await prepareUpgrade(client);
  await client.query('begin');
  try {
    await client.query(oneInstaller);
    const plan = await planMigration(client);
    await createRoles(client, plan.roles, say);
    const asOwner = await mayBecomeOwner(client);
    if (plan.from === 0) await createSchemas(client, asOwner);
    if (asOwner) await client.query(`set local role ${owner}`);
    await client.query(`set local check_function_bodies = off`);
    if (isUpgrade(plan)) await closeDoors(client);
    for (const migration of plan.migrations) {
      say(`migration ${String(migration.version).padStart(4, '0')} ${migration.name}`);
      await client.query(migration.sql);
      await client.query('insert into writ_data.schema_migration (version, name, sha256, breaking) values ($1, $2, $3, $4)', [
        migration.version,
        migration.name,
        migration.sha256,
        migration.breaking,
      ]);
    }
    for (const object of plan.objects) {
      say(`${object.type} ${object.name}`);
      await client.query(object.sql);
      await client.query(
        `insert into writ_data.schema_object (name, sha256) values ($1, $2)
         on conflict (name) do update set sha256 = excluded.sha256, applied_at = clock_timestamp()`,
        [object.name, object.sha256],
      );
    }
    await grant(client);
    if (options.enable) {
      await client.query(`select writ.fn_setting_set('queue.job_substrate.enabled', 'true', 'migrate')`);
    }
    await client.query(options.dryRun ? 'rollback' : 'commit');
    return plan;
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // the first error is the one to report
    throw error;
  }
}

const oneInstaller = `select pg_advisory_xact_lock(hashtextextended('writ.migrate', 0))`;
const isUpgrade = (plan: MigrationPlan): boolean => plan.from > 0 && plan.migrations.length > 0;

async function prepareUpgrade(client: Queryable): Promise<void> {
  await client.query('begin');
  try {
    await client.query(oneInstaller);
    if (isUpgrade(await planMigration(client))) {
      if (await mayBecomeOwner(client)) await client.query(`set local role ${owner}`);
      await placeDoorkeepers(client);
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // the first error is the one to report
    throw error;
  }
}

async function createRoles(client: Queryable, missing: readonly string[], say: (step: string) => void): Promise<void> {
  for (const role of missing) {
    await client.query('savepoint create_role');
    try {
      await client.query(`create role ${role} nologin`);
      say(`role ${role}`);
    } catch (error) {
      const { code } = error as { code?: string };
      // 42501: not allowed to; 42710, and 23505 at the same moment: an installer of another database was faster. We are left with what exists.
      if (code !== '42501' && code !== '42710' && code !== '23505') throw error;
      await client.query('rollback to savepoint create_role');
    }
  }
  if (missing.includes(owner)) {
    await client.query('savepoint join_owner');
    try {
      await client.query(`grant ${owner} to current_user`);
    } catch (error) {
      if ((error as { code?: string }).code !== '42501' && (error as { code?: string }).code !== '42704') throw error;
      await client.query('rollback to savepoint join_owner');
    }
  }
}

async function mayBecomeOwner(client: Queryable): Promise<boolean> {
  const { rows } = await client.query(`select exists (select from pg_roles where rolname = $1 and pg_has_role(oid, 'member')) as yes`, [
    owner,
  ]);
  return rows[0]?.yes === true;
}

async function createSchemas(client: Queryable, asOwner: boolean): Promise<void> {
  const authorization = asOwner ? `authorization ${owner}` : '';
  await client.query(`create schema if not exists writ ${authorization}`);
  await client.query(`create schema if not exists writ_data ${authorization}`);
  if (asOwner) await client.query(`set local role ${owner}`);
  await client.query(`create table writ_data.schema_migration (
    version integer primary key, name text not null, sha256 text not null, breaking boolean not null, applied_at timestamptz not null default clock_timestamp())`);
  await client.query(`create table writ_data.schema_object (
    name text primary key, sha256 text not null, applied_at timestamptz not null default clock_timestamp())`);
  if (asOwner) await client.query('reset role');
}

/** Everybody loses everything, then each role gets what the files say. */
async function grant(client: Queryable): Promise<void> {
  const { rows } = await client.query('select rolname from pg_roles where rolname = any ($1)', [[...roles]]);
  const present = rows.map((row) => String(row.rolname));
  const statements = [
    ...['public', ...present].flatMap((role) => [
      `revoke all on schema writ, writ_data from ${role}`,
      `revoke all on all functions in schema writ, writ_data from ${role}`,
      `revoke all on all tables in schema writ, writ_data from ${role}`,
    ]),
    ...present.map((role) => `grant usage on schema writ to ${role}`),
  ];
  for (const object of readSchemaObjects()) {
    const target = object.type === 'view' ? `select on ${object.name}` : `execute on function ${object.name}`;
    for (const role of object.roles.filter((r) => present.includes(r))) statements.push(`grant ${target} to ${role}`);
  }
  statements.push(...present.map((role) => `grant execute on function writ.now to ${role}`));
  await client.query(statements.join(';\n'));
}
