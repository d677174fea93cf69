/**
 * What a governor does about an event: row by row of its table, row by row of the specification's,
 * and the eight invariants.
 */
import { describe, expect, test } from 'vitest';
import { decide } from '../../src/governor/decide.js';
import type { State } from '../../src/governor/decision.js';
import { reasons } from '../../src/ledger/reasons/index.js';
import { governor as machine } from '../../src/machines/index.js';
import {
  active,
  contextOf,
  effectsOf,
  forbidden,
  Governed,
  policyOf,
  reasonsOf,
  type Step,
  unreachable,
} from './governed.js';
import { rows, runRow } from './rows/index.js';

describe('the table', () => {
  test.each(rows.map((row) => [row.row, row] as const))('%s', (_, row) => {
    runRow(row);
  });

  test('names each row once', () => {
    expect(new Set(rows.map(({ row }) => row)).size).toBe(rows.length);
  });

  const nameOf = ({ event: { content } }: Step) =>
    content.kind === 'timer' ? content.timer : content.kind;
  const shown = () =>
    rows.flatMap((row) => {
      const { governor, steps } = runRow(row);
      return [...governor.steps, ...steps];
    });

  test('shows every change of state that the machine declares', () => {
    const seen = new Set(
      shown().map((step) => `${step.from ?? ''} ${nameOf(step)} ${step.decision.state}`),
    );
    const changes = machine.transitions
      .filter(({ from, to }) => from !== to && from !== '')
      .map((t) => `${t.from} ${t.event} ${t.to}`);
    expect(changes.filter((change) => !seen.has(change))).toEqual([]);
  });

  test('writes every receipt that a governor has, each as its schema wants it', () => {
    const overflow = Governed.stable(undefined, { bounds: { capacity: 1 } });
    for (const storm of [101, 102]) overflow.signal('cpu_utilization', 50, { storm });
    const seen = new Set<string>(reasonsOf([...shown(), ...overflow.steps]));
    const named = Object.entries(reasons).flatMap(([name, { author }]) =>
      author === 'governor' ? [name] : [],
    );
    expect(named.filter((name) => !seen.has(name))).toEqual([]);
  });
});

const nothing = { entitlement: null, quota: { month: '2026-01', used: 0 }, failures: [] };
const started = () => Governed.create({ check: nothing });
const after = (governor: Governed, how: (governor: Governed) => unknown) => {
  how(governor);
  return governor;
};
const without = (changes: Partial<Governed['act']>) =>
  after(Governed.stable(), (g) => Object.assign(g, { act: { ...g.act, ...changes } }));

