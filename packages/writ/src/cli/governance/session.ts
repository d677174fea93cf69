/** What the commands of governance share: who acts, in which tenant, and the governance of their database. */
import { statSync } from 'node:fs';
import type { Command } from 'commander';
import type { As } from '../../governance/actor.js';
import { Governance } from '../../governance/governance.js';
import { type Principal, principal } from '../../governance/keys.js';
import type { AnyStepType } from '../../governance/steps.js';
import { milliseconds } from '../../queue/duration.js';
import type { SecretsProvider } from '../../secrets/provider.js';
import { Secrets } from '../../secrets/secrets.js';
import { repeated, uuid } from '../command.js';
import { actor, inTurn, type Session } from '../connection.js';
import { exitCodes, Failure } from '../failure.js';
import { textOf } from '../files.js';
import { stepTypesIn } from '../modules.js';
import { onScreen } from '../output.js';
import { secretsAt, withSecrets } from '../secret-places.js';

export interface KeyOptions {
  readonly keyFile?: string;
}

export interface TenantOptions {
  readonly tenant?: string;
}

export interface StepOptions {
  readonly steps?: readonly string[];
}

export interface ReadingOptions extends StepOptions {
  readonly secrets?: string;
}

/** A key is never an argument: those are in the list of processes and in the history of the shell. */
export const withKey = (command: Command): Command =>
  command.option(
    '--key-file <path>',
    'a file that holds the key of who acts; otherwise the variable WRIT_KEY holds it',
  );

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

/** For commands that read what stands outside: the types of its steps, and the secrets that those need. */
export const withReading = (command: Command): Command => withSecrets(withSteps(command));

export const contractId = uuid('A contract id is a UUID; `writ contracts list` shows them.');
export const governanceJobId = uuid(
  'The id of a governance job is a UUID; `writ jobs list` shows them.',
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

const noKey = (words: string) =>
  new Failure(
    exitCodes.usage,
    'not_authenticated',
    words,
    'Give --key-file PATH, or set WRIT_KEY; a key is never an argument, for others can read those. `writ principals add` makes one.',
  );

/** Who acts, where nothing is signed: the key that is given, or the principal that the database login is bound to. */
export async function actingAs(db: Session, options: KeyOptions): Promise<As> {
  const key = keyOf(options);
  if (key !== undefined) return { as: principal(key) };
  const bound = await db.gate<{ principal_id: string | null }>('fn_login()');
  if (bound.principal_id === null)
    throw noKey(
      'No key is given, and this database login is bound to no principal, so nobody knows who acts.',
    );
  return {};
}

/** Who acts with a key. */
export function whoActs(options: KeyOptions): Principal {
  const key = keyOf(options);
  if (key === undefined) throw noKey('No key is given, so nobody knows who acts.');
  return principal(key);
}

export function governanceOf(
  db: Session,
  types: readonly AnyStepType[] = [],
  secrets?: SecretsProvider,
): Governance {
  const governance = new Governance({
    db: inTurn(db),
    actor: actor(),
    key: undefined, // each call says who acts
    listening: undefined,
    secrets: new Secrets(secrets, milliseconds('1m')), // in memory, until the command ends
    register: async (job) => {
      await db.gate('fn_job_kind_register($1, $2::text::jsonb, $3)', [
        job.kind,
        JSON.stringify(job.definition),
        actor(),
      ]);
    },
  });
  governance.use(...types);
  return governance;
}

/** The governance of a command that reads what stands outside. */
export async function readingGovernance({
  steps,
  secrets,
}: ReadingOptions): Promise<(db: Session) => Governance> {
  const types = await stepTypesIn(steps ?? []);
  const provider = secrets === undefined ? undefined : secretsAt(secrets);
  return (db) => governanceOf(db, types, provider);
}

export const tenantOf = ({ tenant }: TenantOptions): string => tenant ?? 'default';
