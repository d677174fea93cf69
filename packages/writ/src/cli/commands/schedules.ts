/** `writ schedules`: jobs that recur by the clock. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CatchUp, catchUps } from '../../schedules/due.js';
import type { FiredTick, Schedule } from '../../schedules/schedules.js';
import { priority, wholeNumber, withActor } from '../command.js';
import { ago, span } from '../output.js';
import { act, list } from '../shapes.js';

interface Given extends Record<string, unknown> {
  readonly tenant?: string;
}

interface PutGiven extends Given {
  readonly cron: string;
  readonly kind: string;
  readonly timeZone: string;
  readonly catchUp: CatchUp;
  readonly input?: { readonly value: unknown };
  readonly priority?: number;
  readonly attempts?: number;
}

export function addSchedules(program: Command): void {
  const schedules = program
    .command('schedules')
    .description('jobs that recur by the clock: list, define, pause and run them');
  addList(schedules);
  addTicks(schedules);
  addPut(schedules);
  act<{ changed: boolean }, Given>(
    one(schedules, 'pause', 'stop a schedule from firing; jobs that it has enqueued go on'),
    {
      do: (writ, { args: [name = ''], options }) => writ.schedules.pause(name, options),
      data: ({ changed }, { args: [name] }) => ({ name, changed }),
      says: ({ changed }, { args: [name] }) =>
        changed ? `Paused ${name}.` : `${name} was paused already.`,
    },
  );
  act<{ changed: boolean }, Given>(
    one(schedules, 'resume', 'let a paused schedule go on; missed ticks follow its catch-up rule'),
    {
      do: (writ, { args: [name = ''], options }) => writ.schedules.resume(name, options),
      data: ({ changed }, { args: [name] }) => ({ name, changed }),
      says: ({ changed }, { args: [name] }) =>
        changed ? `Resumed ${name}.` : `${name} was not paused.`,
    },
  );
  act<{ jobId: string }, Given>(
    one(schedules, 'run', 'enqueue its job at once, paused or not; the next tick comes as planned'),
    {
      do: (writ, { args: [name = ''], options }) => writ.schedules.runNow(name, options),
      data: ({ jobId }, { args: [name] }) => ({ name, jobId }),
      says: ({ jobId }) => `Enqueued ${jobId}. \`writ queue show ${jobId}\` tells how it goes.`,
    },
  );
  act<void, Given>(one(schedules, 'remove', 'end a schedule; jobs that it has enqueued stay'), {
    do: (writ, { args: [name = ''], options }) => writ.schedules.remove(name, options),
    data: (_, { args: [name] }) => ({ name, removed: true }),
    says: (_, { args: [name] }) => `Removed ${name}.`,
  });
}

const withOwner = (command: Command) =>
  command
    .argument('<name>')
    .option('--tenant <tenant>', 'whose schedule it is; otherwise the default tenant');

const one = (schedules: Command, verb: string, description: string): Command =>
  withActor(withOwner(schedules.command(verb).description(description)));

function addList(schedules: Command): void {
  list<Schedule, Given>(
    schedules
      .command('list')
      .description('every schedule, with its next and last tick in its own time zone')
      .option('--tenant <tenant>', 'only those of this tenant'),
    {
      limit: 1_000,
      read: (writ, page, { options }) => writ.schedules.list({ ...options, ...page }),
      none: 'No schedules. `writ schedules put NAME --cron … --kind …` defines one.',
      columns: ({ output }) => [
        { title: 'SCHEDULE', of: ({ name }) => name },
        {
          title: 'TENANT',
          of: ({ tenant }) => tenant,
          when: (all) => all.some(({ tenant }) => tenant !== 'default'),
        },
        { title: 'CRON', of: ({ cron }) => cron },
        { title: 'ZONE', of: ({ timeZone }) => timeZone },
        { title: 'KIND', of: ({ kind }) => kind },
        { title: 'NEXT TICK', of: ({ nextTick, timeZone }) => wallTime(nextTick, timeZone) },
        {
          title: 'IN',
          of: ({ nextTick, pausedAt }, now) => {
            const ms = Date.parse(nextTick) - now.getTime();
            return pausedAt ? null : ms <= 0 ? 'due' : span(ms);
          },
        },
        {
          title: 'LAST TICK',
          of: ({ lastTick, timeZone }) => lastTick && wallTime(lastTick, timeZone),
        },
        {
          title: 'PAUSED',
          of: ({ pausedAt, pausedBy }, now) =>
            pausedAt && output.style('yellow', `${ago(new Date(pausedAt), now)} by ${pausedBy}`),
        },
      ],
    },
  );
}

function addTicks(schedules: Command): void {
  list<FiredTick, Given>(
    withOwner(
      schedules.command('ticks').description('ticks of a schedule that have fired, newest first'),
    ),
    {
      read: (writ, page, { args: [name = ''], options }) =>
        writ.schedules.ticks(name, { ...options, ...page }),
      none: 'None has fired.',
      columns: [
        { title: 'TICK', of: ({ tick }) => new Date(tick).toISOString() },
        { title: 'FIRED', of: ({ firedAt }, now) => ago(new Date(firedAt), now) },
        { title: 'BY', of: ({ firedBy }) => firedBy },
        { title: 'JOB', of: ({ jobId }) => jobId },
      ],
    },
  );
}

function addPut(schedules: Command): void {
  act<{ changed: boolean; nextTick: string }, PutGiven>(
    one(schedules, 'put', 'define a schedule, or replace its definition')
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
      .option('--attempts <n>', 'how often a job may be tried in all', wholeNumber(1, 32_767)),
    {
      do: (writ, { args: [name = ''], options: { kind, input, ...rest } }) =>
        writ.schedules.put(name, kind, { ...rest, input: input?.value }),
      data: (put, { args: [name] }) => ({ name, ...put }),
      says: ({ changed, nextTick }, { args: [name], options: { timeZone } }) =>
        `${changed ? 'Defined' : 'Unchanged:'} ${name}, next at ${wallTime(nextTick, timeZone)} ${timeZone}.`,
    },
  );
}

/** As a clock on the wall there shows it; as UTC where this Node does not know the zone. */
function wallTime(at: string, timeZone: string): string {
  // Sweden writes dates as ISO 8601 does.
  try {
    return new Intl.DateTimeFormat('sv-SE', {
      timeZone,
      dateStyle: 'short',
      timeStyle: 'short',
    }).format(new Date(at));
  } catch {
    return at;
  }
}

/** In an object, so that an input of null is one. */
function asJson(text: string): { value: unknown } {
  try {
    return { value: JSON.parse(text) };
  } catch {
    throw new InvalidArgumentError('It is JSON, such as \'{"report":"daily"}\'.');
  }
}
