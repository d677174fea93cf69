/**
 * What signed requests have in common, in the order in which it is checked: headers, signature,
 * body. A request that is wrong in several ways hears of the first. Nothing here keeps or repeats a
 * secret, a token or a body.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { type ErrorCode, registry } from '../../errors/index.js';
import { isSignedWebhook, webhookKey } from '../../outbox/webhooks.js';
import { isSenderId } from '../incoming.js';
import { momentOf } from '../moment.js';

/** Names are in lower case, as node:http gives them. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Request {
  readonly headers: Headers;
  readonly body: Buffer;
}

/**
 * What a tenant's requests are checked with. Several of each are good at once while they are
 * rotated; with none, nothing is.
 */
export interface Credentials {
  readonly secrets: readonly string[];
  readonly tokens: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
  /**
   * Takes the older X-Webhook-* signatures in place of Standard Webhooks: they do not cover the id.
   */
  readonly legacy?: boolean;
}

export interface Refused {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
}

export type Read<T> =
  | { readonly ok: T; readonly refused?: undefined }
  | { readonly ok?: undefined; readonly refused: Refused };

export const bodyBytes = 65_536;
const oldestMs = 60 * 60_000;
const furthestMs = 60_000;
/** Of Standard Webhooks, both ways. */
const toleranceMs = 5 * 60_000;

/** A refusal in the words of the registry; `status` where it differs from the usual one. */
export function refused(
  code: ErrorCode,
  detail?: string,
  status: number = registry[code].status,
): { readonly refused: Refused } {
  const { message } = registry[code];
  return {
    refused: { status, code, message: detail === undefined ? message : `${message} (${detail})` },
  };
}

/** Clocks differ a little. */
export const isFuture = (at: number, now: number): boolean => at - now > furthestMs;

const wrongHeader = (detail: string) => refused('header_validation_failed', detail);

