/** The doctor as a program calls it: `writ.doctor.look`. */
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';

let db: TestDatabase;
let writ: Writ;
beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
});
afterEach(() => db.drop());

test('answers the code and the facts of what it finds, and names no command', async () => {
  await writ.enqueue(defineJob('greet'));
  await writ.destinations.put('shop', {
    bus: 'webhook',
    config: { url: 'https://example.com', secrets: ['s'] },
  });
  await writ.destinations.pause('shop', { note: 'they move house' });
  const { ok, installed, findings } = await writ.doctor.look({
    only: ['workers', 'destinations', 'leases'],
  });
  expect({ ok, installed }).toEqual({ ok: false, installed: true });
  expect(findings).toMatchObject([
    { check: 'workers', level: 'error', code: 'workers_none', facts: { backlog: 1 } },
    { check: 'leases', level: 'ok', code: 'ok' },
    {
      check: 'destinations',
      level: 'warning',
      code: 'destination_paused',
      facts: { name: 'shop' },
    },
  ]);
  expect(JSON.stringify(findings)).not.toContain('remedy');
});

test('names every check but those of a pooler on a connection of the caller’s own', async () => {
  const checks = async (one: Writ) =>
    new Set((await one.doctor.look()).findings.map(({ check }) => check));
  const own = await checks(writ);
  const given = await Writ.connect({
    db: {
      query: async (sql: string, params?: unknown[]) => ({ rows: await db.query(sql, params) }),
    },
  });
  const callers = await checks(given);
  await given.close();
  expect([...own].filter((check) => !callers.has(check))).toEqual(['pooler']);
});

test('ends a read that takes too long, says so, and goes on with the next check', async () => {
  const { findings } = await db.connect().then(async (other) => {
    const release = await locked('writ_data.destination');
    try {
      return await other.doctor.look({ only: ['leases', 'destinations'], timeout: '200ms' });
    } finally {
      await release();
    }
  });
  expect(findings).toMatchObject([
    { check: 'leases', level: 'ok' },
    {
      check: 'destinations',
      level: 'warning',
      code: 'check_failed',
      says: expect.stringContaining('statement timeout'),
    },
  ]);
});

test('looks at a schema of another pre-release only where the connection allows it', async () => {
  await db.query(`comment on schema writ is 'Writ 0.1.0, base 0'`);
  const { connectionString } = db;
  await expect(Writ.connect({ connectionString })).rejects.toMatchObject({
    code: 'schema_prerelease',
  });
  const any = await Writ.connect({ connectionString, checkSchema: false });
  const { ok, findings } = await any.doctor.look({ only: ['schema'] });
  await any.close();
  expect(ok).toBe(false);
  expect(findings).toMatchObject([
    { level: 'error', code: 'schema_unfit', facts: { error: 'schema_prerelease' } },
  ]);
});

/** Keeps everybody else out of a table until it is released. */
async function locked(table: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: db.directConnectionString });
  await client.connect();
  await client.query(`begin; lock table ${table} in access exclusive mode`);
  return () => client.end();
}
