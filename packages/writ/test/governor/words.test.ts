/** What receipts, causes and policies say, and how a governor looks: without a database. */
import { describe, expect, test } from 'vitest';
import { whyOf } from '../../../src/cli/governor/causes.js';
import type { GovernorRow, Look } from '../../../src/cli/governor/look.js';
import { linesOf, statesLines } from '../../../src/cli/governor/picture.js';
import { changeLines, changesOf, permissionsOf } from '../../../src/cli/governor/policy-words.js';
import { receiptLine, wordsOf } from '../../../src/cli/governor/words.js';
import { definePolicy, handler } from '../../../src/index.js';
import { degradedCauses, refusingCauses } from '../../../src/ledger/reasons/causes.js';
import { reasons } from '../../../src/ledger/reasons/index.js';
import type { Receipt } from '../../../src/ledger/receipt.js';

const bare = (_: unknown, text: string) => text;
const ofGovernors = Object.entries(reasons).filter(([, { author }]) => author === 'governor');
const receiptOf = (reason: string, context: object, status = 'accept') =>
  ({
    receipt_id: 'r',
    timestamp: '2026-03-01T10:00:00.120Z',
    sku_id: 'default',
    tenant_id: 'acme',
    status,
    reason,
    context,
  }) as unknown as Receipt;

