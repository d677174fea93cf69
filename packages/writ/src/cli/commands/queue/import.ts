/** `writ queue import`: brings the waiting jobs of another queue here. Shows what it would do, asks, then does it. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { refusalIn } from '../../../errors/index.js';
import { contextOf, notBlank, wholeNumber } from '../../command.js';
import { answersYes } from '../../confirm.js';
import { actor, checked, type Session, withSession } from '../../connection.js';
import { exitCodes, wrongUsage } from '../../failure.js';
import { type CopyResult, copyJobs } from '../../import/copy.js';
import { type Plan, readPlan, showPlan } from '../../import/plan.js';
import { openSource, type Source, systems } from '../../import/source.js';
import { count, type Output, plural } from '../../output.js';

interface Options {
  readonly from: string;
  readonly schema?: string;
  readonly sourceUrl?: string;
  readonly kindMap?: ReadonlyMap<string, string>;
  readonly tenant?: string;
  readonly dryRun?: boolean;
  readonly limit?: number;
  readonly delete?: boolean;
  readonly yes?: boolean;
  readonly actor?: string;
}

export function addImport(queue: Command): void {
  queue
    .command('import')
    .description(
      'copy the waiting jobs of pg-boss or graphile-worker; a second run copies nothing twice',
    )
    .addOption(
      new Option('--from <system>', 'the queue they are in').choices(systems).makeOptionMandatory(),
    )
    .option('--schema <name>', 'its schema; otherwise pgboss or graphile_worker', notBlank)
    .option('--source-url <url>', 'its database, if it is not the same')
    .option(
      '--kind-map <a=b,…>',
      'jobs named a become jobs of kind b; the others keep their names',
      kindMap,
    )
    .option('--tenant <tenant>', 'the tenant they will belong to', notBlank)
    .option('--limit <n>', 'the first n of them only', wholeNumber(1, 1_000_000_000))
    .option(
      '--delete',
      'delete each job there in the transaction that enqueues it here; only within one database',
    )
    .option('--dry-run', 'show what would be copied, and do nothing')
    .option('--yes', 'do it without asking')
    .option('--actor <name>', 'who imports, for the record; otherwise the system user')
    .action(async (options: Options, command: Command) => {
      const { output, session, connectionString } = contextOf(command);
      const { sourceUrl } = options;
      if (options.delete && sourceUrl !== undefined) {
        throw wrongUsage(
          '--delete works within one database only: two databases have no transaction in common.',
          'Stop the workers of the source, import without --delete, then drop its schema.',
        );
      }
      const url = sourceUrl === undefined ? connectionString() : checked(sourceUrl, '--source-url');
      await session((target) =>
        withSession(
          url,
          (walker) =>
            sourceUrl === undefined
              ? bring({ target, walker, reader: target }, options, output)
              : withSession(url, (reader) => bring({ target, walker, reader }, options, output), {
                  installed: false,
                }),
          { installed: false },
        ),
      );
    });
}

/** Names can hold `=`; kinds cannot. */
function kindMap(
  text: string,
  given: ReadonlyMap<string, string> | undefined,
): ReadonlyMap<string, string> {
  const pairs = text.split(',').map((pair) => {
    const at = pair.lastIndexOf('=');
    if (at < 1 || at === pair.length - 1)
      throw new InvalidArgumentError('Write name=kind, several with commas between them.');
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const;
  });
  return new Map([...(given ?? []), ...pairs]);
}

interface Sessions {
  readonly target: Session;
  readonly walker: Session;
  readonly reader: Session;
}

async function bring(sessions: Sessions, options: Options, output: Output): Promise<void> {
  const source = await openSource(sessions.walker, options.from, options.schema);
  const plan = await readPlan(sessions.walker, source, options.kindMap ?? new Map());
  if (!output.json)
    showPlan(output, plan, {
      system: source.system,
      from: sessions.walker.target,
      to: sessions.target.target,
    });
  if (options.dryRun || plan.jobs === 0) return finish(output, plan, undefined);
  if (!output.json) output.line(whatWillBeDone(plan, options, source));
  if (!options.yes && !(await confirmed(output))) {
    process.exitCode = exitCodes.failed; // what was asked for was not done
    return finish(output, plan, undefined);
  }
  const who = actor(options.actor);
  await registerKinds(sessions.target, [...new Set(plan.copied.map(({ kind }) => kind))], who);
  const total = Math.min(plan.jobs, options.limit ?? plan.jobs);
  const result = await copyJobs({
    ...sessions,
    source,
    kinds: new Map(plan.copied.map(({ name, kind }) => [name, kind])),
    tenant: options.tenant,
    limit: options.limit,
    remove: options.delete === true,
    actor: who,
    onPage: (seen) => {
      if (!output.json) output.note(`${count(seen)} of ${count(Math.max(seen, total))}`);
    },
  });
  if (result.troubles.length > 0) process.exitCode = exitCodes.failed;
  finish(output, plan, result);
}

function whatWillBeDone(plan: Plan, options: Options, source: Source): string {
  const first =
    options.limit !== undefined && options.limit < plan.jobs
      ? `the first ${count(options.limit)} of `
      : '';
  const begin = `This copies ${first}${plural(plan.jobs, 'job')}`;
  if (options.delete)
    return `${begin}, and deletes each from ${source.system} in the transaction that enqueues it.`;
  return `${begin}. They stay in ${source.system} as well: if its workers are not stopped for good, jobs run on both sides.`;
}

/** Asks, where somebody can answer. */
async function confirmed(output: Output): Promise<boolean> {
  return output.live && process.stdin.isTTY && answersYes('Go on?', process.stdin, process.stdout);
}

/** Only kinds that nobody has defined yet: what a definition says of retries and timeouts stays. */
async function registerKinds(db: Session, kinds: readonly string[], who: string): Promise<void> {
  const rows = await db.rows<{ answer: unknown }>(
    `select writ.fn_job_kind_register(k, '{}', $2) as answer from unnest($1::text[]) k
     where not exists (select from writ.job_kind known where known.job_kind = k)`,
    [kinds, who],
  );
  for (const { answer } of rows) {
    const refusal = refusalIn(answer);
    if (refusal) throw refusal;
  }
}

function finish(output: Output, plan: Plan, result: CopyResult | undefined): void {
  if (output.json) {
    output.data({ plan, result: result ?? null });
    return;
  }
  if (!result) {
    if (plan.jobs > 0) output.line('Nothing was copied. Add --yes to copy.');
    return;
  }
  const { copied, already, gone, deleted, troubles } = result;
  for (const { name, id, message } of troubles.slice(0, 20))
    output.note(`${name} ${id}: ${message}`);
  if (troubles.length > 20)
    output.note(`… and ${count(troubles.length - 20)} more; --json lists them all.`);
  const rest = [
    already > 0 ? `${count(already)} had been copied before` : '',
    gone > 0 ? `${count(gone)} were begun or taken away meanwhile` : '',
    troubles.length > 0
      ? `${count(troubles.length)} could not be copied and are where they were`
      : '',
    deleted > 0 ? `${count(deleted)} deleted there` : '',
  ].filter((text) => text !== '');
  output.line(`Copied ${plural(copied, 'job')}${rest.length > 0 ? `; ${rest.join('; ')}` : ''}.`);
}
