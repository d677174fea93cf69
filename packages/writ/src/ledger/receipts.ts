/** Reading receipts: by subject, log, person, reason and time. */
import type { Queryable } from '../database/connection.js';
import { readJson } from '../database/gate.js';
import type { Page, PageOptions } from '../database/listing.js';
import { isUuid } from '../database/uuid.js';
import { WritError, WritRefusal } from '../errors/index.js';
import type { Receipt } from './receipt.js';

export interface ListedReceipt {
  readonly receipt: Receipt;
  readonly log: string;
  /** Its place in the log, from 0; null until it is sequenced. */
  readonly index: number | null;
}

export interface ReceiptFilter extends PageOptions {
  readonly tenant?: string | undefined;
  /** A stream of the tenant, such as `governor:SKU` or `contract:ID`. */
  readonly subject?: string | undefined;
  /** Who acted or was refused: `by` or `principal` in the context. */
  readonly person?: string | undefined;
  readonly reason?: string | undefined;
  /** Only receipts of this time or later, in ISO 8601. */
  readonly since?: string | undefined;
  /** Only receipts before this time. */
  readonly until?: string | undefined;
}

/** A page looks at so many receipts at most: no index leads to what a context says. */
const searched = 5_000;

/** What the numbers of a cursor count: a subject, a log, or all receipts. */
type Walk = 'stream' | 'log' | 'all';

/**
 * The newest first. A page that searches for a person, a reason or a time may be short, even empty,
 * before the last one.
 */
export async function listReceipts(
  db: Queryable,
  filter: ReceiptFilter,
): Promise<Page<ListedReceipt>> {
  const { tenant, subject, person, reason, limit: wanted = 20, after } = filter;
  const params: unknown[] = [];
  const param = (value: unknown) => `$${params.push(value)}`;
  if (subject !== undefined && tenant === undefined)
    throw new WritError('invalid_argument', 'a subject is one of a tenant: name the tenant, too');
  const walk: Walk = subject !== undefined ? 'stream' : tenant !== undefined ? 'log' : 'all';
  const place = after === undefined ? null : placeIn(after, walk);
  const outside = [
    'w.entry is not null', // archived and dropped
    ...(reason === undefined ? [] : [`r.receipt ->> 'reason' = ${param(reason)}`]),
    ...(person === undefined
      ? []
      : [
          `${param(person)} in (r.receipt #>> '{context,by}', r.receipt #>> '{context,principal}')`,
        ]),
    ...timed('>=', filter.since, param),
    ...timed('<', filter.until, param),
  ];
  const limit = Number.isInteger(wanted) ? Math.min(Math.max(1, wanted), 1_000) : 20;
  const seen = outside.length > 1 ? searched : limit + 1;
  const [answer] = await readJson<{
    found: (ListedReceipt & { place: number })[];
    seen: number;
    last: number | null;
  }>(
    db,
    `with walked as materialized (
       select w.*
       from writ.fn_ledger_walk(${[tenant ?? null, subject ?? null, place, seen].map(param).join(', ')}) w
     ), found as (
       select r.receipt, w.log_id as log, w.leaf_index as index, w.place
       from walked w
       cross join lateral (select w.entry::json as receipt offset 0) r
       where ${outside.join(' and ')}
       order by w.place desc
       limit ${param(limit + 1)}
     )
     select (select coalesce(json_agg(f order by f.place desc), '[]') from found f) as found,
       count(*)::integer as seen, min(place) as last
     from walked`,
    params,
  );
  const { found = [], seen: walked = 0, last = null } = answer ?? {};
  const items = found.slice(0, limit);
  const end = found.length > limit ? items.at(-1)?.place : walked === seen ? last : null;
  return {
    items: items.map(({ receipt, log, index }) => ({ receipt, log, index })),
    next: end === null || end === undefined ? null : cursorOf(walk, end),
  };
}

function timed(
  operator: string,
  time: string | undefined,
  param: (value: unknown) => string,
): string[] {
  if (time === undefined) return [];
  if (Number.isNaN(Date.parse(time)))
    throw new WritError('invalid_argument', `${time} is not a time`);
  return [`w.at ${operator} ${param(time)}::timestamptz`];
}

const cursorOf = (walk: Walk, place: number): string =>
  Buffer.from(JSON.stringify([walk, String(place)])).toString('base64url');

function placeIn(cursor: string, walk: Walk): string {
  try {
    const [of, place]: unknown[] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (of === walk && typeof place === 'string' && /^\d{1,18}$/.test(place)) return place;
  } catch {
    // Not JSON: refused like every other text that no page has answered.
  }
  throw new WritRefusal('invalid_cursor', cursor.slice(0, 100));
}

export async function readReceipt(
  db: Queryable,
  receiptId: string,
  tenant: string | undefined,
): Promise<ListedReceipt> {
  if (!isUuid(receiptId)) throw new WritRefusal('receipt_not_found', receiptId);
  const [row] = await readJson<ListedReceipt>(
    db,
    `select entry::json as receipt, log_id as log, leaf_index as index from writ.receipt
     where receipt_id = $1 and ($2::text is null or log_id = $2)`,
    [receiptId, tenant ?? null],
  );
  if (!row) throw new WritRefusal('receipt_not_found', receiptId);
  return row;
}
