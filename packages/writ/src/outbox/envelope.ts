/**
 * The envelope in which facts leave: CloudEvents 1.0, in its JSON format. `id` is the fact's own,
 * so a fact that is sent twice is recognised; `sequence` and `partitionkey` are extensions that
 * CloudEvents documents, for receivers that put a run's events back in order, and so is
 * `traceparent`, for those that trace; `tenantid` is ours.
 */

/** What the envelope is made of. */
export interface Fact {
  readonly id: string;
  /** As the record has it, such as `dot.run.StepCompleted`. */
  readonly type: string;
  /** Where it happened: see sourceOf. */
  readonly source: string;
  /** What of the source it is about, such as a step. */
  readonly subject?: string;
  readonly time: Date | string;
  readonly tenant: string;
  readonly runId?: string;
  /** The number of the event in the log of its run. */
  readonly runSeq?: number;
  /** Where in a trace its run was started, or its job enqueued. */
  readonly traceparent?: string;
  readonly data?: unknown;
}

export interface CloudEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject?: string;
  /** RFC 3339. */
  readonly time: string;
  readonly tenantid: string;
  /** Events with the same key are sent in their order. */
  readonly partitionkey: string;
  /** The event's number in its run, padded so that texts sort as the numbers do. */
  readonly sequence?: string;
  /** W3C Trace Context: where in a trace its run was started, or its job enqueued. */
  readonly traceparent?: string;
  readonly datacontenttype?: 'application/json';
  readonly data?: unknown;
}

export const cloudEventsJson = 'application/cloudevents+json';

/**
 * What whoever passes a CloudEvent on has to be able to carry. A longer one is refused here, before
 * somebody on the way drops it.
 */
export const largestEvent = 65_536;

const digitsOfSequence = 12;
const collections = {
  run: 'runs',
  job: 'jobs',
  alert: 'alerts',
  contract: 'contracts',
  governanceJob: 'governance-jobs',
  signal: 'signals',
  incident: 'incidents',
  governor: 'governors',
  worker: 'workers',
} as const;

/** What a fact is about. */
export type SourceKind = keyof typeof collections;

/** The source of facts about one thing: `/writ/runs/RUN`, `/writ/jobs/JOB`. */
export function sourceOf(what: SourceKind, id: string): string {
  return `/writ/${collections[what]}/${encodeURIComponent(id)}`;
}

export function cloudEvent(fact: Fact): CloudEvent {
  return {
    specversion: '1.0',
    id: fact.id,
    source: fact.source,
    type: fact.type,
    ...(fact.subject !== undefined && { subject: attribute(fact.subject) }),
    time: typeof fact.time === 'string' ? fact.time : fact.time.toISOString(),
    tenantid: attribute(fact.tenant),
    // What belongs to no run is in order with what else is about the same thing.
    partitionkey: fact.runId ?? fact.source,
    ...(fact.runSeq !== undefined && {
      sequence: String(fact.runSeq).padStart(digitsOfSequence, '0'),
    }),
    ...(fact.traceparent !== undefined && { traceparent: fact.traceparent }),
    ...(fact.data !== undefined && {
      datacontenttype: 'application/json' as const,
      data: fact.data,
    }),
  };
}

/** The bytes of an event; undefined if there are more than may be sent. */
export function encodeEvent(event: CloudEvent): Buffer | undefined {
  const bytes = Buffer.from(JSON.stringify(event));
  return bytes.length > largestEvent ? undefined : bytes;
}

/** An attribute may have no control characters, and a tenant may be called anything. */
function attribute(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      .replace(/[\u0000-\u001f\u007f-\u009f\ufdd0-\ufdef\ufffe\uffff]/g, encodeURIComponent)
  );
}
