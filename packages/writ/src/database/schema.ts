/**
 * The SQL that a release carries: numbered migrations, applied once, and one file per gate or view,
 * applied when it has changed. A release is a folder with `package.json` and `sql/`; this package
 * is one. Files of objects stand in `sql/LAYER/FOLDER/`.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { callersOf } from './roles.js';

const packageRoot = new URL('../../', import.meta.url);

export interface Release {
  readonly version: string;
  readonly migrations: readonly Migration[];
  readonly objects: readonly SchemaObject[];
  /** What the release before this one has; undefined for a release that upgrades from no other. */
  readonly predecessor: Predecessor | undefined;
}

/** The content of `sql/predecessor.json`, which scripts/record-predecessor.mjs writes. */
export interface Predecessor {
  readonly version: string;
  /** The names of its objects. */
  readonly objects: readonly string[];
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

/** What an object is follows from the folder that its file stands in. */
const types: Readonly<Record<string, SchemaObjectType>> = {
  gates: 'gate',
  views: 'view',
  internal: 'internal',
  hooks: 'internal',
  guards: 'guard',
  data: 'data',
};

export interface SchemaObject {
  readonly type: SchemaObjectType;
  readonly layer: string;
  /** As it is called in the database, with its schema. */
  readonly name: string;
  /** Roles that may use it; empty for what only other gates use. */
  readonly roles: readonly string[];
  readonly sql: string;
  readonly sha256: string;
}

const digest = (sql: string) => createHash('sha256').update(sql).digest('hex');

/** Reads the release in a folder, given with a slash at its end. */
export function readRelease(root: URL = packageRoot): Release {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    version: string;
  };
  return {
    version,
    migrations: readMigrations(root),
    objects: readSchemaObjects(root),
    predecessor: readPredecessor(root),
  };
}

function readPredecessor(root: URL): Predecessor | undefined {
  const file = new URL('sql/predecessor.json', root);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Predecessor) : undefined;
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
  const folder = new URL('sql/', root);
  const objects = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => isObject(file))
    .sort()
    .map((file) => parseSchemaObject(file, readFileSync(new URL(file, folder), 'utf8')));
  return inOrder(objects);
}

/** Whether a path in `sql/` is the file of an object. */
export const isObject = (file: string): boolean =>
  /^[a-z_]+\/.+\.sql$/.test(file) && !file.startsWith('migrations/');

/**
 * The part of a file whose names PostgreSQL resolves when it creates the object: all of a view, of
 * a trigger and of an SQL-standard body, but only the signature of a function whose body is a
 * string.
 */
function bindingPart(object: SchemaObject): string {
  const sql = object.sql.replace(/--.*$/gm, '');
  const body = sql.search(/\bas \$\$/);
  return body < 0 ? sql : sql.slice(0, body);
}

/**
 * Puts every object behind those that must exist when it is created. Data is loaded last: loading
 * it calls functions, and those bind what their bodies name when they are called.
 */
export function inOrder(objects: readonly SchemaObject[]): SchemaObject[] {
  const created = objects.filter(({ type }) => type !== 'data');
  const byName = new Map(created.map((object) => [object.name, object]));
  const placed = new Set<SchemaObject>();
  const path: SchemaObject[] = [];
  const place = (object: SchemaObject) => {
    if (placed.has(object)) return;
    if (path.includes(object)) {
      const circle = [...path.slice(path.indexOf(object)), object].map(({ name }) => name);
      throw new Error(`these objects need each other: ${circle.join(', ')}`);
    }
    path.push(object);
    for (const [name] of bindingPart(object).matchAll(/\bwrit(?:_data)?\.[a-z0-9_]+/g)) {
      const needed = byName.get(name);
      if (needed && needed !== object) place(needed);
    }
    path.pop();
    placed.add(object);
  };
  for (const object of created) place(object);
  return [...placed, ...objects.filter(({ type }) => type === 'data')];
}

/**
 * Reads the file of an object by its path in `sql/`. Who may use the object stands in its header:
 * `-- Callers: writ_worker, writ_applier`.
 */
export function parseSchemaObject(file: string, sql: string): SchemaObject {
  const [layer, folder, name, ...more] = file.split('/');
  const type = types[folder ?? ''];
  if (!layer || !type || !name || more.length > 0)
    throw new Error(`sql/${file} is not in a folder sql/LAYER/{${Object.keys(types).join(',')}}/`);
  const created =
    /^create or replace (?:function|view|trigger) ([a-z0-9_.]+)|^insert into ([a-z_.]+)/m.exec(sql);
  if (!created) throw new Error(`sql/${file} creates nothing`);
  const header = sql.slice(0, created.index);
  const callers = /^-- Callers: ([a-z_, ]+)$/m.exec(header)?.[1];
  return {
    type,
    layer,
    name: (created[1] ?? created[2]) as string,
    roles: callersOf(callers?.split(', ') ?? []),
    sql,
    sha256: digest(sql),
  };
}
