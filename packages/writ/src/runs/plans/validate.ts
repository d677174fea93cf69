/**
 * Whether something is a plan. What comes out is a copy: JSON in canonical form, its steps in
 * order.
 */

import { fitsJsonb } from '../../database/json.js';
import { WritRefusal } from '../../errors/index.js';
import { canonicalize } from '../../ledger/canonical.js';
import { refuseSecrets } from '../../secrets/redaction.js';
import { limits, type PlanDocument, type PlanStep } from './document.js';
import { ancestry, inOrder } from './order.js';
import { parseRef, refsOf, refsOfCondition } from './refs.js';
import { checkPlan, checkStep, wrong } from './schema.js';
import { secretIn } from './secrets.js';

/** The plan, or a refusal that names the step and what is wrong with it. */
export function validatePlan(value: unknown): PlanDocument {
  const plan = copyOf(value);
  checkPlan(plan);
  const { steps: given, ...rest } = plan as { steps: unknown[] };
  const steps = given.map((step, index) => {
    checkStep(step, index + 1);
    return step;
  });
  for (const step of steps) {
    const found = secretIn(step);
    if (found) throw new WritRefusal('PLAN_SECRET_INSIDE', `step ${step.id}: ${found}`);
  }
  const ordered = inOrder(steps);
  checkRefs(ordered);
  return { ...rest, steps: ordered } as unknown as PlanDocument;
}

/**
 * As JSON has it: nothing that somebody else can still change, and nothing that would be lost on
 * the way to the database.
 */
function copyOf(value: unknown): unknown {
  const text = canonicalText(value, 'the plan');
  refuseSecrets(text, 'the plan', 'PLAN_SECRET_INSIDE');
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.bytes)
    throw wrong(
      `the plan has ${bytes} bytes; ${limits.bytes} are allowed: put what is large into the input`,
    );
  if (!fitsJsonb(text))
    throw wrong('the plan has a NUL character in a text, which a database cannot hold');
  return JSON.parse(text);
}

/** The canonical text of what stands somewhere, or a refusal that says where it has none. */
export function canonicalText(value: unknown, where: string): string {
  try {
    return canonicalize(value);
  } catch (error) {
    if (error instanceof WritRefusal)
      throw wrong(`${where} is not JSON: ${error.detail}`, { cause: error });
    throw error;
  }
}

function checkRefs(steps: readonly PlanStep[]): void {
  const types = new Map(steps.map(({ id, type }) => [id, type]));
  const isBefore = ancestry(steps);
  for (const step of steps) {
    for (const { ref, place, mayBe } of refsWithin(step)) {
      const target = parseRef(ref);
      const fault = (words: string) =>
        wrong(`step ${step.id}: ${place} refers to ${ref}, ${words}`);
      if (target?.root === 'item' && !mayBe.item)
        throw fault('but there is an item only in the input of a step of type each');
      if (target?.root !== 'step') continue;
      const { stepId } = target;
      const type = types.get(stepId);
      if (type === undefined) throw fault(`and the plan has no step ${stepId}`);
      if (stepId === step.id) {
        if (!mayBe.own) throw fault('its own output, which is not there yet');
        continue;
      }
      if (type === 'timer' || type === 'each')
        throw fault(`but a step of type ${type} has no output`);
      if (!isBefore(step.id, stepId))
        throw fault(`which may not have ended by then: add ${stepId} to its after`);
    }
  }
}

interface Found {
  readonly ref: string;
  readonly place: string;
  /** What a ref at this place may point to besides the run and steps before. */
  readonly mayBe: { readonly item?: boolean; readonly own?: boolean };
}

function* refsWithin(step: PlanStep): Generator<Found> {
  if (step.when)
    for (const ref of refsOfCondition(step.when)) yield { ref, place: 'when', mayBe: {} };
  if (step.type !== 'job' && step.type !== 'each') return;
  const item = step.type === 'each';
  if (step.type === 'each') yield { ref: step.over.$ref, place: 'over', mayBe: {} };
  for (const ref of refsOf(step.input ?? null)) yield { ref, place: 'input', mayBe: { item } };
  for (const ref of refsOf(step.compensate?.input ?? null))
    yield { ref, place: 'compensate.input', mayBe: { item, own: true } };
}
