/**
 * What the entries of _system say about the rest of the ledger, heard one by one as that log is
 * walked: the trees of other logs, keys, restores, sealed segments. Of each other log a compact
 * range is kept and grown along its leaf tiles as _system records its sizes, so that every recorded
 * root is checked and nothing is kept in memory but one such range per log and the tiles used last.
 */
import { WritRefusal } from '../../errors/index.js';
import { isCount, isObject, type ReceiptContainer, systemLog } from '../container.js';
import { CompactRange, sameBytes } from '../merkle.js';
import {
  archiveText,
  isSignedBy,
  parsePublicKey,
  publicKeyText,
  restoreText,
  rotationText,
  type VerifierKey,
} from '../note.js';
import { fromBase64, fromHex, toHex } from '../text.js';
import { checkTile, tilePath, tileWidth, tileWidthAt } from '../tiles.js';
import { count } from '../verdict.js';
import type { LogContext, WalkedLog } from './log.js';
import type { ExportedLog } from './manifest.js';
import type { Seal, Segments } from './segment.js';

/** An accepted restore: a log goes on from an earlier size under a new epoch. */
export interface EpochOpened {
  readonly log: string;
  readonly epoch: number;
  readonly restoredSize: number;
  readonly restoredRoot: Uint8Array;
  readonly knownCheckpoint: string | null;
  readonly reason: string;
  readonly actor: string;
  readonly at: string;
  readonly index: number;
  /** By a ledger key, over the opening of _system, for the openings of all logs. */
  readonly signature: string;
}

/** A month that may be dropped, because an archive has it. */
interface Archived {
  readonly month: string;
  readonly place: string;
  readonly size: number;
  readonly root: string;
  readonly actor: string;
  readonly signature: string;
  readonly index: number;
}

interface Followed {
  readonly range: CompactRange;
  /** The largest size at which the log's tree agreed. */
  agreed: number;
  /** The largest size that _system knows. */
  known: number;
  broken: boolean;
}

const tilesKept = 256;

export class SystemLog {
  /** In the order in which they were opened. */
  readonly epochs: EpochOpened[] = [];
  /** Keys that others have taken the place of, and the entry that says so. */
  readonly replaced = new Map<string, number>();
  readonly segments: Segments;
  readonly #archived: Archived[] = [];
  #gap = false;
  readonly #current = new Map<string, number>();
  readonly #followed = new Map<string, Followed>();
  readonly #logs: ReadonlyMap<string, WalkedLog>;
  readonly #trusted: VerifierKey[];
  readonly #context: LogContext;
  readonly #tiles = new Map<string, Uint8Array>();

  /** Keys that are introduced by a trusted one are added to `trusted`. */
  constructor(
    logs: ReadonlyMap<string, WalkedLog>,
    trusted: VerifierKey[],
    segments: Segments,
    context: LogContext,
  ) {
    this.#logs = logs;
    this.#trusted = trusted;
    this.segments = segments;
    this.#context = context;
  }

  hear(receipt: ReceiptContainer, index: number): Promise<void> | undefined {
    const { context, reason } = receipt;
    switch (reason) {
      case 'log_checkpoint':
        return this.#logCheckpoint(context, index);
      case 'events_sealed':
        return this.#sealed(context, index);
      case 'key_added':
        return this.#keyAdded(context, index);
      case 'epoch_opened':
        return this.#epochOpened(context, receipt.timestamp, index);
      case 'month_archived':
        return this.#monthArchived(context, index);
      default:
        return undefined;
    }
  }

  /**
   * Receipts of _system are missing before the next one: it may have opened epochs and sealed
   * segments.
   */
  gap(): void {
    this.#gap = true;
    this.segments.gap();
  }

  get hasGap(): boolean {
    return this.#gap;
  }

  /** The epoch that a log is in by now. */
  epochOf(log: string): number {
    return this.#current.get(log) ?? 1;
  }

