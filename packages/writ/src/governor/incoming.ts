/**
 * A signal as it comes in, by HTTP or from a program: bounded, and in our words. Whether its
 * governor exists, and what follows from it, is decided elsewhere.
 */
import { WritRefusal } from '../errors/index.js';
import { canonicalize } from '../ledger/canonical.js';
import type { Signal } from './events.js';

export type IncomingSignal = Omit<Signal, 'arrival_seq' | 'storm'>;

export const metadataBytes = 10_240;

const sources = new Map<string, Signal['source']>([
  ['monitoring', 'monitoring'],
  ['stackdriver', 'monitoring'],
  ['prometheus', 'monitoring'],
  ['datadog', 'monitoring'],
  ['cloudwatch', 'monitoring'],
  ['gcp-monitoring', 'monitoring'],
  ['logging', 'logging'],
  ['gcp-logging', 'logging'],
  ['cloudwatch-logs', 'logging'],
  ['billing', 'billing'],
  ['gcp-billing', 'billing'],
  ['aws-billing', 'billing'],
  ['custom', 'custom'],
]);

const severities = new Map<string, Signal['severity']>([
  ['CRITICAL', 'CRITICAL'],
  ['CRITICAL_PLUS', 'CRITICAL'],
  ['HIGH', 'HIGH'],
  ['MEDIUM', 'MEDIUM'],
  ['LOW', 'LOW'],
  ['INFO', 'LOW'],
]);

/** As programs and receipts name types of signals. */
export const isSignalType = (text: string): boolean => /^[a-z][a-z0-9_.:-]{0,99}$/.test(text);

/** What an id of a sender may be: printable, so that it can stand in a header and in a log. */
export const isSenderId = (text: string): boolean =>
  /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/.test(text);

const refuse = (detail: string) => new WritRefusal('invalid_signal', detail);

/**
 * A signal with every value in its bounds, or WritRefusal `invalid_signal`. Names of sources and
 * severities that others use become ours; what is null counts as left out; fields that are not of a
 * signal are left out.
 */
export function checkIncoming(value: unknown): IncomingSignal {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse('a signal is an object');
  const given = value as Readonly<Record<string, unknown>>;
  const correlation = optional(given.correlation_id, (id) => text('correlation_id', id));
  const observed = optional(given.value, (number) => finite('value', number));
  const threshold = optional(given.threshold, (number) => finite('threshold', number));
  const instance = optional(given.instance, instanceOf);
  const metadata = optional(given.metadata, metadataOf);
  return {
    signal_id: senderId(given.signal_id),
    source: sourceOf(given.source),
    type: typeOf(given.type),
    severity: severityOf(given.severity),
    ...(observed !== undefined && { value: observed }),
    ...(threshold !== undefined && { threshold }),
    observed_at: observedAt(given.observed_at),
    ...(correlation !== undefined && { correlation_id: correlation }),
    ...(instance !== undefined && { instance }),
    ...(metadata !== undefined && { metadata }),
  };
}

function optional<T>(value: unknown, check: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : check(value);
}

function senderId(value: unknown): string {
  if (typeof value === 'string' && isSenderId(value)) return value;
  throw refuse('signal_id has 1 to 200 printable characters');
}

function sourceOf(value: unknown): Signal['source'] {
  const source = typeof value === 'string' ? sources.get(value.toLowerCase()) : undefined;
  if (source) return source;
  throw refuse(`source is one of ${[...sources.keys()].join(', ')}`);
}

function typeOf(value: unknown): string {
  if (typeof value === 'string' && isSignalType(value)) return value;
  throw refuse('type has 1 to 100 of a-z, 0-9 and _ . : - and begins with a letter');
}

function severityOf(value: unknown): Signal['severity'] {
  const severity = typeof value === 'string' ? severities.get(value.toUpperCase()) : undefined;
  if (severity) return severity;
  throw refuse(`severity is one of ${[...severities.keys()].join(', ')}`);
}

/** Short, since a governor keeps it as long as it is over. */
function instanceOf(value: unknown): string {
  if (typeof value === 'string' && value.length <= 100 && isSenderId(value)) return value;
  throw refuse('instance has 1 to 100 printable characters');
}

/** A number that a receipt can carry. */
function finite(field: string, value: unknown): number {
  // which makes 0 of -0, as JSON does
  if (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value + 0;
  throw refuse(`${field} is a number from -(2^53 - 1) to 2^53 - 1`);
}

function observedAt(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= 8.64e15)
    return value;
  throw refuse('observed_at is a time in milliseconds since 1970');
}

/** One line of text that can be stored. */
export function text(field: string, value: unknown, refusal = refuse): string {
  if (
    typeof value === 'string' &&
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
    /^[^\u0000-\u001f\u007f]{1,200}$/.test(value) &&
    value.isWellFormed()
  )
    return value;
  throw refusal(`${field} has 1 to 200 characters, none of them a control character`);
}

/**
 * What can be stored and hashed. Its size is that of its canonical form, so that blanks do not
 * count.
 */
function metadataOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse('metadata is an object');
  let canonical: string;
  try {
    canonical = canonicalize(value);
  } catch (error) {
    if (error instanceof WritRefusal) throw refuse(`metadata: ${error.message.slice(0, 200)}`);
    throw error;
  }
  if (Buffer.byteLength(canonical) > metadataBytes)
    throw refuse(`metadata has at most ${metadataBytes} bytes`);
  if (/(?<!\\)(?:\\\\)*\\u0000/.test(canonical)) throw refuse('metadata has a NUL character in it');
  return JSON.parse(canonical) as Readonly<Record<string, unknown>>;
}
