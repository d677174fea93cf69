import pg from 'pg';
import { afterEach, expect, test, vi } from 'vitest';
import { Flags, type FollowFlagsOptions } from '../../src/governance/flags.js';
import { scene } from './scene.js';

const s = scene();
const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});
const within = <T>(check: () => Promise<T> | T) =>
  vi.waitFor(check, { timeout: 20_000, interval: 5 });

/** Follows, with what it asked the database. */
async function following(options: FollowFlagsOptions = {}) {
  const pool = new pg.Pool({ connectionString: s.db.connectionString, max: 2 });
  opened.push(() => pool.end());
  const asked: Record<string, { targets?: string[]; known?: string }>[] = [];
  const db = {
    query: (sql: string, params: unknown[] = []) => {
      asked.push(JSON.parse(String(params[0])));
      return pool.query(sql, params);
    },
  };
  const flags = new Flags(
    { db, listenConnection: { connectionString: s.db.directConnectionString } },
    { poll: '1h', ...options },
  );
  opened.push(() => flags.stop());
  await flags.start();
  asked.splice(0);
  return { flags, asked };
}

test('asks once for what changed together', async () => {
  const told: string[] = [];
  const { flags, asked } = await following({ onChanged: (_, names) => told.push(...names) });
  const names = Array.from({ length: 50 }, (_, n) => `c${n}`);
  await s.writ.capabilities.put(
    names.map((name) => ({ capability_name: name })),
    { as: s.keys.ops },
  );
  await within(() => expect(new Set(told)).toEqual(new Set(names)));
  // The notifications of one commit come in one piece of the stream, or in a few.
  expect(asked.length).toBeLessThanOrEqual(5);
  expect(await flags.get('c7')).toMatchObject({ value: 'DISABLED' });
  expect(told).toHaveLength(50);
});

test('a fingerprint is equal for what is known, so that nothing is sent, also with names that sort differently elsewhere', async () => {
  await s.writ.capabilities.put(
    [
      {
        scope: 'words',
        owner_capability: 'search',
        values: { ä: 1, z: 2, Z: 3, '😀': 4, '': 5, 'a b': 6 },
      },
    ],
    {
      as: s.keys.ops,
    },
  );
  const told: string[] = [];
  const { asked } = await following({ poll: '20ms', onChanged: (_, names) => told.push(...names) });
  await within(() => expect(asked.length).toBeGreaterThan(2));
  const [{ answer }] = (await s.sql('select writ.fn_flags($1) as answer', [
    JSON.stringify(asked.at(-1)),
  ])) as [{ answer: object }];
  expect(answer).toEqual({});
  expect(told).toEqual([]);
});

test('a version that is another is found by the clock, though nobody was told', async () => {
  const told: string[] = [];
  const { flags } = await following({ poll: '20ms', onChanged: (_, names) => told.push(...names) });
  await s.sql(`update writ_data.configuration set value = '7', version = 99 where key = 'max'`);
  await within(async () =>
    expect(await flags.get('limits#max')).toEqual({ value: 7, version: 99 }),
  );
  expect(told).toEqual(['limits#max']);
});

test('whoever is told of changes and throws keeps flags from nobody', async () => {
  const told: string[] = [];
  const broken = (what: string) => {
    told.push(what);
    throw new Error('the cache is full');
  };
  let away = false;
  const pool = new pg.Pool({ connectionString: s.db.connectionString, max: 2 });
  opened.push(() => pool.end());
  const db = {
    query: (sql: string, params: unknown[] = []) => {
      if (away) throw new Error('away');
      return pool.query(sql, params);
    },
  };
  const flags = new Flags(
    { db, listenConnection: undefined },
    {
      poll: '20ms',
      onChanged: async () => broken('changed'),
      onBack: () => broken('back'),
      onAway: () => broken('away'),
    },
  );
  opened.push(() => flags.stop());
  await flags.start();
  away = true;
  await within(() => expect(told).toEqual(['back', 'away']));
  away = false;
  await within(() => expect(told).toEqual(['back', 'away', 'back']));
  for (const value of ['7', '8']) {
    const before = told.length;
    await s.sql(
      `update writ_data.configuration set value = $1, version = version + 1 where key = 'max'`,
      [value],
    );
    await within(() => expect(told.slice(before)).toEqual(['changed']));
    expect(await flags.get('limits#max')).toMatchObject({ value: Number(value) });
  }
});

test('whoever is bound to one tenant reads no flags of another', async () => {
  const bound = `with bound as materialized (select set_config('writ.tenant', $2, true)) select writ.fn_flags($1) as answer from bound`;
  const flagsOf = async (tenant: string, as: string) =>
    (await s.sql(bound, [JSON.stringify({ [tenant]: {} }), as]))[0]?.answer;
  expect(await flagsOf('default', 'default')).toMatchObject({
    default: { search: [1, 'LAUNCHED'] },
  });
  expect(await flagsOf('default', 'acme')).toMatchObject({
    refused: true,
    reason: 'TENANT_ACCESS_DENIED',
  });
});
