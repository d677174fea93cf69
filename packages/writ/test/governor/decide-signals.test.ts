/** Levels, cooldowns, storms, and that each signal is answered once. */
import { expect, test } from 'vitest';
import { contextOf, documentWith, Governed, policyOf, reasonsOf } from './governed.js';

const overOf = (governor: Governed) => Object.keys(governor.data?.over ?? {});
const watched = documentWith({
  actions: {},
  when: {
    cpu_utilization: { direction: 'above', limit: 75, clear: 70, cooldown_ms: 0 },
    free_disk: { direction: 'below', limit: 10, clear: 20, cooldown_ms: 0 },
  },
});

test.each([
  ['cpu_utilization', [75, 75.1, 72, 70, 69.9, 72], [false, true, true, true, false, false]],
  ['free_disk', [10, 9.9, 15, 20, 20.1, 15], [false, true, true, true, false, false]],
])(
  '%s is over beyond its limit, and stays so until it is past where it clears',
  (type, values, expected) => {
    const governor = Governed.stable(watched);
    const levels = values.map(
      (value) => contextOf(governor.signal(type, value), 'signal_received').exceeds_threshold,
    );
    expect(levels).toEqual(expected);
  },
);

test('a signal without a value, or of a type that the policy does not name, changes no level', () => {
  const governor = Governed.stable(watched);
  governor.signal('cpu_utilization', 99);
  for (const steps of [
    governor.signal('cpu_utilization'),
    governor.signal('constructor', 99),
    governor.signal('error_rate', 99),
  ]) {
    expect(contextOf(steps, 'signal_received')).toMatchObject({ exceeds_threshold: false });
    expect(reasonsOf(steps)).toEqual(['signal_received']);
  }
  expect([governor.state, overOf(governor)]).toEqual(['warning', ['cpu_utilization']]);
});

test('levels that were kept while it refused count again: one that is over warns, one that is under is forgotten', () => {
  const governor = Governed.refusing();
  governor.signal('free_disk', 5);
  governor.signal('cpu_utilization', 99);
  governor.recheck = Governed.stable().recheck;
  governor.pass(30_000);
  expect([governor.state, overOf(governor)]).toEqual(['stable', ['free_disk', 'cpu_utilization']]);
  governor.signal('cpu_utilization', 10);
  expect([governor.state, overOf(governor)]).toEqual(['stable', ['free_disk']]);
  governor.signal('free_disk', 15);
  expect(governor.state).toBe('warning');
});

test('the baseline is restored when the last type clears, and the time counts from the first that was over', () => {
  const governor = Governed.stable(watched);
  governor.signal('cpu_utilization', 99);
  governor.pass(1_000);
  governor.signal('free_disk', 5);
  governor.pass(1_000);
  expect(contextOf(governor.signal('cpu_utilization', 10), 'signal_cleared')).toMatchObject({
    still_over: 1,
    threshold: 70,
  });
  governor.pass(1_000);
  expect(contextOf(governor.signal('free_disk', 50), 'baseline_restored')).toEqual({
    signal_type: 'free_disk',
    duration_ms: 3_000,
  });
});

test('while a threshold cools down it is still said to be exceeded, and no action is asked for', () => {
  const governor = Governed.intervening();
  governor.result({ baseline: 'not_restored' });
  governor.pass(59_999);
  expect(
    contextOf(governor.signal('cpu_utilization', 99), 'threshold_exceeded'),
  ).not.toHaveProperty('remediation_action');
  expect(governor.state).toBe('warning');
  governor.pass(1);
  expect(contextOf(governor.signal('cpu_utilization', 99), 'threshold_exceeded')).toMatchObject({
    remediation_action: 'scale_up_cloud_run',
  });
  expect(governor.state).toBe('intervening');
});

test('levels of types that a new policy does not name are forgotten, and with a withdrawn policy all are', () => {
  const governor = Governed.stable(watched);
  governor.signal('free_disk', 5);
  governor.publish(
    policyOf(2, documentWith({ when: { cpu_utilization: watched.when.cpu_utilization! } })),
  );
  expect(overOf(governor)).toEqual([]);
  governor.signal('cpu_utilization', 99);
  governor.publish(null);
  expect([overOf(governor), governor.state]).toEqual([[], 'warning']);
  governor.signal('cpu_utilization', 99);
  expect(governor.state).toBe('stable');
});

