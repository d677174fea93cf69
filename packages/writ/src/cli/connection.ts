/** Which database a command speaks to. */
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { runningServer, serverFolder, urlOf } from '../database/dev-servers.js';
import { keepSecret } from '../secrets/passwords.js';
import { exitCodes, Failure, wrongUsage } from './failure.js';

/**
 * The connection string to use: the option, the environment, or the embedded server of this folder.
 */
export function connectionString(option: string | undefined): string {
  const given = option ?? (process.env.DATABASE_URL || undefined);
  if (given !== undefined)
    return checked(given, option === undefined ? 'DATABASE_URL' : '--database-url');
  const server = runningServer();
  if (server) return checked(urlOf(server), 'the record of `writ dev`');
  // A file of the folder is no answer: whoever made the folder chose what it says.
  const ignored = existsSync(join(serverFolder(), 'server.json'))
    ? ' .writ/server.json is not used: anybody could have written it.'
    : '';
  throw new Failure(
    exitCodes.unavailable,
    'database_unreachable',
    `No database is given, and no embedded server of yours runs in this folder.${ignored}`,
    'Set DATABASE_URL or --database-url, or run `writ dev` here in another terminal.',
  );
}

/** Where to listen, when that is not the database's own address. */
export const listenUrl = (text: string): string => checked(text, '--listen-url');

/** A text that can be used as a connection string; `origin` names where it was found. */
export function checked(text: string, origin: string): string {
  // The text itself is not shown: it may hold a password.
  const wrong = wrongUsage(
    `${origin} is not a PostgreSQL connection string.`,
    'It begins with postgres:// and names user, password, host and database.',
  );
  if (!/^postgres(ql)?:\/\//.test(text)) throw wrong;
  try {
    keepSecret(text);
  } catch {
    throw wrong;
  }
  return text;
}

/** Who a change is made by, for the record. */
export function actor(option?: string): string {
  if (option) return option;
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return 'cli'; // a process without an entry in the system's user list
  }
}
