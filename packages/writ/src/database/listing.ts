/**
 * Lists that are paged by key. A page is one statement: only the filters that are given stand in
 * it, so that PostgreSQL can walk an index from the place where the page before it ended.
 */
import { WritRefusal } from '../errors/index.js';
import type { Queryable } from './connection.js';
import { readRows } from './gate.js';

export interface PageOptions {
  /** How many at most: 20 unless given, 1,000 at most. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

export interface Page<Row> {
  /** A page can be short, even empty, before the last one: a search stops after so many rows. */
  readonly items: readonly Row[];
  /** Where the next page begins; null on the last page. */
  readonly next: string | null;
}

export interface Listing {
  readonly columns: string;
  /**
   * Tables or views with their aliases. A function gets the conditions, the order and the limit,
   * where they have to stand inside.
   */
  readonly from: string | ((inside: string) => string);
  /** Conditions, with a `?` for the value. One whose value is undefined is left out. */
  readonly where?: readonly (readonly [sql: string, value: unknown])[];
  /** What orders the rows, and tells each from every other: expressions with their types. */
  readonly key: readonly (readonly [expression: string, type: string])[];
  /** Newest first unless given. */
  readonly order?: 'asc' | 'desc';
}

const place = '#place';

/** Reads a page. Rows come as JSON: what a library makes of times and numbers is its own affair. */
export async function readPage<Row>(
  db: Queryable,
  { columns, from, where = [], key, order = 'desc' }: Listing,
  { limit = 20, after }: PageOptions,
): Promise<Page<Row>> {
  const params: unknown[] = [];
  const param = (value: unknown) => `$${params.push(value)}`;
  const conditions = where.flatMap(([sql, value]) =>
    value === undefined ? [] : [sql.replace('?', () => param(value))],
  );
  const expressions = key.map(([expression]) => expression).join(', ');
  if (after !== undefined) {
    const values = placeIn(after, key.length);
    const place = key.map(([, type], i) => `${param(values[i])}::text::${type}`).join(', ');
    conditions.push(`(${expressions}) ${order === 'asc' ? '>' : '<'} (${place})`);
  }
  const size = Number.isInteger(limit) ? Math.min(Math.max(1, limit), 1_000) : 20;
  const filter = conditions.length ? `where ${conditions.join(' and ')}` : '';
  const first = `order by ${key.map(([e]) => `${e} ${order}`).join(', ')} limit ${param(size + 1)}`;
  const rows = await readRows(
    db,
    `select to_json(v)::text as answer from (
       select ${columns}, json_build_array(${key.map(([e]) => `(${e})::text`).join(', ')}) as "${place}"
       from ${typeof from === 'string' ? `${from} ${filter}` : from(`${filter} ${first}`)} ${first}
     ) v`,
    params,
  ).catch((error: { code?: string }) => {
    // A cursor of another list holds values that are no key of this one.
    const wrong = after !== undefined && /^22P02|^22007|^22003|^22008/.test(error.code ?? '');
    throw wrong ? new WritRefusal('invalid_cursor', undefined, { cause: error }) : error;
  });
  const all = rows.map(
    ({ answer }) => JSON.parse(String(answer)) as Row & { readonly [place]?: unknown },
  );
  const last = all.length > size ? all[size - 1] : undefined;
  return {
    items: all.slice(0, size).map(({ [place]: _, ...row }) => row as Row),
    next: last ? cursorOf(last[place]) : null,
  };
}

/** The `next` of a page that ends at these values of the key. */
export const cursorOf = (values: unknown): string =>
  Buffer.from(JSON.stringify(values)).toString('base64url');

/** The values of the key at which a page ended. */
export function placeIn(cursor: string, length: number): readonly string[] {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(values) && values.length === length && values.every(isText)) return values;
  } catch {
    // Not JSON: refused like every other text that no page has answered.
  }
  throw new WritRefusal('invalid_cursor', cursor.slice(0, 100));
}

const isText = (value: unknown): value is string => typeof value === 'string';
