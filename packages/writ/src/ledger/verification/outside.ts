/**
 * Checkpoints that somebody has kept outside, against the tree of the export. They are what shows a
 * cut tail or another history, which no signature of the same key can show. A checkpoint of an
 * epoch that a restore has ended may know more than the export: that is a loss which was accepted
 * only if the receipt of the restore names this checkpoint, or one that the caller shows to go on
 * from it.
 */
import { WritRefusal } from '../../errors/index.js';
import { consistencyProof, type Sha256, sameBytes, verifyConsistency } from '../merkle.js';
import {
  type Checkpoint,
  type Origin,
  openNote,
  parseCheckpoint,
  parseNote,
  parseOrigin,
  type VerifierKey,
} from '../note.js';
import { fromBase64 } from '../text.js';
import { tileSource } from '../tiles.js';
import { count } from '../verdict.js';
import type { LogContext, WalkedLog } from './log.js';
import type { EpochOpened } from './system.js';

/** A signed checkpoint from outside. */
export interface OutsideCheckpoint {
  readonly note: string;
  /**
   * For one that lies between what a restore has kept and the checkpoint that it names: the proof,
   * in base64, that the named one goes on from this one.
   */
  readonly consistency?: readonly string[];
}

interface Known extends Checkpoint, Origin {
  readonly note: string;
  readonly consistency: readonly string[] | undefined;
}

export class Outside {
  readonly #known: readonly Known[];
  readonly #agreed = new Map<string, number>();

  /**
   * Throws for what is no checkpoint: that is a mistake of the caller, and nothing about the
   * ledger.
   */
  constructor(checkpoints: readonly (string | OutsideCheckpoint)[]) {
    this.#known = checkpoints.map((given) => {
      const { note, consistency } = typeof given === 'string' ? { note: given } : given;
      const checkpoint = parseCheckpoint(parseNote(note).text);
      return { ...checkpoint, ...parseOrigin(checkpoint.origin), note, consistency };
    });
  }

  get given(): boolean {
    return this.#known.length > 0;
  }

  /** The largest size at which a log agreed; null if nothing is known of it outside. */
  agreed(log: string): number | null {
    return this.#agreed.get(log) ?? null;
  }

  async compare(
    deployment: string,
    logs: ReadonlyMap<string, WalkedLog>,
    epochs: readonly EpochOpened[],
    keys: readonly VerifierKey[],
    context: LogContext,
  ): Promise<void> {
    // The smallest first, so that the first disagreement is the nearest to what was changed.
    for (const known of this.#known.toSorted((a, b) => a.size - b.size)) {
      const name = `the outside checkpoint of log ${known.log}, epoch ${known.epoch}, size ${known.size}`;
      const about = { log: known.log };
      try {
        openNote(known.note, keys);
      } catch (error) {
        if (!(error instanceof WritRefusal)) throw error;
        context.findings.add('signature', `${capital(name)}: ${error.message}`, about);
        continue;
      }
      const log = logs.get(known.log);
      if (known.deployment !== deployment)
        context.findings.add(
          'export',
          `${capital(name)} is of ${known.deployment}; the export is of ${deployment}.`,
          about,
        );
      else if (!log)
        context.findings.add(
          'truncated',
          `The export does not have log ${known.log}, of which a checkpoint is known outside.`,
          about,
        );
      else await this.#compareOne(known, name, log, epochs, context);
    }
  }

  async #compareOne(
    known: Known,
    name: string,
    log: WalkedLog,
    epochs: readonly EpochOpened[],
    context: LogContext,
  ): Promise<void> {
    const { findings } = context;
    const about = { log: log.log };
    const epoch = epochs.findLast((opened) => opened.log === log.log)?.epoch ?? log.epoch;
    if (known.epoch > epoch) {
      findings.add(
        'truncated',
        `Log ${log.log} is older than what is known outside: it is in epoch ${epoch}, and ${name} exists.`,
        about,
      );
      return;
    }
    const later = epochs.filter((opened) => opened.log === log.log && opened.epoch > known.epoch);
    const restore = later.find((opened) => opened.restoredSize < known.size);
    if (restore) return this.#afterRestore(known, name, restore, context);
    if (known.size > log.size) {
      const missing = known.size - log.size;
      findings.add(
        'truncated',
        `Log ${log.log} is truncated: ${count(missing, 'entry', 'entries')} known outside ${missing === 1 ? 'is' : 'are'} missing after entry ${log.size - 1}.`,
        {
          ...about,
          index: log.size,
        },
      );
      return;
    }
    if (await beginsWith(log, known.size, known.root, context)) {
      this.#agreed.set(log.log, Math.max(known.size, this.#agreed.get(log.log) ?? 0));
      return;
    }
    const agreed = this.#agreed.get(log.log) ?? 0;
    findings.add(
      'replaced',
      `Log ${log.log} was replaced: its first ${count(known.size, 'entry', 'entries')} are not those of ${name}. ${agreed > 0 ? `It agrees with outside up to entry ${agreed - 1}.` : 'It agrees with nothing older that was given.'}`,
      {
        ...about,
        index: agreed,
      },
    );
  }

  #afterRestore(
    known: Known,
    name: string,
    restore: EpochOpened,
    { findings, sha256 }: LogContext,
  ): void {
    const lost = known.size - restore.restoredSize;
    const why = whyNotAccepted(known, restore, sha256);
    if (why) {
      const told = `Epoch ${restore.epoch} was opened by ${restore.actor} at ${restore.at}, reason: ${restore.reason}; but that ${why}.`;
      const message = `Log ${known.log} is truncated: ${count(lost, 'entry', 'entries')} of ${name} ${lost === 1 ? 'is' : 'are'} missing. ${told}`;
      findings.add('truncated', message, { log: known.log, index: restore.restoredSize });
      return;
    }
    const before = this.#agreed.get(known.log) ?? 0;
    const kept =
      before < restore.restoredSize
        ? `. Of the ${restore.restoredSize} entries that were kept, ${before} are known outside`
        : '';
    findings.note(
      `Log ${known.log}: accepted restore by ${restore.actor} at ${restore.at}, ${count(lost, 'entry', 'entries')} lost, reason: ${restore.reason}${kept}`,
    );
  }
}

