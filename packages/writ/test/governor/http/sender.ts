/** A sender of signals, as somebody outside would write it from the contract. */
import { createHmac } from 'node:crypto';

export const now = Date.parse('2026-03-01T10:00:00Z');
export const secret = 'signing-secret-of-acme';
export const token = 'bearer-token-of-acme';
export const credentials = { secrets: [secret], tokens: [token], now };

export const signal = {
  source: 'monitoring',
  type: 'cpu_utilization',
  timestamp: '2026-03-01T09:59:30Z',
  severity: 'HIGH',
  value: 82.5,
};

export type Body = string | Buffer | object;

export const bytesOf = (body: Body): Buffer =>
  Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));

interface Changed {
  readonly at?: string;
  readonly secret?: string;
  readonly id?: string;
  readonly headers?: Record<string, string | undefined>;
}

type Sent = { headers: Record<string, string>; body: Buffer };

/**
 * A request that is right in every way, but for what is given. A header that is undefined is left
 * out.
 */
export function signed(body: Body = signal, changed: Changed = {}): Sent {
  const bytes = bytesOf(body);
  const at = changed.at ?? String(now / 1_000);
  const id = changed.headers?.['webhook-id'] ?? changed.id ?? 'signal-1';
  const signature = createHmac('sha256', changed.secret ?? secret)
    .update(Buffer.concat([Buffer.from(`${id}.${at}.`), bytes]))
    .digest('base64');
  return sent(bytes, {
    'webhook-signature': `v1,${signature}`,
    'webhook-id': id,
    'webhook-timestamp': at,
    ...changed.headers,
  });
}

/** The same in the older form, which does not cover the id. */
export function legacySigned(body: Body = signal, changed: Changed = {}): Sent {
  const bytes = bytesOf(body);
  const at = changed.at ?? String(now / 1_000);
  const signature = createHmac('sha256', changed.secret ?? secret)
    .update(Buffer.concat([bytes, Buffer.from(at)]))
    .digest('hex');
  return sent(bytes, {
    'x-webhook-signature': `sha256=${signature}`,
    'x-webhook-id': 'signal-1',
    'x-webhook-timestamp': at,
    ...changed.headers,
  });
}

function sent(body: Buffer, signature: Record<string, string | undefined>): Sent {
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
    ...signature,
  };
  return {
    headers: Object.fromEntries(
      Object.entries(headers).filter(([, value]) => value !== undefined),
    ) as Record<string, string>,
    body,
  };
}

/** The same, signed at the time that it is. */
export const signedNow = (
  body: Body = { ...signal, timestamp: new Date().toISOString() },
  headers: Record<string, string | undefined> = {},
) => signed(body, { at: String(Math.floor(Date.now() / 1_000)), headers });
