/**
 * A saga: reserve, charge, ship. Each step is a job with its own transaction; when one fails for
 * good, what the steps before it did is undone, the newest first. Nobody writes a rollback: each
 * step says beside itself what undoes it.
 *
 *   DATABASE_URL=postgres://… node examples/order-saga.ts
 */
import pg from 'pg';
import { defineJob, definePlan, PermanentFailure, Writ } from 'writ';

interface Order {
  readonly id: string;
  readonly card: string;
}

const reserve = defineJob<Order>('reserve');
const release = defineJob<{ reservation: number }>('release');
const charge = defineJob<Order>('charge');
const refund = defineJob<Order>('refund');
const ship = defineJob<Order>('ship');

export const fulfil = definePlan<Order>('fulfil', { version: '1.0.0' }, (p) => {
  const reserved = p.step<Order, { reservation: number }, { reservation: number }>(
    'reserve',
    reserve,
    {
      input: p.input,
      // what the step gave says what to undo
      compensate: { job: release, input: (output) => ({ reservation: output.reservation }) },
    },
  );
  // with the step's own input
  const charged = p.step('charge', charge, { after: reserved, compensate: refund });
  p.step('ship', ship, { after: charged });
});

export const handlers = [
  // What `commit` returns is the output of the step: it is there if and only if the effect is.
  reserve.handle(({ input, commit }) =>
    commit(async (tx) => {
      const { rows } = await tx.query(
        'insert into reservations (order_id) values ($1) returning id',
        [input.id],
      );
      return { reservation: rows[0]?.id };
    }),
  ),
  release.handle(({ input, commit }) =>
    commit((tx) => tx.query('delete from reservations where id = $1', [input.reservation])),
  ),
  charge.handle(({ input, commit }) => {
    if (input.card === 'stolen') throw new PermanentFailure('The card was declined.');
    return commit((tx) => tx.query(`insert into payments (order_id) values ($1)`, [input.id]));
  }),
  refund.handle(({ input, commit }) =>
    commit((tx) => tx.query('delete from payments where order_id = $1', [input.id])),
  ),
  ship.handle(({ input, commit }) => {
    if (input.card === 'expired') throw new PermanentFailure('Nobody lives there.');
    return commit((tx) => tx.query(`insert into shipments (order_id) values ($1)`, [input.id]));
  }),
];

export async function orderSaga(connectionString: string): Promise<Record<string, string>> {
  const shop = new pg.Pool({ connectionString });
  await shop.query(`create table if not exists reservations (id int generated always as identity, order_id text);
    create table if not exists payments (order_id text); create table if not exists shipments (order_id text)`);
  const writ = await Writ.connect({ connectionString });
  await writ.migrate({ enable: true });
  await writ.work(handlers);

  const ends: Record<string, string> = {};
  for (const card of ['good', 'stolen', 'expired']) {
    // The same request is the same run, however often the customer presses the button.
    const run = await writ.start(
      fulfil,
      { id: `order-${card}`, card },
      { requestId: `order-${card}` },
    );
    const { status, undone, rootCause } = await run.finished();
    ends[card] = rootCause ? `${status} at ${rootCause.stepId}, undone: ${undone}` : status;
  }
  await writ.close();
  await shop.end();
  return ends;
}

if (process.argv[1] === import.meta.filename)
  console.log(await orderSaga(process.env.DATABASE_URL ?? ''));
