/**
 * The governance policy of a tenant: how many approve what, which sources may propose, and how long
 * things may take.
 */
import { tenantOf } from '../database/acting.js';
import { gate } from '../database/gate.js';
import { type ActingHost, actAs, type In, type Reading, tenantRead } from './actor.js';

export interface PolicyDocument {
  /** How many persons, from 1 to 20, for each risk. */
  readonly approvals: Readonly<Record<'low' | 'medium' | 'high' | 'critical', number>>;
  readonly sources: readonly ('crm_feedback' | 'support_ticket' | 'ops_alert' | 'manual')[];
  /** For so long a contract of the same content waits (E-006). */
  readonly similar_within_sec: number;
  readonly review_days: number;
  readonly draft_days: number;
  readonly window_hours: number;
}

export interface PublishedPolicy {
  /** 0: what is built in. */
  readonly version: number;
  readonly document: PolicyDocument;
  readonly published_by: string | null;
  readonly published_at: string | null;
}

export class GovernancePolicy {
  readonly #host: ActingHost;

  constructor(host: ActingHost) {
    this.#host = host;
  }

  /**
   * Publishes the next version and answers its number; what it leaves out is as built in. What is
   * not approved yet is held to it from now on. With `version`, the newest that the caller knows
   * (0: the built-in one), another one refuses the call (`policy_moved`).
   */
  async publish(
    document: Partial<PolicyDocument>,
    { version, ...options }: In & { readonly version?: number } = {},
  ): Promise<number> {
    const tenant = tenantOf(this.#host, options) ?? 'default';
    const published = await actAs<{ version: number }>(
      this.#host,
      'fn_governance_policy_publish($1, $2::text::jsonb, $3, $4::text::integer)',
      [JSON.stringify(document), tenant, version === undefined ? null : String(version)],
      options,
    );
    return published.version;
  }

  /** What is in force, or a version before. */
  get({
    version,
    ...options
  }: Reading & { readonly version?: number | undefined } = {}): Promise<PublishedPolicy> {
    return gate<PublishedPolicy>(this.#host.db, 'fn_governance_policy($1, $2::text::integer)', [
      tenantRead(this.#host, options) ?? 'default',
      version === undefined ? null : String(version),
    ]);
  }
}
