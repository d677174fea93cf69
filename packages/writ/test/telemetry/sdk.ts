/**
 * The SDK of an application, which keeps spans and metrics in memory. One per process, as the API
 * has it: each test file registers its own.
 */
import { metrics, type SpanKind } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  ParentBasedSampler,
  type ReadableSpan,
  SamplingDecision,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';

export interface Traces {
  /** Whether traces that begin from now on are recorded. */
  sample: boolean;
  readonly spans: ReadableSpan[];
  clear(): void;
}

export function registerTraces(): Traces {
  const exporter = new InMemorySpanExporter();
  const traces = {
    sample: true,
    get spans() {
      return exporter.getFinishedSpans();
    },
    clear: () => exporter.reset(),
  };
  const root = {
    shouldSample: () => ({
      decision: traces.sample ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
    }),
    toString: () => 'as the test says',
  };
  const provider = new NodeTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    sampler: new ParentBasedSampler({ root }),
  });
  provider.register();
  return traces;
}

export interface Measured {
  /** Collects now: each point as its attributes, by the name of its metric. */
  collect(): Promise<
    Map<
      string,
      { unit: string; description: string; attributes: Record<string, unknown>; value: unknown }[]
    >
  >;
}

export function registerMetrics(): Measured {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  return {
    collect: async () => {
      const { resourceMetrics, errors } = await reader.collect();
      if (errors.length > 0) throw errors[0];
      return new Map(
        resourceMetrics.scopeMetrics.flatMap(({ metrics: all }) =>
          all.map(({ descriptor, dataPoints }) => [
            descriptor.name,
            dataPoints.map(({ attributes, value }) => ({
              unit: descriptor.unit,
              description: descriptor.description,
              attributes,
              value,
            })),
          ]),
        ),
      );
    },
  };
}

/** A span in one line: its kind, its name, and what it is under. */
export function tree(spans: readonly ReadableSpan[], kinds: typeof SpanKind): string[] {
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
  const line = (span: ReadableSpan): string => {
    const above = span.parentSpanContext && byId.get(span.parentSpanContext.spanId);
    const own = `${kinds[span.kind]} ${span.name}`;
    return above ? `${line(above)} > ${own}` : own;
  };
  return spans.map(line).sort();
}
