/**
 * A level per instance, and what is over is looked at again when what kept a governor from acting
 * has ended.
 */
import { describe, expect, test } from 'vitest';
import {
  allowed,
  contextOf,
  documentWith,
  effectsOf,
  forbidden,
  Governed,
  policyOf,
  reasonsOf,
} from './governed.js';

const fires = (governor: Governed, instance: string, value = 90) =>
  governor.signal('cpu_utilization', value, { instance });
const resolves = (governor: Governed, instance: string) => fires(governor, instance, 0);
const overOf = (governor: Governed) => Object.keys(governor.data?.over ?? {});
const attempts = (governor: Governed) =>
  governor.effects.filter((one) => one.type === 'attempt' && one.kind === 'action').length;
const observed = documentWith({
  actions: {},
  when: { cpu_utilization: { direction: 'above', limit: 75, clear: 70, cooldown_ms: 0 } },
});

describe('instances', () => {
  test('a type is over while one of its instances is', () => {
    const governor = Governed.stable(observed);
    fires(governor, 'web-1');
    fires(governor, 'web-2');
    const first = resolves(governor, 'web-1');
    expect(contextOf(first, 'signal_cleared')).toMatchObject({ still_over: 1 });
    expect([governor.state, overOf(governor)]).toEqual(['warning', ['cpu_utilization web-2']]);
    expect(reasonsOf(resolves(governor, 'web-2'))).toEqual([
      'signal_received',
      'signal_cleared',
      'baseline_restored',
      'state_transition',
    ]);
    expect([governor.state, overOf(governor)]).toEqual(['stable', []]);
  });

  test('a signal without an instance has a level of its own', () => {
    const governor = Governed.stable(observed);
    fires(governor, 'web-1');
    governor.signal('cpu_utilization', 10);
    expect(governor.state).toBe('warning');
  });

  test('no more than 500 levels are kept: the one that is over the longest is forgotten', () => {
    const governor = Governed.stable(observed);
    for (let n = 1; n <= 502; n++) {
      governor.now++;
      fires(governor, `web-${n}`);
    }
    expect(overOf(governor)).toHaveLength(500);
    expect(overOf(governor)[0]).toBe('cpu_utilization web-3');
  });

  test('no more than 500 are kept of types that no policy names, and they displace none that is over', () => {
    const governor = Governed.stable();
    governor.signal('free_disk', 5, { instance: 'disk-1' });
    for (let n = 1; n <= 502; n++) {
      governor.now++;
      governor.signal('humidity', 90, { instance: `room-${n}` });
    }
    expect(Object.keys(governor.data?.seen ?? {})).toHaveLength(500);
    expect(Object.keys(governor.data?.seen ?? {})[0]).toBe('humidity room-3');
    expect(overOf(governor)).toEqual(['free_disk disk-1']);
  });

  test('a policy that does not name a type has none of it over, until another one names it', () => {
    const governor = Governed.stable();
    governor.signal('free_disk', 5, { instance: 'disk-1' });
    fires(governor, 'web-1');
    governor.result({ baseline: 'unknown' });
    governor.publish(policyOf(2, observed));
    expect(overOf(governor)).toEqual(['cpu_utilization web-1']);
    const cleared = resolves(governor, 'web-1');
    expect(contextOf(cleared, 'signal_cleared')).toMatchObject({ still_over: 0 });
    expect(governor.state).toBe('stable');
    governor.publish(policyOf(3));
    governor.pass(1);
    expect([governor.state, overOf(governor)]).toEqual(['warning', ['free_disk disk-1']]);
  });
});

