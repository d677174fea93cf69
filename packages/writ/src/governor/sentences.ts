/** Receipts of governors in sentences. Text of senders and services is made harmless. */
import { plain, plural, span } from '../errors/words.js';
import type { actions } from '../ledger/reasons/actions.js';
import type { health } from '../ledger/reasons/health.js';
import type { Commitment, ContextOf, ReasonName } from '../ledger/reasons/index.js';
import type { refusals } from '../ledger/reasons/refusals.js';
import type { signals } from '../ledger/reasons/signals.js';
import type { stateChanges } from '../ledger/reasons/states.js';
import type { Receipt } from '../ledger/receipt.js';
import { causeWords } from './causes.js';

type GovernorReason = keyof (typeof actions &
  typeof health &
  typeof refusals &
  typeof signals &
  typeof stateChanges) &
  ReasonName;

const said = (words: string | Commitment | undefined, before = ': '): string =>
  words === undefined ? '' : `${before}${typeof words === 'string' ? words : '(erasable)'}`;
const short = (id: string): string => (/^[0-9a-f]{8}-/.test(id) ? id.slice(0, 8) : id);
const nth = (attempt: number | undefined): string =>
  attempt === undefined ? '' : `, attempt ${attempt}`;
const answered = (code: number | undefined): string =>
  code === undefined ? '' : `, the service answered ${code}`;
const causes = (all: readonly string[] | undefined): string =>
  all && all.length > 0 ? `: ${all.map(causeWords).join('; ')}` : '';
const spaced = (code: string): string => code.replaceAll('_', ' ');
const parameters = (all: Readonly<Record<string, unknown>> | undefined): string =>
  all && Object.keys(all).length > 0
    ? ` with ${Object.entries(all)
        .map(
          ([name, value]) => `${name}=${typeof value === 'object' ? '(erasable)' : String(value)}`,
        )
        .join(', ')}`
    : '';

