/** How a governor and its receipts look on a terminal, without a database. */
import { expect, test } from 'vitest';
import {
  doingLines,
  headingOf,
  levelLines,
  receiptLine,
  statesLines,
  timerLines,
} from '../../../src/cli/governor/print.js';
import { awaitedBy } from '../../../src/governor/causes.js';
import type { Governor, GovernorDetails } from '../../../src/governor/rows.js';
import { action, definePolicy } from '../../../src/index.js';
import type { Receipt } from '../../../src/ledger/receipt.js';

const bare = { style: (_: unknown, text: string) => text };

test('a line has time, number and sentence, and text of others does not control the terminal', () => {
  const failed = {
    receipt_id: 'r',
    timestamp: '2026-03-01T10:00:00.120Z',
    sku_id: 'default',
    tenant_id: 'acme',
    status: 'error',
    reason: 'action_failed',
    context: {
      stream_seq: 7,
      action_id: 'a',
      action_type: 'x',
      failure_reason: 'service_error',
      error_message: 'no\u001b[2Jsuch\nflag',
      retry_countdown: 1,
      max_retries: 3,
    },
  } as unknown as Receipt;
  expect(receiptLine(failed, bare)).toMatch(
    /^10:00:00\.120 +7 ✗ action_failed +x failed: service error: no.*such flag$/,
  );
  expect(receiptLine(failed, bare)).not.toContain('\u001b');
});

const now = new Date('2026-03-01T10:00:00Z');
const ms = now.getTime();
const row = {
  tenant_id: 'acme',
  sku_id: 'default',
  state: 'intervening',
  state_since: '2026-03-01T09:59:59.900Z',
  causes: [],
  refusals: [],
  in_flight: {
    kind: 'action',
    action_id: 'a',
    action_type: 'disable',
    parameters: {},
    target: 'checkout',
    attempt: 2,
    began_at: 0,
    sent_at: 0,
  },
  queued_actions: 1,
  over_threshold: { error_rate: { since: ms - 12_000, value: 0.2 } },
  timers: [{ name: 'state', due: ms + 400 }],
  cooling: { error_rate: ms + 48_000, old: ms - 1 },
  awaiting_baseline: null,
  attempts: 3,
} as unknown as Governor;
const details = {
  ...row,
  why: [],
  awaits: awaitedBy(row),
  policy: {
    document: definePolicy('flags', {
      when: { error_rate: { above: 0.05 } },
      then: action.handler('disable', {
        target: 'checkout',
        requires: 'flags:write',
        inverse: 'enable',
      }),
    }),
  },
} as unknown as GovernorDetails;

test('shows the state, the action, the levels and the timers with the time that is left', () => {
  expect(headingOf(row, now, bare)).toBe('acme  intervening for 100 ms');
  expect(statesLines('intervening', bare, 120).join('\n')).toContain('┃ intervening ┃');
  expect(statesLines('intervening', bare, 120).join('\n')).toContain('│ stable │');
  expect(doingLines(details, now, bare)).toContain(
    '▶ disable of checkout, attempt 2 of 3, 400 ms left',
  );
  expect(levelLines(details, now, bare)).toEqual([
    '▲ error_rate 0.2 > 0.05 for 12.0 s, no action for 48.0 s',
  ]);
  expect(timerLines(details, now, bare)).toEqual(['◷ in 400 ms  the action has to be done']);
});

test('shows the states in one line where the window is narrow', () => {
  expect(statesLines('warning', bare, 60)).toEqual([
    'boot stable [warning] intervening refusing degraded',
  ]);
});
