/**
 * The container that every receipt is, whatever its reason: what a verifier can tell without
 * knowing the reasons.
 */

export interface ReceiptContainer {
  readonly receipt_id: string;
  readonly timestamp: string;
  readonly sku_id: string;
  readonly tenant_id: string;
  readonly status: 'accept' | 'refuse' | 'error';
  readonly reason: string;
  readonly context: {
    readonly stream: string;
    readonly stream_seq: number;
    readonly [field: string]: unknown;
  };
}

/** The log of the deployment itself. */
export const systemLog = '_system';

/** In the order of canonical JSON. */
const keys = ['context', 'reason', 'receipt_id', 'sku_id', 'status', 'tenant_id', 'timestamp'];
const statuses = new Set(['accept', 'refuse', 'error']);
const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const receiptIdShape = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const timestampShape =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

export const isUuid = (value: unknown): value is string =>
  typeof value === 'string' && uuidShape.test(value);

/** Why a value, read from canonical JSON, is no receipt of this log; undefined if it is one. */
export function faultOfReceipt(value: unknown, log: string): string | undefined {
  if (!isObject(value)) return 'it is not an object';
  let at = 0;
  for (const key in value)
    if (key !== keys[at++])
      return `it has the key “${key}” where “${keys[at - 1] ?? 'no more'}” belongs`;
  if (at !== keys.length) return `it has no “${keys[at]}”`;
  const { receipt_id, timestamp, sku_id, tenant_id, status, reason, context } = value;
  if (tenant_id !== log) return 'its tenant_id is that of another log';
  if (typeof receipt_id !== 'string' || !receiptIdShape.test(receipt_id))
    return 'its receipt_id is not a UUID of version 4';
  if (typeof timestamp !== 'string' || !isTimestamp(timestamp))
    return 'its timestamp is not YYYY-MM-DDTHH:MM:SS.mmmZ';
  if (typeof sku_id !== 'string' || (log === systemLog && sku_id !== 'writ'))
    return 'its sku_id is wrong';
  if (typeof status !== 'string' || !statuses.has(status))
    return 'its status is none of accept, refuse, error';
  if (typeof reason !== 'string' || reason === '') return 'its reason is not a text';
  if (!isObject(context)) return 'its context is not an object';
  if (typeof context.stream !== 'string' || context.stream === '')
    return 'its context.stream is not a text';
  if (!isCount(context.stream_seq) || context.stream_seq < 1)
    return 'its context.stream_seq is not a whole number from 1';
  return undefined;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

/**
 * A moment that exists: 30 February has the shape too. Only the last days of a month need a
 * calendar.
 */
function isTimestamp(text: string): boolean {
  if (!timestampShape.test(text)) return false;
  const day = Number(text.slice(8, 10));
  return day <= 28 || new Date(Date.parse(text)).getUTCDate() === day;
}
