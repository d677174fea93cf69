/** Errors as problem details (RFC 9457), from the registry that every surface uses. */

import Type from 'typebox';
import { isConnectionLoss, registry, WritError } from 'writ';
import { component, integer, list, nullable, object, optional, text } from './schema.js';

export const mediaType = 'application/problem+json';

export const problemSchema = component('Problem', {
  type: text(),
  title: text(1_000),
  status: integer(400, 599),
  code: text(),
  detail: optional(Type.String()),
  remedy: text(2_000),
  retryable: Type.Boolean(),
  requestId: nullable(Type.String()),
  errors: optional(list(object({ place: Type.String(), message: Type.String() }))),
});

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail?: string;
  readonly remedy: string;
  readonly retryable: boolean;
  readonly requestId: string;
  readonly errors?: readonly { readonly place: string; readonly message: string }[];
}

/** A request that fits no schema of its operation: where, and why. */
export class InvalidRequest extends WritError {
  readonly places: NonNullable<Problem['errors']>;

  constructor(places: NonNullable<Problem['errors']>) {
    super('invalid_request', places.map(({ place, message }) => `${place} ${message}`).join('; '));
    this.places = places;
  }
}

/**
 * The meaning of an error for a caller. An error without one is logged, and its text stays here.
 */
export function meaningOf(error: unknown): WritError {
  if (error instanceof WritError) return error;
  const { code, statusCode } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new WritError('request_too_large');
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new WritError('unsupported_media_type');
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') return new WritError('invalid_json');
  if (code === 'FST_ERR_HANDLER_TIMEOUT' || code === '57014') return new WritError('request_late');
  if (statusCode === 400) return new WritError('invalid_json', (error as Error).message);
  if (isConnectionLoss(error)) return new WritError('database_unreachable');
  return new WritError('internal_error');
}

export function problemOf(error: WritError, requestId: string, base: string): Problem {
  const { code, status, remedy, retryable, detail } = error;
  return {
    type: `${base}/errors/${code}`,
    title: registry[code].message,
    status,
    code,
    ...(detail !== undefined && { detail }),
    remedy,
    retryable,
    requestId,
    ...(error instanceof InvalidRequest && { errors: error.places }),
  };
}
