/**
 * Enqueue a job inside your own transaction.
 *
 * `db` takes a `pg` client, or a transaction of postgres.js, Kysely or Drizzle. The job is there if
 * and only if your transaction commits: no order without its job, no job without its order, and no
 * worker that is faster than your COMMIT.
 *
 *   DATABASE_URL=postgres://… node examples/in-your-transaction.ts
 */
import pg from 'pg';
import { defineJob, Writ } from 'writ';

export const pack = defineJob<{ orderId: number }>('pack');

/** Places an order. Throws, and leaves nothing behind, when there is not enough in stock. */
export async function placeOrder(
  shop: pg.Pool,
  writ: Writ,
  sku: string,
  quantity: number,
): Promise<number> {
  const client = await shop.connect();
  try {
    await client.query('begin');
    const order = await client.query(
      'insert into purchases (sku, quantity) values ($1, $2) returning id',
      [sku, quantity],
    );
    const orderId: number = order.rows[0].id;
    await writ.enqueue(pack, { orderId }, { db: client });
    const taken = await client.query(
      'update stock set left_over = left_over - $2 where sku = $1 and left_over >= $2',
      [sku, quantity],
    );
    if (taken.rowCount === 0) throw new Error(`not enough ${sku} in stock`);
    await client.query('commit');
    return orderId;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

if (process.argv[1] === import.meta.filename) {
  const connectionString = process.env.DATABASE_URL ?? '';
  const writ = await Writ.connect({ connectionString });
  await writ.migrate({ enable: true });
  const shop = new pg.Pool({ connectionString });
  await shop.query(
    'create table if not exists purchases (id serial primary key, sku text, quantity int)',
  );
  await shop.query('create table if not exists stock (sku text primary key, left_over int)');
  await shop.query(
    `insert into stock values ('tea', 10) on conflict (sku) do update set left_over = 10`,
  );
  console.log(`placed order ${await placeOrder(shop, writ, 'tea', 3)}`);
  await placeOrder(shop, writ, 'tea', 30).catch((error) =>
    console.log(`refused: ${error.message}`),
  );
  console.log(`${(await writ.jobs.health()).backlog} job to do`);
  await shop.end();
  await writ.close();
}
