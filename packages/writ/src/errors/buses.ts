import type { Entry } from './entry.js';

/** Codes of what carries events out: buses, webhooks and their secrets. Part of the registry. */
export const buses = {
  invalid_bus: {
    message: 'The bus cannot be used as it is described.',
    remedy: 'See the detail; docs/webhooks.md says what an endpoint may be.',
    status: 400,
    retryable: false,
  },
  bus_package_missing: {
    message: 'A package that this bus needs is not installed.',
    remedy: 'Install what the detail names: Writ does not bring it along, because most do without.',
    status: 503,
    retryable: false,
  },
  invalid_webhook_secret: {
    message: 'This is not a secret for webhooks.',
    remedy:
      'It is whsec_ followed by 24 to 64 bytes in base64; newWebhookSecret() of writ/webhooks makes one.',
    status: 400,
    retryable: false,
  },
  webhook_unverified: {
    message: 'The webhook is not from who has the secret, or it is not from now.',
    remedy:
      'Answer 401 and do nothing. If it should have been good: verify the bytes as they came, with the secret of this endpoint.',
    status: 401,
    retryable: false,
  },
} as const satisfies Record<string, Entry>;
