/**
 * From 1.0.0 on a release upgrades the database in place while processes of the release before go
 * on. Two small releases show it (releases.ts).
 */
import type pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { isNewer, isPrerelease } from '../../src/database/made-by.js';
import { migrate, planMigration } from '../../src/database/migrate.js';
import { readRelease } from '../../src/database/schema.js';
import { testDatabase } from '../../src/testing/index.js';
import { cents, centsOnly, type EmptyDatabase, emptyDatabase, euros, release } from './releases.js';

const before = release(euros);
const after = release(cents);

let db: EmptyDatabase;
let client: pg.Client;

beforeAll(async () => (await testDatabase()).drop()); // roles are the whole server's
beforeEach(async () => {
  db = await emptyDatabase();
  client = await db.connect();
  await migrate(client, {}, before);
});
afterEach(() => db.drop());

const answer = async (sql: string, by = client) =>
  (await by.query(`select ${sql} as answer`)).rows[0].answer;
const payers = ['writ.payer', 'writ.payer_count', 'writ_data.payers'];
const mayPay = (role: string) =>
  answer(`has_function_privilege('${role}', 'writ.fn_pay(text, integer, text)', 'execute')`);
const mark = () => answer(`obj_description('writ'::regnamespace, 'pg_namespace')`);

interface Load {
  readonly calls: { readonly release: string }[];
  /** Ends the load and answers how many euros it paid. */
  stop(): Promise<number>;
}

/** Four sessions that pay one euro after another, and one that reads; with prepared statements. */
async function underLoad(): Promise<Load> {
  const calls: { readonly release: string }[] = [];
  let going = true;
  let paid = 0;
  const sessions = await Promise.all(['a', 'b', 'c', 'd', 'reader'].map(() => db.connect()));
  const work = sessions.map(async (session, index) => {
    const account = 'abcd'[index];
    const statement = account
      ? { name: 'pay', text: 'select writ.fn_pay($1, $2) as answer', values: [account, 1] }
      : { name: 'read', text: 'select writ.fn_read() as answer' };
    let last = '';
    while (going) {
      const [{ answer: found }] = (await session.query(statement)).rows;
      if (account) paid++;
      else expect(found.balance).toBe(found.payments);
      expect(found.release >= last).toBe(true);
      last = found.release;
      calls.push(found);
    }
  });
  const all = Promise.all(work);
  all.catch(() => undefined); // stop() reports it
  return {
    calls,
    stop: async () => {
      going = false;
      await all;
      return paid;
    },
  };
}

const seen = (load: Load, version: string) =>
  vi.waitFor(
    () => expect(load.calls.filter((call) => call.release === version).length).toBeGreaterThan(20),
    {
      timeout: 20_000,
      interval: 10,
    },
  );

describe('an upgrade in place', () => {
  test('loses no call and shows none a half state', async () => {
    const load = await underLoad();
    await seen(load, '1.0.0');
    const plan = await migrate(await db.connect(), {}, after);
    expect(plan.migrations.map(({ name }) => name)).toEqual(['cents']);
    await seen(load, '1.1.0');
    const paid = await load.stop();
    expect(await answer('writ.fn_read()')).toEqual({
      release: '1.1.0',
      payments: paid,
      balance: paid,
    });
    expect(await mark()).toMatch(/^Writ 1\.1\.0, base /);
  });

  test('by two installers at once happens once', async () => {
    const load = await underLoad();
    await seen(load, '1.0.0');
    const installers = await Promise.all([db.connect(), db.connect()]);
    const plans = await Promise.all(installers.map((one) => migrate(one, {}, after)));
    await seen(load, '1.1.0');
    const paid = await load.stop();
    expect(plans.map((plan) => plan.migrations.length).sort()).toEqual([0, 1]);
    expect(await answer('writ.fn_read()')).toMatchObject({ payments: paid, balance: paid });
  });

  test('leaves the calls of the release before working', async () => {
    await migrate(client, {}, after);
    expect(await answer(`writ.fn_pay('a', 1)`)).toEqual({ release: '1.1.0' });
    expect(await answer(`writ.fn_pay('a', 1, 'with a note')`)).toEqual({ release: '1.1.0' });
  });

  test('leaves no doorkeeper behind', async () => {
    await migrate(client, {}, after);
    const { rows } = await client.query(
      `select oid::regprocedure::text as gate from pg_proc where prosecdef
       and (pronamespace = 'writ_data'::regnamespace or prosrc like '%writ_data.door%')`,
    );
    expect(rows).toEqual([]);
  });
});

