import type { Entry } from './entry.js';

/** Codes of secrets. They name a secret, never its value. Part of the registry. */
export const secrets = {
  secret_not_found: {
    message: 'There is no such secret.',
    remedy:
      'Put it where the worker looks for secrets, or mend its name in the plan; the job is tried again meanwhile.',
    status: 404,
    retryable: true,
  },
  secret_unusable: {
    message: 'The secret cannot be handed out.',
    remedy:
      'See the detail. A secret has 8 to 65,536 characters; a file of secrets may be written by its owner alone.',
    status: 422,
    retryable: true,
  },
  secrets_unavailable: {
    message: 'The secrets cannot be read.',
    remedy:
      'See the detail; the job is tried again. Look whether what keeps the secrets can be reached from the worker.',
    status: 503,
    retryable: true,
  },
  secrets_denied: {
    message: 'Whoever keeps the secrets does not let this worker read them.',
    remedy: 'Give the worker a token that may read this document, or one that has not expired.',
    status: 403,
    retryable: true,
  },
  secrets_not_configured: {
    message: 'A step needs secrets, and this process was not told where they are.',
    remedy: 'Connect with `Writ.connect({ secrets })`.',
    status: 500,
    retryable: true,
  },
  secret_inside: {
    message: 'What is to be stored carries a secret.',
    remedy:
      'Leave it out, and let whoever needs it ask for it by name: { "$secret": "name" } in a plan, `secret(name)` in a handler.',
    status: 400,
    retryable: false,
  },
  secret_in_result: {
    message: 'A handler returned a secret; its name was stored in its place.',
    remedy: 'Return what others need, without the secret: whoever needs that asks for it by name.',
    status: 500,
    retryable: false,
  },
  invalid_secrets_place: {
    message: 'This does not say where secrets are.',
    remedy: 'Write env, env:PREFIX, file:FOLDER or vault:MOUNT/PATH.',
    status: 400,
    retryable: false,
  },
  vault_not_configured: {
    message: 'Vault cannot be asked.',
    remedy:
      'Set VAULT_ADDR (https://vault.example:8200), and VAULT_TOKEN, or VAULT_TOKEN_FILE to a file that holds a token.',
    status: 500,
    retryable: false,
  },
} as const satisfies Record<string, Entry>;
