/** What becomes of actions. */
import Type from '../typebox.js';
import { boolean, code, difference, integer, labels, oneOf, prose, text, uuid } from './fields.js';
import { aside } from './reason.js';

const action = {
  action_id: text('The action.'),
  action_type: code('Its type, as the governor policy names it.'),
};
const attempt = Type.Optional(integer('Which attempt at it, from 1.', 1));
const retries = {
  retry_countdown: integer('Attempts that are left.'),
  max_retries: integer('Attempts in all.', 1),
};
const failureReason = oneOf(
  ['timeout', 'service_error', 'permission_denied', 'unreachable', 'handler_error', 'rejected'],
  'What kind of failure.',
);
const responseCode = Type.Optional(
  Type.Integer({
    minimum: 100,
    maximum: 599,
    description: 'The HTTP status that the service answered with.',
  }),
);
const errorMessage = Type.Optional(prose('What the service or the handler said.'));

export const actions = {
  action_attempted: aside({
    when: 'An attempt at an action was handed over, after every check had passed.',
    statuses: ['accept'],
    context: {
      ...action,
      attempt,
      action_timeout_ms: integer('How long it may take.', 1),
      service: text('What carries it out.'),
      target: text('What it is done to.', 1_000),
      replicas_delta: Type.Optional(difference('By how many replicas it scales.')),
      parameters: Type.Optional(labels('What else it was given.')),
      policy_id: Type.Optional(text('The governor policy that asks for it.')),
      signal_id: Type.Optional(text('The signal that it answers.')),
      initiated_by: Type.Optional(prose('Who asked for it, if the policy did not.')),
      idempotency_key: Type.Optional(text('What the service recognises a repetition by.')),
      job_id: Type.Optional(uuid('The job that carries it out.')),
    },
    example: {
      action_id: 'a2f1c9d0-58c6-4a53-8b87-0b0e9ad4c1f2',
      action_type: 'scale_up_cloud_run',
      attempt: 1,
      action_timeout_ms: 500,
      service: 'cloud_run_api',
      target: 'production-catalog-service',
      replicas_delta: 3,
      parameters: { region: 'europe-west1', gradual: true },
    },
  }),
  action_acknowledged: aside({
    when: 'What carries the action out has taken it on; its completion is awaited for longer.',
    statuses: ['accept'],
    context: {
      ...action,
      attempt,
      duration_ms: integer('Time until the acknowledgement.'),
      completion_timeout_ms: integer('How long the completion is awaited.', 1),
      reference: Type.Optional(text('What it is known by there, a contract for instance.')),
    },
    example: {
      action_id: 'a2f1c9d0-58c6-4a53-8b87-0b0e9ad4c1f2',
      action_type: 'disable_checkout',
      duration_ms: 85,
      completion_timeout_ms: 900_000,
      reference: 'contract-17',
    },
  }),
  action_succeeded: aside({
    when: 'An action was completed.',
    statuses: ['accept'],
    context: {
      ...action,
      attempt,
      duration_ms: integer('Time it took.'),
      previous_replicas: Type.Optional(integer('Replicas before.')),
      new_replicas: Type.Optional(integer('Replicas after.')),
      result: Type.Optional(labels('What else it changed.')),
      service_response_code: responseCode,
      baseline_restored: boolean('Whether what was observed is known to be as it should be again.'),
      baseline: Type.Optional(
        oneOf(['restored', 'not_restored', 'unknown'], 'What the probe of the policy said.'),
      ),
    },
    example: {
      action_id: 'a2f1c9d0-58c6-4a53-8b87-0b0e9ad4c1f2',
      action_type: 'scale_up_cloud_run',
      duration_ms: 234,
      previous_replicas: 5,
      new_replicas: 8,
      service_response_code: 200,
      baseline_restored: true,
      baseline: 'restored',
    },
  }),
  action_failed: aside({
    when: 'An attempt at an action failed.',
    statuses: ['error'],
    context: {
      ...action,
      attempt,
      failure_reason: failureReason,
      service_response_code: responseCode,
      error_message: errorMessage,
      ...retries,
    },
    example: {
      action_id: 'a2f1c9d0-58c6-4a53-8b87-0b0e9ad4c1f2',
      action_type: 'scale_up_cloud_run',
      failure_reason: 'service_error',
      service_response_code: 500,
      error_message: 'The service answered 500: INTERNAL_ERROR',
      retry_countdown: 2,
      max_retries: 3,
    },
  }),
  retry_countdown: aside({
    when: 'An attempt failed, and so many are left; with status error, none.',
    statuses: ['accept', 'error'],
    context: { ...action, ...retries },
    example: {
      action_id: 'a2f1c9d0-58c6-4a53-8b87-0b0e9ad4c1f2',
      action_type: 'scale_up_cloud_run',
      retry_countdown: 2,
      max_retries: 3,
    },
  }),
  action_timeout: aside({
    when: 'An action was not completed in time, and is undone.',
    statuses: ['error'],
    context: {
      ...action,
      attempt,
      action_timeout_ms: integer('How long it was given.', 1),
      elapsed_ms: integer('How long it has been.'),
    },
    example: {
      action_id: 'a2f1c9d0-58c6-4a53-8b87-0b0e9ad4c1f2',
      action_type: 'scale_up_cloud_run',
      attempt: 1,
      action_timeout_ms: 500,
      elapsed_ms: 503,
    },
  }),
  concurrency_limited: aside({
    when: 'An action has to wait for the one in flight.',
    statuses: ['accept'],
    context: {
      action_type: action.action_type,
      action_id: Type.Optional(text('The action that waits.')),
      in_flight_action_id: text('The one in flight.'),
      queue_length: integer('How many wait, this one included.', 1),
    },
    example: {
      action_type: 'scale_up_cloud_run',
      in_flight_action_id: 'a2f1c9d0-58c6-4a53-8b87-0b0e9ad4c1f2',
      queue_length: 1,
    },
  }),
  late_result: aside({
    when: 'The result of an action came after it had been given up: it changes nothing, but the rollback is looked at again.',
    statuses: ['accept', 'error'],
    context: {
      ...action,
      attempt,
      result: oneOf(['succeeded', 'failed'], 'What it says.'),
      late_by_ms: integer('How long after it was given up.'),
      rollback_action_id: Type.Optional(text('The rollback that was issued then.')),
      service_response_code: responseCode,
      error_message: errorMessage,
    },
    example: {
      action_id: 'a2f1c9d0-58c6-4a53-8b87-0b0e9ad4c1f2',
      action_type: 'scale_up_cloud_run',
      attempt: 1,
      result: 'succeeded',
      late_by_ms: 1_840,
      rollback_action_id: 'f4a7b7f9-6f0a-4d36-9a35-3f3f4c7a9d10',
    },
  }),
  action_rollback_issued: aside({
    when: 'An action is to be undone: whoever worked on it has been fenced off, and its inverse is on its way.',
    statuses: ['accept'],
    context: {
      original_action_id: text('The action that is undone.'),
      rollback_action_id: text('The action that undoes it.'),
      rollback_reason: oneOf(
        [
          'action_failed',
          'action_timeout',
          'baseline_not_restored',
          'permission_denied',
          'policy_withdrawn',
          'entitlement_withdrawn',
          'health_check_failed',
          'outage',
          'late_result',
        ],
        'Why.',
      ),
      action_type: Type.Optional(code('The type of the action that undoes it.')),
      target: Type.Optional(text('What it is done to.', 1_000)),
      job_id: Type.Optional(uuid('The job that carries it out.')),
    },
    example: {
      original_action_id: 'a2f1c9d0-58c6-4a53-8b87-0b0e9ad4c1f2',
      rollback_action_id: 'f4a7b7f9-6f0a-4d36-9a35-3f3f4c7a9d10',
      rollback_reason: 'action_timeout',
      action_type: 'scale_down_cloud_run',
    },
  }),
  action_rollback_failed: aside({
    when: 'An action could not be undone, and a person has to look at it.',
    statuses: ['error'],
    context: {
      original_action_id: text('The action that was to be undone.'),
      rollback_action_id: text('The action that should have undone it.'),
      failure_reason: failureReason,
      service_response_code: responseCode,
      error_message: errorMessage,
    },
    example: {
      original_action_id: 'a2f1c9d0-58c6-4a53-8b87-0b0e9ad4c1f2',
      rollback_action_id: 'f4a7b7f9-6f0a-4d36-9a35-3f3f4c7a9d10',
      failure_reason: 'service_error',
      service_response_code: 503,
      error_message: 'The service answered 503',
    },
  }),
};
