/**
 * Another queue that jobs are copied from: where its waiting jobs are, and what they say in our words. All of it is SQL over the tables of that
 * queue, read from the package itself; `j` is its table of jobs.
 */
import pg from 'pg';
import { WritError } from '../../errors/index.js';
import type { Session } from '../connection.js';
import { graphileWorker } from './sources/graphile-worker.js';
import { pgBoss } from './sources/pg-boss.js';

export type Reason = 'running' | 'failed' | 'serial' | 'linked' | 'name';

/** Why a job is left where it is. */
export const reasons: Readonly<Record<Reason, string>> = {
  running: 'a worker has it now',
  failed: 'it has failed for good',
  serial: 'it runs one at a time with others, which a copy would not',
  linked: 'it waits for other jobs, or they for it',
  name: 'its name cannot be that of a kind; give it one with --kind-map',
};

/** One source in one schema. Each text is an SQL expression over `j`, unless it says otherwise. */
export interface Source {
  readonly system: string;
  /** Tables, with the columns that are read: a schema without them is of a version that nobody has looked at. */
  readonly tables: Readonly<Record<string, readonly string[]>>;
  /** The table of jobs, as in DELETE FROM. */
  readonly table: string;
  /** A FROM clause, with what the expressions need beside `j`. */
  readonly from: string;
  readonly name: string;
  readonly id: string;
  /** A condition for the jobs whose names are in $1 and whose ids, at the same places, are in $2. */
  readonly among: string;
  /** A condition for the jobs that can still come to run, or have failed and are kept. */
  readonly unfinished: string;
  /** Why this job is left (`Reason`), or null. */
  readonly left: string;
  readonly retrying: string;
  readonly dueAt: string;
  /** The order in which the source itself would begin jobs of one priority. */
  readonly order: string;
  /** Ours: higher first. */
  readonly priority: string;
  readonly attemptsLeft: string;
  /** The job's own key, where the source sees to it that no other waiting job has it; otherwise null. */
  readonly key: string;
  /** JSON as text; null for none. */
  readonly input: string;
  /** Bytes of the input as it is stored. */
  readonly size: string;
  /** The job among all that this source has ever had, for the key of a job without one. */
  readonly identity: string;
  /** What else can change while a job waits, beside its input, when it is due, its priority and its attempts. */
  readonly revision: string;
  /** A whole statement that counts recurring schedules. */
  readonly schedules: string;
}

/** By name: which schema is theirs unless another is given, and the source in a schema. */
const sources: Readonly<
  Record<string, { readonly schema: string; readonly in: (schema: string) => Source }>
> = {
  'pg-boss': { schema: 'pgboss', in: pgBoss },
  'graphile-worker': { schema: 'graphile_worker', in: graphileWorker },
};

export const systems = Object.keys(sources);

/** The source, after a look whether it is there, is known to us, and shows this user its rows. */
export async function openSource(
  db: Session,
  system: string,
  givenSchema: string | undefined,
): Promise<Source> {
  const known = sources[system];
  if (!known) throw new WritError('invalid_argument', `${system} is not a source`);
  const schema = givenSchema ?? known.schema;
  const source = known.in(pg.escapeIdentifier(schema));
  for (const [table, columns] of Object.entries(source.tables)) {
    const place = `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(table)}`;
    const [found] = await db.rows<{
      there: boolean;
      missing: string[] | null;
      hidden: boolean | null;
    }>(
      `select to_regclass($1) is not null as there, row_security_active(to_regclass($1)) as hidden,
         (select array_agg(c) from unnest($2::text[]) c where not exists (
            select from pg_attribute a where a.attrelid = to_regclass($1) and a.attname = c and not a.attisdropped)) as missing`,
      [place, columns],
    );
    if (!found?.there)
      throw new WritError(
        'import_source_missing',
        `no table ${place} for ${system} in ${db.target}`,
      );
    if (found.missing)
      throw new WritError(
        'import_source_unknown',
        `${system}: ${place} has no column ${found.missing.join(', ')}`,
      );
    // Without rows there is nothing to copy, and nobody would know why.
    if (found.hidden) throw new WritError('import_source_hidden', place);
  }
  return source;
}
