/** Runs that wait longer than finished jobs are kept. */
import { expect, test } from 'vitest';
import { defineJob, definePlan } from '../../../src/index.js';
import { call } from '../../queue/bulk.js';
import { scene } from './scene.js';

const s = scene();
const reserve = defineJob<unknown>('reserve', { retry: { attempts: 1 } });
const pay = defineJob<{ token: string }>('pay', { retry: { attempts: 1 } });
const release = defineJob<{ token: string }>('release', { retry: { attempts: 1 } });

const plan = definePlan<unknown>('patient', { version: '1' }, (p) => {
  const reserved = p.step<{ token: string }, { token: string }>('reserve', reserve, {
    compensate: { job: release, input: ({ token }) => ({ token }) },
  });
  const word = p.waitFor('word', { event: 'word' });
  p.step('pay', pay, { input: { token: reserved.output.token }, after: word });
});

const sweep = () =>
  call(s.db, 'writ.fn_job_cleanup_sweep', { limit: 10_000, actor: 'test' }).then(
    ({ cleaned }) => cleaned,
  );

/**
 * A run that has reserved something and waits, forty days later; and what its later steps are
 * given.
 */
async function fortyDaysLater() {
  const given: unknown[] = [];
  const run = await s.writ.start(plan, {});
  await s.work([
    reserve.handle(() => ({ token: 't-1' })),
    pay.handle(({ input }) => void given.push(input)),
    release.handle(({ input }) => void given.push(input)),
  ]);
  await s.untilLog(run.runId, 'StepCompleted reserve');
  await s.db.clock.advance('40d');
  expect(await sweep()).toBe(0);
  return { run, given };
}

test('a step after a wait of forty days gets the output of a step before it', async () => {
  const { run, given } = await fortyDaysLater();
  await s.writ.runs.deliver(run.runId, 'word');
  expect((await s.ended(run.runId)).status).toBe('COMPLETED');
  expect(given).toEqual([{ token: 't-1' }]);
});

test('a cancel after forty days undoes what was done, with its output', async () => {
  const { run, given } = await fortyDaysLater();
  await s.writ.runs.signal(run.runId, { type: 'CANCEL' });
  expect(await s.ended(run.runId)).toMatchObject({ status: 'CANCELLED', undone: true });
  expect(given).toEqual([{ token: 't-1' }]);
});

test('the steps of a run stay for the retention after its end, and are swept then', async () => {
  const { run } = await fortyDaysLater();
  await s.writ.runs.deliver(run.runId, 'word');
  await s.ended(run.runId);
  expect(await sweep()).toBe(0);
  await s.db.clock.advance('29d');
  expect(await sweep()).toBe(0);
  await s.db.clock.advance('2d');
  expect(await sweep()).toBe(3);
  s.unchecked(); // the outputs that the check would look at are gone
});