/**
 * Why a restore does not account for what a checkpoint knows and the export does not have;
 * undefined if it does.
 */
function whyNotAccepted(known: Known, restore: EpochOpened, sha256: Sha256): string | undefined {
  const named = namedBy(restore);
  if (!named)
    return 'names no checkpoint of this log, so that nothing shows which loss was accepted';
  if (named.size === known.size && named.epoch === known.epoch && sameBytes(named.root, known.root))
    return undefined;
  if (named.size <= known.size || named.epoch < known.epoch)
    return `names another checkpoint, of epoch ${named.epoch} and size ${named.size}`;
  if (!known.consistency)
    return `names a later checkpoint, of size ${named.size}, and no proof was given that it goes on from this one`;
  try {
    const proof = known.consistency.map((hash) => fromBase64(hash) ?? new Uint8Array());
    verifyConsistency(known.size, named.size, proof, known.root, named.root, sha256);
    return undefined;
  } catch (error) {
    if (!(error instanceof WritRefusal)) throw error;
    return `names a checkpoint of size ${named.size} which does not go on from this one (${error.detail})`;
  }
}

/**
 * The checkpoint that a restore names, if it is one of the same log. Who signed it does not matter:
 * the caller's own copy is compared with it.
 */
function namedBy(restore: EpochOpened): (Checkpoint & Origin) | undefined {
  if (restore.knownCheckpoint === null) return undefined;
  try {
    const checkpoint = parseCheckpoint(parseNote(restore.knownCheckpoint).text);
    const named = { ...checkpoint, ...parseOrigin(checkpoint.origin) };
    return named.log === restore.log ? named : undefined;
  } catch (error) {
    if (!(error instanceof WritRefusal)) throw error;
    return undefined;
  }
}

/**
 * Whether the first entries of a log have this root. The tiles are read again for it, and whoever
 * serves them may answer differently this time: so they only give a proof, which has to end in the
 * root that the entries gave.
 */
export async function beginsWith(
  log: WalkedLog,
  size: number,
  root: Uint8Array,
  { reader, sha256 }: LogContext,
): Promise<boolean> {
  if (size > log.size) return false;
  try {
    const source = tileSource((path) => reader(`${log.directory}/${path}`), log.size, sha256);
    verifyConsistency(
      size,
      log.size,
      await consistencyProof(size, log.size, source, sha256),
      root,
      log.root,
      sha256,
    );
    return true;
  } catch (error) {
    if (!(error instanceof WritRefusal)) throw error;
    return false;
  }
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
