import type { PlanStep } from './document.js';
import { wrong } from './schema.js';

/** How many names of a long cycle are shown. */
const shownNames = 12;

/**
 * The steps, each behind those that it waits for. Steps that stand so already stay where they are;
 * others are drawn before the first that needs them.
 */
export function inOrder(steps: readonly PlanStep[]): PlanStep[] {
  const byId = new Map<string, PlanStep>();
  for (const step of steps) {
    if (byId.has(step.id))
      throw wrong(`step ${step.id} is there twice; every step has an id of its own`);
    byId.set(step.id, step);
  }
  const ordered = new Set<PlanStep>();
  const path = new Set<string>();
  const place = (step: PlanStep) => {
    if (ordered.has(step)) return;
    if (path.has(step.id)) throw wrong(cycle([...path], step.id));
    path.add(step.id);
    for (const id of step.after ?? []) {
      const before = byId.get(id);
      if (!before) throw wrong(`step ${step.id}: after names ${id}, and the plan has no such step`);
      place(before);
    }
    path.delete(step.id);
    ordered.add(step);
  };
  for (const step of steps) place(step);
  return [...ordered];
}

function cycle(path: readonly string[], again: string): string {
  const names = [...path.slice(path.indexOf(again)), again];
  const shown = names.length > shownNames ? [...names.slice(0, shownNames - 1), '…', again] : names;
  return `steps wait for each other in a circle: ${shown.join(' → ')}, where each waits for the next`;
}

/**
 * Which steps have surely ended when a step begins: those that it waits for, those that they wait
 * for, and so on. Steps must be in order.
 */
export function ancestry(steps: readonly PlanStep[]): (step: string, other: string) => boolean {
  const bits = new Map(steps.map(({ id }, index) => [id, 1n << BigInt(index)]));
  const before = new Map<string, bigint>();
  for (const { id, after = [] } of steps) {
    before.set(
      id,
      after.reduce((all, one) => all | (bits.get(one) ?? 0n) | (before.get(one) ?? 0n), 0n),
    );
  }
  return (step, other) => ((before.get(step) ?? 0n) & (bits.get(other) ?? 0n)) !== 0n;
}
