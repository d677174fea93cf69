/** `writ schedules put`: defines a schedule, or replaces its definition. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { JobKind } from '../../../queue/job.js';
import { type CatchUp, catchUps } from '../../../schedules/due.js';
import { contextOf, wholeNumber } from '../../command.js';
import { wallTime } from './list.js';
import { type Options, schedulesOf, tenantOf } from './session.js';

interface PutOptions extends Options {
  readonly cron: string;
  readonly kind: string;
  readonly timeZone: string;
  readonly catchUp: CatchUp;
  readonly input?: { readonly value: unknown };
  readonly priority?: number;
  readonly attempts?: number;
}

export function addPut(schedules: Command): void {
  schedules
    .command('put')
    .description('define a schedule, or replace its definition')
    .argument('<name>')
    .requiredOption(
      '--cron <expression>',
      'five fields, such as "30 2 * * MON-FRI", or @hourly, @daily, @weekly, @monthly, @yearly',
    )
    .requiredOption('--kind <kind>', 'the kind of job that each tick enqueues')
    .option('--time-zone <zone>', 'an IANA name, such as Europe/Berlin', 'UTC')
    .addOption(
      new Option('--catch-up <rule>', 'which ticks fire late that no worker was there for')
        .choices(catchUps)
        .default('last'),
    )
    .option('--input <json>', 'input of the jobs', asJson)
    .option('--priority <n>', 'priority of the jobs; higher first', priority)
    .option('--attempts <n>', 'how often a job may be tried in all', wholeNumber(1, 32_767))
    .option('--tenant <tenant>', 'whose schedule it is; otherwise the default tenant')
    .option('--actor <name>', 'who defines it, for the record; otherwise the system user')
    .action(async (name: string, options: PutOptions, command: Command) => {
      const { output, session } = contextOf(command);
      const { cron, timeZone, catchUp, input, priority, attempts } = options;
      await session(async (db) => {
        const kind = new JobKind<unknown>(options.kind, undefined, {});
        const { changed, nextTick } = await schedulesOf(db, options).put(name, kind, {
          cron,
          timeZone,
          catchUp,
          input: input?.value,
          ...(priority === undefined ? {} : { priority }),
          ...(attempts === undefined ? {} : { attempts }),
          ...tenantOf(options),
        });
        if (output.json) output.data({ name, changed, nextTick });
        else
          output.line(
            `${changed ? 'Defined' : 'Unchanged:'} ${name}, next at ${wallTime(nextTick, timeZone)} ${timeZone}.`,
          );
      });
    });
}

/** In an object, so that an input of null is one. */
function asJson(text: string): { value: unknown } {
  try {
    return { value: JSON.parse(text) };
  } catch {
    throw new InvalidArgumentError('It is JSON, such as \'{"report":"daily"}\'.');
  }
}

function priority(text: string): number {
  const value = Number(text);
  if (/^-?\d+$/.test(text) && value >= -32_768 && value <= 32_767) return value;
  throw new InvalidArgumentError('It is a whole number from -32768 to 32767.');
}
