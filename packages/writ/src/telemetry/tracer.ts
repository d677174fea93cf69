/**
 * Traces go through OpenTelemetry's API, so the application brings the SDK. While it has registered
 * none, nothing is made, not even a span that records nothing: whoever wants one asks for the
 * tracer first, and gets undefined.
 */
import {
  type Context,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';

/** The API's own provider stands in for that of an SDK, which may be registered later. */
interface StandIn extends TracerProvider {
  getDelegate?(): TracerProvider;
  getDelegateTracer?(name: string): Tracer | undefined;
}

let asked: TracerProvider | undefined;
let answered: Tracer | undefined;

export function tracer(): Tracer | undefined {
  const standIn = trace.getTracerProvider() as StandIn;
  const provider = standIn.getDelegate ? standIn.getDelegate() : standIn;
  if (provider !== asked) {
    asked = provider;
    answered = standIn.getDelegateTracer
      ? standIn.getDelegateTracer('writ')
      : provider.getTracer('writ');
  }
  return answered;
}

/**
 * The place of a span in its trace, as W3C Trace Context writes it. Of one that is not recorded,
 * too: then whoever goes on with it does not record either.
 */
export function traceparentOf(span: Span): string | undefined {
  const place = span.spanContext();
  if (!isSpanContextValid(place)) return undefined;
  return `00-${place.traceId}-${place.spanId}-${place.traceFlags.toString(16).padStart(2, '0')}`;
}

const form = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * The context whose parent is a place in a trace; without one, the beginning of a trace of its own.
 * Never the active one: what a worker does has nothing to do with where it was started.
 */
export function contextOf(traceparent: string | null | undefined): Context {
  const [, traceId, spanId, flags] = form.exec(traceparent ?? '') ?? [];
  if (!traceId || !spanId || !flags) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  });
}

/**
 * A span says by its code what went wrong, and not in words: what an error says may be about
 * anything, and spans go to whoever keeps them.
 */
export function failed(span: Span, code: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message: code });
  span.setAttribute('error.type', code);
}

/** Begins something that goes on by itself, and so belongs to no trace of whoever began it. */
export function detached<T>(begin: () => T): T {
  return context.with(ROOT_CONTEXT, begin);
}
