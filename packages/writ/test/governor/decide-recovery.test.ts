/** Degraded, boot and refusing: what keeps a governor there, and what lets it out. */
import { describe, expect, test } from 'vitest';
import {
  contextOf,
  effectsOf,
  forbidden,
  Governed,
  policyOf,
  reasonsOf,
  type Step,
  unreachable,
} from './governed.js';

const down = {
  cause: 'ledger',
  component: 'ledger',
  failure_type: 'read_error',
  message: 'deadline exceeded',
} as const;
const crash = {
  kind: 'crash',
  event: 'signal',
  crashes: 10,
  window_ms: 60_000,
  error_message: 'TypeError',
} as const;
const ack = (cause: string) =>
  ({ kind: 'operator_ack', cause, by: 'carol', reason: 'seen to' }) as const;
const moments = (governor: Governed, steps: readonly Step[], timer: string) =>
  steps
    .filter(({ event: { content } }) => content.kind === 'timer' && content.timer === timer)
    .map(
      ({ event }) =>
        event.at -
        (governor.steps.find(({ decision }) => decision.state === 'degraded')?.event.at ?? 0),
    );

describe('the check', () => {
  test('backs off from 10 s to 30 s to 60 s to 5 min, and begins anew when it has passed', () => {
    const governor = Governed.degraded('ledger', {
      bounds: { recovery_ms: 1e9, recovery_max_ms: 1e9 },
    });
    governor.check = { ...governor.check, failures: [down] };
    const steps = governor.pass(1_000_000);
    expect(moments(governor, steps, 'check')).toEqual([
      10_000, 40_000, 100_000, 400_000, 700_000, 1_000_000,
    ]);
    expect(contextOf(steps, 'health_check_failed')).toMatchObject({
      ...{ component: 'ledger', failures: 6, retry_interval_seconds: 300 },
    });
    governor.check = { ...governor.check, failures: [] };
    expect(contextOf(governor.pass(300_000), 'health_check_passed')).toEqual({
      cleared: ['ledger'],
      down_ms: 1_300_000,
    });
    governor.fail('ledger');
    expect(governor.timer('named:check')?.due).toBe(governor.now + 10_000);
  });

  test('goes on in boot, with its back-off', () => {
    const governor = Governed.degraded('ledger', { bounds: { recovery_ms: 35_000 } });
    governor.check = { ...governor.check, failures: [down] };
    const steps = governor.pass(64_000);
    expect([governor.state, moments(governor, steps, 'check')]).toEqual(['boot', [10_000, 40_000]]);
    expect(reasonsOf(steps.slice(-1))).toEqual([]);
  });

  test('does not take away what a person or a rollback has to, and what it finds missing it adds', () => {
    const governor = Governed.intervening();
    governor.pass(500);
    governor.tell(crash);
    governor.check = {
      ...governor.check,
      failures: [down],
      entitlement: { failed: 'no answer within 200 ms' },
    };
    governor.pass(4_000);
    governor.result({});
    governor.pass(10_000);
    expect(governor.data?.causes).toEqual(['crash', 'ledger', 'entitlement']);
    governor.tell(ack('ledger'));
    expect(governor.data?.causes).toContain('ledger');
  });

  test('needs an active entitlement too', () => {
    const governor = Governed.degraded();
    governor.check = { ...governor.check, entitlement: null };
    expect(contextOf(governor.pass(10_000), 'health_check_failed')).toMatchObject({
      component: 'entitlement',
      failure_type: 'entitlement_not_active',
      causes: [],
    });
    expect(governor.state).toBe('degraded');
    governor.entitle({});
    expect(governor.state).toBe('degraded');
    governor.pass(30_000);
    expect(governor.state).toBe('stable');
  });

  test('of a policy passes when there is one again', () => {
    const governor = Governed.degraded('policy');
    governor.publish(null);
    governor.pass(10_000);
    expect([governor.state, governor.data?.causes]).toEqual(['degraded', ['policy']]);
  });
});

