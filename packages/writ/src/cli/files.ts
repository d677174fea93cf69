/** Files that a command is given, and those it writes: what is wrong with them, in words. */
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { exitCodes, Failure, wrongUsage } from './failure.js';

export function textOf(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable(path, what, error);
  }
}

export function unreadable(path: string, what: string, error: unknown): Failure {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT')
    return wrongUsage(
      `There is no ${what} at ${path}.`,
      'Check the path; it is taken from the current folder.',
    );
  return new Failure(
    exitCodes.failed,
    'unreadable_file',
    `${path} cannot be read: ${code}.`,
    'Check what it is, and who may read it.',
    { cause: error },
  );
}

export const unwritable = (path: string, error: unknown): Failure =>
  new Failure(
    exitCodes.failed,
    'unwritable_file',
    `${path} cannot be written: ${(error as NodeJS.ErrnoException).code}.`,
    'Check the folder, and who may write there.',
    { cause: error },
  );

/**
 * Writes a key to a file of its own that only its owner can read, and is back when it is on the
 * disk. `option` is where another path can be given.
 */
export function writeKey(path: string, text: string, option: string): void {
  try {
    const file = openSync(path, 'wx', 0o600);
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') {
      throw new Failure(
        exitCodes.failed,
        'file_exists',
        `${path} is there already, and a key is never overwritten.`,
        `Choose another ${option}.`,
      );
    }
    throw unwritable(path, error);
  }
}
