/**
 * Every login sets its own session up: no setting changes what a gate means, or what it leaves
 * behind for others.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { configure } from '../../src/index.js';
import { scene } from '../governance/scene.js';
import { makeDay, oldDays, oldJobs } from '../queue/old-jobs.js';
import { attackers } from './attackers.js';
import type { Login } from './logins.js';

const s = scene();
const enter = attackers(s);
let engine: Login;
beforeEach(async () => {
  engine = await enter(['writ_engine']);
});

test('no body that PostgreSQL parses in the session of its caller has a backslash in a plain string', async () => {
  const bodies = await s.sql<{ name: string; body: string }>(
    `select p.oid::regprocedure::text as name, p.prosrc as body from pg_proc p
     where p.pronamespace in ('writ'::regnamespace, 'writ_data'::regnamespace) and p.prosqlbody is null`,
  );
  expect(bodies.length).toBeGreaterThan(200);
  const plain = (body: string) => body.replaceAll(/--.*$/gm, '').replaceAll(/\be'[^']*'/gi, "''");
  expect(bodies.filter(({ body }) => plain(body).includes('\\')).map(({ name }) => name)).toEqual(
    [],
  );
});

test('an engine with other rules for string literals sets nothing of the clockwork aside', async () => {
  const contract = await s.propose({
    title: 'Late',
    scope: ['limits'],
    steps: [configure('limits', 'max', 1)],
  });
  await s.sql(
    `update writ_data.contract set due_at = now(), review_due_at = now() where contract_id = $1`,
    [contract.id],
  );
  await engine.query('set standard_conforming_strings = off');
  expect(await engine.call('fn_governance_tick', { actor: 'mallory' })).toMatchObject({ moved: 1 });
  expect(await contract.get()).toMatchObject({ status: 'EXPIRED' });
  await s.db.clock.advance('2s');
  await engine.call('fn_ledger_tick', { actor: 'mallory' });
  await engine.call('fn_job_tick', { actor: 'mallory' });
  expect(await s.alerts()).toEqual([]);
});

describe('a month that an engine makes', () => {
  const tables = ['receipt', 'governor_mail', 'governor_event', 'governor_settled'];

  test.each([
    ['Asia/Kolkata', 'SQL, DMY'],
    ['America/Chicago', 'Postgres, MDY'],
    ['<UTC>-5:30', 'German'],
  ])(
    'begins and ends with the month of UTC, although the engine lives in %s and writes %s',
    async (zone, style) => {
      const [row] = await s.sql<{ month: string }>(
        `select to_char((clock_timestamp() at time zone 'UTC')::date + interval '2 months', 'YYYYMM') as month`,
      );
      for (const table of tables) await s.sql(`drop table writ_data.${table}_${row?.month}`);
      await engine.query(
        `select set_config('timezone', $1, false), set_config('datestyle', $2, false)`,
        [zone, style],
      );
      await s.db.clock.advance('2h'); // the ledger looks once an hour
      await engine.call('fn_ledger_tick', { actor: 'mallory' });
      await engine.call('fn_governor_tick', { actor: 'mallory' });
      const bounds = await s.sql(
        `select c.relname as name, x.bounds[1]::timestamptz = m.first at time zone 'UTC'
         and x.bounds[2]::timestamptz = (m.first + interval '1 month') at time zone 'UTC' as right
       from pg_class c
       cross join lateral (
         select array_agg(b[1] order by n) as bounds
         from regexp_matches(pg_get_expr(c.relpartbound, c.oid), '[(]''([^'']+)''[)]', 'g') with ordinality r(b, n)) x
       cross join lateral (select to_date($1, 'YYYYMM')::timestamp as first) m
       where c.relnamespace = 'writ_data'::regnamespace and c.relname like '%' || $1 and c.relispartition and c.relkind = 'r'
       order by 1`,
        [row?.month],
      );
      expect(bounds).toEqual(
        [...tables].sort().map((name) => ({ name: `${name}_${row?.month}`, right: true })),
      );
    },
  );
});

test('the clockwork makes and drops days for a producer with another tablespace and tables of the same names', async () => {
  const producer = await enter(['writ_producer']);
  await producer.call('fn_job_kind_register', { kind: 'chore', definition: '{}', actor: 'p' });
  await makeDay(s.db, 100);
  await oldJobs(s.db, 100, 3, 'succeeded');
  const [kept] = await oldJobs(s.db, 100, 1, 'queued');
  const last = `(clock_timestamp() at time zone 'UTC')::date + (writ_data.setting('queue.partition.days_ahead'))::integer`;
  await s.sql(`do $$ declare t text; begin
    foreach t in array writ_data.day_tables() loop
      execute format('drop table writ_data.%I', t || to_char(${last}, '_YYYYMMDD'));
    end loop;
  end $$`);

  await producer.query('create temporary table carried_job (x integer)');
  await producer.query('create temporary table carried_execution (x integer)');
  await producer.query('set default_tablespace = pg_global');
  await s.db.clock.advance('2h'); // days are dropped once an hour
  await producer.call('fn_job_tick', { actor: 'mallory' });
  expect(await s.alerts()).toEqual([]);
  expect(await s.sql(`select writ_data.day_stands(${last}) as made`)).toEqual([{ made: true }]);
  expect(await oldDays(s.db, 'job_cleaned')).toEqual([100]);
  expect(
    await s.sql(
      'select job_id from writ_data.job where job_id < writ_data.uuid_floor(clock_timestamp() - $1::interval)',
      ['90 days'],
    ),
  ).toEqual([{ job_id: kept }]);
});
