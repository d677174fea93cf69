// Follows the log in small steps until it is killed, and says so after each.
import pg from 'pg';

const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
client.on('error', () => undefined);
await client.connect();
for (;;) {
  await client.query('select writ.fn_consumer_dispatch_many(3)');
  process.send('called');
}
