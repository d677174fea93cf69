import type { Entry } from './entry.js';

/**
 * Codes of governors and of the listener that takes signals in. What a sender is told names a
 * header or a field, never what stood in it. Part of the registry.
 */
export const governor = {
  // Who sends, checked before anything is read.
  header_validation_failed: {
    message: 'A header of the request is missing or wrong.',
    remedy:
      'Send Content-Type: application/json, Authorization: Bearer with the token of this tenant, and the headers of Standard Webhooks: webhook-id with at most 200 printable characters, webhook-timestamp in Unix seconds, and webhook-signature.',
    status: 403,
    retryable: false,
  },
  signature_invalid: {
    message:
      'The signature does not match the id, the timestamp, the body and a secret of this tenant.',
    remedy:
      'Join webhook-id, webhook-timestamp and the bytes of the body with dots, and sign the result with HMAC-SHA256. If you do that already, compare the secrets. During a rotation the listener accepts both the old and the new secret.',
    status: 403,
    retryable: false,
  },
  timestamp_too_old: {
    message: 'The timestamp is more than one hour in the past.',
    remedy:
      'Sign each try anew, at the time of sending, and send what was observed within the hour. Compare the clocks of both machines.',
    status: 403,
    retryable: false,
  },
  timestamp_in_future: {
    message: 'The timestamp is more than one minute in the future.',
    remedy: 'Compare the clocks of both machines.',
    status: 400,
    retryable: true,
  },

  // What is sent.
  body_too_large: {
    message: 'The body is larger than is read.',
    remedy:
      'A signal has at most 64 KB, a notification of alerts 1 MB: set max_alerts in its receiver, or leave annotations out.',
    status: 413,
    retryable: false,
  },
  body_parse_error: {
    message: 'The body is not a JSON object in UTF-8.',
    remedy: 'Send one object, encoded as UTF-8, not compressed.',
    status: 400,
    retryable: false,
  },
  missing_source_field: {
    message: 'The signal does not say what kind of system observed it.',
    remedy: 'Give it a source: monitoring, logging, billing or custom.',
    status: 400,
    retryable: false,
  },
  missing_type_field: {
    message: 'The signal does not say what was observed.',
    remedy: 'Give it a type, such as cpu_utilization or error_rate.',
    status: 400,
    retryable: false,
  },
  missing_timestamp_field: {
    message: 'The signal does not say when it was observed.',
    remedy: 'Give it a timestamp by RFC 3339, such as 2026-03-01T10:00:00Z.',
    status: 400,
    retryable: false,
  },
  missing_severity_field: {
    message: 'The signal does not say how severe it is.',
    remedy: 'Give it a severity: CRITICAL, HIGH, MEDIUM or LOW.',
    status: 400,
    retryable: false,
  },
  missing_required_field: {
    message: 'A field that has to be there is not.',
    remedy: 'See the detail, which names it.',
    status: 400,
    retryable: false,
  },
  invalid_timestamp_format: {
    message: 'The timestamp is not one of RFC 3339.',
    remedy: 'Write it with its time zone, such as 2026-03-01T10:00:00Z.',
    status: 400,
    retryable: false,
  },
  invalid_signal: {
    message: 'A value of the signal cannot be taken.',
    remedy: 'See the detail, which names the field and what it may be.',
    status: 400,
    retryable: false,
  },
  invalid_alerts: {
    message: 'This is not a notification of Alertmanager, or it has too many alerts.',
    remedy:
      'Send its webhook as it is, version 4, with at most 500 alerts: set max_alerts in its receiver.',
    status: 400,
    retryable: false,
  },
  invalid_entitlement: {
    message: 'A value of the entitlement cannot be taken.',
    remedy: 'See the detail, which names the field and what it may be.',
    status: 400,
    retryable: false,
  },

  // The signal is there; there are too many of them.
  signal_storm_throttle: {
    message:
      'This tenant sends more signals than are taken in. The signal is kept, and comes in when its turn has come.',
    remedy:
      'Do not send it again; send others after the time of Retry-After. What waits longest is dropped, with a receipt, when too many wait.',
    status: 429,
    retryable: true,
  },

  // The listener itself.
  route_not_found: {
    message: 'There is nothing at this address.',
    remedy:
      'POST to /v1/governors/TENANT/SKU/signals, /v1/governors/TENANT/SKU/alerts or /v1/governors/TENANT/entitlement.',
    status: 404,
    retryable: false,
  },
  method_not_allowed: {
    message: 'This address takes another method.',
    remedy: 'Use the one in the header Allow.',
    status: 405,
    retryable: false,
  },
  malformed_request: {
    message: 'This is not a request that HTTP/1.1 knows.',
    remedy: 'See whether something in between has changed it.',
    status: 400,
    retryable: false,
  },
  request_timed_out: {
    message: 'The request did not arrive in time.',
    remedy: 'Send all of it within 10 seconds.',
    status: 408,
    retryable: true,
  },
  listener_busy: {
    message:
      'The listener has as many requests in hand as it takes, or is about to stop. Nothing was read.',
    remedy:
      'Send it again after the time of Retry-After; start more listeners if it happens often.',
    status: 503,
    retryable: true,
  },
  internal_error: {
    message: 'The listener has failed, and nobody knows whether the request was taken.',
    remedy:
      'Send it again with the same webhook-id. The log of the listener says more, under the id of the request.',
    status: 500,
    retryable: true,
  },
  governor_not_found: {
    message: 'There is no governor for this tenant and product.',
    remedy:
      'Open it first: `writ.governor({ tenant, sku })`. `writ.governors.list()` shows those that are there.',
    status: 404,
    retryable: false,
  },
  invalid_governor: {
    message: 'A governor cannot have these names.',
    remedy:
      'Tenant and product have up to 100 letters, digits and _ . : @ -, and begin with a letter or a digit.',
    status: 400,
    retryable: false,
  },
  policy_moved: {
    message: 'Another version of the policy was published in the meantime.',
    remedy: 'Preview the change again, and publish against the version in the detail.',
    status: 409,
    retryable: false,
  },
  action_not_allowed: {
    message: 'The policy of the governor does not allow this action.',
    remedy: 'Ask for an action of the policy, with parameters within its bounds.',
    status: 422,
    retryable: false,
  },
  entitlement_not_found: {
    message: 'The tenant has no entitlement, so its governors refuse to act.',
    remedy: 'Give it one with `writ.governors.entitlements.put`.',
    status: 404,
    retryable: false,
  },
  cause_not_found: {
    message: 'The governor is not degraded for this cause.',
    remedy: 'See the detail for the causes that stand.',
    status: 409,
    retryable: false,
  },
  invalid_turn: {
    message: 'The decisions of this driver do not fit the rows of its governors.',
    remedy:
      'Nothing was written. Upgrade the driver to the version of the schema. If it has that version already, report this as a bug, with the detail, which names the governor and the mismatch.',
    status: 409,
    retryable: false,
  },
  mailbox_full: {
    message: 'Too many requests already wait for this governor.',
    remedy: 'Try again later. `governor.get()` shows what waits.',
    status: 429,
    retryable: true,
  },
  not_an_action: {
    message: 'This job does not carry out an action of a governor.',
    remedy:
      'This gate commits only jobs that a governor has enqueued. For other jobs, use `commit` in the handler.',
    status: 409,
    retryable: false,
  },
  action_not_in_flight: {
    message: 'The governor is not waiting for this action.',
    remedy: 'It was given up, or nobody asked for it. Nothing of it was done.',
    status: 409,
    retryable: false,
  },
  person_required: {
    message: 'Only a person can say this.',
    remedy: 'Use the key of a person with the right to operate.',
    status: 403,
    retryable: false,
  },
  governor_moved: {
    message: 'The governor is no longer where it was when this was decided.',
    remedy: 'Nothing was written. Decide again.',
    status: 409,
    retryable: true,
  },
} as const satisfies Record<string, Entry>;
