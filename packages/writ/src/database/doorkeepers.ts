/**
 * How an upgrade keeps gates and tables in step while both are in use. A call that has entered a
 * gate runs the gate's old body to its end. If it waits for a table that the upgrade holds, it
 * continues among tables that it does not know. So no call may be inside a gate while tables
 * change.
 *
 * First, in a transaction of its own, the installer moves every gate aside and puts a doorkeeper in
 * its place, with the same signature and rights. A doorkeeper waits until no upgrade is running,
 * and only then looks up which gate to call. Then the upgrade locks the door, which waits for all
 * calls that are inside and lets no other in, and every table and view. It puts the gates back and
 * changes what it has to. Calls that waited at the door are served by the new gates.
 *
 * The door is the table writ_data.door, which only the owner can lock. Waiting for the lock of a
 * table also makes a session notice what others have changed.
 *
 * The upgrade never waits long for a lock. It gives back what it has and tries again, so a
 * transaction that stays open does not stop the queue, and of two that wait for each other the
 * upgrade yields. A crash leaves doorkeepers behind, which call the gates that they keep.
 */
import { WritError } from '../errors/index.js';
import type { Queryable } from './connection.js';

const door = 'writ_data.door';
/** Shorter than PostgreSQL's deadlock_timeout of 1 s, which would choose a victim. */
const waitMs = 400;
const tries = 150;

/** The gates in a schema: the functions that run with the rights of their owner. */
const gatesOf = (schema: string) => `
  select p.proname as name, pg_get_function_identity_arguments(p.oid) as identity, pg_get_function_arguments(p.oid) as arguments,
    pg_get_function_result(p.oid) as result, p.pronargs as count, p.prosrc like '%lock table ${door} %' as is_doorkeeper, oidvectortypes(p.proargtypes) as types,
    array(select quote_ident(r.rolname) from aclexplode(p.proacl) a join pg_roles r on r.oid = a.grantee where r.oid <> p.proowner) as grantees
  from pg_proc p where p.pronamespace = '${schema}'::regnamespace and p.prosecdef and not p.proretset order by 1`;

/**
 * Within a transaction, as the owner. Doorkeepers that an upgrade left behind when it was broken
 * off stay where they are.
 */
export async function placeDoorkeepers(client: Queryable): Promise<void> {
  if ((await client.query(gatesOf('writ_data'))).rows.length > 0) return;
  for (const { name, identity, arguments: parameters, result, count, types, grantees } of (
    await client.query(gatesOf('writ'))
  ).rows) {
    const places = Array.from({ length: Number(count) }, (_, index) => `$${index + 1}`).join(', ');
    await client.query(`
      alter function writ.${name}(${identity}) set schema writ_data;
      create function writ.${name}(${parameters}) returns ${result} language plpgsql security definer set search_path = pg_catalog, pg_temp as $door$
      declare
        v_answer ${result};
      begin
        lock table ${door} in access share mode;
        execute format('select %s.${name}(${places})', case when to_regprocedure('writ_data.${name}(${types})') is null then 'writ' else 'writ_data' end)
          into v_answer${places && ` using ${places}`};
        return v_answer;
      end $door$;
      revoke all on function writ.${name}(${identity}) from public;
      ${(grantees as string[]).map((role) => `grant execute on function writ.${name}(${identity}) to ${role};`).join(' ')}`);
  }
}

/** Within the transaction of the upgrade, as the owner: nobody is inside from here to its end. */
export async function closeDoors(client: Queryable): Promise<void> {
  // A view before the tables that it shows: whoever reads it has locked it first.
  const { rows } = await client.query(
    `select string_agg(c.oid::regclass::text, ', ' order by c.relkind = 'v' desc, c.relname) as all
     from pg_class c where relnamespace in ('writ'::regnamespace, 'writ_data'::regnamespace) and relkind in ('v', 'r', 'p') and not relispartition`,
  );
  for (let attempt = 1; ; attempt++) {
    await client.query('savepoint doors');
    try {
      await client.query(`set local lock_timeout = ${waitMs}`);
      await client.query(`lock table ${door} in access exclusive mode`);
      await client.query(`lock table ${rows[0]?.all} in access exclusive mode`);
      await client.query('set local lock_timeout = 0');
      break;
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== '55P03' && code !== '40P01') throw error;
      if (attempt === tries) throw new WritError('upgrade_blocked', undefined, { cause: error });
      await client.query('rollback to savepoint doors');
      await new Promise((resume) => setTimeout(resume, 100 + Math.random() * waitMs));
    }
  }
  const doorkeepers = (await client.query(gatesOf('writ'))).rows.filter(
    (gate) => gate.is_doorkeeper,
  );
  for (const { name, identity } of (await client.query(gatesOf('writ_data'))).rows) {
    const kept = `writ_data.${name}(${identity})`;
    // Without its doorkeeper: after an upgrade that was broken off, somebody has installed another
    // gate in its place.
    const isKept = doorkeepers.some((gate) => gate.name === name && gate.identity === identity);
    await client.query(
      isKept
        ? `drop function writ.${name}(${identity}); alter function ${kept} set schema writ`
        : `drop function ${kept}`,
    );
  }
}
