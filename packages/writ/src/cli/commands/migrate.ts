/** `writ migrate`: installs or upgrades the schema, or shows what that would do. */
import type { Command } from 'commander';
import { type MigrationPlan, migrate, planMigration } from '../../database/migrate.js';
import { fromDatabase, WritError } from '../../errors/index.js';
import { contextOf } from '../command.js';
import type { Session } from '../connection.js';
import { exitCodes, Failure } from '../failure.js';
import { type Output, plural, wrap } from '../output.js';

interface Options {
  readonly enable?: boolean;
  readonly plan?: boolean;
  readonly dryRun?: boolean;
}

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('install or upgrade Writ in the database')
    .option(
      '--enable',
      'switch the queue on afterwards; a bare migration leaves it as it is, at first off',
    )
    .option('--plan', 'show what would be applied, and do nothing')
    .option('--dry-run', 'apply everything, then roll it back')
    .action(async (options: Options, command: Command) => {
      const { output, session } = contextOf(command);
      await session((db) => (options.plan ? showPlan(db, output) : apply(db, output, options)), {
        installed: false,
      });
    });
}

async function showPlan(db: Session, output: Output): Promise<void> {
  const plan = await planMigration(db.client).catch(refused);
  if (output.json) {
    output.data(summary(plan));
    return;
  }
  output.line(`Plan for ${db.target}: ${versions(plan)}`);
  if (isEmpty(plan)) {
    output.line('Nothing to do.');
    await sayMissing(output, db, plan, true);
    return;
  }
  list(output, 'roles', plan.roles);
  list(
    output,
    'migrations',
    plan.migrations.map(
      (migration) => `${String(migration.version).padStart(4, '0')}_${migration.name}`,
    ),
  );
  for (const type of ['gate', 'view', 'internal', 'guard', 'data'] as const) {
    const names = plan.objects
      .filter((object) => object.type === type)
      .map((object) => object.name);
    list(
      output,
      type === 'internal' ? 'internal functions' : type === 'data' ? 'vocabulary' : `${type}s`,
      names,
    );
  }
  list(output, 'removed', plan.removed);
  output.line();
  await sayMissing(output, db, plan, false);
  output.line(
    'Nothing was changed. `writ migrate` applies it; `writ migrate --dry-run` tries it and rolls back.',
  );
}

function list(output: Output, title: string, names: readonly string[]): void {
  if (names.length === 0) return;
  output.line();
  output.heading(`${title} (${names.length})`);
  for (const line of wrap(names.join(', '), Math.min(output.width, 100) - 2))
    output.line(`  ${line}`);
}

async function apply(db: Session, output: Output, { enable, dryRun }: Options): Promise<void> {
  const say = (step: string) => output.line(`${output.style('green', dryRun ? '○' : '✓')} ${step}`);
  if (!output.json) output.line(`${dryRun ? 'Dry run on' : 'Migrating'} ${db.target}`);
  const plan = await migrate(db.client, {
    enable: enable === true,
    dryRun: dryRun === true,
    ...(output.json ? {} : { onProgress: say }),
  }).catch(refused);
  const enabled = dryRun ? undefined : await isEnabled(db);
  if (output.json) {
    output.data({ ...summary(plan), dryRun: dryRun === true, enabled });
    return;
  }
  const done = isEmpty(plan)
    ? 'Nothing to do'
    : `${plural(plan.migrations.length, 'migration')}, ${plural(plan.objects.length, 'object')}, ${plural(plan.roles.length, 'role')}`;
  output.line(`${done}: ${versions(plan)}${dryRun ? '; rolled back, nothing was changed.' : '.'}`);
  await sayMissing(output, db, plan, dryRun !== true);
  if (enabled === false)
    output.line('The queue is switched off; `writ migrate --enable` switches it on.');
  if (enabled === true && enable) output.line('The queue is switched on.');
}

/** What a user without CREATEROLE gets, and how an administrator completes it. */
async function sayMissing(
  output: Output,
  db: Session,
  { missingRoles }: MigrationPlan,
  done: boolean,
): Promise<void> {
  if (missingRoles.length === 0) return;
  const [row] = await db.rows<{ name: string }>('select current_user::text as name');
  const user = row?.name ?? 'this user';
  const left = `${plural(missingRoles.length, 'role')} (${missingRoles.join(', ')})`;
  const creates = missingRoles.map((role) => `create role ${role} nologin;`).join(' ');
  output.note(
    done
      ? `Not created: ${left}, because ${user} may not create roles. The schema is there; only ${user} and superusers can use what is granted to these roles.`
      : `${user} may not create roles: the migration leaves out ${left}. Only ${user} and superusers could then use what is granted to these roles.`,
    done
      ? `To complete it, let an administrator run: ${creates} Then run \`writ migrate\` again, which grants them their rights.`
      : `To have them, let an administrator run: ${creates}`,
  );
}

async function isEnabled(db: Session): Promise<boolean> {
  const [row] = await db.rows<{ value: boolean }>(
    `select value from writ.dot_config where key = 'queue.job_substrate.enabled'`,
  );
  return row?.value === true;
}

const isEmpty = (plan: MigrationPlan) =>
  plan.migrations.length + plan.objects.length + plan.removed.length + plan.roles.length === 0;

const versions = (plan: MigrationPlan) =>
  plan.from === plan.to ? `schema version ${plan.to}` : `schema version ${plan.from} → ${plan.to}`;

const summary = ({
  from,
  to,
  roles,
  missingRoles,
  migrations,
  objects,
  removed,
}: MigrationPlan) => ({
  from,
  to,
  roles,
  missingRoles,
  migrations: migrations.map(({ version, name, breaking }) => ({ version, name, breaking })),
  objects: objects.map(({ type, name }) => ({ type, name })),
  removed,
});

/** The usual advice to grant a role does not help somebody who installs. */
function refused(thrown: unknown): never {
  const error = fromDatabase(thrown);
  if (!(error instanceof WritError) || error.code !== 'permission_denied') throw error;
  const remedy = 'Migrate as the owner of the database, or as the user that installed Writ.';
  throw new Failure(exitCodes.failed, 'permission_denied', error.message, remedy, { cause: error });
}