  recorded(log: string): number | null {
    return this.#followed.get(log)?.agreed ?? null;
  }

  /** What can be said when all of _system has been heard. */
  async close(): Promise<void> {
    const { findings } = this.#context;
    await this.#sameTiles();
    for (const [log, { known }] of this.#followed) {
      if (this.#logs.has(log)) continue;
      const message = `Log ${log} is missing: _system records ${count(known, 'entry', 'entries')} of it. Export again, with all logs.`;
      findings.add('log_missing', message, { log });
    }
    for (const [log, exported] of this.#logs) {
      if (log === systemLog || exported.size === 0) continue;
      const { known = 0, agreed = 0 } = this.#followed.get(log) ?? {};
      if (known > exported.size) {
        const missing = count(known - exported.size, 'entry', 'entries');
        findings.add(
          'truncated',
          `Log ${log} is truncated: ${missing} that _system records ${known - exported.size === 1 ? 'is' : 'are'} missing after entry ${exported.size - 1}.`,
          {
            log,
            index: exported.size,
          },
        );
      } else if (agreed < exported.size && known === agreed) {
        findings.note(
          `Signed, but not yet recorded in _system: the last ${count(exported.size - agreed, 'entry', 'entries')} of log ${log}.`,
        );
      }
    }
  }

  async #logCheckpoint(context: ReceiptContainer['context'], index: number): Promise<void> {
    const { log, epoch, size } = context;
    const root = hash(context.root);
    if (typeof log !== 'string' || !isCount(epoch) || !isCount(size) || !root)
      return this.#malformed('log_checkpoint', index);
    const { findings } = this.#context;
    const followed = this.#follow(log);
    if (this.#gap && epoch > this.epochOf(log)) this.#current.set(log, epoch);
    if (epoch !== this.epochOf(log)) {
      findings.add(
        'restore',
        `Log ${log}: entry ${index} of _system records it in epoch ${epoch}, but it was in ${this.epochOf(log)}.`,
        {
          log,
        },
      );
    }
    if (size < followed.known) {
      findings.add(
        'root',
        `Log ${log}: entry ${index} of _system records ${size} entries after it had recorded ${followed.known}: a log never shrinks.`,
        { log },
      );
      return;
    }
    followed.known = size;
    const exported = this.#logs.get(log);
    if (!exported || followed.broken || size > exported.size) return;
    const own = await this.#grow(followed, exported, size);
    if (own && sameBytes(own, root)) {
      followed.agreed = size;
    } else if (own) {
      followed.broken = true;
      findings.add(
        'root',
        `Log ${log}: its first ${size} entries are not those that entry ${index} of _system records. It agrees up to ${followed.agreed}: one of the entries ${followed.agreed} to ${size - 1} was changed.`,
        { log, index: followed.agreed },
      );
    }
  }

  /**
   * Tiles are read a second time here, and whoever serves them may answer differently: what was
   * followed has to end in the tree that was walked.
   */
  async #sameTiles(): Promise<void> {
    for (const [log, followed] of this.#followed) {
      const walked = this.#logs.get(log);
      if (!walked || followed.broken || this.#context.findings.has(log, 'entry', 'tile')) continue;
      const own = await this.#grow(followed, walked, walked.size);
      if (own && !sameBytes(own, walked.root)) {
        this.#context.findings.add(
          'tile',
          `Log ${log}: its tiles were not the same when they were read again.`,
          { log },
        );
      }
    }
  }

