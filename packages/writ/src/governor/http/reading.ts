/** Where a request leads, and its body: read up to a limit, and no further. */
import type { IncomingMessage } from 'node:http';

export type Route =
  | { readonly to: 'health' }
  | { readonly to: 'signals' | 'alerts'; readonly tenant: string; readonly sku: string }
  | { readonly to: 'entitlement'; readonly tenant: string };

export const routes = [
  'POST /v1/governors/:tenant/:sku/signals',
  'POST /v1/governors/:tenant/:sku/alerts',
  'POST /v1/governors/:tenant/entitlement',
  'GET /healthz',
] as const;

/** Undefined for an address that is none of these. */
export function routeOf(url: string): Route | undefined {
  const path = url.replace(/[?#].*$/s, '');
  if (path === '/healthz') return { to: 'health' };
  const [, first, second, to] =
    /^\/v1\/governors\/([^/]+)\/(?:([^/]+)\/(signals|alerts)|entitlement)$/.exec(path) ?? [];
  const tenant = nameIn(first);
  if (tenant === undefined) return undefined;
  if (second === undefined) return { to: 'entitlement', tenant };
  const sku = nameIn(second);
  return sku === undefined ? undefined : { to: to as 'signals' | 'alerts', tenant, sku };
}

/** A name of a tenant or a SKU, as it stands in an address. */
function nameIn(encoded: string | undefined): string | undefined {
  if (encoded === undefined) return undefined;
  let name: string;
  try {
    name = decodeURIComponent(encoded);
  } catch {
    return undefined; // a % that stands for nothing
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  return /^[^\u0000-\u001f\u007f]{1,200}$/.test(name) ? name : undefined;
}

/**
 * `too_large`: the rest is thrown away as it comes. `gone`: the sender was, before all of it had
 * come.
 */
export type Body = Buffer | 'too_large' | 'gone';

export function bodyOf(request: IncomingMessage, limit: number): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const take = (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit) settle('too_large');
      else chunks.push(chunk);
    };
    const whole = () => settle(Buffer.concat(chunks, length));
    const gone = () => settle('gone');
    const settle = (body: Body) => {
      request.off('data', take).off('end', whole).off('close', gone);
      request.resume();
      resolve(body);
    };
    // stays: a connection may break after this too, and nobody else would hear of it
    request.on('error', gone);
    if (Number(request.headers['content-length'] ?? 0) > limit) settle('too_large');
    else request.on('data', take).on('end', whole).on('close', gone);
  });
}
