/** Entitlements by HTTP are signed as signals are, and say the same in our words. */
import { describe, expect, test } from 'vitest';
import { readEntitlement } from '../../../src/governor/http/entitlement.js';
import { credentials, now, signed } from './sender.js';

const notice = { entitlement_id: 'ent-1', state: 'ENTITLEMENT_ACTIVE' };
const read = (...request: Parameters<typeof signed>) =>
  readEntitlement(signed(...request), credentials);

test('a notice that is right is what it says, with its id and the time that it was sent at', () => {
  const all = {
    ...notice,
    expires_at: '2027-01-01T00:00:00Z',
    tier: 'Professional',
    quota: 5_000,
    state_reason: 'paid',
  };
  expect(read(all)).toEqual({
    ok: {
      webhook_id: 'signal-1',
      sent_at: now,
      entitlement_id: 'ent-1',
      state: 'ACTIVE',
      expires_at: Date.parse('2027-01-01T00:00:00Z'),
      tier: 'professional',
      quota: 5_000,
    },
  });
  expect(read(notice).ok).toEqual({
    webhook_id: 'signal-1',
    sent_at: now,
    entitlement_id: 'ent-1',
    state: 'ACTIVE',
  });
});

test.each([
  ['ENTITLEMENT_ACTIVE', 'ACTIVE'],
  ['ENTITLEMENT_CANCELLED', 'CANCELLED'],
  ['CANCELLED', 'CANCELLED'],
])('state %s is %s', (state, ours) => {
  expect(read({ ...notice, state }).ok?.state).toBe(ours);
});

test('a quota of null is one without a limit, and one that is left out says nothing', () => {
  expect(read({ ...notice, quota: null }).ok).toHaveProperty('quota', null);
  expect(read(notice).ok).not.toHaveProperty('quota');
});

describe('is refused', () => {
  test.each([
    [
      'unsigned',
      403,
      'header_validation_failed',
      signed(notice, { headers: { 'webhook-signature': undefined } }),
    ],
    ['signed by somebody else', 403, 'signature_invalid', signed(notice, { secret: 'another' })],
    [
      'replayed after more than five minutes',
      403,
      'timestamp_too_old',
      signed(notice, { at: String(now / 1_000 - 3_601) }),
    ],
    ['not JSON', 400, 'body_parse_error', signed('state=ACTIVE')],
    ['without an id', 400, 'missing_required_field', signed({ state: 'CANCELLED' })],
    ['without a state', 400, 'missing_required_field', signed({ entitlement_id: 'ent-1' })],
    ...(
      [
        ['state', 'PENDING'],
        ['state', 'toString'],
        ['entitlement_id', 7],
        ['entitlement_id', 'x'.repeat(201)],
        ['expires_at', 'next year'],
        ['expires_at', 1_800_000_000],
        ['tier', '$'],
        ['quota', -1],
        ['quota', 1.5],
        ['quota', '500'],
      ] as const
    ).map(
      ([field, value]) =>
        [
          `${field} ${value}`.slice(0, 40),
          400,
          'invalid_entitlement',
          signed({ ...notice, [field]: value }),
        ] as const,
    ),
  ] as const)('%s: %i %s', (_, status, code, request) => {
    expect(readEntitlement(request, credentials)).toMatchObject({ refused: { status, code } });
  });

  test('a missing field is named', () => {
    expect(read({ state: 'CANCELLED' }).refused?.message).toMatch(/entitlement_id/);
  });
});
