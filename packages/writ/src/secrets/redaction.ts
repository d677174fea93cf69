/**
 * Keeping the secrets of this process out of what leaves it: results, errors, and what is asked of
 * the database.
 */
import { type ErrorCode, WritRefusal } from '../errors/index.js';
import { knownSecrets } from './redactor.js';

/**
 * A text with every secret that this process has been given replaced by its name. For logs of your
 * own.
 */
export const redactSecrets = (text: string): string => knownSecrets.redact(text);

/**
 * Refuses a text that is about to be stored, if it carries a secret that this process has been
 * given.
 */
export function refuseSecrets(
  text: string | undefined,
  what: string,
  code: ErrorCode = 'secret_inside',
): void {
  if (knownSecrets.size === 0 || text === undefined) return;
  const names = knownSecrets.find(text);
  if (names.length > 0) throw new WritRefusal(code, `${what}: the value of ${names.join(', ')}`);
}

/** JSON with every secret replaced, and which they were. */
export function redactJson(json: string): { json: string; names: string[] } {
  const names = knownSecrets.size === 0 ? [] : knownSecrets.find(json);
  if (names.length === 0) return { json, names };
  // Text by text: in the JSON itself what looks like the beginning of a value may be the end of an
  // escape.
  const safe = JSON.stringify(redactedValue(JSON.parse(json)));
  // What is left then lies across several texts. Nothing of that can be kept.
  return {
    json: knownSecrets.find(safe).length > 0 ? JSON.stringify(`«secret ${names[0]}»`) : safe,
    names,
  };
}

function redactedValue(value: unknown): unknown {
  if (typeof value === 'string') return redactedText(value);
  if (typeof value === 'number')
    return knownSecrets.find(String(value)).length > 0 ? knownSecrets.redact(String(value)) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(redactedValue);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [redactedText(name), redactedValue(member)]),
  );
}

function redactedText(text: string): string {
  const safe = knownSecrets.redact(text);
  // Written as JSON, the end of an escape and what follows may spell a value that the text did not
  // have.
  const [name] = knownSecrets.find(JSON.stringify(safe));
  return name === undefined ? safe : `«secret ${name}»`;
}

/**
 * An error without secrets: the same one if it has none, otherwise a copy of its words, its code,
 * its causes, and of what else it says in texts and numbers.
 */
export function redactError(error: unknown): unknown {
  return knownSecrets.size === 0 || !holdsSecret(error) ? error : copied(error, new Map());
}

/** Looks at so many parts of an error, and takes one with more for one that holds a secret. */
const mostParts = 10_000;

/**
 * Whether a value that somebody threw holds a secret anywhere: requests and answers hang on errors,
 * with their headers.
 */
function holdsSecret(thrown: unknown): boolean {
  const seen = new Set<unknown>();
  const open: unknown[] = [thrown];
  for (let part = open.pop(); seen.size < mostParts; part = open.pop()) {
    if (typeof part === 'string' || typeof part === 'number') {
      if (knownSecrets.find(String(part)).length > 0) return true;
    } else if (typeof part === 'object' && part !== null && !seen.has(part)) {
      seen.add(part);
      if (ArrayBuffer.isView(part))
        open.push(Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('utf8'));
      else if (part instanceof Map) open.push(...part.keys(), ...part.values());
      else if (part instanceof Set || Array.isArray(part)) open.push(...part);
      else
        for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(part)))
          open.push(name, value);
      if (part instanceof Error) open.push(part.message, part.stack);
    }
    if (open.length === 0) return false;
  }
  return true;
}

function copied(value: unknown, copies: Map<unknown, unknown>): unknown {
  if (typeof value === 'string') return knownSecrets.redact(value);
  if (!(value instanceof Error))
    return typeof value === 'object' && value !== null
      ? '«it holds a secret»'
      : redactedValue(value);
  const known = copies.get(value);
  if (known) return known;
  const copy = Object.create(Object.getPrototypeOf(value)) as Error;
  copies.set(value, copy);
  const define = (name: string, content: unknown) =>
    Object.defineProperty(copy, name, { value: content, writable: true, configurable: true });
  for (const [name, { value: own }] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if (typeof own !== 'object' && typeof own !== 'function')
      define(knownSecrets.redact(name), redactedValue(own));
  }
  define('message', knownSecrets.redact(value.message));
  define('stack', knownSecrets.redact(value.stack ?? ''));
  if (value.cause !== undefined) define('cause', copied(value.cause, copies));
  if (value instanceof AggregateError)
    define(
      'errors',
      value.errors.map((one) => copied(one, copies)),
    );
  return copy;
}
