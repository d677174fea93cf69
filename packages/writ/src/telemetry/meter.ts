/**
 * The instruments, made when an SDK has been registered, and anew when another has. Until then,
 * counting something makes nothing.
 */
import {
  type Attributes,
  metrics as api,
  type Counter,
  createNoopMeter,
  type Gauge,
  type Histogram,
  type Meter,
  type MeterProvider,
} from '@opentelemetry/api';
import { type MetricName, metrics } from './metrics.js';

type Of<Instrument extends string> = {
  [Name in MetricName]: (typeof metrics)[Name]['instrument'] extends Instrument ? Name : never;
}[MetricName];
type Instruments = Record<Of<'counter'>, Counter> &
  Record<Of<'histogram'>, Histogram> &
  Record<Of<'gauge'>, Gauge>;

/** Buckets for what is measured in seconds: the SDKs' own are for milliseconds. */
const explicitBucketBoundaries = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900,
];

let asked: MeterProvider | undefined;
let made: Instruments | undefined;

/** Undefined while nobody measures. */
export function meter(): Meter | undefined {
  const found = api.getMeter('writ');
  return found === createNoopMeter() ? undefined : found;
}

function instruments(): Instruments | undefined {
  const provider = api.getMeterProvider();
  if (provider === asked) return made;
  asked = provider;
  const found = meter();
  made = found && make(found);
  return made;
}

function make(from: Meter): Instruments {
  const all: Record<string, Counter | Histogram | Gauge> = {};
  for (const [name, { instrument, unit, description }] of Object.entries(metrics)) {
    if (instrument === 'counter') all[name] = from.createCounter(name, { unit, description });
    if (instrument === 'histogram')
      all[name] = from.createHistogram(name, {
        unit,
        description,
        advice: { explicitBucketBoundaries },
      });
    if (instrument === 'gauge') all[name] = from.createGauge(name, { unit, description });
  }
  return all as unknown as Instruments;
}

/** The values of a metric's attributes, in the order of the table. */
function attributesOf(
  name: MetricName,
  first: string | boolean | undefined,
  second: string | undefined,
): Attributes {
  const [one, other]: readonly string[] = metrics[name].attributes;
  return {
    ...(one !== undefined && { [one]: first }),
    ...(other !== undefined && { [other]: second }),
  };
}

/** Whether somebody measures: for what has to be counted together first. */
export const measuring = (): boolean => instruments() !== undefined;

export function count(
  name: Of<'counter'>,
  by: number,
  first?: string | boolean,
  second?: string,
): void {
  const on = instruments();
  if (on && by > 0) on[name].add(by, attributesOf(name, first, second));
}

/** Counts what was done to many at once, one by one in no case: by their kind. */
export function countEach(name: Of<'counter'>, kinds: Iterable<string>): void {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  for (const [kind, jobs] of counts) count(name, jobs, kind);
}

export function measure(
  name: Of<'histogram' | 'gauge'>,
  value: number,
  first?: string,
  second?: string,
): void {
  instruments()?.[name].record(value, attributesOf(name, first, second));
}
