/**
 * The SQL that a release carries: numbered migrations, applied once, and one file per gate or view,
 * applied when it has changed. A release is a folder with `package.json` and `sql/`; this package is one.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { callersOf } from './roles.js';

const packageRoot = new URL('../../', import.meta.url);

export interface Release {
  readonly version: string;
  readonly migrations: readonly Migration[];
  readonly objects: readonly SchemaObject[];
}

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
  /** A worker of an earlier version cannot run on the schema after this migration. */
  readonly breaking: boolean;
}

export type SchemaObjectType = 'gate' | 'internal' | 'view' | 'guard' | 'data';

export interface SchemaObject {
  readonly type: SchemaObjectType;
  /** As it is called in the database, with its schema. */
  readonly name: string;
  /** Roles that may use it; empty for what only other gates use. */
  readonly roles: readonly string[];
  readonly sql: string;
  readonly sha256: string;
}

/** What must exist before what: views use functions, guards and data use tables only. */
const order: SchemaObjectType[] = ['internal', 'gate', 'view', 'guard', 'data'];

const digest = (sql: string) => createHash('sha256').update(sql).digest('hex');

/** Reads the release in a folder, given with a slash at its end. */
export function readRelease(root: URL = packageRoot): Release {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    version: string;
  };
  return { version, migrations: readMigrations(root), objects: readSchemaObjects(root) };
}

export function readMigrations(root: URL = packageRoot): Migration[] {
  const folder = new URL('sql/migrations/', root);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const sql = readFileSync(new URL(file, folder), 'utf8');
      return {
        version: Number.parseInt(file, 10),
        name: file.replace(/^\d+_|\.sql$/g, ''),
        sql,
        sha256: digest(sql),
        breaking: /^-- breaking\b/m.test(sql),
      };
    });
}

export function readSchemaObjects(root: URL = packageRoot): SchemaObject[] {
  const folder = new URL('sql/gates/', root);
  const objects = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => parseSchemaObject(file, readFileSync(new URL(file, folder), 'utf8')));
  return inOrder(objects.sort((a, b) => order.indexOf(a.type) - order.indexOf(b.type)));
}

/**
 * Puts what a view or an SQL-standard body names before it: both bind when they are created. Other
 * bodies bind when they are called, so what they name may come later.
 */
function inOrder(objects: readonly SchemaObject[]): SchemaObject[] {
  const byName = new Map(objects.map((object) => [object.name, object]));
  const placed = new Set<SchemaObject>();
  const place = (object: SchemaObject) => {
    if (placed.has(object)) return;
    if (!/\bas \$\$/.test(object.sql)) {
      for (const [name] of object.sql.matchAll(/\bwrit(?:_data)?\.[a-z0-9_]+/g)) {
        const needed = byName.get(name);
        if (needed && needed !== object && needed.type !== 'data') place(needed);
      }
    }
    placed.add(object);
  };
  for (const object of objects) place(object);
  return [...placed];
}

/**
 * What a file is follows from what it creates, and who may use it stands in its header:
 * `-- Callers: writ_worker, writ_applier`.
 */
export function parseSchemaObject(file: string, sql: string): SchemaObject {
  const created =
    /^create or replace (function|view|trigger) ([a-z0-9_.]+)|^(insert) into ([a-z_.]+)/m.exec(sql);
  if (!created) throw new Error(`sql/gates/${file} creates nothing`);
  const name = (created[2] ?? created[4]) as string;
  const header = sql.slice(0, created.index);
  const callers = /^-- Callers: ([a-z_, ]+)$/m.exec(header)?.[1];
  return {
    type: typeOf((created[1] ?? created[3]) as string, name),
    name,
    roles: callersOf(callers?.split(', ') ?? []),
    sql,
    sha256: digest(sql),
  };
}

function typeOf(creates: string, name: string): SchemaObjectType {
  if (creates === 'view') return 'view';
  if (creates === 'trigger') return 'guard';
  if (creates === 'insert') return 'data';
  return name.startsWith('writ.') ? 'gate' : 'internal';
}
