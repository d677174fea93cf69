/**
 * What has to be known before an event can be decided, and is not in it: asked outside any
 * transaction, each question with its time, and recorded with the event.
 */
import type { Content } from './events.js';
import type { MachineState } from './machine.js';
import type { ActionRule } from './policy-document.js';

export type Question =
  /** Is everything there that it needs? */
  | { readonly kind: 'check' }
  /** May this action be done, and undone? Null: the policy does not have it. */
  | { readonly kind: 'act'; readonly principal: string; readonly rule: ActionRule | null }
  /** Does what made it refuse still stand? */
  | { readonly kind: 'recheck'; readonly principal: string; readonly rule: ActionRule | null }
  /** How many signals has its tenant sent? */
  | { readonly kind: 'recent' };

/** Undefined: nothing has to be asked. */
export function questionOf({ state, data }: MachineState, content: Content): Question | undefined {
  if (!data) return undefined;
  const kind = content.kind === 'timer' ? content.timer : content.kind;
  const ruleOf = (type: string | undefined, policy = data.policy): ActionRule | null => {
    const actions = policy?.document.actions ?? {};
    return type !== undefined && Object.hasOwn(actions, type) ? (actions[type] ?? null) : null;
  };
  const principal = data.policy?.document.principal ?? '';
  if (kind === 'storm') return { kind: 'recent' };
  if (kind === 'verify' || kind === 'check') return { kind: 'check' };
  if (state === 'boot' && ['entitlement', 'policy', 'operator_ack'].includes(kind))
    return { kind: 'check' };
  if (content.kind === 'act' && (state === 'stable' || state === 'warning') && !data.in_flight)
    return { kind: 'act', principal, rule: ruleOf(content.action_type) };
  if (
    content.kind === 'result' &&
    !content.ok &&
    data.in_flight?.kind === 'action' &&
    data.in_flight.action_id === content.action_id
  )
    return data.in_flight.attempt === content.attempt && content.attempt < data.bounds.attempts
      ? { kind: 'act', principal, rule: ruleOf(data.in_flight.action_type) }
      : undefined;
  if (state === 'refusing' && ['recheck', 'policy', 'entitlement', 'quota'].includes(kind)) {
    const denied = data.refusals.find(
      ({ cause }) => cause === 'permission_denied' || cause === 'target_service_not_found',
    );
    // A policy that is being published decides whom to ask and what for.
    const policy = content.kind === 'policy' ? content.policy : data.policy;
    return {
      kind: 'recheck',
      principal: policy?.document.principal ?? '',
      rule: ruleOf(denied?.action_type, policy),
    };
  }
  return undefined;
}
