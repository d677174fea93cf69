/**
 * Charge an order exactly once, whatever crashes.
 *
 * The handler does its work and then calls `commit`. What it writes there and the mark that the job
 * is done are one transaction: if the process dies before it, the job is tried again; if it dies
 * after it, the job is not repeated.
 *
 *   DATABASE_URL=postgres://… node examples/charge-once.ts
 */
import pg from 'pg';
import { defineJob, Writ } from 'writ';

const charge = defineJob<{ orderId: string }>('charge');

const chargeHandler = charge.handle(async ({ input, commit }) => {
  const fee = await lookUpFee(); // safe to repeat: nothing has happened yet
  await commit(async (tx) => {
    await tx.query('update orders set charged = charged + price + $2 where id = $1', [
      input.orderId,
      fee,
    ]);
  });
});

async function lookUpFee(): Promise<number> {
  return 2;
}

export async function chargeOnce(connectionString: string): Promise<number> {
  const shop = new pg.Pool({ connectionString });
  await shop.query(
    'create table if not exists orders (id text primary key, price int not null, charged int not null default 0)',
  );
  await shop.query(
    `insert into orders (id, price) values ('o-1', 40) on conflict (id) do update set charged = 0`,
  );

  const writ = await Writ.connect({ connectionString });
  await writ.migrate({ enable: true });

  // The customer presses the button three times; the order's id is the key, so there is one job.
  for (let press = 1; press <= 3; press++)
    await writ.enqueue(charge, { orderId: 'o-1' }, { key: 'o-1' });

  const worker = await writ.work([chargeHandler]);
  let charged = 0;
  while (charged === 0) {
    await new Promise((resume) => setTimeout(resume, 50));
    charged = (await shop.query(`select charged from orders where id = 'o-1'`)).rows[0].charged;
  }
  await worker.stop();
  await writ.close();
  await shop.end();
  return charged;
}

if (process.argv[1] === import.meta.filename) {
  console.log(`o-1 was charged ${await chargeOnce(process.env.DATABASE_URL ?? '')}`);
}
