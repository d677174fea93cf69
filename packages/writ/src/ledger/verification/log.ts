/**
 * One log of an export, from its first entry to its last, once: 256 entries and their tile at a
 * time, while the next few are being read. An entry must hash to its leaf in the tile, be a receipt
 * of this log, and follow the one before it in its stream. The tree is grown from the leaves, so
 * that every tile above them and the signed root can be compared. Whose signature it is is asked
 * later: a key may be introduced by an entry.
 */
import { WritRefusal } from '../../errors/index.js';
import { readCanonical } from '../canonical.js';
import { faultOfReceipt, type ReceiptContainer } from '../container.js';
import { type Sha256, sameBytes } from '../merkle.js';
import { type Checkpoint, parseCheckpoint, parseNote } from '../note.js';
import {
  checkTile,
  readBundle,
  type Tile,
  TileBuilder,
  tilePath,
  tileWidth,
  tileWidthAt,
} from '../tiles.js';
import { count, type Findings } from '../verdict.js';
import type { ExportedLog } from './manifest.js';

/** Reads a file of an export; null if it is not there. */
export type Reader = (path: string) => Promise<Uint8Array | null>;

export interface Progress {
  readonly log: string;
  readonly entries: number;
  readonly of: number;
}

export interface LogContext {
  readonly reader: Reader;
  readonly sha256: Sha256;
  readonly findings: Findings;
  readonly progress?: ((progress: Progress) => void) | undefined;
}

export interface WalkedLog extends ExportedLog {
  /**
   * The signed note as it was read, and what it says; undefined where there is none that can be
   * read.
   */
  readonly note: Uint8Array | undefined;
  readonly checkpoint: Checkpoint | undefined;
  /** Of the tree as it was exported. */
  readonly root: Uint8Array;
}

/** Bundles that are being read at a time, the one that is walked included. */
const ahead = 6;

export type OnReceipt = (
  receipt: ReceiptContainer,
  index: number,
  entry: Uint8Array,
) => Promise<void> | undefined;

/** `onGap`: receipts are missing before the next one that `onReceipt` hears. */
export async function walkLog(
  exported: ExportedLog,
  context: LogContext,
  onReceipt?: OnReceipt,
  onGap: () => void = () => {},
): Promise<WalkedLog> {
  const { findings } = context;
  const { log } = exported;
  const { note, checkpoint } = await readCheckpoint(exported, context);
  // The checkpoint says how many entries there have to be; the list of logs only repeats it.
  const size = checkpoint?.size ?? exported.size;
  if (size !== exported.size)
    findings.add(
      'export',
      `Log ${log}: export.json says ${exported.size} entries, its checkpoint ${size}.`,
      { log },
    );
  const walk = new Walk(log, size, exported.directory, context, onGap);
  const root = await walk.run(onReceipt);
  if (checkpoint && !sameBytes(root, checkpoint.root) && !findings.has(log, 'entry', 'tile')) {
    findings.add(
      'root',
      `Log ${log}: its ${count(size, 'entry', 'entries')} do not give the root that was signed. Some were changed, removed or added, and the tiles with them.`,
      { log },
    );
  }
  return { ...exported, size, note, checkpoint, root };
}

async function readCheckpoint({ log, directory }: ExportedLog, { reader, findings }: LogContext) {
  const note = await reader(`${directory}/checkpoint`);
  if (!note) {
    findings.add('signature', `Log ${log} has no checkpoint: nothing says what it should be.`, {
      log,
    });
    return { note: undefined, checkpoint: undefined };
  }
  try {
    return { note, checkpoint: parseCheckpoint(parseNote(note).text) };
  } catch (error) {
    if (!(error instanceof WritRefusal)) throw error;
    findings.add('signature', `Log ${log}: its checkpoint cannot be read. ${error.message}`, {
      log,
    });
    return { note: undefined, checkpoint: undefined };
  }
}

class Walk {
  readonly #builder: TileBuilder;
  readonly #streams = new Map<string, number>();
  /** The last number of each stream before receipts that are missing; undefined: none are. */
  #before: Map<string, number> | undefined;
  /** The first bundle of those that are missing just now. */
  #gap: number | undefined;
  readonly #at: LogContext;

  constructor(
    readonly log: string,
    readonly size: number,
    readonly directory: string,
    context: LogContext,
    readonly onGap: () => void,
  ) {
    this.#at = context;
    this.#builder = new TileBuilder(context.sha256);
  }

