/**
 * What the listener answers: a receipt, that a signal waits, or one shape of error for everything
 * else.
 */
import { type ErrorCode, registry } from '../../errors/index.js';
import type { Signalled } from '../intake.js';
import type { Refused } from './request.js';

export interface Answer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How long a sender waits for the database, or for a free place. */
const awaySeconds = 10;
const busySeconds = 1;

/** The one shape of an error. `details` says what to do. */
export function errorAnswer(
  requestId: string,
  { status, code, message }: Refused,
  more: { retryAfter?: number; details?: object } = {},
): Answer {
  const { retryAfter, details } = more;
  return {
    status,
    body: {
      code,
      message,
      requestId,
      details: {
        remedy: registry[code].remedy,
        ...(retryAfter !== undefined && { retry_after: retryAfter }),
        ...details,
      },
    },
    ...(retryAfter !== undefined && { headers: { 'retry-after': String(retryAfter) } }),
  };
}

/** An error as the registry has it. */
export function registered(
  requestId: string,
  code: ErrorCode,
  more: { retryAfter?: number; details?: object } = {},
): Answer {
  return errorAnswer(
    requestId,
    { status: registry[code].status, code, message: registry[code].message },
    more,
  );
}

export const busy = (requestId: string): Answer =>
  registered(requestId, 'listener_busy', { retryAfter: busySeconds });

/** The database is away. Senders are told what concerns them, not what its operators do. */
export const away = (requestId: string): Answer =>
  registered(requestId, 'database_unreachable', {
    retryAfter: awaySeconds,
    details: {
      remedy:
        'Nothing was taken in. Send it again after the time of Retry-After, with the same webhook-id.',
    },
  });

/** Nobody can be told from anybody else while the secrets cannot be read. */
export const secretsAway = (requestId: string): Answer =>
  registered(requestId, 'secrets_unavailable', { retryAfter: awaySeconds });

/** What became of a signal. */
export function outcomeOf(
  taken: Signalled,
): { readonly status: string } & Readonly<Record<string, unknown>> {
  const duplicate = taken.duplicate === true && { duplicate: true };
  if (taken.status === 'decided')
    return { status: statusOf(taken.receipt), ...duplicate, receipt: taken.receipt };
  return { status: taken.status, ...duplicate, arrival_seq: taken.arrival_seq };
}

const statusOf = (receipt: object): string => String((receipt as { status?: unknown }).status);

export function takenAnswer(requestId: string, taken: Signalled): Answer {
  const body = outcomeOf(taken);
  if (taken.status === 'decided') {
    // A refusal is an answer like another; that the governor cannot decide is not.
    return {
      status: (taken.receipt as { reason?: unknown }).reason === 'health_check_failed' ? 503 : 200,
      body,
    };
  }
  if (taken.status === 'accepted') return { status: 202, body };
  const retryAfter = taken.retry_after ?? 30;
  const storm = registered(requestId, 'signal_storm_throttle', { retryAfter });
  return { ...storm, body: { ...body, retry_after: retryAfter, ...storm.body } };
}
