/**
 * What `migrate` removes. A release keeps the functions and views of the release before it, because
 * processes of that release go on during the upgrade. What an earlier release has left goes. The
 * package knows its predecessor by `sql/predecessor.json`; without it nothing is removed.
 */
import type { Queryable } from './connection.js';
import type { Release } from './schema.js';

/** Which of the installed objects go: functions and views that neither release has. */
export async function removedBy(
  { objects, predecessor }: Release,
  db: Queryable,
  installed: readonly string[],
): Promise<string[]> {
  if (!predecessor) return [];
  const kept = new Set([...objects.map(({ name }) => name), ...predecessor.objects]);
  const gone = installed.filter((name) => !kept.has(name));
  return [...new Set((await standing(db, gone)).map(({ name }) => name))];
}

interface Standing {
  readonly name: string;
  /** As a `drop` names it, with its parameters. */
  readonly target: string;
  /** Whether another object that stays or has not gone yet needs it. */
  readonly isNeeded: boolean;
}

/** Functions and views among these names, one row per signature. */
async function standing(db: Queryable, names: readonly string[]): Promise<Standing[]> {
  if (names.length === 0) return [];
  const { rows } = await db.query(
    `with o as (
       select 'pg_proc'::regclass as class, p.oid, n.nspname || '.' || p.proname as name,
         'function ' || p.oid::regprocedure as target
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace
       union all
       select 'pg_class', c.oid, n.nspname || '.' || c.relname, 'view ' || c.oid::regclass
       from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'v')
     select o.name, o.target, exists (
       select from pg_depend d
       left join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
       left join pg_type t on d.refclassid = 'pg_type'::regclass and t.oid = d.refobjid
       where d.deptype = 'n' and coalesce(r.ev_class, d.objid) <> o.oid
         and (d.refclassid = o.class and d.refobjid = o.oid or t.typrelid = o.oid)
     ) as "isNeeded"
     from o where o.name = any ($1) order by o.target`,
    [names],
  );
  return rows as unknown as Standing[];
}

/**
 * Drops callers first. PostgreSQL knows who needs whom from views and SQL-standard bodies; other
 * bodies may be dropped in any order. What something else still needs stays, and goes with it.
 */
export async function dropRemoved(
  client: Queryable,
  names: readonly string[],
  say: (step: string) => void,
): Promise<void> {
  for (let rest = await standing(client, names); rest.length > 0; ) {
    const free = rest.filter(({ isNeeded }) => !isNeeded);
    if (free.length === 0) break;
    for (const { target } of free) {
      say(`drop ${target}`);
      await client.query(`drop ${target}`);
    }
    rest = await standing(client, names);
  }
  const left = new Set((await standing(client, names)).map(({ name }) => name));
  await client.query('delete from writ_data.schema_object where name = any ($1)', [
    names.filter((name) => !left.has(name)),
  ]);
}