  async run(onReceipt?: OnReceipt): Promise<Uint8Array> {
    const bundles = Math.ceil(this.size / tileWidth);
    const reading: Promise<[Uint8Array | null, Uint8Array | null]>[] = [];
    for (let bundle = 0, next = 0; bundle < bundles; bundle++) {
      for (; next < Math.min(bundle + ahead, bundles); next++) {
        const read = this.#read(next);
        // It is awaited in its round, and if one before it throws it does not matter.
        read.catch(() => undefined);
        reading.push(read);
      }
      const [entries, tile] = await reading.shift()!;
      if (!entries && !tile) {
        // Nothing more can be read. A checkpoint can claim any size: it is not followed into the
        // void.
        this.#missing(
          bundle * tileWidth,
          `${tilePath('entries', bundle, tileWidthAt(0, bundle, this.size))} is missing`,
        );
        return this.#builder.root();
      }
      if (entries) this.#endGap(bundle);
      else this.#gap ??= bundle;
      await this.#bundle(bundle, entries, tile, onReceipt);
      for (const full of this.#builder.takeFull()) if (full.level > 0) await this.#compare(full);
      this.#at.progress?.({ log: this.log, entries: this.#builder.size, of: this.size });
    }
    this.#endGap(bundles);
    for (const partial of this.#builder.partial())
      if (partial.level > 0) await this.#compare(partial);
    return this.#builder.root();
  }

  /**
   * Receipts are missing up to this bundle: their hashes keep the tree, and nobody can read them.
   */
  #endGap(end: number): void {
    if (this.#gap === undefined) return;
    const [first, last] = [this.#gap * tileWidth, Math.min(end * tileWidth, this.size) - 1];
    const path = tilePath('entries', this.#gap, tileWidthAt(0, this.#gap, this.size));
    const message =
      `Log ${this.log}: the receipts of entries ${first} to ${last} are missing (${path} is missing). ` +
      'Verify with the archive that has them, or export into its folder.';
    const subject = `${this.log}:${first}-${last}`;
    this.#at.findings.add('receipts_missing', message, { log: this.log, index: first, subject });
    this.#before = new Map([...(this.#before ?? []), ...this.#streams]);
    this.#streams.clear();
    this.#gap = undefined;
    this.onGap();
  }

  #read(bundle: number): Promise<[Uint8Array | null, Uint8Array | null]> {
    const width = tileWidthAt(0, bundle, this.size);
    if (width === 0) return Promise.resolve([null, null]);
    const { reader } = this.#at;
    return Promise.all([
      reader(`${this.directory}/${tilePath('entries', bundle, width)}`),
      reader(`${this.directory}/${tilePath(0, bundle, width)}`),
    ]);
  }

  async #bundle(
    bundle: number,
    bytes: Uint8Array | null,
    tile: Uint8Array | null,
    onReceipt?: OnReceipt,
  ): Promise<void> {
    const { findings, sha256 } = this.#at;
    const first = bundle * tileWidth;
    const width = tileWidthAt(0, bundle, this.size);
    const leaves = this.#leavesOf(bundle, tile, width);
    // A copy, in which each entry gets the zero byte of its leaf hash before it, in place of its
    // length.
    const copy = new Uint8Array(bytes ?? []);
    const { entries, fault } = readBundle(copy);
    const hashOf = (entry: Uint8Array) => {
      copy[entry.byteOffset - 1] = 0;
      return sha256(copy.subarray(entry.byteOffset - 1, entry.byteOffset + entry.length));
    };
    for (let at = 0; at < Math.min(width, entries.length); at++) {
      const entry = entries[at]!;
      const hash = hashOf(entry);
      const fits = !leaves || standsAt(hash, leaves, at);
      if (!fits) this.#misfit(first + at, at, entries, leaves, hashOf);
      // The tree goes on with the leaf, so that one bad entry does not make the root bad as well.
      this.#builder.append(fits ? hash : leafAt(leaves, at));
      const waits = this.#receipt(entry, first + at, onReceipt);
      if (waits) await waits;
    }
    if (entries.length < width) {
      if (bytes) this.#missing(first + entries.length, fault ?? 'the bundle ends before it');
      for (let at = entries.length; at < width && leaves; at++)
        this.#builder.append(leafAt(leaves, at));
    } else if (entries.length > width || fault) {
      const index = first + width;
      findings.add(
        'entry',
        `Log ${this.log}, entry ${index}: it was added; only ${this.size} were signed.`,
        { log: this.log, index },
      );
    }
  }

  #missing(index: number, why: string): void {
    const message = `Log ${this.log}, entry ${index}: it is missing (${why}). ${count(this.size, 'entry was', 'entries were')} signed.`;
    this.#at.findings.add('entry', message, { log: this.log, index });
  }

