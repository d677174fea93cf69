/**
 * Installs and upgrades the schema. Everything happens in one transaction under one lock: a crash
 * leaves the database as it was, and two installers at once are one. Before an upgrade of the
 * tables a transaction of its own prepares the gates for it (doorkeepers.ts). Objects belong to the
 * role writ_owner, which nobody logs in as; where the installer may not create roles, the objects
 * are its own and `writ doctor` says what is missing.
 *
 * The lock is the table writ_data.schema_migration, which only the owner and superusers can lock. A
 * first install has no table yet: there, the unique name of the schema makes a second installer
 * wait.
 */
import { WritError } from '../errors/index.js';
import type { Queryable } from './connection.js';
import { closeDoors, placeDoorkeepers } from './doorkeepers.js';
import { assertMark, isNewer, isPrerelease, madeBy, markOf, readMark } from './made-by.js';
import { dropRemoved, removedBy } from './removal.js';
import { owner, roles } from './roles.js';
import { type Migration, type Release, readRelease, type SchemaObject } from './schema.js';

export interface MigrationPlan {
  /** Who asks. */
  readonly user: string;
  /** The version in the database; 0 when Writ is not installed. */
  readonly from: number;
  readonly to: number;
  readonly migrations: readonly Migration[];
  readonly objects: readonly SchemaObject[];
  /** Functions and views that go: neither this release nor the one before it has them. */
  readonly removed: readonly string[];
  /** A newer release has made the schema. It stays as it is. */
  readonly isOlder: boolean;
  /** Roles that the migration creates. */
  readonly roles: readonly string[];
  /** Roles that do not exist, and that this user may not create. Nothing is granted to them. */
  readonly missingRoles: readonly string[];
}

export interface MigrateOptions {
  /** Turn the queue on afterwards. A bare migration leaves it off. */
  readonly enable?: boolean;
  /** Do everything, then roll back. */
  readonly dryRun?: boolean;
  readonly onProgress?: (step: string) => void;
}

export async function planMigration(
  db: Queryable,
  release: Release = readRelease(),
): Promise<MigrationPlan> {
  const mark = await readMark(db);
  if (mark) assertMark(mark, release);
  const rows = async (sql: string) => (mark === undefined ? [] : (await db.query(sql)).rows);
  const applied = await rows(
    'select version, sha256, breaking from writ_data.schema_migration order by version',
  );
  const objects = await rows('select name, sha256 from writ_data.schema_object');

  const known = release.migrations;
  // An installation in this transaction has left no mark yet, and no migration.
  if (mark === '' && applied.length > 0) assertMark(mark, release);
  for (const row of applied) {
    const migration = known.find((m) => m.version === row.version);
    if (!migration && row.breaking) throw new WritError('schema_newer', `version ${row.version}`);
    if (migration && migration.sha256 !== row.sha256) {
      throw new WritError(
        isPrerelease(release.version) ? 'schema_prerelease' : 'schema_changed',
        `migration ${row.version} differs`,
      );
    }
  }
  const current = Math.max(0, ...applied.map((row) => Number(row.version)));
  const newest = known.at(-1)?.version ?? 0;
  const hashes = new Map(objects.map((row) => [row.name, row.sha256]));
  const isOlder = current > newest || isNewer(madeBy(mark ?? '') ?? '0.0.0', release.version);
  const missing = await missingRoles(db);
  const { user, mayCreate } = await creatorOfRoles(db);
  return {
    user,
    from: current,
    to: Math.max(current, newest),
    migrations: known.filter((m) => m.version > current),
    // An older package leaves the gates of a newer one alone. A migration may have removed gates
    // that stood in its way, so after one all of them are created again.
    objects: isOlder
      ? []
      : release.objects.filter(
          (object) => current < newest || hashes.get(object.name) !== object.sha256,
        ),
    removed: isOlder ? [] : await removedBy(release, db, [...hashes.keys()].map(String)),
    isOlder,
    roles: mayCreate ? missing : [],
    missingRoles: mayCreate ? [] : missing,
  };
}

