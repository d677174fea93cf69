/**
 * Artifacts in a folder. A put writes to a temporary name, flushes the file, renames it to its
 * final name, and flushes the folders: a crash before the rename leaves a temporary file, which a
 * sweep removes a day later, and never half an artifact under its name. A sweep goes by names: it
 * opens only the folders of days that have come, and no file.
 */
import { constants, type Dirent } from 'node:fs';
import {
  lstat,
  mkdir,
  open,
  opendir,
  readdir,
  rename,
  rmdir,
  stat,
  unlink,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { uuidv7 } from '../database/uuid.js';
import { WritError } from '../errors/index.js';
import type { ArtifactStore } from '../queue/artifacts.js';
import { damaged } from './content.js';
import { hasExpired, isOver, isTenantFolder, mayBeDue } from './key.js';
import { Artifacts, type Medium, type StoreOptions } from './store.js';

export interface FileArtifactsOptions extends StoreOptions {
  /**
   * Where they lie; it is made when the first one comes. Workers on several machines share one
   * folder, or use S3.
   */
  readonly folder: string;
  /**
   * What the store is called in references, so that these outlive a move of the folder; `files`
   * unless given.
   */
  readonly name?: string;
}

export function fileArtifacts(options: FileArtifactsOptions): ArtifactStore {
  const { folder, name = 'files' } = options;
  if (typeof folder !== 'string' || folder === '')
    throw new WritError('invalid_argument', 'fileArtifacts needs a folder');
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
    throw new WritError('invalid_argument', `${name} is not a name of a store`);
  return new Artifacts(new Folder(resolve(folder), name), options);
}

const incoming = '.incoming';
const abandonedMs = 86_400_000;

class Folder implements Medium {
  readonly base: string;
  readonly #root: string;

  constructor(root: string, name: string) {
    this.#root = root;
    this.base = `writ-file://${name}/`;
  }

  async write(key: string, chunks: AsyncIterable<Buffer>): Promise<void> {
    const temporary = join(this.#root, incoming, uuidv7());
    const file = await this.#try(async () => {
      const made = await mkdir(dirname(temporary), { recursive: true });
      if (made) await flushFolders(this.#root, dirname(made));
      return open(temporary, 'wx');
    });
    try {
      try {
        for await (const chunk of chunks) await this.#try(() => file.writeFile(chunk));
        await this.#try(() => file.sync());
      } finally {
        await file.close();
      }
      await this.#try(() => this.#publish(temporary, join(this.#root, key)));
    } catch (error) {
      // the first error is the one to report; a sweep removes what stays
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  }

  /** A sweep may remove an empty folder at the same moment: then it is made again. */
  async #publish(temporary: string, final: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await mkdir(dirname(final), { recursive: true });
        await rename(temporary, final);
        break;
      } catch (error) {
        if (codeOf(error) !== 'ENOENT' || attempt === 5) throw error;
      }
    }
    // The name of the file, and the names of the folders above it, whoever made them.
    await flushFolders(dirname(final), this.#root);
  }

  async read(key: string, sizeBytes: number): Promise<Readable> {
    const file = await this.#try(
      () => open(join(this.#root, key), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)),
      key,
    );
    try {
      const found = await this.#try(() => file.stat());
      if (!found.isFile()) throw damaged(this.base + key, 'it is not a file');
      if (found.size !== sizeBytes)
        throw damaged(this.base + key, `it has ${found.size} bytes, and had ${sizeBytes}`);
    } catch (error) {
      await file.close();
      throw error;
    }
    if (sizeBytes > 0) return file.createReadStream({ start: 0, end: sizeBytes - 1 });
    await file.close();
    return Readable.from([]);
  }

  async has(key: string): Promise<boolean> {
    const found = await this.#try(() =>
      lstat(join(this.#root, key)).catch(unless('ENOENT', 'ENOTDIR')),
    );
    return found?.isFile() ?? false;
  }

  async remove(key: string): Promise<void> {
    await this.#try(() => unlink(join(this.#root, key)).catch(unless('ENOENT', 'ENOTDIR')));
  }

  sweep(now: Date): Promise<number> {
    return this.#try(async () => {
      let deleted = 0;
      for (const tenant of await foldersIn(this.#root, isTenantFolder)) {
        for (const day of await foldersIn(join(this.#root, tenant), (name) =>
          mayBeDue(name, now),
        )) {
          deleted += await this.#sweepDay(`${tenant}/${day}`, now);
          // Filled again at this moment, it is not empty, and stays.
          if (isOver(day, now))
            await rmdir(join(this.#root, tenant, day)).catch(
              unless('ENOTEMPTY', 'EEXIST', 'ENOENT'),
            );
        }
      }
      await this.#removeAbandoned();
      return deleted;
    });
  }

  async #sweepDay(day: string, now: Date): Promise<number> {
    let deleted = 0;
    const folder = await opendir(join(this.#root, day)).catch(unless('ENOENT'));
    if (!folder) return 0; // another sweep was faster
    for await (const entry of folder) {
      if (!hasExpired(`${day}/${entry.name}`, now)) continue;
      const gone = await unlink(join(this.#root, day, entry.name)).then(
        () => true,
        unless('ENOENT'),
      );
      if (gone) deleted++;
    }
    return deleted;
  }

  /**
   * What a crash left in the middle of a put. One that is going on has been written to within a
   * day.
   */
  async #removeAbandoned(): Promise<void> {
    const folder = join(this.#root, incoming);
    for (const name of (await readdir(folder).catch(unless('ENOENT'))) ?? []) {
      const found = await stat(join(folder, name)).catch(unless('ENOENT'));
      if (found && Date.now() - found.mtimeMs > abandonedMs)
        await unlink(join(folder, name)).catch(unless('ENOENT'));
    }
  }

  faultOf(error: unknown, key?: string): unknown {
    const code = codeOf(error);
    if (!code || error instanceof WritError || !('syscall' in (error as Error))) return error;
    const words = (error as Error).message;
    if (key !== undefined && ['ENOENT', 'ENOTDIR'].includes(code))
      return new WritError('artifact_not_found', this.base + key, { cause: error });
    // ELOOP: the name is a link, and no store makes links.
    if (key !== undefined && code === 'ELOOP') return damaged(this.base + key, 'it is a link');
    const refused = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENAMETOOLONG'].includes(
      code,
    );
    return new WritError(refused ? 'artifact_store_refused' : 'artifact_store_unavailable', words, {
      cause: error,
    });
  }

  async #try<T>(call: () => Promise<T>, key?: string): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw this.faultOf(error, key);
    }
  }
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;

/** For errors that mean that there is nothing to do. */
const unless =
  (...codes: string[]) =>
  (error: unknown): undefined => {
    if (!codes.includes(codeOf(error) ?? '')) throw error;
  };

async function foldersIn(folder: string, which: (name: string) => boolean): Promise<string[]> {
  const entries: Dirent[] =
    (await readdir(folder, { withFileTypes: true }).catch(unless('ENOENT'))) ?? [];
  return entries
    .filter((entry) => entry.isDirectory() && which(entry.name))
    .map((entry) => entry.name);
}

/** Makes the names in these folders durable, from one up to another above it. */
async function flushFolders(from: string, upTo: string): Promise<void> {
  if (process.platform === 'win32') return; // which has no such thing
  for (let path = from; path.length >= upTo.length; path = dirname(path)) {
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
    if (path === dirname(path)) break;
  }
}
