/** Governance jobs: the execution of one contract, or its undoing. */
import type { Queryable } from '../database/connection.js';
import { gate, readRows } from '../database/gate.js';
import { WritRefusal } from '../errors/index.js';
import type { GovernanceJobState } from '../machines/governance-job.js';
import { Waiters } from '../runs/waiters.js';

export type JobWaiters = Waiters;

/** Those of $1 that have come to rest, and those that are not there. One whose audit waits for a person rests, too. */
export const waitersForJobs = (db: Queryable): JobWaiters =>
  new Waiters(
    db,
    `select u.id::text, g.status from unnest($1::text::uuid[]) u(id) left join writ.governance_jobs g on g.job_id = u.id
     where g.job_id is null or g.status in ('COMPLETED', 'CANCELLED', 'ROLLED_BACK', 'ROLLBACK_FAILED')`,
    'job_not_found',
  );

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
  readonly #db: Queryable;
  readonly #waiters: JobWaiters;
  readonly id: string;

  constructor(db: Queryable, waiters: JobWaiters, id: string) {
    this.#db = db;
    this.#waiters = waiters;
    this.id = id;
  }

  /** When it has come to rest: COMPLETED, ROLLED_BACK, ROLLBACK_FAILED or CANCELLED. */
  async finished(options: { readonly timeoutMs?: number } = {}): Promise<FinishedJob> {
    await this.#waiters.ended(this.id, options.timeoutMs);
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
    return one(
      await readRows(this.#db, 'select to_json(g)::text as answer from writ.governance_jobs g where g.job_id = $1', [this.id]),
      this.id,
    );
  }

  async steps(): Promise<Record<string, unknown>[]> {
    const rows = await readRows(
      this.#db,
      'select to_json(s)::text as answer from writ.governance_job_steps s where s.job_id = $1 order by s.step_no',
      [this.id],
    );
    return rows.map(({ answer }) => JSON.parse(String(answer)) as Record<string, unknown>);
  }

  /** The last audit, if there was one. */
  async audit(): Promise<Record<string, unknown> | undefined> {
    const rows = await readRows(
      this.#db,
      'select to_json(a)::text as answer from writ.governance_audits a where a.job_id = $1 order by a.audit_id desc limit 1',
      [this.id],
    );
    return rows.length === 0 ? undefined : one(rows, this.id);
  }

  /** Cancels it, if it has not begun. */
  async cancel(credential: string, reason: string): Promise<void> {
    await gate(this.#db, 'fn_governance_cancel($1, $2::text::uuid, $3)', [credential, this.id, reason]);
    this.#waiters.hear([this.id]);
  }
}

function one(rows: Record<string, unknown>[], id: string): Record<string, unknown> {
  if (!rows[0]) throw new WritRefusal('job_not_found', id);
  return JSON.parse(String(rows[0].answer)) as Record<string, unknown>;
}
