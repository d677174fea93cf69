/** Governance jobs: the execution of one contract, or its undoing. */
import type { Queryable } from '../database/connection.js';
import { gate, readJson } from '../database/gate.js';
import { isUuid } from '../database/uuid.js';
import { WritRefusal } from '../errors/index.js';
import type { GovernanceJobState } from '../machines/governance-job.js';
import { Waiters } from '../runs/waiters.js';
import { refuseSecrets } from '../secrets/redaction.js';
import { type ActingHost, type As, credentialOf } from './actor.js';

export type JobWaiters = Waiters;

/** Those of $1 that have come to rest, and those that are not there. One whose audit waits for a person rests, too. */
export const waitersForJobs = (db: Queryable): JobWaiters =>
  new Waiters(
    db,
    `select u.id::text, g.status from unnest($1::text::uuid[]) u(id) left join writ.governance_jobs g on g.job_id = u.id
     where g.job_id is null or g.status in ('COMPLETED', 'CANCELLED', 'ROLLED_BACK', 'ROLLBACK_FAILED')`,
    'job_not_found',
  );

export interface JobsHost extends ActingHost {
  readonly waiters: JobWaiters;
}

export interface FinishedJob {
  readonly jobId: string;
  readonly contractId: string;
  readonly status: GovernanceJobState;
  readonly reason?: string;
  readonly rollbackJobId?: string;
  readonly stateBefore: string;
  readonly stateAfter?: string;
}

export class GovernanceJob {
  readonly #host: JobsHost;
  readonly id: string;

  constructor(host: JobsHost, id: string) {
    if (!isUuid(id)) throw new WritRefusal('job_not_found', id);
    this.#host = host;
    this.id = id;
  }

  /** When it has come to rest: COMPLETED, ROLLED_BACK, ROLLBACK_FAILED or CANCELLED. */
  async finished(options: { readonly timeoutMs?: number } = {}): Promise<FinishedJob> {
    await this.#host.waiters.ended(this.id, options.timeoutMs);
    const job = await this.get();
    return {
      jobId: this.id,
      contractId: String(job.contract_id),
      status: job.status as GovernanceJobState,
      stateBefore: String(job.state_before),
      ...(job.status_reason !== null && { reason: String(job.status_reason) }),
      ...(job.rollback_job_id !== null && { rollbackJobId: String(job.rollback_job_id) }),
      ...(job.state_after !== null && { stateAfter: String(job.state_after) }),
    };
  }

  /** Everything about it, by the names of the specification. */
  async get(): Promise<Record<string, unknown>> {
    const [job] = await readJson<Record<string, unknown>>(
      this.#host.db,
      'select * from writ.governance_jobs where job_id = $1',
      [this.id],
    );
    if (!job) throw new WritRefusal('job_not_found', this.id);
    return job;
  }

  steps(): Promise<Record<string, unknown>[]> {
    return readJson(
      this.#host.db,
      'select * from writ.governance_job_steps where job_id = $1 order by step_no',
      [this.id],
    );
  }

  /** The last audit, if there was one. */
  async audit(): Promise<Record<string, unknown> | undefined> {
    const [audit] = await readJson<Record<string, unknown>>(
      this.#host.db,
      'select * from writ.governance_audits where job_id = $1 order by audit_id desc limit 1',
      [this.id],
    );
    return audit;
  }

  /** Cancels it, if it has not begun. */
  async cancel({ reason, ...options }: As & { readonly reason: string }): Promise<void> {
    refuseSecrets(reason, 'the reason');
    await this.#decide('fn_governance_cancel($1, $2::text::uuid, $3)', options, reason);
    this.#host.waiters.hear([this.id]);
  }

  /** Decides an audit that was inconclusive: PASS, the change stands; FAIL, it is undone. For a person who neither proposed nor approved it, with a reason of more than ten characters. */
  async resolve({
    verdict,
    reason,
    ...options
  }: As & {
    readonly verdict: 'PASS' | 'FAIL';
    readonly reason: string;
  }): Promise<GovernanceJobState> {
    refuseSecrets(reason, 'the reason');
    const { status } = await this.#decide<{ status: GovernanceJobState }>(
      'fn_audit_resolve($1, $2::text::uuid, $3, $4)',
      options,
      verdict,
      reason,
    );
    if (status === 'COMPLETED') this.#host.waiters.hear([this.id]);
    return status;
  }

  /** Has a rollback tried again that has failed, when what was in its way is gone. Answers the new rollback job; this one says then by which it was resolved. */
  async retryRollback(options: As = {}): Promise<GovernanceJob> {
    return new GovernanceJob(
      this.#host,
      (await this.#decide<{ job_id: string }>('fn_rollback_retry($1, $2::text::uuid)', options))
        .job_id,
    );
  }

  #decide<Answer>(call: string, options: As, ...more: string[]): Promise<Answer> {
    return gate<Answer>(this.#host.db, call, [credentialOf(this.#host, options), this.id, ...more]);
  }
}
