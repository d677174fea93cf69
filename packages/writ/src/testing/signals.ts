/** Signals out of a number: the same seed gives the same signals, for tests and demonstrations. */
import { uuidOf } from '../database/uuid.js';
import { WritError } from '../errors/index.js';
import type { Signal } from '../governor/events.js';
import type { GovernorPolicy, Threshold } from '../governor/policy-document.js';

export interface GeneratedSignal
  extends Pick<Signal, 'signal_id' | 'source' | 'type' | 'severity' | 'observed_at'> {
  readonly tenant: string;
  readonly value: number;
}

export interface GeneratorOptions {
  /** By type: where its values lie when all is well, and when it is not. */
  readonly types: Readonly<Record<string, { readonly calm: number; readonly high: number }>>;
  /** How many signals. */
  readonly n: number;
  readonly tenants?: readonly string[];
  /**
   * `calm`: near the usual values, a second apart. `spikes`: one type of one tenant is high for
   * some signals now and then. `storm`: as spikes, and in the middle third a hundred times as many
   * signals per second.
   */
  readonly profile: 'calm' | 'spikes' | 'storm';
  /** When the first was observed, in milliseconds since 1970. */
  readonly from?: number;
}

const sources: Readonly<Record<string, Signal['source']>> = {
  billing_spend: 'billing',
  error_rate: 'logging',
};
const secondMs = 1_000;
const stormMs = 10;
/** How often a spike begins, and how many signals of its type it lasts. */
const spikes = { chance: 0.03, least: 3, most: 12 };

export function generateSignals(
  seed: number,
  { types, n, tenants = ['default'], profile, from = Date.UTC(2026, 0, 1) }: GeneratorOptions,
): GeneratedSignal[] {
  const names = Object.keys(types).sort();
  if (names.length === 0 || tenants.length === 0)
    throw new WritError('invalid_argument', 'signals are of a type and of a tenant: name one');
  const random = randomOf(seed);
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  /** How many signals of a type of a tenant are still high. */
  const high = new Map<string, number>();
  let at = from;
  return Array.from({ length: n }, (_, index): GeneratedSignal => {
    const type = pick(names);
    const tenant = pick(tenants);
    const lane = `${tenant}/${type}`;
    const begins = profile !== 'calm' && random() < spikes.chance;
    const left = begins
      ? spikes.least + Math.floor(random() * (spikes.most - spikes.least))
      : (high.get(lane) ?? 0);
    high.set(lane, Math.max(0, left - 1));
    const { calm, high: peak } = types[type] as { calm: number; high: number };
    const isHigh = left > 0;
    // Within a tenth of the way between the two, so that no value is on the other's side.
    const value = (isHigh ? peak : calm) + (random() - 0.5) * 0.2 * Math.abs(peak - calm);
    const storming = profile === 'storm' && index >= n / 3 && index < (2 * n) / 3;
    at += Math.ceil(random() * 2 * (storming ? stormMs : secondMs));
    return {
      signal_id: uuidOf(`signal|${seed}|${index}`),
      source: sources[type] ?? 'monitoring',
      type,
      severity: isHigh ? pick(['HIGH', 'CRITICAL'] as const) : pick(['LOW', 'MEDIUM'] as const),
      observed_at: at,
      tenant,
      value: Number(value.toPrecision(6)),
    };
  });
}

/** Signals of the types of a policy, as far from its thresholds on either side. */
export function signalsAround(
  { when }: GovernorPolicy,
  seed: number,
  options: Omit<GeneratorOptions, 'types'>,
): GeneratedSignal[] {
  const types = Object.fromEntries(
    Object.entries(when).map(([type, threshold]) => [type, between(threshold)]),
  );
  return generateSignals(seed, { ...options, types }).map((signal) => {
    const { limit, clear } = when[signal.type] as Threshold;
    // A value that is only ever above zero, such as a rate, does not go below it.
    return limit > 0 && clear > 0 ? { ...signal, value: Math.max(0, signal.value) } : signal;
  });
}

function between({ direction, limit, clear }: Threshold): { calm: number; high: number } {
  const apart = Math.max(Math.abs(limit) * 0.25, Math.abs(limit - clear), 0.01);
  return direction === 'above'
    ? { calm: clear - apart, high: limit + apart }
    : { calm: clear + apart, high: limit - apart };
}

/**
 * From 0 to below 1: a counter of 32 bits, well mixed. Good enough for a test, and the same
 * everywhere.
 */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
}
