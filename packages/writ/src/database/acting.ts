/** Acting: the options of every call that changes something, and the one way to call its gate. */
import { createHash } from 'node:crypto';
import type { Queryable } from './connection.js';
import { ask, assertText } from './gate.js';

export interface Acting {
  /** The tenant that the call is about; the connection's own unless given. */
  readonly tenant?: string | undefined;
  /** The name for the record; the connection's own unless given. */
  readonly actor?: string | undefined;
  /**
   * A key of the caller's, at most 255 characters. The same call with the same key, within
   * requests.retention_hours, changes nothing and answers what the first one answered. Another call
   * with that key is refused (`once_conflict`). A refused call keeps no answer: it may be tried
   * again.
   */
  readonly once?: string | undefined;
  /** Aborts the wait for the answer. The call may still happen. */
  readonly signal?: AbortSignal | undefined;
}

/** What a connection says about all of its calls (`writ.with`). */
export interface Bound {
  readonly tenant?: string | undefined;
  readonly once?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Stands in the record beside what its calls did. */
  readonly requestId?: string | undefined;
  /** The only tenant that its calls may touch, whatever its principal may. */
  readonly only?: string | undefined;
}

/** The part of a connection that a layer acts through. */
export interface Host extends Bound {
  readonly db: Queryable;
  readonly actor: string;
}

export interface Meaning {
  /** What authenticates the principal, as the gate receives it. */
  readonly credential?: string | null;
  /**
   * The call as its caller meant it, to compare two calls with the same key; `params` unless given.
   * Give it where `params` hold what a repetition makes anew: an id, a time, a value read outside.
   */
  readonly means?: unknown;
}

/** The name for the record. */
export const actorOf = (host: Pick<Host, 'actor'>, { actor }: Acting): string =>
  actor ?? host.actor;

/** The tenant that a call is about, if it or its connection names one. */
export const tenantOf = (
  host: Pick<Host, 'tenant'>,
  { tenant }: Pick<Acting, 'tenant'>,
): string | undefined => tenant ?? host.tenant;

/**
 * Calls a gate that changes something. `call` is everything after `writ.`; with `once` also a part
 * of the gate's answer.
 */
export async function act<Answer>(
  host: Bound & { readonly db: Queryable },
  call: string,
  params: readonly (string | number | null)[],
  options: Acting = {},
  { credential = null, means }: Meaning = {},
): Promise<Answer> {
  const { once = host.once, signal = host.signal, tenant = host.tenant } = options;
  signal?.throwIfAborted();
  const values = [...params];
  const param = (value: string | null) => `$${values.push(value)}`;
  let expression = `writ.${call}`;
  if (once !== undefined) {
    const name = call.slice(0, call.indexOf('('));
    const meant = means ?? params.map((value) => (value === credential ? null : value));
    const request = [credential, tenant ?? null, once].map(param).join(', ');
    // One statement, so that effect and answer are one transaction. COALESCE does not evaluate its
    // second part, the effect, if the first one has an answer.
    expression = `coalesce(writ.fn_request_begin(${request}, ${param(digestOf(name, meant))}),
      writ.fn_request_end(${request}, (${expression})::jsonb))`;
  }
  return send<Answer>(host, call, expression, values, signal);
}

/**
 * Does several things in the caller's transaction, under one key. A repetition does none of them,
 * and answers what the first call answered. Without a key it only does them.
 */
export async function actOnce<Answer>(
  host: Bound & { readonly db: Queryable },
  name: string,
  meant: unknown,
  options: Acting,
  act: () => Promise<Answer>,
): Promise<Answer> {
  const { once = host.once, signal = host.signal, tenant = host.tenant } = options;
  signal?.throwIfAborted();
  if (once === undefined) return act();
  const request = [null, tenant ?? null, once];
  const begin = 'fn_request_begin($1, $2, $3, $4)';
  const values = [...request, digestOf(name, meant)];
  // In an object, because `null` says that there was no such call.
  const known = await send<{ answer: Answer } | null>(host, begin, `writ.${begin}`, values, signal);
  if (known !== null) return known.answer;
  const answer = await act();
  const end = 'fn_request_end($1, $2, $3, $4::text::jsonb)';
  await send(host, end, `writ.${end}`, [...request, JSON.stringify({ answer })], signal);
  return answer;
}

/** SHA-256 of a call as its caller meant it. */
const digestOf = (name: string, meant: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([name, meant]))
    .digest('hex');

/** Calls a gate that changes nothing. `call` is everything after `writ.`. */
export function look<Answer>(
  host: Bound & { readonly db: Queryable },
  call: string,
  params: readonly (string | number | null)[],
): Promise<Answer> {
  host.signal?.throwIfAborted();
  return send<Answer>(host, call, `writ.${call}`, [...params], host.signal);
}

/** Sends a call with the settings of its transaction, which the gates read. */
function send<Answer>(
  { db, requestId, only }: Bound & { readonly db: Queryable },
  call: string,
  expression: string,
  values: (string | number | null)[],
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const set = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`set_config('writ.${name}', $${values.push(value)}, true)`];
  const settings = [...set('request_id', requestId), ...set('tenant', only)];
  assertText(call.slice(0, call.indexOf('(')), values);
  const columns = [...settings, `${expression}::text as answer`].join(', ');
  const calling = ask<Answer>(db, `select ${columns}`, values);
  return signal ? unlessAborted(calling, signal) : calling;
}

/** Waits no longer than until the signal aborts, and throws its reason then. */
export async function unlessAborted<Answer>(
  waiting: Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([waiting, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
