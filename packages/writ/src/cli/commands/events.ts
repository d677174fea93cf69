/** `writ events`: what happens, as it happens, and what destinations are told of it. */
import { type Command, InvalidArgumentError } from 'commander';
import type { DeadLetter } from '../../outbox/destinations.js';
import type { Followed, FollowOptions } from '../../outbox/follow.js';
import type { Writ } from '../../writ.js';
import { type Moment, moment, uuid, withActor } from '../command.js';
import { listenUrl } from '../connection.js';
import { exitCodes, Failure, wrongUsage } from '../failure.js';
import { lineOf, withName, withTypes } from '../outbox.js';
import { ago, count, type Output, plural } from '../output.js';
import { moment as written } from '../runs/words.js';
import { act, type Call, type ListedColumn, list, stream } from '../shapes.js';

export function addEvents(program: Command): void {
  const events = program
    .command('events')
    .description('follow events; see the dead letters of destinations, redeliver events');
  addTail(events);
  addRedeliver(events);
  list<DeadLetter>(
    withName(
      events
        .command('dead-letters')
        .description('events that a destination did not accept, the oldest first'),
    ),
    {
      limit: 100,
      read: async (writ, page, { args: [name = ''] }) => {
        await writ.destinations.get(name);
        return writ.destinations.deadLetters(name, page);
      },
      none: ({ args: [name] }) => `${name} has no dead letter.`,
      note: (_, { args: [name] }) =>
        `\`writ events redeliver ${name} --all-dead\` tells them again, in their order.`,
      columns: letterColumns,
    },
  );
}

const letterColumns: ListedColumn<DeadLetter>[] = [
  { title: 'EVENT', of: (one) => one.eventId },
  { title: 'ABOUT', of: (one) => one.stream },
  { title: 'NUMBER', of: (one) => one.runSeq },
  { title: 'DIED', of: (one, now) => ago(new Date(one.deadAt), now) },
  { title: 'TRIES', of: (one) => one.attempts },
  { title: 'ANSWER', of: (one) => one.status },
  { title: 'WHY', of: (one) => one.reason ?? '' },
];

interface TailGiven extends Record<string, unknown> {
  readonly type?: readonly string[];
  readonly tenant?: string;
  readonly after?: string;
  readonly untilNow?: boolean;
}

function position(text: string): string {
  if (text === 'beginning' || /^\d{1,20}\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text))
    return text;
  throw new InvalidArgumentError(
    'It is `beginning`, or a position as this command gives them: a number, a / and a UUID.',
  );
}

/**
 * The position to go on from is known from the beginning. Somebody who stops the command, even
 * before anything has happened, misses nothing by going on there.
 */
function addTail(events: Command): void {
  let last = '';
  let seen = 0;
  let away = false;
  stream<Followed, TailGiven>(
    withTypes(
      events
        .command('tail')
        .description('events as they are recorded, a line each; says where to go on from'),
    )
      .option('--tenant <tenant>', 'only events of this tenant')
      .option(
        '--after <position>',
        'from there on, or from the `beginning` of the record; otherwise from now on',
        position,
      )
      .option(
        '--until-now',
        'end when there is nothing more, instead of waiting for it; with --after',
      )
      .option(
        '--listen-url <url>',
        'an address to listen on: a direct one, when the database’s own leads through a pooler',
        listenUrl,
      ),
    {
      checks: ({ options: { untilNow, after } }) => {
        if (untilNow && after === undefined)
          throw wrongUsage(
            'From now until now nothing happens.',
            'Add --after: a position, or `beginning`.',
          );
      },
      read: (writ, { options: { type, ...options }, signal, output }) => {
        const following: FollowOptions = {
          ...options,
          types: type,
          signal,
          onBegin: (at) => {
            last = at;
          },
          onError: () => {
            if (!away) output.note('The database cannot be reached; going on when it can.');
            away = true;
          },
        };
        return writ.events(following);
      },
      seen: ({ position: at }) => {
        seen += 1;
        last = at;
        away = false;
      },
      line: ({ event }) => lineOf(event),
      end: ({ output }) => {
        if (output.json) output.data({ position: last }, { line: true });
        else output.note(`${plural(seen, 'event')}. Go on with --after ${last}`);
      },
    },
  );
}

interface RedeliverGiven extends Record<string, unknown> {
  readonly event?: readonly string[];
  readonly allDead?: boolean;
  readonly since?: Moment;
}

const shown = 20;
const eventId = uuid('The id of an event is a UUID; `writ events dead-letters NAME` shows them.');

