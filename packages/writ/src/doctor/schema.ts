/** Checks of the installation: version, pending migrations, roles, owner. */
import { readRows } from '../database/gate.js';
import { planMigration } from '../database/migrate.js';
import { creating, owner, roles } from '../database/roles.js';
import { fromDatabase, WritError } from '../errors/index.js';
import { plural } from '../errors/words.js';
import { type Checks, type Finding, type Patient, well } from './finding.js';

const some = (names: readonly string[], most: number): string =>
  `${names.slice(0, most).join(', ')}${names.length > most ? ', …' : ''}`;

async function schema({ db }: Patient): Promise<Finding[]> {
  const check = 'schema';
  try {
    const { from, to, migrations, objects } = await planMigration(db);
    if (from === 0) return [unfit(new WritError('schema_missing'))];
    if (migrations.length > 0) {
      const says = `Version ${from}; this package brings version ${to}`;
      return [{ check, level: 'error', code: 'schema_behind', facts: { from, to }, says }];
    }
    if (objects.length > 0) {
      const names = objects.map(({ name }) => name);
      const many = plural(names.length, 'gate or view', 'gates and views');
      const says = `Version ${from}; ${many} of another version of the package: ${some(names, 5)}`;
      const facts = { objects: names };
      return [{ check, level: 'warning', code: 'objects_differ', facts, says }];
    }
    return [well(check, `Version ${from}, nothing pending`, { version: from })];
  } catch (thrown) {
    const error = fromDatabase(thrown);
    if (!(error instanceof WritError)) throw error;
    if (error.code !== 'permission_denied') return [unfit(error)];
    const says = 'Installed; this user may not see its version, only the one that migrates may';
    return [well(check, says)];
  }
}

const unfit = ({ code, message }: WritError): Finding => ({
  check: 'schema',
  level: 'error',
  code: 'schema_unfit',
  facts: { error: code },
  says: message,
});

async function roleCheck({ db }: Patient): Promise<Finding[]> {
  const ours = [owner, ...roles];
  const rows = await readRows<{ rolname: string }>(
    db,
    'select rolname from pg_roles where rolname = any ($1)',
    [ours],
  );
  const missing = ours.filter((role) => !rows.some((row) => row.rolname === role));
  if (missing.length === 0) return [well('roles', ours.join(', '))];
  return [
    {
      check: 'roles',
      level: 'warning',
      code: 'roles_missing',
      facts: { roles: missing, statement: creating(missing) },
      says: `Missing: ${missing.join(', ')}`,
      means: 'Only the user that installed Writ can use it; rights cannot be given by role.',
    },
  ];
}

async function ownerCheck({ db }: Patient): Promise<Finding[]> {
  const rows = await readRows<{ name: string; owner: string }>(
    db,
    `select n.nspname || '.' || o.name as name, pg_get_userbyid(o.owner) as owner
     from pg_namespace n
     join (
       select relnamespace, relname::text, relowner
       from pg_class
       where relkind in ('r', 'p', 'v', 'S')
       union all
       select pronamespace, proname::text, proowner from pg_proc
     ) o(namespace, name, owner) on o.namespace = n.oid
     where n.nspname in ('writ', 'writ_data') and pg_get_userbyid(o.owner) <> $1
     order by 1`,
    [owner],
  );
  const [installed] = await readRows<{ yes: boolean }>(
    db,
    `select exists (select from pg_namespace where nspname = 'writ') as yes`,
  );
  if (!installed?.yes) return [];
  if (rows.length === 0)
    return [well('owner', `Everything belongs to ${owner}, which nobody logs in as`)];
  const owners = [...new Set(rows.map((row) => row.owner))];
  const names = rows.map(({ name }) => name);
  const objects = plural(names.length, 'object');
  return [
    {
      check: 'owner',
      level: 'warning',
      code: 'owner_differs',
      facts: { owner, owners, objects: names.length },
      says: `${objects} belong to ${owners.join(', ')}, not to ${owner}: ${some(names, 3)}`,
      means: 'Gates act with the rights of their owner, so they can do whatever that user can.',
    },
  ];
}

export const schemaChecks: Checks = { schema, roles: roleCheck, owner: ownerCheck };
