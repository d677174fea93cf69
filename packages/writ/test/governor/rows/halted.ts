/** Rows of refusing and degraded, and of what is refused. */
import { expect } from 'vitest';
import { effectsOf, Governed, policyOf } from '../governed.js';
import {
  ack,
  change,
  crash,
  due,
  each,
  none,
  outage,
  over,
  overQuota,
  purchase,
  type Row,
  states,
  under,
  unentitled,
} from './row.js';

export const halted: readonly Row[] = [
  {
    row: 'refusing | signal | policy_violation; levels kept',
    reach: states.refusing,
    happen: over,
    next: 'refusing',
    receipts: ['policy_violation'],
    more: (g) => expect(Object.keys(g.data?.over ?? {})).toEqual(['cpu_utilization']),
  },
  {
    row: 'refusing | signal | invariant_violation (entitlement)',
    reach: unentitled,
    happen: under,
    next: 'refusing',
    receipts: ['invariant_violation'],
  },
  {
    row: 'refusing | policy: no causes left | stable | policy_updated, violations_cleared',
    reach: () => change(Governed.stable(), (g) => g.ask({ action_type: 'drop_everything' })),
    happen: (g) => g.publish(policyOf(2)),
    next: 'stable',
    receipts: ['policy_updated', 'violations_cleared'],
  },
  {
    row: 'refusing | entitlement: no causes left | stable | violations_cleared',
    reach: unentitled,
    happen: (g) => g.entitle({}),
    next: 'stable',
    receipts: ['violations_cleared'],
  },
  {
    row: 'refusing | quota: no causes left | stable | violations_cleared',
    reach: overQuota,
    happen: purchase,
    next: 'stable',
    receipts: ['violations_cleared'],
  },
  {
    row: 'refusing | 30 s: no causes left | stable | violations_cleared',
    reach: () =>
      change(Governed.refusing(), (g) => Object.assign(g, { recheck: Governed.stable().recheck })),
    happen: (g) => due(g, 30_000),
    next: 'stable',
    receipts: ['violations_cleared'],
  },
  {
    row: 'refusing | 30 s, otherwise',
    reach: states.refusing,
    happen: (g) => due(g, 30_000),
    next: 'refusing',
    receipts: [],
  },
  ...each(['stable', 'warning', 'refusing'], (state) => ({
    row: `${state} | health failed | degraded | health_check_failed`,
    reach: states[state],
    happen: (g) => g.fail('slo'),
    next: 'degraded',
    receipts: ['health_check_failed'],
  })),
  ...each(['stable', 'warning', 'refusing'], (state) => ({
    row: `${state} | outage | degraded | health_check_failed`,
    reach: states[state],
    happen: outage,
    next: 'degraded',
    receipts: ['health_check_failed'],
  })),
  {
    row: 'degraded | signal | health_check_failed',
    reach: states.degraded,
    happen: over,
    next: 'degraded',
    receipts: ['health_check_failed'],
  },
  {
    row: 'degraded | check: up, ACTIVE, no causes | stable | health_check_passed, entitlement_verified',
    reach: states.degraded,
    happen: (g) => due(g, 10_000),
    next: 'stable',
    receipts: ['health_check_passed', 'entitlement_verified'],
    more: (g) => expect(g.timer('named:check')).toBeUndefined(),
  },
  {
    row: 'degraded | check, otherwise | health_check_failed; back off',
    reach: () => change(Governed.degraded(), (g) => Object.assign(g, { check: none })),
    happen: (g) => due(g, 10_000),
    next: 'degraded',
    receipts: ['health_check_failed'],
    more: (g) => expect(g.timer('named:check')?.due).toBe(g.now + 30_000),
  },
  {
    row: 'degraded | operator_ack | remove cause',
    reach: () => change(Governed.stable(), crash),
    happen: ack('crash'),
    next: 'degraded',
    receipts: [],
    more: (g, steps) => {
      expect(g.data?.causes).toEqual([]);
      expect(effectsOf(steps)).toEqual([{ type: 'calm', alert: 'GOVERNOR_CRASH' }]);
      expect(g.timer('named:check')?.due).toBe(g.now + 1);
    },
  },
  {
    row: 'degraded | state timeout 2 min | boot | recovery_timeout, boot_start; 30 s; insert verify',
    reach: () => change(Governed.stable(), (g) => crash(g) && g.pass(119_999)),
    happen: (g) => due(g, 1),
    next: 'boot',
    receipts: ['recovery_timeout', 'boot_start'],
    more: (g, [step]) => {
      expect(step?.decision.actions).toContainEqual({
        type: 'insert',
        content: { kind: 'verify' },
      });
      expect(g.timer('state')?.due).toBe(g.now + 30_000);
    },
  },
  ...each(['boot', 'refusing'], (state) => ({
    row: `${state} | act | policy_violation`,
    reach: states[state],
    happen: (g) => g.ask(),
    next: state,
    receipts: ['policy_violation'],
  })),
  {
    row: 'degraded | act | health_check_failed',
    reach: states.degraded,
    happen: (g) => g.ask(),
    next: 'degraded',
    receipts: ['health_check_failed'],
  },
];
