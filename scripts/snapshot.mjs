// Writes sql/snapshot.sql: what a fresh migration leaves in the database, read back from the
// catalog. It is committed so that a change of the schema shows in review as what it does, and a
// test fails when the two differ. Every server version writes the same bytes, so nothing is in it
// whose text depends on the version: views by their columns and the hash of their source, functions
// by the hash of their body. Nor on the day: a partitioned table is in it, its partitions are not.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ours = `('writ'::regnamespace, 'writ_data'::regnamespace)`;

const queries = {
  schemas: `
    select n.oid, n.nspname as name, pg_get_userbyid(n.nspowner) as owner, n.nspacl as acl from pg_namespace n
    where n.oid in ${ours} order by name`,
  relations: `
    select c.oid, c.oid::regclass::text as name, c.relkind as kind, pg_get_userbyid(c.relowner) as owner,
      coalesce(array_to_string(c.reloptions, ', '), '') as options,
      pg_get_partkeydef(c.oid) as partition, c.relrowsecurity as secured, c.relforcerowsecurity as forced, obj_description(c.oid, 'pg_class') as comment
    from pg_class c where c.relnamespace in ${ours} and c.relkind in ('r', 'p', 'v', 'm', 'S') and not c.relispartition order by c.relkind, c.relname`,
  columns: `
    select a.attrelid as relation, a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required,
      pg_get_expr(d.adbin, d.adrelid) as fallback, case when a.attstorage <> t.typstorage then a.attstorage end as storage,
      col_description(a.attrelid, a.attnum) as comment
    from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where c.relnamespace in ${ours} and c.relkind in ('r', 'p', 'v', 'm') and a.attnum > 0 and not a.attisdropped order by a.attrelid, a.attnum`,
  // Newer servers keep NOT NULL as constraints too; the columns say it already.
  constraints: `
    select conrelid as relation, conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
    where connamespace in ${ours} and contype in ('c', 'f', 'p', 'u', 'x') order by conname`,
  indexes: `
    select i.indrelid as relation, pg_get_indexdef(i.indexrelid) as definition from pg_index i join pg_class c on c.oid = i.indrelid
    where c.relnamespace in ${ours} and not exists (select from pg_constraint k where k.conindid = i.indexrelid) order by 2`,
  triggers: `
    select t.tgrelid as relation, pg_get_triggerdef(t.oid) as definition, t.tgenabled as enabled from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace in ${ours} and not t.tgisinternal order by t.tgname`,
  policies: `
    select p.polrelid as relation, p.polname as name, p.polcmd as command, pg_get_expr(p.polqual, p.polrelid) as "using",
      pg_get_expr(p.polwithcheck, p.polrelid) as "check" from pg_policy p order by name`,
  functions: `
    select p.oid, p.oid::regprocedure::text as name, pg_get_function_arguments(p.oid) as arguments, pg_get_function_result(p.oid) as result,
      l.lanname as language, p.provolatile as volatility, p.proisstrict as strict, p.prosecdef as definer, p.proconfig as settings,
      pg_get_userbyid(p.proowner) as owner, md5(coalesce(nullif(p.prosrc, ''), pg_get_function_sqlbody(p.oid))) as body
    from pg_proc p join pg_language l on l.oid = p.prolang where p.pronamespace in ${ours} order by name`,
  grants: `
    select o.oid, lower(a.privilege_type) as privilege, case a.grantee when 0 then 'public' else pg_get_userbyid(a.grantee) end as grantee
    from (select oid, relacl as acl, relowner as owner from pg_class where relnamespace in ${ours}
      union all select oid, proacl, proowner from pg_proc where pronamespace in ${ours}
      union all select oid, nspacl, nspowner from pg_namespace where oid in ${ours}) o
    cross join lateral aclexplode(o.acl) a where a.grantee <> o.owner order by o.oid, 3, 2`,
  sources: `select name, sha256 from writ_data.schema_object order by name`,
  settings: `select key, value::text as value from writ_data.dot_config order by key`,
};

const volatility = { i: 'immutable', s: 'stable', v: 'volatile' };
const storage = { p: 'plain', e: 'external', m: 'main', x: 'extended' };
const kinds = { r: 'table', p: 'table', v: 'view', m: 'materialized view', S: 'sequence' };
const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

