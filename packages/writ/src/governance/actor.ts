/** Who acts, and where: the options of every call of governance. */
import { type Acting, act, type Host } from '../database/acting.js';
import { WritError } from '../errors/index.js';
import { type Principal, principal } from './keys.js';

/** A principal that a login with writ_server has authenticated, and names. It cannot sign. */
export interface Named {
  readonly principalId: string;
}

/**
 * Who acts: the key of a principal, what `principal(key)` made of it, or, for the API server, its
 * name.
 */
export type Actor = string | Principal | Named;

export interface As {
  /** Who acts; the connection's own `key` unless given. */
  readonly as?: Actor;
}

export interface In extends As, Acting {}

/**
 * Whose things a read is about: one tenant, the connection's own, or all that the login may see.
 */
export interface Reading {
  readonly tenant?: string | undefined;
}

/** The tenant that a read is limited to. */
export const tenantRead = (
  host: Pick<ActingHost, 'tenant'>,
  { tenant }: Reading,
): string | undefined => tenant ?? host.tenant;

export interface ActingHost extends Host {
  /** The key of the connection, for calls that do not say who acts. */
  readonly key: Actor | undefined;
}

/** The principal whose key signs: an approval or a broken glass needs one. */
export function signerOf(host: Pick<ActingHost, 'key'>, { as }: As): Principal {
  const who = as ?? host.key;
  if (who === undefined)
    throw new WritError('not_authenticated', 'give `as`, or `key` when connecting');
  if (typeof who === 'string') return principal(who);
  if ('principalId' in who)
    throw new WritError('not_authenticated', `${who.principalId} signs with a key of its own`);
  return who;
}

/**
 * What tells a gate who acts. Null without a key: then the database login must be bound to a
 * principal, and the gate refuses otherwise.
 */
export function credentialOf(host: Pick<ActingHost, 'key'>, options: As): string | null {
  const who = options.as ?? host.key;
  if (who === undefined) return null;
  return typeof who === 'object' && 'principalId' in who
    ? who.principalId
    : signerOf(host, options).credential;
}

/**
 * Calls a gate whose first parameter is who acts. `params` are the others, from `$2` on; `means` is
 * as in `act`.
 */
export function actAs<Answer>(
  host: ActingHost,
  call: string,
  params: readonly (string | number | null)[],
  options: In = {},
  means: unknown = params,
): Promise<Answer> {
  const credential = credentialOf(host, options);
  return act<Answer>(host, call, [credential, ...params], options, { credential, means });
}

/** Calls a gate whose parameters are who, what and where. */
export function put<Answer>(
  host: ActingHost,
  name: string,
  what: unknown,
  options: In,
): Promise<Answer> {
  const where = options.tenant ?? host.tenant ?? 'default';
  const params = [JSON.stringify(what), where];
  return actAs<Answer>(host, `${name}($1, $2::text::jsonb, $3)`, params, options);
}