describe('an alert that is seen', () => {
  const later = documentWith({
    when: { error_rate: { direction: 'above', limit: 1, clear: 0.5, cooldown_ms: 0 } },
  });

  test('while the policy is withdrawn is acted on when one that names it is published', () => {
    const governor = Governed.stable();
    governor.publish(null);
    fires(governor, 'web-1');
    expect([overOf(governor), attempts(governor)]).toEqual([[], 0]);
    const steps = governor.publish(policyOf(2));
    expect(overOf(governor)).toEqual(['cpu_utilization web-1']);
    expect(reasonsOf([...steps, ...governor.pass(1)])).toEqual([
      'policy_updated',
      ...['threshold_exceeded', 'state_transition', 'action_attempted', 'state_transition'],
    ]);
    expect(attempts(governor)).toBe(1);
  });

  test('before the policy names its type is acted on when another one does', () => {
    const governor = Governed.stable(later);
    fires(governor, 'web-1');
    governor.pass(600_000);
    expect([governor.state, attempts(governor)]).toEqual(['stable', 0]);
    governor.publish(policyOf(2));
    governor.pass(1);
    expect([governor.state, attempts(governor)]).toEqual(['intervening', 1]);
  });

  test('while it is degraded without a policy is acted on when it has both', () => {
    const governor = Governed.degraded();
    governor.publish(null);
    fires(governor, 'web-1');
    governor.publish(policyOf(2));
    governor.pass(10_001);
    expect([governor.state, attempts(governor)]).toEqual(['intervening', 1]);
  });

  test('and answered stays known, and is over again, when the policy is withdrawn and comes back', () => {
    const governor = Governed.stable();
    fires(governor, 'web-1');
    governor.result({ baseline: 'unknown' });
    governor.publish(null);
    expect(overOf(governor)).toEqual([]);
    governor.publish(policyOf(2));
    governor.pass(600_000);
    expect([governor.state, overOf(governor)]).toEqual(['warning', ['cpu_utilization web-1']]);
    expect(attempts(governor)).toBe(1);
    resolves(governor, 'web-1');
    expect(governor.state).toBe('stable');
  });

  test('while the policy is withdrawn, and is resolved before one is published, is not acted on', () => {
    const governor = Governed.stable();
    governor.publish(null);
    fires(governor, 'web-1');
    resolves(governor, 'web-1');
    governor.publish(policyOf(2));
    governor.pass(600_000);
    expect([governor.state, attempts(governor)]).toEqual(['stable', 0]);
  });

  test('under the limit of the policy that names it is not acted on', () => {
    const governor = Governed.stable(later);
    fires(governor, 'web-1', 72);
    governor.publish(policyOf(2));
    governor.pass(600_000);
    expect([governor.state, attempts(governor)]).toEqual(['stable', 0]);
  });

  test('while it is degraded is acted on when it has recovered', () => {
    const governor = Governed.degraded();
    expect(reasonsOf(fires(governor, 'web-1'))).toEqual(['health_check_failed']);
    const steps = governor.pass(10_001);
    expect(reasonsOf(steps)).toEqual([
      ...['health_check_passed', 'entitlement_verified', 'state_transition'],
      ...['threshold_exceeded', 'state_transition'],
      ...['action_attempted', 'state_transition'],
    ]);
    expect(contextOf(steps, 'threshold_exceeded')).toMatchObject({
      current_value: 90,
      remediation_action: 'scale_up_cloud_run',
    });
    expect(contextOf(steps, 'action_attempted')).toMatchObject({ signal_id: 'signal-1' });
    expect(governor.state).toBe('intervening');
  });

  test('while it is degraded, and is resolved before it has recovered, is not acted on', () => {
    const governor = Governed.degraded();
    fires(governor, 'web-1');
    resolves(governor, 'web-1');
    governor.pass(60_000);
    expect([governor.state, attempts(governor)]).toEqual(['stable', 0]);
  });

  test('while it is degraded is acted on though it begins anew before it recovers', () => {
    const governor = Governed.stable(undefined, { bounds: { recovery_ms: 5_000 } });
    const { check } = governor;
    governor.fail('ledger');
    governor.check = {
      ...check,
      failures: [{ cause: 'ledger', component: 'ledger', failure_type: 'gone' }],
    };
    fires(governor, 'web-1');
    governor.pass(6_000);
    expect(governor.state).toBe('boot');
    governor.check = check;
    governor.pass(30_000);
    expect(attempts(governor)).toBe(1);
  });

  test('while it refuses is acted on when the violations are cleared', () => {
    const governor = Governed.refusing();
    expect(reasonsOf(fires(governor, 'web-1'))).toEqual(['policy_violation']);
    governor.act = { ...governor.act, action: allowed };
    governor.recheck = { ...governor.recheck, permission: allowed };
    const steps = governor.pass(30_001);
    expect(reasonsOf(steps).slice(0, 4)).toEqual([
      'violations_cleared',
      'state_transition',
      'threshold_exceeded',
      'state_transition',
    ]);
    expect(attempts(governor)).toBe(1);
  });

  test('and is what it refused for is acted on when that has ended, after its cooldown', () => {
    const governor = Governed.stable();
    governor.act = { ...governor.act, action: forbidden };
    governor.recheck = { ...governor.recheck, permission: forbidden };
    fires(governor, 'web-1');
    expect(governor.state).toBe('refusing');
    governor.act = { ...governor.act, action: allowed };
    governor.recheck = { ...governor.recheck, permission: allowed };
    governor.pass(59_999);
    expect([governor.state, attempts(governor)]).toEqual(['warning', 0]);
    governor.pass(1);
    expect(attempts(governor)).toBe(1);
  });

  test('in a cooldown is acted on when the cooldown is over', () => {
    const governor = Governed.stable();
    fires(governor, 'web-1');
    governor.result({ baseline: 'unknown' });
    governor.pass(1_000);
    expect(contextOf(fires(governor, 'web-2'), 'threshold_exceeded')).not.toHaveProperty(
      'remediation_action',
    );
    governor.pass(58_999);
    expect(attempts(governor)).toBe(1);
    const steps = governor.pass(1);
    expect(reasonsOf(steps)).toEqual([
      'threshold_exceeded',
      'action_attempted',
      'state_transition',
    ]);
    expect(contextOf(steps, 'action_attempted')).toMatchObject({ signal_id: 'signal-2' });
  });

  test('while an action is in flight is acted on when the cooldown is over', () => {
    const governor = Governed.stable();
    fires(governor, 'web-1');
    fires(governor, 'web-2');
    governor.result({ baseline: 'unknown' });
    governor.pass(60_000);
    expect(attempts(governor)).toBe(2);
  });

  test('by an action in flight when its database was away is acted on again: the action was undone', () => {
    const governor = Governed.stable();
    fires(governor, 'web-1');
    governor.tell({ kind: 'outage', from: governor.now - 9_000, to: governor.now });
    governor.result({});
    governor.pass(60_001);
    expect([governor.state, attempts(governor)]).toEqual(['intervening', 2]);
  });

  test.each([
    ['that succeeded', (governor: Governed) => governor.result({ baseline: 'unknown' })],
    ['that failed', (governor: Governed) => governor.failsUntil(3)],
    ['that took too long', (governor: Governed) => governor.pass(500)],
  ])('and was answered by an action %s is not acted on again by itself', (_, ends) => {
    const governor = Governed.stable();
    fires(governor, 'web-1');
    ends(governor);
    if (governor.inFlight) governor.result({});
    governor.pass(10 * 60_000);
    expect([governor.state, attempts(governor)]).toEqual(['warning', attempts(governor)]);
    expect(
      new Set(
        governor.effects.flatMap((one) =>
          one.type === 'attempt' && one.kind === 'action' ? [one.action_id] : [],
        ),
      ).size,
    ).toBe(1);
  });

  test('in shadow is decided once, and not again and again', () => {
    const governor = Governed.create();
    governor.publish(policyOf(1, documentWith(), true));
    governor.act = { ...governor.act, action: forbidden };
    fires(governor, 'web-1');
    const steps = governor.pass(60 * 60_000);
    expect(reasonsOf(steps)).toEqual([]);
  });
});

