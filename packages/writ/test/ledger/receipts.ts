/**
 * Receipts for tests, written as the layers above will write them: entries in canonical form, in
 * one call, in the caller's transaction.
 */
import { randomUUID } from 'node:crypto';
import { canonicalize } from '../../src/ledger/canonical.js';

interface Asks {
  query(sql: string, params?: unknown[]): Promise<unknown>;
}

const streams = new Map<string, number>();

/** An entry of the kind that governors write most. Each stream counts by itself. */
export function entryOf(
  tenant: string,
  stream: string,
  seq: number,
  more: Record<string, unknown> = {},
): string {
  return canonicalize({
    receipt_id: randomUUID(),
    timestamp: new Date().toISOString(),
    sku_id: 'acme-catalog-v1',
    tenant_id: tenant,
    status: 'accept',
    reason: 'signal_received',
    context: {
      stream,
      stream_seq: seq,
      signal_type: 'cpu_utilization',
      source: 'monitoring',
      severity: 'MEDIUM',
      value: 82.5,
      threshold: 75,
      exceeds_threshold: true,
      ...more,
    },
  });
}

export async function append(db: Asks, entries: readonly string[]): Promise<void> {
  await db.query('select writ_data.append_receipts($1::text[], writ.now())', [entries]);
}

/** `count` receipts of a stream, after those that this process has written to it. */
export async function write(
  db: Asks,
  tenant: string,
  stream: string,
  count: number,
  database = '',
): Promise<void> {
  const key = `${database}/${tenant}/${stream}`;
  const before = streams.get(key) ?? 0;
  streams.set(key, before + count);
  await append(
    db,
    Array.from({ length: count }, (_, n) => entryOf(tenant, stream, before + n + 1)),
  );
}
