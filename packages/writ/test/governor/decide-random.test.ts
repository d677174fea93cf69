/**
 * Whatever happens to a governor, in whatever order: what always holds. The sequences are random,
 * the seed is not.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Permission } from '../../src/governor/events.js';
import type { GovernorPolicy } from '../../src/governor/policy-document.js';
import { governor as machine, nextStates } from '../../src/machines/index.js';
import {
  active,
  allowed,
  documentWith,
  forbidden,
  Governed,
  policyOf,
  ruled,
  type Step,
  unreachable,
} from './governed.js';

const hash = 'cd'.repeat(32);
const contracts = {
  actuator: { kind: 'contract', template_id: 't' },
  inverse: { ...ruled({}).actions.scale_up_cloud_run!.inverse },
} as const;
const documents: readonly GovernorPolicy[] = [
  documentWith(),
  ruled({ not_restored: 'rollback', baseline_ms: 2_000 }),
  ruled({
    ...contracts,
    completion_timeout_ms: 20_000,
    inverse: { ...contracts.inverse, actuator: { kind: 'contract' } },
  }),
  documentWith({ budget: 20 }),
  documentWith({
    actions: {},
    when: { free_disk: { direction: 'below', limit: 10, clear: 20, cooldown_ms: 0 } },
  }),
];
const pick = <Value>(values: readonly Value[], n: number): Value =>
  values[n % values.length] as Value;
const times = [1, 400, 600, 6_000, 11_000, 31_000, 125_000];
const permissions: readonly Permission[] = [allowed, allowed, allowed, forbidden, unreachable];
const causes = ['ledger', 'iam', 'policy', 'slo'] as const;

interface Op {
  readonly a: number;
  readonly b: number;
}
type Act = (governor: Governed, op: Op) => unknown;
let versions = 0;

/** What can be done to a governor; named so that a failure reads as a story. */
const ops: Record<string, Act> = {
  signal: (g, { a, b }) =>
    g.signal(
      pick(['cpu_utilization', 'free_disk', 'error_rate'], a),
      pick([undefined, 5, 15, 50, 72, 90], b),
    ),
  high: (g) => g.signal('cpu_utilization', 99),
  low: (g, { a }) => g.signal(pick(['cpu_utilization', 'free_disk'], a), pick([10, 60], a)),
  storm: (g, { a }) => g.signal('cpu_utilization', 60 + a, { storm: 4 + a }),
  succeed: (g, { a }) =>
    g.data?.in_flight &&
    g.result({ ok: true, baseline: pick(['restored', 'not_restored', 'unknown'], a) }),
  fail: (g, { a }) =>
    g.data?.in_flight && g.result({ ok: false, response_code: pick([500, 500, 403], a) }),
  'fail to the end': (g) => g.state === 'intervening' && g.failsUntil(3),
  stale: (g, { a, b }) => {
    const known = [
      g.data?.in_flight?.action_id,
      g.data?.given_up?.action.action_id,
      g.data?.given_up?.action.action_id,
    ];
    g.tell({ kind: 'result', action_id: pick(known, a) ?? 'nobody', attempt: 9, ok: b % 3 > 0 });
  },
  acknowledge: (g) => {
    const { action_id, attempt } = g.data?.in_flight ?? { action_id: 'nobody', attempt: 1 };
    g.tell({ kind: 'acknowledged', action_id, attempt, reference: 'contract-17' });
  },
  ask: (g, { a, b }) =>
    g.ask({
      action_type: pick(['scale_up_cloud_run', 'scale_up_cloud_run', 'drop_everything'], a),
      parameters: pick([{}, { replicas_delta: 2 }, { replicas_delta: 50 }, { size: 'large' }], b),
    }),
  publish: (g, { a, b }) => g.publish(policyOf(++versions, pick(documents, a), b % 8 === 0)),
  withdraw: (g) => g.publish(null),
  entitle: (g, { a }) =>
    g.entitle({
      status: pick(['ACTIVE', 'ACTIVE', 'CANCELLED', 'INACTIVE'], a),
      quota_limit: pick([null, 2, 50], a),
    }),
  expiring: (g, { a }) => g.entitle({ expires_at: g.now + pick(times, a) }),
  renew: (g) => g.entitle({}),
  purchase: (g, { a }) =>
    g.tell({ kind: 'quota', quota: { month: '2026-01', used: a }, limit: pick([null, 5], a) }),
  break: (g, { a }) => g.fail(pick(causes, a)),
  outage: (g) => g.tell({ kind: 'outage', from: g.now - 5_000, to: g.now }),
  acked: (g, { a }) => {
    const cause = pick(
      ['rollback_failed', 'nondeterminism', 'crash', 'action_timeout', 'ledger'],
      a,
    );
    g.tell({ kind: 'operator_ack', cause, by: 'carol', reason: 'seen to' });
  },
  crash: (g, { a }) => {
    const arrival_seq = a % 2 ? { arrival_seq: ++g.arrivals } : {};
    g.tell({
      kind: 'crash',
      event: 'signal',
      ...arrival_seq,
      crashes: 10,
      window_ms: 60_000,
      error_message: 'TypeError',
    });
  },
  mismatch: (g, { a }) => {
    const arrival_seq = a % 2 ? { arrival_seq: ++g.arrivals } : {};
    const receipt_id = '5a3f4c1e-0a1b-4c2d-8e3f-9a0b1c2d3e4f';
    g.tell({
      kind: 'mismatch',
      event: 'signal',
      ...arrival_seq,
      receipt_id,
      expected_hash: hash,
      actual_hash: hash,
    });
  },
  poison: (g, { a }) => {
    g.poisoned = a % 3 === 0;
  },
  pass: (g, { a }) => g.pass(pick(times, a)),
  // Nobody was there: what is overdue comes late, and once.
  late: (g, { a }) => {
    g.now += pick([600, 4_000_000, 40 * 86_400_000], a);
    g.pass(0);
  },
  'IAM says': (g, { a, b }) => {
    g.act = {
      ...g.act,
      action: pick(permissions, a),
      inverse: pick(permissions, b),
      known: b % 7 !== 1,
    };
    g.recheck = { ...g.recheck, permission: pick(permissions, a), inverse: pick(permissions, b) };
  },
  'IAM allows': (g) => {
    g.act = { ...g.act, action: allowed, inverse: allowed, known: true };
    g.recheck = { ...g.recheck, permission: allowed, inverse: allowed };
  },
  'a look shows': (g, { a, b }) => {
    const failures =
      a % 3 ? [] : [{ cause: pick(causes, b), component: 'ledger', failure_type: 'read_error' }];
    g.check = {
      ...g.check,
      failures,
      entitlement: pick([active, active, active, null, { failed: 'timeout' }], b),
    };
  },
  'a look shows nothing': (g) => {
    g.check = { ...g.check, failures: [], entitlement: active };
  },
  'quota is read': (g, { a }) => {
    g.act = { ...g.act, quota: { month: '2026-01', used: pick([0, 0, 60], a) } };
    g.recheck = { ...g.recheck, quota: { month: '2026-01', used: 0 } };
  },
  'the tenant sends': (g, { a }) => {
    g.recent = a;
  },
};

