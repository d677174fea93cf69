/** Checks, attempts, rollbacks and late results. */
import { describe, expect, test } from 'vitest';
import { isUuid, uuidTime } from '../../src/database/uuid.js';
import { actionId, eventId, jobId } from '../../src/governor/ids.js';
import {
  contextOf,
  documentWith,
  effectsOf,
  forbidden,
  Governed,
  policyOf,
  reasonsOf,
  ruled,
  type Step,
  scaleUp,
  unreachable,
} from './governed.js';

const contract = { kind: 'contract', template_id: 'rollout' } as const;
const types = (steps: readonly Step[]) => effectsOf(steps).map(({ type }) => type);
const late = (governor: Governed, ok: boolean) => {
  const { action_id, attempt } = governor.data?.given_up?.action ?? {
    action_id: 'none was given up',
    attempt: 0,
  };
  return governor.tell({ kind: 'result', action_id, attempt, ok });
};

describe('an action is refused for the first thing that stands against it', () => {
  const everything = {
    action: forbidden,
    inverse: forbidden,
    quota: { month: '2026-01', used: 1_000 },
    known: false,
  };
  const tight = documentWith({ budget: 5 });
  const asked = { signal_type: 'free_disk', parameters: { replicas_delta: 99 } };
  const right = { signal_type: 'cpu_utilization', parameters: { replicas_delta: 5 } };
  test.each([
    ['action_not_in_policy', everything, tight, { ...asked, action_type: 'unheard_of' }],
    ['target_service_not_found', everything, tight, asked],
    ['signal_action_mismatch', { ...everything, known: true }, tight, asked],
    [
      'bounds_exceeded',
      { ...everything, known: true },
      tight,
      { ...asked, signal_type: 'cpu_utilization' },
    ],
    ['would_exceed_budget', { ...everything, known: true }, tight, right],
    ['permission_denied', { ...everything, known: true }, documentWith({ budget: 10 }), right],
    [
      'quota_exceeded',
      { ...Governed.stable().act, quota: everything.quota },
      documentWith({ budget: 10 }),
      right,
    ],
  ])('%s', (cause, answers, document, wish) => {
    const governor = Governed.stable(document);
    governor.act = answers;
    governor.ask(wish);
    expect([governor.state, governor.data?.refusals.map((refusal) => refusal.cause)]).toEqual([
      'refusing',
      [cause],
    ]);
    expect(governor.effects).toEqual([]);
  });

  test.each([
    [{ replicas_delta: 1 }, true],
    [{ replicas_delta: 5 }, true],
    [{ replicas_delta: 0 }, false],
    [{ replicas_delta: 5.1 }, false],
    [{ replicas_delta: '3' }, false],
    [{ size: 'large' }, true],
    [{ size: 'huge' }, false],
    [{ region: 'europe-west1' }, true],
    [{ region: 'us-east1' }, false],
    [{ constructor: 1 }, false],
  ])('with %j it is in bounds: %s', (parameters, fits) => {
    const governor = Governed.stable();
    governor.ask({ parameters: parameters as Record<string, string | number> });
    expect(governor.state).toBe(fits ? 'intervening' : 'refusing');
  });

  test('the budget is that of a month', () => {
    const governor = Governed.stable(documentWith({ budget: 15 }));
    governor.ask();
    governor.result({ baseline: 'restored' });
    governor.ask();
    expect(governor.data?.refusals).toMatchObject([{ cause: 'would_exceed_budget' }]);
    governor.now = Date.UTC(2026, 1, 1);
    governor.pass(0);
    governor.ask();
    expect([governor.state, governor.data?.spent]).toEqual([
      'intervening',
      { month: '2026-02', cost: 10 },
    ]);
  });
});

