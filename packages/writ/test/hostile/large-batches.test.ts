/**
 * A batch costs what its items cost, however many jobs there are: no item reads the jobs of others.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let applier: Login;

beforeEach(async () => {
  db = await testDatabase();
  await db.connect();
  applier = await login(db, ['writ_applier']);
});
afterEach(async () => {
  await applier.end();
  await db.drop();
});

test.each(['fn_changes_apply', 'fn_governance_audits'])(
  '%s reads only the jobs that its items name',
  async (gate) => {
    await db.query(`select writ.fn_job_kind_register('m.work', '{}', 'test')`);
    const jobs = Array.from({ length: 3000 }, () => ({ id: uuidv7(), kind: 'm.work' }));
    await db.query(`select writ.fn_job_enqueue_many($1, 'test', 'default')`, [
      JSON.stringify(jobs),
    ]);
    const items = JSON.stringify(
      jobs.slice(0, 20).map(({ id }) => ({ job: id, token: uuidv7(), read: {} })),
    );
    const read = async () => {
      await applier.query('select pg_stat_force_next_flush()');
      const [row] = await db.query(
        `select sum(idx_tup_fetch + seq_tup_read)::integer as n from pg_stat_user_tables where relname like 'job\\_2%'`,
      );
      return Number(row?.n);
    };
    const before = await read();
    await applier.call(gate, { items, actor: 'test' });
    expect((await read()) - before).toBeLessThanOrEqual(100);
  },
);
