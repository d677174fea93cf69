/**
 * A spool: what the database could not take is kept in a folder of this machine, and given to it
 * later. `append` answers when a line is on the disk.
 *
 * Every writer has a file of its own, so that none has to wait for another, or find out whether
 * another still lives. A merge hands the lines of each file over, in order, and then removes the
 * file. It first renames it and reads what has come meanwhile; a writer looks after each write
 * whether its file still has its name. If it has, whoever renames it later reads what was written;
 * if not, nobody knows, and the lines are written again to a new file. So nothing is lost, whoever
 * is killed where, and something may be handed over twice: whoever takes it must recognise what has
 * been taken.
 *
 * In the folder: ID.spool is written to, ID.sealed is not any more, ID.damaged is not as it was
 * written, refused.jsonl is what nobody will ever take.
 */
import {
  chmod,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  stat,
  unlink,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { uuidv7 } from '../database/uuid.js';
import { WritError } from '../errors/index.js';
import { anchor, lineOf, readLines, type SpoolEntry } from './entry.js';

export interface SpoolOptions {
  /** What the folder may hold; 64 MB unless given. */
  readonly maxBytes?: number | undefined;
}

/** Why something will never be taken. */
export interface Refused {
  readonly code: string;
  readonly detail: string | undefined;
}

export interface Merged {
  /** Lines that were taken, or had been before. */
  readonly merged: number;
  /** Lines that never will be, which are in refused.jsonl now. */
  readonly refused: number;
  /** Files that were found damaged, and at which line. */
  readonly damaged: readonly string[];
}

export interface SpoolState {
  /** Lines that wait to be handed over, and since when. */
  readonly waiting: number;
  readonly oldest?: string;
  readonly refused: number;
  readonly damaged: readonly string[];
}

interface OpenFile {
  readonly id: string;
  readonly path: string;
  readonly handle: FileHandle;
  readonly inode: number;
  /** What the rest of the folder held when it was made. */
  besides: number;
  bytes: number;
  seq: number;
  previous: string;
}

interface Waiting {
  readonly at: string;
  readonly payload: string;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

const fileBytes = 1_000_000;
const batch = 1_000;
const aside = 'refused.jsonl';

export class Spool<Payload> {
  readonly folder: string;
  readonly #maxBytes: number;
  readonly #host = hostname();
  #file: OpenFile | undefined;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #merging: Promise<Merged> | undefined;
  #mergingNext: Promise<Merged> | undefined;
  /**
   * How many lines of a file have been handed over by this process, so that a merge that was broken
   * off goes on there.
   */
  readonly #handedOver = new Map<string, number>();

  constructor(folder: string, options: SpoolOptions = {}) {
    if (typeof folder !== 'string' || folder === '')
      throw new WritError('invalid_argument', 'a spool needs a folder');
    this.folder = resolve(folder);
    this.#maxBytes = options.maxBytes ?? 64_000_000;
  }

  /** Keeps something. Resolves when it is on the disk. */
  append(payload: Payload): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({
        at: new Date().toISOString(),
        payload: JSON.stringify(payload),
        done,
        failed,
      });
      this.#writing ??= this.#writeAll();
    });
  }

  /** What is in the folder, of this process and of others. */
  async state(): Promise<SpoolState> {
    const names = await onDisk(this.#names());
    let waiting = 0;
    let oldest: string | undefined;
    const damaged = names.filter((name) => name.endsWith('.damaged'));
    for (const name of names.filter(isToMerge)) {
      const read = readLines<Payload>(
        idOf(name),
        (await onDisk(readFile(join(this.folder, name), 'utf8').catch(unlessGone))) ?? '',
      );
      waiting += read.entries.length;
      if (read.entries[0] && (oldest === undefined || read.entries[0].at < oldest))
        oldest = read.entries[0].at;
      if (read.damaged) damaged.push(name);
    }
    const refused =
      (await onDisk(readFile(join(this.folder, aside), 'utf8').catch(unlessGone)))?.split('\n')
        .length ?? 1;
    return { waiting, ...(oldest !== undefined && { oldest }), refused: refused - 1, damaged };
  }

  /**
   * Hands everything over, the oldest file first, and removes what has been taken. `take` answers
   * why it never can be; if it throws, the merge ends there, and the next goes on with the same
   * line. One at a time in a process: those who ask while one is on its way, which may have passed
   * over what they appended, share the next.
   */
  merge(take: (entry: SpoolEntry<Payload>) => Promise<Refused | undefined>): Promise<Merged> {
    if (this.#merging) {
      this.#mergingNext ??= this.#merging
        .catch(() => undefined) // whoever asked for it hears of it
        .then(() => {
          this.#mergingNext = undefined;
          return this.merge(take);
        });
      return this.#mergingNext;
    }
    this.#merging = this.#merge(take).finally(() => {
      this.#merging = undefined;
    });
    return this.#merging;
  }

  /** Resolves when nothing is being written or merged. What was not merged stays. */
  async close(): Promise<void> {
    await this.#writing;
    await (this.#mergingNext ?? this.#merging)?.catch(() => undefined);
    await this.#leaveFile();
  }

  // Writing
  // --------------------------------------------------------------------------------------------------

  /** Lines that come while others are being flushed travel together. */
  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.splice(0, batch);
      try {
        await this.#write(lines);
        for (const { done } of lines) done();
      } catch (error) {
        await this.#leaveFile(); // it may end in the middle of a line
        for (const { failed } of lines) failed(faultOf(error));
      }
    }
    this.#writing = undefined;
  }

  async #write(lines: readonly Waiting[]): Promise<void> {
    for (;;) {
      const file = await this.#currentFile();
      let { seq, previous } = file;
      const text = lines.map(({ at, payload }) => {
        const { line, hash } = lineOf(this.#host, ++seq, previous, at, payload);
        previous = hash;
        return line;
      });
      const bytes = Buffer.from(text.join(''));
      await this.#assertRoom(file, bytes.length);
      await file.handle.writeFile(bytes);
      await file.handle.sync();
      if (await isStill(file)) {
        Object.assign(file, { seq, previous, bytes: file.bytes + bytes.length });
        return;
      }
      await this.#leaveFile(); // a merge has taken it, with these lines or without
    }
  }

  async #assertRoom(file: OpenFile, bytes: number): Promise<void> {
    if (file.besides + file.bytes + bytes <= this.#maxBytes) return;
    file.besides = (await this.#bytes()) - file.bytes; // some of it may have been merged
    if (file.besides + file.bytes + bytes > this.#maxBytes) {
      throw new WritError(
        'spool_full',
        `${this.folder} holds ${file.besides + file.bytes} of ${this.#maxBytes} bytes`,
      );
    }
  }

  async #currentFile(): Promise<OpenFile> {
    if (this.#file && this.#file.bytes < fileBytes) return this.#file;
    await this.#leaveFile();
    const made = await mkdir(this.folder, { recursive: true, mode: 0o700 });
    if (made) {
      await chmod(this.folder, 0o700); // whatever the umask says
      for (let path = this.folder; path !== dirname(made); path = dirname(path))
        await flushFolder(dirname(path));
    }
    const besides = await this.#bytes();
    const id = uuidv7();
    const path = join(this.folder, `${id}.spool`);
    const handle = await open(path, 'ax', 0o600);
    const { ino } = await handle.stat();
    await flushFolder(this.folder);
    this.#file = { id, path, handle, inode: ino, besides, bytes: 0, seq: 0, previous: anchor(id) };
    return this.#file;
  }

  async #leaveFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.handle.close();
  }

  // Merging
  // --------------------------------------------------------------------------------------------------

  async #merge(
    take: (entry: SpoolEntry<Payload>) => Promise<Refused | undefined>,
  ): Promise<Merged> {
    const merged = { merged: 0, refused: 0, damaged: [] as string[] };
    for (const name of (await onDisk(this.#names())).filter(isToMerge))
      await this.#mergeFile(name, take, merged);
    return merged;
  }

  async #mergeFile(
    name: string,
    take: (entry: SpoolEntry<Payload>) => Promise<Refused | undefined>,
    merged: { merged: number; refused: number; damaged: string[] },
  ): Promise<void> {
    const id = idOf(name);
    let path = join(this.folder, name);
    for (;;) {
      const text = await onDisk(readFile(path, 'utf8').catch(unlessGone));
      if (text === undefined) break; // another merge was faster
      const { entries, damaged } = readLines<Payload>(id, text);
      for (const entry of entries.slice(this.#handedOver.get(id) ?? 0)) {
        const refused = await take(entry);
        if (refused) await onDisk(this.#setAside(refused, entry));
        merged[refused ? 'refused' : 'merged']++;
        this.#handedOver.set(id, entry.spoolSeq);
      }
      if (damaged) {
        await onDisk(rename(path, join(this.folder, `${id}.damaged`)).catch(unlessGone));
        merged.damaged.push(`${id}.damaged, line ${damaged.line}: ${damaged.why}`);
        break;
      }
      if (path.endsWith('.sealed')) {
        await onDisk(unlink(path).catch(unlessGone));
        break;
      }
      const sealed = join(this.folder, `${id}.sealed`);
      await onDisk(rename(path, sealed).catch(unlessGone));
      path = sealed;
    }
    this.#handedOver.delete(id);
  }

  /** On the disk before the file is removed that it comes from. */
  async #setAside({ code, detail }: Refused, entry: SpoolEntry<Payload>): Promise<void> {
    const file = await open(join(this.folder, aside), 'a', 0o600);
    try {
      await file.writeFile(`${JSON.stringify({ refused: code, detail, ...entry })}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await flushFolder(this.folder);
  }

  /** Names begin with the time that the file was made at. */
  async #names(): Promise<string[]> {
    return ((await readdir(this.folder).catch(unlessGone)) ?? []).sort();
  }

  async #bytes(): Promise<number> {
    let bytes = 0;
    for (const name of await this.#names()) {
      bytes += (await stat(join(this.folder, name)).catch(unlessGone))?.size ?? 0;
    }
    return bytes;
  }
}

const isToMerge = (name: string): boolean => /^[0-9a-f-]{36}\.(?:spool|sealed)$/.test(name);
const idOf = (name: string): string => name.slice(0, name.indexOf('.'));

/** Whether a file still has the name that it was made with. */
async function isStill({ path, inode }: OpenFile): Promise<boolean> {
  return (await stat(path).catch(unlessGone))?.ino === inode;
}

function unlessGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** What the file system says, as an error of ours. */
function faultOf(error: unknown): unknown {
  return error instanceof WritError || !(error instanceof Error)
    ? error
    : new WritError('spool_unavailable', error.message, { cause: error });
}

async function onDisk<T>(done: Promise<T>): Promise<T> {
  try {
    return await done;
  } catch (error) {
    throw faultOf(error);
  }
}

/** Makes the names in a folder durable. */
async function flushFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return; // which has no such thing
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