const stories = fc.array(
  fc.record({
    op: fc.constantFrom(...Object.keys(ops)),
    a: fc.nat({ max: 8 }),
    b: fc.nat({ max: 8 }),
  }),
  {
    minLength: 20,
    maxLength: 120,
    size: 'max',
  },
);
const small = { storm_limit: 3, capacity: 4 };

/** Attempts that somebody may be working on: neither fenced off nor ended. */
function openJobs() {
  const open = new Map<string, string>();
  return (governor: Governed, { event: { content }, decision }: Step) => {
    if (content.kind === 'result') open.delete(`${content.action_id} ${content.attempt}`);
    for (const effect of decision.effects) {
      if (effect.type === 'fence')
        for (const [attempt, job] of open) if (job === effect.job_id) open.delete(attempt);
      if (effect.type === 'attempt')
        open.set(`${effect.action_id} ${effect.attempt}`, effect.job_id);
    }
    expect(open.size).toBeLessThanOrEqual(1);
    if (open.size > 0) expect([...open.values()]).toEqual([governor.inFlight.job_id]);
    else expect(governor.data?.in_flight).toBeNull();
  };
}

/**
 * What the data may be in each state, and that something will happen: nothing waits for what never
 * comes.
 */
function isSound(governor: Governed) {
  const { state, data } = governor;
  if (!state || !data) throw new Error('it does not exist');
  expect(state === 'intervening').toBe(data.in_flight?.kind === 'action');
  expect(state === 'refusing').toBe(data.refusals.length > 0);
  if (data.causes.length > 0) expect(['boot', 'degraded']).toContain(state);
  expect(new Set(data.causes).size).toBe(data.causes.length);
  expect(governor.held.length).toBeLessThanOrEqual(small.capacity);
  const needs = (name: Parameters<Governed['timer']>[0]) =>
    expect(governor.timer(name), `${state} waits for ${name}`).toBeDefined();
  if (['boot', 'intervening', 'degraded'].includes(state)) needs('state');
  if (state === 'refusing') needs('named:recheck');
  else expect(governor.timer('named:recheck')).toBeUndefined();
  if (state === 'degraded') needs('named:check');
  if (data.in_flight?.kind === 'rollback') needs('named:rollback');
  else expect(governor.timer('named:rollback')).toBeUndefined();
  if (data.storm) needs('named:storm');
}

