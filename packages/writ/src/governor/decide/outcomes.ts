/** The receipts of an attempt that has ended, of an action or of its rollback. */
import type { InFlight } from '../decision.js';
import type { Result } from '../events.js';
import { given, said, type Turn, write } from './turn.js';

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

export function succeeded(
  turn: Turn,
  { action_id, action_type, attempt, began_at }: InFlight,
  result: Result,
) {
  const { previous_replicas, new_replicas, ...rest } = result.result ?? {};
  const scaled = isCount(previous_replicas) && isCount(new_replicas);
  const others = scaled ? rest : (result.result ?? {});
  write(turn, 'action_succeeded', 'accept', {
    action_id,
    action_type,
    attempt,
    duration_ms: turn.at - began_at,
    ...(scaled && { previous_replicas, new_replicas }),
    ...given({
      result: Object.keys(others).length > 0 ? others : undefined,
      service_response_code: result.response_code,
    }),
    baseline_restored: result.baseline === 'restored',
    ...given({ baseline: result.baseline }),
  });
}

/**
 * `left`: attempts that are left; without it nothing is counted down, because no attempt would
 * help.
 */
export function failed(
  turn: Turn,
  action: InFlight,
  result: Result,
  left: number,
  countdown = true,
) {
  const { action_id, action_type, attempt } = action;
  const retries = { retry_countdown: left, max_retries: turn.data.bounds.attempts };
  write(turn, 'action_failed', 'error', {
    action_id,
    action_type,
    attempt,
    failure_reason: result.failure_reason ?? 'service_error',
    ...given({
      service_response_code: result.response_code,
      error_message: said(result.error_message),
    }),
    ...retries,
  });
  if (countdown)
    write(turn, 'retry_countdown', left > 0 ? 'accept' : 'error', {
      action_id,
      action_type,
      ...retries,
    });
}
