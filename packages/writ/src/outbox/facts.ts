/** Events as the gates of the outbox answer them, and the envelopes that are made of them. */
import { type CloudEvent, cloudEvent, type SourceKind, sourceOf } from './envelope.js';

/**
 * Id, type, subject, tenant, milliseconds since 1970, actor, number in its run, step, logical
 * attempt, engine's attempt, data; and where its run or job has one, its place in a trace.
 */
export type CompactFact = [
  id: string,
  type: string,
  subject: string,
  tenant: string | null,
  ms: number,
  actor: string,
  runSeq: number | null,
  stepId: string | null,
  logicalAttempt: string | null,
  engineAttempt: number | null,
  data: object,
  traceparent?: string,
];

/** What the event is about, and in order with: a run, a job, an alert, a contract. */
export const streamOf = (fact: CompactFact): string => fact[2];

export const traceOf = (fact: CompactFact): string | undefined => fact[11];

/** By what the type begins with, the longer before the shorter. */
const kinds: readonly (readonly [prefix: string, kind: SourceKind])[] = [
  ['dot.run.', 'run'],
  ['dot.job.', 'job'],
  ['system.alert', 'alert'],
  ['governance.contract', 'contract'],
  ['governance.', 'governanceJob'],
  ['health.signal', 'signal'],
  ['health.incident', 'incident'],
  ['governor.', 'governor'],
];

const kindOf = (type: string): SourceKind =>
  kinds.find(([prefix]) => type.startsWith(prefix))?.[1] ?? 'worker';

/**
 * Where a run's event is about a step, that is the subject; attempts travel with the data, under
 * names that the data of an event does not have.
 */
export function envelopeOf([
  id,
  type,
  subject,
  tenant,
  ms,
  actor,
  runSeq,
  stepId,
  logical,
  engine,
  data,
  traceparent,
]: CompactFact): CloudEvent {
  const ofRun = runSeq !== null;
  return cloudEvent({
    id,
    type,
    source: sourceOf(kindOf(type), subject),
    ...(ofRun && stepId !== null && stepId !== 'RUN' && { subject: stepId }),
    time: new Date(ms),
    tenant: tenant ?? '_system',
    ...(ofRun && { runId: subject, runSeq }),
    ...(traceparent !== undefined && { traceparent }),
    data: ofRun
      ? {
          ...data,
          stepId,
          logicalAttemptId: logical,
          ...(engine !== null && { engineAttemptId: String(engine) }),
          actor,
        }
      : { ...data, actor },
  });
}

/**
 * Events of one run in the order of their numbers, each where one of that run stood: two
 * transactions can get to a run in another order than to the record.
 */
export function inRunOrder(facts: readonly CompactFact[]): CompactFact[] {
  const last = new Map<string, number>();
  const late = new Set<string>();
  for (const [, , subject, , , , seq] of facts) {
    if (seq === null) continue;
    if (seq < (last.get(subject) ?? 0)) late.add(subject);
    last.set(subject, seq);
  }
  if (late.size === 0) return [...facts];
  const sorted = new Map<string, CompactFact[]>();
  for (const run of late) {
    const seen = new Set<string>();
    const own = facts.filter(([id, , subject]) => subject === run && !seen.has(id) && seen.add(id));
    sorted.set(
      run,
      own.sort((a, b) => (a[6] ?? 0) - (b[6] ?? 0)),
    );
  }
  return facts.flatMap((fact) => {
    const own = sorted.get(fact[2]);
    return own ? own.splice(0, 1) : [fact];
  });
}
