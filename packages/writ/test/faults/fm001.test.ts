/**
 * FM_001, the failure that the commit boundary exists for: the lease lasts one second, the work
 * two, and there are two workers. A worker renews its leases from a thread of its own, so work that
 * is longer than a lease is no failure by itself; the process has to stand still. Here it does, by
 * SIGSTOP: the other worker takes the job over, and then the first one wakes up and goes on where
 * it was.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scene, type Word } from './scene.js';

/**
 * The first worker stands still in its work until the second has done the job. Answers what became
 * of the first one's write.
 */
async function overtaken(
  { worker, atRest }: Awaited<ReturnType<typeof scene>>,
  boundary: boolean,
): Promise<Word> {
  const first = worker({ boundary });
  await first.hears('working');
  first.child.kill('SIGSTOP');
  // long enough for the busiest machine: only the first shall lose it
  const second = worker({ boundary, lease: '10s' });
  await second.hears('written');
  await atRest();
  first.child.kill('SIGCONT');
  return first.hears('written', 'refused');
}

test.concurrent('without the boundary a worker that wakes up repeats the effect: 2', async (context) => {
  const here = await scene(context);
  expect((await overtaken(here, false)).type).toBe('written');
  expect(await here.effects()).toBe(2);
});

test.concurrent('with the boundary a worker that wakes up is fenced: 1', async (context) => {
  const here = await scene(context);
  const word = await overtaken(here, true);
  expect(word.type).toBe('refused');
  expect(['lease_lost', 'already_committed']).toContain(word.code);
  expect(await here.effects()).toBe(1);
  expect(await here.state()).toEqual({ status: 'succeeded', state: 'SUCCEEDED' });
});

test.concurrent('crash_before_commit: nothing of the first attempt stands, the second has the effect', async (context) => {
  const { worker, effects, atRest, state } = await scene(context);
  const first = worker({ boundary: true, workMs: 0, lease: '2s', dieAt: 'before_commit' });
  await once(first.child, 'exit');
  expect(first.child.signalCode).toBe('SIGKILL');
  expect(await effects()).toBe(0);
  await worker({ boundary: true, workMs: 0, lease: '10s' }).hears('written');
  await atRest();
  expect(await effects()).toBe(1);
  expect(await state()).toEqual({ status: 'succeeded', state: 'SUCCEEDED' });
});

test.concurrent('crash_after_commit_before_done: the job recovers to DONE with 1 effect and without another attempt', async (context) => {
  const { db, worker, effects, atRest } = await scene(context);
  const first = worker({ boundary: true, workMs: 0, lease: '3s', dieAt: 'after_commit' });
  await once(first.child, 'exit');
  expect(first.child.signalCode).toBe('SIGKILL');
  const second = worker({ boundary: true, workMs: 0, lease: '10s' });
  await atRest();
  expect(second.said).toEqual([]);
  expect(await effects()).toBe(1);
  expect(await db.query('select status, attempt from writ.job_execution')).toEqual([
    { status: 'DONE', attempt: 1 },
  ]);
});

test.concurrent('a blocked event loop does not lose its lease: renewal has a thread of its own', async (context) => {
  const { worker, effects, atRest } = await scene(context);
  const first = worker({ boundary: false, blocked: true, lease: '3s', workMs: 4_500 });
  await first.hears('working');
  const second = worker({ boundary: false });
  await first.hears('written');
  await atRest();
  expect(second.said).toEqual([]);
  expect(await effects()).toBe(1);
});

test.concurrent('an event loop that is blocked past its stall time loses its lease and is fenced', async (context) => {
  const { worker, effects, atRest } = await scene(context);
  const folder = mkdtempSync(join(tmpdir(), 'writ-fm001-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const taken = join(folder, 'taken');
  const first = worker({ boundary: true, blockedUntil: taken, stall: '100ms' });
  await first.hears('working');
  const second = worker({ boundary: true, workMs: 0, lease: '10s' });
  await second.hears('written');
  writeFileSync(taken, '');
  expect((await first.hears('written', 'refused')).type).toBe('refused');
  await atRest();
  expect(await effects()).toBe(1);
});
