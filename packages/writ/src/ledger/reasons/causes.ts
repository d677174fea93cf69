/** Why a governor is degraded or refusing: it leaves the state when no cause is left. */
import Type from '../typebox.js';
import { oneOf } from './fields.js';

/** Why it refuses to act. */
export const refusingCauses = [
  'action_not_in_policy',
  'quota_exceeded',
  'entitlement_not_active',
  'permission_denied',
  'policy_withdrawn',
  'target_service_not_found',
  'signal_action_mismatch',
  'bounds_exceeded',
  'would_exceed_budget',
] as const;

/**
 * Why it is in safe mode; the last three need a person. `entitlement`: it could not be looked up.
 */
export const degradedCauses = [
  'ledger',
  'iam',
  'policy',
  'slo',
  'entitlement',
  'bootstrap',
  'outage',
  'action_timeout',
  'rollback_failed',
  'nondeterminism',
  'crash',
] as const;

const set = <const Words extends string[]>(words: readonly [...Words], description: string) =>
  Type.Array(oneOf(words, 'A cause.'), { maxItems: 20, uniqueItems: true, description });

export const refusing = (description: string) => set(refusingCauses, description);
export const degraded = (description: string) => set(degradedCauses, description);
export const either = (description: string) =>
  set([...degradedCauses, ...refusingCauses], description);
