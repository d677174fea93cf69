/**
 * `writ.audits`: what was found about governance jobs that were done or undone, each found by its
 * job.
 */
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { isUuid } from '../database/uuid.js';
import { WritRefusal } from '../errors/index.js';
import type { GovernanceJobState } from '../machines/governance-job.js';
import { refuseSecrets } from '../secrets/redaction.js';
import { actAs, type In, type Reading, tenantRead } from './actor.js';
import type { JobsHost } from './changes.js';

export interface AuditCheck {
  readonly check: string;
  readonly result: 'PASS' | 'FAIL' | 'INCONCLUSIVE';
  readonly detail?: string;
}

/** An audit, as the view `governance_audits` has it. */
export interface Audit {
  readonly audit_id: string;
  readonly tenant_id: string;
  readonly job_id: string;
  readonly contract_id: string;
  readonly verdict: 'PASS' | 'FAIL' | 'INCONCLUSIVE';
  readonly verdict_reason: string;
  readonly verdict_at: string;
  readonly checks_performed: readonly AuditCheck[];
  readonly checks_passed: number;
  readonly checks_failed: number;
  readonly checks_inconclusive: number;
  readonly evidence: Readonly<Record<string, unknown>>;
  readonly health_snapshot_before: unknown;
  readonly health_snapshot_after: unknown;
  readonly auditor_version: string;
  readonly duration_ms: number;
  /** The audit before it, of the same job. */
  readonly supersedes: string | null;
  /** The person who decided it, where it was inconclusive. */
  readonly resolved_by: string | null;
  readonly acknowledged_by: string | null;
  readonly created_at: string;
}

export interface AuditFilter extends Reading {
  readonly verdict?: Audit['verdict'] | undefined;
  /** Those of this governance job. */
  readonly job?: string | undefined;
  /** Those of this contract. */
  readonly contract?: string | undefined;
}

export interface Resolution {
  /** PASS: the change stands. FAIL: it is undone. */
  readonly verdict: 'PASS' | 'FAIL';
  /** More than ten characters. */
  readonly reason: string;
}

export class Audits {
  readonly #host: JobsHost;

  constructor(host: JobsHost) {
    this.#host = host;
  }

  /** Audits, the newest first. */
  async list(filter: AuditFilter & PageOptions = {}): Promise<Page<Audit>> {
    const { verdict, job, contract } = filter;
    if ([job, contract].some((id) => id !== undefined && !isUuid(id)))
      return { items: [], next: null };
    return readPage<Audit>(
      this.#host.db,
      {
        columns: 'a.*',
        from: 'writ.governance_audits a',
        where: [
          ['a.tenant_id = ?', tenantRead(this.#host, filter)],
          ['a.verdict = ?', verdict],
          ['a.job_id = ?::text::uuid', job],
          ['a.contract_id = ?::text::uuid', contract],
        ],
        key: [['a.audit_id', 'uuid']],
      },
      filter,
    );
  }

  /** The last audit of a governance job. */
  async get(job: string, options: Reading = {}): Promise<Audit> {
    const [audit] = (await this.list({ ...options, job, limit: 1 })).items;
    if (!audit) throw new WritRefusal('audit_not_found', job);
    return audit;
  }

  async checks(job: string, options: Reading = {}): Promise<readonly AuditCheck[]> {
    return (await this.get(job, options)).checks_performed;
  }

  async evidence(job: string, options: Reading = {}): Promise<Audit['evidence']> {
    return (await this.get(job, options)).evidence;
  }

  /**
   * Decides the audit of a governance job that was inconclusive. For a person who neither proposed
   * nor approved the change.
   */
  async resolve(job: string, { verdict, reason, ...options }: In & Resolution) {
    if (!isUuid(job)) throw new WritRefusal('job_not_found', job);
    refuseSecrets(reason, 'the reason');
    const { status } = await actAs<{ status: GovernanceJobState }>(
      this.#host,
      'fn_audit_resolve($1, $2::text::uuid, $3, $4)',
      [job, verdict, reason],
      options,
    );
    if (status === 'COMPLETED') this.#host.waiters.hear([job]);
    return { job_id: job, audit_verdict: verdict, status };
  }
}
