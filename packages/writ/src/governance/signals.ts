/** Governance signals: what somebody or something says about the health of a capability. */
import { readJson } from '../database/gate.js';
import { refuseSecrets } from '../secrets/redaction.js';
import { type ActingHost, type In, put } from './actor.js';

export interface NewGovernanceSignal {
  /** The capability that it is about. */
  readonly scope: string;
  /** BLOCKED: it is unhealthy; WARN: degraded; CLEAN and PENDING: neither. */
  readonly decision: 'CLEAN' | 'BLOCKED' | 'WARN' | 'PENDING';
  readonly reason: string;
  /** What kind of signal it is; MANUAL unless given. A new one takes the place of that of the same scope and type. */
  readonly type?: string;
  /** Until when it stands; until another takes its place unless given. */
  readonly until?: Date;
  readonly constraints?: Readonly<Record<string, unknown>>;
}

/** A signal, as the view `governance_signals` has it. */
export interface GovernanceSignal {
  readonly id: string;
  readonly tenant_id: string;
  readonly signal_type: string;
  readonly scope: string;
  readonly decision: 'CLEAN' | 'BLOCKED' | 'WARN' | 'PENDING' | 'EXECUTING';
  readonly reason: string;
  readonly constraints: Readonly<Record<string, unknown>> | null;
  readonly recorded_by: string;
  readonly recorded_at: string;
  readonly expires_at: string | null;
}

export class GovernanceSignals {
  readonly #host: ActingHost;

  constructor(host: ActingHost) {
    this.#host = host;
  }

  /** Records a signal and answers its id. */
  async record(
    { scope, decision, reason, type = 'MANUAL', until, constraints }: NewGovernanceSignal,
    options: In = {},
  ): Promise<string> {
    refuseSecrets(reason, 'the reason');
    const signal = {
      signal_type: type,
      scope,
      decision,
      reason,
      expires_at: until?.toISOString(),
      constraints,
    };
    return (await put<{ signal_id: string }>(this.#host, 'fn_signal_record', signal, options))
      .signal_id;
  }

  /** Those that stand, of a tenant or of all. */
  list({ tenant }: { readonly tenant?: string } = {}): Promise<GovernanceSignal[]> {
    return readJson<GovernanceSignal>(
      this.#host.db,
      `select id, tenant_id, signal_type, scope, decision, reason, constraints, recorded_by, recorded_at, expires_at from writ.governance_signals
       where stands and tenant_id = coalesce($1, tenant_id) order by tenant_id, scope, signal_type`,
      [tenant ?? null],
    );
  }
}
