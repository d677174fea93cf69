/**
 * Where this process finds the secrets of webhooks. A destination has their names, and the database nothing more: the secret `shop` is in the environment, as
 * WRIT_WEBHOOK_SECRET_SHOP, or in the file `shop` of the folder WRIT_WEBHOOK_SECRETS_DIR, which is read each time, so that a rotation needs no restart.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WritError } from '../../errors/index.js';
import { webhookKey } from '../../outbox/webhooks.js';
import { nameOf } from './destinations.js';

const folderVariable = 'WRIT_WEBHOOK_SECRETS_DIR';

export const secretVariable = (name: string): string =>
  `WRIT_WEBHOOK_SECRET_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;

/** The places of a secret, for people. */
export const placesOf = (name: string): string =>
  `${secretVariable(name)}, or the file ${name} in the folder ${folderVariable}`;

export function secretOf(name: string): string {
  const given = process.env[secretVariable(name)];
  if (given) return given.trim();
  const folder = process.env[folderVariable];
  // The name comes from the database, and must not lead out of the folder.
  if (!folder) throw missing(name);
  try {
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
