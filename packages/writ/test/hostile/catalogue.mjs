// @ts-check
// The catalogue of gates, read from the database: every function of schema writ that some role may
// call, with its arguments. A new gate is in it without anybody listing it.

/** @typedef {{ name: string, type: string, optional: boolean }} Argument */
/** @typedef {{ name: string, args: Argument[], callers: string[] }} Gate */
/** @typedef {{ query(sql: string, params?: unknown[]): Promise<{ rows: any[] }> }} Client */

/** @param {Client} client @returns {Promise<Gate[]>} */
export async function readCatalogue(client) {
  const { rows } = await client.query(`
    select p.proname as name,
      coalesce((
        select jsonb_agg(jsonb_build_object(
          'name', p.proargnames[a.n],
          'type', format_type(a.type, null),
          'optional', a.n > p.pronargs - p.pronargdefaults) order by a.n)
        from unnest(p.proargtypes::oid[]) with ordinality a(type, n)), '[]') as args,
      array(
        select distinct g.grantee::regrole::text
        from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g
        where g.grantee <> p.proowner and g.grantee <> 0
        order by 1) as callers
    from pg_proc p
    where p.pronamespace = 'writ'::regnamespace and p.prokind = 'f'
    order by p.proname`);
  return rows;
}

/**
 * The views of schema writ, with the roles that may read each. @param {Client} client @returns
 * {Promise<{ name: string, callers: string[] }[]>}
 */
export async function readViews(client) {
  const { rows } = await client.query(`
    select c.relname as name,
      array(select distinct g.grantee::regrole::text from aclexplode(c.relacl) g
        where g.grantee <> c.relowner and g.grantee <> 0 order by 1) as callers
    from pg_class c where c.relnamespace = 'writ'::regnamespace and c.relkind = 'v' order by 1`);
  return rows;
}

/** What PUBLIC may do in our schemas: nothing. One row per grant. @param {Client} client */
export async function grantsToPublic(client) {
  const { rows } = await client.query(`
    select p.oid::regprocedure::text as what
    from pg_proc p cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g
    where p.pronamespace in ('writ'::regnamespace, 'writ_data'::regnamespace) and g.grantee = 0
    union all
    select c.oid::regclass::text
    from pg_class c cross join lateral aclexplode(c.relacl) g
    where c.relnamespace in ('writ'::regnamespace, 'writ_data'::regnamespace) and g.grantee = 0
    union all
    select n.nspname from pg_namespace n cross join lateral aclexplode(n.nspacl) g
    where n.nspname in ('writ', 'writ_data') and g.grantee = 0`);
  return rows.map(({ what }) => String(what));
}
