/**
 * A migration of your own tables, with its inverse: what it does and how it is undone are part of
 * what is approved, word for word.
 *
 *   DATABASE_URL=postgres://… node examples/governance/migration.ts
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { defineStep, PermanentFailure, type StepType, Writ } from 'writ';
import { z } from 'zod';
import { carryOut, meet } from './people.ts';

const Migration = z.object({
  name: z.string().regex(/^[\w-]+$/),
  up: z.string().min(1),
  down: z.string().min(1),
});
export type Migration = z.infer<typeof Migration>;

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** With a pool of a role that owns the tables. */
export function migrations(pool: pg.Pool): StepType<Migration> {
  /** The DDL and the row that says so are one transaction: after a crash both stand, or neither. */
  async function move(migration: Migration, to: string | null): Promise<void> {
    const client = await pool.connect();
    try {
      await client.query('begin');
      // better tried again than everybody else made to wait
      await client.query(`set local lock_timeout = '3s'`);
      await client.query(
        'create table if not exists applied_migration (name text primary key, sha256 text not null)',
      );
      await client.query('lock table applied_migration in exclusive mode');
      const stands = await standing(migration.name, client);
      if (stands !== to) {
        await client.query(to === null ? migration.down : migration.up);
        if (to === null)
          await client.query('delete from applied_migration where name = $1', [migration.name]);
        else
          await client.query('insert into applied_migration values ($1, $2)', [migration.name, to]);
      }
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      const { code = '', message } = error as { code?: string; message: string };
      // Data, constraints, syntax and rights: no repetition changes them.
      throw /^(?:22|23|42)/.test(code)
        ? new PermanentFailure(message, { code: `sql_${code.toLowerCase()}` })
        : error;
    } finally {
      client.release();
    }
  }

  async function standing(
    name: string,
    db: pg.Pool | pg.PoolClient = pool,
  ): Promise<string | null> {
    const { rows } = await db.query(`select to_regclass('applied_migration') is not null as begun`);
    if (!rows[0].begun) return null;
    return (
      (await db.query('select sha256 from applied_migration where name = $1', [name])).rows[0]
        ?.sha256 ?? null
    );
  }

  return defineStep<Migration>('migration', {
    input: Migration,
    target: ({ name }) => `migration:${name}`,
    read: ({ name }) => standing(name),
    apply: (migration) => move(migration, sha256(migration.up)),
    revert: (found, migration) => move(migration, found as string | null),
    retry: { attempts: 5, base: '50ms', cap: '10s' },
  });
}

export const currency: Migration = {
  name: 'orders-currency',
  up: `alter table orders add column currency text not null default 'EUR'; create index orders_by_currency on orders (currency)`,
  down: 'alter table orders drop column currency', // the index goes with it
};

if (process.argv[1] === import.meta.filename) {
  const connectionString = process.env.DATABASE_URL ?? '';
  const pool = new pg.Pool({ connectionString });
  const writ = await Writ.connect({ connectionString });
  await writ.migrate({ enable: true });
  await pool.query('create table if not exists orders (id integer primary key, total numeric)');
  const migration = migrations(pool);
  await writ.work([], { governance: [migration] });
  const proposal = {
    title: 'A currency for orders',
    scope: [`migration:${currency.name}`],
    steps: [migration(currency)],
  };
  console.log((await carryOut(writ, await meet(writ), proposal)).status);
  await writ.close();
  await pool.end();
}
