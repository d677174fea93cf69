/**
 * The offline check of an exported ledger. It trusts the public keys and the outside checkpoints
 * that it is given, and nothing in the export. Tenants' logs are walked first and _system last,
 * because _system tells which keys sign, which trees it records, and which restores were accepted;
 * signatures and outside checkpoints are looked at when that is known.
 */
import { WritError, WritRefusal } from '../errors/index.js';
import { type ReceiptContainer, systemLog } from './container.js';
import { portableSha256, type Sha256 } from './merkle.js';
import {
  openNote,
  originText,
  parseOrigin,
  parsePublicKey,
  publicKeyText,
  type VerifierKey,
} from './note.js';
import { toHex } from './text.js';
import { Findings, type Verdict, Waivers } from './verdict.js';
import {
  type LogContext,
  type Progress,
  type Reader,
  type WalkedLog,
  walkLog,
} from './verification/log.js';
import { type Manifest, parseManifest } from './verification/manifest.js';
import { beginsWith, Outside, type OutsideCheckpoint } from './verification/outside.js';
import { Segments } from './verification/segment.js';
import { SystemLog } from './verification/system.js';

export interface VerifyOptions {
  /**
   * Public keys of the deployment, `name+id+base64`, as you know them from outside. Keys that these
   * have introduced are found in the export.
   */
  readonly keys: readonly string[];
  /** The newest signed checkpoint that you have from outside. One of _system covers every log. */
  readonly checkpoint?: string | OutsideCheckpoint | undefined;
  /** More of them. */
  readonly checkpoints?: readonly (string | OutsideCheckpoint)[] | undefined;
  /** Findings of missing evidence that the auditor knows of: FINDING or FINDING:SUBJECT. */
  readonly waive?: readonly string[] | undefined;
  /** A faster hash function than the portable one. */
  readonly sha256?: Sha256 | undefined;
  /** Called after every 256 entries. */
  readonly progress?: ((progress: Progress) => void) | undefined;
  /**
   * Called with every receipt of every log but _system, in order, and with the entry that it stands
   * in.
   */
  readonly onReceipt?: (
    log: string,
    receipt: ReceiptContainer,
    entry: Uint8Array,
    index: number,
  ) => Promise<void> | undefined;
  /** Called when every log has been walked. It may add findings of its own. */
  readonly beforeVerdict?: ((findings: Findings) => Promise<void> | void) | undefined;
}

export async function verifyExport(reader: Reader, options: VerifyOptions): Promise<Verdict> {
  const keys = options.keys.map(parsePublicKey);
  const outside = new Outside([
    ...(options.checkpoint ? [options.checkpoint] : []),
    ...(options.checkpoints ?? []),
  ]);
  const findings = new Findings();
  const waivers = new Waivers(options.waive);
  const read = tolerant(reader, (path, fault) => findings.add('export', fault, { subject: path }));
  const manifest = parseManifest(await read('export.json'));
  if (typeof manifest === 'string') {
    findings.add('export', manifest);
    return { ok: false, deployment: null, ...findings.close(waivers), logs: [], notes: [] };
  }
  const { sha256 = portableSha256, progress } = options;
  const context: LogContext = { reader: read, sha256, findings, progress };
  return new Verification(manifest, keys, outside, context, waivers, options).run();
}

/** A reader that takes a file which cannot be read as one that is missing, and says why. */
export function tolerant(
  reader: Reader,
  onFault: (path: string, fault: string) => void = () => {},
): Reader {
  return async (path) => {
    try {
      return await reader(path);
    } catch (error) {
      if (
        !(error instanceof WritRefusal) ||
        !['invalid_export_file', 'invalid_tile'].includes(error.code)
      )
        throw error;
      onFault(path, error.message);
      return null;
    }
  };
}

class Verification {
  readonly #manifest: Manifest;
  /** Grows as _system introduces keys. */
  readonly #keys: VerifierKey[];
  readonly #outside: Outside;
  readonly #context: LogContext;
  readonly #waivers: Waivers;
  readonly #options: VerifyOptions;
  readonly #walked = new Map<string, WalkedLog>();

  constructor(
    manifest: Manifest,
    keys: VerifierKey[],
    outside: Outside,
    context: LogContext,
    waivers: Waivers,
    options: VerifyOptions,
  ) {
    this.#manifest = manifest;
    this.#keys = keys;
    this.#outside = outside;
    this.#context = context;
    this.#waivers = waivers;
    this.#options = options;
  }

