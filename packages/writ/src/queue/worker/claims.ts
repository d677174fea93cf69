import type { PreparedPool } from '../../database/prepared.js';
import { refusalIn } from '../../errors/index.js';
import { count } from '../../telemetry/meter.js';
import { executor } from './clockwork.js';
import type { ClaimRow } from './context.js';

export interface ClaimAnswer {
  readonly lease_token: string;
  readonly leased_until: string;
  readonly started_upto: number;
  readonly timeout_s: number;
  readonly jobs: ClaimRow[];
  /** The one job is suspected of killing its worker: nothing may run beside it. */
  readonly alone?: boolean;
  /** Where the next claim should begin among the tenants. */
  readonly after?: string;
  /** A limit kept something back; this long until it may be handed out, if that is known. */
  readonly limited?: boolean;
  readonly again_ms?: number;
  /** Kinds that this login may not claim, and why. */
  readonly skipped?: Readonly<Record<string, string>>;
}

export interface ClaimsOptions {
  readonly gates: PreparedPool;
  readonly workerId: string;
  readonly kinds: readonly string[];
  readonly leaseMs: number;
  /** What a limit kept back may be handed out now. */
  readonly onAgain: () => void;
  /** A kind that the database did not look at, told once. */
  readonly onSkipped: (kind: string, reason: string) => void;
}

/**
 * Asks for jobs, and remembers from one answer to the next whose turn it is and what a limit keeps
 * back.
 */
export class Claims {
  readonly #options: ClaimsOptions;
  #after = '';
  #timer: NodeJS.Timeout | undefined;
  readonly #skipped = new Set<string>();
  /** The last claim left something back because of a limit: what ends may make room. */
  limited = false;
  /** Jobs wait that may only run alone: finish what is at hand, then ask for one. */
  soloWanted = false;

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  async ask(token: string, limit: number, start: number, alone: boolean): Promise<ClaimAnswer> {
    const { gates, kinds, workerId, leaseMs, onAgain } = this.#options;
    if (alone) this.soloWanted = false;
    const { rows } = await gates.query(
      'select writ.fn_job_claim_many($1::text[], $2, $3, $4, $5, $6, null, false, $7, $8, $9) as answer',
      [kinds, executor, workerId, leaseMs / 1000, limit, start, token, alone, this.#after],
    );
    const answer = rows[0].answer as ClaimAnswer;
    const refusal = refusalIn(answer);
    if (refusal) throw refusal;
    count('writ.claims', 1, answer.jobs.length > 0);
    this.#after = answer.after ?? '';
    for (const [kind, reason] of Object.entries(answer.skipped ?? {})) {
      if (!this.#skipped.has(kind)) this.#options.onSkipped(kind, reason);
      this.#skipped.add(kind);
    }
    this.limited = answer.limited === true;
    if (answer.again_ms !== undefined) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(onAgain, Math.max(1, answer.again_ms));
    }
    return answer;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
