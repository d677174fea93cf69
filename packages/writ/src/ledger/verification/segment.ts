/**
 * Sealed events: the rows of a segment, one canonical document per line, are the leaves of a tree whose root is in a receipt of _system. Which row was changed
 * is told by the leaf hashes beside them, if those give the sealed root; without them a changed row shows by its form or not at all, and the segment is named.
 */
import { readCanonical } from '../canonical.js';
import { systemLog } from '../container.js';
import { type EventRow, eventsIn, faultOfEventRow } from '../event-row.js';
import { CompactRange, leafHash, sameBytes } from '../merkle.js';
import { toHex, utf8 } from '../text.js';
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

/** The documents of a segment; their leaf hashes, 32 bytes each, in the same order; and the events of runs that they seal, one a line, `null` where a run is past its retention. */
export const segmentPath = (
  segment: number,
  what: 'jsonl' | 'hashes' | 'runs.jsonl' = 'jsonl',
): string => `events/${String(segment).padStart(9, '0')}.${what}`;

const lineEnd = 10;

export class Segments {
  readonly #context: LogContext;
  readonly #exported: Manifest['segments'];
  #last = 0;
  #checked = 0;

  constructor(exported: Manifest['segments'], context: LogContext) {
    this.#exported = exported;
    this.#context = context;
  }

  sealed(seal: Seal): Promise<void> | undefined {
    if (seal.segment !== this.#last + 1) {
      const message = `Entry ${seal.index} of _system seals segment ${seal.segment}, where ${this.#last + 1} should follow.`;
      this.#context.findings.add('segment', message, { log: systemLog, index: seal.index });
    }
    this.#last = seal.segment;
    if (
      !this.#exported ||
      seal.segment < this.#exported.first ||
      seal.segment > this.#exported.last
    )
      return undefined;
    this.#checked += 1;
    return this.#check(seal);
  }

  /** What can be said when every seal has been heard. */
  close(): void {
    const { findings } = this.#context;
    if (this.#exported && this.#exported.last > this.#last) {
      findings.add(
        'segment',
        `The export has events of segment ${this.#exported.last}, but _system seals only ${this.#last}.`,
        {
          log: systemLog,
        },
      );
    }
    const unseen = this.#last - this.#checked;
    if (unseen > 0)
      findings.note(
        `The events of ${count(unseen, 'sealed segment')} are not in this export: not checked.`,
      );
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
    if (!file) return fail(`Segment ${seal.segment}: ${path} is missing.`);
    if (file.length > 0 && file.at(-1) !== lineEnd)
      return fail(`Segment ${seal.segment}: ${path} is cut off: it does not end with a line end.`);
    const leaves = await this.#leaves(seal);
    // A copy, in which each document gets the zero byte of its leaf hash before it, in place of the line end.
    const copy = new Uint8Array(file.length + 1);
    copy.set(file, 1);
    const range = new CompactRange(sha256);
    let [rows, facts, last] = [0, 0, ''];
    const runEvents: (readonly [string, number, string])[] = [];
    for (let start = 1; start < copy.length; ) {
      const end = copy.indexOf(lineEnd, start);
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
          `Segment ${seal.segment}, ${name}: it is not the row that was sealed there: it was changed, or rows were added, removed or moved.`,
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
        `Segment ${seal.segment}: ${count(seal.rows, 'row was', 'rows were')} sealed, and the export has ${rows}.`,
      );
    if (last !== seal.last)
      return fail(
        `Segment ${seal.segment}: its last row is batch ${last}, and ${seal.last} was sealed.`,
        last,
      );
    if (facts !== seal.facts)
      return fail(
        `Segment ${seal.segment}: ${count(seal.facts, 'event was', 'events were')} sealed, and its rows have ${facts}.`,
      );
    if (!sameBytes(range.root(), seal.root)) {
      return fail(
        `Segment ${seal.segment}: its rows are not those that were sealed: one from batch ${seal.first} to batch ${seal.last} was changed or moved.`,
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
    const { findings, reader, sha256 } = this.#context;
    const file = await reader(segmentPath(seal.segment, 'runs.jsonl'));
    if (!file)
      return findings.note(
        `Segment ${seal.segment} seals ${count(sealed.length, 'event')} of runs, which are not in this export: not checked.`,
      );
    const lines = new TextDecoder().decode(file).split('\n');
    let gone = 0;
    for (const [place, [run, seq, hash]] of sealed.entries()) {
      const line = lines[place] ?? '';
      if (line === 'null') gone++;
      else if (toHex(leafHash(utf8(line), sha256)) !== hash)
        return fail(
          `Segment ${seal.segment}: event ${seq} of run ${run} is not the one that was sealed: it was changed or removed.`,
        );
    }
    if (gone > 0)
      findings.note(
        `${count(gone, 'event')} of runs in segment ${seal.segment} are past their retention: not checked.`,
      );
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
