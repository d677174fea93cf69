/** Rows of any state. */
import { expect } from 'vitest';
import { effectsOf, type Governed, policyOf, type Step } from '../governed.js';
import {
  atRest,
  change,
  crash,
  due,
  each,
  everywhere,
  mismatch,
  type Row,
  states,
  undoing,
} from './row.js';

export const anywhere: readonly Row[] = [
  ...each(atRest, (state) => ({
    row: `${state} | rollback succeeded | free the slot, drop cause action_timeout`,
    reach: undoing[state],
    happen: (g) => g.result({}),
    next: state,
    receipts: ['action_succeeded'],
    more: (g: Governed) =>
      expect([g.data?.in_flight, g.data?.given_up?.undone]).toEqual([null, true]),
  })),
  ...each(['stable', 'warning'], (state) => ({
    row: `${state} | rollback succeeded | dequeue`,
    reach: () => change(undoing[state](), (g) => g.ask()),
    happen: (g) => g.result({}).slice(0, 1),
    next: state,
    receipts: ['action_succeeded'],
    more: (_: Governed, [step]: Step[]) =>
      expect(step?.decision.actions).toContainEqual(expect.objectContaining({ type: 'insert' })),
  })),
  ...each(atRest, (state) => ({
    row: `${state} | rollback failed | degraded | action_rollback_failed; escalate`,
    reach: () => change(undoing[state](), (g) => g.failsUntil(2)),
    happen: (g) => g.result({ ok: false, response_code: 503 }),
    next: 'degraded',
    receipts: ['action_rollback_failed'],
    more: (g: Governed, steps: Step[]) => {
      expect(effectsOf(steps)).toMatchObject([
        { type: 'escalate', alert: 'GOVERNOR_ROLLBACK_FAILED' },
      ]);
      expect([g.data?.in_flight, g.data?.causes.includes('rollback_failed')]).toEqual([null, true]);
    },
  })),
  ...each(atRest, (state) => ({
    row: `${state} | rollback not in time, last | degraded | action_rollback_failed; escalate`,
    reach: () => change(undoing[state](), (g) => g.failsUntil(2)),
    happen: (g) => due(g, 5_000),
    next: 'degraded',
    receipts: ['action_rollback_failed'],
    more: (_: Governed, steps: Step[]) =>
      expect(effectsOf(steps).map(({ type }) => type)).toEqual(['fence', 'escalate']),
  })),
  ...each(everywhere, (state) => ({
    row: `${state} | the clock was set back | –`,
    reach: states[state],
    happen: (g) => g.tell({ kind: 'clock', back_ms: 60_000 }),
    next: state,
    receipts: [],
  })),
  ...each(everywhere, (state) => ({
    row: `${state} | stale result | late_result`,
    reach: states[state],
    happen: (g) => g.tell({ kind: 'result', action_id: 'somebody-else', attempt: 1, ok: true }),
    next: state,
    receipts: ['late_result'],
  })),
  ...each(['stable', 'warning', 'intervening', 'degraded'], (state) => ({
    row: `${state} | policy published | policy_updated`,
    reach: states[state],
    happen: (g) => g.publish(policyOf(2)),
    next: state,
    receipts: ['policy_updated'],
  })),
  ...each(['stable', 'warning', 'degraded'], (state) => ({
    row: `${state} | entitlement changed | data`,
    reach: states[state],
    happen: (g) => g.entitle({ status: 'INACTIVE' }),
    next: state,
    receipts: [],
    more: (g: Governed) => expect(g.data?.entitlement?.status).toBe('INACTIVE'),
  })),
  ...each(everywhere, (state) => ({
    row: `${state} | storm timer | drain`,
    reach: () => change(states[state](), (g) => g.signal('cpu_utilization', 50, { storm: 101 })),
    happen: (g) => g.tell({ kind: 'timer', timer: 'storm' }).slice(0, 1),
    next: state,
    receipts: [],
    more: (g: Governed, [step]: Step[]) => {
      expect(step?.decision.actions).toMatchObject([{ type: 'insert', content: { kind: 'held' } }]);
      expect(g.data?.storm).toBeNull();
    },
  })),
  ...each(everywhere, (state) => ({
    row: `${state} | mismatch | degraded | nondeterminism_detected, event_failed`,
    reach: states[state],
    happen: mismatch,
    next: 'degraded',
    receipts: [
      'nondeterminism_detected',
      'event_failed',
      ...(state === 'intervening' ? (['action_rollback_issued'] as const) : []),
    ],
    more: (_: Governed, steps: Step[]) =>
      expect(effectsOf(steps, 'escalate')).toMatchObject([{ alert: 'GOVERNOR_NONDETERMINISM' }]),
  })),
  ...each(everywhere, (state) => ({
    row: `${state} | crash limit | degraded | event_failed`,
    reach: states[state],
    happen: crash,
    next: 'degraded',
    receipts: [
      'event_failed',
      ...(state === 'intervening' ? (['action_rollback_issued'] as const) : []),
    ],
    more: (_: Governed, steps: Step[]) =>
      expect(effectsOf(steps, 'escalate')).toMatchObject([{ alert: 'GOVERNOR_CRASH' }]),
  })),
];
