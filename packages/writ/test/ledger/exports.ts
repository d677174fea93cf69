/**
 * A ledger in memory, and its export as a map of files: what the tests of verification tamper with.
 */
import { hash } from 'node:crypto';
import { canonicalEntry, canonicalize } from '../../src/ledger/canonical.js';
import { type EventRow, eventsIn } from '../../src/ledger/event-row.js';
import { CompactRange, type HashSource, leafHash, type Sha256 } from '../../src/ledger/merkle.js';
import {
  archiveText,
  keyOfSeed,
  publicKeyText,
  restoreText,
  rotationText,
  type SignerKey,
  sign,
  signCheckpoint,
} from '../../src/ledger/note.js';
import { fromUtf8, toBase64, toHex, utf8 } from '../../src/ledger/text.js';
import {
  encodeBundle,
  logFolder,
  readBundle,
  TileBuilder,
  tileBytes,
  tilePath,
  tileWidthAt,
} from '../../src/ledger/tiles.js';
import type { Verdict } from '../../src/ledger/verdict.js';
import { exportFormat } from '../../src/ledger/verification/manifest.js';
import { segmentPath } from '../../src/ledger/verification/segment.js';
import { type VerifyOptions, verifyExport } from '../../src/ledger/verify.js';

export const deployment = 'acme.example/prod';
export const key = keyOfSeed(deployment, new Uint8Array(32).fill(1));
/** By way of text: a Buffer out of the pool costs half of what a new one does. */
export const sha256: Sha256 = (bytes) => Buffer.from(hash('sha256', bytes, 'binary'), 'binary');

export type Files = Map<string, Uint8Array>;
export const readerOf = (files: Files) => async (path: string) => files.get(path) ?? null;

/** What an auditor has from outside. */
export const keys = [publicKeyText(key)];
export const check = (files: Files, options: Partial<VerifyOptions> = {}): Promise<Verdict> =>
  verifyExport(readerOf(files), { keys, sha256, ...options });
export const first = (verdict: Verdict) => verdict.problems[0];

/** The log that most tests tamper with. */
export const log = 'acme';

/** A receipt with one field changed, still canonical. */
export const edited = (entry: Uint8Array, change: (receipt: Record<string, unknown>) => void) => {
  const receipt = JSON.parse(fromUtf8(entry)!);
  change(receipt);
  return canonicalEntry(receipt);
};

export class TestLedger {
  readonly entries = new Map<string, Uint8Array[]>();
  readonly epochs = new Map<string, number>();
  readonly segments: EventRow[][] = [];
  key: SignerKey = key;
  /** How much later than the others the next receipts are dated, in milliseconds. */
  later = 0;
  readonly #streams = new Map<string, number>();
  #ids = 0;

