/**
 * A governor policy, from what people write to what is stored, hashed and decided by. What is
 * normal already stays as it is.
 */
import { fitsJsonb } from '../../database/json.js';
import { WritRefusal } from '../../errors/index.js';
import { canonicalize } from '../../ledger/canonical.js';
import { secretIn } from '../../runs/plans/secrets.js';
import { refuseSecrets } from '../../secrets/redaction.js';
import type { ActionRule, GovernorPolicy, Threshold } from '../policy-document.js';
import { actionRule } from './action.js';
import {
  code,
  duration,
  fieldsOf,
  limits,
  number,
  oneOf,
  permissionName,
  principalName,
  record,
  text,
  whole,
  within,
  wrong,
} from './fields.js';

const policyName = text(
  /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/,
  '1 to 100 letters, digits and _ . - beginning with a letter or digit',
);

export function normalPolicy(value: unknown): GovernorPolicy {
  const given = fieldsOf(
    copyOf(value),
    '',
    ['policy_id', 'principal', 'when', 'actions', 'then', 'requires', 'budget'],
    {
      id: ['policy_id'],
      as: ['principal'],
    },
  );
  const requires =
    given.requires === undefined ? undefined : permissionName(given.requires, 'requires');
  const actions = actionsOf(given.actions, given.then, requires);
  const when = record(given.when, 'when', limits.thresholds, code, (threshold, place) =>
    thresholdOf(threshold, place, actions),
  );
  if (Object.keys(when).length === 0) throw wrong('when', 'names no type of signal');
  return frozen({
    policy_id: policyName(given.policy_id, 'policy_id'),
    principal: principalName(given.principal ?? 'governor', 'principal'),
    when,
    actions,
    budget:
      (given.budget ?? null) === null
        ? null
        : number(given.budget, 'budget', 0, Number.MAX_SAFE_INTEGER),
  });
}

/**
 * As JSON has it: nothing that somebody else can still change, nothing that would be lost on the
 * way to the database, and no secret.
 */
function copyOf(value: unknown): unknown {
  const json = canonicalText(value);
  refuseSecrets(json, 'the governor policy');
  const bytes = Buffer.byteLength(json);
  if (bytes > limits.bytes) throw wrong('', `has ${bytes} bytes; ${limits.bytes} are allowed`);
  if (!fitsJsonb(json))
    throw wrong('', 'has a NUL character in a text, which a database cannot hold');
  // Each text by its form alone: revoke_token is a good name for a type of action. What parameters
  // are named is looked at with them.
  return JSON.parse(json, (name, part: unknown) => {
    const secret = typeof part === 'string' ? secretIn(part) : undefined;
    if (secret) throw wrong('', `holds a secret: at ${name.slice(0, 60)}, ${secret}`);
    return part;
  });
}

function canonicalText(value: unknown): string {
  try {
    return canonicalize(value);
  } catch (error) {
    if (!(error instanceof WritRefusal)) throw error;
    throw new WritRefusal('invalid_policy', `the policy is not JSON: ${error.detail}`, {
      cause: error,
    });
  }
}

/** By their types: as they are stored, or as `then` has them, one or a list. */
function actionsOf(
  stored: unknown,
  then: unknown,
  requires: string | undefined,
): Record<string, ActionRule> {
  if (stored !== undefined && then !== undefined)
    throw wrong('then', 'says again what actions stands for');
  if (stored !== undefined)
    return record(stored, 'actions', limits.actions, code, (value, place, type) => {
      const rule = actionRule(value, place, requires);
      if (rule.action_type !== type)
        throw wrong(within(place, 'action_type'), `must be the name that it stands under, ${type}`);
      return rule;
    });
  const list = then === undefined ? [] : Array.isArray(then) ? then : [then];
  if (list.length > limits.actions)
    throw wrong('then', `has ${list.length} actions; ${limits.actions} are allowed`);
  const rules = list.map((value, at) =>
    actionRule(value, Array.isArray(then) ? `then.${at}` : 'then', requires),
  );
  const twice = rules.find(
    ({ action_type }, at) => rules.findIndex((other) => other.action_type === action_type) < at,
  );
  if (twice)
    throw wrong('then', `has ${twice.action_type} twice: give one of them a type of its own`);
  return Object.fromEntries(rules.map((rule) => [rule.action_type, rule]));
}