describe('a crash in the middle of an upgrade', () => {
  /** The upgrade, but its migration does not come to an end. */
  const stuck = release({
    ...cents,
    'sql/migrations/0002_cents.sql': `${cents['sql/migrations/0002_cents.sql']} select pg_sleep(60);`,
  });

  async function crash(): Promise<void> {
    const installer = await db.connect();
    const upgrading = migrate(installer, {}, stuck);
    upgrading.catch(() => undefined); // expected below
    const sleeping = `select pid from pg_stat_activity
      where datname = current_database() and wait_event = 'PgSleep' and query like '%pg_sleep(60)%'`;
    const pid = await vi.waitFor(
      async () => {
        const { rows } = await client.query(sleeping);
        expect(rows).toHaveLength(1);
        return rows[0].pid;
      },
      { timeout: 20_000, interval: 10 },
    );
    await client.query('select pg_terminate_backend($1)', [pid]);
    await expect(upgrading).rejects.toThrow();
  }

  test('leaves the release before working, and the next try succeeds', async () => {
    const load = await underLoad();
    await seen(load, '1.0.0');
    await crash();
    const calls = load.calls.length;
    await vi.waitFor(() => expect(load.calls.length).toBeGreaterThan(calls + 20), {
      timeout: 20_000,
    });
    expect(load.calls.every((call) => call.release === '1.0.0')).toBe(true);
    expect(await mark()).toMatch(/^Writ 1\.0\.0, /);

    await migrate(client, {}, after);
    await seen(load, '1.1.0');
    const paid = await load.stop();
    expect(await answer('writ.fn_read()')).toMatchObject({ payments: paid, balance: paid });
  });
});

describe('from 1.0.0 on', () => {
  const changed = release({
    ...cents,
    'sql/migrations/0001_payments.sql': `${euros['sql/migrations/0001_payments.sql']}-- changed\n`,
  });

  test('a release whose applied migration differs is refused', async () => {
    await expect(planMigration(client, changed)).rejects.toMatchObject({ code: 'schema_changed' });
    await expect(migrate(client, {}, changed)).rejects.toMatchObject({ code: 'schema_changed' });
    expect(await answer('writ.fn_read()')).toMatchObject({ release: '1.0.0' });
  });

  test('a package that is too old for a breaking schema is refused', async () => {
    const breaking = release({
      ...cents,
      'sql/migrations/0002_cents.sql': `-- breaking\n${cents['sql/migrations/0002_cents.sql']}`,
    });
    await migrate(client, {}, breaking);
    await expect(migrate(client, {}, before)).rejects.toMatchObject({ code: 'schema_newer' });
    expect(await answer('writ.fn_read()')).toMatchObject({ release: '1.1.0' });
  });

  test('an older package leaves a newer schema and its grants as they are', async () => {
    await migrate(client, {}, after);
    const older = {
      ...before,
      objects: before.objects.map((object) => ({ ...object, roles: ['writ_auditor'] })),
    };
    expect(await migrate(client, {}, older)).toMatchObject({ migrations: [], objects: [] });
    expect(await answer('writ.fn_read()')).toMatchObject({ release: '1.1.0' });
    expect(await mark()).toMatch(/^Writ 1\.1\.0, /);
    expect(await mayPay('writ_producer')).toBe(true);
    expect(await mayPay('writ_auditor')).toBe(false);
  });

  test('an older package leaves a newer schema with the same migrations as it is', async () => {
    const patch = release({
      ...cents,
      'package.json': '{ "version": "1.1.1" }',
      'sql/payments/gates/fn_read.sql': String(cents['sql/payments/gates/fn_read.sql']).replaceAll(
        '1.1.0',
        '1.1.1',
      ),
    });
    await migrate(client, {}, patch);
    expect(await migrate(client, {}, after)).toMatchObject({ objects: [], isOlder: true });
    expect(await answer('writ.fn_read()')).toMatchObject({ release: '1.1.1' });
    expect(await mark()).toMatch(/^Writ 1\.1\.1, /);
  });

  test('a release keeps the functions and views of the release before it', async () => {
    expect(await migrate(client, {}, after)).toMatchObject({ removed: [] });
    await client.query(`select writ.fn_pay('a', 1)`);
    expect(await answer('(select payers from writ.payer_count)')).toBe('1');
  });

  test.each([
    ['one release after the other', true],
    ['at once', false],
  ])(
    '%s, the functions and views of earlier releases are dropped, callers first',
    async (_, each) => {
      if (each) await migrate(client, {}, after);
      const steps: string[] = [];
      const { removed } = await migrate(
        client,
        { onProgress: (step) => void steps.push(step) },
        release(centsOnly),
      );
      expect([...removed].sort()).toEqual(payers);
      expect(steps.filter((step) => step.startsWith('drop '))).toEqual([
        'drop view writ.payer_count',
        'drop function writ_data.payers()',
        'drop view writ.payer',
      ]);
      const { rows } = await client.query(
        `select name from writ_data.schema_object where name = any ($1)
       union all select proname from pg_proc where proname = 'payers'
       union all select relname from pg_class where relname in ('payer', 'payer_count')`,
        [payers],
      );
      expect(rows).toEqual([]);
      expect(await planMigration(client, release(centsOnly))).toMatchObject({ removed: [] });
      expect(await answer('writ.fn_read()')).toMatchObject({ release: '1.1.0' });
    },
  );

  test('what something else needs stays until that has gone', async () => {
    await migrate(client, {}, after);
    await client.query('create view public.mine as select * from writ.payer');
    await migrate(client, {}, release(centsOnly));
    expect(await answer('(select count(*) from mine)')).toBe('0');
    await client.query('drop view public.mine');
    expect(await migrate(client, {}, release(centsOnly))).toMatchObject({
      removed: ['writ.payer'],
    });
    expect(await answer(`to_regclass('writ.payer')`)).toBeNull();
  });

  test('a package that does not know its predecessor removes nothing', async () => {
    const unknowing = { ...release(centsOnly), predecessor: undefined };
    expect(await migrate(client, {}, unknowing)).toMatchObject({ removed: [] });
    expect(await answer('(select count(*) from writ.payer)')).toBe('0');
  });

  test('this package ships the list of its predecessor', () => {
    const { version, predecessor } = readRelease();
    if (isPrerelease(version) || version === '1.0.0') expect(predecessor).toBeUndefined();
    else expect(isNewer(version, predecessor?.version ?? version)).toBe(true);
  });

  test.each([
    ['1.1.0', '1.0.9', true],
    ['1.10.0', '1.9.0', true],
    ['1.0.0', '1.0.0-rc.1', true],
    ['1.0.0-rc.1', '1.0.0', false],
    ['2.0.0', '2.0.0', false],
    ['1.9.0', '1.10.0', false],
  ])('%s is newer than %s: %s', (a, b, yes) => {
    expect(isNewer(a, b)).toBe(yes);
  });
});