const sentences: { readonly [Name in GovernorReason]: (context: ContextOf<Name>) => string } = {
  boot_start: ({ process_id }) => `begins, driven by ${process_id}`,
  state_transition: ({ from_state, to_state, event, duration_ms, causes: why }) =>
    `${from_state} → ${to_state} by ${spaced(event)}, after ${span(duration_ms)}${causes(why)}`,
  bootstrap_timeout: ({ timeout_ms, causes: why }) =>
    `was not ready within ${span(timeout_ms)}${causes(why)}`,
  recovery_timeout: ({ timeout_ms, causes: why }) =>
    `did not recover within ${span(timeout_ms)}, and begins anew${causes(why)}`,
  entitlement_verified: ({
    entitlement_status,
    entitlement_expires,
    quota_remaining,
    quota_limit,
  }) =>
    `the entitlement is ${entitlement_status}${entitlement_expires === undefined ? '' : ` until ${entitlement_expires}`}; ${
      quota_limit === null
        ? 'actions without limit'
        : `${quota_remaining} of ${plural(quota_limit, 'action')} left this month`
    }`,
  signal_received: ({ signal_type, value, threshold, exceeds_threshold, severity, source }) =>
    `${signal_type}${value === undefined ? '' : ` ${value}`}${
      threshold === undefined
        ? ', which the policy does not watch'
        : ` is ${exceeds_threshold ? 'past' : 'within'} ${threshold}`
    } (${severity}, ${source})`,
  threshold_exceeded: ({ signal_type, current_value, threshold, remediation_action }) =>
    `${signal_type} ${current_value} is past ${threshold}: ${remediation_action === undefined ? 'no action asked for now' : `${remediation_action} is asked for`}`,
  signal_cleared: ({ signal_type, current_value, still_over }) =>
    `${signal_type}${current_value === undefined ? '' : ` ${current_value}`} is well again${still_over > 0 ? `; ${plural(still_over, 'other')} not yet` : ''}`,
  baseline_restored: ({ action_id, duration_ms }) =>
    `everything is well again${action_id === undefined ? '' : `, by action ${short(action_id)}`}, after ${span(duration_ms)}`,
  signal_storm_detected: ({ rate, limit, window_seconds, buffered }) =>
    `a storm: ${rate} signals in ${window_seconds} s, ${limit} are taken in; ${buffered} wait`,
  signal_dropped: ({ dropped, capacity }) =>
    `${plural(dropped, 'signal')} dropped, the oldest first: more than ${capacity} would wait`,
  event_failed: ({ event, crashes, window_seconds, error_message }) =>
    `set aside after ${plural(crashes, 'crash', 'crashes')} within ${window_seconds} s: ${spaced(event)}${said(error_message)}`,
  action_attempted: ({
    action_type,
    target,
    attempt,
    parameters: given,
    replicas_delta,
    initiated_by,
    action_timeout_ms,
  }) =>
    `${action_type} of ${target}${parameters({ ...(replicas_delta !== undefined && { replicas_delta }), ...given })}${nth(attempt)}, within ${span(action_timeout_ms)}${said(initiated_by, ', asked for by ')}`,
  action_acknowledged: ({ action_type, reference, completion_timeout_ms }) =>
    `${action_type} was taken on${reference === undefined ? '' : ` as ${reference}`}; its end is awaited for ${span(completion_timeout_ms)}`,
  action_succeeded: ({
    action_type,
    duration_ms,
    baseline,
    baseline_restored,
    previous_replicas,
    new_replicas,
  }) =>
    `${action_type} is done in ${span(duration_ms)}${previous_replicas === undefined || new_replicas === undefined ? '' : `, ${previous_replicas} → ${new_replicas} replicas`}; what was observed is ${
      baseline_restored
        ? 'well again'
        : baseline === 'not_restored'
          ? 'not well yet'
          : 'still to be seen'
    }`,
  action_failed: ({ action_type, attempt, failure_reason, service_response_code, error_message }) =>
    `${action_type} failed${nth(attempt)}: ${spaced(failure_reason)}${answered(service_response_code)}${said(error_message)}`,
  retry_countdown: ({ action_type, retry_countdown }) =>
    retry_countdown > 0
      ? `${action_type} is tried again, ${plural(retry_countdown, 'attempt')} left`
      : `${action_type} is given up`,
  action_timeout: ({ action_type, action_timeout_ms, attempt }) =>
    `${action_type} was not done within ${span(action_timeout_ms)}${nth(attempt)}`,
  concurrency_limited: ({ action_type, in_flight_action_id, queue_length }) =>
    `${action_type} waits for action ${short(in_flight_action_id)}${queue_length > 1 ? `, behind ${plural(queue_length - 1, 'other')}` : ''}`,
  late_result: ({ action_type, result, late_by_ms, error_message }) =>
    `${action_type} ${result}, ${span(late_by_ms)} after it was given up${said(error_message)}`,
  action_rollback_issued: ({ original_action_id, rollback_reason, action_type }) =>
    `undoing action ${short(original_action_id)}${action_type === undefined ? '' : ` by ${action_type}`}: ${spaced(rollback_reason)}`,
  action_rollback_failed: ({
    original_action_id,
    failure_reason,
    service_response_code,
    error_message,
  }) =>
    `action ${short(original_action_id)} could not be undone: ${spaced(failure_reason)}${answered(service_response_code)}${said(error_message)}`,
  permission_denied: ({ action_type, required_permission, principal, permission_for }) =>
    `${action_type} is refused: ${typeof principal === 'string' ? principal : 'its principal'} has no ${required_permission}${permission_for === 'inverse' ? ', which undoing it needs' : ''}`,
  policy_violation: ({ reason, action_type, signal_type }) =>
    `${action_type ?? signal_type ?? 'what was asked for'} is refused: ${causeWords(reason)}`,
  invariant_violation: ({ invariant_name, reason }) =>
    `refused: ${reason === undefined ? invariant_name : causeWords(reason)}`,
  policy_updated: ({ policy_id, previous_policy_version, current_policy_version, actor }) =>
    current_policy_version === null
      ? `policy ${policy_id} v${previous_policy_version} withdrawn${said(actor, ' by ')}`
      : `policy ${policy_id} ${previous_policy_version === null ? '' : `v${previous_policy_version} → `}v${current_policy_version}${said(actor, ', published by ')}`,
  violations_cleared: ({ cleared, cleared_by }) =>
    `refuses no more, by ${cleared_by}${cleared.length > 0 ? `; it was: ${cleared.map(causeWords).join('; ')}` : ''}`,
  health_check_failed: ({ component, failure_type, error_message, retry_interval_seconds }) =>
    `${spaced(component)}: ${spaced(failure_type)}${said(error_message)}${retry_interval_seconds === undefined ? '' : `; looks again in ${retry_interval_seconds} s`}`,
  health_check_passed: ({ cleared, down_ms }) =>
    `everything is there again${down_ms === undefined ? '' : `, after ${span(down_ms)}`}${cleared && cleared.length > 0 ? `; it was: ${cleared.map(causeWords).join('; ')}` : ''}`,
  nondeterminism_detected: ({ receipt_id }) =>
    `decided in two ways, so nothing of it was done: receipt ${receipt_id}`,
};

/** The sentence of a governor's receipt. */
export function sentenceOf({ reason, context }: Receipt): string {
  const sentence = (sentences as Partial<Record<string, (context: never) => string>>)[reason];
  return plain(sentence ? sentence(context as never) : reason);
}
