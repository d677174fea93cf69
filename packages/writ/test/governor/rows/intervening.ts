/** Rows of intervening. */
import { expect } from 'vitest';
import { effectsOf, Governed } from '../governed.js';
import {
  change,
  contract,
  deniedNext,
  due,
  isUndone,
  outage,
  over,
  type Row,
  states,
  unreachableNext,
} from './row.js';

export const intervening: readonly Row[] = [
  {
    row: 'intervening | signal | postpone',
    reach: states.intervening,
    happen: over,
    next: 'intervening',
    receipts: [],
    more: (_, [step]) => expect(step?.decision.postpone).toBe(true),
  },
  {
    row: 'intervening | act | concurrency_limited; queue',
    reach: states.intervening,
    happen: (g) => g.ask(),
    next: 'intervening',
    receipts: ['concurrency_limited'],
  },
  {
    row: 'intervening | acknowledged | action_acknowledged; arm again',
    reach: () => Governed.intervening(contract),
    happen: (g) =>
      g.tell({
        kind: 'acknowledged',
        action_id: g.inFlight.action_id,
        attempt: 1,
        reference: 'contract-17',
      }),
    next: 'intervening',
    receipts: ['action_acknowledged'],
    more: (g) => expect(g.timer('state')?.due).toBe(g.now + 900_000),
  },
  {
    row: 'intervening | success, restored | stable | action_succeeded, baseline_restored; dequeue',
    reach: () => change(Governed.intervening(), (g) => g.ask()),
    happen: (g) => g.result({ baseline: 'restored' }).slice(0, 1),
    next: 'stable',
    receipts: ['action_succeeded', 'baseline_restored'],
    more: (_, [step]) =>
      expect(step?.decision.actions).toMatchObject([
        { type: 'insert', content: { kind: 'act', initiated_by: 'bob' } },
      ]),
  },
  {
    row: 'intervening | success, otherwise | warning | action_succeeded; timer baseline',
    reach: states.intervening,
    happen: (g) => g.result({ baseline: 'unknown' }),
    next: 'warning',
    receipts: ['action_succeeded'],
    more: (g) => expect(g.timer('named:baseline')?.due).toBe(g.now + 60_000),
  },
  {
    row: 'intervening | failure, attempts left | action_failed, retry_countdown; permission again, new job, arm again',
    reach: () => change(Governed.intervening(), (g) => g.pass(300)),
    happen: (g) => g.result({ ok: false, response_code: 503 }),
    next: 'intervening',
    receipts: ['action_failed', 'retry_countdown', 'action_attempted'],
    more: (g, steps) => {
      expect(effectsOf(steps)).toMatchObject([{ type: 'attempt', attempt: 2 }]);
      expect(g.timer('state')?.due).toBe(g.now + 500);
    },
  },
  {
    row: 'intervening | failure, last | warning | action_failed, retry_countdown; rb',
    reach: () => change(Governed.intervening(), (g) => g.failsUntil(2)),
    happen: (g) => g.result({ ok: false, response_code: 503 }),
    next: 'warning',
    receipts: ['action_failed', 'retry_countdown', 'action_rollback_issued'],
    more: isUndone,
  },
  {
    row: 'intervening | 403 | refusing | action_failed, permission_denied',
    reach: states.intervening,
    happen: (g) => g.result({ ok: false, response_code: 403 }),
    next: 'refusing',
    receipts: ['action_failed', 'permission_denied'],
    more: (g) => expect(g.data?.in_flight).toBeNull(),
  },
  {
    row: 'intervening | 403 | the same; rb if an earlier attempt was sent',
    reach: () => change(Governed.intervening(), (g) => g.failsUntil(1)),
    happen: (g) => g.result({ ok: false, response_code: 403 }),
    next: 'refusing',
    receipts: ['action_failed', 'permission_denied', 'action_rollback_issued'],
    more: isUndone,
  },
  {
    row: 'intervening | the retry is denied | refusing | action_failed, permission_denied; rb',
    reach: () => change(Governed.intervening(), deniedNext),
    happen: (g) => g.result({ ok: false, response_code: 500 }),
    next: 'refusing',
    receipts: ['action_failed', 'permission_denied', 'action_rollback_issued'],
    more: isUndone,
  },
  {
    row: 'intervening | policy withdrawn | refusing | policy_violation; rb',
    reach: states.intervening,
    happen: (g) => g.publish(null),
    next: 'refusing',
    receipts: ['policy_violation', 'action_rollback_issued'],
    more: isUndone,
  },
  {
    row: 'intervening | entitlement withdrawn | refusing | policy_violation; rb',
    reach: states.intervening,
    happen: (g) => g.entitle({ status: 'CANCELLED' }),
    next: 'refusing',
    receipts: ['policy_violation', 'action_rollback_issued'],
    more: isUndone,
  },
  {
    row: 'intervening | state timeout | degraded | action_timeout; rb, escalate',
    reach: states.intervening,
    happen: (g) => due(g, 500),
    next: 'degraded',
    receipts: ['action_timeout', 'action_rollback_issued'],
    more: (g, steps) => {
      isUndone(g, steps);
      expect(effectsOf(steps, 'escalate')).toMatchObject([{ alert: 'GOVERNOR_ACTION_TIMEOUT' }]);
      expect(g.data?.causes).toEqual(['action_timeout']);
    },
  },
  {
    row: 'intervening | health failed | degraded | health_check_failed; rb',
    reach: states.intervening,
    happen: (g) => g.fail('ledger'),
    next: 'degraded',
    receipts: ['health_check_failed', 'action_rollback_issued'],
    more: isUndone,
  },
  {
    row: 'intervening | nobody can say whether the retry is allowed | degraded | health_check_failed; rb',
    reach: () => change(Governed.intervening(), unreachableNext),
    happen: (g) => g.result({ ok: false, response_code: 500 }),
    next: 'degraded',
    receipts: ['action_failed', 'health_check_failed', 'action_rollback_issued'],
    more: isUndone,
  },
  {
    row: 'intervening | outage | degraded | health_check_failed; rb',
    reach: states.intervening,
    happen: outage,
    next: 'degraded',
    receipts: ['health_check_failed', 'action_rollback_issued'],
    more: isUndone,
  },
];
