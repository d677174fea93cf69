/**
 * `writ ledger keygen`: a key to sign checkpoints with. The file is on the disk before the database hears of the key: a crash between the two leaves a key that
 * signs nothing, never a signing key that nobody has.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { Command } from 'commander';
import { WritError } from '../../../errors/index.js';
import {
  keyOfSeed,
  parsePrivateKey,
  privateKeyText,
  publicKeyText,
  type SignerKey,
  type VerifierKey,
} from '../../../ledger/note.js';
import { contextOf, notBlank } from '../../command.js';
import { explain, Failure, wrongUsage } from '../../failure.js';
import { writeKey } from '../../files.js';
import type { Output } from '../../output.js';
import { ledgerOf, privateKey } from './session.js';

interface Options {
  readonly name?: string;
  readonly out: string;
  readonly replaces?: string;
  readonly actor?: string;
}

export function addKeygen(ledger: Command): void {
  ledger
    .command('keygen')
    .description(
      'make a key to sign checkpoints with; needs no database, unless it replaces another',
    )
    .option(
      '--name <name>',
      'name of this deployment, such as acme.example/prod; with --replaces, that of the old key',
    )
    .requiredOption(
      '--out <file>',
      'where the private key goes; a file that is there is not overwritten',
      notBlank,
    )
    .option(
      '--replaces <file>',
      'the private key that signs now: both sign that the new one takes its place, and the database records it',
    )
    .option('--actor <name>', 'who replaces it, for the record; otherwise the system user')
    .action(async (options: Options, command: Command) => {
      const { output, session } = contextOf(command);
      const old = options.replaces === undefined ? undefined : privateKey(options.replaces, output);
      const key = make(options.name ?? (old && parsePrivateKey(old).name));
      writeKey(options.out, `${privateKeyText(key)}\n`, '--out');
      if (old !== undefined) {
        try {
          await session((db) =>
            ledgerOf(db, options.actor).rotateKey({ old, next: privateKeyText(key) }),
          );
        } catch (error) {
          throw notRecorded(error, options.out);
        }
      }
      say(output, key, old === undefined ? undefined : parsePrivateKey(old), options.out);
    });
}

function make(name: string | undefined): SignerKey {
  if (name === undefined)
    throw wrongUsage(
      'A key has the name of its deployment.',
      'Add --name, for example --name acme.example/prod.',
    );
  try {
    return keyOfSeed(name, randomBytes(32));
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    throw wrongUsage(
      `${JSON.stringify(name)} is no name for a key.`,
      'Use a name without blanks and +, such as acme.example/prod.',
    );
  }
}

/** Where it is certain that nothing was recorded, the new key is of no use. When the connection was lost meanwhile it may sign already, and is kept. */
function notRecorded(error: unknown, path: string): Failure {
  const { exitCode, code, message, remedy } = explain(error);
  if (
    error instanceof Failure ||
    (error instanceof WritError && error.code !== 'database_unreachable')
  ) {
    rmSync(path);
    return new Failure(exitCode, code, `${message} No key was made.`, remedy, { cause: error });
  }
  const look = `The new key is in ${path}. \`writ ledger status\` shows which key signs: if it is not this one, remove the file and try again.`;
  return new Failure(exitCode, code, message, look, { cause: error });
}

function say(output: Output, key: SignerKey, old: VerifierKey | undefined, out: string): void {
  const text = publicKeyText(key);
  if (output.json) {
    output.data({ publicKey: text, file: out, replaces: old ? publicKeyText(old) : null });
    return;
  }
  output.line(
    `The private key is in ${out}. Keep it on the machine that signs, and nowhere in or near the database.`,
  );
  output.line('The public key:');
  output.line();
  output.line(`  ${output.style('bold', text)}`);
  output.line();
  if (!old) {
    output.line(
      'Give it to everybody who is to verify, by a way that does not lead through this database.',
    );
    output.line(`Then sign: writ ledger checkpoint --key ${out} --to PLACE`);
    return;
  }
  output.line(
    'It signs from now on, in the place of the old one; both have signed that, and who trusts the old key can follow.',
  );
  output.line('The places still hold checkpoints of the old key, so trust it for the next one:');
  output.line(`  writ ledger checkpoint --key ${out} --to PLACE --trust ${publicKeyText(old)}`);
  output.line('Give the new public key to workers and auditors, then destroy the old private key.');
}
