/** A governor policy in words, part by part, and what a new version changes. */
import { span } from '../errors/words.js';
import type {
  ActionRule,
  Actuator,
  Doing,
  GovernorPolicy,
  ParameterBounds,
  Parameters,
  Threshold,
} from './policy-document.js';

const thresholdWords = ({ direction, limit, clear, cooldown_ms, action }: Threshold): string => {
  const well =
    clear === limit ? '' : `, well again ${direction === 'above' ? 'below' : 'above'} ${clear}`;
  return `${direction} ${limit}${well}: ${action === undefined ? 'only observed' : `${action}, then none for ${span(cooldown_ms)}`}`;
};

const actuatorWords = (actuator: Actuator): string => {
  if (actuator.kind === 'webhook')
    return `POST ${actuator.url}${actuator.signed_with === undefined ? '' : `, signed with ${actuator.signed_with}`}`;
  if (actuator.kind === 'contract')
    return actuator.template_id === undefined
      ? 'stops its contract'
      : `contract of template ${actuator.template_id}`;
  return 'by a handler';
};

const boundsWords = (bounds: ParameterBounds | undefined): string =>
  bounds === undefined
    ? ''
    : 'in' in bounds
      ? ` (one of ${bounds.in.join(', ')})`
      : ` (${bounds.min} to ${bounds.max})`;

const parameterWords = (
  parameters: Parameters,
  bounds: Readonly<Record<string, ParameterBounds>> = {},
): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}=${value}${boundsWords(bounds[name])}`)
    .join(', ');

/** What is carried out, without its name. */
const doingWords = (
  { target, actuator, permission, parameters }: Doing,
  bounds?: ActionRule['bounds'],
): string =>
  [
    `${target}, ${actuatorWords(actuator)}`,
    `needs ${permission}`,
    parameterWords(parameters, bounds),
  ]
    .filter(Boolean)
    .join('; ');

const restWords = ({
  not_restored,
  baseline_ms,
  cost,
  probe,
  actuator,
  completion_timeout_ms,
}: ActionRule): string =>
  [
    `if not well after ${span(baseline_ms)}: ${not_restored === 'keep' ? 'kept' : 'undone'}`,
    ...(actuator.kind === 'contract' ? [`completed within ${span(completion_timeout_ms)}`] : []),
    ...(probe ? [`asks ${probe.url}`] : []),
    ...(cost > 0 ? [`costs ${cost}`] : []),
  ].join('; ');

/** By name, what there is to say: thresholds, then each action with its undo, then the rest. */
export function partsOf({ when, actions, principal, budget }: GovernorPolicy): Map<string, string> {
  const parts = new Map<string, string>();
  for (const [type, threshold] of Object.entries(when))
    parts.set(`when ${type}`, thresholdWords(threshold));
  for (const [type, rule] of Object.entries(actions)) {
    parts.set(`action ${type}`, doingWords(rule, rule.bounds));
    parts.set(`  undo of ${type}`, `${rule.inverse.action_type} of ${doingWords(rule.inverse)}`);
    parts.set(`  after ${type}`, restWords(rule));
  }
  parts.set('acts as', principal);
  parts.set('budget', budget === null ? 'without limit' : `${budget} a month`);
  return parts;
}

export interface PolicyChange {
  readonly what: string;
  /** Null: it was not there. */
  readonly before: string | null;
  /** Null: it will not be there. */
  readonly after: string | null;
}

/**
 * What differs, in the order of the new policy; what is gone at the end. Without a new one all of
 * it is gone.
 */
export function changesOf(
  before: GovernorPolicy | null,
  after: GovernorPolicy | null,
): PolicyChange[] {
  const old = before ? partsOf(before) : new Map<string, string>();
  const next = after ? partsOf(after) : new Map<string, string>();
  const changed = [...next].flatMap(([what, words]) => {
    const was = old.get(what) ?? null;
    return was === words ? [] : [{ what: what.trim(), before: was, after: words }];
  });
  const gone = [...old].flatMap(([what, words]) =>
    next.has(what) ? [] : [{ what: what.trim(), before: words, after: null }],
  );
  return [...changed, ...gone];
}

/** Every permission that a policy needs, for doing and for undoing. */
export const permissionsOf = ({ actions }: GovernorPolicy): string[] =>
  [
    ...new Set(
      Object.values(actions).flatMap(({ permission, inverse }) => [permission, inverse.permission]),
    ),
  ].sort();
