/**
 * What the commands of the outbox share: names, addresses, where secrets are, and events as lines.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { WritError } from '../errors/index.js';
import type { ListedDestination } from '../outbox/destinations.js';
import type { CloudEvent } from '../outbox/envelope.js';
import { everythingOfRuns } from '../outbox/follow.js';
import { webhookKey } from '../outbox/webhooks.js';
import type { RunEvent } from '../runs/events.js';
import { repeated } from './command.js';
import { oneLine, span } from './output.js';
import { clockTime, detailOf } from './runs/words.js';

/** Names of destinations and of secrets: both become parts of names of variables and files. */
export function nameOf(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/.test(text)) return text;
  throw new InvalidArgumentError(
    'A name has one to a hundred letters, digits and _ . - and begins with a letter or digit.',
  );
}

export const withName = (command: Command): Command =>
  command.argument('<name>', 'name of the destination', nameOf);

export const withTypes = (command: Command): Command =>
  command.option(
    '--type <type>',
    `types of events; one that ends with * is the beginning of types; may be repeated; otherwise ${everythingOfRuns.join(' and ')}`,
    repeated,
  );

/** How far it is behind what has happened, if it is. */
export const lagOf = ({ behindSince }: ListedDestination, now: Date): string | undefined =>
  behindSince === null ? undefined : span(Math.max(0, now.getTime() - Date.parse(behindSince)));

export const addressOf = ({ config }: ListedDestination): string =>
  String(config.url ?? config.servers ?? '');

const folderVariable = 'WRIT_WEBHOOK_SECRETS_DIR';

export const secretVariable = (name: string): string =>
  `WRIT_WEBHOOK_SECRET_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;

/** The places of a secret, for people. */
export const placesOf = (name: string): string =>
  `${secretVariable(name)}, or the file ${name} in the folder ${folderVariable}`;

/**
 * A secret of webhooks. The database has only its name. A file is read each time, so that a
 * rotation needs no restart.
 */
export function secretOf(name: string): string {
  const given = process.env[secretVariable(name)];
  if (given) return given.trim();
  const folder = process.env[folderVariable];
  if (!folder) throw missing(name);
  try {
    // The name comes from the database, and must not lead out of the folder.
    return readFileSync(join(folder, nameOf(name)), 'utf8').trim();
  } catch (error) {
    throw missing(name, (error as NodeJS.ErrnoException).code);
  }
}

const missing = (name: string, why = 'ENOENT') =>
  new WritError(
    'invalid_webhook_secret',
    `nothing in ${placesOf(name)}${why === 'ENOENT' ? '' : ` (${why})`}`,
  );

/** What is wrong with a secret here, in words without it; undefined if it can be used. */
export function troubleWith(name: string): string | undefined {
  try {
    webhookKey(secretOf(name));
    return undefined;
  } catch (error) {
    if (error instanceof WritError) return error.message;
    throw error;
  }
}

const ofRuns = 'dot.run.';
const longestDetail = 120;

/** 2026-03-01 10:00:00.123  dot.run.StepCompleted  run 0199… charge  … */
export function lineOf(event: CloudEvent): string {
  const [, kind = '', id = ''] = /^\/writ\/(\w+?)s\/(.+)$/.exec(event.source) ?? [];
  const about = [kind, id, event.subject].filter(Boolean).join(' ');
  const whose = ['default', '_system'].includes(event.tenantid) ? '' : `tenant ${event.tenantid}`;
  const parts = [
    `${event.time.slice(0, 10)} ${clockTime(event.time)}`,
    event.type,
    about,
    whose,
    detail(event),
  ];
  return oneLine(parts.filter((part) => part !== '').join('  '));
}

function detail({ type, data }: CloudEvent): string {
  if (type.startsWith(ofRuns))
    return detailOf({
      eventType: type.slice(ofRuns.length),
      eventData: data,
    } as unknown as RunEvent);
  const { actor: _, ...rest } = (data ?? {}) as Record<string, unknown>;
  const text = Object.entries(rest)
    .map(([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
  return text.length > longestDetail ? `${text.slice(0, longestDetail)}…` : text;
}
