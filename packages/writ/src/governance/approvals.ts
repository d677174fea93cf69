/**
 * What an applier checks before it changes anything, so that it needs no honest database: that the
 * bytes that were signed say exactly what it is about to do, and that enough persons have signed
 * them. PostgreSQL has no Ed25519, so the gates count only what an applier has verified.
 */
import { isDeepStrictEqual } from 'node:util';
import { Coalescer } from '../database/coalescer.js';
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { PermanentFailure, Postponed, WritRefusal } from '../errors/index.js';
import { type Risk, type SignedDocument, slotOf } from './document.js';
import { filled } from './filled.js';
import { signedBy } from './keys.js';
import { type ChangeStep, kindOf } from './steps.js';
import type { Trust } from './trust/file.js';
import {
  type Finding,
  isFinding,
  isSignedBefore,
  judge,
  type SignatureRow,
  type Weighed,
  weigh,
  wrongUndo,
} from './trust/judge.js';
import type { TrustSource } from './trust/source.js';

/** A step of a rollback, which names the step that it undoes. */
export type UndoStep = ChangeStep & { readonly undo_of?: number | undefined };

/** What the database says besides the signatures; it can only demand more. */
interface Word {
  readonly deployment: string;
  readonly risk: Risk;
  readonly quorum: Readonly<Record<Risk, number>>;
}

interface Approvals extends Word {
  readonly contract_id: string;
  /** Of the contract that is done. */
  readonly content: string;
  readonly pre_state: Readonly<Record<string, unknown>>;
  /** What was signed: for the contract itself, or for the template that it is an instance of. */
  readonly document: string | null;
  /** Why the glass was broken. */
  readonly glass: string | null;
  /** The parameters of an instance. */
  readonly instance: Readonly<Record<string, unknown>> | null;
  /** Of a rollback: what it restores, by the number of the step that it undoes. */
  readonly undo: Readonly<Record<string, Readonly<Record<string, unknown>>>> | null;
  readonly signatures: readonly SignatureRow[];
}

/** What a worker is about to do: steps of a run, from `first` on, counted from 0. */
export interface Doing {
  readonly runId: string;
  /** Of the queue job: the kind that this worker's handler is for. */
  readonly kind: string;
  readonly databaseTime: number;
  readonly tenant: string;
  readonly undoing: boolean;
  readonly first: number;
  readonly steps: readonly UndoStep[];
}

/** As many jobs as a process has in hand; those that were asked about last. */
const remembered = 1_000;

export class ApprovalChecks {
  readonly #known = new Map<string, Promise<Approved>>();
  readonly #asking: Coalescer<string, Approvals | null>;
  readonly #trust: TrustSource;

  constructor(db: Queryable, trust: TrustSource) {
    this.#trust = trust;
    this.#asking = new Coalescer(
      (runs) =>
        gate<(Approvals | null)[]>(db, 'fn_governed_approvals($1::text::uuid[])', [
          `{${runs.join(',')}}`,
        ]),
      () => 1_000,
    );
  }

  /**
   * Resolves if persons have signed what a worker was handed; fails for good if they have not, and
   * for now if a key is not known yet.
   */
  async check(doing: Doing): Promise<Approved> {
    const { runId } = doing;
    const trust = await trustNow(this.#trust);
    const known = this.#known.get(runId) ?? this.#look(runId);
    this.#known.delete(runId);
    this.#known.set(runId, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > remembered && oldest !== undefined) this.#known.delete(oldest);
    try {
      const approved = await known;
      approved.check(doing, trust, clockOf(trust, doing));
      return approved;
    } catch (error) {
      this.#known.delete(runId); // whoever tries again asks again
      throw error;
    }
  }

  async #look(runId: string): Promise<Approved> {
    const approvals = await this.#asking.add(runId);
    if (!approvals) throw new WritRefusal('job_not_found', `the governance job of run ${runId}`);
    return new Approved(approvals);
  }
}

