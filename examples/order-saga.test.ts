import { expect, test } from 'vitest';
import { testDatabase } from 'writ/testing';
import { orderSaga } from './order-saga.js';

test('an order that cannot be paid or shipped leaves nothing behind, and one that can leaves everything', async () => {
  const db = await testDatabase();
  expect(await orderSaga(db.connectionString)).toEqual({
    good: 'COMPLETED',
    stolen: 'FAILED at charge, undone: true',
    expired: 'FAILED at ship, undone: true',
  });
  for (const table of ['reservations', 'payments', 'shipments']) {
    expect(await db.query(`select order_id from ${table}`)).toEqual([{ order_id: 'order-good' }]);
  }
  // The newest first: the money goes back before the goods do.
  const undone = await db.query(
    `select e.step_id from writ.run_events e join writ.run r using (run_id) where r.request_id = 'order-expired' and e.step_id like 'undo:%' and e.event_type = 'StepCompleted' order by e.run_seq`,
  );
  expect(undone.map(({ step_id }) => step_id)).toEqual(['undo:charge', 'undo:reserve']);
  await db.drop();
});
