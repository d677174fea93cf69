/**
 * The signature of webhooks, at both ends, against the package that the authors of Standard
 * Webhooks publish.
 */
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import {
  newWebhookSecret,
  signWebhook,
  verifyWebhook,
  webhookKey,
} from '../../src/outbox/webhooks.js';
import { eventOf } from './events.js';

const secret = newWebhookSecret();
const event = eventOf('run', 1, { text: 'Grüße 🎈' });
const body = JSON.stringify(event);
const signed = (keys = [secret], now?: number) =>
  signWebhook(event.id, Buffer.from(body), keys.map(webhookKey), now);
const code = (act: () => unknown) => {
  try {
    act();
    return 'no error';
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe('what we sign', () => {
  test('is verified by the official package', () => {
    expect(new Webhook(secret).verify(body, signed())).toEqual(event);
    expect(() => new Webhook(newWebhookSecret()).verify(body, signed())).toThrow();
  });

  test('is, during a rotation, verified by whoever has either secret', () => {
    const next = newWebhookSecret();
    const headers = signed([next, secret]);
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const known of [secret, next]) {
      expect(new Webhook(known).verify(body, headers)).toEqual(event);
      expect(verifyWebhook(headers, body, known)).toEqual(event);
    }
  });
});

describe('verifyWebhook', () => {
  test('accepts what the official package signs, as text and as bytes, with headers as fetch and as Node have them', () => {
    const now = new Date();
    const headers = {
      'Webhook-Id': event.id,
      'Webhook-Timestamp': String(Math.floor(now.getTime() / 1_000)),
      'Webhook-Signature': new Webhook(secret).sign(event.id, now, body),
    };
    expect(verifyWebhook(headers, body, secret)).toEqual(event);
    expect(
      verifyWebhook(new Headers(headers), Buffer.from(body), [newWebhookSecret(), secret]),
    ).toEqual(event);
    expect(verifyWebhook(headers, new TextEncoder().encode(body), secret)).toEqual(event);
  });

  test.each([
    ['another body', () => verifyWebhook(signed(), body.replace('Grüße', 'grüße'), secret)],
    ['another id', () => verifyWebhook({ ...signed(), 'webhook-id': 'another' }, body, secret)],
    [
      'another time',
      () =>
        verifyWebhook(
          { ...signed(), 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) + 1) },
          body,
          secret,
        ),
    ],
    ['another secret', () => verifyWebhook(signed(), body, newWebhookSecret())],
    ['no secrets', () => verifyWebhook(signed(), body, [])],
    [
      'a signature of another version',
      () =>
        verifyWebhook(
          { ...signed(), 'webhook-signature': signed()['webhook-signature']?.replace('v1', 'v2') },
          body,
          secret,
        ),
    ],
    [
      'half a signature',
      () =>
        verifyWebhook(
          { ...signed(), 'webhook-signature': signed()['webhook-signature']?.slice(0, 20) },
          body,
          secret,
        ),
    ],
    [
      'an empty signature',
      () => verifyWebhook({ ...signed(), 'webhook-signature': 'v1,' }, body, secret),
    ],
    [
      'no signature',
      () => verifyWebhook({ ...signed(), 'webhook-signature': undefined }, body, secret),
    ],
    ['no time', () => verifyWebhook({ ...signed(), 'webhook-timestamp': 'NaN' }, body, secret)],
    [
      'a copy that was kept',
      () => verifyWebhook(signed([secret], Date.now() - 302_000), body, secret),
    ],
    [
      'one from the future',
      () => verifyWebhook(signed([secret], Date.now() + 302_000), body, secret),
    ],
    [
      'a tolerance that is no number',
      () => verifyWebhook(signed(), body, secret, { toleranceSec: Number.NaN }),
    ],
  ])('refuses %s', (_, verify) => {
    expect(code(verify)).toBe('webhook_unverified');
  });

  test('takes an older one where it is told to', () => {
    expect(
      verifyWebhook(signed([secret], Date.now() - 3_000_000), body, secret, {
        toleranceSec: 3_600,
      }),
    ).toEqual(event);
  });

  test('looks at a handful of signatures, however many there are', () => {
    const many = `${'v1,AAAA '.repeat(100_000)}${signed()['webhook-signature']}`;
    expect(
      code(() => verifyWebhook({ ...signed(), 'webhook-signature': many }, body, secret)),
    ).toBe('webhook_unverified');
  });
});

describe('a secret', () => {
  test('is whsec_ and 24 to 64 bytes', () => {
    expect(webhookKey(newWebhookSecret())).toHaveLength(32);
    expect(newWebhookSecret()).not.toBe(newWebhookSecret());
    expect(webhookKey(`whsec_${Buffer.alloc(64).toString('base64')}`)).toHaveLength(64);
  });

  test.each([
    '',
    'whsec_',
    'secret',
    `whsec_${Buffer.alloc(23).toString('base64')}`,
    `whsec_${Buffer.alloc(65).toString('base64')}`,
    `whsec_${'!'.repeat(40)}`,
  ])('is not %j, and the error does not repeat it', (text) => {
    expect(code(() => webhookKey(text))).toBe('invalid_webhook_secret');
    if (text.length > 6) expect(() => webhookKey(text)).not.toThrow(text);
  });
});
