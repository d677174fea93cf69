/**
 * A row of the governor's table: a way into the state, the event, and what has to become of it. And
 * the ways themselves.
 */
import { expect } from 'vitest';
import type { ReceiptDraft, State } from '../../../src/governor/decision.js';
import {
  documentWith,
  effectsOf,
  forbidden,
  Governed,
  policyOf,
  reasonsOf,
  ruled,
  type Step,
  unreachable,
} from '../governed.js';

export interface Row {
  readonly row: string;
  readonly reach: () => Governed;
  readonly happen: (governor: Governed) => Step[];
  readonly next: State;
  /** Of the event alone, without state_transition. */
  readonly receipts: readonly ReceiptDraft['reason'][];
  readonly more?: (governor: Governed, steps: Step[]) => void;
}

export const none = { entitlement: null, quota: { month: '2026-01', used: 0 }, failures: [] };
export const booting = () => Governed.create({ check: none });
export const acting = { stable: () => Governed.stable(), warning: () => Governed.warned() };
export const states = {
  boot: booting,
  ...acting,
  intervening: () => Governed.intervening(),
  refusing: () => Governed.refusing(),
  degraded: () => Governed.degraded(),
};
/** A rollback is in flight, and this is the state. */
export const undoing = {
  boot: () =>
    change(Governed.intervening(undefined, { bounds: { recovery_ms: 2_000 } }), (g) => {
      g.fail('ledger');
      g.check = none;
      g.pass(2_000);
    }),
  stable: () => {
    const governor = undoing.refusing();
    governor.signal('cpu_utilization', 10);
    governor.publish(policyOf(9));
    return governor;
  },
  warning: () => change(Governed.intervening(), (g) => g.failsUntil(3)),
  refusing: () =>
    change(Governed.intervening(), (g) =>
      g.publish(policyOf(2, documentWith({ actions: {}, when: {} }))),
    ),
  degraded: () => change(Governed.intervening(), (g) => g.fail('ledger')),
};
export function change(governor: Governed, how: (governor: Governed) => unknown): Governed {
  how(governor);
  return governor;
}
export const due = (governor: Governed, ms: number) => governor.pass(ms).slice(0, 1);
export const contract = ruled({ actuator: { kind: 'contract', template_id: 'rollout' } });
export const deniedNext = (governor: Governed) => {
  governor.act = { ...governor.act, action: forbidden };
};
export const unreachableNext = (governor: Governed) => {
  governor.act = { ...governor.act, inverse: unreachable };
};
export const isUndone = (governor: Governed, steps: Step[]) => {
  expect(effectsOf(steps).map(({ type }) => type)).toEqual(
    expect.arrayContaining(['fence', 'attempt']),
  );
  const [fence, attempt] = effectsOf(steps).filter(
    ({ type }) => type === 'fence' || type === 'attempt',
  );
  expect([fence?.type, attempt]).toMatchObject([
    'fence',
    { kind: 'rollback', doing: { action_type: 'scale_down_cloud_run' } },
  ]);
  expect(governor.inFlight).toMatchObject({ kind: 'rollback', attempt: 1 });
};
export const over = (g: Governed) => g.signal('cpu_utilization', 82.5);
export const under = (g: Governed) => g.signal('cpu_utilization', 60);
export const crash = (g: Governed) =>
  g.tell({
    kind: 'crash',
    event: 'signal',
    crashes: 10,
    window_ms: 60_000,
    error_message: 'TypeError',
  });
const hash = 'cd'.repeat(32);
const receipt_id = '5a3f4c1e-0a1b-4c2d-8e3f-9a0b1c2d3e4f';
export const mismatch = (g: Governed) =>
  g.tell({
    kind: 'mismatch',
    event: 'signal',
    arrival_seq: ++g.arrivals,
    receipt_id,
    expected_hash: hash,
    actual_hash: hash,
  });
export const outage = (g: Governed) => g.tell({ kind: 'outage', from: g.now - 9_000, to: g.now });
export const ack = (cause: string) => (g: Governed) =>
  g.tell({ kind: 'operator_ack', cause, by: 'carol', reason: 'seen to' });
export const purchase = (g: Governed) =>
  g.tell({ kind: 'quota', quota: { month: '2026-01', used: 1_000 }, limit: 2_000 });
export const overQuota = () =>
  change(Governed.stable(), (g) => {
    g.act = { ...g.act, quota: { month: '2026-01', used: 1_000 } };
    g.ask();
  });
export const unentitled = () =>
  change(Governed.stable(), (g) => {
    g.entitle({ status: 'CANCELLED' });
    over(g);
  });
/** In boot again, with a cause that only a person takes away. */
export const awaitingPerson = () =>
  change(Governed.stable(), (g) => {
    crash(g);
    g.pass(120_000);
  });

export const each = <Name extends string>(
  names: readonly Name[],
  row: (name: Name) => Row,
): Row[] => names.map(row);
export const everywhere = [
  'boot',
  'stable',
  'warning',
  'intervening',
  'refusing',
  'degraded',
] as const;
export const atRest = ['boot', 'stable', 'warning', 'refusing', 'degraded'] as const;

export const onlyWatched = {
  cpu_utilization: { direction: 'above', limit: 75, clear: 70, cooldown_ms: 0 },
  free_disk: { direction: 'below', limit: 10, clear: 20, cooldown_ms: 0 },
} as const;

/** Everything that the event of a row has written, and where it has led. */
export function runRow({ reach, happen, next, receipts, more }: Row): {
  governor: Governed;
  steps: Step[];
} {
  const governor = reach();
  const steps = happen(governor);
  const [step] = steps;
  expect(steps.length).toBeGreaterThan(0);
  const moved = step?.from !== null && step?.from !== step?.decision.state;
  expect([step?.decision.state, reasonsOf(steps.slice(0, 1))]).toEqual([
    next,
    [...receipts, ...(moved ? ['state_transition'] : [])],
  ]);
  more?.(governor, steps);
  return { governor, steps };
}