function addRedeliver(events: Command): void {
  act<{ redelivered: number; since?: string }, RedeliverGiven>(
    withActor(
      withName(
        events
          .command('redeliver')
          .description('tell a destination again: dead letters, or everything since a time'),
      )
        .option(
          '--event <id>',
          'this dead letter; may be repeated',
          (text, before: readonly string[] = []) => [...before, eventId(text)],
        )
        .option('--all-dead', 'every dead letter that it has')
        .option(
          '--since <time>',
          'everything that it is to be told since then, accepted or not: a time, or how long ago, such as 2h',
          moment,
        ),
    ),
    {
      checks: ({ args: [name], options: { event, allDead, since } }) => {
        if ([event, allDead, since].filter((given) => given !== undefined).length !== 1)
          throw wrongUsage(
            'Redeliver takes one of --event, --all-dead and --since.',
            `Write \`writ events redeliver ${name} --all-dead\`.`,
          );
      },
      asks: (writ, call) => (call.options.since ? askSince(writ, call) : askLetters(writ, call)),
      do: async (writ, { args: [name = ''], options: { event, since: at } }) => {
        const since = at && (await timeOf(writ, at));
        const { redelivered } = await writ.destinations.redeliver(name, {
          events: event,
          since,
        });
        if (event && redelivered < event.length) {
          const some = redelivered > 0 ? ` among them: ${redelivered} are told again` : '';
          throw notDead(name, event, some);
        }
        return { redelivered, ...(since && { since: since.toISOString() }) };
      },
      data: (done, { args: [name] }) => ({ name, ...done }),
      says: ({ redelivered, since }, { args: [name] }) => {
        if (since !== undefined)
          return `${name} is told again what has happened since ${written(since)}.`;
        if (redelivered === 0) return `${name} has no dead letter.`;
        return `${plural(redelivered, 'dead letter')} of ${name} ${redelivered === 1 ? 'is' : 'are'} told again.`;
      },
    },
  );
}

const timeOf = async (writ: Writ, at: Moment) => at((await writ.now()).getTime());

const paused = (name: string, state: string) =>
  state === 'paused' ? ` It is paused: \`writ webhooks resume ${name}\` lets it be told.` : '';

/** Dead letters that were named and are none are found before anything is asked. */
async function askLetters(
  writ: Writ,
  { args: [name = ''], options: { event }, output }: Call<RedeliverGiven>,
): Promise<string | undefined> {
  const { dead, state } = await writ.destinations.get(name);
  const { items } = await writ.destinations.deadLetters(name, { limit: 1_000 });
  const chosen = event ? items.filter(({ eventId: id }) => event.includes(id)) : items;
  const absent = (event ?? []).filter((id) => !items.some(({ eventId: found }) => found === id));
  if (absent.length > 0 && dead <= items.length) throw notDead(name, absent);
  const total = event ? event.length : dead;
  if (total === 0) return undefined;
  if (!output.json) printLetters(chosen.slice(0, shown), total, await writ.now(), output);
  return `Tell ${name} again of ${total === 1 ? 'this dead letter' : `these ${count(total)} dead letters`}?${paused(name, state)}`;
}

function printLetters(
  letters: readonly DeadLetter[],
  total: number,
  now: Date,
  output: Output,
): void {
  output.table(
    letterColumns,
    letters.map((letter) => letterColumns.map(({ of }) => of(letter, now))),
  );
  if (total > letters.length) output.line(`… and ${count(total - letters.length)} more`);
}

const notDead = (name: string, ids: readonly string[], some = '') =>
  new Failure(
    exitCodes.failed,
    'dead_letter_not_found',
    `${name} has no dead letter ${ids.join(', ')}${some}.`,
    `\`writ events dead-letters ${name}\` shows those it has; what it has accepted is told again with --since.`,
  );

async function askSince(
  writ: Writ,
  { args: [name = ''], options: { since }, output }: Call<RedeliverGiven>,
): Promise<string> {
  const { tenant, state } = await writ.destinations.get(name);
  const at = await timeOf(writ, since as Moment);
  const counts = await writ.destinations.recorded(name, at);
  if (!output.json)
    for (const { type, events } of counts) output.line(`${count(events).padStart(10)}  ${type}`);
  const total = counts.reduce((sum, { events }) => sum + events, 0);
  const of = tenant === null ? '' : `, of which those of tenant ${tenant} are its own`;
  return `Tell ${name} again of ${plural(total, 'event')} since ${written(at.toISOString())}${of}, with the ids that they had?${paused(name, state)}`;
}
