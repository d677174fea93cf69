import type { Entry } from './entry.js';

/** Codes of the API server: requests that reach no gate. Part of the registry. */
export const service = {
  invalid_request: {
    message: 'The request does not fit the operation.',
    remedy: 'See the errors: each names a place and what is wrong there.',
    status: 400,
    retryable: false,
  },
  invalid_json: {
    message: 'The body is no JSON that can be read without loss.',
    remedy:
      'Send UTF-8 with each key once, at most 64 levels deep, and numbers that JavaScript holds exactly.',
    status: 400,
    retryable: false,
  },
  request_too_large: {
    message: 'The body is too large.',
    remedy: 'Send less, or store large content as an artifact and send its reference.',
    status: 413,
    retryable: false,
  },
  unsupported_media_type: {
    message: 'The body is not application/json.',
    remedy: 'Send JSON with Content-Type: application/json.',
    status: 415,
    retryable: false,
  },
  route_not_found: {
    message: 'There is nothing at this path.',
    remedy: 'The OpenAPI document lists all paths: GET /api/v1/openapi.json.',
    status: 404,
    retryable: false,
  },
  method_not_allowed: {
    message: 'This path has no operation with that method.',
    remedy: 'The header Allow lists the methods of the path.',
    status: 405,
    retryable: false,
  },
  version_required: {
    message: 'The request does not name the version of the row that it changes.',
    remedy: 'Read the row, and send its ETag as If-Match.',
    status: 428,
    retryable: false,
  },
  server_read_only: {
    message: 'This server changes nothing.',
    remedy: 'Use a server that was not started as read-only.',
    status: 403,
    retryable: false,
  },
  request_late: {
    message: 'The request took too long. What it changes may still happen.',
    remedy: 'Send it again with the same Idempotency-Key.',
    status: 503,
    retryable: true,
  },
  internal_error: {
    message: 'The server failed.',
    remedy: 'Give the request id to whoever runs the server: its log has the cause.',
    status: 500,
    retryable: true,
  },
} as const satisfies Record<string, Entry>;
