/**
 * Which addresses webhooks may go to. Whoever can name an endpoint could otherwise have the relay
 * call what only the relay's network can reach. The check is made on the address that is connected
 * to: a name that is checked first and resolved again later may have changed in between.
 */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { WritError } from '../../errors/index.js';

/** Not of the public Internet, by the IANA registries of special-purpose addresses. */
const special = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  special.addSubnet(network, bits, 'ipv4');
}
// Tunnels among them: the IPv4 address inside one would not be looked at.
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  special.addSubnet(network, bits, 'ipv6');
}
const mapped = new BlockList();
mapped.addSubnet('::ffff:0:0', 96, 'ipv6');
const global = new BlockList();
global.addSubnet('2000::', 3, 'ipv6');

/** Whether an address is one of the public Internet. What is not known to be one is not. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special.check(address, 'ipv4');
  if (family !== 6 || address.includes('%')) return false;
  if (mapped.check(address, 'ipv6')) return isPublic(inner(address));
  return global.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

/** The IPv4 address in an IPv6 one of ::ffff:0:0/96, however it is written. */
function inner(address: string): string {
  const dotted = /[\d.]+$/.exec(new URL(`http://[${address}]`).hostname.slice(1, -1))?.[0];
  if (dotted?.includes('.')) return dotted;
  const [high = '0', low = '0'] = new URL(`http://[${address}]`).hostname
    .slice(1, -1)
    .split(':')
    .slice(-2);
  const number = (Number.parseInt(high || '0', 16) << 16) | Number.parseInt(low || '0', 16);
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
}

/**
 * Private, loopback and link-local addresses that may be reached: all, or these addresses and
 * networks (`10.1.0.0/16`).
 */
export type AllowPrivate = boolean | readonly string[];

export interface Reach {
  /**
   * Take http as well: what is sent can then be read on the way. For tests and private networks.
   */
  readonly allowHttp?: boolean;
  /**
   * Connect to private, loopback and link-local addresses as well: to all, or to these. For tests
   * and private networks.
   */
  readonly allowPrivate?: AllowPrivate;
}

/** Whether an address may be connected to. */
export function mayReach(address: string, allowPrivate: AllowPrivate = false): boolean {
  if (typeof allowPrivate === 'boolean') return allowPrivate || isPublic(address);
  return isPublic(address) || within(address, allowPrivate);
}

function within(address: string, networks: readonly string[]): boolean {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return false;
  if (family === 6 && mapped.check(address, 'ipv6')) return within(inner(address), networks);
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', bits] = network.split('/');
    const kind = isIP(base) === 6 ? 'ipv6' : 'ipv4';
    if (
      !isIP(base) ||
      (bits !== undefined && !/^\d{1,3}$/.test(bits)) ||
      Number(bits ?? 0) > (kind === 'ipv6' ? 128 : 32)
    )
      throw new WritError(
        'invalid_bus',
        `${network} is no address or network; allowPrivate takes 10.1.2.3 or 10.1.0.0/16`,
      );
    if (bits === undefined) list.addAddress(base, kind);
    else list.addSubnet(base, Number(bits), kind);
  }
  return list.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/**
 * The URL of an endpoint, if webhooks may go there. An address in it is checked here, because
 * nobody looks it up; a name when it is connected to.
 */
export function endpointUrl(text: string, { allowHttp = false, allowPrivate = false }: Reach): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new WritError('invalid_bus', 'the endpoint is not an https URL');
  if (url.username || url.password)
    throw new WritError(
      'invalid_bus',
      'the URL of the endpoint has credentials in it, which logs would show',
    );
  if (url.protocol === 'http:' && !allowHttp) {
    throw new WritError(
      'invalid_bus',
      `${url.host} would be called without encryption; allowHttp lets it`,
    );
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) && !mayReach(host, allowPrivate))
    throw new WritError('invalid_bus', `${host} is not a public address; allowPrivate lets it`);
  url.hash = '';
  return url;
}

/**
 * Of the addresses that a name has, those that are public; an error if there is none. `resolve` is
 * the system's, but in tests.
 */
export const publicLookup = (resolve: typeof systemLookup = systemLookup): LookupFunction =>
  lookupWithin({}, resolve);

/** Of the addresses that a name has, those that may be connected to; an error if there is none. */
export function lookupWithin(
  { allowPrivate = false }: Reach,
  resolve: typeof systemLookup = systemLookup,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(
      hostname,
      { ...options, all: true },
      (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => {
        if (error) return callback(error, '', 0);
        const open = found.filter(({ address }) => mayReach(address, allowPrivate));
        const [first] = open;
        if (!first) {
          const refused: NodeJS.ErrnoException = new Error(`${hostname} has no public address`);
          refused.code = 'EADDRESSREFUSED';
          return callback(refused, '', 0);
        }
        if (options.all) callback(null, open);
        else callback(null, first.address, first.family);
      },
    );
  };
}
