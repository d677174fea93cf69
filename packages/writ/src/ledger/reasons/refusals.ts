/** What a governor refuses to do, and what ends that. */
import Type from '../typebox.js';
import { refusing, refusingCauses } from './causes.js';
import { code, hash, integer, oneOf, prose, text } from './fields.js';
import { aside, verdict } from './reason.js';

const no = (description: string) => Type.Literal(false, { description });

export const refusals = {
  permission_denied: aside({
    when: 'The principal may not do the action, or may not undo it.',
    statuses: ['refuse'],
    context: {
      action_type: code('The type of the action.'),
      required_permission: text('The permission that it needs.'),
      principal: prose('Who would act.'),
      has_permission: no('The answer.'),
      policy_id: Type.Optional(text('The governor policy that asks for the action.')),
      permission_for: Type.Optional(
        oneOf(['action', 'inverse'], 'Which of the two is not allowed.'),
      ),
      policy_set_hash: Type.Optional(hash('The authorization policies that gave the answer.')),
    },
    example: {
      action_type: 'scale_up_cloud_run',
      required_permission: 'run.services.update',
      principal: 'governor@acme.example',
      has_permission: false,
      policy_id: 'policy-scale-up-on-cpu-gt-75',
    },
  }),
  policy_violation: verdict({
    when: 'An action is not allowed as it is, or a signal came while its governor refuses to act.',
    statuses: ['refuse'],
    context: {
      reason: oneOf(refusingCauses, 'Which rule.'),
      action_type: Type.Optional(code('The type of the action.')),
      signal_type: Type.Optional(code('The type of the signal.')),
      policy_id: Type.Optional(text('The governor policy.')),
      current_policy_version: Type.Optional(integer('Its version.', 1)),
    },
    example: {
      action_type: 'scale_up_cloud_run',
      reason: 'quota_exceeded',
      policy_id: 'policy-id',
      current_policy_version: 5,
    },
  }),
  invariant_violation: verdict({
    when: 'Something that has to hold at all times does not, such as an active entitlement when a signal comes.',
    statuses: ['refuse', 'error'],
    context: {
      invariant_id: code('The invariant.'),
      invariant_name: text('Its name.'),
      check_result: no('What the check said.'),
      impact: code('What follows.'),
      remediation: prose('What to do.'),
      reason: Type.Optional(code('Why it does not hold.')),
    },
    example: {
      invariant_id: 'entitlement_active_required',
      invariant_name: 'Entitlement Active Required',
      check_result: false,
      impact: 'refuse_all_actions',
      remediation: 'verify entitlement status with catalog',
      reason: 'entitlement_not_active',
    },
  }),
  policy_updated: aside({
    when: 'A version of the governor policy was published, or the policy was withdrawn.',
    statuses: ['accept'],
    context: {
      policy_id: text('The policy.'),
      previous_policy_version: Type.Union([integer('A version.', 1), Type.Null()], {
        description: 'The version before; null: none.',
      }),
      current_policy_version: Type.Union([integer('A version.', 1), Type.Null()], {
        description: 'The version from now on; null: it was withdrawn.',
      }),
      policy_hash: Type.Optional(hash('SHA-256 of its canonical JSON.')),
      actor: Type.Optional(prose('Who published or withdrew it.')),
    },
    example: {
      policy_id: 'error-budget',
      previous_policy_version: 4,
      current_policy_version: 5,
      actor: 'alice@acme.example',
    },
  }),
  violations_cleared: aside({
    when: 'Nothing is left that made the governor refuse.',
    statuses: ['accept'],
    context: {
      cleared: refusing('What had been the causes.'),
      cleared_by: oneOf(
        ['policy', 'entitlement', 'quota', 'recheck'],
        'What ended the last of them.',
      ),
    },
    example: { cleared: ['quota_exceeded'], cleared_by: 'quota' },
  }),
};
