/**
 * What the commands of governance share: who acts, in which tenant, and the governance of their
 * database.
 */
import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { type Principal, principal } from '../../governance/keys.js';
import { repeated, uuid } from '../command.js';
import { exitCodes, Failure } from '../failure.js';
import { textOf } from '../files.js';
import { onScreen } from '../output.js';

export interface KeyOptions {
  readonly keyFile?: string | undefined;
}

export interface TenantOptions {
  readonly tenant?: string | undefined;
}

export interface StepOptions {
  readonly steps?: readonly string[];
}

export interface ReadingOptions extends StepOptions {
  readonly secrets?: string;
}

/**
 * A key is never an argument: those are in the list of processes and in the history of the shell.
 */
export function withKey(command: Command): Command {
  keyed.add(command);
  return command.option(
    '--key-file <path>',
    'a file that holds the key of who acts; otherwise the variable WRIT_KEY holds it',
  );
}

const keyed = new WeakSet<Command>();

/** Whether a key says who acts in a command. Elsewhere --key-file is where a new key is put. */
export const takesKey = (command: Command): boolean => keyed.has(command);

export const withTenant = (
  command: Command,
  words = 'whose it is; otherwise the default tenant',
): Command => command.option('--tenant <tenant>', words);

export const withSteps = (command: Command): Command =>
  command.option(
    '--steps <file>',
    'a module that exports step types of your own, made by defineStep; may be repeated',
    repeated,
  );

export const withSecrets = (command: Command): Command =>
  command.option(
    '--secrets <place>',
    'where secrets are: env or env:PREFIX, file:FOLDER, or vault:MOUNT/PATH with VAULT_ADDR and VAULT_TOKEN or VAULT_TOKEN_FILE',
  );

/**
 * For commands that read what stands outside: the types of its steps, and the secrets that those
 * need.
 */
export const withReading = (command: Command): Command => withSecrets(withSteps(command));

export const contractId = uuid('A contract id is a UUID; `writ contracts list` shows them.');
export const governanceJobId = uuid(
  'The id of a governance job is a UUID; `writ changes list` shows them.',
);

/** The key that is given, if one is; a file that was named holds one. */
export function keyOf({ keyFile }: KeyOptions): string | undefined {
  const key = keyFile === undefined ? process.env.WRIT_KEY : textOf(keyFile, 'key file');
  if (!key?.trim()) {
    if (keyFile === undefined) return undefined;
    throw noKey(`${keyFile} holds no key.`);
  }
  if (keyFile !== undefined && (statSync(keyFile).mode & 0o077) !== 0)
    process.stderr.write(`${onScreen(`${keyFile} can be read by others: chmod 600 ${keyFile}`)}\n`);
  principal(key.trim()); // says at once what is wrong with it
  return key.trim();
}

export const noKey = (words: string) =>
  new Failure(
    exitCodes.usage,
    'not_authenticated',
    words,
    'Give --key-file PATH, or set WRIT_KEY; a key is never an argument, for others can read those. `writ principals add` makes one.',
  );

/** Who acts with a key. */
export function whoActs(options: KeyOptions): Principal {
  const key = keyOf(options);
  if (key === undefined) throw noKey('No key is given, so nobody knows who acts.');
  return principal(key);
}

export const tenantOf = ({ tenant }: TenantOptions): string => tenant ?? 'default';
