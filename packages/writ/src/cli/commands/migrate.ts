/** `writ migrate`: installs or upgrades the schema, or shows what that would do. */
import type { Command } from 'commander';
import { describeTarget } from '../../database/address.js';
import type { MigrationPlan } from '../../database/migrate.js';
import { creating } from '../../database/roles.js';
import { fromDatabase, WritError } from '../../errors/index.js';
import type { Writ } from '../../writ.js';
import { connectionString } from '../connection.js';
import { exitCodes, Failure } from '../failure.js';
import { type Output, plural, wrap } from '../output.js';
import { outputOf } from '../shapes.js';
import { withWrit } from '../writ.js';

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
      const output = outputOf(command);
      const globals = command.optsWithGlobals<{ databaseUrl?: string }>();
      const target = describeTarget(connectionString(globals.databaseUrl));
      await withWrit(
        globals,
        (writ) =>
          options.plan ? showPlan(writ, target, output) : apply(writ, target, output, options),
        { connect: { checkSchema: false } },
      );
    });
}

async function showPlan(writ: Writ, target: string, output: Output): Promise<void> {
  const plan = await writ.migrationPlan().catch(refused);
  if (output.json) {
    output.data(summary(plan));
    return;
  }
  output.line(`Plan for ${target}: ${versions(plan)}`);
  if (isEmpty(plan)) {
    output.line('Nothing to do.');
    sayMissing(output, plan, true);
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
  sayMissing(output, plan, false);
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

async function apply(
  writ: Writ,
  target: string,
  output: Output,
  { enable, dryRun }: Options,
): Promise<void> {
  const say = (step: string) => output.line(`${output.style('green', dryRun ? '○' : '✓')} ${step}`);
  if (!output.json) output.line(`${dryRun ? 'Dry run on' : 'Migrating'} ${target}`);
  const plan = await writ
    .migrate({
      enable: enable === true,
      dryRun: dryRun === true,
      ...(output.json ? {} : { onProgress: say }),
    })
    .catch(refused);
  const enabled = dryRun
    ? undefined
    : (await writ.settings.get('queue.job_substrate.enabled')).value === true;
  if (output.json) {
    output.data({ ...summary(plan), dryRun: dryRun === true, enabled });
    return;
  }
  const done = isEmpty(plan)
    ? 'Nothing to do'
    : `${plural(plan.migrations.length, 'migration')}, ${plural(plan.objects.length, 'object')}, ${plural(plan.roles.length, 'role')}`;
  output.line(`${done}: ${versions(plan)}${dryRun ? '; rolled back, nothing was changed.' : '.'}`);
  sayMissing(output, plan, dryRun !== true);
  if (enabled === false)
    output.line('The queue is switched off; `writ migrate --enable` switches it on.');
  if (enabled === true && enable) output.line('The queue is switched on.');
}

/** What a user without CREATEROLE gets, and how an administrator completes it. */
function sayMissing(output: Output, { user, missingRoles }: MigrationPlan, done: boolean): void {
  if (missingRoles.length === 0) return;
  const left = `${plural(missingRoles.length, 'role')} (${missingRoles.join(', ')})`;
  const creates = creating(missingRoles);
  output.note(
    done
      ? `Not created: ${left}, because ${user} may not create roles. The schema is there; only ${user} and superusers can use what is granted to these roles.`
      : `${user} may not create roles: the migration leaves out ${left}. Only ${user} and superusers could then use what is granted to these roles.`,
    done
      ? `To complete it, let an administrator run: ${creates} Then run \`writ migrate\` again, which grants them their rights.`
      : `To have them, let an administrator run: ${creates}`,
  );
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
