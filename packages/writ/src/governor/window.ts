/**
 * Pages of rows that are numbered without a gap: receipts, events, versions. A page names the
 * numbers that it can hold, so its cost does not grow with the history. PostgreSQL does not push
 * LIMIT into the views, which are security barriers; it does push these conditions.
 */
import type { Queryable } from '../database/connection.js';
import { readJson } from '../database/gate.js';
import type { Page, PageOptions } from '../database/listing.js';
import { WritRefusal } from '../errors/index.js';

export interface Numbered {
  readonly columns: string;
  readonly from: string;
  readonly where: readonly (readonly [sql: string, value: string])[];
  /** The column with the number, and its type. */
  readonly number: string;
  readonly type: 'integer' | 'bigint';
  /** The highest number. */
  readonly last: number;
  /** Only rows after this number. */
  readonly beyond?: number;
  readonly order?: 'asc' | 'desc';
}

export async function readWindow<Row>(
  db: Queryable,
  { columns, from, where, number, type, last, beyond = 0, order = 'desc' }: Numbered,
  { limit = 20, after }: PageOptions,
): Promise<Page<Row>> {
  const size = Number.isInteger(limit) ? Math.min(Math.max(1, limit), 1_000) : 20;
  const place = after === undefined ? undefined : placeIn(after);
  const [low, high] =
    order === 'asc'
      ? [place ?? beyond, Math.min((place ?? beyond) + size, last)]
      : [
          Math.max(beyond, Math.min(last, (place ?? last + 1) - 1) - size),
          Math.min(last, (place ?? last + 1) - 1),
        ];
  if (high <= low) return { items: [], next: null };
  const conditions = where.map(([sql], i) => sql.replace('?', `$${i + 3}`));
  const items = await readJson<Row>(
    db,
    `select ${columns} from ${from}
     where ${conditions.join(' and ')}
       and ${number} > $1::text::${type} and ${number} <= $2::text::${type}
     order by ${number} ${order}`,
    [String(low), String(high), ...where.map(([, value]) => value)],
  );
  // Months that were archived are dropped: nothing comes before a gap at the beginning.
  const goesOn = order === 'asc' ? high < last : low > beyond && items.length > 0;
  const next = order === 'asc' ? high : low + 1;
  return {
    items,
    next: goesOn ? Buffer.from(JSON.stringify([String(next)])).toString('base64url') : null,
  };
}

function placeIn(cursor: string): number {
  try {
    const [place] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof place === 'string' && /^\d{1,15}$/.test(place)) return Number(place);
  } catch {
    // Not JSON: refused like every other text that no page has answered.
  }
  throw new WritRefusal('invalid_cursor', cursor.slice(0, 100));
}
