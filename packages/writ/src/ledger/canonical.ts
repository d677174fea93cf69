/**
 * RFC 8785: one text for one value, so that its hash means something. Stricter than the RFC where
 * it would let a value change on the way: whole numbers that JSON cannot carry exactly are refused,
 * and so is everything that JSON.stringify would drop or replace without a word.
 */
import { WritRefusal } from '../errors/index.js';

/** The longest entry of a log: its length has two bytes in a bundle. */
export const entryLimit = 65_535;

/** Deep enough for any receipt, and shallow enough for every stack. Circles end here too. */
const depthLimit = 200;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const refuse = (detail: string) => new WritRefusal('value_not_canonical', detail);

/**
 * The canonical text of a value. Where it has none, the refusal names the place and not the value.
 */
export function canonicalize(value: unknown): string {
  return write(value, []);
}

/** The bytes of a value as an entry of a log. */
export function canonicalEntry(value: unknown): Uint8Array {
  const bytes = encoder.encode(canonicalize(value));
  if (bytes.length > entryLimit) throw new WritRefusal('entry_too_large', `${bytes.length} bytes`);
  return bytes;
}

/**
 * `path` leads to the value, as far as it has been followed; it becomes a text only in a refusal.
 */
function write(value: unknown, path: (string | number)[]): string {
  switch (typeof value) {
    case 'string':
      return writeText(value, path);
    case 'number':
      if (Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value)) {
        throw refuse(
          `${place(path)}: ${Number.isFinite(value) ? 'a whole number beyond 2^53 - 1' : 'not a finite number'}`,
        );
      }
      return String(value); // As the RFC says: ECMAScript's own form. It writes -0 as 0.
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (path.length >= depthLimit)
        throw refuse(
          `${place(path).slice(0, 60)}…: nested deeper than ${depthLimit}, or in a circle`,
        );
      return Array.isArray(value) ? writeArray(value, path) : writeObject(value, path);
    default:
      throw refuse(`${place(path)}: ${typeof value} is not JSON`);
  }
}

function writeText(text: string, path: readonly (string | number)[]): string {
  if (!text.isWellFormed()) throw new WritRefusal('invalid_text', place(path));
  return JSON.stringify(text);
}

function writeArray(values: readonly unknown[], path: (string | number)[]): string {
  let text = '[';
  for (let at = 0; at < values.length; at++) {
    path.push(at);
    text += (at > 0 ? ',' : '') + write(values[at], path);
    path.pop();
  }
  return `${text}]`;
}

function writeObject(value: object, path: (string | number)[]): string {
  const prototype = Object.getPrototypeOf(value);
  // An object of another realm, as a browser's frame or a test's sandbox has it, is as plain as
  // ours.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    throw refuse(`${place(path)}: ${value.constructor?.name} is not JSON`);
  let text = '{';
  // Sorted by UTF-16 code units, which is how the language compares texts.
  for (const key of Object.keys(value).sort()) {
    const name = names.get(key) ?? nameOf(key, path);
    path.push(key);
    text +=
      (text.length > 1 ? ',' : '') + name + write((value as Record<string, unknown>)[key], path);
    path.pop();
  }
  return `${text}}`;
}

/** Keys as they are written, with their colons: receipts have the same few again and again. */
const names = new Map<string, string>();
const namesLimit = 1_000;

function nameOf(key: string, path: readonly (string | number)[]): string {
  if (!key.isWellFormed()) throw new WritRefusal('invalid_text', `${place(path)}, a key`);
  const name = `${JSON.stringify(key)}:`;
  if (names.size < namesLimit && key.length < 100) names.set(key, name);
  return name;
}

const place = (path: readonly (string | number)[]) =>
  path.length > 0 ? `/${path.join('/')}` : 'the value';

/** Whether bytes are the canonical text of the value that they stand for. */
export function isCanonical(bytes: Uint8Array): boolean {
  return readCanonical(bytes) !== undefined;
}

/** The value of canonical bytes; undefined, which no JSON stands for, if they are not. */
export function readCanonical(bytes: Uint8Array): unknown {
  let text: string;
  let value: unknown;
  try {
    text = decoder.decode(bytes);
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  // The engine's own writer is several times as fast as ours, and agrees with it where keys stand
  // in order already. Where it does not, as with keys that look like numbers, and where half of a
  // surrogate pair is escaped, ours decides.
  if (isOrdered(value, 0) && !text.includes('\\ud') && JSON.stringify(value) === text) return value;
  try {
    return canonicalize(value) === text ? value : undefined;
  } catch (error) {
    if (error instanceof WritRefusal) return undefined;
    throw error;
  }
}

/** Whether keys are in order and numbers exact, all the way down. */
function isOrdered(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) || !Number.isInteger(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= depthLimit) return false;
  if (Array.isArray(value)) {
    for (const member of value)
      if (typeof member !== 'string' && !isOrdered(member, depth + 1)) return false;
    return true;
  }
  let last: string | undefined;
  for (const key in value) {
    if (last !== undefined && last >= key) return false;
    last = key;
    const member = (value as Record<string, unknown>)[key];
    if (typeof member !== 'string' && !isOrdered(member, depth + 1)) return false;
  }
  return true;
}
