/** Rows of boot, stable and warning. */
import { expect } from 'vitest';
import { documentWith, effectsOf, Governed, policyOf, ruled, type Step } from '../governed.js';
import {
  ack,
  acting,
  awaitingPerson,
  booting,
  change,
  deniedNext,
  due,
  each,
  none,
  onlyWatched,
  over,
  type Row,
  under,
  undoing,
  unreachableNext,
} from './row.js';

export const free: readonly Row[] = [
  {
    row: '– | create | boot | boot_start; 30 s; insert verify',
    reach: () => new Governed(),
    happen: () => booting().steps.slice(0, 1),
    next: 'boot',
    receipts: ['boot_start'],
    more: (_, [step]) =>
      expect(step?.decision.actions).toEqual([
        { type: 'start', name: 'state', ms: 30_000 },
        { type: 'insert', content: { kind: 'verify' } },
      ]),
  },
  {
    row: 'boot | verify: ACTIVE and no causes | stable',
    reach: () => new Governed(),
    happen: () => Governed.create().steps.slice(1),
    next: 'stable',
    receipts: ['entitlement_verified'],
  },
  {
    row: 'boot | entitlement: ACTIVE',
    reach: booting,
    happen: (g) => g.entitle({}),
    next: 'stable',
    receipts: ['entitlement_verified'],
  },
  {
    row: 'boot | policy, when the look finds everything',
    reach: booting,
    happen: (g) => {
      g.check = Governed.stable().check;
      return g.publish(policyOf(1));
    },
    next: 'stable',
    receipts: ['policy_updated', 'entitlement_verified'],
  },
  {
    row: 'boot | check: ACTIVE and no causes | stable',
    reach: () =>
      change(Governed.degraded('ledger', { bounds: { recovery_ms: 5_000 } }), (g) => {
        g.check = none;
        g.pass(5_000);
        g.check = Governed.stable().check;
      }),
    happen: (g) => due(g, 6_000),
    next: 'stable',
    receipts: ['entitlement_verified'],
  },
  {
    row: 'boot | operator_ack of the last cause',
    reach: awaitingPerson,
    happen: ack('crash'),
    next: 'stable',
    receipts: ['entitlement_verified'],
  },
  {
    row: 'boot | the same, otherwise',
    reach: booting,
    happen: (g) => g.entitle({ status: 'INACTIVE' }),
    next: 'boot',
    receipts: [],
  },
  {
    row: 'boot | signal | postpone',
    reach: booting,
    happen: over,
    next: 'boot',
    receipts: [],
    more: (_, [step]) => expect(step?.decision.postpone).toBe(true),
  },
  {
    row: 'boot | state timeout | degraded | bootstrap_timeout',
    reach: booting,
    happen: (g) => due(g, 30_000),
    next: 'degraded',
    receipts: ['bootstrap_timeout'],
    more: (g) => expect(g.data?.causes).toEqual(['bootstrap']),
  },
  {
    row: 'boot | health failed | add cause',
    reach: booting,
    happen: (g) => g.fail('iam'),
    next: 'boot',
    receipts: [],
    more: (g) => expect(g.data?.causes).toEqual(['iam']),
  },
  ...each(['stable', 'warning'], (state) => ({
    row: `${state} | signal, entitlement not ACTIVE | refusing | invariant_violation`,
    reach: () =>
      change(acting[state](), (g) => g.entitle({ expires_at: g.now + 1_000 }) && g.pass(1_000)),
    happen: over,
    next: 'refusing',
    receipts: ['invariant_violation'],
  })),
  {
    row: 'stable | signal under | signal_received',
    reach: acting.stable,
    happen: under,
    next: 'stable',
    receipts: ['signal_received'],
  },
  {
    row: 'stable | signal over | warning | signal_received, threshold_exceeded; insert act',
    reach: acting.stable,
    happen: (g) => over(g).slice(0, 1),
    next: 'warning',
    receipts: ['signal_received', 'threshold_exceeded'],
    more: (_, [step]) =>
      expect(step?.decision.actions).toMatchObject([{ type: 'insert', content: { kind: 'act' } }]),
  },
  {
    row: 'warning | signal over | the same',
    reach: acting.warning,
    happen: (g) => over(g).slice(0, 1),
    next: 'warning',
    receipts: ['signal_received', 'threshold_exceeded'],
  },
  {
    row: 'warning | signal under, others over | signal_received, signal_cleared',
    reach: () => change(Governed.warned(documentWith({ actions: {}, when: onlyWatched })), over),
    happen: under,
    next: 'warning',
    receipts: ['signal_received', 'signal_cleared'],
  },
  {
    row: 'warning | signal under, none over | stable | the same and baseline_restored',
    reach: acting.warning,
    happen: (g) => g.signal('free_disk', 30),
    next: 'stable',
    receipts: ['signal_received', 'signal_cleared', 'baseline_restored'],
  },
  ...each(['stable', 'warning'], (state) => ({
    row: `${state} | act, checks pass | intervening | action_attempted; quota, job, 500 ms`,
    reach: acting[state],
    happen: (g) => g.ask(),
    next: 'intervening',
    receipts: ['action_attempted'],
    more: (g: Governed, steps: Step[]) => {
      expect(effectsOf(steps)).toMatchObject([
        { type: 'quota', month: '2026-01' },
        { type: 'attempt', kind: 'action', due_at: g.now + 500 },
      ]);
      expect(g.timer('state')?.due).toBe(g.now + 500);
    },
  })),
  ...each(['stable', 'warning'], (state) => ({
    row: `${state} | act, slot held | concurrency_limited; queue`,
    reach: undoing[state],
    happen: (g) => g.ask(),
    next: state,
    receipts: ['concurrency_limited'],
    more: (g: Governed) => expect(g.data?.queue).toHaveLength(1),
  })),
  ...each(['stable', 'warning'], (state) => ({
    row: `${state} | act, denied | refusing | permission_denied`,
    reach: () => change(acting[state](), deniedNext),
    happen: (g) => g.ask(),
    next: 'refusing',
    receipts: ['permission_denied'],
  })),
  ...each(['stable', 'warning'], (state) => ({
    row: `${state} | act, denied | refusing | policy_violation`,
    reach: acting[state],
    happen: (g) => g.ask({ action_type: 'drop_everything' }),
    next: 'refusing',
    receipts: ['policy_violation'],
  })),
  ...each(['stable', 'warning'], (state) => ({
    row: `${state} | act, IAM unreachable | degraded | health_check_failed`,
    reach: () => change(acting[state](), unreachableNext),
    happen: (g) => g.ask(),
    next: 'degraded',
    receipts: ['health_check_failed'],
  })),
  {
    row: 'stable | act, policy unreachable | degraded | health_check_failed',
    reach: () => Governed.create(),
    happen: (g) => g.ask(),
    next: 'degraded',
    receipts: ['health_check_failed'],
    more: (g) => expect(g.data?.causes).toEqual(['policy']),
  },
  {
    row: 'stable | timer look, something is over | warning | threshold_exceeded',
    reach: () =>
      change(Governed.degraded(), (g) => {
        g.signal('free_disk', 5);
        g.pass(10_000);
      }),
    happen: (g) => due(g, 1),
    next: 'warning',
    receipts: ['threshold_exceeded'],
  },
  {
    row: 'warning | timer look, over and not answered | – | threshold_exceeded; insert act',
    reach: () =>
      change(Governed.intervening(), (g) => {
        g.signal('cpu_utilization', 90, { instance: 'web-2' });
        g.result({ baseline: 'unknown' });
      }),
    happen: (g) =>
      g
        .pass(60_000)
        .filter(({ event }) => event.content.kind === 'timer' && event.content.timer === 'look'),
    next: 'warning',
    receipts: ['threshold_exceeded'],
  },
  {
    row: 'warning | timer baseline | by policy: rb',
    reach: () =>
      change(Governed.intervening(ruled({ not_restored: 'rollback' })), (g) =>
        g.result({ baseline: 'not_restored' }),
      ),
    happen: (g) => due(g, 60_000),
    next: 'warning',
    receipts: ['action_rollback_issued'],
  },
];
