/**
 * Whoever captures a signal on its way has not got one of their own: it can be sent again as
 * itself, and as nothing else.
 */

import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { readSignal } from '../../src/governor/http/signal.js';
import { newWebhookSecret } from '../../src/outbox/webhooks.js';
import { credentials, legacySigned, now, signal, signed, token } from '../governor/http/sender.js';

test('the listener refuses a captured signal with another id, time or body', () => {
  const captured = signed();
  expect(readSignal(captured, credentials)).toMatchObject({ ok: { signal_id: 'signal-1' } });
  const again = (headers: Record<string, string>) =>
    readSignal({ ...captured, headers: { ...captured.headers, ...headers } }, credentials);
  expect(again({ 'webhook-id': 'signal-2' })).toMatchObject({
    refused: { code: 'signature_invalid' },
  });
  expect(again({ 'webhook-timestamp': String(now / 1_000 + 1) })).toMatchObject({
    refused: { code: 'signature_invalid' },
  });
  expect(
    readSignal(
      { ...captured, body: Buffer.from(JSON.stringify({ ...signal, value: 1 })) },
      credentials,
    ),
  ).toMatchObject({
    refused: { code: 'signature_invalid' },
  });
  expect(readSignal(captured, { ...credentials, now: now + 301_000 })).toMatchObject({
    refused: { code: 'timestamp_too_old' },
  });
});

test('the listener refuses the older signature, which does not cover the id, unless it is configured', () => {
  const captured = legacySigned(signal, { headers: { 'x-webhook-id': 'signal-2' } });
  expect(readSignal(captured, credentials)).toMatchObject({
    refused: { code: 'header_validation_failed' },
  });
  expect(readSignal(captured, { ...credentials, legacy: true })).toHaveProperty('ok');
});

test('the listener accepts a signal that the Standard Webhooks library signed with either of two secrets', () => {
  const [old, fresh] = [newWebhookSecret(), newWebhookSecret()];
  const body = JSON.stringify(signal);
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(now / 1_000),
    'webhook-signature': new Webhook(fresh).sign('msg_1', new Date(now), body),
  };
  const taken = (secrets: string[]) =>
    readSignal({ headers, body: Buffer.from(body) }, { ...credentials, secrets });
  expect(taken([old, fresh])).toMatchObject({ ok: { signal_id: 'msg_1' } });
  expect(taken([old])).toMatchObject({ refused: { code: 'signature_invalid' } });
});
