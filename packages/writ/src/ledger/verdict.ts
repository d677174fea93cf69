/** What a verification found, for programs and for people. */
import { WritRefusal } from '../errors/index.js';

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
  | 'segment'
  | MissingEvidence
  | GovernanceProblem;

/**
 * Evidence that is missing. An auditor who knows why may waive such a finding by its name, and the
 * verdict prints the waiver. Evidence that was changed cannot be waived.
 */
export const missingEvidence = [
  /** The export holds no receipt. */
  'export_empty',
  /** A log that _system records is not in the export, or _system itself is not. */
  'log_missing',
  /** Receipts are gone; their hashes are still there. */
  'receipts_missing',
  /** The rows of a sealed segment are not in the export. */
  'segments_missing',
  /** Events of runs that a segment seals are not in the export. */
  'run_events_missing',
  /** The events of a governor are not in the export, so nobody can decide them again. */
  'governor_events_missing',
  /** No public key of the ledger was given, so its own word on its keys was taken. */
  'keys_missing',
  /** The newest public key in the ledger is one that no trusted key introduced. */
  'key_unknown',
  /** No ledger key has signed an accepted restore. */
  'restore_unsigned',
  /** No ledger key has signed that a month may be dropped. */
  'archive_unsigned',
  /** A document that was signed, or the governed values, are not in the export. */
  'governance_missing',
] as const;
export type MissingEvidence = (typeof missingEvidence)[number];

/** What governance has done against its own rules. */
const governanceKinds = [
  /** A change without enough signatures of persons, or another one than they have signed. */
  'unapproved',
  /** Dated before earlier entries of its log, behind which the window of its change was over. */
  'dated_back',
  /** A contract was applied a second time. */
  'applied_twice',
  /** A template was activated more often, or sooner again, than was signed. */
  'template_exceeded',
  /** A governed value is not what its last receipt says. */
  'value_differs',
] as const;
export type GovernanceProblem = (typeof governanceKinds)[number];

/** With these: a log without a checkpoint of a known key, and one that is shorter than it was. */
const waivable: readonly string[] = [
  ...missingEvidence,
  ...governanceKinds,
  'signature',
  'truncated',
];

export interface Problem {
  readonly kind: ProblemKind;
  /** What it is about: with the kind, the name of the finding. Often the log. */
  readonly subject: string | null;
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
  /**
   * The size up to which _system records this tree; null for _system, and where it records none.
   */
  readonly recorded: number | null;
  /** The largest size at which it agrees with a checkpoint from outside; null if there was none. */
  readonly outside: number | null;
}

export interface Verdict {
  readonly ok: boolean;
  readonly deployment: string | null;
  /** The first of each kind in each log; of more like it the notes tell the number. */
  readonly problems: readonly Problem[];
  /** Findings that the auditor has waived by name. */
  readonly waived: readonly Problem[];
  readonly logs: readonly LogVerdict[];
  /** What was not checked, and what a reader should know besides. */
  readonly notes: readonly string[];
}

export const isMissingEvidence = ({ kind }: Problem): boolean =>
  (missingEvidence as readonly string[]).includes(kind);

/** The name by which a finding is waived. */
export const nameOf = ({ kind, subject }: Problem): string =>
  subject === null ? kind : `${kind}:${subject}`;

/** What an auditor has waived, each as FINDING or FINDING:SUBJECT. */
export class Waivers {
  readonly #names: ReadonlySet<string>;
  readonly #used = new Set<string>();

  /** Throws for a name that no waivable finding has. */
  constructor(names: readonly string[] = []) {
    for (const name of names) {
      const kind = name.split(':', 1)[0]!;
      if (!waivable.includes(kind)) {
        const detail = `${JSON.stringify(kind.slice(0, 100))} is not a finding that can be waived`;
        throw new WritRefusal('invalid_argument', `${detail}; these are: ${waivable.join(', ')}`);
      }
    }
    this.#names = new Set(names);
  }

  /** Whether the auditor has waived this finding, by its name or by its kind. */
  covers(problem: Problem): boolean {
    if (!waivable.includes(problem.kind)) return false;
    const names = [problem.kind, nameOf(problem)].filter((name) => this.#names.has(name));
    for (const name of names) this.#used.add(name);
    return names.length > 0;
  }

  /** Waivers that waived nothing. */
  unused(): string[] {
    return [...this.#names].filter((name) => !this.#used.has(name));
  }
}

export interface About {
  readonly subject?: string;
  readonly log?: string;
  readonly index?: number;
  readonly batch_id?: string;
}

/** Findings of one kind that are kept; more are counted under the name of the kind. */
const keptOfKind = 1_000;

/**
 * Gathers problems. One bad entry can make thousands after it look bad: of each kind the first
 * about a subject is kept, and the others are counted.
 */
export class Findings {
  readonly problems: Problem[] = [];
  readonly notes: string[] = [];
  readonly #first = new Map<string, Problem>();
  readonly #more = new Map<Problem, number>();
  readonly #ofKind = new Map<string, number>();
  readonly #seen = new Set<string>();

  add(kind: ProblemKind, message: string, about: About = {}): void {
    this.#seen.add(`${kind} ${about.log}`);
    const n = this.#ofKind.get(kind) ?? 0;
    const own = about.subject ?? about.log ?? null;
    const subject = n < keptOfKind || this.#first.has(`${kind} ${own}`) ? own : null;
    const first = this.#first.get(`${kind} ${subject}`);
    if (first) {
      this.#more.set(first, (this.#more.get(first) ?? 0) + 1);
      return;
    }
    const { log = null, index = null, batch_id = null } = about;
    const problem = { kind, subject, log, index, batch_id, message };
    this.#first.set(`${kind} ${subject}`, problem);
    this.#ofKind.set(kind, n + 1);
    this.problems.push(problem);
  }

  /** Whether a log has a problem of one of these kinds. */
  has(log: string, ...kinds: ProblemKind[]): boolean {
    return kinds.some((kind) => this.#seen.has(`${kind} ${log}`));
  }

  note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text);
  }

  /** The findings, less those that are waived. */
  close(waivers: Waivers): { problems: Problem[]; waived: Problem[] } {
    for (const [first, count] of this.#more) {
      this.note(`${count} more of this kind after: ${first.message}`);
    }
    const waived = this.problems.filter((problem) => waivers.covers(problem));
    return { problems: this.problems.filter((problem) => !waived.includes(problem)), waived };
  }
}

/** A verdict as a few lines of text. */
export function describe(verdict: Verdict): string {
  const entries = verdict.logs.reduce((sum, { size }) => sum + size, 0);
  const lines = [
    verdict.ok
      ? `The ledger${of(verdict.deployment)} is as it was signed${except(verdict.waived.length)}: ` +
        `${count(verdict.logs.length, 'log')}, ${count(entries, 'entry', 'entries')}.`
      : `The ledger${of(verdict.deployment)} does NOT verify: ${count(verdict.problems.length, 'problem')}.`,
  ];
  for (const problem of verdict.problems) {
    lines.push(`  ✗ ${problem.message} (${nameOf(problem)})`);
  }
  for (const problem of verdict.waived) {
    lines.push(`  waived ${nameOf(problem)}: ${problem.message}`);
  }
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

const except = (waived: number) =>
  waived > 0 ? `, but for ${count(waived, 'waived finding')}` : '';

export const count = (n: number, one: string, many = `${one}s`): string =>
  `${n} ${n === 1 ? one : many}`;