test('each type that waited is answered by an action of its own, one after the other', () => {
  const when = documentWith().when.cpu_utilization as NonNullable<
    ReturnType<typeof documentWith>['when'][string]
  >;
  const governor = Governed.stable(
    documentWith({ when: { cpu_utilization: when, error_rate: { ...when, limit: 1, clear: 1 } } }),
  );
  governor.fail('ledger');
  fires(governor, 'web-1');
  governor.signal('error_rate', 2, { instance: 'web-1' });
  const steps = governor.pass(10_001);
  expect(reasonsOf(steps)).toContain('concurrency_limited');
  governor.result({ baseline: 'unknown' });
  const ids = effectsOf(governor.steps, 'attempt').map(
    (effect) => effect.type === 'attempt' && effect.action_id,
  );
  expect(new Set(ids).size).toBe(2);
});

test('a cooldown that was begun while the clock was ahead is not longer when it is set back', () => {
  const governor = Governed.stable();
  const real = governor.now;
  governor.now += 40 * 86_400_000;
  fires(governor, 'web-1');
  const until = (governor.data?.cooling.cpu_utilization ?? 0) - governor.now;
  governor.tell({ kind: 'clock', back_ms: governor.now - real });
  expect(governor.data?.cooling.cpu_utilization).toBe(real + until);
});