test('whatever happens, in whatever order, a governor stays sound', { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(stories, (story) => {
      versions = 1;
      const check = openJobs();
      const paid = new Set<string>();
      const governor = Governed.stable(undefined, {
        bounds: small,
        onStep: (step) => {
          const { from, event, decision } = step;
          const name = event.content.kind === 'timer' ? event.content.timer : event.content.kind;
          if (from !== decision.state)
            expect(nextStates(machine, from ?? '', name)).toContain(decision.state);
          const transitions = decision.receipts.filter(
            ({ reason }) => reason === 'state_transition',
          );
          expect(transitions).toHaveLength(from !== null && from !== decision.state ? 1 : 0);
          if (decision.effects.some(({ type }) => type === 'quota')) {
            const { action_id } = decision.data.in_flight as { action_id: string };
            expect(paid.has(action_id)).toBe(false);
            paid.add(action_id);
          }
        },
      });
      const inner = governor.onStep;
      governor.onStep = (step) => {
        inner(step);
        check(governor, step);
      };
      for (const op of story) {
        (ops[op.op] as Act)(governor, op);
        isSound(governor);
      }
      const held = governor.held.map(({ arrival_seq }) => arrival_seq);
      expect(new Set(held).size).toBe(held.length);
      for (let seq = 1; seq <= governor.arrivals; seq++)
        expect([seq, governor.settled.has(seq)]).toEqual([seq, !held.includes(seq)]);
    }),
    { seed: 20_260_125, numRuns: 250 },
  );
});

test('a shadow acts on nothing, whatever happens', { timeout: 60_000 }, () => {
  const { publish: _, ...others } = ops;
  const names = fc.record({
    op: fc.constantFrom(...Object.keys(others)),
    a: fc.nat({ max: 8 }),
    b: fc.nat({ max: 8 }),
  });
  fc.assert(
    fc.property(fc.array(names, { minLength: 20, maxLength: 100, size: 'max' }), (story) => {
      const governor = Governed.create({ bounds: small });
      governor.publish(policyOf(1, documentWith(), true));
      for (const op of story) (ops[op.op] as Act)(governor, op);
      expect(governor.effects.filter(({ type }) => type !== 'escalate' && type !== 'calm')).toEqual(
        [],
      );
    }),
    { seed: 20_260_126, numRuns: 80 },
  );
});