/** A header that is there once. */
function header(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * Whether a text is one of these, in a time that tells nothing about them: their hashes are
 * compared, and all of them.
 */
function isOneOf(text: string, known: readonly string[]): boolean {
  const asked = hash('sha256', text, 'buffer');
  let found = false;
  for (const one of known) found = timingSafeEqual(asked, hash('sha256', one, 'buffer')) || found;
  return found;
}

/** Content type and token: what every sender has, also one that cannot sign. */
export function checkSender(
  headers: Headers,
  tokens: readonly string[],
): { readonly refused?: Refused } {
  if (!/^application\/json *(?:;|$)/i.test(header(headers, 'content-type') ?? ''))
    return wrongHeader('Content-Type is application/json');
  if (!/^(?:identity)?$/i.test(header(headers, 'content-encoding') ?? ''))
    return wrongHeader('Content-Encoding: the body is not compressed');
  const token = /^Bearer +(\S+) *$/i.exec(header(headers, 'authorization') ?? '')?.[1];
  if (token === undefined || !isOneOf(token, tokens))
    return wrongHeader('Authorization has the token of this tenant');
  return {};
}

/** The headers of a signed request. */
export interface Sent {
  readonly id: string;
  /** When it was sent, by the sender's clock, and the text that is signed. */
  readonly at: number;
  readonly timestamp: string;
  readonly signature: string;
}

export function checkHeaders(
  headers: Headers,
  credentials: Omit<Credentials, 'secrets'>,
): Read<Sent> {
  const sender = checkSender(headers, credentials.tokens);
  if (sender.refused) return { refused: sender.refused };
  return credentials.legacy
    ? legacyHeaders(headers, credentials.now)
    : standardHeaders(headers, credentials.now);
}

/**
 * Standard Webhooks: the signature covers id, timestamp and body, so a captured request is only
 * ever the same one.
 */
function standardHeaders(headers: Headers, now: number): Read<Sent> {
  const signature = header(headers, 'webhook-signature');
  if (signature === undefined || !/^(?:v[0-9a-z]+,\S+)(?: v[0-9a-z]+,\S+)*$/.test(signature))
    return wrongHeader('webhook-signature is v1, and an HMAC-SHA256 in base64');
  const id = header(headers, 'webhook-id');
  if (id === undefined || !isSenderId(id))
    return wrongHeader('webhook-id has 1 to 200 printable characters');
  const timestamp = header(headers, 'webhook-timestamp') ?? '';
  if (!/^\d{1,12}$/.test(timestamp)) return wrongHeader('webhook-timestamp is in Unix seconds');
  const at = Number(timestamp) * 1_000;
  if (now - at > toleranceMs) return refused('timestamp_too_old', 'webhook-timestamp');
  if (at - now > toleranceMs) return refused('timestamp_in_future', 'webhook-timestamp');
  return { ok: { id, at, timestamp, signature } };
}

/**
 * The older form, for senders that cannot change yet. Whoever captures a request can send it again
 * under another id.
 */
function legacyHeaders(headers: Headers, now: number): Read<Sent> {
  const signature = /^sha256=([0-9a-f]{64})$/i.exec(
    header(headers, 'x-webhook-signature') ?? '',
  )?.[1];
  if (signature === undefined)
    return wrongHeader('X-Webhook-Signature is sha256= and 64 hexadecimal digits');
  const id = header(headers, 'x-webhook-id');
  if (id === undefined || !isSenderId(id))
    return wrongHeader('X-Webhook-ID has 1 to 200 printable characters');
  const timestamp = header(headers, 'x-webhook-timestamp') ?? '';
  const at = /^\d{1,15}$/.test(timestamp) ? Number(timestamp) * 1_000 : momentOf(timestamp);
  if (at === undefined) return wrongHeader('X-Webhook-Timestamp is in Unix seconds or RFC 3339');
  if (now - at > oldestMs) return refused('timestamp_too_old', 'X-Webhook-Timestamp');
  if (isFuture(at, now)) return refused('timestamp_in_future', 'X-Webhook-Timestamp');
  return { ok: { id, at, timestamp, signature } };
}

/** Whether the request came from somebody who has one of the secrets, as it was sent. */
export function isSigned(
  body: Buffer,
  sent: Sent,
  { secrets, legacy }: Pick<Credentials, 'secrets' | 'legacy'>,
): boolean {
  if (!legacy) return isSignedWebhook(sent, body, secrets.map(keyOf));
  const given = Buffer.from(sent.signature, 'hex');
  let found = false;
  for (const secret of secrets) {
    const expected = createHmac('sha256', secret).update(body).update(sent.timestamp).digest();
    found = timingSafeEqual(expected, given) || found;
  }
  return found;
}

/**
 * A secret with the prefix of Standard Webhooks has its key in base64. Any other is the key itself.
 */
const keyOf = (secret: string): Buffer =>
  secret.startsWith('whsec_') ? webhookKey(secret) : Buffer.from(secret);

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The object that a body is. */
export function parseBody(body: Buffer): Read<Fields> {
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(body));
  } catch {
    return refused('body_parse_error');
  }
  return isFields(value) ? { ok: value } : refused('body_parse_error');
}

/** Everything up to the fields. A body that is too large to be read is not verified either. */
export function readSigned(
  { headers, body }: Request,
  credentials: Credentials,
): Read<{ readonly sent: Sent; readonly fields: Fields }> {
  const sent = checkHeaders(headers, credentials);
  if (sent.refused) return sent;
  if (body.length > bodyBytes) return refused('body_too_large');
  if (!isSigned(body, sent.ok, credentials)) return refused('signature_invalid');
  const fields = parseBody(body);
  if (fields.refused) return fields;
  return { ok: { sent: sent.ok, fields: fields.ok } };
}

/** Whether a field is there: null and an empty text say nothing. */
export const isMissing = (value: unknown): boolean =>
  value === undefined || value === null || value === '';

/** When something was observed, by the body. */
export function checkMoment(value: unknown, now: number): Read<number> {
  const at = typeof value === 'string' ? momentOf(value) : undefined;
  if (at === undefined) return refused('invalid_timestamp_format', 'timestamp');
  // The request itself is fresh and signed: what is wrong is a value, and so the status is that of
  // values.
  if (now - at > oldestMs) return refused('timestamp_too_old', 'timestamp', 400);
  if (isFuture(at, now)) return refused('timestamp_in_future', 'timestamp');
  return { ok: at };
}
