/** A caller that makes a gate raise by the way it calls it moves nothing of others. */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let mallory: Login;

beforeEach(async () => {
  db = await testDatabase();
  mallory = await login(db, ['writ_producer'], { tenant_id: 'mallory' });
  await mallory.query(`create function pg_temp.deep(n integer) returns jsonb language plpgsql as $$
    begin
      if n > 0 then
        return pg_temp.deep(n - 1);
      end if;
      return writ.fn_job_tick('mallory');
    end $$`);
});
afterEach(async () => {
  await mallory.end();
  await db.drop();
});

/** Turns the clockwork this deep; false where the stack ends before the gate does. */
async function tick(depth: number): Promise<boolean> {
  try {
    await mallory.query('select pg_temp.deep($1)', [depth]);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: '54001' });
    return false;
  }
}

test('a producer cannot end or delay timers and jobs of another tenant by ticking from a deep stack', async () => {
  const document = JSON.stringify({
    planId: 'p',
    planVersion: '1',
    schemaVersion: 1,
    steps: [{ after: [], id: 'a', ms: 1, type: 'timer' }],
  });
  const hash = createHash('sha256').update(document).digest('hex');
  await db.query('select writ.fn_plan_register($1, $2, $3)', [document, hash, 'acme']);
  await db.query(`select writ.fn_job_kind_register('chore', '{}', 'acme')`);

  let low = 100; // the gate ends
  let high = 2000; // the stack ends
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await tick(middle)) low = middle;
    else high = middle;
  }
  const run = { plan_id: 'p', plan_version: '1', sha256: hash, input: {}, tenant: 'acme' };
  const job = { kind: 'chore', tenant: 'acme', delay_ms: 1 };
  await db.query(`select writ.fn_run_start_many($1, 'acme')`, [
    JSON.stringify([{ ...run, run_id: uuidv7() }]),
  ]);
  await db.query(`select writ.fn_job_enqueue_many($1, 'acme')`, [
    JSON.stringify([{ ...job, id: uuidv7() }]),
  ]);
  await db.clock.advance('1s');

  const waiting = 'select job_kind, due_at from writ_data.job_wait order by job_id';
  const due = await db.query(waiting);
  expect(due).toHaveLength(2);
  let missed = 0; // the gate ended without them
  for (let depth = low + 5; depth > low - 60; depth--) {
    if (!(await tick(depth))) continue;
    const left = await db.query(waiting);
    expect(due).toEqual(expect.arrayContaining(left));
    if (left.length === 0) break;
    missed++;
  }
  expect(missed).toBeGreaterThan(0);
  const bad = `select code from writ.alert where code in ('RUN_STUCK', 'CLOCKWORK_SET_ASIDE')`;
  expect(await db.query(bad)).toEqual([]);
  expect(['RUNNING', 'COMPLETED']).toContain(
    (await db.query('select status from writ.run'))[0]?.status,
  );

  await db.query(`select writ.fn_job_tick('engine')`);
  expect(await db.query(waiting)).toEqual([]);
  expect(await db.query('select status from writ.run')).toEqual([{ status: 'COMPLETED' }]);
}, 120_000);
