/** Governance signals: what somebody or something says about the health of a capability. */
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { refuseSecrets } from '../secrets/redaction.js';
import { type ActingHost, type In, put, type Reading, tenantRead } from './actor.js';
import { nameOf } from './steps.js';

export interface NewGovernanceSignal {
  /** The capability that it is about. */
  readonly scope: string;
  /** BLOCKED: it is unhealthy; WARN: degraded; CLEAN and PENDING: neither. */
  readonly decision: 'CLEAN' | 'BLOCKED' | 'WARN' | 'PENDING';
  readonly reason: string;
  /**
   * What kind of signal it is; MANUAL unless given. A new one takes the place of that of the same
   * scope and type.
   */
  readonly type?: string | undefined;
  /** Until when it stands; until another takes its place unless given. */
  readonly until?: Date | undefined;
  readonly constraints?: Readonly<Record<string, unknown>> | undefined;
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
  readonly superseded_by: string | null;
  readonly superseded_at: string | null;
  /** Not superseded, and not expired. */
  readonly stands: boolean;
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
      signal_type: nameOf(type),
      scope: nameOf(scope),
      decision,
      reason,
      expires_at: until?.toISOString(),
      constraints,
    };
    return (await put<{ signal_id: string }>(this.#host, 'fn_signal_record', signal, options))
      .signal_id;
  }

  /** Those that stand, by tenant, scope and type; with `all`, every one, the newest first. */
  list(
    filter: Reading &
      PageOptions & {
        readonly scope?: string | undefined;
        readonly all?: boolean | undefined;
      } = {},
  ): Promise<Page<GovernanceSignal>> {
    const { all, scope } = filter;
    return readPage<GovernanceSignal>(
      this.#host.db,
      {
        columns: 'g.*',
        from: 'writ.governance_signals g',
        where: [
          ...(all ? [] : [['g.stands', null] as const]),
          ['g.tenant_id = ?', tenantRead(this.#host, filter)],
          ['g.scope = ?', scope],
        ],
        key: all
          ? [['g.id', 'uuid']]
          : [
              ['g.tenant_id', 'text'],
              ['g.scope', 'text'],
              ['g.signal_type', 'text'],
            ],
        order: all ? 'desc' : 'asc',
      },
      filter,
    );
  }
}
