/** `writ.alerts` and `writ.settings`. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';

let db: TestDatabase;
let writ: Writ;
beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect({ actor: 'ada' });
});
afterEach(() => db.drop());

const raise = async (code: string, tenant: string | null) =>
  (
    await db.query(
      `insert into writ_data.alert (alert_id, code, severity, tenant_id, subject, detail, raised_at)
       values (writ_data.uuidv7(), $1, 'P1', $2, 'run/x', '{}', writ.now()) returning alert_id::text`,
      [code, tenant],
    )
  )[0]?.alert_id as string;

test('alerts that stand are listed, of a tenant or of all, and cleared once', async () => {
  const mine = await raise('COMPENSATION_FAILED', 'acme');
  const ours = await raise('LAST_PARTITIONS', null);
  const codes = async (filter = {}) =>
    (await writ.alerts.list(filter)).items.map(({ alertId }) => alertId);
  expect(await codes()).toEqual([ours, mine]);
  expect(await codes({ tenant: 'acme' })).toEqual([mine]);
  expect(await codes({ code: 'LAST_PARTITIONS' })).toEqual([ours]);

  const reason = 'released by hand';
  expect(await writ.alerts.clear(mine, { reason })).toEqual({
    alertId: mine,
    code: 'COMPENSATION_FAILED',
    subject: 'run/x',
    duplicate: false,
  });
  expect(await writ.alerts.clear(mine, { reason })).toMatchObject({ duplicate: true });
  expect(await codes()).toEqual([ours]);
  expect((await writ.alerts.list({ all: true, tenant: 'acme' })).items).toMatchObject([
    { alertId: mine, clearedBy: 'ada', clearedAt: expect.any(String) },
  ]);
  await expect(writ.alerts.clear('x', { reason })).rejects.toMatchObject({
    code: 'alert_not_found',
  });
});

test('settings are read and set, with who set them', async () => {
  const key = 'queue.retry.backoff_base_sec';
  expect(await writ.settings.set(key, 2.5)).toEqual({ key, was: 10, value: 2.5 });
  expect(await writ.settings.get(key)).toMatchObject({ value: 2.5, updatedBy: 'ada' });
  expect((await writ.settings.list({ limit: 1_000 })).items.map((one) => one.key)).toContain(key);
  await expect(writ.settings.get('queue.speed')).rejects.toMatchObject({ code: 'unknown_setting' });
  await expect(writ.settings.set(key, undefined)).rejects.toMatchObject({
    code: 'invalid_setting',
  });
});
