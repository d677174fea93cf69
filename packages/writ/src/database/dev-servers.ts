/**
 * The servers for development that this user has started, one a folder (`writ dev`). Their records
 * lie in a folder of the user's own, never in the folder that a server is for: whoever gave you
 * that folder, as a repository or an archive, could have written there what they like, and a
 * command would send your password and key to an address of theirs. A record counts only if nobody
 * else could have written it and the server that it names runs on the data of that folder.
 */
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { WritError } from '../errors/index.js';
import type { EmbeddedServer } from './embedded.js';

/** A server for development: only ever at the loopback address. */
export interface DevServer {
  readonly pid: number;
  readonly port: number;
  readonly password: string;
}

interface Stored {
  /** The folder that the server is for, without symbolic links. */
  readonly folder: string;
  /** Missing while no server runs. */
  readonly server?: DevServer;
}

/** The folder of data for the current folder. */
export const serverFolder = (): string => resolve('.writ');

export const urlOf = ({ port, password }: DevServer): string =>
  `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;

const recordsFolder = (): string =>
  join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'writ', 'dev');

const recordOf = (folder: string): string =>
  join(recordsFolder(), `${createHash('sha256').update(folder).digest('hex').slice(0, 32)}.json`);

function realFolder(folder: string): string | undefined {
  try {
    return realpathSync(folder);
  } catch {
    return undefined;
  }
}

/**
 * The server that runs for this folder, if one does. A record that a crash left behind counts for
 * nothing.
 */
export function runningServer(folder = serverFolder()): DevServer | undefined {
  const real = realFolder(folder);
  const server = real === undefined ? undefined : stored(real)?.server;
  return server && servesData(server, join(real as string, 'data')) ? server : undefined;
}

/** Whether `writ dev` of this user has made the data of a folder. */
export function madeHere(folder: string): boolean {
  const real = realFolder(folder);
  return real !== undefined && stored(real) !== undefined;
}

/**
 * Leaves word that this user's `writ dev` made a folder's data, and which server runs on it now.
 */
export function keepRecord(folder: string, server?: DevServer): void {
  const real = realpathSync(folder);
  const path = recordOf(real);
  const record: Stored = { folder: real, ...(server && { server }) };
  try {
    mkdirSync(recordsFolder(), { recursive: true, mode: 0o700 });
    assertOwn(recordsFolder(), 'folder');
    const beside = `${path}.${process.pid}`;
    rmSync(beside, { force: true });
    writeFileSync(beside, `${JSON.stringify(record)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(beside, path);
    forgetGone();
  } catch (error) {
    if (error instanceof WritError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new WritError('dev_record_unwritable', `${path}: ${code}`, { cause: error });
  }
}

/** Leaves word that no server runs for this folder any more. */
export function forgetServer(folder: string): void {
  try {
    keepRecord(folder);
  } catch {
    // The folder is gone, or cannot be written: a server that has ended is found out by its
    // process.
  }
}

/** Records of folders that are no longer there. */
function forgetGone(): void {
  for (const name of readdirSync(recordsFolder()).filter((each) => each.endsWith('.json'))) {
    try {
      const { folder } = JSON.parse(readFileSync(join(recordsFolder(), name), 'utf8')) as Stored;
      if (realFolder(folder) === undefined) rmSync(join(recordsFolder(), name), { force: true });
    } catch {
      // Not a record of ours.
    }
  }
}

function stored(folder: string): Stored | undefined {
  const path = recordOf(folder);
  let text: string;
  try {
    assertOwn(recordsFolder(), 'folder');
    assertOwn(path, 'file');
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const record = JSON.parse(text) as Stored;
    return record.folder === folder ? record : undefined;
  } catch {
    return undefined; // cut short by a full disk
  }
}

/** Refuses what another user owns or can write: it could say anything. */
function assertOwn(path: string, what: 'file' | 'folder'): void {
  const stat = lstatSync(path);
  const wrong =
    notOwn(stat) ??
    ((what === 'file' ? stat.isFile() : stat.isDirectory()) ? undefined : `is not a ${what}`);
  if (wrong !== undefined) throw new WritError('dev_record_untrusted', `${path} ${wrong}`);
}

function notOwn({ uid, mode }: Stats): string | undefined {
  if (process.getuid === undefined) return undefined; // a system without such owners
  if (uid !== process.getuid()) return 'belongs to another user';
  return (mode & 0o022) === 0 ? undefined : 'can be written by other users';
}

/**
 * Whether this process is the server of that data, at that port. PostgreSQL says so in
 * postmaster.pid; the system says that the process is there, is this user's and, on Linux, works in
 * that folder.
 */
function servesData({ pid, port }: DevServer, data: string): boolean {
  try {
    const [first, , , fourth] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
    if (Number(first) !== pid || Number(fourth) !== port) return false;
    process.kill(pid, 0); // throws for one that is gone, and for another user's
    return process.platform !== 'linux' || readlinkSync(`/proc/${pid}/cwd`) === data;
  } catch {
    return false;
  }
}

/** Whether a process is there, be it this user's or another's. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // there, but another user's
  }
}

/**
 * Ends an embedded server. One that is gone already, as after a Ctrl-C that reached it too, is not
 * waited for.
 */
export async function stopServer(server: EmbeddedServer): Promise<void> {
  if (server.pid !== undefined && isAlive(server.pid)) await server.stop();
}
