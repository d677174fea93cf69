/**
 * Writing an export into a folder. Full tiles and bundles never change, so those that are there are
 * left: an export into the same folder again adds what is new, and that is how receipts are
 * archived before their month is dropped. The description and the checkpoints come last: until then
 * the folder is the export it was.
 */
import { constants } from 'node:fs';
import { mkdir, open, realpath, rename, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { WritError, WritRefusal } from '../errors/index.js';
import { governedPath, valuesPath } from './governed.js';
import { type ExportedGovernor, eventsPerFile, fileOf, governorPath } from './governor-events.js';
import type { DatabaseReader, LogHead } from './reader.js';
import { nodeSha256 } from './sha256.js';
import { tilePath, tileWidth, tileWidthAt } from './tiles.js';
import type { Verdict } from './verdict.js';
import type { Reader } from './verification/log.js';
import { segmentPath } from './verification/segment.js';
import { type VerifyOptions, verifyExport } from './verify.js';

export interface ExportProgress {
  readonly log: string;
  readonly done: number;
  readonly of: number;
}

export interface Exported {
  readonly logs: readonly LogHead[];
  readonly receipts: number;
  readonly segments: number;
  readonly governors: readonly ExportedGovernor[];
}

export async function writeExport(
  reader: DatabaseReader,
  folder: string,
  options: { events?: boolean | undefined; progress?: (at: ExportProgress) => void } = {},
): Promise<Exported> {
  const heads = await reader.heads();
  if (heads.length === 0) throw new WritError('no_checkpoint');
  for (const head of heads) await writeLog(reader, folder, head, options.progress);
  const last = options.events ? await reader.lastSegment() : 0;
  for (let segment = options.events ? await reader.firstSegment() : 1; segment <= last; segment++) {
    for (const what of ['hashes', 'jsonl', 'runs.jsonl'] as const)
      await copy(reader, folder, segmentPath(segment, what), true);
    options.progress?.({ log: 'sealed events', done: segment, of: last });
  }
  const governors = options.events ? await reader.governors() : [];
  for (const governor of governors) await writeGovernor(reader, folder, governor, options.progress);
  const { contracts } = await reader.governance();
  for (const path of [valuesPath, ...contracts.map((_, at) => governedPath(at + 1))])
    await copy(reader, folder, path, false);
  for (const { directory } of heads) await copy(reader, folder, `${directory}/checkpoint`, false);
  await copy(reader, folder, 'export.json', false);
  return {
    logs: heads,
    receipts: heads.reduce((sum, { size }) => sum + size, 0),
    segments: last,
    governors,
  };
}

async function writeLog(
  reader: DatabaseReader,
  folder: string,
  { log, directory, size }: LogHead,
  progress?: (at: ExportProgress) => void,
): Promise<void> {
  for (let index = 0; index * tileWidth < size; index++) {
    const width = tileWidthAt(0, index, size);
    for (const level of [0, 'entries'] as const)
      await copy(reader, folder, `${directory}/${tilePath(level, index, width)}`, true);
    progress?.({ log, done: index * tileWidth + width, of: size });
  }
  for (let level = 1; tileWidth ** level <= size; level++) {
    for (let index = 0; tileWidthAt(level, index, size) > 0; index++) {
      await copy(
        reader,
        folder,
        `${directory}/${tilePath(level, index, tileWidthAt(level, index, size))}`,
        true,
      );
    }
  }
}

async function writeGovernor(
  reader: DatabaseReader,
  folder: string,
  governor: ExportedGovernor,
  progress?: (at: ExportProgress) => void,
): Promise<void> {
  const { tenant, sku, first, events } = governor;
  for (let file = fileOf(first); file <= fileOf(events); file++) {
    const done = Math.min(file * eventsPerFile, events);
    const full = done === file * eventsPerFile;
    await copy(reader, folder, governorPath(governor, file, full), full);
    progress?.({ log: `governor ${tenant}/${sku}`, done, of: events });
  }
}

/** `fixed`: it is the same whenever it is written, and need not be written again. */
async function copy(
  reader: DatabaseReader,
  folder: string,
  path: string,
  fixed: boolean,
): Promise<void> {
  const target = join(folder, path);
  if (fixed && (await exists(target))) return;
  const bytes = await reader.read(path);
  if (!bytes) throw new WritError('not_in_database', path);
  await mkdir(dirname(target), { recursive: true });
  const file = await open(`${target}.new`, 'w');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${target}.new`, target);
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );

/** The largest file of each kind that verification reads; no export of ours has a larger one. */
const limits: readonly (readonly [path: RegExp, bytes: number])[] = [
  [/\/tile\/entries\//, 256 * 65_537],
  [/\/tile\//, 256 * 32],
  [/\/checkpoint$/, 1_000_000],
  [/^export\.json$/, 64 * 2 ** 20],
];
const otherwise = 256 * 2 ** 20;

/**
 * The files of an export in a folder, for verifyExport; null for one that is not there. The export
 * may be hostile: only regular files inside the folder are read, up to a size, and no open waits.
 */
export function folderReader(folder: string): Reader {
  const root = realpath(folder);
  root.catch(() => undefined); // each read awaits it
  const folders = new Map<string, Promise<string>>();
  return async (path) => {
    try {
      const parent = dirname(join(folder, path));
      let real = folders.get(parent);
      if (!real) {
        real = realpath(parent);
        folders.set(parent, real);
        // A folder that is not there may be made while this reader is used.
        real.catch(() => folders.delete(parent));
      }
      const at = relative(await root, await real);
      if (at === '..' || at.startsWith(`..${sep}`) || isAbsolute(at))
        throw unreadable(path, 'its folder is a link out of the export');
      return await readBounded(join(await real, basename(path)), path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return null;
      const why = refusals[code ?? ''];
      throw why ? unreadable(path, why) : error;
    }
  };
}

async function readBounded(target: string, path: string): Promise<Uint8Array> {
  const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
  const file = await open(target, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw unreadable(path, 'it is not a regular file');
    const [, limit] = limits.find(([kind]) => kind.test(path)) ?? [path, otherwise];
    if (found.size > limit)
      throw unreadable(path, `it has ${found.size} bytes, and at most ${limit} are read`);
    const bytes = Buffer.allocUnsafe(found.size);
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return bytes.subarray(0, length);
  } finally {
    await file.close();
  }
}

/** Why a path leads to no file that verification reads. */
const refusals: Record<string, string> = {
  ELOOP: 'it is a link',
  EMLINK: 'it is a link',
  EISDIR: 'it is not a regular file',
  ENXIO: 'it is not a regular file',
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
  ENAMETOOLONG: 'its name is too long',
};

const unreadable = (path: string, why: string) =>
  new WritRefusal('invalid_export_file', `${path}: ${why}`);

/** Checks an export in a folder. No database is needed, and nothing in the folder is trusted. */
export function verifyFolder(
  folder: string,
  options: Omit<VerifyOptions, 'sha256'>,
): Promise<Verdict> {
  return verifyExport(folderReader(folder), { ...options, sha256: nodeSha256 });
}
