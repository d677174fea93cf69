/** Innocent jobs: a crash charges what ran, and nothing that was only at hand. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { until } from '../races/sessions.js';
import { scene } from './scene.js';

test.concurrent('a worker that dies between claim and start does not make a dead letter of a job on its last attempt', async (context) => {
  const { worker, effects, atRest } = await scene(context, { attempts: 1 });
  const first = worker({ boundary: true, workMs: 0, dieAt: 'claimed' });
  await once(first.child, 'exit');
  expect(first.child.signalCode).toBe('SIGKILL');
  worker({ boundary: true, workMs: 0, lease: '5s' });
  expect(await atRest()).toBe('succeeded');
  expect(await effects()).toBe(1);
});

test.concurrent('a worker that dies in the handler does not take the last attempt of its job', async (context) => {
  const { db, worker, effects } = await scene(context, { attempts: 1 });
  const first = worker({ boundary: true, workMs: 0, dieAt: 'before_commit' });
  await once(first.child, 'exit');
  await db.clock.advance('1m');
  // The server may not have noticed yet that the worker is gone, and then the tick passes its lease
  // over.
  await until(async () => {
    await db.query(`select writ.fn_job_tick('test')`);
    return (await db.query(`select from writ.job_queue where status = 'in_progress'`)).length === 0;
  });
  expect(await db.query('select status, attempts from writ.job_queue')).toEqual([
    { status: 'retry_waiting', attempts: 0 },
  ]);
  expect(await effects()).toBe(0);
});
