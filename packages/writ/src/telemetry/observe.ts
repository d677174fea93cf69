/**
 * What is in the database, as metrics: one query each time the SDK collects, for all of them. Of
 * the connections that are told to, so that ten processes do not send the same ten times.
 */
import type { ObservableGauge } from '@opentelemetry/api';
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { meter } from './meter.js';
import { metrics } from './metrics.js';

/** By metric: values, each with the value of the metric's attribute if it has one. */
type Answer = Record<string, readonly [value: number, attribute?: string][]>;

/** Observes until what it answers is called. Without an SDK for metrics there is nobody to tell. */
export function observe(db: Queryable): () => void {
  const from = meter();
  if (!from) return () => undefined;
  const gauges = new Map<string, ObservableGauge>();
  for (const [name, { instrument, unit, description }] of Object.entries(metrics)) {
    if (instrument === 'observable gauge')
      gauges.set(name, from.createObservableGauge(name, { unit, description }));
  }
  const observed = [...gauges.values()];
  const callback: Parameters<typeof from.addBatchObservableCallback>[0] = async (result) => {
    const answer = await gate<Answer>(db, 'fn_metrics()', []);
    for (const [name, gauge] of gauges) {
      const [attribute]: readonly string[] = metrics[name as keyof typeof metrics].attributes;
      for (const [value, of] of answer[name] ?? [])
        result.observe(gauge, value, attribute === undefined ? {} : { [attribute]: of });
    }
  };
  from.addBatchObservableCallback(callback, observed);
  return () => from.removeBatchObservableCallback(callback, observed);
}