describe('recovery', () => {
  /** When each began anew. */
  const restarts = (governor: Governed, until: number) =>
    governor
      .pass(until)
      .flatMap(({ decision }) =>
        decision.receipts.flatMap(({ reason, context }) =>
          reason === 'recovery_timeout' ? [context] : [],
        ),
      );

  test('takes 2 min each time while it is the system that fails', () => {
    const governor = Governed.degraded();
    governor.check = { ...governor.check, failures: [down] };
    expect(restarts(governor, 500_000)).toMatchObject([
      { timeout_ms: 120_000 },
      { timeout_ms: 120_000 },
      { timeout_ms: 120_000 },
    ]);
  });

  test.each([
    ['a person is awaited', (g: Governed) => g.tell(crash)],
    [
      'the entitlement is missing',
      (g: Governed) => {
        g.check = { ...g.check, entitlement: null };
        g.entitle({ status: 'CANCELLED' });
        g.check = { ...g.check, entitlement: null };
        g.fail('ledger');
      },
    ],
  ])('doubles up to an hour while %s', (_, happen) => {
    const governor = Governed.stable();
    happen(governor);
    const times = restarts(governor, 13_000_000).map(
      (context) => 'timeout_ms' in context && context.timeout_ms,
    );
    expect(times).toEqual([120_000, 240_000, 480_000, 960_000, 1_920_000, 3_600_000, 3_600_000]);
  });

  test('begins with a new look, by whoever drives it then, and what is there again is not missed any more', () => {
    const governor = Governed.degraded('ledger', { bounds: { recovery_ms: 5_000 } });
    const steps = governor.pass(5_000);
    expect(reasonsOf(steps)).toEqual([
      'recovery_timeout',
      'boot_start',
      'state_transition',
      'entitlement_verified',
      'state_transition',
    ]);
    expect(contextOf(steps, 'boot_start')).toMatchObject({ process_id: 'host-2:77' });
    expect([governor.state, governor.data?.recoveries, governor.timer('named:check')]).toEqual([
      'stable',
      0,
      undefined,
    ]);
  });
});

test('what fails twice for the same reason while degraded is said once', () => {
  const governor = Governed.degraded('ledger');
  expect(reasonsOf(governor.fail('ledger'))).toEqual([]);
  expect(reasonsOf(governor.fail('iam'))).toEqual(['health_check_failed']);
  expect(governor.data?.causes).toEqual(['ledger', 'iam']);
});

test('an outage is said with its times', () => {
  const governor = Governed.stable();
  const steps = governor.tell({
    kind: 'outage',
    from: Date.UTC(2026, 0, 25, 13),
    to: Date.UTC(2026, 0, 25, 14),
  });
  const times = { outage_from: '2026-01-25T13:00:00.000Z', outage_to: '2026-01-25T14:00:00.000Z' };
  expect(contextOf(steps, 'health_check_failed')).toMatchObject({ ...times, causes: ['outage'] });
});

test('a person can declare seen to only what a person has to see to, and then the next look is soon', () => {
  const governor = Governed.stable();
  governor.tell(crash);
  expect(governor.tell(ack('nondeterminism'))[0]?.decision.actions).toEqual([]);
  governor.tell(ack('crash'));
  governor.pass(1);
  expect(governor.state).toBe('stable');
});

test('where an event was set aside, what may have been its timer is started anew', () => {
  const governor = Governed.intervening();
  governor.signal('cpu_utilization', 50, { storm: 101 });
  governor.pass(500);
  governor.poisoned = true;
  governor.recent = 200;
  governor.pass(5_000);
  expect(governor.last.event.content).toMatchObject({ kind: 'crash' });
  for (const name of ['state', 'named:check', 'named:rollback', 'named:storm'] as const)
    expect(governor.timer(name)).toBeDefined();
});