describe('until 1.0.0', () => {
  const version = (number: string, files = euros) =>
    release({ ...files, 'package.json': `{ "version": "${number}" }` });

  test.each([
    ['another pre-release', version('0.9.0'), version('0.10.0')],
    ['the first release', version('0.9.0'), version('1.0.0')],
    ['a release candidate', version('1.0.0-rc.1'), version('1.0.0-rc.2')],
    [
      'a build of the same pre-release with another base',
      version('0.9.0'),
      version('0.9.0', cents),
    ],
  ])('%s refuses the database of a pre-release', async (_, made, other) => {
    const fresh = await emptyDatabase();
    try {
      const installer = await fresh.connect();
      await migrate(installer, {}, made);
      for (const attempt of [planMigration(installer, other), migrate(installer, {}, other)]) {
        await expect(attempt).rejects.toMatchObject({
          code: 'schema_prerelease',
          message: expect.stringContaining('another pre-release of Writ'),
          remedy: expect.stringContaining('Create a new database'),
        });
      }
      expect(await answer('writ.fn_read()', installer)).toMatchObject({ release: '1.0.0' });
    } finally {
      await fresh.drop();
    }
  });

  test('a build of the same pre-release replaces gates', async () => {
    const fresh = await emptyDatabase();
    try {
      const installer = await fresh.connect();
      await migrate(installer, {}, version('0.9.0'));
      const gate = `${euros['sql/payments/gates/fn_read.sql']}`.replaceAll('1.0.0', 'changed');
      await migrate(
        installer,
        {},
        version('0.9.0', { ...euros, 'sql/payments/gates/fn_read.sql': gate }),
      );
      expect(await answer('writ.fn_read()', installer)).toMatchObject({ release: 'changed' });
    } finally {
      await fresh.drop();
    }
  });
});
