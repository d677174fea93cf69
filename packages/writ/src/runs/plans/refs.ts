/** Refs as data: what one points to, and which ones a template or a condition holds. */
import type { Condition, Template } from './document.js';

export type Target =
  | { readonly root: 'input' | 'item'; readonly path: readonly string[] }
  | { readonly root: 'run'; readonly path: readonly ['id'] }
  | { readonly root: 'step'; readonly stepId: string; readonly path: readonly string[] };

/**
 * A step's id may have dots in it: it ends at the first `.output`, which is why no id has a part of
 * that name behind its first.
 */
const grammar = /^(?:(input|item)|run\.(id)|steps\.(.+?)\.output)((?:\.[^.\p{Cc}]+)*)$/u;

/** What a ref points to; undefined if it is none. */
export function parseRef(ref: string): Target | undefined {
  const match = grammar.exec(ref);
  if (!match) return undefined;
  const path = match[4] ? match[4].slice(1).split('.') : [];
  if (match[2]) return path.length > 0 ? undefined : { root: 'run', path: ['id'] };
  if (match[3] !== undefined) return { root: 'step', stepId: match[3], path };
  return { root: match[1] as 'input' | 'item', path };
}

/** The ref that a value of a template is, if it is one. */
export function refIn(value: Template): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { $ref } = value as { $ref?: Template };
  return typeof $ref === 'string' && Object.keys(value).length === 1 ? $ref : undefined;
}

/** The name of the secret that a value of a template stands for, if it does. */
export function secretNameIn(value: Template): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { $secret } = value as { $secret?: Template };
  return typeof $secret === 'string' && Object.keys(value).length === 1 ? $secret : undefined;
}

/** Every ref of a template, as it is written. */
export function* refsOf(template: Template): Generator<string> {
  if (typeof template !== 'object' || template === null) return;
  const ref = refIn(template);
  if (ref !== undefined) yield ref;
  else for (const value of Object.values(template)) yield* refsOf(value);
}

/** Every ref that a condition asks about. */
export function* refsOfCondition(condition: Condition): Generator<string> {
  if ('ref' in condition) yield condition.ref;
  else if ('not' in condition) yield* refsOfCondition(condition.not);
  else
    for (const one of 'all' in condition ? condition.all : condition.any)
      yield* refsOfCondition(one);
}
