// A scheduler that stops for good at a chosen place, says so, and waits to be killed: before it
// sends what it found due, or after sending it, deaf.
import pg from 'pg';
import { Scheduler } from '../../dist/schedules/scheduler.js';

const client = new pg.Client({
  connectionString: process.env.DATABASE_URL,
  application_name: 'killed scheduler',
});
await client.connect();
const forever = new Promise(() => setInterval(() => undefined, 1_000));
const db = {
  /** @param {string} sql @param {unknown[]} [params] */
  async query(sql, params) {
    if (!sql.includes('fn_schedule_fire')) return client.query(sql, params);
    if (process.env.STOP === 'after') {
      const other = new pg.Client({
        connectionString: process.env.DATABASE_URL,
        application_name: 'watcher',
      });
      await other.connect();
      void client.query(sql, params).catch(() => undefined);
      // Until the server has it, and no longer: the answer is not waited for.
      for (let there = false; !there; ) {
        const { rows } = await other.query(
          `select exists (select from pg_stat_activity where application_name = 'killed scheduler' and query like '%fn_schedule_fire%' and datname = current_database()) as yes`,
        );
        there = rows[0].yes;
      }
    }
    process.send?.('stopped');
    return forever;
  },
};
await new Scheduler(db, 'killed').look();
