/** What the upgrade tests share: an empty database, worker processes of either version, and the upgrade itself, by the command that people use. */
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import type { ConnectOptions } from '../../src/index.js';
import type { Package } from './packages.js';

const script = fileURLToPath(new URL('./worker-process.mjs', import.meta.url));

export interface EmptyDatabase {
  readonly connection: ConnectOptions & { readonly connectionString: string };
  query(sql: string, params?: unknown[]): Promise<Record<string, unknown>[]>;
  drop(): Promise<void>;
}

export async function emptyDatabase(): Promise<EmptyDatabase> {
  const admin = new pg.Client({ connectionString: process.env.WRIT_TEST_DATABASE_URL });
  await admin.connect();
  const name = `writ_upgrade_${randomBytes(6).toString('hex')}`;
  await admin.query(`create database ${name}`);
  const urlOf = (server: string) => Object.assign(new URL(server), { pathname: `/${name}` }).toString();
  const direct = urlOf(String(process.env.WRIT_TEST_DATABASE_URL));
  const connectionString = urlOf(process.env.WRIT_TEST_POOLER_URL ?? String(process.env.WRIT_TEST_DATABASE_URL));
  const pool = new pg.Pool({ connectionString, max: 2 });
  pool.on('error', () => undefined); // the database is dropped under it
  return {
    connection: { connectionString, listenConnectionString: direct },
    query: async (sql, params) => (await pool.query(sql, params)).rows,
    drop: async () => {
      await pool.end();
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

export interface WorkerProcess {
  /** Slow jobs that it has begun. */
  readonly begun: readonly string[];
  /** Lets its slow jobs end. */
  letGo(): void;
  /** Stops it, and answers what went wrong in the worker itself. */
  stop(): Promise<string[]>;
  kill(): Promise<void>;
}

export async function startWorker({ folder }: Package, name: string, connection: ConnectOptions): Promise<WorkerProcess> {
  const child: ChildProcess = fork(script, [folder, name], {
    env: { ...process.env, WRIT_UPGRADE: JSON.stringify(connection) },
    execArgv: [],
  });
  const begun: string[] = [];
  let errors: string[] = [];
  const ready = new Promise<void>((done, failed) => {
    child.once('exit', (code) => failed(new Error(`the worker ended with ${code}`)));
    child.on('message', (word: { type: string; jobId?: string; errors?: string[] }) => {
      if (word.type === 'ready') done();
      else if (word.type === 'begun') begun.push(String(word.jobId));
      else errors = word.errors ?? [];
    });
  });
  await ready;
  const ended = () => (child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, 'exit'));
  return {
    begun,
    letGo: () => void child.send('let go'),
    stop: async () => {
      child.send('stop');
      await ended();
      return errors;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended();
    },
  };
}

/** `writ migrate` of a version; answers what it did. Throws with what it said when it fails. */
export async function migrate({ folder }: Package, connectionString: string): Promise<{ from: number; to: number; migrations: unknown[] }> {
  const main = join(folder, 'dist/cli/main.js');
  const { stdout } = await promisify(execFile)(process.execPath, [main, 'migrate', '--json', '--database-url', connectionString]);
  return JSON.parse(stdout);
}