  #leavesOf(bundle: number, tile: Uint8Array | null, width: number): Uint8Array | undefined {
    try {
      return checkTile(tile, width, tilePath(0, bundle, width));
    } catch (error) {
      if (!(error instanceof WritRefusal)) throw error;
      this.#at.findings.add('tile', `Log ${this.log}: ${error.detail}.`, { log: this.log });
      return undefined;
    }
  }

  /**
   * An entry that does not hash to its leaf: what happened to it is seen by where its hash, or its
   * neighbour's, stands instead.
   */
  #misfit(
    index: number,
    at: number,
    entries: readonly Uint8Array[],
    leaves: Uint8Array,
    hashOf: (entry: Uint8Array) => Uint8Array,
  ): void {
    const about = { log: this.log, index };
    if (this.#at.findings.has(this.log, 'entry')) {
      this.#at.findings.add('entry', 'another', about); // It is only counted.
      return;
    }
    const places = (entry: Uint8Array | undefined) => {
      const hash = entry && hashOf(entry);
      return hash
        ? [...Array(leaves.length / 32).keys()].filter((leaf) => standsAt(hash, leaves, leaf))
        : [];
    };
    const [own, follower] = [places(entries[at]), places(entries[at + 1])];
    const what = follower.includes(at)
      ? own.length > 0
        ? 'it is out of order'
        : 'it was inserted here'
      : own.includes(at + 1)
        ? 'the entry that stood here was removed'
        : own.length > 0
          ? 'it is out of order'
          : 'its bytes are not the ones that were hashed: it was changed, or others before it were';
    this.#at.findings.add('entry', `Log ${this.log}, entry ${index}: ${what}.`, about);
  }

  #receipt(entry: Uint8Array, index: number, onReceipt?: OnReceipt): Promise<void> | undefined {
    const { findings } = this.#at;
    const about = { log: this.log, index };
    const value = readCanonical(entry);
    const fault =
      value === undefined ? 'it is not canonical JSON' : faultOfReceipt(value, this.log);
    if (fault) {
      findings.add('receipt', `Log ${this.log}, entry ${index}: ${fault}.`, about);
      return undefined;
    }
    const receipt = value as ReceiptContainer;
    const { stream, stream_seq: seq } = receipt.context;
    const known = this.#streams.get(stream);
    // After a gap a stream may go on with any later number.
    const follows =
      known === undefined && this.#before
        ? seq > (this.#before.get(stream) ?? 0)
        : seq === (known ?? 0) + 1;
    if (!follows) {
      const expected = (known ?? this.#before?.get(stream) ?? 0) + 1;
      findings.add(
        'stream',
        `Log ${this.log}, entry ${index}: it is number ${seq} of stream ${stream}, where ${expected} should follow.`,
        about,
      );
    }
    this.#streams.set(stream, seq);
    return onReceipt?.(receipt, index, entry);
  }

  async #compare({ level, index, hashes }: Tile): Promise<void> {
    const path = tilePath(level, index, hashes.length);
    const stored = await this.#at.reader(`${this.directory}/${path}`);
    const odd =
      stored?.length === hashes.length * 32
        ? hashes.findIndex((hash, at) => !standsAt(hash, stored, at))
        : 0;
    if (odd < 0) return;
    const below = tileWidth ** level;
    const first = (index * tileWidth + odd) * below;
    const what = stored
      ? `does not fit the leaves of entries ${first} to ${first + below - 1}: one of them was changed, or the tile was`
      : 'is missing';
    this.#at.findings.add('tile', `Log ${this.log}: ${path} ${what}.`, {
      log: this.log,
      index: first,
    });
  }
}

const leafAt = (leaves: Uint8Array, at: number) => leaves.subarray(at * 32, at * 32 + 32);

/** Whether a hash is the one at a place in a tile. */
function standsAt(hash: Uint8Array, leaves: Uint8Array, at: number): boolean {
  for (let byte = 0; byte < 32; byte++) if (hash[byte] !== leaves[at * 32 + byte]) return false;
  return true;
}
