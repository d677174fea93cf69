/**
 * The span of one execution of a job: it goes on with the trace in which the job was enqueued, and
 * is active while the handler runs, so that whatever the handler calls nests under it.
 */
import { type Context, context, type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import { codeOf } from './sending.js';
import { contextOf, failed, tracer } from './tracer.js';

/** What a span says of the job that is executed. */
export interface Executed {
  readonly id: string;
  readonly kind: string;
  readonly traceparent: string | undefined;
  readonly job: { readonly attempt: number; readonly executionNo: number };
  readonly step:
    | { readonly runId: string; readonly stepId: string; readonly planId: string }
    | undefined;
  /**
   * Milliseconds between the moment from which it could be claimed and its claim, where that is
   * known.
   */
  readonly queueMs: number | undefined;
}

/** How an execution ended; without a word, when the job was no longer ours. */
type Ended = { readonly type: string; readonly code?: string } | undefined;

export class Execution {
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #context: Context;
  #endedAt = 0;
  #tells = false;

  constructor(tracing: Tracer, executed: Executed) {
    const { id, kind, step, job, queueMs } = executed;
    const attributes = {
      'messaging.system': 'writ',
      'messaging.operation.type': 'process',
      'messaging.operation.name': 'process',
      'messaging.destination.name': kind,
      'messaging.message.id': id,
      'writ.job.id': id,
      'writ.attempt': job.attempt,
      'writ.execution': job.executionNo,
      ...(queueMs !== undefined && { 'writ.queue_ms': queueMs }),
      ...(step && {
        'writ.run.id': step.runId,
        'writ.step.id': step.stepId,
        'writ.plan.id': step.planId,
      }),
    };
    // An element of a list is not named by its number: names of spans are few.
    const name = step
      ? `step ${step.planId}/${step.stepId.replace(/\[.*\]$/, '')}`
      : `process ${kind}`;
    const parent = contextOf(executed.traceparent);
    this.#tracer = tracing;
    this.#span = tracing.startSpan(name, { kind: SpanKind.CONSUMER, attributes }, parent);
    this.#context = trace.setSpan(parent, this.#span);
  }

  within<T>(handler: () => T): T {
    return context.with(this.#context, handler);
  }

  /** A handler's own transaction, as a child of whatever the handler was doing. */
  async commit<T>(transaction: () => Promise<T>): Promise<T> {
    const parent = trace.getActiveSpan() ? context.active() : this.#context;
    const span = this.#tracer.startSpan('commit', {}, parent);
    try {
      return await context.with(trace.setSpan(parent, span), transaction);
    } catch (error) {
      failed(span, codeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }

  /**
   * The handler is done. What it did is told to the database after this, unless it has committed
   * that by itself.
   */
  end(outcome: Ended, committed: boolean): void {
    this.#endedAt = Date.now();
    this.#tells = outcome?.type === 'succeeded' && !committed;
    this.#span.setAttribute('writ.outcome', outcome?.type ?? 'lost');
    if (outcome?.code !== undefined) failed(this.#span, outcome.code);
    else if (!outcome) failed(this.#span, 'lease_lost');
    this.#span.end();
  }

  /** The database has been told: what the handler returned stands. */
  told(): void {
    if (!this.#tells) return;
    this.#tells = false;
    this.#tracer.startSpan('commit', { startTime: this.#endedAt }, this.#context).end();
  }
}

/** Undefined while nobody traces. */
export function executing(executed: Executed): Execution | undefined {
  const tracing = tracer();
  return tracing && new Execution(tracing, executed);
}
