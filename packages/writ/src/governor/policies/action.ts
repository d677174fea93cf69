/**
 * An action of a governor policy, from what people write to what is stored: everything that has a
 * default is filled in.
 */
import { WritRefusal } from '../../errors/index.js';
import { actionTypes } from '../action-types.js';
import type { ActionRule, Actuator, Doing } from '../policy-document.js';
import {
  bounds,
  code,
  duration,
  type Fields,
  fieldsOf,
  limits,
  number,
  oneOf,
  parameters,
  permissionName,
  secretName,
  serviceName,
  targetName,
  url,
  uuid,
  whole,
  within,
  wrong,
} from './fields.js';

const doing = ['action_type', 'actuator', 'service', 'target', 'permission', 'parameters'];
const rule = [
  ...doing,
  'bounds',
  'inverse',
  'completion_timeout_ms',
  'not_restored',
  'baseline_ms',
  'cost',
  'probe',
];
const friendly = {
  type: ['action_type'],
  requires: ['permission'],
  completeWithin: ['completion_timeout_ms', duration],
  notRestored: ['not_restored'],
  baselineWithin: ['baseline_ms', duration],
} as const;

/**
 * `requires`: the permission of types that have none by their name, where the action says none
 * itself.
 */
export function actionRule(
  value: unknown,
  place: string,
  requires: string | undefined,
): ActionRule {
  const given = fieldsOf(value, place, rule, friendly);
  const own = doingOf(given, place, { permission: requires });
  if (own.actuator.kind === 'contract' && own.actuator.template_id === undefined)
    throw wrong(within(place, 'actuator.template_id'), 'is missing');
  const at = (name: string) => within(place, name);
  const {
    completion_timeout_ms = 900_000,
    not_restored = 'keep',
    baseline_ms = 60_000,
    cost = 0,
    probe,
  } = given;
  return {
    ...own,
    bounds: bounds(given.bounds ?? {}, at('bounds'), own.parameters),
    inverse: inverseOf(given.inverse, at('inverse'), own),
    completion_timeout_ms: whole(
      completion_timeout_ms,
      at('completion_timeout_ms'),
      1_000,
      limits.completionMs,
    ),
    not_restored: oneOf(['keep', 'rollback'])(not_restored, at('not_restored')),
    baseline_ms: whole(baseline_ms, at('baseline_ms'), 1, limits.baselineMs),
    cost: number(cost, at('cost'), 0, Number.MAX_SAFE_INTEGER),
    ...(probe !== undefined && {
      probe: { url: url(fieldsOf(probe, at('probe'), ['url']).url, at('probe.url')) },
    }),
  };
}

/** What it leaves out is as `usual`. */
function doingOf(
  given: Fields,
  place: string,
  usual: Partial<Record<keyof Doing, unknown>>,
): Doing {
  const at = (name: string) => within(place, name);
  const type = code(given.action_type ?? usual.action_type, at('action_type'));
  const actuator = actuatorOf(given.actuator ?? usual.actuator, at('actuator'));
  return {
    action_type: type,
    actuator,
    service: serviceName(given.service ?? usual.service ?? serviceOf(actuator), at('service')),
    target: targetName(given.target ?? usual.target ?? targetOf(actuator), at('target')),
    permission: permissionOf(type, given.permission, usual.permission, at('permission')),
    parameters: parameters(given.parameters ?? usual.parameters ?? {}, at('parameters')),
  };
}

/** A type that has one by its name has no other: a policy cannot make it easier to get. */
function permissionOf(type: string, own: unknown, usual: unknown, place: string): string {
  const known = actionTypes.get(type)?.permission;
  if (known !== undefined && own !== undefined && own !== known)
    throw wrong(place, `can be nothing but ${known}, which ${type} needs`);
  return permissionName(known ?? own ?? usual, place);
}

const isKind = oneOf(['handler', 'webhook', 'contract']);

function actuatorOf(value: unknown, place: string): Actuator {
  const given = fieldsOf(value, place, ['kind', 'url', 'signed_with', 'template_id'], {
    signedWith: ['signed_with'],
  });
  const kind = isKind(given.kind, within(place, 'kind'));
  const allowed = { handler: [], webhook: ['url', 'signed_with'], contract: ['template_id'] }[
    kind
  ] as readonly string[];
  const unread = Object.keys(given).find((name) => name !== 'kind' && !allowed.includes(name));
  if (unread !== undefined) throw wrong(within(place, unread), `is nothing that a ${kind} has`);
  const { signed_with, template_id } = given;
  if (kind === 'handler') return { kind };
  if (kind === 'contract')
    return {
      kind,
      ...(template_id !== undefined && {
        template_id: uuid(template_id, within(place, 'template_id')),
      }),
    };
  const signed = signed_with !== undefined && {
    signed_with: secretName(signed_with, within(place, 'signed_with')),
  };
  return { kind, url: url(given.url, within(place, 'url')), ...signed };
}

const serviceOf = (actuator: Actuator) =>
  actuator.kind === 'webhook'
    ? new URL(actuator.url).host
    : actuator.kind === 'contract'
      ? 'governance'
      : 'handler';

const targetOf = (actuator: Actuator) =>
  actuator.kind === 'contract' && actuator.template_id !== undefined
    ? `template:${actuator.template_id}`
    : undefined;

/**
 * How an action is undone. In short: a type of action, or for a contract `stop`, or the id of a
 * template.
 */
function inverseOf(value: unknown, place: string, action: Doing): Doing {
  const none = (words: string) =>
    new WritRefusal('action_without_inverse', `${place}: ${action.action_type} ${words}`);
  const ofContract = action.actuator.kind === 'contract';
  const known = actionTypes.get(action.action_type)?.inverse;
  const short =
    typeof value === 'string'
      ? ofContract
        ? contractInverse(value)
        : { action_type: value }
      : value;
  if (short === undefined && (ofContract || known === undefined)) throw none('names none');
  const given = fieldsOf(short ?? {}, place, [...doing, 'template_id'], friendly);
  const { template_id, ...fields } = given;
  if (template_id !== undefined && (!ofContract || fields.actuator !== undefined))
    throw wrong(
      within(place, 'template_id'),
      'belongs to the inverse of a contract, in place of an actuator',
    );
  if (ofContract && template_id === undefined && fields.actuator === undefined)
    throw none(
      "names neither a template_id nor 'stop', which undoes a contract only while it is not completed",
    );
  const type =
    fields.action_type ?? known ?? (ofContract ? `undo_${action.action_type}` : undefined);
  if (type === undefined) throw none('names no type of action that undoes it');
  if (known !== undefined && type !== known)
    throw wrong(within(place, 'action_type'), `can be nothing but ${known}`);
  if (type === action.action_type && fields.parameters === undefined)
    throw none('is undone by its own type, with other parameters, and names none');
  const actuator = template_id === undefined ? action.actuator : { kind: 'contract', template_id };
  const inverse = doingOf({ ...fields, action_type: type }, place, {
    ...action,
    actuator,
    ...(ofContract && { parameters: {} }),
  });
  if (
    inverse.actuator.kind === 'contract' &&
    inverse.actuator.template_id === undefined &&
    !ofContract
  )
    throw wrong(
      within(place, 'actuator'),
      'has no template: only a contract is undone by stopping it',
    );
  return inverse;
}

const contractInverse = (value: string): Fields =>
  value === 'stop' ? { actuator: { kind: 'contract' } } : { template_id: value };
