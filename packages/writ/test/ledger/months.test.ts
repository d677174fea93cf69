/**
 * Receipts are kept by month. A month that nobody has made in advance is no reason to refuse
 * anything.
 */
import { afterEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';

let db: TestDatabase;
afterEach(() => db.drop());

/** As the clock of writ/testing is moved, which goes forward only. */
const move = (days: number) =>
  db.query(
    `create or replace function writ.now() returns timestamptz language sql volatile
     as $$ select pg_catalog.clock_timestamp() + interval '${days} days' $$`,
  );
const logs = async () =>
  (await db.query(`select distinct log_id from writ_data.receipt where log_id like 'tenant-%'`))
    .length;

test('a governor takes signals and decides 200 days after the last turn of the clockwork', async () => {
  db = await testDatabase();
  const writ = await db.connect();
  await move(200);
  const governor = await writ.governor({ tenant: 'tenant-1' });
  const driving = await writ.drive();
  await governor.signal({ type: 'load', value: 1 });
  await expect.poll(logs, { timeout: 20_000 }).toBe(1);
  await driving.stop();
});

for (const days of [200, -90])
  test(`sessions that write the first receipts of a month at once all do, ${days} days away`, async () => {
    db = await testDatabase();
    const writ = await db.connect({ max: 6 });
    const key = await writ.principals.add({
      id: 'olga',
      kind: 'person',
      rights: ['operate'],
    });
    await move(days);
    const names = Array.from({ length: 6 }, (_, n) => `tenant-${n}`);
    await Promise.all(
      names.map((tenant) => writ.governors.entitlements.put({ tier: 'free' }, { tenant, as: key })),
    );
    expect(await logs()).toBe(6);
  });
