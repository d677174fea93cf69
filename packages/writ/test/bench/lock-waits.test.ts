/**
 * What a benchmark says of waits for locks: each wait that the server's log tells of, and what 99
 * of 100 transactions waited at most.
 */
import { expect, test } from 'vitest';
import { lockFigures, lockWaitsIn } from '../../../../bench/harness/lock-waits.mjs';

test('a wait is counted once, when the lock was got, whatever was locked', () => {
  const log = `2026-01-01 10:00:00.000 UTC [7] LOG:  process 7 still waiting for ShareLock on transaction 757 after 1.051 ms
2026-01-01 10:00:00.000 UTC [7] DETAIL:  Process holding the lock: 5. Wait queue: 7.
2026-01-01 10:00:00.004 UTC [7] LOG:  process 7 acquired ShareLock on transaction 757 after 4.570 ms
2026-01-01 10:00:00.004 UTC [7] STATEMENT:  update t set v = v + 1
2026-01-01 10:00:00.020 UTC [8] LOG:  process 8 acquired ExclusiveLock on advisory lock [16384,0,7,1] after 16.031 ms
2026-01-01 10:00:00.030 UTC [8] LOG:  process 8 acquired ExclusiveLock on tuple (0,1) of relation 16385 of database 16384 after 1200.500 ms
`;
  expect(lockWaitsIn(log)).toEqual([4.57, 16.031, 1200.5]);
});

test('transactions that did not wait count, and the waits are also told by themselves', () => {
  expect(lockFigures([5, 9, 7], 200)).toEqual({ lockP99: 5, lockWaits: 3, waitP99: 9, waitMax: 9 });
  expect(lockFigures([5, 9, 7], 1000)).toMatchObject({ lockP99: 0, waitMax: 9 });
});

test('more waits than transactions, or none of either, is no nonsense', () => {
  expect(lockFigures([1, 2], 0)).toEqual({ lockP99: 2, lockWaits: 2, waitP99: 2, waitMax: 2 });
  expect(lockFigures([], 0)).toEqual({ lockP99: 0, lockWaits: 0, waitP99: 0, waitMax: 0 });
});
