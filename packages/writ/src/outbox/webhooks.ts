/**
 * Signed webhooks by the Standard Webhooks specification: both ends of the signature, and the
 * secrets between them. This is the entry `writ/webhooks`, for receivers.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { WritError } from '../errors/index.js';
import type { CloudEvent } from './envelope.js';

export { WritError } from '../errors/index.js';
export type { CloudEvent } from './envelope.js';

const prefix = 'whsec_';
const fewestBytes = 24;
const mostBytes = 64;
/** More than two are not a rotation, and each costs whoever verifies. */
const mostSignatures = 10;

/**
 * Headers as `fetch` has them (Headers), or as Node and most servers have them (an object by name).
 */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyWebhookOptions {
  /**
   * How old a webhook may be, and how far ahead of this clock, in seconds. An older one may be a
   * copy that somebody kept.
   */
  readonly toleranceSec?: number;
}

/**
 * The event of a webhook, if it was signed with one of the secrets and now; throws a WritError
 * `webhook_unverified` otherwise. The body is verified as it came: give the bytes or the text of
 * the request, not what a parser made of them.
 */
export function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array,
  secrets: string | readonly string[],
  { toleranceSec = 300 }: VerifyWebhookOptions = {},
): CloudEvent {
  const id = header(headers, 'webhook-id');
  const timestamp = header(headers, 'webhook-timestamp');
  const signature = header(headers, 'webhook-signature');
  if (!/^\d{1,12}$/.test(timestamp))
    throw new WritError('webhook_unverified', 'webhook-timestamp is not a time in seconds');
  const age = Date.now() / 1_000 - Number(timestamp);
  // Written so that a tolerance that is no number lets nothing through.
  if (!(Math.abs(age) <= toleranceSec)) {
    throw new WritError(
      'webhook_unverified',
      `it was signed ${Math.abs(Math.round(age))} s ${age > 0 ? 'ago' : 'ahead of this clock'}`,
    );
  }
  const keys = (typeof secrets === 'string' ? [secrets] : secrets).map(webhookKey);
  if (!isSignedWebhook({ id, timestamp, signature }, body, keys))
    throw new WritError('webhook_unverified', 'no signature of it is by one of these secrets');
  const text =
    typeof body === 'string'
      ? body
      : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  return JSON.parse(text) as CloudEvent;
}

/**
 * Whether one of the signatures in `webhook-signature` is by one of the keys, over the id, the
 * timestamp and the body.
 */
export function isSignedWebhook(
  {
    id,
    timestamp,
    signature,
  }: { readonly id: string; readonly timestamp: string; readonly signature: string },
  body: string | Uint8Array,
  keys: readonly Buffer[],
): boolean {
  const expected = keys.map((key) => digest(key, id, timestamp, body));
  const given = signature.split(' ', mostSignatures).filter((one) => one.startsWith('v1,'));
  const signatures = given.map((one) => Buffer.from(one.slice(3), 'base64'));
  // Every pair is compared, whatever the pairs before it gave.
  const good = expected.flatMap((ours) =>
    signatures.map((theirs) => theirs.length === ours.length && timingSafeEqual(theirs, ours)),
  );
  return good.includes(true);
}

/** A secret for a new endpoint, or for the next one of an endpoint. */
export function newWebhookSecret(): string {
  return prefix + randomBytes(32).toString('base64');
}

/** The key in a secret. The error names no part of it. */
export function webhookKey(secret: string): Buffer {
  const key = Buffer.from(secret.slice(prefix.length), 'base64');
  const canonical = (text: string) => text.replace(/=+$/, '');
  const whole =
    secret.startsWith(prefix) &&
    canonical(key.toString('base64')) === canonical(secret.slice(prefix.length));
  if (!whole) throw new WritError('invalid_webhook_secret');
  if (key.length < fewestBytes || key.length > mostBytes)
    throw new WritError('invalid_webhook_secret', `it has ${key.length} bytes`);
  return key;
}

/**
 * The headers of one delivery. With two keys, as during a rotation, a receiver that knows either of
 * them accepts it.
 */
export function signWebhook(
  id: string,
  body: Uint8Array,
  keys: readonly Buffer[],
  now = Date.now(),
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys
      .map((key) => `v1,${digest(key, id, timestamp, body).toString('base64')}`)
      .join(' '),
  };
}

const digest = (key: Buffer, id: string, timestamp: string, body: string | Uint8Array) =>
  createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();

function header(headers: WebhookHeaders, name: string): string {
  const value =
    typeof headers.get === 'function'
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value !== 'string' || value === '')
    throw new WritError('webhook_unverified', `${name} is missing`);
  return value;
}
