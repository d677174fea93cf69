/**
 * The tree of RFC 6962: leaves and nodes are hashed with different first bytes, a tree of n leaves
 * splits at the largest power of two below n. Sizes go up to 2^53 - 1, so that they are divided and
 * never shifted. Proofs are followed as RFC 9162 §2.1.3.2 and §2.1.4.2 describe: a loop walks from
 * the leaf up to the root and takes one hash of the proof at each level that has a neighbour.
 */
import { sha256 as noble } from '@noble/hashes/sha2.js';
import { WritRefusal } from '../errors/index.js';

/** A hash function. In Node the caller hands in `crypto.hash`, which is several times as fast. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array;

/** A complete subtree: the `index`th of those with 2^level leaves. */
export interface Subtree {
  readonly level: number;
  readonly index: number;
}

/**
 * Hashes of complete subtrees, in the order in which they were asked for. All that a proof needs is
 * asked for in one call.
 */
export type HashSource = (
  subtrees: readonly Subtree[],
) => Promise<readonly Uint8Array[]> | readonly Uint8Array[];

export const portableSha256: Sha256 = (bytes) => noble(bytes);

export function leafHash(entry: Uint8Array, sha256: Sha256 = portableSha256): Uint8Array {
  const bytes = new Uint8Array(entry.length + 1);
  bytes.set(entry, 1);
  return sha256(bytes);
}

export function nodeHash(
  left: Uint8Array,
  right: Uint8Array,
  sha256: Sha256 = portableSha256,
): Uint8Array {
  const bytes = new Uint8Array(65);
  bytes[0] = 1;
  bytes.set(left, 1);
  bytes.set(right, 33);
  return sha256(bytes);
}

export function emptyRoot(sha256: Sha256 = portableSha256): Uint8Array {
  return sha256(new Uint8Array(0));
}

/**
 * A tree that only grows, as the hashes of its complete subtrees, the largest first: at most 53 of
 * them. `onSubtree` hears of every complete subtree as its last leaf arrives.
 */
export class CompactRange {
  readonly #sha256: Sha256;
  readonly #onSubtree: ((level: number, hash: Uint8Array) => void) | undefined;
  readonly #subtrees: Uint8Array[] = [];
  readonly #pair = new Uint8Array(65);
  #size = 0;

  constructor(
    sha256: Sha256 = portableSha256,
    onSubtree?: (level: number, hash: Uint8Array) => void,
  ) {
    this.#sha256 = sha256;
    this.#onSubtree = onSubtree;
    this.#pair[0] = 1;
  }

  get size(): number {
    return this.#size;
  }

  append(leaf: Uint8Array): void {
    let hash = leaf;
    let level = 0;
    this.#onSubtree?.(0, leaf);
    // The size says which subtrees there are: it is their sum. Each that the new leaf completes is
    // joined with the one before it.
    for (let rest = this.#size; isOdd(rest); rest = half(rest)) {
      hash = this.#join(this.#subtrees.pop()!, hash);
      level += 1;
      this.#onSubtree?.(level, hash);
    }
    this.#subtrees.push(hash);
    this.#size += 1;
  }

