/** What becomes of signals. */
import Type from '../typebox.js';
import { boolean, code, integer, number, oneOf, prose, text } from './fields.js';
import { aside, verdict } from './reason.js';

const signalType = code('What was observed, as the signal names it.');

export const signals = {
  signal_received: verdict({
    when: 'A signal was taken in, valid, and found to be over or under its threshold.',
    statuses: ['accept'],
    context: {
      signal_type: signalType,
      source: oneOf(
        ['monitoring', 'logging', 'billing', 'custom'],
        'What kind of system observed it.',
      ),
      severity: oneOf(['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'], 'How severe its sender says it is.'),
      value: Type.Optional(number('The value observed.')),
      threshold: Type.Optional(number('The threshold that it was compared with.')),
      exceeds_threshold: boolean('Whether it is over.'),
      signal_id: Type.Optional(text('The id that its sender gave it.')),
    },
    example: {
      signal_type: 'cpu_utilization',
      source: 'monitoring',
      severity: 'MEDIUM',
      value: 82.5,
      threshold: 75,
      exceeds_threshold: true,
    },
  }),
  threshold_exceeded: aside({
    when: 'The value of a signal went over a threshold of the governor policy.',
    statuses: ['accept'],
    context: {
      signal_type: signalType,
      current_value: number('The value observed.'),
      threshold: number('The threshold of the policy.'),
      policy_id: text('The policy.'),
      remediation_action: Type.Optional(
        code('The type of action that the policy answers with; none while it cools down.'),
      ),
    },
    example: {
      signal_type: 'cpu_utilization',
      current_value: 82.5,
      threshold: 75,
      policy_id: 'policy-scale-up-on-cpu-gt-75',
      remediation_action: 'scale_up_cloud_run',
    },
  }),
  signal_cleared: aside({
    when: 'A signal that was over its threshold is under it again.',
    statuses: ['accept'],
    context: {
      signal_type: signalType,
      current_value: Type.Optional(number('The value observed.')),
      threshold: Type.Optional(number('The threshold below which it counts as cleared.')),
      still_over: integer('How many other types of signal are still over theirs.'),
    },
    example: { signal_type: 'cpu_utilization', current_value: 61, threshold: 70, still_over: 0 },
  }),
  baseline_restored: aside({
    when: 'No signal is over its threshold any more, by itself or by an action.',
    statuses: ['accept'],
    context: {
      signal_type: Type.Optional(code('The type of the signal that was the last to clear.')),
      action_id: Type.Optional(text('The action that did it.')),
      duration_ms: integer('Time since the first threshold was exceeded.'),
    },
    example: { signal_type: 'cpu_utilization', duration_ms: 48_200 },
  }),
  signal_storm_detected: aside({
    when: 'A tenant sends more signals than are taken in: once per storm, the rest wait in a buffer.',
    statuses: ['refuse'],
    context: {
      rate: integer('Signals in the window.'),
      limit: integer('Signals that are taken in within it.'),
      window_seconds: integer('The window.', 1),
      buffered: integer('Signals that wait.'),
      retry_after_seconds: Type.Optional(integer('When to send again.')),
    },
    example: { rate: 131, limit: 100, window_seconds: 60, buffered: 31, retry_after_seconds: 30 },
  }),
  signal_dropped: verdict({
    when: 'Signals were dropped unread, the oldest first, because too many were waiting.',
    statuses: ['refuse'],
    context: {
      cause: oneOf(['buffer_full'], 'Why.'),
      dropped: integer('How many.', 1),
      arrival_ranges: Type.Array(Type.Tuple([integer('First.', 1), integer('Last.', 1)]), {
        minItems: 1,
        maxItems: 1_000,
        description: 'Which: the first and last arrival_seq of each unbroken row of them.',
      }),
      capacity: integer('How many may wait.', 1),
    },
    example: {
      cause: 'buffer_full',
      dropped: 3,
      arrival_ranges: [
        [41, 42],
        [44, 44],
      ],
      capacity: 1_000,
    },
  }),
  event_failed: verdict({
    when: 'An event crashed its governor each time it was handled, too often to be chance, and was set aside.',
    statuses: ['error'],
    context: {
      event: code('The type of the event.'),
      crashes: integer('How often it crashed.', 1),
      window_seconds: integer('Within how long.', 1),
      error_code: Type.Optional(code('The code of the last error.')),
      error_message: Type.Optional(prose('The last error.')),
    },
    example: {
      event: 'signal',
      crashes: 10,
      window_seconds: 60,
      error_message: 'TypeError: value is not a function',
    },
  }),
};
