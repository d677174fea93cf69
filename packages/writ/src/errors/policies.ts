import type { Entry } from './entry.js';

/** Codes of governor policies. Part of the registry. */
export const policies = {
  invalid_policy: {
    message: 'The governor policy cannot be so.',
    remedy: 'See the detail: it names the place and what belongs there.',
    status: 400,
    retryable: false,
  },
  action_without_inverse: {
    message: 'An action of the governor policy says nothing of how it is undone.',
    remedy:
      "Name its inverse: a type of action, a template, or for a contract 'stop', which undoes it only while it is not completed.",
    status: 400,
    retryable: false,
  },
  invalid_action: {
    message: 'The definition of this type of action cannot be used.',
    remedy: 'See the detail.',
    status: 400,
    retryable: false,
  },
} as const satisfies Record<string, Entry>;