describe('a shadow', () => {
  const shadow = (changes: Partial<Governed['act']> = {}) => {
    const governor = Governed.create();
    governor.act = { ...governor.act, ...changes };
    governor.publish(policyOf(1, documentWith(), true));
    return governor;
  };

  test('says what it would have attempted, and stays where it is', () => {
    const governor = shadow();
    const steps = governor.signal('cpu_utilization', 99);
    expect(contextOf(steps, 'action_attempted')).not.toHaveProperty('job_id');
    expect([
      governor.state,
      governor.data?.in_flight,
      governor.data?.quota?.used,
      governor.effects,
    ]).toEqual(['warning', null, 0, []]);
  });

  test.each([
    [{ action: forbidden }, 'permission_denied'],
    [{ known: false }, 'policy_violation'],
    [{ inverse: unreachable }, 'health_check_failed'],
  ] as const)(
    'says what it would have refused for %j, and stays where it is',
    (changes, reason) => {
      const governor = shadow(changes);
      expect(reasonsOf(governor.ask())).toEqual([reason]);
      expect([governor.state, governor.data?.causes, governor.data?.refusals]).toEqual([
        'stable',
        [],
        [],
      ]);
    },
  );

  test('that takes the place of a policy in force does not try again what is in flight: it is undone', () => {
    const governor = Governed.intervening();
    governor.publish(policyOf(2, documentWith(), true));
    const steps = governor.result({ ok: false });
    expect([governor.state, types(steps)]).toEqual(['warning', ['fence', 'attempt']]);
  });
});

describe('a contract', () => {
  const running = () => {
    const governor = Governed.intervening(
      ruled({
        actuator: contract,
        inverse: { ...scaleUp.inverse, actuator: { kind: 'contract' } },
      }),
    );
    governor.pass(400);
    governor.tell({
      kind: 'acknowledged',
      action_id: governor.inFlight.action_id,
      attempt: 1,
      reference: 'contract-17',
    });
    return governor;
  };

  test('that was acknowledged in time may take as long as the policy says, and not longer', () => {
    const governor = running();
    governor.pass(899_999);
    expect(governor.state).toBe('intervening');
    expect(contextOf(governor.pass(1), 'action_timeout')).toMatchObject({
      action_timeout_ms: 900_000,
      elapsed_ms: 900_400,
    });
  });

  test('is undone where it was carried out, with as much time', () => {
    const governor = running();
    const steps = governor.publish(null);
    expect(effectsOf(steps, 'attempt')).toMatchObject([
      { kind: 'rollback', reference: 'contract-17', due_at: governor.now + 900_000 },
    ]);
    governor.pass(100_000);
    governor.tell({ kind: 'acknowledged', action_id: governor.inFlight.action_id, attempt: 1 });
    expect(governor.timer('named:rollback')?.due).toBe(governor.now + 900_000);
  });

  test('is not acknowledged by what says so of another attempt, twice, or too late', () => {
    const governor = running();
    const { action_id } = governor.inFlight;
    governor.pass(1_000);
    const before = governor.timer('state')?.due;
    for (const attempt of [1, 2])
      expect(reasonsOf(governor.tell({ kind: 'acknowledged', action_id, attempt }))).toEqual([]);
    expect(governor.timer('state')?.due).toBe(before);
    governor.result({ baseline: 'restored' });
    expect(reasonsOf(governor.tell({ kind: 'acknowledged', action_id, attempt: 1 }))).toEqual([]);
  });
});

