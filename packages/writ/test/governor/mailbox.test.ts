/**
 * However much is in a mailbox, whoever drives reads it to its end, and in its order with the
 * timers.
 */
import { expect, test } from 'vitest';
import { until } from '../races/sessions.js';
import { governorScene, scaling } from './scene.js';

const s = governorScene();

test('a mailbox with more in it than is read at a time is read to its end without another signal', async () => {
  await s.setting('governor.storm_limit', 100_000);
  const worker = await s.work();
  const governor = await s.stable(scaling());
  await worker.stop();
  await Promise.all(
    Array.from({ length: 300 }, () => governor.signal({ type: 'cpu_utilization', value: 20 })),
  );
  await s.work();
  await until(async () => Number((await governor.get()).in_mailbox) === 0);
  const arrivals = (await governor.receipts({ limit: 1_000 })).flatMap(
    ({ context }) => (context as { arrival_seq?: number }).arrival_seq ?? [],
  );
  expect(arrivals).toEqual(Array.from({ length: 300 }, (_, n) => n + 1));
});
