/**
 * How it is said that something is refused or not there. A receipt that answers a signal settles
 * it.
 */
import type { ContextOf } from '../../ledger/reasons/index.js';
import type { ReceiptDraft } from '../decision.js';
import type { Failure } from '../events.js';
import { backOff, isActive } from './moves.js';
import { documentOf, given, moment, said, seconds, type Turn, write } from './turn.js';

export type RefusingCause = ContextOf<'policy_violation'>['reason'];
type DegradedCause = NonNullable<ContextOf<'health_check_failed'>['causes']>[number];
type About = Pick<ReceiptDraft, 'settles' | 'about'>;

export function policyViolation(
  turn: Turn,
  reason: RefusingCause,
  of: { readonly action_type?: string; readonly signal_type?: string } = {},
  about: About = {},
) {
  const { action_type, signal_type } = of;
  const policy_id = documentOf(turn)?.policy_id;
  write(
    turn,
    'policy_violation',
    'refuse',
    {
      reason,
      ...given({
        action_type,
        signal_type,
        policy_id,
        current_policy_version: turn.data.policy?.version,
      }),
    },
    about,
  );
}

/** A signal came, and the entitlement is not active. */
export function entitlementViolation(turn: Turn, arrival_seq: number) {
  write(
    turn,
    'invariant_violation',
    'refuse',
    {
      invariant_id: 'entitlement_active_required',
      invariant_name: 'Entitlement Active Required',
      check_result: false,
      impact: 'refuse_all_actions',
      remediation: 'Renew the entitlement, or tell the catalog that it is active.',
      reason: 'entitlement_not_active',
    },
    { settles: arrival_seq },
  );
}

type Missing = Omit<Failure, 'cause'>;

/** What it is that is missing, by the cause that it has left behind. */
const missing: Readonly<Record<string, Missing>> = {
  ledger: { component: 'ledger', failure_type: 'unavailable' },
  iam: { component: 'iam', failure_type: 'unreachable' },
  policy: { component: 'policy_cache', failure_type: 'policy_load_failed' },
  slo: { component: 'slo', failure_type: 'breached' },
  entitlement: { component: 'entitlement', failure_type: 'read_error' },
  bootstrap: { component: 'bootstrap', failure_type: 'timeout' },
  outage: { component: 'database', failure_type: 'unreachable' },
  action_timeout: { component: 'actuator', failure_type: 'timeout' },
  rollback_failed: { component: 'actuator', failure_type: 'rollback_failed' },
  nondeterminism: { component: 'governor', failure_type: 'nondeterminism' },
  crash: { component: 'governor', failure_type: 'crash' },
};

/** What is missing by what is known, for who asks while it is. */
function stillMissing(turn: Turn): Missing {
  const inactive = isActive(turn)
    ? undefined
    : { component: 'entitlement', failure_type: 'entitlement_not_active' };
  return (
    missing[turn.data.causes[0] ?? ''] ??
    inactive ?? { component: 'governor', failure_type: 'not_checked_yet' }
  );
}

/** After the cause was added: the receipt names every cause that stands. */
export function healthCheckFailed(
  turn: Turn,
  status: 'error' | 'refuse',
  of: {
    readonly failure?: Missing;
    readonly failures?: number;
    readonly outage?: { readonly from: number; readonly to: number };
  } = {},
  about: About = {},
) {
  const { failure, failures, outage } = of;
  const { component, failure_type } = failure ?? stillMissing(turn);
  write(
    turn,
    'health_check_failed',
    status,
    {
      component,
      failure_type,
      ...given({ error_message: said(failure?.message) }),
      recovery_action: turn.state === 'degraded' ? 'stay_in_safe_mode' : 'degrade_to_safe_mode',
      retry_interval_seconds: seconds(backOff(turn)),
      ...given({ failures }),
      causes: turn.data.causes as DegradedCause[],
      ...given({
        outage_from: outage && moment(outage.from),
        outage_to: outage && moment(outage.to),
      }),
    },
    about,
  );
}

/** A failure that nobody but the governor itself has noticed. */
export const failureOf = (cause: Failure['cause'] | 'outage', message?: string): Missing => ({
  ...(missing[cause] as Missing),
  ...given({ message }),
});
