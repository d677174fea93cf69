/**
 * What has to hold before an action is attempted, in the order in which it is asked, and the
 * attempts themselves.
 */
import type { InFlight } from '../decision.js';
import type { Act, ActAnswers, Permission } from '../events.js';
import { jobId } from '../ids.js';
import type {
  ActionRule,
  Doing,
  GovernorPolicy,
  ParameterBounds,
  Parameters,
} from '../policy-document.js';
import { answer } from './levels.js';
import { addCause, degrade, forgetBaseline, isActive, move, refuse, usedOf } from './moves.js';
import { failureOf, healthCheckFailed, policyViolation, type RefusingCause } from './refusals.js';
import {
  type ContentOf,
  change,
  documentOf,
  given,
  monthOf,
  needed,
  own,
  start,
  type Turn,
  write,
} from './turn.js';

/**
 * Why an action is not attempted: a rule, a permission that is not there, or nobody who could say.
 */
export type Denial =
  | { readonly cause: RefusingCause }
  | { readonly denied: 'action' | 'inverse'; readonly policy_set_hash?: string }
  | { readonly unreachable: string };

/** stable, warning: act. */
export function act(turn: Turn, wish: ContentOf<'act'>) {
  const policy = documentOf(turn);
  if (!policy) return withoutPolicy(turn);
  const shadow = turn.data.policy?.shadow === true;
  if (!isActive(turn))
    return deny(turn, wish.action_type, { cause: 'entitlement_not_active' }, shadow);
  if (turn.data.in_flight) return wait(turn, wish);
  const rule = own(policy.actions, wish.action_type);
  if (!rule) return deny(turn, wish.action_type, { cause: 'action_not_in_policy' }, shadow);
  const answers = needed(turn.event.answers?.act, 'what is asked before an action');
  const denial =
    againstRule(turn, policy, rule, wish, answers) ??
    againstPermission(answers) ??
    againstQuota(turn, answers);
  if (shadow || !denial) answer(turn, wish.signal_type);
  if (denial) return deny(turn, wish.action_type, denial, shadow);
  if (shadow) return attempted(turn, rule, begun(turn, rule, wish));
  take(turn, rule, wish, answers);
}

function againstRule(
  turn: Turn,
  policy: GovernorPolicy,
  rule: ActionRule,
  wish: Act,
  { known }: ActAnswers,
): Denial | undefined {
  if (!known) return { cause: 'target_service_not_found' };
  if (
    wish.signal_type !== undefined &&
    own(policy.when, wish.signal_type)?.action !== wish.action_type
  )
    return { cause: 'signal_action_mismatch' };
  if (outOfBounds(rule, wish.parameters).length > 0) return { cause: 'bounds_exceeded' };
  return fitsBudget(turn, policy, rule) ? undefined : { cause: 'would_exceed_budget' };
}

/** Of the action itself, and of its inverse: what cannot be undone is not done. */
export function againstPermission({ action, inverse }: ActAnswers): Denial | undefined {
  return denialOf('action', action) ?? denialOf('inverse', inverse);
}

function denialOf(denied: 'action' | 'inverse', answer: Permission): Denial | undefined {
  if ('unreachable' in answer) return { unreachable: answer.unreachable };
  return answer.allowed ? undefined : { denied, policy_set_hash: answer.policy_set_hash };
}

function againstQuota(turn: Turn, { quota }: ActAnswers): Denial | undefined {
  const limit =
    quota.limit === undefined ? (turn.data.entitlement?.quota_limit ?? null) : quota.limit;
  return limit !== null && usedOf(turn, quota) >= limit ? { cause: 'quota_exceeded' } : undefined;
}

/** Those of the parameters that the policy does not allow so. */
export function outOfBounds({ bounds, parameters }: ActionRule, asked: Parameters): string[] {
  return Object.keys(asked).filter((name) => {
    const bound = own(bounds, name);
    const value = asked[name] as Parameters[string];
    return bound ? !isWithin(bound, value) : own(parameters, name) !== value;
  });
}

const isWithin = (bound: ParameterBounds, value: string | number | boolean): boolean =>
  'in' in bound
    ? bound.in.includes(value)
    : typeof value === 'number' && value >= bound.min && value <= bound.max;

/** What was spent in another month does not count. */
const spentOf = ({ data: { spent }, at }: Turn): number =>
  spent?.month === monthOf(at) ? spent.cost : 0;

export const fitsBudget = (turn: Turn, { budget }: GovernorPolicy, { cost }: ActionRule): boolean =>
  budget === null || spentOf(turn) + cost <= budget;

/** stable, warning: act, IAM or policy unreachable. */
function withoutPolicy(turn: Turn) {
  addCause(turn, 'policy');
  healthCheckFailed(turn, 'error', { failure: failureOf('policy') });
  move(turn, 'degraded');
}

/** stable, warning: act, denied. A shadow says so and stays where it is. */
function deny(turn: Turn, action_type: string, denial: Denial, shadow: boolean) {
  if ('unreachable' in denial) {
    const failure = failureOf('iam', denial.unreachable);
    if (!shadow) addCause(turn, 'iam');
    healthCheckFailed(turn, 'error', { failure });
    if (!shadow) degrade(turn, 'iam');
    return;
  }
  const cause = writeDenial(turn, action_type, denial);
  if (!shadow) refuse(turn, cause, action_type);
}

