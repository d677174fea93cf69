/**
 * Sealed events: the rows of a segment, one canonical document per line, are the leaves of a tree
 * whose root is in a receipt of _system. Which row was changed is told by the leaf hashes beside
 * them, if those give the sealed root; without them a changed row shows by its form or not at all,
 * and the segment is named.
 */
import { readCanonical } from '../canonical.js';
import { systemLog } from '../container.js';
import { type EventRow, eventsIn, faultOfEventRow } from '../event-row.js';
import { CompactRange, leafHash, sameBytes } from '../merkle.js';
import { fromUtf8, toHex } from '../text.js';
import { count } from '../verdict.js';
import type { LogContext } from './log.js';
import type { Manifest } from './manifest.js';

export interface Seal {
  readonly segment: number;
  readonly rows: number;
  readonly facts: number;
  readonly first: string;
  readonly last: string;
  readonly root: Uint8Array;
  /** The entry of _system. */
  readonly index: number;
}

/**
 * The documents of a segment; their leaf hashes, 32 bytes each, in the same order; and the events
 * of runs that they seal, one a line, `null` where a run is past its retention.
 */
export const segmentPath = (
  segment: number,
  what: 'jsonl' | 'hashes' | 'runs.jsonl' = 'jsonl',
): string => `events/${String(segment).padStart(9, '0')}.${what}`;

const lineEnd = 10;

/** The longest row, or event of a run, that is read; a longer one is no row of ours. */
const lineLimit = 16 * 2 ** 20;

/** Numbers of segments as they come, in ranges. */
class Ranges {
  readonly ranges: { first: number; last: number; count: number }[] = [];

  add(segment: number, count: number): void {
    const range = this.ranges.at(-1);
    if (range && range.last === segment - 1) {
      range.last = segment;
      range.count += count;
    } else this.ranges.push({ first: segment, last: segment, count });
  }
}

export class Segments {
  readonly #context: LogContext;
  readonly #exported: Manifest['segments'];
  readonly #missing = new Ranges();
  readonly #runEventsMissing = new Ranges();
  #last = 0;
  #gap = false;

  constructor(exported: Manifest['segments'], context: LogContext) {
    this.#exported = exported;
    this.#context = context;
  }

  /** Seals are missing before the next one. */
  gap(): void {
    this.#gap = true;
  }

  sealed(seal: Seal): Promise<void> | undefined {
    if (this.#gap ? seal.segment <= this.#last : seal.segment !== this.#last + 1) {
      const message =
        `Entry ${seal.index} of _system seals segment ${seal.segment}, where ${this.#last + 1} ` +
        'should follow.';
      this.#context.findings.add('segment', message, { log: systemLog, index: seal.index });
    }
    this.#last = seal.segment;
    this.#gap = false;
    return this.#check(seal);
  }

  /** What can be said when every seal has been heard. */
  close(): void {
    const { findings } = this.#context;
    if (this.#exported && this.#exported.last > this.#last) {
      findings.add(
        'segment',
        `The export has events of segment ${this.#exported.last}, but _system seals only ` +
          `${this.#last}.`,
        {
          log: systemLog,
        },
      );
    }
    const archive = 'Verify with the archive that has them, or export into its folder.';
    for (const { first, last, count: rows } of this.#missing.ranges) {
      const message =
        `The ${count(rows, 'sealed row')} of ${named(first, last)} ` +
        `${rows === 1 ? 'is' : 'are'} missing, ` +
        `from ${segmentPath(first)} on. ${archive}`;
      findings.add('segments_missing', message, {
        log: systemLog,
        subject: subjectOf(first, last),
      });
    }
    for (const { first, last, count: events } of this.#runEventsMissing.ranges) {
      const message =
        `${count(events, 'event')} of runs that ${named(first, last)} ` +
        `${first === last ? 'seals' : 'seal'} ` +
        `${events === 1 ? 'is' : 'are'} missing. ${archive}`;
      findings.add('run_events_missing', message, {
        log: systemLog,
        subject: subjectOf(first, last),
      });
    }
  }

