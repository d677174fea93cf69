/**
 * The generator finds a gate that holds a row of another tenant to account for a caller's setting.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { principal } from '../../dist/governance/keys.js';
import { Writ } from '../../dist/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { readCatalogue } from './catalogue.mjs';
import { attackers, calm, dismiss, mallory, people, prepareCalm } from './estate.mjs';
import { wrongTenant } from './moves.mjs';
import { spy } from './spy.mjs';

let db: TestDatabase;
let admin: pg.Pool;
let writ: Writ;
beforeEach(async () => {
  db = await testDatabase();
  admin = new pg.Pool({ connectionString: db.connectionString, max: 2 });
  writ = await Writ.connect({ connectionString: db.connectionString });
});
afterEach(async () => {
  await writ.close();
  await admin.end();
  await db.drop();
});

/**
 * Whether an engine of another tenant, in any of its tries, has set the schedule of `calm` aside.
 */
async function attacked(): Promise<boolean> {
  await prepareCalm(writ, await people(writ, calm), admin);
  const all = await attackers({
    admin,
    url: db.directConnectionString,
    gates: await readCatalogue(admin),
    views: [],
    people: Object.fromEntries(
      Object.entries(await people(writ, mallory, 'm')).map(([name, key]) => [name, principal(key)]),
    ),
    seed: 7,
    suffix: `_${randomBytes(4).toString('hex')}`,
  });
  const engine = all.find(({ role }) => role === 'writ_engine');
  if (!engine) throw new Error('no engine attacks');
  try {
    engine.known.learn(await spy(admin, mallory));
    for (let n = 0; n < 3; n++) await wrongTenant(engine);
    expect(engine.calls).toBeGreaterThan(3);
    const { rows } = await admin.query(
      'select aside_until is not null as aside from writ_data.schedule where tenant_id = $1',
      [calm],
    );
    return rows[0].aside;
  } finally {
    for (const one of all) await one.close();
    await dismiss(admin, all);
  }
}

test('an engine of one tenant sets no schedule of another aside', async () => {
  expect(await attacked()).toBe(false);
});

test('the generator sets it aside where the gate reads the tenant of its caller too late', async () => {
  const { rows } = await admin.query(
    `select pg_get_functiondef('writ.fn_schedule_fire'::regproc) as gate,
       pg_get_functiondef('writ_data.is_callers_fault'::regproc) as fault`,
  );
  const careless = String(rows[0].gate).replace(':= writ_data.caller_tenant()', ':= null');
  const blind = String(rows[0].fault).replace(`'42501', `, '');
  expect([careless, blind]).not.toContain(rows[0].gate);
  expect(blind).not.toBe(rows[0].fault);
  await admin.query(careless);
  await admin.query(blind);
  expect(await attacked()).toBe(true);
});
