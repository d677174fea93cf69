/**
 * `writ events tail`: what is recorded, as it is recorded, a line per event. The position from which to go on is known from the beginning, so that whoever stops it, even before anything
 * has happened, misses nothing by going on there.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { everythingOfRuns } from '../../../outbox/follow.js';
import { contextOf, repeated } from '../../command.js';
import { listenUrl, type Session } from '../../connection.js';
import { wrongUsage } from '../../failure.js';
import { lineOf } from '../../outbox/words.js';
import { plural } from '../../output.js';
import { interruption } from '../../signals.js';

interface Options {
  readonly type?: readonly string[];
  readonly tenant?: string;
  readonly after?: string;
  readonly untilNow?: boolean;
  readonly listenUrl?: string;
}

function position(text: string): string {
  if (text === 'beginning' || /^\d{1,20}\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text))
    return text;
  throw new InvalidArgumentError(
    'It is `beginning`, or a position as this command gives them: a number, a / and a UUID.',
  );
}

export function addTail(events: Command): void {
  events
    .command('tail')
    .description(
      'events as they are recorded, a line each; Ctrl-C ends it, and says from where to go on',
    )
    .option(
      '--type <type>',
      `types of events; one that ends with * is the beginning of types; may be repeated; otherwise ${everythingOfRuns.join(' and ')}`,
      repeated,
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
    )
    .action(async (options: Options, command: Command) => {
      const { output, session, connectionString } = contextOf(command);
      if (options.untilNow && options.after === undefined)
        throw wrongUsage(
          'From now until now nothing happens.',
          'Add --after: a position, or `beginning`.',
        );
      let last = await session(async (db) => options.after ?? (await positionOfNow(db)));
      const { first, release } = interruption();
      const stop = new AbortController();
      void first.then(() => stop.abort());
      const { Writ } = await import('../../../writ.js'); // whole, which the other commands of this group have no use for
      const writ = await Writ.connect({
        connectionString: connectionString(),
        max: 1,
        ...(options.listenUrl !== undefined && { listenConnectionString: options.listenUrl }),
      });
      let seen = 0;
      let away = false;
      const onError = () => {
        if (!away) output.note('The database cannot be reached; going on when it can.');
        away = true;
      };
      try {
        const { type: types, tenant, untilNow = false } = options;
        const following = {
          ...(types && { types }),
          ...(tenant !== undefined && { tenant }),
          after: last,
          untilNow,
          signal: stop.signal,
          onError,
        };
        for await (const { event, position: at } of writ.events(following)) {
          seen += 1;
          last = at;
          away = false;
          if (output.json) output.data({ event, position: at }, { line: true });
          else output.line(lineOf(event));
        }
      } finally {
        await writ.close();
        release();
      }
      if (output.json) output.data({ position: last }, { line: true });
      else output.note(`${plural(seen, 'event')}. Go on with --after ${last}`);
    });
}

async function positionOfNow(db: Session): Promise<string> {
  const { xid, batch_id } = await db.gate<{ xid: string; batch_id: string }>(
    `fn_outbox_read(null, null, '{*}')`,
  );
  return `${xid}/${batch_id}`;
}
