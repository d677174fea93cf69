/**
 * The governors of an export, decided again while its logs are verified: each receipt goes to its
 * governor, which reads as many of its events as that takes. Nothing in the export is trusted: that
 * its events are those that were decided on shows by the receipts, and that those are as they were
 * written by the signed log.
 */
import { plural } from '../errors/words.js';
import type { ReceiptContainer } from '../ledger/container.js';
import {
  type ExportedGovernor,
  eventsPerFile,
  fileOf,
  governorPath,
  headerOf,
} from '../ledger/governor-events.js';
import { fromUtf8 } from '../ledger/text.js';
import type { Findings } from '../ledger/verdict.js';
import type { Reader } from '../ledger/verification/log.js';
import { parseManifest } from '../ledger/verification/manifest.js';
import { type Redecided, Redecision, type RedecisionOptions } from './redecision.js';

export interface ExportedEventsOptions extends RedecisionOptions {
  /** Only this one. */
  readonly governor?: { readonly tenant: string; readonly sku: string };
}

export interface RedecidedExport {
  readonly ok: boolean;
  readonly governors: readonly (Redecided & { readonly events_per_s: number })[];
  /**
   * Streams of receipts whose events, or whose first events, are not in the export: not decided
   * again.
   */
  readonly undecided: readonly {
    readonly tenant: string;
    readonly sku: string;
    readonly receipts: number;
  }[];
}

interface Redeciding {
  readonly governor: ExportedGovernor;
  readonly replay: Redecision;
  file: number;
  /** The next file, while it is being read. */
  reading: Promise<Uint8Array | null> | undefined;
  ms: number;
}

const prefix = 'governor:';

export class ExportedEvents {
  readonly #read: Reader;
  readonly #options: ExportedEventsOptions;
  readonly #governors = new Map<string, Redeciding>();
  readonly #undecided = new Map<string, { tenant: string; sku: string; receipts: number }>();

  private constructor(
    read: Reader,
    governors: readonly ExportedGovernor[],
    options: ExportedEventsOptions,
  ) {
    this.#read = read;
    this.#options = options;
    for (const governor of governors) {
      const { governor_id, tenant, sku, first } = governor;
      if (first !== 1 || !this.#isAsked(tenant, sku)) continue;
      const replay = new Redecision({ governor_id, tenant, sku }, options);
      this.#governors.set(keyOf(tenant, sku), {
        governor,
        replay,
        file: 0,
        reading: undefined,
        ms: 0,
      });
    }
  }

  /** Those that an export lists. One that cannot be read lists none, and verifying it says so. */
  static async of(read: Reader, options: ExportedEventsOptions = {}): Promise<ExportedEvents> {
    const manifest = parseManifest(await read('export.json'));
    return new ExportedEvents(
      read,
      typeof manifest === 'string' ? [] : (manifest.governors ?? []),
      options,
    );
  }

  /** A finding for each governor whose events are missing, so nobody can decide them again. */
  addUndecided(findings: Findings): void {
    for (const { tenant, sku, receipts } of this.#undecided.values()) {
      const message =
        `The events of governor ${tenant}/${sku} are missing, so nobody can decide its ${plural(receipts, 'receipt')} again. ` +
        'Verify with the archive that has them, or export with events.';
      const subject = `${tenant}/${sku}`;
      findings.add('governor_events_missing', message, { log: tenant, subject });
    }
  }

  /** For verifyExport. */
  hear(tenant: string, receipt: ReceiptContainer, entry: Uint8Array): Promise<void> | undefined {
    const { stream } = receipt.context;
    if (!stream.startsWith(prefix)) return undefined;
    const sku = stream.slice(prefix.length);
    const key = keyOf(tenant, sku);
    const replaying = this.#governors.get(key);
    if (!replaying) {
      if (this.#isAsked(tenant, sku))
        this.#undecided.set(key, {
          tenant,
          sku,
          receipts: (this.#undecided.get(key)?.receipts ?? 0) + 1,
        });
      return undefined;
    }
    const began = performance.now();
    const isHeard = replaying.replay.hear(receipt, entry);
    replaying.ms += performance.now() - began;
    return isHeard ? undefined : this.#more(replaying, receipt, entry);
  }

  async #more(replaying: Redeciding, receipt: ReceiptContainer, entry: Uint8Array): Promise<void> {
    const { replay } = replaying;
    for (let isHeard = false; !isHeard; ) {
      const bytes = await this.#next(replaying);
      const began = performance.now();
      const lines = bytes && this.#lines(replaying, bytes);
      if (lines) {
        replay.feed(lines);
        isHeard = replay.hear(receipt, entry);
      } else {
        if (!replay.stopped) replay.unheard(receipt);
        isHeard = true;
      }
      replaying.ms += performance.now() - began;
    }
  }

  /** The bytes of its next file; null: there is none. */
  async #next(replaying: Redeciding): Promise<Uint8Array | null> {
    const { governor, replay } = replaying;
    const read = (file: number) =>
      file > fileOf(governor.events)
        ? undefined
        : this.#read(governorPath(governor, file, file * eventsPerFile <= governor.events));
    const reading = replaying.reading ?? read(1);
    replaying.file++;
    replaying.reading = read(replaying.file + 1);
    replaying.reading?.catch(() => undefined); // It is awaited in its round.
    if (replaying.file > 1 && !reading) return null;
    const bytes = (await reading) ?? null;
    if (!bytes) {
      const path = governorPath(
        governor,
        replaying.file,
        replaying.file * eventsPerFile <= governor.events,
      );
      replay.unreadable(
        `${path} is missing, with the events from ${(replaying.file - 1) * eventsPerFile + 1} on.`,
        'event_missing',
      );
    }
    return bytes;
  }

  #lines({ governor, replay, file }: Redeciding, bytes: Uint8Array): readonly string[] | undefined {
    const [header, ...lines] = (fromUtf8(bytes) ?? '').split('\n');
    if (lines.pop() !== '')
      replay.unreadable(`File ${file} of its events is not text, or is cut off.`);
    else if (header !== headerOf(governor))
      replay.unreadable(
        `File ${file} of its events says that they are of ${header?.slice(0, 200)}.`,
        'governor',
      );
    else return lines;
    return undefined;
  }

  /** Streams of receipts that nobody could decide again. */
  get undecided(): RedecidedExport['undecided'] {
    return [...this.#undecided.values()];
  }

  close(): RedecidedExport {
    const governors = [...this.#governors.values()].map(({ governor, replay, ms }) => {
      const ended = replay.end(governor.events);
      return { ...ended, events_per_s: ms > 0 ? Math.round((ended.events * 1_000) / ms) : 0 };
    });
    return { ok: governors.every(({ ok }) => ok), governors, undecided: this.undecided };
  }

  #isAsked(tenant: string, sku: string): boolean {
    const { governor } = this.#options;
    return !governor || (governor.tenant === tenant && governor.sku === sku);
  }
}

const keyOf = (tenant: string, sku: string) => `${tenant} ${sku}`;
