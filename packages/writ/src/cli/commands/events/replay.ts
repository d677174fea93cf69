/** `writ events replay`: tells a destination again: dead letters, or everything since a time. What that is, is shown first. */
import type { Command } from 'commander';
import type { DeadLetter, ListedDestination } from '../../../outbox/destinations.js';
import { contextOf, type Moment, moment, uuid } from '../../command.js';
import type { Session } from '../../connection.js';
import { exitCodes, Failure, wrongUsage } from '../../failure.js';
import {
  confirmed,
  destinationOf,
  destinationsOf,
  withActor,
  withName,
} from '../../outbox/destinations.js';
import { count, type Output, plural } from '../../output.js';
import { moment as written } from '../../runs/words.js';
import { databaseNow } from '../runs/session.js';
import { showLetters } from './dead-letters.js';

interface Options {
  readonly event?: readonly string[];
  readonly allDead?: boolean;
  readonly since?: Moment;
  readonly yes?: boolean;
  readonly actor?: string;
}

const shown = 20;
/** As many as `deadLetters` gives at once. */
const mostNamed = 1_000;

const eventId = uuid('The id of an event is a UUID; `writ events dead-letters NAME` shows them.');

export function addReplay(events: Command): void {
  withActor(
    withName(
      events
        .command('replay')
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
      )
      .option('--yes', 'do it without asking'),
  ).action(async (name: string, options: Options, command: Command) => {
    const { output, session } = contextOf(command);
    if (
      [options.event, options.allDead, options.since].filter((given) => given !== undefined)
        .length !== 1
    ) {
      throw wrongUsage(
        'Replay takes one of --event, --all-dead and --since.',
        `Write \`writ events replay ${name} --all-dead\`.`,
      );
    }
    await session(async (db) => {
      const found = await destinationOf(db, name);
      if (options.since)
        await since(db, output, found, options.since(await databaseNow(db)), options);
      else await letters(db, output, found, options);
    });
  });
}

async function letters(
  db: Session,
  output: Output,
  { name, state, dead }: ListedDestination,
  options: Options,
): Promise<void> {
  const of = destinationsOf(db, options.actor);
  const { event: ids } = options;
  const open = await of.deadLetters(name, { limit: ids ? mostNamed : shown });
  const chosen = ids ? open.filter(({ eventId: id }) => ids.includes(id)) : open;
  const absent = (ids ?? []).filter((id) => !chosen.some(({ eventId: found }) => found === id));
  // Beyond those that were read, the database knows which of them are dead letters: it replays no others.
  if (absent.length > 0 && dead <= mostNamed) throw notDead(name, absent);
  const total = ids ? ids.length : dead;
  if (total === 0) {
    if (output.json) output.data({ name, replayed: 0 });
    else output.line(`${name} has no dead letter.`);
    return;
  }
  if (!options.yes) {
    if (!output.json) await preview(db, output, chosen, total);
    if (!(await confirmed(output))) return undone(output, { name, wouldReplay: total });
  }
  const { replayed } = await of.replay(name, ids);
  if (output.json) output.data({ name, replayed });
  else
    output.line(
      `${plural(replayed, 'dead letter')} of ${name} ${replayed === 1 ? 'is' : 'are'} told again${afterwards(name, state)}`,
    );
}

async function preview(
  db: Session,
  output: Output,
  chosen: readonly DeadLetter[],
  total: number,
): Promise<void> {
  showLetters(output, chosen.slice(0, shown), await databaseNow(db));
  if (total > shown) output.line(`… and ${count(total - shown)} more`);
  output.line();
}

const notDead = (name: string, ids: readonly string[]) =>
  new Failure(
    exitCodes.failed,
    'dead_letter_not_found',
    `${name} has no dead letter ${ids.join(', ')}.`,
    `\`writ events dead-letters ${name}\` shows those it has; what it has accepted is told again with --since.`,
  );

async function since(
  db: Session,
  output: Output,
  found: ListedDestination,
  at: Date,
  options: Options,
): Promise<void> {
  const { name, types, tenant, state } = found;
  const time = at.toISOString();
  if (!options.yes) {
    const events = await eventsSince(db, at, types);
    const total = events.reduce((sum, { n }) => sum + n, 0);
    if (!output.json) {
      for (const { type, n } of events) output.line(`${count(n).padStart(10)}  ${type}`);
      const of = tenant === undefined ? '' : `, of which those of tenant ${tenant} are its own`;
      output.line(
        `${name} would be told again of ${plural(total, 'event')} since ${written(time)}${of}. They have the ids that they had.`,
      );
    }
    if (!(await confirmed(output)))
      return undone(output, { name, since: time, wouldReplay: total });
  }
  await destinationsOf(db, options.actor).replaySince(name, at);
  if (output.json) output.data({ name, since: time });
  else
    output.line(
      `${name} is told again what has happened since ${written(time)}${afterwards(name, state)}`,
    );
}

/** By the index of the record: ids of its rows begin with their time. */
async function eventsSince(
  db: Session,
  at: Date,
  types: readonly string[],
): Promise<{ type: string; n: number }[]> {
  const floor = `${at.getTime().toString(16).padStart(12, '0')}70008000000000000000`;
  const patterns = types.map((type) => type.replace(/[\\_%]/g, '\\$&').replace(/\*$/, '%'));
  return db.rows(
    `select event_type as type, sum(jobs)::float8 as n from writ.v_queue_flow where batch_id >= $1::uuid and event_type like any ($2::text[]) group by 1 order by 1`,
    [floor, patterns],
  );
}

function undone(output: Output, what: object): void {
  process.exitCode = exitCodes.failed; // what was asked for was not done
  if (output.json) output.data(what);
  else output.line('Nothing was done yet. Add --yes to do it.');
}

const afterwards = (name: string, state: string) =>
  state === 'paused' ? `, when it is resumed: \`writ webhooks resume ${name}\`.` : '.';
