/**
 * What persons sign, and whether they did. The database looks at hashes and at how many have approved in the transaction of each effect; PostgreSQL has no Ed25519, so the worker looks at the
 * signatures, once per governance job, before the first step of it that this process does; and each step that it is handed is one that was signed. A row that was altered past every guard lets nothing happen.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Coalescer } from '../database/coalescer.js';
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { PermanentFailure, WritRefusal } from '../errors/index.js';
import type { Bounds } from './contracts.js';
import { signedBy } from './keys.js';
import { type ChangeStep, filled } from './steps.js';

interface Signed {
  readonly contract_id: string;
  readonly content: string;
  readonly policy_version: number;
  readonly pre_state: string;
}

interface Approvals {
  /** Of the contract that is done. */
  readonly content: string;
  /** What was approved: the contract itself, or the template that it is an instance of. */
  readonly signed: Signed;
  readonly glass_broken: string | null;
  readonly template: {
    readonly params: Readonly<Record<string, unknown>>;
    readonly bounds: Readonly<Record<string, Bounds>> | null;
  } | null;
  readonly reviews: readonly {
    readonly by: string;
    readonly signature: string | null;
    readonly public_key: string | null;
  }[];
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What an approval signs, as writ_data.approval_hash makes it. */
const approvalHash = ({ contract_id, content, policy_version, pre_state }: Signed): string =>
  sha256(
    ['writ approval 1', contract_id, sha256(content), policy_version, sha256(pre_state)].join('|'),
  );

/** What somebody signs who breaks the glass: this contract, for this reason. */
export const glassHash = (contractId: string, content: string, reason: string): string =>
  sha256(['writ break glass 1', contractId, sha256(content), sha256(reason)].join('|'));

/** As many jobs as a process has in hand; those that were asked about last. */
const remembered = 1_000;

export class ApprovalChecks {
  readonly #signed = new Map<string, Promise<readonly ChangeStep[]>>();
  readonly #asking: Coalescer<string, Approvals | null>;

  constructor(db: Queryable) {
    this.#asking = new Coalescer(
      (runs) =>
        gate<(Approvals | null)[]>(db, 'fn_governed_approvals($1::text::uuid[])', [
          `{${runs.join(',')}}`,
        ]),
      () => 1_000,
    );
  }

  /** Resolves if the steps of a run that a worker was handed, `first` on from 0, are what persons have signed; fails for good if they are not. */
  async check(runId: string, first: number, steps: readonly ChangeStep[]): Promise<void> {
    const known = this.#signed.get(runId) ?? this.#look(runId);
    this.#signed.delete(runId);
    this.#signed.set(runId, known);
    const [oldest] = this.#signed.keys();
    if (this.#signed.size > remembered && oldest !== undefined) this.#signed.delete(oldest);
    try {
      if (!isDeepStrictEqual((await known).slice(first, first + steps.length), steps))
        throw approvalVoid(`Step ${first + 1} of run ${runId} is not what was signed`);
    } catch (error) {
      this.#signed.delete(runId); // whoever tries again asks again
      throw error;
    }
  }

  /** The steps of the run, as they were signed. */
  async #look(runId: string): Promise<readonly ChangeStep[]> {
    const approvals = await this.#asking.add(runId);
    if (!approvals) throw new WritRefusal('job_not_found', `the governance job of run ${runId}`);
    const wrong = wrongWith(approvals);
    if (wrong !== undefined)
      throw approvalVoid(`${wrong} (contract ${approvals.signed.contract_id})`);
    return stepsIn(approvals.content);
  }
}

const approvalVoid = (words: string) => new PermanentFailure(words, { code: 'approval_void' });

function wrongWith({
  content,
  signed,
  glass_broken,
  template,
  reviews,
}: Approvals): string | undefined {
  if (template) {
    const { params, bounds } = template;
    if (
      !isDeepStrictEqual(
        stepsIn(signed.content).map((step) => filled(step, params)),
        stepsIn(content),
      )
    )
      return 'The contract is not what its template says';
    const beyond = Object.entries(bounds ?? {}).find(
      ([name, bound]) => !within(params[name], bound),
    );
    if (beyond) return `The parameter ${beyond[0]} is out of the bounds that were signed`;
  }
  if (reviews.length === 0) return 'Nobody has signed this';
  const hash =
    glass_broken === null
      ? approvalHash(signed)
      : glassHash(signed.contract_id, content, glass_broken);
  const forged = reviews.find(
    ({ signature, public_key }) =>
      !signature || !public_key || !signedBy(public_key, hash, signature),
  );
  return forged && `${forged.by} has not signed this`;
}

const stepsIn = (content: string): ChangeStep[] =>
  (JSON.parse(content) as { steps: ChangeStep[] }).steps;

/** As writ_data.within has it. */
function within(value: unknown, bounds: Bounds): boolean {
  if ('in' in bounds) return bounds.in.some((one) => isDeepStrictEqual(one, value));
  return typeof value === 'number' && value >= bounds.min && value <= bounds.max;
}
