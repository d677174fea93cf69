/**
 * Spans of the relay: one for what a destination is given at once, which belongs to many traces and
 * names them, and one for each webhook, which belongs to the trace of its event.
 */
import { context, type Link, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { codeOf } from './sending.js';
import { contextOf, failed, traceparentOf, tracer } from './tracer.js';

/** As many as SDKs keep of a span's links. */
const mostLinks = 128;

interface Answered {
  readonly ok: boolean;
  readonly status?: number;
  readonly held?: true;
}

/** Gives a destination events, in a span with links to the first traces that they come from. */
export async function delivering<T extends Answered>(
  destination: string,
  bus: string,
  traces: () => Iterable<string | undefined>,
  count: number,
  send: () => Promise<T[]>,
): Promise<T[]> {
  const tracing = tracer();
  if (!tracing || count === 0) return send();
  const places = new Set<string>();
  for (const place of traces()) {
    if (place !== undefined) places.add(place);
    if (places.size === mostLinks) break;
  }
  const links = [...places].flatMap((place): Link[] => {
    const linked = trace.getSpanContext(contextOf(place));
    return linked ? [{ context: linked }] : [];
  });
  const attributes = {
    'messaging.system': 'writ',
    'messaging.operation.type': 'send',
    'messaging.operation.name': 'deliver',
    'messaging.destination.name': destination,
    'messaging.batch.message_count': count,
    'writ.bus': bus,
  };
  const span = tracing.startSpan(
    `deliver ${destination}`,
    { kind: SpanKind.PRODUCER, attributes, links },
    ROOT_CONTEXT,
  );
  try {
    const outcomes = await context.with(trace.setSpan(ROOT_CONTEXT, span), send);
    const accepted = outcomes.filter((outcome) => outcome.ok).length;
    span.setAttribute('writ.accepted', accepted);
    if (accepted === 0) failed(span, 'nothing_accepted');
    return outcomes;
  } catch (error) {
    failed(span, codeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/**
 * Sends one event over HTTP. `send` is given what its receiver goes on from: the span of this
 * request, or the event's own place where nobody traces here.
 */
export async function posting<T extends Answered>(
  destination: string,
  event: { readonly id: string; readonly type: string; readonly traceparent?: string },
  send: (traceparent: string | undefined) => Promise<T>,
): Promise<T> {
  const tracing = event.traceparent === undefined ? undefined : tracer();
  if (!tracing) return send(event.traceparent);
  const attributes = {
    'messaging.system': 'writ',
    'messaging.operation.type': 'send',
    'messaging.operation.name': 'post',
    'messaging.destination.name': destination,
    'messaging.message.id': event.id,
    'writ.event.type': event.type,
    'http.request.method': 'POST',
  };
  const parent = contextOf(event.traceparent);
  const span = tracing.startSpan(
    `post ${destination}`,
    { kind: SpanKind.CLIENT, attributes },
    parent,
  );
  try {
    const outcome = await context.with(
      trace.setSpan(parent, span),
      send,
      undefined,
      traceparentOf(span),
    );
    if (outcome.status !== undefined)
      span.setAttribute('http.response.status_code', outcome.status);
    if (!outcome.ok)
      failed(
        span,
        outcome.status !== undefined
          ? String(outcome.status)
          : outcome.held
            ? 'held'
            : 'unanswered',
      );
    return outcome;
  } catch (error) {
    failed(span, codeOf(error));
    throw error;
  } finally {
    span.end();
  }
}