/** The trust as it is now; while its file cannot be used, the job waits. */
export async function trustNow(source: TrustSource): Promise<Trust> {
  try {
    return await source.read();
  } catch (error) {
    if (error instanceof WritRefusal)
      throw new Postponed(error.message, { code: error.code, cause: error });
    throw error;
  }
}

/**
 * The time that documents and keys are compared with: that of whoever is trusted. An applier with a
 * trust file believes its own clock; one that trusts the database believes the database's.
 */
export const clockOf = (trust: Trust, { databaseTime }: { readonly databaseTime: number }): Date =>
  trust.source === 'file' ? new Date() : new Date(databaseTime);

/** What was signed for one governance job. Nothing here trusts what the database says beside it. */
export class Approved {
  readonly #approvals: Approvals;
  #judged:
    | {
        readonly trust: Trust;
        readonly weighed: Weighed;
        readonly tenant: string;
        readonly undoing: boolean;
        readonly begun: boolean;
      }
    | undefined;

  constructor(approvals: Approvals) {
    this.#approvals = approvals;
  }

  /** Judged once per version of the trust file; the time is compared before each step. */
  check(doing: Doing, trust: Trust, at: Date): void {
    const wrong = this.#isJudged(doing, trust)
      ? this.#judged?.weighed.at(at)
      : this.#judge(doing, trust, at);
    if (wrong) throw this.#thrown(wrong);
    const steps = doing.undoing
      ? doing.steps.map(({ undo_of }) => this.#signed((undo_of ?? 0) - 1))
      : doing.steps.map((_, n) => this.#signed(doing.first + n));
    const other = doing.steps.findIndex(({ step_type, target, parameters, undo_of }, n) => {
      const signed = steps[n];
      return (
        !signed ||
        kindOf(signed.step_type) !== doing.kind ||
        (undo_of !== undefined) !== doing.undoing ||
        !isDeepStrictEqual(signed, {
          step_type,
          target,
          parameters: doing.undoing ? signed.parameters : parameters,
        })
      );
    });
    if (other >= 0)
      throw this.#thrown({
        code: 'other_content',
        detail: `Step ${doing.first + other + 1} of run ${doing.runId} is not what was signed`,
      });
  }

