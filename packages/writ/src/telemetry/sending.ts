/**
 * Spans of whoever puts work into the database: one per call, whatever it enqueues, and its place
 * is stored with each job or run.
 */
import { context, type Span, SpanKind, trace } from '@opentelemetry/api';
import { errorCode } from '../errors/index.js';
import { redactSecrets } from '../secrets/redaction.js';
import { failed, traceparentOf, tracer } from './tracer.js';

export { detached } from './tracer.js';

export class Sending {
  readonly #span: Span;

  constructor(span: Span) {
    this.#span = span;
  }

  /** Makes the call inside the span. A refusal fails it, whether it is thrown or answered. */
  async over<T>(call: (traceparent: string | undefined) => Promise<T>): Promise<T> {
    const span = this.#span;
    try {
      const answer = await context.with(
        trace.setSpan(context.active(), span),
        call,
        undefined,
        traceparentOf(span),
      );
      if (answer instanceof Error) failed(span, codeOf(answer));
      return answer;
    } catch (error) {
      failed(span, codeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }
}

/**
 * A span for a call that enqueues `count` jobs of a kind, or starts a run of a plan; undefined
 * while nobody traces.
 */
export function sending(
  what: 'enqueue' | 'start',
  name: string,
  count?: number,
): Sending | undefined {
  const tracing = tracer();
  if (!tracing) return undefined;
  const attributes = {
    'messaging.system': 'writ',
    'messaging.operation.type': 'send',
    'messaging.operation.name': what,
    'messaging.destination.name': name,
    ...(count !== undefined && { 'messaging.batch.message_count': count }),
  };
  return new Sending(tracing.startSpan(`${what} ${name}`, { kind: SpanKind.PRODUCER, attributes }));
}

/** Makes a call that enqueues or starts something, inside such a span if somebody traces. */
export function traced<T>(
  what: 'enqueue' | 'start',
  name: string,
  count: number | undefined,
  call: (traceparent?: string) => Promise<T>,
): Promise<T> {
  return sending(what, name, count)?.over(call) ?? call();
}

/** The code of an error, as far as it has one, without any secret. */
export function codeOf(error: unknown): string {
  return redactSecrets(errorCode(error) ?? 'error');
}
