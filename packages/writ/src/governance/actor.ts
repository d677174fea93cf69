/** Who acts, and where: what every call of governance is told. */
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { WritError } from '../errors/index.js';
import { type Principal, principal } from './keys.js';

/** Who acts: the key of a principal, or what `principal(key)` made of it. */
export type Actor = string | Principal;

export interface As {
  /** Who acts; the connection's own `key` unless given. */
  readonly as?: Actor;
}

export interface In extends As {
  readonly tenant?: string;
}

export interface ActingHost {
  readonly db: Queryable;
  /** The key of the connection, for calls that do not say who acts. */
  readonly key: string | undefined;
}

/** The principal whose key signs: an approval or a broken glass needs one. */
export function signerOf(host: Pick<ActingHost, 'key'>, { as }: As): Principal {
  const who = as ?? host.key;
  if (who === undefined)
    throw new WritError('not_authenticated', 'give `as`, or `key` when connecting');
  return typeof who === 'string' ? principal(who) : who;
}

/**
 * What tells a gate who acts. Null without a key: then the database login must be bound to a
 * principal, and the gate refuses otherwise.
 */
export function credentialOf(host: Pick<ActingHost, 'key'>, options: As): string | null {
  return (options.as ?? host.key) === undefined ? null : signerOf(host, options).credential;
}

/** Calls a gate whose parameters are who, what and where. */
export function put<Answer>(
  host: ActingHost,
  name: string,
  what: unknown,
  options: In,
): Promise<Answer> {
  return gate<Answer>(host.db, `${name}($1, $2::text::jsonb, $3)`, [
    credentialOf(host, options),
    JSON.stringify(what),
    options.tenant ?? 'default',
  ]);
}