  async #check(seal: Seal): Promise<void> {
    const { findings, reader, sha256 } = this.#context;
    const path = segmentPath(seal.segment);
    const fail = (message: string, batch_id?: string) =>
      findings.add('segment', message, {
        log: systemLog,
        index: seal.index,
        ...(batch_id !== undefined && { batch_id }),
      });
    const file = await reader(path);
    if (!file) return this.#missing.add(seal.segment, seal.rows);
    if (file.length > 0 && file.at(-1) !== lineEnd)
      return fail(`Segment ${seal.segment}: ${path} is cut off: it does not end with a line end.`);
    const leaves = await this.#leaves(seal);
    // A copy, in which each document gets the zero byte of its leaf hash before it, in place of the
    // line end.
    const copy = new Uint8Array(file.length + 1);
    copy.set(file, 1);
    const range = new CompactRange(sha256);
    let [rows, facts, last] = [0, 0, ''];
    const runEvents: (readonly [string, number, string])[] = [];
    for (let start = 1; start < copy.length; ) {
      const end = copy.indexOf(lineEnd, start);
      if (end - start > lineLimit)
        return fail(
          `Segment ${seal.segment}, row ${rows + 1}: it is longer than ${lineLimit} bytes.`,
        );
      copy[start - 1] = 0;
      const hash = sha256(copy.subarray(start - 1, end));
      const row = readCanonical(copy.subarray(start, end));
      const fault = row === undefined ? 'it is not canonical JSON' : faultOfEventRow(row);
      const id = (row as Partial<EventRow> | undefined)?.batch_id;
      const name = typeof id === 'string' ? `row ${rows + 1}, batch ${id}` : `row ${rows + 1}`;
      if (fault)
        return fail(
          `Segment ${seal.segment}, ${name}: ${fault}.`,
          typeof id === 'string' ? id : undefined,
        );
      if (leaves && !sameBytes(hash, leaves.subarray(rows * 32, rows * 32 + 32))) {
        return fail(
          `Segment ${seal.segment}, ${name}: it is not the row that was sealed there: it was ` +
            'changed, or rows were added, removed or moved.',
          id,
        );
      }
      if (rows === 0 && id !== seal.first)
        return fail(
          `Segment ${seal.segment}, ${name}: the first row that was sealed is batch ${seal.first}.`,
          id,
        );
      range.append(hash);
      runEvents.push(...((row as EventRow).run_events ?? []));
      [rows, facts, last] = [rows + 1, facts + eventsIn(row as EventRow), id!];
      start = end + 1;
    }
    if (rows !== seal.rows)
      return fail(
        `Segment ${seal.segment}: ${count(seal.rows, 'row was', 'rows were')} sealed, and ` +
          `the export has ${rows}.`,
      );
    if (last !== seal.last)
      return fail(
        `Segment ${seal.segment}: its last row is batch ${last}, and ${seal.last} was sealed.`,
        last,
      );
    if (facts !== seal.facts)
      return fail(
        `Segment ${seal.segment}: ${count(seal.facts, 'event was', 'events were')} sealed, ` +
          `and its rows have ${facts}.`,
      );
    if (!sameBytes(range.root(), seal.root)) {
      return fail(
        `Segment ${seal.segment}: its rows are not those that were sealed: one from batch ` +
          `${seal.first} to batch ${seal.last} was changed or moved.`,
      );
    }
    if (runEvents.length > 0) await this.#checkRuns(seal, runEvents, fail);
  }

  /** The events of runs that the rows of a segment seal. */
  async #checkRuns(
    seal: Seal,
    sealed: readonly (readonly [string, number, string])[],
    fail: (message: string) => void,
  ): Promise<void> {
    const { reader, sha256 } = this.#context;
    const file = await reader(segmentPath(seal.segment, 'runs.jsonl'));
    if (!file) return this.#runEventsMissing.add(seal.segment, sealed.length);
    let [start, missing] = [0, 0];
    for (const [run, seq, hash] of sealed) {
      const end = file.indexOf(lineEnd, start);
      const line = file.subarray(start, end < 0 ? file.length : end);
      start += line.length + 1;
      if (line.length === 4 && fromUtf8(line) === 'null') missing++;
      else if (line.length > lineLimit || toHex(leafHash(line, sha256)) !== hash) {
        return fail(
          `Segment ${seal.segment}: event ${seq} of run ${run} is not the one that was ` +
            'sealed: it was changed or removed.',
        );
      }
    }
    if (start < file.length)
      return fail(
        `Segment ${seal.segment}: its file of run events has lines after the ` +
          `${count(sealed.length, 'event')} that ${sealed.length === 1 ? 'was' : 'were'} ` +
          'sealed.',
      );
    if (missing > 0) this.#runEventsMissing.add(seal.segment, missing);
  }

  /** The leaf hashes of a segment, if they are there and are those that were sealed. */
  async #leaves(seal: Seal): Promise<Uint8Array | undefined> {
    const bytes = await this.#context.reader(segmentPath(seal.segment, 'hashes'));
    if (bytes?.length !== seal.rows * 32) return undefined;
    const range = new CompactRange(this.#context.sha256);
    for (let at = 0; at < bytes.length; at += 32) range.append(bytes.slice(at, at + 32));
    return sameBytes(range.root(), seal.root) ? bytes : undefined;
  }
}

const subjectOf = (first: number, last: number) =>
  first === last ? `${first}` : `${first}-${last}`;
const named = (first: number, last: number) =>
  first === last ? `segment ${first}` : `segments ${first} to ${last}`;
