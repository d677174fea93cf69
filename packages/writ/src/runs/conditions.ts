/** What a reference of a plan refers to, and whether a condition holds. */
import { canonicalize } from '../ledger/canonical.js';
import type { Condition } from './plans/document.js';

/** What references look into. */
export interface Scope {
  readonly runId: string;
  readonly input: unknown;
  /** The ids of the plan's steps: an id may have dots in it, as a path has. */
  readonly stepIds: readonly string[];
  /** The output of a step; undefined if it has none. */
  readonly outputs: (stepId: string) => unknown;
}

/** The value of a reference. A path that is not there gives null. */
export function resolveRef(ref: string, scope: Scope): unknown {
  if (ref === 'run.id') return scope.runId;
  if (ref === 'input' || ref.startsWith('input.'))
    return follow(scope.input, ref.slice('input.'.length));
  // The longest id wins: `steps.a.output.output` is of `a.output` if there is such a step.
  const [stepId] = scope.stepIds
    .filter((id) => ref === `steps.${id}.output` || ref.startsWith(`steps.${id}.output.`))
    .sort((a, b) => b.length - a.length);
  return stepId === undefined
    ? null
    : follow(scope.outputs(stepId), ref.slice(`steps.${stepId}.output.`.length));
}

function follow(value: unknown, path: string): unknown {
  let at = value;
  for (const name of path === '' ? [] : path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return null;
    if (Array.isArray(at) && !/^(?:0|[1-9][0-9]*)$/.test(name)) return null;
    at = (at as Record<string, unknown>)[name];
  }
  return at ?? null;
}

/** Whether a condition holds. Only numbers are above or below; what is null does not exist. */
export function holds(condition: Condition, scope: Scope): boolean {
  if ('all' in condition) return condition.all.every((one) => holds(one, scope));
  if ('any' in condition) return condition.any.some((one) => holds(one, scope));
  if ('not' in condition) return !holds(condition.not, scope);
  const value = resolveRef(condition.ref, scope);
  if ('is' in condition) return canonicalize(value) === canonicalize(condition.is);
  if ('isNot' in condition) return canonicalize(value) !== canonicalize(condition.isNot);
  if ('above' in condition) return typeof value === 'number' && value > condition.above;
  if ('below' in condition) return typeof value === 'number' && value < condition.below;
  return (value !== null) === condition.exists;
}
