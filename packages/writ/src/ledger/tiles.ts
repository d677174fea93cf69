/**
 * C2SP tlog-tiles: a tree as files of 256 hashes, level upon level, and its entries in bundles of
 * 256. A tile of level L holds hashes of complete subtrees with 256^L leaves; the last of each
 * level may be partial, and then says how many it holds.
 */
import { WritRefusal } from '../errors/index.js';
import { entryLimit } from './canonical.js';
import { CompactRange, type HashSource, nodeHash, portableSha256, type Sha256 } from './merkle.js';

export const tileWidth = 256;

export interface Tile {
  readonly level: number;
  readonly index: number;
  readonly hashes: readonly Uint8Array[];
}

export function tileBytes({ hashes }: Tile): Uint8Array {
  const bytes = new Uint8Array(hashes.length * 32);
  for (const [at, hash] of hashes.entries()) bytes.set(hash, at * 32);
  return bytes;
}

/** `level` is 'entries' for bundles. */
export function tilePath(
  level: number | 'entries',
  index: number,
  width: number = tileWidth,
): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/.{3}/g)!;
  const folders = groups.slice(0, -1).map((group) => `x${group}/`);
  return `tile/${level}/${folders.join('')}${groups.at(-1)}${width === tileWidth ? '' : `.p/${width}`}`;
}

/** Where a log is in an export. Every log has one folder, and none leads out of it. */
export function logFolder(log: string): string {
  return `logs/${encodeURIComponent(log).replaceAll('.', '%2E')}`;
}

/**
 * How many hashes the `index`th tile of a level has in a tree of this size; 0 if it is not there.
 */
export function tileWidthAt(level: number, index: number, size: number): number {
  const hashes = Math.floor(size / tileWidth ** level);
  return Math.max(0, Math.min(tileWidth, hashes - index * tileWidth));
}

export function encodeBundle(entries: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(entries.reduce((sum, entry) => sum + 2 + entry.length, 0));
  let at = 0;
  for (const entry of entries) {
    if (entry.length > entryLimit)
      throw new WritRefusal('entry_too_large', `${entry.length} bytes`);
    bytes[at] = Math.floor(entry.length / 256);
    bytes[at + 1] = entry.length % 256;
    bytes.set(entry, at + 2);
    at += 2 + entry.length;
  }
  return bytes;
}

/** The entries of a bundle, as views of its bytes. */
export function decodeBundle(bytes: Uint8Array): Uint8Array[] {
  const { entries, fault } = readBundle(bytes);
  if (fault) throw new WritRefusal('invalid_tile', fault);
  return entries;
}

/** The entries of a bundle as far as it can be read, and why it cannot be read further. */
export function readBundle(bytes: Uint8Array): { entries: Uint8Array[]; fault?: string } {
  const entries: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 2 + bytes[at]! * 256 + (bytes[at + 1] ?? 0);
    if (at + 2 > bytes.length || end > bytes.length)
      return { entries, fault: `entry ${entries.length} of the bundle is cut off` };
    if (entries.length === tileWidth)
      return { entries, fault: `more than ${tileWidth} entries in a bundle` };
    entries.push(bytes.subarray(at + 2, end));
    at = end;
  }
  return { entries };
}

/**
 * A tree that grows by leaf hashes and hands out its tiles: for writing an export, and for checking
 * one.
 */
export class TileBuilder {
  readonly #range: CompactRange;
  readonly #growing: { index: number; hashes: Uint8Array[] }[] = [];
  #complete: Tile[] = [];

  constructor(sha256: Sha256 = portableSha256) {
    this.#range = new CompactRange(sha256, (level, hash) => {
      if (level % 8 === 0) this.#put(level / 8, hash);
    });
  }

  get size(): number {
    return this.#range.size;
  }

  append(leaf: Uint8Array): void {
    this.#range.append(leaf);
  }

  root(): Uint8Array {
    return this.#range.root();
  }

  /** Tiles that have become full since the last call. */
  takeFull(): Tile[] {
    const full = this.#complete;
    this.#complete = [];
    return full;
  }

  /** The partial tiles at the right edge of the tree as it is. */
  partial(): Tile[] {
    return this.#growing.flatMap(({ index, hashes }, level) =>
      hashes.length > 0 ? [{ level, index, hashes: [...hashes] }] : [],
    );
  }

  #put(level: number, hash: Uint8Array): void {
    this.#growing[level] ??= { index: 0, hashes: [] };
    const { index, hashes } = this.#growing[level];
    hashes.push(hash);
    if (hashes.length < tileWidth) return;
    this.#complete.push({ level, index, hashes });
    this.#growing[level] = { index: index + 1, hashes: [] };
  }
}

/**
 * Hashes of a tree of this size out of its tiles. `read` answers null for a tile that is not there.
 */
export function tileSource(
  read: (path: string) => Promise<Uint8Array | null>,
  size: number,
  sha256: Sha256 = portableSha256,
): HashSource {
  return async (subtrees) => {
    const tiles = new Map<string, Promise<Uint8Array>>();
    const tile = (level: number, index: number) => {
      const width = tileWidthAt(level, index, size);
      const path = tilePath(level, index, width);
      const bytes = tiles.get(path) ?? read(path).then((found) => checkTile(found, width, path));
      tiles.set(path, bytes);
      return bytes;
    };
    return Promise.all(
      subtrees.map(async ({ level, index }) => {
        const within = level % 8;
        const perTile = 2 ** (8 - within);
        const bytes = await tile(Math.floor(level / 8), Math.floor(index / perTile));
        const first = (index % perTile) * 2 ** within;
        return foldComplete(bytes, first, 2 ** within, sha256);
      }),
    );
  };
}

export function checkTile(bytes: Uint8Array | null, width: number, path: string): Uint8Array {
  if (!bytes) throw new WritRefusal('invalid_tile', `${path} is missing`);
  if (bytes.length !== width * 32)
    throw new WritRefusal('invalid_tile', `${path} does not hold ${width} hashes`);
  return bytes;
}

/** The root of `count` hashes of a tile, a power of two. */
function foldComplete(bytes: Uint8Array, first: number, count: number, sha256: Sha256): Uint8Array {
  if (count === 1) return bytes.slice(first * 32, first * 32 + 32);
  const half = count / 2;
  return nodeHash(
    foldComplete(bytes, first, half, sha256),
    foldComplete(bytes, first + half, half, sha256),
    sha256,
  );
}