/** The schema of a migrated database as text. `client` answers `query(sql)`. */
export async function schemaSnapshot(client) {
  // With nothing in the search_path, every name is printed with its schema.
  await client.query(`set search_path = ''`);
  const found = {};
  for (const [name, sql] of Object.entries(queries)) found[name] = (await client.query(sql)).rows;
  const of = (list, relation) => found[list].filter((row) => row.relation === relation.oid);
  const grants = (object, on) =>
    found.grants
      .filter((g) => g.oid === object.oid)
      .map((g) => `grant ${g.privilege} on ${on} to ${g.grantee};`);

  const parts = [
    '-- Written by `npm run snapshot`: the schema after all migrations, on any supported server. Do not edit, and do not run.',
    ...found.schemas.map((schema) =>
      [
        `create schema ${schema.name}; -- owner ${schema.owner}`,
        ...grants(schema, `schema ${schema.name}`),
      ].join('\n'),
    ),
    ...found.relations.map((relation) => relationText(relation, of, grants, found.sources)),
    ...found.functions.map((fn) => functionText(fn, grants)),
    `-- settings\n${found.settings.map((row) => `--   ${row.key} = ${row.value}`).join('\n')}`,
  ];
  return `${parts.join('\n\n')}\n`;
}

function relationText(relation, of, grants, sources) {
  const { name, kind, owner, options } = relation;
  const lines = [];
  if (kind === 'S') {
    lines.push(`create sequence ${name}; -- owner ${owner}`);
  } else if (kind === 'v' || kind === 'm') {
    const source = sources.find((row) => row.name === name)?.sha256 ?? 'unknown';
    const columns = of('columns', relation).map((column) => `--   ${column.name} ${column.type}`);
    lines.push(
      `-- ${kinds[kind]} ${name}${options && ` with (${options})`}; owner ${owner}; source ${source}`,
      ...columns,
    );
  } else {
    const columns = of('columns', relation).map(
      (c) =>
        `  ${c.name} ${c.type}${c.required ? ' not null' : ''}${c.fallback ? ` default ${c.fallback}` : ''}${c.storage ? ` storage ${storage[c.storage]}` : ''}`,
    );
    const constraints = of('constraints', relation).map(
      (c) => `  constraint ${c.name} ${c.definition}`,
    );
    lines.push(
      `create ${kinds[kind]} ${name} ( -- owner ${owner}`,
      [...columns, ...constraints].join(',\n'),
      `)${relation.partition ? ` partition by ${relation.partition}` : ''}${options && ` with (${options})`};`,
    );
    lines.push(...of('indexes', relation).map((index) => `${index.definition};`));
    lines.push(
      ...of('triggers', relation).map(
        (t) => `${t.definition};${t.enabled === 'O' ? '' : ` -- enabled: ${t.enabled}`}`,
      ),
    );
    if (relation.secured) lines.push(`alter table ${name} enable row level security;`);
    if (relation.forced) lines.push(`alter table ${name} force row level security;`);
    lines.push(
      ...of('policies', relation).map(
        (p) =>
          `create policy ${p.name} on ${name} using (${p.using})${p.check ? ` with check (${p.check})` : ''}; -- ${p.command}`,
      ),
    );
    if (relation.comment) lines.push(`comment on table ${name} is ${quoted(relation.comment)};`);
    const described = of('columns', relation).filter((column) => column.comment);
    lines.push(
      ...described.map(
        (column) => `comment on column ${name}.${column.name} is ${quoted(column.comment)};`,
      ),
    );
  }
  return [...lines, ...grants(relation, name)].join('\n');
}

function functionText(fn, grants) {
  const traits = [
    fn.language,
    volatility[fn.volatility],
    fn.strict && 'strict',
    fn.definer && 'security definer',
  ]
    .filter(Boolean)
    .join(', ');
  const settings = (fn.settings ?? []).map((setting) => `--   set ${setting}`);
  return [
    `-- function ${fn.name.replace(/\(.*/, '')}(${fn.arguments}) returns ${fn.result}`,
    `--   ${traits}; owner ${fn.owner}; body ${fn.body}`,
    ...settings,
    ...grants(fn, `function ${fn.name}`),
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { startEmbedded } = await import('../packages/writ/dist/database/embedded.js');
  const { migrate } = await import('../packages/writ/dist/database/migrate.js');
  const { default: pg } = await import('pg');
  const server = await startEmbedded({ settings: { fsync: 'off' } });
  const client = new pg.Client({ connectionString: server.connectionString });
  try {
    await client.connect();
    await migrate(client);
    writeFileSync(
      new URL('../packages/writ/sql/snapshot.sql', import.meta.url),
      await schemaSnapshot(client),
    );
  } finally {
    await client.end();
    await server.stop();
  }
}