const isDirection = oneOf(['above', 'below']);

function thresholdOf(
  value: unknown,
  place: string,
  actions: Readonly<Record<string, ActionRule>>,
): Threshold {
  const fields = [
    'direction',
    'limit',
    'clear',
    'cooldown_ms',
    'action',
    'above',
    'clearBelow',
    'below',
    'clearAbove',
    'then',
  ];
  const given = fieldsOf(value, place, fields, { cooldown: ['cooldown_ms', duration] });
  const at = (name: string) => within(place, name);
  const { direction, limit, clear, action } =
    given.direction === undefined
      ? shortThreshold(given, place, actions)
      : storedThreshold(given, place);
  const threshold = {
    direction,
    limit: number(limit, at(given.direction === undefined ? direction : 'limit')),
    clear: number(
      clear ?? limit,
      at(
        given.direction === undefined
          ? `clear${direction === 'above' ? 'Below' : 'Above'}`
          : 'clear',
      ),
    ),
    cooldown_ms: whole(given.cooldown_ms ?? 60_000, at('cooldown'), 0, limits.cooldownMs),
  };
  if (direction === 'above' ? threshold.clear > threshold.limit : threshold.clear < threshold.limit)
    throw wrong(
      place,
      `clears on the wrong side: with ${direction}, what clears it is ${direction === 'above' ? 'at most' : 'at least'} the limit`,
    );
  if (action === undefined) return threshold;
  if (!Object.hasOwn(actions, code(action, at('action'))))
    throw wrong(place, `is answered by ${String(action)}, which is no action of the policy`);
  return { ...threshold, action: String(action) };
}

interface Stood {
  readonly direction: 'above' | 'below';
  readonly limit: unknown;
  readonly clear: unknown;
  readonly action: unknown;
}

/** As it is stored: what it does not name it does not have. */
function storedThreshold(given: Readonly<Record<string, unknown>>, place: string): Stood {
  const short = ['above', 'clearBelow', 'below', 'clearAbove', 'then'].find(
    (name) => name in given,
  );
  if (short !== undefined) throw wrong(within(place, short), 'does not stand beside direction');
  const { limit, clear, action } = given;
  return {
    direction: isDirection(given.direction, within(place, 'direction')),
    limit,
    clear,
    action,
  };
}

/** As people write it: the only action answers, unless `then` says another, or false for none. */
function shortThreshold(
  given: Readonly<Record<string, unknown>>,
  place: string,
  actions: Readonly<Record<string, ActionRule>>,
): Stood {
  const stored = ['limit', 'clear', 'action'].find((name) => name in given);
  if (stored !== undefined) throw wrong(within(place, stored), 'needs direction beside it');
  if ('above' in given === 'below' in given)
    throw wrong(place, 'must have above or below, one of them');
  const direction = 'above' in given ? 'above' : 'below';
  const other = direction === 'above' ? 'clearAbove' : 'clearBelow';
  if (other in given) throw wrong(within(place, other), `does not stand beside ${direction}`);
  const types = Object.keys(actions);
  const { then } = given;
  if (then === undefined && types.length > 1)
    throw wrong(
      within(place, 'then'),
      `has to say which action answers, or false: ${types.join(', ')}`,
    );
  return {
    direction,
    limit: given[direction],
    clear: direction === 'above' ? given.clearBelow : given.clearAbove,
    action: then === false ? undefined : (then ?? types[0]),
  };
}

function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}
