/**
 * Which release made the schema. `migrate` writes it into the comment of schema `writ`, where every
 * login can read it. Until 1.0.0 the bases are edited in place and there is no upgrade, so a
 * database of another pre-release is refused, when it is migrated and when a process connects.
 */
import { createHash } from 'node:crypto';
import { WritError } from '../errors/index.js';
import type { Queryable } from './connection.js';
import { type Migration, type Release, readRelease } from './schema.js';

export const isPrerelease = (version: string): boolean => /^0\.|^1\.0\.0-/.test(version);

/** Whether version `a` comes after version `b`. A pre-release comes before its release. */
export function isNewer(a: string, b: string): boolean {
  const [ofA, ofB] = [a, b].map((version) => version.split(/[.-]/, 3).map(Number)) as [
    number[],
    number[],
  ];
  const differs = ofA.findIndex((part, index) => part !== ofB[index]);
  if (differs >= 0) return (ofA[differs] as number) > (ofB[differs] as number);
  return !a.includes('-') && b.includes('-');
}

/** One hash of all migrations: two builds of one pre-release may differ in them. */
const baseOf = (migrations: readonly Migration[]): string =>
  createHash('sha256')
    .update(migrations.map(({ sha256 }) => sha256).join())
    .digest('hex')
    .slice(0, 16);

/** The comment that a release leaves. */
export const markOf = ({ version, migrations }: Pick<Release, 'version' | 'migrations'>): string =>
  `Writ ${version}, base ${baseOf(migrations)}`;

/** The comment on the schema; undefined where Writ is not installed, empty where it left none. */
export async function readMark(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query(
    `select coalesce(obj_description(n.oid, 'pg_namespace'), '') as mark from pg_namespace n
     where n.nspname = 'writ' and exists (
       select from pg_class c join pg_namespace d on d.oid = c.relnamespace
       where d.nspname = 'writ_data' and c.relname = 'schema_migration')`,
  );
  return rows[0]?.mark as string | undefined;
}

/** The version in a mark. */
export const madeBy = (mark: string): string | undefined => /^Writ ([^,]+), base /.exec(mark)?.[1];

/** Throws `schema_prerelease` if another pre-release has made the schema. */
export function assertMark(mark: string, own: Pick<Release, 'version' | 'migrations'>): void {
  if (mark === markOf(own)) return;
  const made = madeBy(mark);
  if (made && !isPrerelease(made) && !isPrerelease(own.version)) return;
  const by =
    made === own.version ? `${made} with other tables` : (made ?? 'a version before 0.8.0');
  throw new WritError('schema_prerelease', `made by ${by}, this is ${own.version}`);
}

let own: Pick<Release, 'version' | 'migrations'> | undefined;

/** The check of a process that connects. A database without Writ passes: it can be migrated. */
export async function assertSchemaFits(db: Queryable): Promise<void> {
  const mark = await readMark(db);
  if (mark === undefined) return;
  own ??= readRelease();
  assertMark(mark, own);
}
