/** The words of receipts, causes and policies, without a database. */
import { describe, expect, test } from 'vitest';
import { remedyOfCause } from '../../src/errors/advice/causes.js';
import { whyOf } from '../../src/governor/causes.js';
import { changesOf, permissionsOf } from '../../src/governor/policy-changes.js';
import { sentenceOf } from '../../src/governor/sentences.js';
import { action, definePolicy } from '../../src/index.js';
import { degradedCauses, refusingCauses } from '../../src/ledger/reasons/causes.js';
import { reasons } from '../../src/ledger/reasons/index.js';
import type { Receipt } from '../../src/ledger/receipt.js';

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
      const words = sentenceOf(receiptOf(reason, example));
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
      expect(sentenceOf(receiptOf(reason, least)), reason).not.toMatch(
        /undefined|null|NaN|\[object/,
      );
    }
  });

  test('names an erasable principal in neutral words', () => {
    const erasable = receiptOf('permission_denied', {
      ...reasons.permission_denied.example,
      principal: { erasable: 'a'.repeat(64) },
    });
    expect(sentenceOf(erasable)).toContain('its principal has no run.services.update');
  });
});

test('every cause has a sentence, a remedy for programs, and one in commands for its governor', () => {
  const why = (sku_id: string, causes: string[]) =>
    whyOf({ tenant_id: 'acme', sku_id, causes, refusals: [] })[0];
  for (const cause of [...degradedCauses, ...refusingCauses]) {
    expect(why('web', [cause])?.says, cause).not.toBe(cause);
    expect(why('web', [cause])?.remedy.length, cause).toBeGreaterThan(10);
    expect(why('web', [cause])?.remedy, cause).not.toMatch(/writ (?:governor|doctor|worker)| --/);
    expect(remedyOfCause(cause, 'acme', 'acme web'), cause).not.toMatch(
      /GOVERNOR|TENANT|See its last receipts/,
    );
  }
  expect(why('web', ['crash'])?.remedy).toContain("governor.acknowledge('crash', { reason })");
  expect(remedyOfCause('crash', 'acme', 'acme web')).toContain(
    'writ governor ack acme web crash --reason',
  );
  expect(why('default', ['unheard_of'])?.remedy).toBe('See its last receipts.');
  expect(remedyOfCause('unheard_of', 'acme', 'acme')).toBe('See its last receipts.');
});

test('says that nobody drives a governor whose mail waits for more than five seconds', () => {
  const row = { tenant_id: 'acme', sku_id: 'default', causes: [], refusals: [], in_mailbox: 3 };
  const now = new Date('2026-03-01T10:00:00Z');
  expect(whyOf({ ...row, mail_since: '2026-03-01T09:59:50Z' }, now)).toMatchObject([
    {
      cause: 'undriven',
      says: '3 events in its mailbox, the oldest for 10.0 s: nobody drives it',
      remedy: expect.stringContaining('writ.work('),
    },
  ]);
  expect(whyOf({ ...row, mail_since: '2026-03-01T09:59:58Z' }, now)).toEqual([]);
});

const first = definePolicy('flags', {
  when: { error_rate: { above: 0.05 } },
  then: action.handler('disable', {
    target: 'checkout',
    requires: 'flags:write',
    inverse: 'enable',
  }),
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
      then: action.handler('disable', {
        target: 'search',
        requires: 'flags:admin',
        inverse: { type: 'enable', requires: 'flags:write' },
      }),
    });
    const changes = Object.fromEntries(
      changesOf(first, next).map(({ what, before, after }) => [what, [before, after]]),
    );
    expect(changes['when error_rate']).toEqual([
      expect.stringContaining('above 0.05: disable'),
      expect.stringContaining('above 0.1: disable'),
    ]);
    expect(changes['when latency']).toEqual([null, 'above 2: only observed']);
    expect(changes['action disable']).toEqual([
      expect.stringMatching(/^checkout.*needs flags:write/),
      expect.stringMatching(/^search.*needs flags:admin/),
    ]);
    expect(changes['undo of disable']).toEqual([
      expect.stringMatching(/^enable of checkout/),
      expect.stringMatching(/^enable of search/),
    ]);
    expect(permissionsOf(next)).toEqual(['flags:admin', 'flags:write']);
  });
});
