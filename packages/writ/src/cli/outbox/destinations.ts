/** What the commands of the outbox share: the destinations of their database, one of them by its name, and what is said of them. */
import { type Command, InvalidArgumentError } from 'commander';
import { WritRefusal } from '../../errors/index.js';
import { Destinations, type ListedDestination } from '../../outbox/destinations.js';
import { answersYes } from '../confirm.js';
import { actor, inTurn, type Session } from '../connection.js';
import { type Output, span } from '../output.js';

export const destinationsOf = (db: Session, by?: string): Destinations =>
  new Destinations(inTurn(db), actor(by));

export async function destinationOf(db: Session, name: string): Promise<ListedDestination> {
  const found = (await destinationsOf(db).list()).find((one) => one.name === name);
  if (!found) throw new WritRefusal('destination_not_found', name);
  return found;
}

/** Names of destinations and of secrets: both become parts of other names, of variables and of files. */
export function nameOf(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/.test(text)) return text;
  throw new InvalidArgumentError(
    'A name has one to a hundred letters, digits and _ . - and begins with a letter or digit.',
  );
}

export const withName = (command: Command): Command =>
  command.argument('<name>', 'name of the destination', nameOf);

export const withActor = (command: Command): Command =>
  command.option('--actor <name>', 'who asks, for the record; otherwise the system user');

/** How far it is behind what has happened, if it is. */
export const lagOf = ({ behindSince }: ListedDestination, nowMs: number): string | undefined =>
  behindSince === undefined ? undefined : span(Math.max(0, nowMs - Date.parse(behindSince)));

export const addressOf = ({ config }: ListedDestination): string =>
  String(config.url ?? config.servers ?? '');

/** Asks, where somebody can answer. */
export const confirmed = async (output: Output): Promise<boolean> =>
  output.live && process.stdin.isTTY && answersYes('Do it?', process.stdin, process.stdout);