test('signals that were postponed are answered in their order when the action is over', () => {
  const governor = Governed.intervening(
    documentWith({
      when: {
        cpu_utilization: {
          ...watched.when.cpu_utilization!,
          cooldown_ms: 1e6,
          action: 'scale_up_cloud_run',
        },
      },
    }),
  );
  for (const value of [10, 99, 20]) governor.signal('cpu_utilization', value);
  expect([...governor.settled.keys()]).toEqual([1]);
  const steps = governor.result({ baseline: 'restored' });
  expect([...governor.settled.keys()]).toEqual([1, 2, 3, 4]);
  expect(steps.map(({ event }) => event.from)).toEqual([
    'mailbox',
    'postponed',
    'postponed',
    'postponed',
  ]);
});

test('while the buffer holds any, new signals join its tail, and they leave it first in, first out', () => {
  const governor = Governed.stable();
  governor.signal('cpu_utilization', 50, { storm: 101 });
  governor.signal('cpu_utilization', 51);
  governor.signal('cpu_utilization', 52);
  governor.recent = 98;
  governor.pass(10_000);
  expect([...governor.settled.keys()]).toEqual([1, 2]);
  expect(governor.data?.storm?.buffer.map(({ arrival_seq }) => arrival_seq)).toEqual([3]);
  governor.pass(10_000);
  expect([...governor.settled.keys(), governor.data?.storm]).toEqual([1, 2, 3, null]);
  governor.signal('cpu_utilization', 53);
  expect(governor.settled.has(4)).toBe(true);
});

test('while the tenant sends too much nothing is released, and the storm is one episode', () => {
  const governor = Governed.stable();
  governor.signal('cpu_utilization', 50, { storm: 101 });
  governor.recent = 130;
  governor.pass(25_000);
  expect(governor.settled.size).toBe(0);
  governor.signal('cpu_utilization', 50, { storm: 131 });
  expect(
    reasonsOf(governor.steps).filter((reason) => reason === 'signal_storm_detected'),
  ).toHaveLength(1);
});

test('a signal that was released is not counted again, and waits where signals wait', () => {
  const governor = Governed.intervening();
  governor.signal('cpu_utilization', 50, { storm: 101 });
  governor.tell({ kind: 'timer', timer: 'storm' });
  expect([governor.data?.storm, governor.waiting.postponed.length]).toEqual([null, 1]);
  governor.result({ baseline: 'restored' });
  expect(governor.settled.get(2)).toBe('signal_received');
});

test('a storm is held off in every state, also while degraded', () => {
  const governor = Governed.degraded();
  governor.signal('cpu_utilization', 50, { storm: 101 });
  expect([governor.settled.size, governor.held.length]).toEqual([0, 1]);
});

test('buffer and postponed signals share their room: when it is full, the oldest are dropped with a receipt that names them', () => {
  const governor = Governed.intervening(undefined, { bounds: { capacity: 3 } });
  governor.signal('cpu_utilization', 50);
  governor.signal('cpu_utilization', 50);
  governor.signal('cpu_utilization', 50, { storm: 101 });
  const steps = governor.signal('cpu_utilization', 50, { storm: 102 });
  expect(contextOf(steps, 'signal_dropped')).toEqual({
    cause: 'buffer_full',
    dropped: 1,
    arrival_ranges: [[2, 2]],
    capacity: 3,
  });
  expect(steps[0]?.decision.dropped).toEqual([{ kind: 'held', mail_seq: 20, arrival_seq: 2 }]);
  expect(governor.held.map(({ arrival_seq }) => arrival_seq)).toEqual([4, 5, 3]);
  governor.signal('cpu_utilization', 50);
  governor.signal('cpu_utilization', 50);
  expect(governor.data?.storm?.buffer.map(({ arrival_seq }) => arrival_seq)).toEqual([5, 6, 7]);
});

test('also what is postponed makes room, by dropping the oldest from the buffer', () => {
  const governor = Governed.create({
    bounds: { capacity: 2 },
    check: { ...Governed.stable().check, entitlement: null },
  });
  governor.signal('cpu_utilization', 50, { storm: 101 });
  governor.tell({ kind: 'timer', timer: 'storm' });
  governor.signal('cpu_utilization', 50);
  governor.signal('cpu_utilization', 50);
  expect([...governor.settled]).toEqual([[1, 'signal_dropped']]);
});
