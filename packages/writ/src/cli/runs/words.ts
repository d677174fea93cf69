/** What a log says, for people. */
import type { KnownRunEvent, RunEvent, RunSignalType, SkipReason } from '../../runs/events.js';
import { isTerminal, type RunSnapshot } from '../../runs/snapshot.js';
import { count, oneLine, plural, span } from '../output.js';

export const reasons: Record<SkipReason, string> = {
  CONDITION_FALSE: 'its condition does not hold',
  DEPENDENCY_FAILED: 'what it comes after did not end well',
  OPERATOR_SKIP: 'skipped by a person',
};

/**
 * What an event says beside its type and its step; empty if that is all. Its texts have no say over
 * the terminal.
 */
export function detailOf(event: RunEvent): string {
  return oneLine(detail(event as KnownRunEvent) ?? '');
}

function detail({ eventType, eventData: data }: KnownRunEvent): string | undefined {
  switch (eventType) {
    case 'RunStarted':
      return `${data.planId} ${data.planVersion}${data.originalRunId ? `, again after ${data.originalRunId}` : ''}`;
    case 'StepStarted':
      if (data.items !== undefined)
        return `${plural(data.items, 'item')}, ${data.parallel} at a time`;
      if (data.event !== undefined)
        return `waits for ${data.event}${data.dueAt ? ` until ${moment(data.dueAt)}` : ''}`;
      if (data.dueAt !== undefined) return `until ${moment(data.dueAt)}`;
      return data.worker && `by ${data.worker}`;
    case 'StepFailed':
      return `${data.error.errorCode}: ${data.error.errorMessage}`;
    case 'StepSkipped':
      return reasons[data.reasonCode] ?? data.reasonCode;
    case 'SignalAccepted':
      return `${data.type}${data.stepId ? ` of ${data.stepId}` : ''} by ${data.principal}${because(data.reason)}`;
    case 'SignalRejected':
      return `${data.type} by ${data.principal}: ${data.code}${because(data.reason)}`;
    case 'RunPaused':
      return `${data.reason}${data.draining > 0 ? `; ${plural(data.draining, 'step')} may finish` : ''}`;
    case 'RunFailed':
      return [
        data.rootCause &&
          `${data.rootCause.stepId}: ${data.rootCause.errorCode}: ${data.rootCause.errorMessage}`,
        undone(data.undone),
      ]
        .filter(Boolean)
        .join('; ');
    case 'RunCancelled':
      return [data.reason, undone(data.undone)].filter(Boolean).join('; ');
  }
  return undefined;
}

const because = (reason: string | undefined) => (reason ? `: ${reason}` : '');
const undone = (is: boolean | undefined) =>
  is === undefined
    ? undefined
    : is
      ? 'what was done has been undone'
      : 'not everything that was done could be undone';

/** A moment as lines of commands show it: to the second, in UTC. */
export const moment = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;

/** The time of an event within its day. */
export const clockTime = (at: string): string => at.slice(11, 23);

/** How a run ended, and why; undefined while it goes on. */
export function endOf(snapshot: RunSnapshot): string | undefined {
  if (!isTerminal(snapshot)) return undefined;
  const { status, totalDurationMs, rootCause, reason } = snapshot;
  const took = totalDurationMs === undefined ? '' : ` after ${span(totalDurationMs)}`;
  const why = rootCause
    ? `: ${rootCause.stepId}: ${rootCause.errorCode}: ${rootCause.errorMessage}`
    : reason
      ? `: ${reason}`
      : '';
  const end = `${status}${took}${why}`;
  return oneLine(
    snapshot.undone === undefined ? end : `${end.replace(/\.$/, '')}; ${undone(snapshot.undone)}`,
  );
}

/** What a step does besides its own job, in a few words. */
export const ofItems = ({
  total,
  succeeded,
  skipped,
  failed,
}: {
  total: number;
  succeeded: number;
  skipped: number;
  failed: number;
}) =>
  `${count(succeeded + skipped)}/${count(total)}${failed > 0 ? `, ${count(failed)} failed` : ''}`;

export const signals: Readonly<Partial<Record<RunSignalType, string>>> = {
  PAUSE: 'nothing new starts, what runs goes on to its end',
  RESUME: 'a paused run goes on',
  CANCEL: 'ends the run, and undoes what was done',
  EMERGENCY_STOP: 'ends the run, and undoes nothing; needs --reason',
  RETRY_STEP: 'a failed step is tried again; needs --step',
  SKIP_STEP: 'goes on without a step; needs --step',
  RETRY_RUN: 'a new run of the same plan with the same input, after one that ended badly',
  UPDATE_PARAMS: 'changes the input of steps that have not started; needs --params',
};
