/**
 * Who may do what, from the first line of each SQL file, tried by really doing it as a user that
 * holds one role and nothing else. Each call is made with NULLs and rolled back: whether the gate
 * then refuses is its own affair, whether PostgreSQL lets the call through is ours.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { owner, roles } from '../../src/database/roles.js';
import { readSchemaObjects } from '../../src/database/schema.js';
import { sharedGates } from '../queue/gates/harness.js';

const gates = sharedGates();
const objects = readSchemaObjects();
const named = (type: string) => objects.filter((object) => object.type === type);
const holders = [...roles, 'nobody'] as const;
const suffix = randomBytes(4).toString('hex');
const userOf = (holder: string) => `test_${holder}_${suffix}`;
const clients = new Map<string, pg.Client>();

beforeAll(async () => {
  for (const holder of holders) {
    await gates.db.query(`create role ${userOf(holder)} login password 'test'`);
    if (holder !== 'nobody') await gates.db.query(`grant ${holder} to ${userOf(holder)}`);
    const url = new URL(gates.db.connectionString);
    url.username = userOf(holder);
    url.password = 'test';
    const client = new pg.Client({ connectionString: url.toString() });
    await client.connect();
    clients.set(holder, client);
  }
});
afterAll(async () => {
  for (const [holder, client] of clients) {
    await client.end();
    await gates.db.query(`drop owned by ${userOf(holder)}`);
    await gates.db.query(`drop role ${userOf(holder)}`);
  }
});

/**
 * Runs a statement as the holder of one role, and takes it back. Answers the SQLSTATE of what it
 * raised, or 'done'.
 */
async function attempt(holder: string, ...statements: string[]): Promise<string> {
  const client = clients.get(holder) as pg.Client;
  await client.query('begin');
  try {
    for (const sql of statements) await client.query(sql);
    return 'done';
  } catch (error) {
    return String((error as { code?: string }).code);
  } finally {
    await client.query('rollback');
  }
}

async function callOf(name: string): Promise<string> {
  const [row] = await gates.db.query(
    `select coalesce(string_agg('null::' || format_type(t, null), ', ' order by n), '') as arguments
     from pg_proc p left join lateral unnest(p.proargtypes) with ordinality a(t, n) on true where p.oid = $1::regproc`,
    [name],
  );
  return `select ${name}(${row?.arguments})`;
}

describe.each(holders)('%s', (holder) => {
  test.each(
    named('gate').map(({ name, roles: allowed }) => [name, allowed.includes(holder)] as const),
  )('may call %s: %s', async (name, allowed) => {
    expect((await attempt(holder, await callOf(name))) !== '42501').toBe(allowed);
  });

  test.each(
    named('view').map(({ name, roles: allowed }) => [name, allowed.includes(holder)] as const),
  )('may read %s: %s', async (name, allowed) => {
    expect(await attempt(holder, `select * from ${name}`)).toBe(allowed ? 'done' : '42501');
  });

  test.each(named('view').map(({ name }) => name))('may not write %s', async (name) => {
    for (const sql of [`delete from ${name}`, `insert into ${name} select * from ${name}`]) {
      // not allowed, or not possible through this view
      expect(['42501', '55000', '0A000']).toContain(await attempt(holder, sql));
    }
    const privileges = ['insert', 'update', 'delete', 'truncate'];
    const rows = await gates.db.query(
      'select bool_or(has_table_privilege($1, $2, p)) as any from unnest($3::text[]) p',
      [userOf(holder), name, privileges],
    );
    expect(rows).toEqual([{ any: false }]);
  });

  test.each(named('internal').map(({ name }) => name))('may not call %s', async (name) => {
    expect(await attempt(holder, await callOf(name))).toBe('42501');
  });

  test('may touch no table of writ_data', async () => {
    const tables = await gates.db.query(
      `select tablename as name from pg_tables where schemaname = 'writ_data'`,
    );
    expect(tables.length).toBeGreaterThan(10);
    for (const { name } of tables) {
      for (const sql of ['select * from', 'delete from', 'truncate', 'insert into']) {
        const tail = sql === 'insert into' ? ' default values' : '';
        expect([name, sql, await attempt(holder, `${sql} writ_data.${name}${tail}`)]).toEqual([
          name,
          sql,
          '42501',
        ]);
      }
    }
  });

  test('may create nothing in our schemas', async () => {
    for (const schema of ['writ', 'writ_data']) {
      expect(await attempt(holder, `create table ${schema}.mine ()`)).toBe('42501');
      expect(
        await attempt(
          holder,
          `create function ${schema}.mine() returns int language sql as 'select 1'`,
        ),
      ).toBe('42501');
    }
    expect(
      await attempt(
        holder,
        `create or replace function writ.now() returns timestamptz language sql as 'select null::timestamptz'`,
      ),
    ).toBe('42501');
    expect(await attempt(holder, `set role ${owner}`)).toBe('42501');
  });
});

test('PUBLIC may execute, read and use nothing of ours', async () => {
  const open = await gates.db.query(
    `select p.oid::regprocedure::text as what from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname in ('writ', 'writ_data') and (p.proacl is null or exists (select from aclexplode(p.proacl) a where a.grantee = 0))
     union all select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('writ', 'writ_data') and exists (select from aclexplode(c.relacl) a where a.grantee = 0)
     union all select n.nspname from pg_namespace n
     where n.nspname in ('writ', 'writ_data') and exists (select from aclexplode(n.nspacl) a where a.grantee = 0)`,
  );
  expect(open).toEqual([]);
});