  root(): Uint8Array {
    let root = this.#subtrees.at(-1);
    if (!root) return emptyRoot(this.#sha256);
    for (let at = this.#subtrees.length - 2; at >= 0; at--)
      root = this.#join(this.#subtrees[at]!, root);
    return root;
  }

  #join(left: Uint8Array, right: Uint8Array): Uint8Array {
    this.#pair.set(left, 1);
    this.#pair.set(right, 33);
    return this.#sha256(this.#pair);
  }
}

/** Leaves from `first` up to but without `end`. */
type Range = readonly [first: number, end: number];

/** The root of the first `size` leaves. */
export async function rootOf(
  size: number,
  source: HashSource,
  sha256: Sha256 = portableSha256,
): Promise<Uint8Array> {
  demand(isSize(size), 'the size of the tree is not a whole number');
  if (size === 0) return emptyRoot(sha256);
  const [root] = await hashes([[0, size]], source, sha256);
  return root!;
}

/** What leads from a leaf to the root of the first `size` leaves. */
export async function inclusionProof(
  index: number,
  size: number,
  source: HashSource,
  sha256: Sha256 = portableSha256,
): Promise<Uint8Array[]> {
  demand(
    isSize(size) && isSize(index) && index < size,
    `there is no leaf ${index} in a tree of ${size}`,
  );
  const ranges: Range[] = [];
  let [first, end] = [0, size];
  while (end - first > 1) {
    const middle = first + splitOf(end - first);
    if (index < middle) {
      ranges.push([middle, end]);
      end = middle;
    } else {
      ranges.push([first, middle]);
      first = middle;
    }
  }
  return hashes(ranges.reverse(), source, sha256);
}

/**
 * What shows that the first `from` leaves of the tree with `to` leaves are the tree that had the
 * root of `from`.
 */
export async function consistencyProof(
  from: number,
  to: number,
  source: HashSource,
  sha256: Sha256 = portableSha256,
): Promise<Uint8Array[]> {
  demand(
    isSize(from) && isSize(to) && from <= to,
    `a tree of ${to} does not begin with one of ${from}`,
  );
  if (from === 0 || from === to) return [];
  const ranges: Range[] = [];
  let [first, end] = [0, to];
  while (end !== from) {
    const middle = first + splitOf(end - first);
    if (from <= middle) {
      ranges.push([middle, end]);
      end = middle;
    } else {
      ranges.push([first, middle]);
      first = middle;
    }
  }
  if (first > 0) ranges.push([first, end]); // The verifier has the old root itself.
  return hashes(ranges.reverse(), source, sha256);
}

/** Throws unless the leaf is the `index`th of the tree with this root. */
export function verifyInclusion(
  leaf: Uint8Array,
  index: number,
  size: number,
  proof: readonly Uint8Array[],
  root: Uint8Array,
  sha256: Sha256 = portableSha256,
): void {
  demand(
    isSize(size) && isSize(index) && index < size,
    `there is no leaf ${index} in a tree of ${size}`,
  );
  demand([leaf, root, ...proof].every(isHash), 'a hash does not have 32 bytes');
  let [node, last, hash] = [index, size - 1, leaf];
  for (const sibling of proof) {
    demand(last > 0, 'the proof is too long');
    if (isOdd(node) || node === last) {
      hash = nodeHash(sibling, hash, sha256);
      while (!isOdd(node) && node > 0) [node, last] = [half(node), half(last)];
    } else {
      hash = nodeHash(hash, sibling, sha256);
    }
    [node, last] = [half(node), half(last)];
  }
  demand(last === 0, 'the proof is too short');
  demand(sameBytes(hash, root), 'it does not lead to the root');
}

/** Throws unless the tree with the second root begins with the one that has the first. */
export function verifyConsistency(
  from: number,
  to: number,
  proof: readonly Uint8Array[],
  fromRoot: Uint8Array,
  toRoot: Uint8Array,
  sha256: Sha256 = portableSha256,
): void {
  demand(
    isSize(from) && isSize(to) && from <= to,
    `a tree of ${to} does not begin with one of ${from}`,
  );
  demand([fromRoot, toRoot, ...proof].every(isHash), 'a hash does not have 32 bytes');
  if (from === 0 || from === to) {
    demand(proof.length === 0, 'the proof is too long');
    demand(sameBytes(fromRoot, from === 0 ? emptyRoot(sha256) : toRoot), 'the roots differ');
    return;
  }
  let [node, last] = [from - 1, to - 1];
  while (isOdd(node)) [node, last] = [half(node), half(last)];
  // An old tree that is one complete subtree begins the walk with its own root.
  const path = node === 0 ? [fromRoot, ...proof] : proof;
  demand(path.length > 0, 'the proof is too short');
  let [old, now] = [path[0]!, path[0]!];
  for (const sibling of path.slice(1)) {
    demand(last > 0, 'the proof is too long');
    if (isOdd(node) || node === last) {
      old = nodeHash(sibling, old, sha256);
      now = nodeHash(sibling, now, sha256);
      while (!isOdd(node) && node > 0) [node, last] = [half(node), half(last)];
    } else {
      now = nodeHash(now, sibling, sha256);
    }
    [node, last] = [half(node), half(last)];
  }
  demand(last === 0, 'the proof is too short');
  demand(sameBytes(old, fromRoot), 'it does not lead to the root of the smaller tree');
  demand(sameBytes(now, toRoot), 'it does not lead to the root of the larger tree');
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

/**
 * The hashes of ranges as they occur in a tree: each begins where a complete subtree as large as
 * its first part may begin.
 */
async function hashes(
  ranges: readonly Range[],
  source: HashSource,
  sha256: Sha256,
): Promise<Uint8Array[]> {
  const parts = ranges.map(subtreesOf);
  const found = await source(parts.flat());
  let next = 0;
  return parts.map((subtrees) => {
    const own = found.slice(next, next + subtrees.length);
    next += subtrees.length;
    return own.reduceRight((right, left) => nodeHash(left, right, sha256));
  });
}

function subtreesOf([first, end]: Range): Subtree[] {
  const subtrees: Subtree[] = [];
  for (let at = first; at < end; ) {
    let [level, width] = [0, 1];
    while (width * 2 <= end - at) [level, width] = [level + 1, width * 2];
    subtrees.push({ level, index: at / width });
    at += width;
  }
  return subtrees;
}

/** The largest power of two below n. */
function splitOf(n: number): number {
  let split = 1;
  while (split * 2 < n) split *= 2;
  return split;
}

const isSize = (size: number) => Number.isSafeInteger(size) && size >= 0;
const isHash = (hash: Uint8Array) => hash instanceof Uint8Array && hash.length === 32;
const isOdd = (n: number) => n % 2 === 1;
const half = (n: number) => Math.floor(n / 2);

function demand(holds: boolean, otherwise: string): void {
  if (!holds) throw new WritRefusal('invalid_proof', otherwise);
}