  /** A receipt at the end of a log; answers its entry. */
  append(
    log: string,
    reason: string,
    context: Record<string, unknown> = {},
    stream = 'governor:1',
  ): Uint8Array {
    const seq = (this.#streams.get(`${log} ${stream}`) ?? 0) + 1;
    this.#streams.set(`${log} ${stream}`, seq);
    this.#ids += 1;
    const entry = canonicalEntry({
      receipt_id: `00000000-0000-4000-8000-${this.#ids.toString(16).padStart(12, '0')}`,
      timestamp: new Date(Date.UTC(2026, 0, 1) + this.#ids + this.later).toISOString(),
      sku_id: log === '_system' ? 'writ' : 'sku-1',
      tenant_id: log,
      status: 'accept',
      reason,
      context: { ...context, stream, stream_seq: seq },
    });
    this.put(log, entry);
    return entry;
  }

  /** Bytes at the end of a log, whatever they are. */
  put(log: string, entry: Uint8Array): void {
    const entries = this.entries.get(log) ?? [];
    entries.push(entry);
    this.entries.set(log, entries);
  }

  size(log: string): number {
    return this.entries.get(log)?.length ?? 0;
  }

  root(log: string, size = this.size(log)): Uint8Array {
    const range = new CompactRange(sha256);
    for (const entry of (this.entries.get(log) ?? []).slice(0, size))
      range.append(leafHash(entry, sha256));
    return range.root();
  }

  epoch(log: string): number {
    return this.epochs.get(log) ?? 1;
  }

  checkpoint(log: string, size = this.size(log)): string {
    return signCheckpoint({ deployment, log, epoch: this.epoch(log) }, size, this.root(log, size), [
      this.key,
    ]);
  }

  /** _system records the tree of a log. */
  record(log: string, size = this.size(log)): void {
    this.append(
      '_system',
      'log_checkpoint',
      { log, epoch: this.epoch(log), size, root: toHex(this.root(log, size)) },
      'checkpoint',
    );
  }

  rotate(to: SignerKey): void {
    const [old, fresh] = [publicKeyText(this.key), publicKeyText(to)];
    const text = rotationText(old, fresh);
    const signatures = {
      signature_new: toBase64(sign(to, text)),
      signature_old: toBase64(sign(this.key, text)),
    };
    this.append(
      '_system',
      'key_added',
      { name: to.name, key: fresh, replaces: old, ...signatures },
      'key',
    );
    this.key = to;
  }

  /** Forgets the end of a log, as a restored backup does, and accepts that. */
  restore(log: string, size: number, known: string | null, lostKey?: () => void): void {
    const kept = this.entries.get(log)!.slice(0, size);
    this.entries.set(log, kept);
    lostKey?.();
    this.#streams.clear();
    for (const [name, entries] of this.entries) {
      for (const entry of entries) {
        const { context } = JSON.parse(new TextDecoder().decode(entry));
        this.#streams.set(`${name} ${context.stream}`, context.stream_seq);
      }
    }
    this.open(log, known);
  }

  /** A new epoch of _system, and of another log with it. */
  open(log: string, known: string | null, signer: SignerKey | null = this.key): void {
    const said = {
      known_checkpoint: log === '_system' ? known : null,
      reason: 'the disk died',
      actor: 'alice',
    };
    const system = {
      epoch: this.epoch('_system') + 1,
      size: this.size('_system'),
      root: toHex(this.root('_system')),
    };
    const signature = signer
      ? toBase64(sign(signer, restoreText(signer.name, { ...system, ...said })))
      : '';
    for (const name of new Set(['_system', log])) {
      const epoch = this.epoch(name) + 1;
      const [restored_size, restored_root] =
        name === '_system' ? [system.size, system.root] : [this.size(name), toHex(this.root(name))];
      this.append(
        '_system',
        'epoch_opened',
        { log: name, epoch, restored_size, restored_root, ...said, signature },
        'epoch',
      );
      this.epochs.set(name, epoch);
    }
  }

  /** _system says that a month is in an archive. */
  archive(month: string, place: string, signer: SignerKey = this.key): void {
    const statement = {
      month,
      place,
      size: this.size('_system'),
      root: toHex(this.root('_system')),
    };
    const signature = toBase64(sign(signer, archiveText(signer.name, statement)));
    this.append(
      '_system',
      'month_archived',
      { ...statement, actor: 'alice', signature },
      'archive',
    );
  }

  seal(rows: EventRow[]): void {
    this.segments.push(rows);
    const range = new CompactRange(sha256);
    for (const row of rows) range.append(leafHash(utf8(canonicalize(row)), sha256));
    const facts = rows.reduce((sum, row) => sum + eventsIn(row), 0);
    const ends = { first: rows[0]!.batch_id, last: rows.at(-1)!.batch_id };
    const context = {
      source: 'event_outbox',
      segment: this.segments.length,
      rows: rows.length,
      facts,
      ...ends,
      root: toHex(range.root()),
    };
    this.append('_system', 'events_sealed', context, 'seal');
  }

  /** The export of the ledger as it is. */
  export(options: { hashes?: boolean } = {}): Files {
    const files: Files = new Map();
    const logs = [...this.entries.keys()].map((log) => ({
      log,
      directory: logFolder(log),
      epoch: this.epoch(log),
      size: this.size(log),
    }));
    for (const { log } of logs) this.writeLog(files, log);
    this.segments.forEach((rows, at) => {
      files.set(segmentPath(at + 1), utf8(rows.map((row) => `${canonicalize(row)}\n`).join('')));
      const leaves = rows.map((row) => leafHash(utf8(canonicalize(row)), sha256));
      if (options.hashes !== false)
        files.set(
          segmentPath(at + 1, 'hashes'),
          Uint8Array.from(leaves.flatMap((leaf) => [...leaf])),
        );
    });
    const segments = this.segments.length > 0 ? { first: 1, last: this.segments.length } : null;
    const manifest = {
      format: exportFormat,
      deployment,
      exported_at: '2026-01-02T00:00:00.000Z',
      keys: [publicKeyText(this.key)],
      logs,
      segments,
    };
    files.set('export.json', utf8(JSON.stringify(manifest)));
    return files;
  }

  writeLog(files: Files, log: string): void {
    const folder = logFolder(log);
    const entries = this.entries.get(log)!;
    files.set(`${folder}/checkpoint`, utf8(this.checkpoint(log)));
    const builder = new TileBuilder(sha256);
    for (const entry of entries) builder.append(leafHash(entry, sha256));
    for (const tile of [...builder.takeFull(), ...builder.partial()]) {
      files.set(
        `${folder}/${tilePath(tile.level, tile.index, tile.hashes.length)}`,
        tileBytes(tile),
      );
    }
    writeBundles(files, log, entries, entries.length);
  }
}

/** Hashes of subtrees over entries, as tiles would answer them. */
export const sourceOf =
  (entries: readonly Uint8Array[]): HashSource =>
  (subtrees) =>
    subtrees.map(({ level, index }) => {
      const part = new TestLedger();
      for (const entry of entries.slice(index * 2 ** level, (index + 1) * 2 ** level))
        part.put('part', entry);
      return part.root('part');
    });

function writeBundles(
  files: Files,
  log: string,
  entries: readonly Uint8Array[],
  size: number,
): void {
  const bundles = Math.ceil(size / 256);
  for (let bundle = 0; bundle < bundles; bundle++) {
    const end = bundle === bundles - 1 ? undefined : (bundle + 1) * 256;
    const path = `${logFolder(log)}/${tilePath('entries', bundle, tileWidthAt(0, bundle, size))}`;
    files.set(path, encodeBundle(entries.slice(bundle * 256, end)));
  }
}

/** Changes the entries of an exported log and leaves its tiles and its checkpoint as they are. */
export function tamper(
  files: Files,
  log: string,
  size: number,
  change: (entries: Uint8Array[]) => Uint8Array[],
): void {
  const bundles = Array.from({ length: Math.ceil(size / 256) }, (_, bundle) => {
    const path = `${logFolder(log)}/${tilePath('entries', bundle, tileWidthAt(0, bundle, size))}`;
    return readBundle(files.get(path)!).entries;
  });
  writeBundles(files, log, change(bundles.flat()), size);
}

export function eventRow(n: number, fields: Partial<EventRow> = {}): EventRow {
  const id = (kind: number, at: number) =>
    `0198c0de-0000-7000-8000-${kind.toString(16)}${at.toString(16).padStart(5, '0')}000000`;
  return {
    actor: 'app',
    at: `2026-01-01T00:00:00.${String(n).padStart(6, '0')}Z`,
    batch_id: id(0, n),
    command: 'fn_job_enqueue_many',
    details: '{"kind": "charge"}',
    facts: [
      ['dot.job.enqueued', 1, 2],
      ['dot.job.leased', 1, 1],
    ],
    login: 'app_login',
    note: null,
    subjects: [id(1, n), id(2, n)],
    ...fields,
  };
}

/** A tenant with 600 receipts, another with a few, and _system with three seals. */
export function sampleLedger(): TestLedger {
  const ledger = new TestLedger();
  for (let n = 0; n < 600; n++) {
    ledger.append(
      'acme',
      n % 3 === 0 ? 'signal_received' : 'action_attempted',
      { note: `receipt ${n}` },
      `governor:${n % 2}`,
    );
    if (n % 50 === 49) ledger.record('acme');
  }
  for (let n = 0; n < 5; n++) ledger.append('Zürich AG/1.2', 'signal_received', { value: 0.5 });
  ledger.record('Zürich AG/1.2');
  for (let segment = 0; segment < 3; segment++)
    ledger.seal(Array.from({ length: 20 }, (_, at) => eventRow(segment * 20 + at)));
  return ledger;
}