test('every function and view of schema writ has a file, writ.now() aside', async () => {
  const found = await gates.db.query(
    `select p.oid::regproc::text as name from pg_proc p where pronamespace = 'writ'::regnamespace
     union all select c.oid::regclass::text from pg_class c where relnamespace = 'writ'::regnamespace and relkind in ('r', 'v', 'm', 'p', 'f') order by 1`,
  );
  const files = [...named('gate'), ...named('view')].map(({ name }) => name);
  expect(found.map(({ name }) => name)).toEqual([...files, 'writ.now'].sort());
});

test('what runs with the rights of the owner has a pinned search_path that ends with pg_temp', async () => {
  const rows = await gates.db.query(
    `select p.oid::regproc::text as name, coalesce((select s from unnest(p.proconfig) s where s like 'search_path=%'), 'none') as path
     from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname in ('writ', 'writ_data') and p.prosecdef`,
  );
  expect(rows.length).toBe(named('gate').length);
  for (const { name, path } of rows)
    expect([name, path]).toEqual([name, 'search_path=pg_catalog, pg_temp']);
});

test('only gates run with the rights of the owner', async () => {
  const rows = await gates.db.query(
    `select p.oid::regproc::text as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname in ('writ', 'writ_data') and p.prosecdef order by 1`,
  );
  expect(rows.map(({ name }) => name)).toEqual(
    named('gate')
      .map(({ name }) => name)
      .sort(),
  );
});

test('everything belongs to writ_owner, which nobody logs in as and which is nobody special', async () => {
  const strangers = await gates.db.query(
    `select c.oid::regclass::text as what from pg_class c where relnamespace in ('writ'::regnamespace, 'writ_data'::regnamespace) and relowner <> $1::regrole
     union all select p.oid::regproc::text from pg_proc p where pronamespace in ('writ'::regnamespace, 'writ_data'::regnamespace) and proowner <> $1::regrole
     union all select nspname from pg_namespace where nspname in ('writ', 'writ_data') and nspowner <> $1::regrole`,
    [owner],
  );
  expect(strangers).toEqual([]);
  expect(
    await gates.db.query(
      'select rolcanlogin, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication from pg_roles where rolname = $1',
      [owner],
    ),
  ).toEqual([
    {
      rolcanlogin: false,
      rolsuper: false,
      rolbypassrls: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolreplication: false,
    },
  ]);
});

describe('an attack by name', () => {
  const claim = `select writ.fn_job_claim('chore', 'external_worker', null, 'mallory', 30)`;
  const health = 'select writ.fn_job_queue_health()';

  test('temporary tables that are called like ours are not read', async () => {
    const traps = ['job', 'job_ready', 'job_lease', 'dot_config', 'job_kind', 'job_execution'].map(
      (table) => `create temp table ${table} (key text, value jsonb, job_id uuid)`,
    );
    expect(
      await attempt(
        'dot_executor',
        ...traps,
        'set local search_path = pg_temp, writ_data, public',
        health,
        claim,
      ),
    ).toBe('done');
  });

  test('functions, operators and types of the attacker in front of the search_path are not called', async () => {
    await gates.db.query(`create schema mallory_${suffix} authorization ${userOf('dot_executor')}`);
    const schema = `mallory_${suffix}`;
    const trap = (name: string, args: string, result: string) =>
      `create function ${schema}.${name}(${args}) returns ${result} language plpgsql as $$ begin raise exception 'trapped as %', current_user using errcode = 'ZZ666'; end $$`;
    const traps = [
      trap('now', '', 'timestamptz'),
      trap('clock_timestamp', '', 'timestamptz'),
      trap('btrim', 'text', 'text'),
      trap('format', 'text', 'text'),
      trap('unnest', 'anyarray', 'text'),
      trap('jsonb_build_object', 'text, text', 'jsonb'),
      trap('text_equals', 'text, text', 'boolean'),
      trap('refusal', 'text, text', 'jsonb'),
      trap('setting', 'text', 'jsonb'),
      `create operator ${schema}.= (leftarg = text, rightarg = text, function = ${schema}.text_equals)`,
      `create operator ${schema}.<> (leftarg = text, rightarg = text, function = ${schema}.text_equals)`,
    ];
    const enter = `set local search_path = ${schema}, pg_temp, pg_catalog, writ_data`;
    expect(await attempt('dot_executor', ...traps, enter, `select 'a'::text = 'b'::text`)).toBe(
      'ZZ666',
    );
    const calls = await Promise.all(
      named('gate')
        .filter((gate) => gate.roles.includes('dot_executor'))
        .map((gate) => callOf(gate.name)),
    );
    for (const call of [health, claim, ...calls]) {
      expect([call, (await attempt('dot_executor', ...traps, enter, call)) === 'ZZ666']).toEqual([
        call,
        false,
      ]);
    }
  });

  test('a view does not run functions of the attacker with the rights of the owner', async () => {
    const spy = `create function pg_temp.spy(text) returns boolean language plpgsql cost 0.0000001 as $$ begin raise exception '%', current_user using errcode = 'ZZ667'; end $$`;
    await gates.register();
    await gates.enqueue();
    const client = clients.get('writ_auditor') as pg.Client;
    await client.query('begin');
    await client.query(spy);
    const outcome = await client
      .query('select * from writ.job_queue where pg_temp.spy(tenant_id)')
      .catch((error: Error) => error);
    await client.query('rollback');
    expect((outcome as Error).message).toBe(userOf('writ_auditor'));
  });
});