describe("the specification's table", () => {
  interface Specified {
    readonly from: State;
    readonly to: State;
    readonly on: string;
    readonly receipts: readonly string[];
    readonly reach: () => Governed;
    readonly happen: (governor: Governed) => unknown;
  }
  const unheardOf = { action_type: 'unheard_of' };
  const specified: readonly Specified[] = [
    {
      from: 'boot',
      to: 'stable',
      on: 'entitlement_active',
      receipts: [],
      reach: started,
      happen: (g) => g.entitle({}),
    },
    {
      from: 'boot',
      to: 'degraded',
      on: 'state_timeout',
      receipts: ['bootstrap_timeout'],
      reach: started,
      happen: (g) => g.pass(30_000),
    },
    {
      ...{
        from: 'stable',
        to: 'warning',
        on: 'a signal over its threshold',
        receipts: ['signal_received', 'threshold_exceeded'],
      },
      ...{ reach: () => Governed.stable(), happen: (g) => g.signal('free_disk', 5) },
    },
    {
      ...{
        from: 'stable',
        to: 'intervening',
        on: 'next_event(action)',
        receipts: ['action_attempted'],
      },
      ...{ reach: () => Governed.stable(), happen: (g) => g.ask() },
    },
    {
      ...{
        from: 'stable',
        to: 'refusing',
        on: 'permission denied',
        receipts: ['permission_denied'],
      },
      ...{ reach: () => without({ action: forbidden }), happen: (g) => g.ask() },
    },
    {
      ...{
        from: 'stable',
        to: 'refusing',
        on: 'an action not in policy',
        receipts: ['policy_violation'],
      },
      ...{ reach: () => Governed.stable(), happen: (g) => g.ask(unheardOf) },
    },
    {
      ...{
        from: 'stable',
        to: 'degraded',
        on: 'the ledger unavailable',
        receipts: ['health_check_failed'],
      },
      ...{ reach: () => Governed.stable(), happen: (g) => g.fail('ledger') },
    },
    {
      ...{
        from: 'warning',
        to: 'intervening',
        on: 'next_event(action)',
        receipts: ['action_attempted'],
      },
      ...{ reach: () => Governed.warned(), happen: (g) => g.signal('cpu_utilization', 90) },
    },
    {
      ...{
        from: 'warning',
        to: 'stable',
        on: 'a signal back at its baseline',
        receipts: ['signal_cleared', 'baseline_restored'],
      },
      ...{ reach: () => Governed.warned(), happen: (g) => g.signal('free_disk', 50) },
    },
    {
      ...{
        from: 'warning',
        to: 'refusing',
        on: 'a policy violation',
        receipts: ['policy_violation'],
      },
      ...{ reach: () => Governed.warned(), happen: (g) => g.ask(unheardOf) },
    },
    {
      ...{
        from: 'intervening',
        to: 'stable',
        on: 'action_result(success)',
        receipts: ['action_succeeded', 'baseline_restored'],
      },
      ...{ reach: () => Governed.intervening(), happen: (g) => g.result({ baseline: 'restored' }) },
    },
    {
      ...{
        from: 'intervening',
        to: 'warning',
        on: 'action_result(failure), the last',
        receipts: ['action_failed', 'retry_countdown'],
      },
      ...{
        reach: () => after(Governed.intervening(), (g) => g.failsUntil(2)),
        happen: (g) => g.failsUntil(1),
      },
    },
    {
      ...{ from: 'intervening', to: 'degraded', on: 'state_timeout', receipts: ['action_timeout'] },
      ...{ reach: () => Governed.intervening(), happen: (g) => g.pass(500) },
    },
    {
      ...{
        from: 'intervening',
        to: 'degraded',
        on: 'the ledger unavailable',
        receipts: ['health_check_failed'],
      },
      ...{ reach: () => Governed.intervening(), happen: (g) => g.fail('ledger') },
    },
    {
      ...{
        from: 'refusing',
        to: 'stable',
        on: 'a policy update',
        receipts: ['policy_updated', 'violations_cleared'],
      },
      ...{
        reach: () => after(Governed.stable(), (g) => g.ask(unheardOf)),
        happen: (g) => g.publish(policyOf(2)),
      },
    },
    {
      ...{
        from: 'degraded',
        to: 'stable',
        on: 'a check that passes',
        receipts: ['health_check_passed', 'entitlement_verified'],
      },
      ...{ reach: () => Governed.degraded(), happen: (g) => g.pass(10_000) },
    },
    {
      ...{ from: 'degraded', to: 'boot', on: 'state_timeout', receipts: ['recovery_timeout'] },
      ...{
        reach: () => after(Governed.degraded(), (g) => Object.assign(g, { check: nothing })),
        happen: (g) => g.pass(120_000),
      },
    },
  ];

  test.each(specified.map((row) => [row.from, row.to, row.on, row] as const))(
    '%s → %s: %s',
    (from, to, _, row) => {
      const governor = row.reach();
      expect(governor.state).toBe(from);
      const first = governor.steps.length;
      row.happen(governor);
      expect(governor.state).toBe(to);
      const written = reasonsOf(governor.steps.slice(first));
      expect(written).toEqual(expect.arrayContaining([...row.receipts, 'state_transition']));
      expect(contextOf(governor.steps, 'state_transition')).toMatchObject({ to_state: to });
    },
  );
});