  async run(): Promise<Verdict> {
    const { logs, deployment, segments } = this.#manifest;
    const { findings } = this.#context;
    for (const log of logs) {
      if (log.log === systemLog) continue;
      this.#walked.set(
        log.log,
        await walkLog(log, this.#context, (receipt, index, entry) =>
          this.#options.onReceipt?.(log.log, receipt, entry, index),
        ),
      );
    }
    const system = new SystemLog(
      this.#walked,
      this.#keys,
      new Segments(segments, this.#context),
      this.#context,
    );
    const exported = logs.find(({ log }) => log === systemLog);
    if (exported) {
      const hear = (receipt: ReceiptContainer, index: number) => system.hear(receipt, index);
      this.#walked.set(systemLog, await walkLog(exported, this.#context, hear, () => system.gap()));
      await system.close();
      system.segments.close();
    } else if (logs.length > 0) {
      const message =
        'Log _system is missing: it says which logs, keys, restores and sealed events there are. Export again, with all logs.';
      findings.add('log_missing', message, { log: systemLog });
    }
    if ([...this.#walked.values()].every(({ size }) => size === 0)) {
      findings.add(
        'export_empty',
        'The export holds no receipt. Export again, from a database that has a signed checkpoint.',
      );
    }
    if (
      findings.problems.some(({ kind }) => kind === 'receipts_missing') &&
      system.archives() !== ''
    ) {
      findings.note(`Months of receipts that were archived: ${system.archives()}.`);
    }
    await this.#restores(system);
    system.signatures();
    const signers = new Map(
      [...this.#walked].map(([name, log]) => [name, this.#signers(log, system)]),
    );
    await this.#outside.compare(deployment, this.#walked, system.epochs, this.#keys, this.#context);
    this.#truncation();
    this.#newestKey();
    await this.#options.beforeVerdict?.(findings);
    const { problems, waived } = findings.close(this.#waivers);
    for (const name of this.#waivers.unused()) findings.note(`The waiver ${name} waived nothing.`);
    return {
      ok: problems.length === 0,
      deployment,
      problems,
      waived,
      logs: logs.map(({ log, epoch }) => ({
        log,
        epoch,
        size: this.#walked.get(log)!.size,
        root: toHex(this.#walked.get(log)!.root),
        signers: signers.get(log) ?? [],
        recorded: system.recorded(log),
        outside: this.#outside.agreed(log),
      })),
      notes: findings.notes,
    };
  }

  /**
   * Whoever may add a key can end signing with one that nobody holds. The receipt of that is after
   * the last checkpoint, but the list of keys shows it.
   */
  #newestKey(): void {
    const key = this.#manifest.keys?.at(-1);
    if (key === undefined || this.#keys.some((known) => publicKeyText(known) === key)) return;
    const { findings } = this.#context;
    if (findings.has(systemLog, 'signature')) return;
    const message =
      `The ledger is to be signed with ${key}, and no trusted key has introduced that one. ` +
      'If the key is yours, sign a checkpoint with it; if not, somebody has ended signing.';
    findings.add('key_unknown', message, { log: systemLog, subject: key.split('+', 2).join('+') });
  }

  /** The known keys that have signed a log's checkpoint, which has to be of this log and epoch. */
  #signers({ log, epoch, note, checkpoint }: WalkedLog, system: SystemLog): string[] {
    if (!note || !checkpoint) return [];
    const { findings } = this.#context;
    const { deployment } = this.#manifest;
    try {
      const origin = parseOrigin(checkpoint.origin);
      if (origin.deployment !== deployment || origin.log !== log || origin.epoch !== epoch) {
        const message = `Log ${log}: its checkpoint is of ${checkpoint.origin}, and should be of ${originText({ deployment, log, epoch })}.`;
        findings.add('signature', message, { log });
      }
      const signers = openNote(note, this.#keys).signers;
      const foreign = signers.find(({ name }) => name !== deployment);
      if (foreign)
        findings.add(
          'signature',
          `Log ${log}: it is signed by a key of ${foreign.name}, and not of ${deployment}.`,
          { log },
        );
      if (log === systemLog && signers.every((key) => system.replaced.has(publicKeyText(key)))) {
        findings.note('The checkpoint of _system is signed by a key that another has replaced.');
      }
      return signers.map(({ name, id }) => `${name}+${id}`);
    } catch (error) {
      if (!(error instanceof WritRefusal)) throw error;
      findings.add('signature', `Log ${log}: ${error.message}`, { log });
      return [];
    }
  }

  /**
   * A restore has to have begun where it says, and no log may be in an epoch that nobody opened, or
   * that was ended before its size.
   */
  async #restores(system: SystemLog): Promise<void> {
    const { findings } = this.#context;
    for (const opened of system.epochs) {
      const log = this.#walked.get(opened.log);
      if (!log) continue;
      if (!(await beginsWith(log, opened.restoredSize, opened.restoredRoot, this.#context))) {
        const message = `Log ${log.log}: the restore that opened epoch ${opened.epoch} began with ${opened.restoredSize} entries, which are not those of the export.`;
        findings.add('restore', message, { log: log.log });
      }
    }
    if (!this.#walked.has(systemLog) || system.hasGap) return;
    for (const { log, epoch, size } of this.#walked.values()) {
      // A log that has not grown since a restore may still show its last checkpoint of the epoch
      // before.
      const ended = system.epochs.some(
        (opened) => opened.log === log && opened.epoch > epoch && opened.restoredSize < size,
      );
      if (epoch > system.epochOf(log) || ended) {
        findings.add(
          'restore',
          `Log ${log} is exported in epoch ${epoch}, and _system knows it in ${system.epochOf(log)}.`,
          { log },
        );
      }
    }
  }

  /**
   * A cut tail leaves nothing to see in the export: without a word from outside the verdict has to
   * say so.
   */
  #truncation(): void {
    const { findings } = this.#context;
    if (!this.#outside.given) {
      findings.note('Truncation not checked: no checkpoint from outside was given.');
    } else if (this.#outside.agreed(systemLog) === null) {
      const unknown = [...this.#walked.keys()].filter(
        (log) => this.#outside.agreed(log) === null && !findings.has(log, 'truncated', 'replaced'),
      );
      for (const log of unknown)
        findings.note(
          `Truncation not checked for log ${log}: it agrees with no checkpoint from outside, nor does _system.`,
        );
    }
  }
}

/**
 * The keys that an export lists. A text that is no key is left out: then no known key has signed.
 */
export async function ownKeys(read: Reader): Promise<string[]> {
  const file = await tolerant(read)('export.json');
  let keys: unknown;
  try {
    keys = (JSON.parse(new TextDecoder().decode(file ?? undefined)) as { keys?: unknown })?.keys;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return (Array.isArray(keys) ? keys : []).filter((key) => typeof key === 'string' && isKey(key));
}

function isKey(text: string): boolean {
  try {
    parsePublicKey(text);
    return true;
  } catch (error) {
    if (error instanceof WritError) return false;
    throw error;
  }
}