/** The receipt of a denial, and the cause that it leaves. */
export function writeDenial(
  turn: Turn,
  action_type: string,
  denial: Exclude<Denial, { unreachable: string }>,
): RefusingCause {
  if ('cause' in denial) {
    policyViolation(turn, denial.cause, { action_type });
    return denial.cause;
  }
  const policy = documentOf(turn) as GovernorPolicy;
  const rule = own(policy.actions, action_type) as ActionRule;
  write(turn, 'permission_denied', 'refuse', {
    action_type,
    required_permission: denial.denied === 'inverse' ? rule.inverse.permission : rule.permission,
    principal: policy.principal,
    has_permission: false,
    policy_id: policy.policy_id,
    permission_for: denial.denied,
    ...given({ policy_set_hash: denial.policy_set_hash }),
  });
  return 'permission_denied';
}

/** stable, warning: act, slot held. intervening: act. */
export function wait(turn: Turn, { kind: _, ...wish }: ContentOf<'act'>) {
  const queue = [...turn.data.queue, wish];
  change(turn, { queue });
  const { action_type, action_id } = wish;
  const in_flight_action_id = (turn.data.in_flight as InFlight).action_id;
  write(turn, 'concurrency_limited', 'accept', {
    action_type,
    action_id,
    in_flight_action_id,
    queue_length: queue.length,
  });
}

/** boot, refusing: act. */
export function whenRefused(turn: Turn, { action_type }: ContentOf<'act'>) {
  const cause = turn.data.refusals[0]?.cause ?? 'entitlement_not_active';
  policyViolation(turn, cause as RefusingCause, { action_type });
}

/** degraded: act. */
export function whenDegraded(turn: Turn) {
  healthCheckFailed(turn, 'refuse');
}

/** stable, warning: act, checks pass. */
function take(turn: Turn, rule: ActionRule, wish: Act, { quota }: ActAnswers) {
  const month = monthOf(turn.clock);
  forgetBaseline(turn);
  change(turn, {
    quota: { month, used: usedOf(turn, quota) + 1 },
    spent: { month: monthOf(turn.at), cost: spentOf(turn) + rule.cost },
  });
  turn.effects.push({ type: 'quota', month, limit: turn.data.entitlement?.quota_limit ?? null });
  send(turn, rule, begun(turn, rule, wish));
  move(turn, 'intervening');
}

function begun(turn: Turn, rule: ActionRule, wish: Act): InFlight {
  const { action_id, action_type, parameters, signal_type, signal_id, initiated_by } = wish;
  return {
    kind: 'action',
    action_id,
    action_type,
    parameters: { ...rule.parameters, ...parameters },
    target: rule.target,
    attempt: 1,
    began_at: turn.at,
    sent_at: turn.at,
    ...given({ signal_type, signal_id, initiated_by }),
    inverse: rule.inverse,
    completion_timeout_ms: rule.completion_timeout_ms,
  };
}

/** One more attempt at what is in flight. */
export function retry(
  turn: Turn,
  rule: ActionRule,
  { acknowledged: _, reference: __, ...action }: InFlight,
) {
  const earlier = [
    ...(action.earlier ?? []),
    ...(action.job_id === undefined ? [] : [action.job_id]),
  ];
  send(turn, rule, { ...action, earlier, attempt: action.attempt + 1, sent_at: turn.at });
}

/** One job that is tried once, and the time it has. */
function send(turn: Turn, rule: ActionRule, action: InFlight) {
  const { action_id, attempt, parameters, target, signal_id, signal_type, initiated_by } = action;
  const { action_ms } = turn.data.bounds;
  const sent = { ...action, job_id: jobId(action_id, attempt, turn.ids_at) };
  const { action_type, actuator, service, permission } = rule;
  const doing: Doing = { action_type, actuator, service, target, permission, parameters };
  turn.effects.push({
    ...{
      type: 'attempt',
      kind: 'action',
      action_id,
      attempt,
      job_id: sent.job_id,
      doing,
      due_at: turn.clock + action_ms,
    },
    ...given({
      completion_timeout_ms: actuator.kind === 'contract' ? rule.completion_timeout_ms : undefined,
    }),
    ...given({ signal_id, signal_type, initiated_by }),
  });
  change(turn, { in_flight: sent });
  start(turn, 'state', action_ms);
  attempted(turn, rule, sent);
}

function attempted(turn: Turn, { service }: ActionRule, action: InFlight) {
  const { action_id, action_type, attempt, target, signal_id, initiated_by, job_id } = action;
  const { replicas_delta, ...parameters } = action.parameters;
  const isDelta = Number.isSafeInteger(replicas_delta);
  write(turn, 'action_attempted', 'accept', {
    action_id,
    action_type,
    attempt,
    action_timeout_ms: turn.data.bounds.action_ms,
    service,
    target,
    ...(isDelta && { replicas_delta: replicas_delta as number }),
    parameters: isDelta ? parameters : action.parameters,
    ...given({ policy_id: documentOf(turn)?.policy_id, signal_id, initiated_by, job_id }),
  });
}
