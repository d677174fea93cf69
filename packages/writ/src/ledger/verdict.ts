/** What a verification found, for programs and for people. */

export type ProblemKind =
  /** The export itself cannot be read. */
  | 'export'
  /** An entry is not the one that was hashed, or is missing. */
  | 'entry'
  /** An entry is no receipt. */
  | 'receipt'
  /** The receipts of a stream have a gap, or are out of order. */
  | 'stream'
  /** Tiles disagree with each other. */
  | 'tile'
  /** The tree is not the one that was signed, or not the one that _system records. */
  | 'root'
  /** Nobody who is known has signed. */
  | 'signature'
  /** A key was added that its signatures do not bear out. */
  | 'key'
  /** Entries that are known outside, or to _system, are missing. */
  | 'truncated'
  /** Another history than the one that is known outside. */
  | 'replaced'
  /** A restore that its receipt does not bear out. */
  | 'restore'
  /** Sealed events are not what was sealed. */
  | 'segment';

export interface Problem {
  readonly kind: ProblemKind;
  readonly log: string | null;
  /** The entry that it is about, from 0. */
  readonly index: number | null;
  /** The row of the record that it is about. */
  readonly batch_id: string | null;
  readonly message: string;
}

export interface LogVerdict {
  readonly log: string;
  readonly epoch: number;
  readonly size: number;
  /** Hexadecimal. */
  readonly root: string;
  /** Keys that are known and have signed it. */
  readonly signers: readonly string[];
  /** The size up to which _system records this tree; null for _system, and where it records none. */
  readonly recorded: number | null;
  /** The largest size at which it agrees with a checkpoint from outside; null if there was none. */
  readonly outside: number | null;
}

export interface Verdict {
  readonly ok: boolean;
  readonly deployment: string | null;
  /** The first of each kind in each log; of more like it the notes tell the number. */
  readonly problems: readonly Problem[];
  readonly logs: readonly LogVerdict[];
  /** What was not checked, and what a reader should know besides. */
  readonly notes: readonly string[];
}

/** Gathers problems. One bad entry can make thousands after it look bad: of each kind the first of a log is kept, and the others are counted. */
export class Findings {
  readonly problems: Problem[] = [];
  readonly notes: string[] = [];
  readonly #first = new Map<string, Problem>();
  readonly #more = new Map<Problem, number>();

  add(
    kind: ProblemKind,
    message: string,
    about: { log?: string; index?: number; batch_id?: string } = {},
  ): void {
    const first = this.#first.get(`${kind} ${about.log}`);
    if (first) {
      this.#more.set(first, (this.#more.get(first) ?? 0) + 1);
      return;
    }
    const problem = {
      kind,
      log: about.log ?? null,
      index: about.index ?? null,
      batch_id: about.batch_id ?? null,
      message,
    };
    this.#first.set(`${kind} ${about.log}`, problem);
    this.problems.push(problem);
  }

  /** Whether a log has a problem of one of these kinds. */
  has(log: string, ...kinds: ProblemKind[]): boolean {
    return kinds.some((kind) => this.#first.has(`${kind} ${log}`));
  }

  note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text);
  }

  close(): void {
    for (const [first, count] of this.#more)
      this.note(`${count} more of this kind after: ${first.message}`);
  }
}

/** A verdict as a few lines of text. */
export function describe(verdict: Verdict): string {
  const entries = verdict.logs.reduce((sum, { size }) => sum + size, 0);
  const lines = [
    verdict.ok
      ? `The ledger${of(verdict.deployment)} is as it was signed: ${count(verdict.logs.length, 'log')}, ${count(entries, 'entry', 'entries')}.`
      : `The ledger${of(verdict.deployment)} does NOT verify: ${count(verdict.problems.length, 'problem')}.`,
  ];
  for (const problem of verdict.problems) lines.push(`  ✗ ${problem.message}`);
  for (const log of verdict.logs) {
    const outside = log.outside === null ? '' : `, agrees with outside at ${log.outside}`;
    const recorded = log.recorded === null ? '' : `, in _system up to ${log.recorded}`;
    lines.push(
      `  ${log.log}: epoch ${log.epoch}, size ${log.size}, signed by ${log.signers.join(', ') || 'no known key'}${recorded}${outside}`,
    );
  }
  for (const note of verdict.notes) lines.push(`  note: ${note}`);
  return `${lines.join('\n')}\n`;
}

const of = (deployment: string | null) => (deployment ? ` of ${deployment}` : '');

export const count = (n: number, one: string, many = `${one}s`): string =>
  `${n} ${n === 1 ? one : many}`;