describe('refusing', () => {
  test('an action that was denied is asked about every 30 s, and a receipt is written only when that changes', () => {
    const governor = Governed.refusing();
    expect(reasonsOf(governor.pass(300_000))).toEqual([]);
    governor.recheck = { ...governor.recheck, permission: unreachable };
    governor.pass(30_000);
    expect(governor.state).toBe('refusing');
    governor.recheck = Governed.stable().recheck;
    expect(contextOf(governor.pass(30_000), 'violations_cleared')).toEqual({
      cleared: ['permission_denied'],
      cleared_by: 'recheck',
    });
    expect(governor.timer('named:recheck')).toBeUndefined();
  });

  test('the inverse has to be allowed as well', () => {
    const governor = Governed.refusing();
    governor.recheck = { ...Governed.stable().recheck, inverse: forbidden };
    governor.pass(30_000);
    expect(governor.state).toBe('refusing');
  });

  test('what the policy has to mend is mended by another version, not by the same or by none', () => {
    const governor = Governed.stable();
    governor.ask({ action_type: 'unheard_of' });
    governor.publish(policyOf(1));
    expect(governor.state).toBe('refusing');
    governor.publish(null);
    expect(governor.state).toBe('refusing');
    const steps = governor.publish(policyOf(2));
    expect(reasonsOf(steps)).toEqual(['policy_updated', 'violations_cleared', 'state_transition']);
    expect(contextOf(steps, 'policy_updated')).toMatchObject({
      previous_policy_version: 1,
      current_policy_version: 2,
    });
  });

  test('with several causes it leaves when the last is gone, and says what is left', () => {
    const governor = Governed.refusing();
    const [first] = governor.data?.refusals ?? [];
    const cancelled = governor.entitle({ status: 'CANCELLED' });
    expect(contextOf(cancelled, 'policy_violation')).toMatchObject({
      reason: 'entitlement_not_active',
    });
    expect(governor.data?.refusals).toEqual([{ cause: 'entitlement_not_active' }, first]);
    governor.recheck = Governed.stable().recheck;
    governor.pass(30_000);
    expect([governor.state, governor.data?.refusals]).toEqual([
      'refusing',
      [{ cause: 'entitlement_not_active' }],
    ]);
    expect(reasonsOf(governor.pass(30_000))).toEqual([]);
    expect(contextOf(governor.entitle({ status: 'ACTIVE' }), 'violations_cleared')).toMatchObject({
      cleared: ['entitlement_not_active'],
    });
    expect(governor.state).toBe('stable');
  });

  test.each([
    ['parameters beyond their bounds', { parameters: { replicas_delta: 99 } }],
    ['an action that the policy does not have', { action_type: 'unheard_of' }],
  ])('what was wrong with one request, %s, is over when it looks again', (_, wish) => {
    const governor = Governed.stable();
    governor.ask(wish);
    expect(governor.state).toBe('refusing');
    expect(reasonsOf(governor.pass(30_000))).toEqual(['violations_cleared', 'state_transition']);
    expect(governor.state).toBe('stable');
  });

  test('that nobody carried the action out is over once somebody does', () => {
    const governor = Governed.stable();
    governor.act = { ...governor.act, known: false };
    governor.recheck = { ...governor.recheck, known: false };
    governor.ask();
    expect(governor.data?.refusals).toMatchObject([{ cause: 'target_service_not_found' }]);
    governor.pass(30_000);
    expect(governor.state).toBe('refusing');
    governor.recheck = { ...governor.recheck, known: true };
    governor.pass(30_000);
    expect(governor.state).toBe('stable');
  });

  test('a policy that was withdrawn is awaited; one that lacks the action only ends what was in flight', () => {
    const [gone, other] = [Governed.intervening(), Governed.intervening()];
    gone.publish(null);
    other.publish({ ...policyOf(2), document: { ...policyOf(2).document, when: {}, actions: {} } });
    for (const governor of [gone, other]) {
      expect(governor.data?.refusals).toMatchObject([{ cause: 'policy_withdrawn' }]);
      governor.result({});
      governor.pass(30_000);
    }
    expect([gone.state, other.state]).toEqual(['refusing', 'stable']);
    gone.publish(policyOf(2));
    expect(gone.state).toBe('stable');
  });

  test('what waited for the slot is taken when it may act again', () => {
    const governor = Governed.intervening();
    governor.ask({ initiated_by: 'who waited' });
    governor.result({ ok: false, response_code: 403 });
    expect([governor.state, governor.data?.queue.length]).toEqual(['refusing', 1]);
    governor.pass(30_000);
    expect([governor.state, governor.inFlight.initiated_by]).toEqual(['intervening', 'who waited']);
  });
});

test('recovery takes longer each time while a person is awaited, whatever else stands', () => {
  const governor = Governed.degraded('ledger');
  governor.check = {
    ...governor.check,
    failures: [{ cause: 'ledger', component: 'ledger', failure_type: 'timeout' }],
  };
  governor.tell(crash);
  const waits: number[] = [];
  for (let n = 0; n < 4; n++) {
    const began = governor.now;
    while (governor.state === 'degraded') governor.pass(1_000);
    waits.push(governor.now - began);
    while (governor.state === 'boot') governor.pass(1_000);
  }
  expect(waits).toEqual([120_000, 240_000, 480_000, 960_000]);
});

test('the first policy has none before it, and a withdrawal says so', () => {
  const governor = Governed.create();
  expect(contextOf(governor.publish(policyOf(3)), 'policy_updated')).toMatchObject({
    previous_policy_version: null,
  });
  expect(contextOf(governor.publish(null), 'policy_updated')).toMatchObject({
    previous_policy_version: 3,
    current_policy_version: null,
  });
  expect(contextOf(governor.publish(policyOf(4)), 'policy_updated')).toMatchObject({
    previous_policy_version: 3,
  });
});

test('what a signal crashed on settles it, and it is undone what was in flight', () => {
  const governor = Governed.intervening();
  const steps = governor.tell({ ...crash, arrival_seq: ++governor.arrivals });
  expect(governor.settled.get(2)).toBe('event_failed');
  expect(effectsOf(steps).map(({ type }) => type)).toEqual(['fence', 'attempt', 'escalate']);
});
