/**
 * How fast an export is verified. It prints what it measured; how fast a machine has to be is
 * nobody's promise.
 */
import { expect, test } from 'vitest';
import { check, TestLedger } from './exports.js';

const receipts = 200_000;

test('200,000 receipts of 400 bytes verify, and it says how fast', {
  timeout: 120_000,
}, async () => {
  const ledger = new TestLedger();
  const details = {
    action_id: '5f0c7b3e-1c52-4d8b-9d1e-0a3f6f2b7c11',
    attempt: 1,
    policy: 'error-budget',
    threshold: 0.02,
    value: 0.0313,
  };
  const inputs = { inputs_hash: 'c0ffee'.repeat(10), terminal: false };
  let bytes = 0;
  for (let n = 0; n < receipts; n++)
    bytes += ledger.append(
      'acme',
      'action_attempted',
      { ...details, ...inputs, arrival_seq: n },
      `governor:${n % 100}`,
    ).length;
  const files = ledger.export();
  const [started, before] = [performance.now(), process.cpuUsage()];
  const verdict = await check(files, { waive: ['log_missing:_system'] });
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  expect(verdict.problems).toEqual([]);
  const rate = (spent: number) => Math.round(receipts / spent);
  console.log(
    `${receipts} receipts of ${Math.round(bytes / receipts)} bytes in ${seconds.toFixed(2)} s: ${rate(seconds)} a second, ${rate((user + system) / 1e6)} by processor time`,
  );
});
