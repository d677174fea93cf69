import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { suiteAt } from './all.mjs';
import { added, boundOf, exitCodeOf, noTotals, readTotals, writeTotals } from './totals.mjs';

const zeros = { lost: 0, repeated: 0, unreceipted: 0, stuck: 0, wrong: 0 };
const outcome = (suite: string, faults: number, others = {}) => ({
  suite,
  seed: 1,
  operations: 10,
  faults,
  ...zeros,
  ...others,
});
const fileIn = (name: string) => join(mkdtempSync(join(tmpdir(), 'writ-totals-')), name);

test('totals add up over runs and calls', () => {
  const file = fileIn('sub/totals.json');
  const happened = { cut: 3 };
  writeTotals(file, added(readTotals(file), outcome('wire', 100, { happened }), 30));
  writeTotals(file, added(readTotals(file), outcome('wire', 50, { happened }), 20));
  writeTotals(file, added(readTotals(file), outcome('hostile', 50, { escaped: 0 }), 10));
  expect(readTotals(file)).toMatchObject({
    ...{ faults: 200, operations: 30, seconds: 60, escaped: 0, ...zeros },
    of: { wire: { runs: 2, faults: 150 }, hostile: { runs: 1, faults: 50 } },
    happened: { cut: 6 },
    failures: [],
  });
});

test('a run that did not come to an end is a failure and counts no faults', () => {
  const totals = added(noTotals(), { suite: 'queue', seed: 7, wrong: 1 }, 900);
  expect(totals).toMatchObject({ faults: 0, wrong: 1, failures: [{ suite: 'queue', seed: 7 }] });
});

test('the bound is three in the number of faults, and none once something failed', () => {
  const clean = added(noTotals(), outcome('wire', 30_000), 1);
  expect(boundOf(clean)).toMatch(/fewer than 0\.00010 .* \(1 in 10000\)/);
  expect(boundOf(added(clean, outcome('queue', 10, { lost: 1 }), 1))).toMatch(/1 runs failed/);
  expect(boundOf(added(clean, outcome('hostile', 10, { escaped: 1 }), 1))).toMatch(/no bound/);
  expect(boundOf(noTotals())).toMatch(/no bound/);
});

test('the exit code is 1 once a run has failed, in whichever call', () => {
  const clean = added(noTotals(), outcome('wire', 10), 1);
  expect(exitCodeOf(clean)).toBe(0);
  const failed = added(clean, outcome('queue', 10, { stuck: 1 }), 1);
  expect(exitCodeOf(added(failed, outcome('wire', 10), 1))).toBe(1);
});

test('a file that holds something else is refused', () => {
  const file = fileIn('package.json');
  writeFileSync(file, '{}');
  expect(() => readTotals(file)).toThrow(/no totals/);
});

test('a round comes to every suite, with the wire between', () => {
  const suites = ['ledger', 'queue', 'wire'];
  const turns = Array.from({ length: 8 }, (_, turn) => suiteAt(suites, turn));
  expect(turns).toEqual(['wire', 'ledger', 'wire', 'queue', 'wire', 'ledger', 'wire', 'queue']);
});