  #follow(log: string): Followed {
    const followed = this.#followed.get(log) ?? {
      range: new CompactRange(this.#context.sha256),
      agreed: 0,
      known: 0,
      broken: false,
    };
    this.#followed.set(log, followed);
    return followed;
  }

  /** The root of a log at a size, by its leaf tiles; undefined where those cannot be read. */
  async #grow(
    followed: Followed,
    exported: ExportedLog,
    size: number,
  ): Promise<Uint8Array | undefined> {
    try {
      while (followed.range.size < size) {
        const at = followed.range.size;
        const tile = await this.#leafTile(exported, Math.floor(at / tileWidth));
        const first = at % tileWidth;
        const end = Math.min(tileWidth, first + size - at);
        for (let leaf = first; leaf < end; leaf++)
          followed.range.append(tile.slice(leaf * 32, leaf * 32 + 32));
      }
      return followed.range.root();
    } catch (error) {
      if (!(error instanceof WritRefusal)) throw error;
      followed.broken = true;
      this.#context.findings.add('tile', `Log ${exported.log}: ${error.detail}.`, {
        log: exported.log,
      });
      return undefined;
    }
  }

  async #leafTile({ directory, size }: ExportedLog, index: number): Promise<Uint8Array> {
    const width = tileWidthAt(0, index, size);
    const path = `${directory}/${tilePath(0, index, width)}`;
    const kept = this.#tiles.get(path);
    if (kept) return kept;
    const tile = checkTile(await this.#context.reader(path), width, path);
    if (this.#tiles.size >= tilesKept) this.#tiles.delete(this.#tiles.keys().next().value!);
    this.#tiles.set(path, tile);
    return tile;
  }

  #keyAdded(context: ReceiptContainer['context'], index: number): undefined {
    const about = { log: systemLog, index };
    const { key, replaces, name } = context;
    const [fresh, old] = [publicKey(key), replaces === null ? null : publicKey(replaces)];
    if (!fresh || old === undefined || fresh.name !== name)
      return this.#malformed('key_added', index);
    const text = rotationText(replaces as string | null, key as string);
    const signed = (by: VerifierKey, signature: unknown) =>
      isSignedBy(by, text, signatureBytes(signature));
    if (!signed(fresh, context.signature_new)) {
      this.#context.findings.add(
        'key',
        `Entry ${index} of _system adds the key ${name}+${fresh.id}, which has not signed that.`,
        about,
      );
    } else if (old && !signed(old, context.signature_old)) {
      this.#context.findings.add(
        'key',
        `Entry ${index} of _system replaces the key ${old.name}+${old.id}, which has not signed that.`,
        about,
      );
    } else if (old) {
      this.replaced.set(publicKeyText(old), index);
      const known = this.#trusted.map(publicKeyText);
      if (known.includes(publicKeyText(old)) && !known.includes(publicKeyText(fresh)))
        this.#trusted.push(fresh);
    }
  }

  #epochOpened(context: ReceiptContainer['context'], at: string, index: number): undefined {
    const {
      log,
      epoch,
      restored_size: restoredSize,
      known_checkpoint: knownCheckpoint,
      reason,
      actor,
      signature,
    } = context;
    const restoredRoot = hash(context.restored_root);
    const texts =
      typeof log === 'string' && (knownCheckpoint === null || typeof knownCheckpoint === 'string');
    if (!texts || !isCount(epoch) || !isCount(restoredSize) || !restoredRoot)
      return this.#malformed('epoch_opened', index);
    if (epoch <= this.epochOf(log)) {
      this.#context.findings.add(
        'restore',
        `Entry ${index} of _system opens epoch ${epoch} of log ${log}, which was in ${this.epochOf(log)}.`,
        { log },
      );
    }
    this.#current.set(log, epoch);
    this.epochs.push({
      ...{ log, epoch, restoredSize, restoredRoot, knownCheckpoint, at, index },
      ...{
        reason: shown(reason),
        actor: shown(actor),
        signature: typeof signature === 'string' ? signature : '',
      },
    });
  }

  #monthArchived(context: ReceiptContainer['context'], index: number): undefined {
    const { month, place, size, root, actor, signature } = context;
    const texts = [month, place, root].every((text) => typeof text === 'string');
    if (!texts || !isCount(size)) return this.#malformed('month_archived', index);
    const known = { month, place, root } as { month: string; place: string; root: string };
    this.#archived.push({
      ...known,
      size,
      actor: shown(actor),
      signature: typeof signature === 'string' ? signature : '',
      index,
    });
  }

  /** Months that may have been dropped, and where their receipts are said to be. */
  archives(): string {
    return some(this.#archived.map(({ month, place, actor }) => `${month} at ${place} (${actor})`));
  }

  /** Whether accepted restores and archived months are signed by a key that is trusted by now. */
  signatures(): void {
    const { findings } = this.#context;
    const signed = (signature: string, textFor: (deployment: string) => string) =>
      this.#trusted.some((key) => isSignedBy(key, textFor(key.name), signatureBytes(signature)));
    const restores = new Set<string>();
    for (const {
      log,
      epoch,
      restoredSize: size,
      restoredRoot,
      knownCheckpoint,
      reason,
      actor,
      signature,
    } of this.epochs) {
      if (log !== systemLog) continue;
      const statement = {
        epoch,
        size,
        root: toHex(restoredRoot),
        known_checkpoint: knownCheckpoint,
        reason,
        actor,
      };
      if (signed(signature, (deployment) => restoreText(deployment, statement)))
        restores.add(signature);
    }
    for (const { log, epoch, reason, actor, at, index, signature } of this.epochs) {
      if (restores.has(signature)) continue;
      const message =
        `Log ${log}: entry ${index} of _system opens epoch ${epoch} after a restore (by ${actor} at ${at}, ` +
        `reason: ${reason}), and no trusted ledger key has signed that. Ask the holder of the key.`;
      findings.add('restore_unsigned', message, { log, index, subject: `${log}:${epoch}` });
    }
    for (const { month, place, size, root, actor, signature, index } of this.#archived) {
      if (signed(signature, (deployment) => archiveText(deployment, { month, place, size, root })))
        continue;
      const message =
        `Entry ${index} of _system lets the receipts of ${month} be dropped (by ${actor}, archive at ${place}), ` +
        'and no trusted ledger key has signed that. Look whether the archive is there, before the month is dropped.';
      findings.add('archive_unsigned', message, { log: systemLog, index, subject: month });
    }
  }

  #sealed(context: ReceiptContainer['context'], index: number): Promise<void> | undefined {
    const { source, segment, rows, facts, first, last } = context;
    const root = hash(context.root);
    const counts = isCount(segment) && isCount(rows) && isCount(facts);
    if (
      !counts ||
      !root ||
      typeof first !== 'string' ||
      typeof last !== 'string' ||
      source !== 'event_outbox'
    ) {
      return this.#malformed('events_sealed', index);
    }
    const seal: Seal = { segment, rows, facts, first, last, root, index };
    return this.segments.sealed(seal);
  }

  #malformed(reason: string, index: number): undefined {
    this.#context.findings.add(
      'receipt',
      `Log ${systemLog}, entry ${index}: its context is not that of ${reason}.`,
      {
        log: systemLog,
        index,
      },
    );
  }
}

function hash(value: unknown): Uint8Array | undefined {
  const bytes = typeof value === 'string' ? fromHex(value) : undefined;
  return bytes?.length === 32 ? bytes : undefined;
}

function publicKey(value: unknown): VerifierKey | undefined {
  try {
    return typeof value === 'string' ? parsePublicKey(value) : undefined;
  } catch (error) {
    if (!(error instanceof WritRefusal)) throw error;
    return undefined;
  }
}

const signatureBytes = (value: unknown) =>
  (typeof value === 'string' ? fromBase64(value) : undefined) ?? new Uint8Array();

/** A text of a receipt, which may have been erased. */
const shown = (value: unknown) =>
  typeof value === 'string'
    ? value
    : isObject(value) && 'erasable' in value
      ? '(erasable)'
      : '(unknown)';

const some = (names: readonly string[]) =>
  names.slice(0, 5).join(', ') + (names.length > 5 ? ', …' : '');
