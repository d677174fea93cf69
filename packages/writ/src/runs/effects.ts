/**
 * What a signal would change in a run, in sentences for the person who is asked first. They follow
 * from a snapshot and a plan: until the signal arrives, the run goes on.
 */

import { count, plural } from '../errors/words.js';
import type { RunStepState } from '../machines/run-step.js';
import { PlanState, toUndo } from './decide.js';
import type { RunSignal } from './engine.js';
import { itemOf, undoneBy } from './events.js';
import type { PlanDocument, PlanStep } from './plans/document.js';
import { parseRef, refsOf, refsOfCondition } from './plans/refs.js';
import type { RunSnapshot } from './snapshot.js';

interface Facts {
  readonly snapshot: RunSnapshot;
  readonly plan: PlanDocument;
  /** The input as steps see it now; undefined: not known. */
  readonly input?: unknown;
}

export function effectsOf(signal: RunSignal, facts: Facts): string[] {
  const state = new PlanState(facts.plan, facts.snapshot, () => undefined, facts.input);
  switch (signal.type) {
    case 'CANCEL':
      return [...stops(state), ...undoes(state)];
    case 'EMERGENCY_STOP':
      return [...stops(state), stays(state)];
    case 'SKIP_STEP':
      return skips(state, signal.stepId ?? '');
    case 'UPDATE_PARAMS':
      return updates(state, signal.params ?? {}, facts.input);
  }
  return [];
}

const named = (ids: readonly string[]): string =>
  `${ids.slice(0, 8).join(', ')}${ids.length > 8 ? ` and ${count(ids.length - 8)} more` : ''}`;

const inState = (
  state: PlanState,
  fits: (status: RunStepState, step: PlanStep) => boolean,
): string[] =>
  state.plan.steps
    .filter((step) => fits(state.of(step.id)?.status ?? 'PENDING', step))
    .map(({ id }) => id);

function stops(state: PlanState): string[] {
  const works = (step: PlanStep) => step.type === 'job' || step.type === 'each';
  const running = inState(state, (status, step) => status === 'RUNNING' && works(step));
  const waiting = inState(state, (status, step) => status === 'RUNNING' && !works(step));
  const open = inState(state, (status) => status === 'PENDING');
  return [
    running.length > 0
      ? `${plural(running.length, 'step')} running, and told to stop: ${named(running)}.`
      : 'No step is running.',
    ...(waiting.length > 0
      ? [
          `${plural(waiting.length, 'wait or timer', 'waits and timers')} over at once: ${named(waiting)}.`,
        ]
      : []),
    ...(open.length > 0 ? [`${plural(open.length, 'step')} will not begin: ${named(open)}.`] : []),
  ];
}

/** In the order in which it will be done; elements of a list as their step. */
function undoes(state: PlanState): string[] {
  const items = new Map<string, number>();
  for (const id of toUndo(state)) {
    const done = undoneBy(id) ?? id;
    const step = itemOf(done)?.stepId ?? done;
    items.set(step, (items.get(step) ?? 0) + 1);
  }
  const ids = [...items].map(([id, n]) => (n > 1 ? `${id} (${plural(n, 'item')})` : id));
  const kept = lasting(state);
  return [
    ids.length > 0
      ? `${plural(ids.length, 'step')} will be undone, in this order: ${named(ids)}.`
      : 'Nothing will be undone.',
    ...(kept.length > 0 ? [`Done, and nothing undoes it: ${named(kept)}.`] : []),
    ...(state.snapshot.counts.running > 0
      ? ['What still ends well before it stops is undone as well, if it can be.']
      : []),
  ];
}

const lasting = (state: PlanState): string[] =>
  inState(
    state,
    (status, step) =>
      status === 'SUCCESS' && (step.type === 'job' || step.type === 'each') && !step.compensate,
  );

function stays(state: PlanState): string {
  const done = inState(
    state,
    (status, step) => status === 'SUCCESS' && (step.type === 'job' || step.type === 'each'),
  );
  return done.length > 0
    ? `Nothing will be undone. What stays done: ${named(done)}.`
    : 'Nothing has been done yet, and nothing will be undone.';
}

function skips(state: PlanState, stepId: string): string[] {
  const step = state.planned(stepId);
  if (!step)
    return [
      `The plan has no step ${stepId}; it has ${named(state.plan.steps.map(({ id }) => id))}.`,
    ];
  const next = state.plan.steps.filter(({ after = [] }) => after.includes(stepId));
  const begins = next.filter(({ after = [] }) =>
    after.every((id) => id === stepId || state.hasEnded(id)),
  );
  const readers = state.plan.steps.filter((other) =>
    refsIn(other).some((ref) => {
      const target = parseRef(ref);
      return target?.root === 'step' && target.stepId === stepId;
    }),
  );
  return [
    `Step ${stepId} is ${state.of(stepId)?.status ?? 'PENDING'} and will be skipped.`,
    begins.length > 0
      ? `Then begins: ${named(begins.map(({ id }) => id))}.`
      : next.length > 0
        ? 'What comes after it still waits for other steps.'
        : 'Nothing comes after it.',
    ...(readers.length > 0
      ? [`Without its output, which is null for them: ${named(readers.map(({ id }) => id))}.`]
      : []),
  ];
}

function refsIn(step: PlanStep): string[] {
  const refs = step.when ? [...refsOfCondition(step.when)] : [];
  if (step.type === 'each') refs.push(step.over.$ref);
  if (step.type === 'job' || step.type === 'each') refs.push(...refsOf(step.input ?? null));
  return refs;
}

function updates(
  state: PlanState,
  params: Readonly<Record<string, unknown>>,
  input: unknown,
): string[] {
  const before = (typeof input === 'object' && input !== null ? input : {}) as Record<
    string,
    unknown
  >;
  const known = input !== undefined;
  const begun = state.snapshot.steps.filter(
    ({ stepId, status }) => status !== 'PENDING' && state.planned(stepId),
  ).length;
  const changes = Object.entries(params).map(([key, value]) =>
    known
      ? `input.${key}: ${short(before[key])} becomes ${short(value)}`
      : `input.${key} becomes ${short(value)}`,
  );
  return [
    ...(changes.length > 0 ? changes : ['Nothing changes: the params are empty.']),
    `${plural(state.plan.steps.length - begun, 'step')} to come, which will see it; ` +
      `${count(begun)} that have begun keep what they were given.`,
  ];
}

function short(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
