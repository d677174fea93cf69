/**
 * Values that can be erased although the ledger cannot be changed: a receipt holds a salted hash,
 * and the value is kept elsewhere with its salt.
 */
import { createHash, randomBytes } from 'node:crypto';
import { canonicalize } from './canonical.js';

/** A value that a receipt is to hold erasably. */
export class Erasable<Value = unknown> {
  readonly value: Value;
  constructor(value: Value) {
    this.value = value;
  }
}

/**
 * Marks a value of a context: the receipt holds its salted hash, and the value itself is handed
 * back for storing elsewhere.
 */
export function erasable<Value>(value: Value): Erasable<Value> {
  return new Erasable(value);
}

/** What has to be stored beside a receipt: removing it erases the value. */
export interface StoredErasable {
  /** Hex SHA-256 of salt and canonical JSON of the value, as it is in the receipt. */
  readonly hash: string;
  readonly salt: Uint8Array;
  readonly value: unknown;
}

/** A copy of a context in which something else stands for each marked value. */
export function replaceMarked(value: unknown, use: (marked: Erasable) => unknown): unknown {
  if (value instanceof Erasable) return use(value);
  if (Array.isArray(value)) return value.map((item) => replaceMarked(item, use));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, replaceMarked(field, use)]),
  );
}

export function commitTo(value: unknown): StoredErasable {
  const salt = randomBytes(32);
  return { hash: commitment(salt, value), salt, value };
}

/**
 * What stands in a receipt for an erasable value. Whoever is shown salt and value can work it out
 * again.
 */
export function commitment(salt: Uint8Array, value: unknown): string {
  return createHash('sha256').update(salt).update(canonicalize(value)).digest('hex');
}