describe('a rollback', () => {
  const undoing = () => {
    const governor = Governed.intervening();
    governor.pass(500);
    return governor;
  };

  test('that succeeds takes the cause away, and calms the person that was called', () => {
    const governor = undoing();
    expect(types(governor.result({}))).toEqual(['calm']);
    expect([
      governor.data?.causes,
      governor.data?.in_flight,
      governor.timer('named:rollback'),
    ]).toEqual([[], null, undefined]);
    governor.pass(10_000);
    expect(governor.state).toBe('stable');
  });

  test('is tried as often as an action, each time with a new job, whether it fails or does not answer', () => {
    const governor = undoing();
    const first = governor.inFlight;
    expect(reasonsOf(governor.result({ ok: false }))).toEqual(['action_failed', 'retry_countdown']);
    const steps = governor.pass(5_000);
    expect(types(steps)).toEqual(['fence', 'attempt']);
    expect(governor.inFlight).toMatchObject({ action_id: first.action_id, attempt: 3 });
    expect(
      new Set(
        effectsOf(governor.steps, 'attempt').map((effect) => 'job_id' in effect && effect.job_id),
      ).size,
    ).toBe(4);
    expect(contextOf(governor.pass(5_000), 'action_rollback_failed')).toMatchObject({
      failure_reason: 'timeout',
      original_action_id: first.of,
    });
    expect(governor.data?.causes).toEqual(['action_timeout', 'rollback_failed']);
  });

  test('goes on when something else fails meanwhile', () => {
    const governor = undoing();
    const before = governor.inFlight;
    const steps = governor.fail('ledger');
    expect([governor.inFlight, effectsOf(steps)]).toEqual([before, []]);
  });

  test('is issued once more when what it undid turns out to have happened after all', () => {
    const governor = undoing();
    const first = governor.inFlight.action_id;
    governor.result({});
    governor.pass(1_840);
    expect(reasonsOf(late(governor, false))).toEqual(['late_result']);
    const steps = late(governor, true);
    expect(contextOf(steps, 'late_result')).toMatchObject({
      late_by_ms: 1_840,
      result: 'succeeded',
    });
    expect(contextOf(steps, 'action_rollback_issued')).toMatchObject({
      rollback_reason: 'late_result',
    });
    expect(governor.inFlight.action_id).not.toBe(first);
    governor.result({});
    // The same said twice.
    expect(reasonsOf(late(governor, true))).toEqual(['late_result']);
    expect(governor.data?.in_flight).toBeNull();
  });

  test('is issued once more after it has succeeded, when what it undoes happens meanwhile', () => {
    const governor = undoing();
    const first = governor.inFlight.action_id;
    expect(contextOf(late(governor, true), 'late_result')).toMatchObject({
      late_by_ms: 0,
      rollback_action_id: first,
    });
    expect(governor.inFlight.action_id).toBe(first);
    expect(contextOf(governor.result({}), 'action_rollback_issued')).toMatchObject({
      rollback_reason: 'late_result',
    });
    expect(governor.inFlight.action_id).not.toBe(first);
    governor.result({});
    expect(governor.data?.in_flight).toBeNull();
  });

  test('that has failed for good is not tried again because of a late result: that is for a person', () => {
    const governor = undoing();
    for (let attempt = 1; attempt <= 3; attempt++)
      governor.result({ ok: false, failure_reason: 'service_error' });
    expect(governor.data?.causes).toContain('rollback_failed');
    expect(reasonsOf(late(governor, true))).toEqual(['late_result']);
    expect(governor.data?.in_flight).toBeNull();
  });

  test('waits for the slot when what it undoes happens while something else is in flight', () => {
    const governor = undoing();
    governor.result({});
    governor.pass(10_000);
    expect(governor.state).toBe('stable');
    governor.ask();
    expect(governor.state).toBe('intervening');
    expect(reasonsOf(late(governor, true))).toEqual(['late_result']);
    expect(
      contextOf(governor.result({ baseline: 'restored' }), 'action_rollback_issued'),
    ).toMatchObject({
      rollback_reason: 'late_result',
    });
  });

  test('of an action whose baseline is not back is issued when the policy says so, and only while something is over', () => {
    const [kept, undone, calm] = [
      documentWith(),
      ruled({ not_restored: 'rollback' }),
      ruled({ not_restored: 'rollback' }),
    ].map((document) => {
      const governor = Governed.intervening(document);
      governor.result({ baseline: 'unknown' });
      return governor;
    }) as [Governed, Governed, Governed];
    calm.signal('cpu_utilization', 10);
    expect([calm.data?.awaiting_baseline, calm.timer('named:baseline')]).toEqual([null, undefined]);
    for (const governor of [kept, undone, calm]) governor.pass(60_000);
    expect([kept.data?.in_flight, undone.inFlight.reason, calm.data?.in_flight]).toEqual([
      null,
      'baseline_not_restored',
      null,
    ]);
    expect(calm.state).toBe('stable');
  });

  test('is not issued for an action that a newer one has followed', () => {
    const governor = Governed.intervening(ruled({ not_restored: 'rollback' }));
    governor.result({ baseline: 'not_restored' });
    governor.pass(30_000);
    governor.ask();
    expect([governor.data?.awaiting_baseline, governor.timer('named:baseline')]).toEqual([
      null,
      undefined,
    ]);
    governor.result({ baseline: 'not_restored' });
    const second = governor.data?.awaiting_baseline?.action_id;
    governor.pass(59_999);
    expect(governor.data?.in_flight).toBeNull();
    governor.pass(1);
    expect(governor.inFlight.of).toBe(second);
  });
});