describe('receipts', () => {
  test.each(ofGovernors)(
    '%s is a sentence, with nothing in it that is not known',
    (reason, { example }) => {
      const words = wordsOf(receiptOf(reason, example));
      expect(words).not.toBe(reason);
      expect(words).not.toMatch(/undefined|null|NaN|\[object/);
      expect(words.length).toBeGreaterThan(10);
    },
  );

  test('without what may be left out it is one, too', () => {
    for (const [reason, { context, example }] of ofGovernors) {
      const needed = new Set((context as unknown as { required?: string[] }).required ?? []);
      const least = Object.fromEntries(
        Object.entries(example as object).filter(([name]) => needed.has(name)),
      );
      expect(wordsOf(receiptOf(reason, least)), reason).not.toMatch(/undefined|null|NaN|\[object/);
    }
  });

  test('a line says when, which, and how it is meant; what others wrote has no say over the terminal', () => {
    const failed = receiptOf(
      'action_failed',
      {
        stream_seq: 7,
        action_id: 'a',
        action_type: 'x',
        failure_reason: 'service_error',
        error_message: 'no\u001b[2Jsuch\nflag',
        retry_countdown: 1,
        max_retries: 3,
      },
      'error',
    );
    expect(receiptLine(failed, bare)).toMatch(
      /^10:00:00\.120 +7 ✗ action_failed +x failed: service error: no.*such flag$/,
    );
    expect(receiptLine(failed, bare)).not.toContain('\u001b');
    const erasable = receiptOf('permission_denied', {
      ...reasons.permission_denied.example,
      principal: { erasable: 'a'.repeat(64) },
    });
    expect(wordsOf(erasable)).toContain('its principal has no run.services.update');
  });
});

test('every cause says what it is and what to do, with the arguments of its governor', () => {
  for (const cause of [...degradedCauses, ...refusingCauses]) {
    const [why] = whyOf({ causes: [cause], refusals: null }, { tenant: 'acme', sku: 'web' });
    expect(why?.says, cause).not.toBe(cause);
    expect(why?.remedy.length, cause).toBeGreaterThan(10);
  }
  expect(
    whyOf({ causes: ['crash'], refusals: [] }, { tenant: 'acme', sku: 'web' })[0]?.remedy,
  ).toContain('writ governor ack acme web crash --reason');
  expect(
    whyOf({ causes: ['crash'], refusals: [] }, { tenant: 'acme', sku: 'default' })[0]?.remedy,
  ).toContain('writ governor ack acme crash');
});

const first = definePolicy('flags', {
  when: { error_rate: { above: 0.05 } },
  then: handler('disable', { target: 'checkout', requires: 'flags:write', inverse: 'enable' }),
});

describe('what a policy changes', () => {
  test('the first one is all new, the same one nothing, none takes all of it away', () => {
    expect(changesOf(null, first).every(({ before }) => before === null)).toBe(true);
    expect(changesOf(first, structuredClone(first))).toEqual([]);
    expect(changesOf(first, null).every(({ after }) => after === null)).toBe(true);
  });

  test('threshold, target, permission and undo are each named', () => {
    const next = definePolicy('flags', {
      when: { error_rate: { above: 0.1 }, latency: { above: 2, then: false } },
      then: handler('disable', {
        target: 'search',
        requires: 'flags:admin',
        inverse: { type: 'enable', requires: 'flags:write' },
      }),
    });
    const lines = changeLines(changesOf(first, next), bare).join('\n');
    expect(lines).toMatch(
      /~ when error_rate\n +was +above 0\.05: disable.*\n +will be above 0\.1: disable/,
    );
    expect(lines).toContain('+ when latency: above 2: only observed');
    expect(lines).toMatch(
      /~ action disable\n +was +checkout.*needs flags:write\n +will be search.*needs flags:admin/,
    );
    expect(lines).toMatch(
      /~ undo of disable\n +was +enable of checkout.*\n +will be enable of search/,
    );
    expect(permissionsOf(next)).toEqual(['flags:admin', 'flags:write']);
  });
});

describe('the picture', () => {
  const now = Date.parse('2026-03-01T10:00:00Z');
  const row: GovernorRow = {
    governor_id: 'g',
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
    over_threshold: { error_rate: { since: now - 12_000, value: 0.2 } },
    policy_id: 'flags',
    policy_version: 3,
    shadow: true,
    signals: 1_200,
    buffered: 0,
    postponed: 4,
    in_mailbox: 0,
    mail_since: null,
    receipts: 30,
    timers: [{ name: 'state', due: now + 400 }],
    cooling: { error_rate: now + 48_000, old: now - 1 },
    awaiting_baseline: null,
    attempts: 3,
    crash: null,
    created_at: '2026-03-01T09:00:00Z',
  };
  const policy = {
    version: 3,
    policy_id: 'flags',
    shadow: true,
    hash: '',
    document: first,
    published_by: 'olga',
    published_at: '',
  };
  const receipts = Array.from({ length: 50 }, (_, n) =>
    receiptOf('boot_start', { ...reasons.boot_start.example, stream_seq: n + 1 }),
  );
  const look: Look = { row, policy, entitlement: undefined, receipts, now };

  test('marks the state, and says what is done, awaited and over, with the time that is left', () => {
    const lines = linesOf(look, bare, { rows: 30, columns: 120 });
    expect(lines[0]).toBe('acme  intervening for 100 ms');
    expect(lines.join('\n')).toContain('┃ intervening ┃');
    expect(lines.join('\n')).toContain('│ stable │');
    expect(lines).toContain('▶ disable of checkout, attempt 2 of 3, 400 ms left');
    expect(lines).toContain('▲ error_rate 0.2 > 0.05 for 12.0 s, no action for 48.0 s');
    expect(lines).toContain('◷ in 400 ms  the action has to be done');
    expect(lines.join('\n')).toMatch(
      /policy flags v3 \(shadow\) {2}signals 1,200 {2}mailbox 0 {2}postponed 4/,
    );
    expect(lines.join('\n')).not.toContain('old');
  });

  test('fits its window: the newest receipts stay, and narrow windows get the states in a line', () => {
    const lines = linesOf(look, bare, { rows: 20, columns: 60 });
    expect(lines).toHaveLength(20);
    expect(lines.every((line) => line.length <= 60)).toBe(true);
    expect(lines.at(-1)).toContain('   50 ');
    expect(statesLines('warning', bare, 60)).toEqual([
      'boot stable [warning] intervening refusing degraded',
    ]);
  });

  test('a mailbox that nobody empties is said, with what to do', () => {
    const waiting = { ...look, row: { ...row, in_mailbox: 3, mail_since: '2026-03-01T09:59:50Z' } };
    expect(linesOf(waiting, bare, { rows: 30, columns: 120 }).join('\n')).toMatch(
      /3 events in its mailbox, the oldest for 10\.0 s: nobody drives it\n.*writ worker/,
    );
    const fresh = { ...look, row: { ...row, in_mailbox: 3, mail_since: '2026-03-01T09:59:58Z' } };
    expect(linesOf(fresh, bare, { rows: 30, columns: 120 }).join('\n')).not.toContain(
      'nobody drives',
    );
  });
});