/** The connection must be a single session (a client, not a pool). */
export async function migrate(
  client: Queryable,
  options: MigrateOptions = {},
  release: Release = readRelease(),
): Promise<MigrationPlan> {
  const say = options.onProgress ?? (() => {});
  // A dry run changes nothing, so it needs no doorkeepers: calls that wait for it find everything
  // as it was.
  if (!options.dryRun) await prepareUpgrade(client, release);
  await client.query('begin');
  try {
    const created = await createRoles(client, await missingRoles(client), say);
    const asOwner = await mayBecomeOwner(client);
    if (!(await isInstalled(client))) await createSchemas(client, asOwner);
    if (asOwner) await client.query(`set local role ${owner}`);
    await client.query(oneInstaller);
    const plan = {
      ...(await planMigration(client, release)),
      roles: created,
      missingRoles: await missingRoles(client),
    };
    await client.query(`set local check_function_bodies = off`);
    if (isUpgrade(plan)) await closeDoors(client);
    for (const migration of plan.migrations) {
      say(`migration ${String(migration.version).padStart(4, '0')} ${migration.name}`);
      await client.query(migration.sql);
      await client.query(
        `insert into writ_data.schema_migration (version, name, sha256, breaking)
         values ($1, $2, $3, $4)`,
        [migration.version, migration.name, migration.sha256, migration.breaking],
      );
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
    if (!plan.isOlder) {
      await dropRemoved(client, plan.removed, say);
      await client.query(`comment on schema writ is '${markOf(release)}'`);
      await grant(client, release);
      // A database in which no worker ran for days has no partition to record in.
      if (has(release, 'writ_data.open_days')) await client.query('select writ_data.open_days()');
      if (has(release, 'writ_data.begin_deployment'))
        await client.query('select writ_data.begin_deployment()');
    }
    if (options.enable) await enable(client, plan.from === 0);
    await client.query(options.dryRun ? 'rollback' : 'commit');
    return plan;
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // the first error is the one to report
    throw error;
  }
}

/**
 * A new database begins with the queue on; later that is a change of a setting, with its receipt.
 */
async function enable(client: Queryable, isNew: boolean): Promise<void> {
  await client.query(
    isNew
      ? `update writ_data.dot_config set value = 'true' where key = 'queue.job_substrate.enabled'`
      : `select writ.fn_setting_set('queue.job_substrate.enabled', 'true', 'migrate')`,
  );
}

/** Conflicts with itself and lets others read. */
const oneInstaller = 'lock table writ_data.schema_migration in share row exclusive mode';
const has = (release: Release, name: string): boolean =>
  release.objects.some((object) => object.name === name);
const isUpgrade = (plan: MigrationPlan): boolean => plan.from > 0 && plan.migrations.length > 0;

/**
 * Whether the table that installers lock is there. Taking its size locks it for a moment. That
 * waits for an installer that is committing: its rows are visible shortly before this session hears
 * that its caches are stale, and would not find by name what it sees.
 */
async function isInstalled(client: Queryable): Promise<boolean> {
  const { rows } = await client.query(
    `select pg_relation_size(c.oid) from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'writ_data' and c.relname = 'schema_migration'`,
  );
  return rows.length > 0;
}

async function prepareUpgrade(client: Queryable, release: Release): Promise<void> {
  await client.query('begin');
  try {
    if (await isInstalled(client)) {
      if (await mayBecomeOwner(client)) await client.query(`set local role ${owner}`);
      await client.query(oneInstaller);
      if (isUpgrade(await planMigration(client, release))) await placeDoorkeepers(client);
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // the first error is the one to report
    throw error;
  }
}

async function missingRoles(db: Queryable): Promise<string[]> {
  const { rows } = await db.query('select rolname from pg_roles where rolname = any ($1)', [
    [owner, ...roles],
  ]);
  return [owner, ...roles].filter((role) => !rows.some((row) => row.rolname === role));
}

async function creatorOfRoles(db: Queryable): Promise<{ user: string; mayCreate: boolean }> {
  const { rows } = await db.query(
    `select rolname::text as name, rolsuper or rolcreaterole as yes
     from pg_roles
     where rolname = current_user`,
  );
  return { user: String(rows[0]?.name), mayCreate: rows[0]?.yes === true };
}

/** Creates the roles that this user may create, and returns them. */
async function createRoles(
  client: Queryable,
  missing: readonly string[],
  say: (step: string) => void,
): Promise<string[]> {
  const created: string[] = [];
  for (const role of missing) {
    await client.query('savepoint create_role');
    try {
      await client.query(`create role ${role} nologin`);
      created.push(role);
      say(`role ${role}`);
    } catch (error) {
      const { code } = error as { code?: string };
      // 42501: not allowed to; 42710, and 23505 at the same moment: an installer of another
      // database was faster. We are left with what exists.
      if (code !== '42501' && code !== '42710' && code !== '23505') throw error;
      await client.query('rollback to savepoint create_role');
    }
  }
  if (missing.includes(owner)) {
    await client.query('savepoint join_owner');
    try {
      await client.query(`grant ${owner} to current_user`);
    } catch (error) {
      if (
        (error as { code?: string }).code !== '42501' &&
        (error as { code?: string }).code !== '42704'
      )
        throw error;
      await client.query('rollback to savepoint join_owner');
    }
  }
  return created;
}

async function mayBecomeOwner(client: Queryable): Promise<boolean> {
  const { rows } = await client.query(
    `select exists (select from pg_roles where rolname = $1 and pg_has_role(oid, 'member')) as yes`,
    [owner],
  );
  return rows[0]?.yes === true;
}

/**
 * Creates the schemas and the installer's own tables. A second installer waits at the name of the
 * first schema until the first one has ended, and then finds them.
 */
async function createSchemas(client: Queryable, asOwner: boolean): Promise<void> {
  const user = asOwner ? owner : 'current_user';
  for (const schema of ['writ', 'writ_data']) {
    await client.query('savepoint create_schema');
    try {
      await client.query(`create schema ${schema} authorization ${user}`);
    } catch (error) {
      const { code } = error as { code?: string };
      // 42P06: the schema exists. 23505: another installer has just created it. 42501: this one may
      // not create schemas, and goes on if an administrator has made them for it.
      if (code !== '42P06' && code !== '23505' && code !== '42501') throw error;
      await client.query('rollback to savepoint create_schema');
      await assertOwned(client, schema, error);
    }
  }
  if (await isInstalled(client)) return;
  if (asOwner) await client.query(`set local role ${owner}`);
  await client.query(`
    create table writ_data.schema_migration (
      version integer primary key,
      name text not null,
      sha256 text not null,
      breaking boolean not null,
      applied_at timestamptz not null default clock_timestamp());
    create table writ_data.schema_object (
      name text primary key,
      sha256 text not null,
      applied_at timestamptz not null default clock_timestamp());
    create table writ_data.door ();
    comment on table writ_data.door is
      'Holds no row. An upgrade locks it against the gates, each call of a doorkeeper shares it.'`);
  if (asOwner) await client.query('reset role');
}

/**
 * The owner of a schema can replace what is in it, so Writ installs only into schemas of its own.
 */
async function assertOwned(client: Queryable, schema: string, cause: unknown): Promise<void> {
  const { rows } = await client.query(
    `select pg_get_userbyid(nspowner) as owner,
       pg_get_userbyid(nspowner) in (current_user, '${owner}') as ours
     from pg_namespace where nspname = $1`,
    [schema],
  );
  if (rows.length === 0) throw cause;
  if (!rows[0]?.ours)
    throw new WritError('schema_taken', `${schema} of ${rows[0]?.owner}`, { cause });
}

/** Everybody loses everything, then each role gets what the files say. */
async function grant(client: Queryable, release: Release): Promise<void> {
  const { rows } = await client.query('select rolname from pg_roles where rolname = any ($1)', [
    [...roles],
  ]);
  const present = rows.map((row) => String(row.rolname));
  const statements = [
    ...['public', ...present].flatMap((role) => [
      `revoke all on schema writ, writ_data from ${role}`,
      `revoke all on all functions in schema writ, writ_data from ${role}`,
      `revoke all on all tables in schema writ, writ_data from ${role}`,
    ]),
    ...present.map((role) => `grant usage on schema writ to ${role}`),
  ];
  for (const object of release.objects) {
    const target =
      object.type === 'view' ? `select on ${object.name}` : `execute on function ${object.name}`;
    for (const role of object.roles.filter((r) => present.includes(r)))
      statements.push(`grant ${target} to ${role}`);
  }
  statements.push(...present.map((role) => `grant execute on function writ.now to ${role}`));
  await client.query(statements.join(';\n'));
}
