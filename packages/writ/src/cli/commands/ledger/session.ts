/** What the commands of the ledger share: keys, and places outside. */
import { statSync } from 'node:fs';
import { remedyOf } from '../../../errors/advice/codes.js';
import { WritError } from '../../../errors/index.js';
import {
  parseCheckpoint,
  parseNote,
  parsePrivateKey,
  parsePublicKey,
} from '../../../ledger/note.js';
import { type Place, placeOf } from '../../../ledger/places.js';
import { keepSecret } from '../../../secrets/passwords.js';
import { exitCodes, Failure, wrongUsage } from '../../failure.js';
import { textOf } from '../../files.js';
import type { Output } from '../../output.js';

/** What was given, or else what the environment lists, with commas between. */
export function listed(given: readonly string[] | undefined, variable: string): readonly string[] {
  if (given) return given;
  return (process.env[variable] ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

/**
 * Public keys as they were given. The text of one that is none is not shown: it may be a private
 * one.
 */
export function publicKeys(texts: readonly string[], option = '--key'): readonly string[] {
  for (const text of texts) {
    if (/PRIVATE\+KEY/.test(text)) {
      throw wrongUsage(
        `${option} takes a public key, and this is a private one.`,
        'It may now be in the history of this shell: replace it with `writ ledger keygen --replaces`. The public key was printed when it was made; `writ ledger status` shows it.',
      );
    }
    try {
      parsePublicKey(text);
    } catch (error) {
      if (!(error instanceof WritError)) throw error;
      throw wrongUsage(`${option}: ${error.message}`, remedyOf(error));
    }
  }
  return texts;
}

export function places(texts: readonly string[], option = '--to'): readonly Place[] {
  return texts.map((text) => {
    try {
      if (/^https?:/.test(text)) keepSecret(text);
      return placeOf(text);
    } catch (error) {
      // The text is not shown: an address may have a password in it.
      throw wrongUsage(
        `${option}: this is neither a path nor an http address.`,
        'Write /path/to/a/file or https://host/path.',
        {
          cause: error,
        },
      );
    }
  });
}

/** Signed checkpoints out of places. */
export function checkpoints(texts: readonly string[], option: string): Promise<string[]> {
  return Promise.all(
    places(texts, option).map(async (place) => {
      const note = await place.read();
      if (note === null)
        throw wrongUsage(
          `${place.name} holds no checkpoint.`,
          `Check the path or address that you gave with ${option}.`,
        );
      // a mistake of the caller is said before anything is looked at
      parseCheckpoint(parseNote(note).text);
      return note;
    }),
  );
}

/** Where checkpoints are kept outside, and the keys they are signed with: both or neither. */
export function outside(
  given: { places: readonly string[] | undefined; keys: readonly string[] | undefined },
  options: { places: string; keys: string },
): { places: readonly string[]; keys: readonly string[] } {
  const found = {
    places: listed(given.places, 'WRIT_LEDGER_PLACES'),
    keys: listed(given.keys, 'WRIT_LEDGER_PUBLIC_KEYS'),
  };
  places(found.places, options.places);
  publicKeys(found.keys, options.keys);
  if (found.places.length > 0 && found.keys.length === 0) {
    throw wrongUsage(
      'A checkpoint from outside can only be believed with the public key that signs it.',
      `Give ${options.keys} or WRIT_LEDGER_PUBLIC_KEYS; \`writ ledger status\` shows the key.`,
    );
  }
  return found;
}

/** The text of a private key's file. */
export function privateKey(path: string, output: Output): string {
  const text = textOf(path, 'key');
  try {
    parsePrivateKey(text);
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    throw new Failure(
      exitCodes.failed,
      error.code,
      `${path} does not hold a private key of a ledger.`,
      'Give the file that `writ ledger keygen --out` wrote.',
    );
  }
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    output.note(
      `writ: ${path} can be read by others, who could sign in your name.`,
      `chmod 600 ${path}`,
    );
  }
  return text;
}

/** The text of the private key that an option or WRIT_LEDGER_KEY names. */
export function signingKey(given: string | undefined, option: string, output: Output): string {
  const file = given ?? (process.env.WRIT_LEDGER_KEY || undefined);
  if (file !== undefined) return privateKey(file, output);
  throw wrongUsage(
    'There is no key to sign with.',
    `Give ${option} or WRIT_LEDGER_KEY; \`writ ledger keygen\` makes one.`,
  );
}
