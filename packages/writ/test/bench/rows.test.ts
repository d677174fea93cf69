/**
 * What a benchmark says of its targets: a ratio to a named participant, to the best of several, or
 * a figure of its own; and when it says nothing.
 */
import { expect, test } from 'vitest';
import type { Case, Measurement, Target } from '../../../../bench/harness/bench.mjs';
import { chart } from '../../../../bench/harness/chart.mjs';
import { type Outcome, runRounds } from '../../../../bench/harness/rounds.mjs';
import { among, rowOf } from '../../../../bench/harness/rows.mjs';
import { table } from '../../../../bench/harness/table.mjs';

const measurement: Measurement = { participants: [], measure: async () => ({}) };
const suite = { name: 'some', ours: 'writ', cases: [] };
const outcome = (label: string, values: number[], more: Partial<Outcome> = {}): Outcome => ({
  label,
  subject: label,
  rounds: values.map((value) => ({
    value,
    jobs: 1,
    walPerJob: 1,
    commitsPerJob: 1,
    cpuPerJob: 1,
    rssMb: 1,
  })),
  failure: null,
  ...more,
});
const someCase = (targets: Target[], more: Partial<Case> = {}): Case => ({
  name: 'case',
  unit: 'jobs/s',
  better: 'higher',
  figure: 'value',
  measurement,
  targets,
  ...more,
});
const outcomes = [
  outcome('writ', [90, 100, 110]),
  outcome('fast', [80]),
  outcome('slow', [4]),
  outcome('raw', [200]),
];

test('a case meets its targets when it meets each of them', () => {
  const both = rowOf(
    suite,
    someCase([
      { peer: 'fast', ratio: 1.2 },
      { peer: 'slow', ratio: 25 },
    ]),
    outcomes,
  );
  expect(both).toMatchObject({ ours: 100, ratio: 1.25, target: 1.2, against: 'fast', met: true });
  expect(both.targets).toEqual([
    { against: 'fast', reached: 1.25, target: 1.2, met: true },
    { against: 'slow', reached: 25, target: 25, met: true },
  ]);
  const one = rowOf(
    suite,
    someCase([
      { peer: 'fast', ratio: 1.2 },
      { peer: 'slow', ratio: 26 },
    ]),
    outcomes,
  );
  expect(one.met).toBe(false);
  expect(one.targets.map(({ met }) => met)).toEqual([true, false]);
});

test('the best peer is a product: plain SQL does not count', () => {
  expect(rowOf(suite, someCase([{ peer: 'best', ratio: 1.2 }]), outcomes)).toMatchObject({
    against: 'fast',
    ratio: 1.25,
    met: true,
  });
  expect(
    rowOf(suite, someCase([{ peer: 'best', ratio: 1.2 }], { better: 'lower' }), outcomes),
  ).toMatchObject({
    against: 'slow',
    met: false,
  });
});

test('a target may be a figure of its own, at most where less is better', () => {
  const lower = (bound: number) =>
    rowOf(suite, someCase([{ bound }], { better: 'lower', unit: 'MB' }), outcomes);
  expect(lower(100)).toMatchObject({ against: null, ratio: null, target: 100, met: true });
  expect(lower(99)).toMatchObject({ met: false });
  expect(rowOf(suite, someCase([{ bound: 101 }]), outcomes).met).toBe(false);
});

test('a case may be about a variant of ours, and compare it with another', () => {
  const own = [
    outcome('beside', [90], { subject: 'writ', variant: 'beside' }),
    outcome('alone', [100], { subject: 'writ', variant: 'alone' }),
  ];
  const row = rowOf(suite, someCase([{ peer: 'alone', ratio: 0.9 }], { label: 'beside' }), own);
  expect(row).toMatchObject({ ours: 90, ratio: 0.9, met: true, beside: { alone: 100 }, peers: {} });
  expect(table([row])).toContain('0.90 × alone, target at least 0.9 ×: met');
});

