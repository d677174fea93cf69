import { expect, test } from 'vitest';
import { testDatabase } from 'writ/testing';
import { chargeOnce } from './charge-once.js';

test('an order that is asked for three times is charged once', async () => {
  const db = await testDatabase();
  expect(await chargeOnce(db.connectionString)).toBe(42);
  await db.drop();
});
