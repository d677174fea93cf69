/**
 * Receipts, and what they are made of. Ids, times and statuses are given, never made up here, so
 * that the same event gives the same bytes again. The one exception are the salts of erasable
 * values, which have to be secret.
 */
import { hash } from 'node:crypto';
import { isUuid } from '../database/uuid.js';
import { WritRefusal } from '../errors/index.js';
import { commitTo, type Erasable, replaceMarked, type StoredErasable } from './erasable.js';
import type { Commitment, ContextOf, ReasonName, StatusOf } from './reasons/index.js';
import { validateReceipt } from './validate.js';

/** A receipt of one reason, or of any. */
export type Receipt<Name extends ReasonName = ReasonName> = {
  [N in Name]: {
    receipt_id: string;
    timestamp: string;
    sku_id: string;
    tenant_id: string;
    status: StatusOf<N>;
    reason: N;
    context: ContextOf<N>;
  };
}[Name];

/** A context in which a value may be marked wherever the schema allows it to be erasable. */
type Draft<Context> = [Extract<Context, Commitment>] extends [never]
  ? Context extends readonly unknown[]
    ? Context
    : Context extends object
      ? { [Field in keyof Context]: Draft<Context[Field]> }
      : Context
  : Context | Erasable<Exclude<Context, Commitment | undefined>>;

export interface ReceiptFields<Name extends ReasonName> {
  readonly receipt_id: string;
  readonly timestamp: Date;
  readonly sku_id: string;
  readonly tenant_id: string;
  readonly status: StatusOf<Name>;
  readonly context: Draft<ContextOf<Name>>;
}

export interface MadeReceipt<Name extends ReasonName> {
  readonly receipt: Receipt<Name>;
  readonly erasables: readonly StoredErasable[];
}

/**
 * Makes a receipt, and what has to be stored beside it. Throws a refusal if it does not fit the
 * schema of its reason.
 */
export function receipt<Name extends ReasonName>(
  reason: Name,
  fields: ReceiptFields<Name>,
): MadeReceipt<Name> {
  const { receipt_id, timestamp, sku_id, tenant_id, status, context } = fields;
  if (Number.isNaN(timestamp.getTime()))
    throw new WritRefusal('invalid_receipt', '/timestamp is not a moment');
  const made = {
    receipt_id,
    timestamp: timestamp.toISOString(),
    sku_id,
    tenant_id,
    status,
    reason,
  };
  const marked: Erasable[] = [];
  // First as if nothing were erasable: a value that could not stand there plainly may not stand
  // there erasably.
  const plain = checked({
    ...made,
    context: replaceMarked(context, (one) => [marked.push(one), one.value][1]),
  });
  if (marked.length === 0) return { receipt: plain as Receipt<Name>, erasables: [] };
  const erasables: StoredErasable[] = [];
  const erasing = replaceMarked(context, ({ value }) => {
    const stored = commitTo(value);
    erasables.push(stored);
    return { erasable: stored.hash };
  });
  return { receipt: checked({ ...made, context: erasing }) as Receipt<Name>, erasables };
}

function checked<Value>(value: Value): Value {
  const refusal = validateReceipt(value);
  if (refusal) throw refusal;
  return value;
}

/**
 * The id of the nth receipt (from 0) of an event: the same whenever the event is handled again.
 * Shaped as a UUIDv4.
 */
export function receiptId(eventId: string, ordinal: number): string {
  if (!isUuid(eventId)) throw new TypeError('receiptId needs the UUID of an event');
  if (!Number.isInteger(ordinal) || ordinal < 0 || ordinal > 0xffffffff)
    throw new RangeError('receiptId needs an ordinal from 0 to 2^32 - 1');
  const input = Buffer.alloc(20);
  input.write(eventId.replaceAll('-', ''), 'hex');
  input.writeUInt32BE(ordinal, 16);
  const hex = hash('sha256', input);
  const variant = (Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant.toString(16)}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