test('without a target a case has met nothing and missed nothing', () => {
  expect(rowOf(suite, someCase([], { against: 'slow' }), outcomes)).toMatchObject({
    target: null,
    met: null,
    against: 'slow',
    ratio: 25,
  });
  expect(rowOf(suite, someCase([]), outcomes)).toMatchObject({ met: null, against: 'fast' });
});

test('a target whose peer was not measured makes the row void', () => {
  const row = rowOf(
    suite,
    someCase([
      { peer: 'fast', ratio: 1 },
      { peer: 'absent', ratio: 1 },
    ]),
    outcomes,
  );
  expect(row).toMatchObject({ met: false, void: 'absent was not measured' });
});

test('a target against somebody who was left out on purpose is no target, and one against somebody who failed still is', () => {
  const participants = ['writ', 'fast', 'absent'].map((label) => ({ label, subject: label }));
  const targets = [{ peer: 'absent', ratio: 1 }, { peer: 'best', ratio: 1.2 }, { bound: 1 }];
  const one = someCase(targets, { measurement: { ...measurement, participants } });
  expect(among(one, ['writ', 'fast']).targets).toEqual(targets.slice(1));
  expect(rowOf(suite, among(one, ['writ', 'fast']), outcomes)).toMatchObject({
    against: 'fast',
    met: true,
  });
  expect(among(one, null).targets).toEqual(targets);
  expect(rowOf(suite, among(one, ['writ', 'fast', 'absent']), outcomes)).toMatchObject({
    void: 'absent was not measured',
  });
});

test('a run that left something out has met nothing', () => {
  const short = outcome('writ', [100]);
  (short.rounds[0] as { void?: string }).void = '9 of 10 jobs are succeeded';
  const row = rowOf(suite, someCase([{ bound: 1 }]), [short]);
  expect(row).toMatchObject({ met: false, void: '9 of 10 jobs are succeeded' });
  expect(table([row])).toContain('VOID (9 of 10 jobs are succeeded)');
});

test('further figures are shown by participant, and left out where there are none', () => {
  const [ours, fast] = outcomes as [Outcome, Outcome];
  const withMore = { ...ours, rounds: ours.rounds.map((figures) => ({ ...figures, buffers: 7 })) };
  const row = rowOf(suite, someCase([], { details: { buffers: 'buffers per claim' } }), [
    withMore,
    fast,
  ]);
  expect(row.details).toEqual({ 'buffers per claim': { writ: 7, fast: null } });
  expect(table([row])).toContain('buffers per claim: writ 7');
});

test('every target has its mark in the chart', () => {
  const row = rowOf(
    suite,
    someCase([{ peer: 'fast', ratio: 1.2 }, { peer: 'slow', ratio: 25 }, { bound: 50 }]),
    outcomes,
  );
  expect(chart([row], 'title', 'subtitle').match(/stroke-dasharray/g)).toHaveLength(3);
});

test('a measurement that is worth fewer rounds gets fewer, and everyone a turn in each', async () => {
  const turns: string[] = [];
  const counted = (rounds?: number): Measurement => ({
    participants: [
      { label: 'writ', subject: 'writ' },
      { label: 'other', subject: 'other' },
    ],
    measure: async (_, { label }) => {
      turns.push(`${rounds ?? 'all'} ${label}`);
      return { value: 1, jobs: 1 };
    },
    ...(rounds && { rounds }),
  });
  const cases = [
    someCase([], { measurement: counted() }),
    someCase([], { measurement: counted(1) }),
  ];
  const options = {
    rounds: 2,
    only: null,
    absent: () => null,
    signal: new AbortController().signal,
    progress: () => undefined,
  };
  await runRounds({} as Parameters<typeof runRounds>[0], cases, options);
  expect(turns).toEqual(['all writ', 'all other', 'all other', 'all writ', '1 writ', '1 other']);
});
