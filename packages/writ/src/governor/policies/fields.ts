/**
 * What may stand at the places of a governor policy, with the words for what may not. Values are
 * not repeated in words: one may be a secret.
 */
import { WritRefusal } from '../../errors/index.js';
import { type Duration, milliseconds } from '../../queue/duration.js';
import { secretIn } from '../../runs/plans/secrets.js';
import type { ParameterBounds, Parameters } from '../policy-document.js';

export const limits = {
  bytes: 131_072,
  thresholds: 50,
  actions: 50,
  /** As many as a receipt has labels. */
  parameters: 20,
  choices: 50,
  textLength: 1_000,
  urlLength: 2_000,
  cooldownMs: 30 * 86_400_000,
  completionMs: 7 * 86_400_000,
  baselineMs: 86_400_000,
};

export const wrong = (place: string, words: string) =>
  new WritRefusal('invalid_policy', `${place || 'the policy'} ${words}`);

export type Fields = Readonly<Record<string, unknown>>;

const shown = (name: string) =>
  /^[\w.:-]{1,60}$/.test(name)
    ? name
    : JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);
export const within = (place: string, name: string) =>
  place ? `${place}.${shown(name)}` : shown(name);

/**
 * An object with no fields but these. Who gives a name of `friendly` gives the field that it stands
 * for.
 */
export function fieldsOf(
  value: unknown,
  place: string,
  known: readonly string[],
  friendly: Readonly<
    Record<string, readonly [field: string, read?: (value: unknown, place: string) => unknown]>
  > = {},
): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrong(place, `must be an object with ${known.join(', ')}`);
  const fields: Record<string, unknown> = {};
  for (const [name, content] of Object.entries(value)) {
    const [field, read] = (Object.hasOwn(friendly, name) ? friendly[name] : undefined) ?? [name];
    if (!known.includes(field))
      throw wrong(within(place, name), `is not read by anybody; there is ${known.join(', ')}`);
    if (Object.hasOwn(fields, field))
      throw wrong(within(place, name), `says again what ${field} stands for`);
    fields[field] = read ? read(content, within(place, name)) : content;
  }
  return fields;
}

export function text(pattern: RegExp, words: string): (value: unknown, place: string) => string {
  return (value, place) => {
    if (typeof value !== 'string' || !pattern.test(value))
      throw wrong(place, value === undefined ? 'is missing' : `must be ${words}`);
    return value;
  };
}

/** As receipts have them. */
export const code = text(
  /^[a-z][a-z0-9_.:-]{0,99}$/,
  '1 to 100 small letters, digits and _ . : - beginning with a letter',
);
export const principalName = text(/^[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}$/, 'the name of a principal');
export const permissionName = text(
  /^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$/,
  'the name of a permission, such as flags:write',
);
export const secretName = text(/^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$/, 'the name of a secret');
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
export const serviceName = text(/^[^\u0000-\u001f]{1,200}$/, 'a text of 1 to 200 characters');
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
export const targetName = text(/^[^\u0000-\u001f]{1,1000}$/, 'a text of 1 to 1000 characters');
export const uuid = text(
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  'the id of a template, a UUID',
);

export function number(
  value: unknown,
  place: string,
  from = Number.MIN_SAFE_INTEGER,
  to = Number.MAX_SAFE_INTEGER,
): number {
  if (typeof value !== 'number' || !(value >= from && value <= to)) {
    const bounded = from > Number.MIN_SAFE_INTEGER ? ` from ${from} to ${to}` : '';
    throw wrong(place, value === undefined ? 'is missing' : `must be a number${bounded}`);
  }
  return value;
}

export function whole(value: unknown, place: string, from: number, to: number): number {
  if (!Number.isInteger(number(value, place, from, to)))
    throw wrong(place, 'must be a whole number');
  return value as number;
}

/** A duration as people write it, in milliseconds. */
export function duration(value: unknown, place: string): number {
  try {
    return milliseconds(value as Duration);
  } catch {
    throw wrong(place, "must be a duration: milliseconds, or a text such as '30s', '5m', '2h'");
  }
}

export function oneOf<Word extends string>(
  words: readonly Word[],
): (value: unknown, place: string) => Word {
  return (value, place) => {
    if (!words.includes(value as Word)) throw wrong(place, `must be one of ${words.join(', ')}`);
    return value as Word;
  };
}

type Plain = string | number | boolean;

function plain(value: unknown, place: string): Plain {
  if (typeof value === 'number') return number(value, place);
  if (typeof value !== 'boolean' && (typeof value !== 'string' || value.length > limits.textLength))
    throw wrong(
      place,
      `must be a number, true, false, or a text of at most ${limits.textLength} characters`,
    );
  return value;
}

export function record<Value>(
  value: unknown,
  place: string,
  most: number,
  name: (value: unknown, place: string) => string,
  read: (value: unknown, place: string, name: string) => Value,
): Record<string, Value> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrong(place, 'must be an object');
  const entries = Object.entries(value);
  if (entries.length > most)
    throw wrong(place, `has ${entries.length} members; ${most} are allowed`);
  return Object.fromEntries(
    entries.map(([key, member]) => [
      name(key, `the name of ${within(place, key)}`),
      read(member, within(place, key), key),
    ]),
  );
}

const parameterName = text(
  /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/,
  '1 to 64 letters, digits and _ . - beginning with a letter',
);

export function parameters(value: unknown, place: string): Parameters {
  const secret = secretIn(value);
  if (secret) throw wrong(place, `hold a secret: ${secret}`);
  return record(value, place, limits.parameters, parameterName, plain);
}

/** The bounds of parameters, which lie within them. */
export function bounds(
  value: unknown,
  place: string,
  given: Parameters,
): Record<string, ParameterBounds> {
  return record(value, place, limits.parameters, parameterName, (one, where, name) => {
    const own = Object.hasOwn(given, name) ? given[name] : undefined;
    if (own === undefined) throw wrong(where, 'are bounds of a parameter that has no value');
    const { in: choices, min, max } = fieldsOf(one, where, ['min', 'max', 'in']);
    if (choices === undefined) {
      const range = {
        min: number(min, within(where, 'min')),
        max: number(max, within(where, 'max')),
      };
      if (typeof own !== 'number' || own < range.min || own > range.max)
        throw wrong(where, 'do not have the value of the parameter between them');
      return range;
    }
    if (min !== undefined || max !== undefined) throw wrong(where, 'have min and max, or in');
    if (!Array.isArray(choices) || choices.length === 0 || choices.length > limits.choices)
      throw wrong(within(where, 'in'), `must be a list of 1 to ${limits.choices} values`);
    const list = choices.map((choice, at) => plain(choice, within(where, `in.${at}`)));
    if (!list.includes(own))
      throw wrong(where, 'do not have the value of the parameter among them');
    return { in: list };
  });
}

/**
 * Https, or http to this machine: what is sent cannot be read on the way. Whether a worker goes
 * there is for whoever runs it to say.
 */
export function url(value: unknown, place: string): string {
  if (typeof value !== 'string' || value.length > limits.urlLength || !URL.canParse(value))
    throw wrong(place, 'must be a URL');
  const { protocol, hostname, username, password, hash, searchParams } = new URL(value);
  const loopback =
    hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && loopback))
    throw wrong(place, 'must begin with https://');
  if (username || password)
    throw wrong(place, 'has credentials in it, which everybody who reads the policy would see');
  if (hash) throw wrong(place, 'has a part behind #, which is never sent');
  const secret = secretIn(Object.fromEntries(searchParams));
  if (secret) throw wrong(place, `has a secret in it: ${secret}`);
  return value;
}
