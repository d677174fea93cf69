/** Checks of the installation: version, pending migrations, roles, owner. */
import { planMigration } from '../../database/migrate.js';
import { owner, roles } from '../../database/roles.js';
import { remedyOf } from '../../errors/advice/codes.js';
import { fromDatabase, WritError } from '../../errors/index.js';
import type { Session } from '../connection.js';
import { plural } from '../output.js';
import type { Checks, Finding } from './finding.js';

async function schema(db: Session): Promise<Finding[]> {
  try {
    const plan = await planMigration(db.client);
    if (plan.from === 0) {
      const missing = new WritError('schema_missing');
      return [
        { check: 'schema', level: 'error', says: missing.message, remedy: remedyOf(missing) },
      ];
    }
    if (plan.migrations.length > 0) {
      return [
        {
          check: 'schema',
          level: 'error',
          says: `Version ${plan.from}; this package brings version ${plan.to}`,
          remedy: 'Run `writ migrate`; `writ migrate --plan` shows what it would do.',
        },
      ];
    }
    if (plan.objects.length > 0) {
      const names = plan.objects.slice(0, 5).map((object) => object.name);
      return [
        {
          check: 'schema',
          level: 'warning',
          says: `Version ${plan.from}; ${plural(plan.objects.length, 'gate or view', 'gates and views')} of another version of the package: ${names.join(', ')}${plan.objects.length > 5 ? ', …' : ''}`,
          remedy: 'Run `writ migrate`.',
        },
      ];
    }
    return [{ check: 'schema', level: 'ok', says: `Version ${plan.from}, nothing pending` }];
  } catch (thrown) {
    const error = fromDatabase(thrown);
    if (!(error instanceof WritError)) throw error;
    if (error.code === 'permission_denied') {
      return [
        {
          check: 'schema',
          level: 'ok',
          says: 'Installed; this user may not see its version, only the one that migrates may',
        },
      ];
    }
    return [{ check: 'schema', level: 'error', says: error.message, remedy: remedyOf(error) }];
  }
}

async function roleCheck(db: Session): Promise<Finding[]> {
  const rows = await db.rows<{ rolname: string }>(
    'select rolname from pg_roles where rolname = any ($1)',
    [[owner, ...roles]],
  );
  const missing = [owner, ...roles].filter((role) => !rows.some((row) => row.rolname === role));
  if (missing.length === 0)
    return [{ check: 'roles', level: 'ok', says: [owner, ...roles].join(', ') }];
  return [
    {
      check: 'roles',
      level: 'warning',
      says: `Missing: ${missing.join(', ')}`,
      means: 'Only the user that installed Writ can use it; rights cannot be given by role.',
      remedy: `Let an administrator run: ${missing.map((role) => `create role ${role} nologin;`).join(' ')} Then \`writ migrate\`.`,
    },
  ];
}

async function ownerCheck(db: Session): Promise<Finding[]> {
  const rows = await db.rows<{ name: string; owner: string }>(
    `select n.nspname || '.' || o.name as name, pg_get_userbyid(o.owner) as owner
     from pg_namespace n join (
       select relnamespace, relname::text, relowner from pg_class where relkind in ('r', 'p', 'v', 'S')
       union all select pronamespace, proname::text, proowner from pg_proc
     ) o(namespace, name, owner) on o.namespace = n.oid
     where n.nspname in ('writ', 'writ_data') and pg_get_userbyid(o.owner) <> $1
     order by 1`,
    [owner],
  );
  const [installed] = await db.rows<{ yes: boolean }>(
    `select exists (select from pg_namespace where nspname = 'writ') as yes`,
  );
  if (!installed?.yes) return [];
  if (rows.length === 0)
    return [
      {
        check: 'owner',
        level: 'ok',
        says: `Everything belongs to ${owner}, which nobody logs in as`,
      },
    ];
  const owners = [...new Set(rows.map((row) => row.owner))];
  return [
    {
      check: 'owner',
      level: 'warning',
      says: `${plural(rows.length, 'object')} belong to ${owners.join(', ')}, not to ${owner}: ${rows
        .slice(0, 3)
        .map((row) => row.name)
        .join(', ')}${rows.length > 3 ? ', …' : ''}`,
      means: 'Gates act with the rights of their owner, so they can do whatever that user can.',
      remedy: `Let an administrator create ${owner}, grant it to the installer, and reassign the objects.`,
    },
  ];
}

export const schemaChecks: Checks = { schema, roles: roleCheck, owner: ownerCheck };
