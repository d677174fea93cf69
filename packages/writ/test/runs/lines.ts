/** Plans and logs in a few words, for tests that say one thing each. */
import type { RunEvent } from '../../src/runs/events.js';
import type { PlanDocument, PlanStep } from '../../src/runs/plans/document.js';
import { emptySnapshot, type RunSnapshot, reduce } from '../../src/runs/snapshot.js';
import { failure, LogWriter, output, planSha256 } from './histories.js';

export const runId = '0198c0de-0000-7000-8000-000000000002';
export type Line = [type: string, stepId: string, data?: object, attempt?: string];
export const plan = (steps: PlanStep[], more: Partial<PlanDocument> = {}): PlanDocument => ({
  schemaVersion: 1,
  planId: 'p',
  planVersion: '1.0.0',
  steps,
  ...more,
});
export const job = (id: string, more: object = {}): PlanStep => ({
  id,
  type: 'job',
  kind: 'k',
  ...more,
});
export const undoable = { compensate: { kind: 'u' } };

export function logOf(of: PlanDocument, lines: Line[]): RunEvent[] {
  const writer = new LogWriter(runId, of.planVersion);
  writer.write('RunStarted', 'RUN', {
    planId: of.planId,
    planVersion: of.planVersion,
    planSha256: planSha256(of),
    engine: 'native',
  });
  for (const line of lines) writer.write(...line);
  return writer.events;
}

export const started = { planId: 'p', planVersion: '1.0.0', planSha256: 'a', engine: 'native' };
export function log(...lines: Line[]): RunEvent[] {
  const writer = new LogWriter(runId, '1.0.0');
  for (const line of lines) writer.write(...line);
  return writer.events;
}
export const running = (...lines: Line[]) =>
  reduce(emptySnapshot(runId), log(['RunStarted', 'RUN', started], ...lines));
export const stepOf = (snapshot: RunSnapshot, id: string) =>
  snapshot.steps.find((step) => step.stepId === id);

export const ok = (id: string): Line[] => [
  ['StepStarted', id],
  ['StepCompleted', id, { artifacts: [output(id)] }],
];
export const bad = (id: string): Line[] => [
  ['StepStarted', id],
  ['StepFailed', id, failure],
];
export const skipped = (id: string, reasonCode: string): Line => [
  'StepSkipped',
  id,
  { reasonCode },
];
export const signal = (type: string, more: object = {}): Line => [
  'SignalAccepted',
  'RUN',
  { signalId: type, type, principal: 'p', ...more },
  `${type}${JSON.stringify(more)}`,
];
