// Follows the log in small steps until it is killed, says so after each, and waits to be told to go
// on.
import { once } from 'node:events';
import pg from 'pg';

const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
client.on('error', () => undefined);
await client.connect();
for (;;) {
  await client.query('select writ.fn_consumer_dispatch_many(3)');
  const told = once(process, 'message');
  process.send('called');
  await told;
}