test('two that have to be undone are undone one after the other', () => {
  const governor = Governed.intervening(ruled({ not_restored: 'rollback' }), {
    bounds: { rollback_ms: 70_000 },
  });
  governor.failsUntil(3);
  const first = governor.inFlight.of;
  governor.result({});
  governor.ask();
  const second = governor.inFlight.action_id;
  governor.result({ baseline: 'not_restored' });
  late(governor, true);
  expect(governor.inFlight.of).toBe(first);
  governor.pass(60_000);
  expect(governor.inFlight.of).toBe(first);
  governor.result({});
  governor.pass(60_000);
  expect(governor.inFlight.of).toBe(second);
});

test('the attempts that are left are counted down to none', () => {
  const governor = Governed.intervening();
  governor.failsUntil(3);
  const counted = governor.steps.flatMap(({ decision }) =>
    decision.receipts.filter(({ reason }) => reason === 'retry_countdown'),
  );
  expect(
    counted.map(({ status, context }) => [
      status,
      'retry_countdown' in context && context.retry_countdown,
    ]),
  ).toEqual([
    ['accept', 2],
    ['accept', 1],
    ['error', 0],
  ]);
});

test('a result of an attempt before the one in flight changes nothing', () => {
  const governor = Governed.intervening();
  governor.failsUntil(1);
  const before = governor.data;
  expect(reasonsOf(governor.result({ attempt: 1 }))).toEqual(['late_result']);
  expect(governor.data).toEqual(before);
});

test('an entitlement that ends while an action is in flight stops the next attempt', () => {
  const governor = Governed.intervening();
  governor.entitle({ expires_at: governor.now + 100 });
  governor.pass(100);
  expect(reasonsOf(governor.result({ ok: false }))).toEqual([
    'action_failed',
    'policy_violation',
    'action_rollback_issued',
    'state_transition',
  ]);
});

test('an action that restores the baseline says how long it was away: since the first signal that was over, or since it began', () => {
  const governor = Governed.stable();
  for (const value of [5, 6]) {
    governor.signal('free_disk', value);
    governor.pass(1_000);
  }
  governor.ask();
  governor.pass(200);
  expect(contextOf(governor.result({ baseline: 'restored' }), 'baseline_restored')).toMatchObject({
    duration_ms: 2_200,
  });
  expect(governor.data?.over).toEqual({});
  governor.ask();
  governor.pass(300);
  expect(contextOf(governor.result({ baseline: 'restored' }), 'baseline_restored')).toMatchObject({
    duration_ms: 300,
  });
});

test('what scales is said in the fields of its own, and the rest beside it', () => {
  const governor = Governed.intervening();
  expect(contextOf(governor.steps, 'action_attempted')).toMatchObject({
    replicas_delta: 3,
    parameters: { region: 'europe-west1' },
  });
  const result = { previous_replicas: 5, new_replicas: 8, revision: 'r7' };
  const steps = governor.result({ baseline: 'restored', response_code: 200, result });
  expect(contextOf(steps, 'action_succeeded')).toMatchObject({
    previous_replicas: 5,
    new_replicas: 8,
    result: { revision: 'r7' },
  });
});

test.each([
  ['too long', 'x'.repeat(5_000), 1_000],
  ['NUL', 'a\0b', 2],
  ['half a character', `a\ud83d`, 2],
  ['nothing', '', undefined],
])('what a service says is kept as far as a receipt holds it: %s', (_, error_message, length) => {
  const context = contextOf(
    Governed.intervening().result({ ok: false, error_message }),
    'action_failed',
  );
  expect((context.error_message as string | undefined)?.length).toBe(length);
});

test('ids are derived: the same again, others for others, a job one of its time', () => {
  const event = eventId('018f0000-0000-7000-8000-000000000001', 7);
  expect([event, eventId('018f0000-0000-7000-8000-000000000001', 7)]).toEqual([event, event]);
  expect(eventId('018f0000-0000-7000-8000-000000000001', 8)).not.toBe(event);
  const action = actionId(event, 'act');
  expect(action).not.toBe(actionId(event, 'rollback'));
  const job = jobId(action, 1, 1_769_349_600_123);
  expect([event, action, job].every(isUuid)).toBe(true);
  expect([event[14], action[14], job[14], uuidTime(job)]).toEqual([
    '4',
    '4',
    '7',
    1_769_349_600_123,
  ]);
  expect(jobId(action, 2, 1_769_349_600_123)).not.toBe(job);
});
