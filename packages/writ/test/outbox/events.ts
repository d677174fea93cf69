/** Events of runs, as the relay would hand them to a bus. */
import { randomUUID } from 'node:crypto';
import { type CloudEvent, cloudEvent, sourceOf } from '../../src/outbox/envelope.js';

export const never: AbortSignal = new AbortController().signal;

/** The events of some runs, mixed: the first of each, then the second of each, and so on. */
export function eventsOf(runs: number, each: number): CloudEvent[] {
  const ids = Array.from({ length: runs }, () => randomUUID());
  return Array.from({ length: each }, (_, at) => ids.map((runId) => eventOf(runId, at + 1))).flat();
}

export function eventOf(
  runId: string,
  runSeq: number,
  data: unknown = { stepId: 'charge' },
): CloudEvent {
  return cloudEvent({
    id: randomUUID(),
    type: 'dot.run.StepCompleted',
    source: sourceOf('run', runId),
    time: new Date(),
    tenant: 'acme',
    runId,
    runSeq,
    data,
  });
}

/**
 * Whether every run's events are in the order of their numbers, as far as they are there; a
 * repeated one may follow itself.
 */
export function inOrder(events: readonly { partitionkey: string; sequence?: string }[]): boolean {
  const last = new Map<string, string>();
  return events.every(({ partitionkey, sequence = '' }) => {
    const before = last.get(partitionkey) ?? '';
    last.set(partitionkey, sequence);
    return before <= sequence;
  });
}
