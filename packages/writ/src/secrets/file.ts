/** Secrets as files, one for each, as Kubernetes and Docker mount them. */
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { WritError } from '../errors/index.js';
import type { SecretsProvider } from './provider.js';

export interface FileSecretsOptions {
  /** The folder with the files: `/run/secrets`, for instance. */
  readonly folder: string;
}

const maxBytes = 64 * 1024;

/**
 * `stripe-key` is the file of that name in the folder, without the line break at its end;
 * `db/password` is one in a folder in it. The same for every tenant.
 */
export function fileSecrets({ folder }: FileSecretsOptions): SecretsProvider {
  return {
    async resolve(refs) {
      const read = await Promise.all(
        refs.map(async ({ $secret: name }) => [name, await secretFile(folder, name)] as const),
      );
      return Object.fromEntries(
        read.filter((entry): entry is [string, string] => entry[1] !== undefined),
      );
    },
  };
}

/** What a file of the folder says; undefined if it is not there. */
async function secretFile(folder: string, name: string): Promise<string | undefined> {
  if (name.split('/').some((part) => part === '' || part === '.' || part === '..')) {
    throw new WritError('secret_unusable', `${name} leads out of the folder`);
  }
  const path = await pathOf(folder, name);
  return path === undefined ? undefined : readSecret(path, name);
}

/**
 * Where the file really is: Kubernetes mounts links to a folder beside them, which is inside; a
 * link that leads out is not followed.
 */
async function pathOf(folder: string, name: string): Promise<string | undefined> {
  const root = await realpath(folder).catch((error: unknown) => {
    throw new WritError(
      'secrets_unavailable',
      `the folder of secrets cannot be read: ${codeOf(error)}`,
    );
  });
  const path = await realpath(join(root, name)).catch(unlessMissing(name));
  if (path !== undefined && !path.startsWith(root === sep ? sep : root + sep)) {
    throw new WritError('secret_unusable', `${name} leads out of the folder`);
  }
  return path;
}

/**
 * What is looked at is what is read, and a pipe keeps nobody waiting: the file is opened first, and
 * asked what it is.
 */
export async function readSecret(path: string, name: string): Promise<string | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(unlessMissing(name));
    if (!file) return undefined;
    const { mode, size } = await file.stat();
    if ((mode & constants.S_IFMT) !== constants.S_IFREG)
      throw new WritError('secret_unusable', `${name} is not a file`);
    // Windows has no such modes, and answers that everybody may write.
    if (process.platform !== 'win32' && mode & 0o022) {
      throw new WritError('secret_unusable', `others than its owner may write the file of ${name}`);
    }
    if (size > maxBytes)
      throw new WritError('secret_unusable', `the file of ${name} has more than ${maxBytes} bytes`);
    return (await file.readFile('utf8')).replace(/\r?\n$/, '');
  } finally {
    await file?.close();
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? 'unknown';

const unlessMissing = (name: string) => (error: unknown) => {
  if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
  throw new WritError(
    'secrets_unavailable',
    `the file of ${name} cannot be read: ${codeOf(error)}`,
  );
};
