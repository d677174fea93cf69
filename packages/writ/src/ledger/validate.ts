/**
 * Whether something is a receipt: by the schema of its reason, compiled, and by what a schema
 * cannot say.
 */
import { WritRefusal } from '../errors/index.js';
import { text } from './reasons/fields.js';
import { isReason, type Reason, type ReasonName, reasons } from './reasons/index.js';
import type { Receipt } from './receipt.js';
import Type, { Compile, Errors, type Validator } from './typebox.js';

const product = 'The product that is governed.';
const owner = 'Whose it is, and so the log it belongs to.';

/** What every receipt has. */
const container = {
  receipt_id: Type.String({
    title: 'UUID',
    pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
    description: 'Its id, shaped as a UUIDv4.',
  }),
  timestamp: Type.String({
    title: 'moment in UTC, to the millisecond',
    pattern:
      '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\\.[0-9]{3}Z$',
    description: 'When it was written.',
  }),
  sku_id: text(product),
  tenant_id: text(owner),
};

/** Where the ledger writes about itself. */
const system = {
  sku_id: Type.Literal('writ', { description: product }),
  tenant_id: Type.Literal('_system', { description: owner }),
};

/** The JSON Schema of a whole receipt. */
export function receiptSchema(name: ReasonName): Type.TObject {
  const { author, statuses, context } = reasons[name] as Reason;
  return Type.Object(
    {
      ...container,
      ...(author === 'ledger' && system),
      status: Type.Enum([...statuses], { description: 'How it went.' }),
      reason: Type.Literal(name, {
        description: 'What it is about; that decides what is in the context.',
      }),
      context,
    },
    { additionalProperties: false },
  );
}

interface Check {
  readonly schema: Type.TObject;
  /**
   * Of the same schema, but for further fields in the context: looking a field up in a set is
   * faster than what is compiled for that.
   */
  readonly compiled: Validator;
  readonly fields: ReadonlySet<string>;
}

/** Each made when the first receipt of its reason comes by. */
const checks = new Map<string, Check>();

function checkOf(reason: ReasonName): Check {
  const schema = receiptSchema(reason);
  const { context } = reasons[reason] as Reason;
  const open = Type.Object(
    { ...schema.properties, context: Type.Object(context.properties) },
    { additionalProperties: false },
  );
  const check = {
    schema,
    compiled: Compile(open) as Validator,
    fields: new Set(Object.keys(context.properties)),
  };
  checks.set(reason, check);
  return check;
}

/**
 * Why a value is not a receipt, or null if it is one. Says where it is wrong, and never what stands
 * there.
 */
export function validateReceipt(value: unknown): WritRefusal | null {
  if (typeof value !== 'object' || value === null)
    return new WritRefusal('invalid_receipt', 'it is not an object');
  const { reason } = value as { reason?: unknown };
  if (typeof reason !== 'string')
    return new WritRefusal('invalid_receipt', '/reason is missing, or no text');
  let check = checks.get(reason);
  if (!check) {
    if (!isReason(reason)) return new WritRefusal('unknown_receipt_reason');
    check = checkOf(reason);
  }
  if (!check.compiled.Check(value))
    return new WritRefusal('invalid_receipt', whatIsWrong(check.schema, value));
  const detail = beyondSchema(check.fields, value as Receipt);
  return detail ? new WritRefusal('invalid_receipt', detail) : null;
}

/** What is not compiled, and what JSON Schema does not say. */
function beyondSchema(
  known: ReadonlySet<string>,
  { timestamp, reason, context }: Receipt,
): string | undefined {
  const fields: Readonly<Record<string, unknown>> = context;
  for (const field in fields) {
    if (!known.has(field)) return `/context/${named(field)} is not one of its fields`;
    // To the compiled check such a field is one that was left out, or one that is there; the entry
    // would not hold it.
    if (fields[field] === undefined || !Object.hasOwn(fields, field))
      return `/context/${named(field)} has no value of its own`;
  }
  if (fields.terminal === true && fields.arrival_seq === undefined && reason !== 'signal_dropped') {
    return '/context/arrival_seq is missing, and a receipt that settles a signal has to name it';
  }
  if (!isOnCalendar(timestamp)) return '/timestamp is on no calendar';
  return undefined;
}

/** Every month has a 28th; only what comes after has to be looked up. */
function isOnCalendar(timestamp: string): boolean {
  return timestamp.slice(8, 10) <= '28' || new Date(timestamp).toISOString() === timestamp;
}

/**
 * The deepest thing that does not fit: of what may be one or the other, that is the one that was
 * meant.
 */
function whatIsWrong(schema: Type.TObject, value: unknown): string {
  const [, errors] = Errors(schema, value);
  const depth = ({ instancePath }: { instancePath: string }) => instancePath.split('/').length;
  const error = errors.reduce<(typeof errors)[number] | undefined>(
    (deepest, one) => (deepest && depth(deepest) >= depth(one) ? deepest : one),
    undefined,
  );
  if (!error) return 'it does not fit its schema';
  const where = error.instancePath.split('/').map(named).join('/') || 'it';
  switch (error.keyword) {
    case 'required':
      return `${where === 'it' ? '' : where}/${error.params.requiredProperties[0]} is missing`;
    case 'boolean':
      return `${where} is not one of its fields`;
    case 'pattern':
      return `${where} has the wrong form`;
    case 'enum':
      return `${where} must be one of ${error.params.allowedValues.join(', ')}`;
    case 'const':
      return `${where} must be ${JSON.stringify(error.params.allowedValue)}`;
    default:
      return `${where} ${error.message}`;
  }
}

/** A field's name, unless it is not one: somebody else's data may have got there. */
const named = (field: string) => (/^[\w.:-]{0,100}$/.test(field) ? field : '…');