describe('invariant', () => {
  test('1, Entitlement Active Required: a signal without an active entitlement is refused with a receipt, and so is every action until it is renewed', () => {
    const governor = after(Governed.stable(), (g) => g.entitle({ status: 'CANCELLED' }));
    const steps = governor.signal('cpu_utilization', 99);
    expect(contextOf(steps, 'invariant_violation')).toMatchObject({
      invariant_id: 'entitlement_active_required',
      reason: 'entitlement_not_active',
    });
    // A refusal and no error, also of the signals that come while it refuses.
    const verdicts = [...steps, ...governor.signal('cpu_utilization', 99)].flatMap(({ decision }) =>
      decision.receipts.filter(({ reason }) => reason === 'invariant_violation'),
    );
    expect(verdicts).toMatchObject([
      { status: 'refuse', settles: 1 },
      { status: 'refuse', settles: 2 },
    ]);
    expect(contextOf(governor.ask(), 'policy_violation')).toMatchObject({
      reason: 'entitlement_not_active',
    });
    expect(governor.effects).toEqual([]);
    governor.entitle({});
    expect(governor.state).toBe('stable');
  });

  test('2, Permission Required for Every Action: none is attempted that, or whose inverse, is not allowed, or when nobody can say', () => {
    const tries = [
      { action: forbidden },
      { inverse: forbidden },
      { action: unreachable },
      { inverse: unreachable },
    ];
    const governors = tries.map((answers) => after(without(answers), (g) => g.ask()));
    expect(governors.map(({ state }) => state)).toEqual([
      'refusing',
      'refusing',
      'degraded',
      'degraded',
    ]);
    expect(governors.flatMap(({ effects }) => effects)).toEqual([]);
    expect(contextOf(governors[1]?.steps ?? [], 'permission_denied')).toMatchObject({
      permission_for: 'inverse',
      required_permission: 'run.services.downsize',
    });
    expect(contextOf(governors[2]?.steps ?? [], 'health_check_failed')).toMatchObject({
      component: 'iam',
    });
  });

  test('3, Quota Not Exceeded: the last action of a month is attempted and the next is refused, until the month is over', () => {
    const last = without({ quota: { month: '2026-01', used: 999 } });
    last.ask();
    expect([last.state, last.data?.quota]).toEqual([
      'intervening',
      { month: '2026-01', used: 1_000 },
    ]);
    const governor = without({ quota: { month: '2026-01', used: 1_000 } });
    expect(contextOf(governor.ask(), 'policy_violation')).toMatchObject({
      reason: 'quota_exceeded',
    });
    governor.recheck = { ...governor.recheck, quota: { month: '2026-01', used: 1_000 } };
    governor.pass(30_000);
    expect(governor.state).toBe('refusing');
    governor.now = Date.UTC(2026, 1, 1);
    governor.pass(0);
    expect(governor.state).toBe('stable');
  });

  test('3, Quota Not Exceeded: an action costs once however often it is tried, its rollback nothing, and without a limit none is refused', () => {
    const governor = after(Governed.intervening(), (g) => g.failsUntil(3));
    expect(effectsOf(governor.steps, 'quota')).toHaveLength(1);
    const unlimited = without({ quota: { month: '2026-01', used: 1e6 } });
    unlimited.entitle({ ...active, quota_limit: null });
    unlimited.ask();
    expect(unlimited.state).toBe('intervening');
  });

  test('4, Receipt Ledger Available: without it every action is refused, until it is back', () => {
    const governor = Governed.degraded('ledger');
    expect(contextOf(governor.ask(), 'health_check_failed')).toMatchObject({
      component: 'ledger',
      causes: ['ledger'],
    });
    expect(governor.effects).toEqual([]);
    governor.pass(10_000);
    governor.ask();
    expect(governor.state).toBe('intervening');
  });

  test('5, Policy Pack Loaded: without a policy it degrades rather than act, until one is loaded', () => {
    const governor = Governed.create();
    expect(contextOf(governor.ask(), 'health_check_failed')).toMatchObject({
      component: 'policy_cache',
      failure_type: 'policy_load_failed',
    });
    governor.pass(10_000);
    expect(governor.state).toBe('degraded');
    governor.publish(policyOf(1));
    governor.pass(30_000);
    expect(governor.state).toBe('stable');
  });

  test('6, Signal Storm Prevention: more than 100 in a minute wait in a buffer, and are all answered when it is over', () => {
    const governor = Governed.stable();
    governor.signal('cpu_utilization', 50, { storm: 101 });
    expect(contextOf(governor.steps, 'signal_storm_detected')).toMatchObject({
      rate: 101,
      limit: 100,
      buffered: 1,
    });
    for (let n = 0; n < 30; n++) governor.signal('cpu_utilization', 50, { storm: 102 + n });
    expect(governor.settled.size).toBe(0);
    governor.pass(10_000);
    expect(governor.settled.size).toBe(31);
    expect(
      reasonsOf(governor.steps).filter((reason) => reason === 'signal_storm_detected'),
    ).toHaveLength(1);
  });

  test('7, Action Concurrency Bounded: one at a time, and those that wait are taken first in, first out', () => {
    const governor = Governed.intervening();
    const order = ['one', 'two', 'three'].map((initiated_by) =>
      contextOf(governor.ask({ initiated_by }), 'concurrency_limited'),
    );
    expect(order.map(({ queue_length }) => queue_length)).toEqual([1, 2, 3]);
    const taken = ['one', 'two', 'three'].map(() => {
      governor.result({ baseline: 'restored' });
      return governor.inFlight.initiated_by;
    });
    expect(taken).toEqual(['one', 'two', 'three']);
  });

  test('8, Deterministic Behavior: the same event decided twice gives the same bytes, and two answers halt it and call a person', () => {
    const [{ event, from }] = Governed.intervening().steps.slice(-1) as [Step];
    const situation = {
      state: from,
      data: Governed.warned().data,
      event_id: '018f0000-0000-4000-8000-000000000001',
      postponed: [],
    };
    expect(JSON.stringify(decide(situation, event))).toBe(
      JSON.stringify(decide(structuredClone(situation), structuredClone(event))),
    );
    const governor = Governed.intervening();
    const hashes = {
      receipt_id: '5a3f4c1e-0a1b-4c2d-8e3f-9a0b1c2d3e4f',
      expected_hash: 'ab'.repeat(32),
      actual_hash: 'cd'.repeat(32),
    };
    const steps = governor.tell({ kind: 'mismatch', event: 'result', ...hashes });
    expect(contextOf(steps, 'nondeterminism_detected')).toMatchObject(hashes);
    expect(effectsOf(steps, 'escalate')).toMatchObject([{ alert: 'GOVERNOR_NONDETERMINISM' }]);
    governor.result({});
    governor.pass(100_000);
    expect([governor.state, governor.data?.causes]).toEqual(['degraded', ['nondeterminism']]);
    governor.tell({
      kind: 'operator_ack',
      cause: 'nondeterminism',
      by: 'carol',
      reason: 'read the code',
    });
    governor.pass(1);
    expect(governor.state).toBe('stable');
  });
});