  /**
   * Whether what was judged before holds for this too. What is looked at for an undo says nothing
   * about a step, and what is looked at for a later step says nothing about the first.
   */
  #isJudged({ tenant, undoing, first }: Doing, trust: Trust): boolean {
    const judged = this.#judged;
    return (
      judged !== undefined &&
      isSame(judged.trust, trust) &&
      judged.tenant === tenant &&
      judged.undoing === undoing &&
      (first > 0 || !judged.begun)
    );
  }

  #judge({ tenant, undoing, first }: Doing, trust: Trust, at: Date): Finding | undefined {
    const { document, signatures, glass, contract_id, content, pre_state, instance, undo } =
      this.#approvals;
    if (document === null) return { code: 'quorum_missing', detail: 'Nobody has signed this' };
    const { scope, steps } = JSON.parse(content) as {
      scope: readonly string[];
      steps: readonly ChangeStep[];
    };
    const weighed = judge({
      trust,
      document,
      signatures,
      at,
      begun: first > 0,
      // Nothing that was demanded since stops an undo.
      ...(!undoing && { database: this.#approvals }),
      signedBy,
      change: {
        contract: contract_id,
        tenant,
        scope,
        steps,
        preState: pre_state,
        params: instance,
        restores: undoing ? undo : null,
      },
    });
    if (isFinding(weighed)) return weighed;
    const reason = 'reason' in weighed.document ? weighed.document.reason : null;
    if (reason !== glass)
      return { code: 'other_content', detail: 'What was signed is for another reason' };
    this.#judged = { trust, weighed, tenant, undoing, begun: first > 0 };
    return undefined;
  }

  /** What it was judged with, as receipts name it. Asked after the check. */
  get trust(): string {
    return nameOf((this.#judged as { trust: Trust }).trust);
  }

  get #document(): SignedDocument {
    return (this.#judged as { weighed: Weighed }).weighed.document;
  }

  #signed(n: number): ChangeStep | undefined {
    const step = this.#document.steps[n];
    const { instance } = this.#approvals;
    return step && instance ? filled(step, instance) : step;
  }

  /** A step as it was signed, counted from 1. Asked after the check. */
  step(stepNo: number): ChangeStep {
    return this.#signed(stepNo - 1) as ChangeStep;
  }

  /**
   * Throws unless this value may stand at the slot of a step, counted from 1, before it: what was
   * signed, or what an earlier step has put there, which nobody signs.
   */
  mayFind(stepNo: number, value: unknown): void {
    const slot = slotOf(this.step(stepNo)) as string;
    const earlier = this.#document.steps.slice(0, stepNo - 1);
    if (earlier.some((step) => slotOf(step) === slot)) return;
    if (isSignedBefore(this.#document, slot, value)) return;
    throw new PermanentFailure(`${slot} is not what it was when it was signed`, {
      code: 'pre_value_conflict',
    });
  }

  /** Throws unless the undo of a step, counted from 1, may put this value back. */
  mayRestore(stepNo: number, value: unknown): void {
    const slot = slotOf(this.step(stepNo)) as string;
    const wrong = wrongUndo(this.#document, this.#approvals.instance, stepNo, { [slot]: value });
    if (wrong) throw this.#thrown(wrong);
  }

  #thrown({ code, detail, wait }: Finding): Error {
    const words = `${detail} (contract ${this.#approvals.contract_id})`;
    if (wait) return new Postponed(words, { code });
    return new PermanentFailure(words, {
      code: code === 'window_elapsed' ? code : 'approval_void',
    });
  }
}

/**
 * A trust as receipts name it: by the hash of its file, so that anyone can say which version it
 * was.
 */
const nameOf = (trust: Trust): string => (trust.source === 'file' ? trust.sha256 : 'database');

const isSame = (one: Trust | undefined, other: Trust): boolean =>
  one === other || (one?.source === 'database' && other.source === 'database');

/** Signatures of a contract that wait for a verdict, and those that have one. */
export interface Waiting extends Word {
  readonly contract_id: string;
  readonly document: string;
  readonly signatures: readonly (SignatureRow & {
    readonly review_no: number;
    readonly verdict: 'valid' | null;
  })[];
}

export interface Verdicts {
  readonly trust: string;
  /** How many persons the document needs. */
  readonly quorum: number;
  readonly verdicts: readonly {
    readonly review_no: number;
    readonly verdict: 'valid' | 'wrong';
    readonly why?: string;
  }[];
  /** A key may become known: its signature goes on waiting. */
  readonly open: boolean;
}

/** As many as the gate takes. Each signature brings a queue job, so others look at the rest. */
const verdictsAtOnce = 1_000;

/** Says of each signature that waits whether it counts, of so many at once. */
export function verdictsOn(waiting: Waiting | null, trust: Trust, at: Date): Verdicts {
  const name = nameOf(trust);
  if (!waiting) return { trust: name, quorum: 1, verdicts: [], open: false };
  const { document, signatures } = waiting;
  const weighed = weigh({ trust, document, signatures, at, database: waiting, signedBy });
  const looked = signatures.flatMap(({ review_no, verdict }, n) =>
    verdict === null
      ? [{ review_no, finding: isFinding(weighed) ? weighed : weighed.signatures[n]?.finding }]
      : [],
  );
  return {
    trust: name,
    quorum: isFinding(weighed) ? 1 : weighed.quorum,
    verdicts: looked
      .flatMap(({ review_no, finding }) =>
        finding?.wait
          ? []
          : [
              {
                review_no,
                ...(finding
                  ? { verdict: 'wrong' as const, why: finding.code }
                  : { verdict: 'valid' as const }),
              },
            ],
      )
      .slice(0, verdictsAtOnce),
    open: looked.some(({ finding }) => finding?.wait === true),
  };
}
