/**
 * Another engine is killed at every place between the spool and the log: nothing is missing then,
 * and nothing is there twice.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { defineJob, definePlan } from '../../../src/index.js';
import { until } from '../../races/sessions.js';
import { namesIn, spoolFolder } from '../../spool/folder.js';
import { budgetMs, saidAgain, slowDatabase } from './slow.js';

const s = slowDatabase();
const steps = ['a', 'b', 'c'];
const plan = definePlan('killed', { version: '1' }, (p) => {
  for (const id of steps) p.step(id, defineJob('killed'));
});
const script = fileURLToPath(new URL('./engine-process.mjs', import.meta.url));

interface Engine {
  readonly child: ChildProcess;
  readonly said: { ready?: true; told?: true; answer?: object }[];
  kill(): Promise<void>;
}

function engine(runId: string, spool: string): Engine {
  const settings = { url: s.wire.connectionString, spool, runId, steps, writeBudget: budgetMs };
  const child = fork(script, {
    env: { ...process.env, WRIT_ENGINE: JSON.stringify(settings) },
    execArgv: [],
  });
  const ended = once(child, 'exit');
  const said: Engine['said'] = [];
  child.on('message', (word: Engine['said'][number]) => said.push(word));
  const kill = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  return { child, said, kill };
}

async function withSpooledSteps(): Promise<{ runId: string; spool: string; dying: Engine }> {
  const spool = spoolFolder();
  const { runId } = await s.onlooker.start(plan, undefined, { engine: 'external' });
  await s.onlooker.runs.append(runId, { eventType: 'RunStarted' });
  const dying = engine(runId, spool);
  await until(async () => dying.said.some(({ ready }) => ready));
  s.wire.holdRequests();
  dying.child.send('tell');
  await until(async () => dying.said.some(({ told }) => told));
  expect(dying.said.filter(({ answer }) => answer)).toMatchObject(
    steps.map(() => ({ answer: { spooled: true } })),
  );
  expect(await s.log(runId)).toEqual(['RunStarted']);
  return { runId, spool, dying };
}

const whole = ['RunStarted', ...steps.map((id) => `StepStarted ${id}`)];

test('killed with everything in the spool, before the database is back', {
  timeout: 30_000,
}, async () => {
  const { runId, spool, dying } = await withSpooledSteps();
  await dying.kill();
  s.wire.cut();
  const next = await s.connect({ spool });
  await until(async () => namesIn(spool).length === 0); // by itself
  expect(await s.log(runId)).toEqual(whole);
  expect(await next.runs.mergeSpool()).toEqual({ merged: 0, refused: 0, damaged: [] });
});

test('killed when the log has it, and the spool does not know', { timeout: 30_000 }, async () => {
  const { runId, spool, dying } = await withSpooledSteps();
  s.wire.cut();
  // it merges by itself: the append happens, and it never hears of it
  s.wire.holdAnswersTo('fn_run_append');
  await until(async () => (await s.log(runId)).includes('StepStarted a'));
  await dying.kill();
  s.wire.cut();
  expect(namesIn(spool)).not.toEqual([]);
  const next = await s.connect({ spool });
  await saidAgain(() => next.runs.mergeSpool());
  expect(await s.log(runId)).toEqual(whole);
  expect(namesIn(spool)).toEqual([]);
});

test('several engines merge the same folder at once', { timeout: 30_000 }, async () => {
  const { runId, spool, dying } = await withSpooledSteps();
  await dying.kill();
  s.wire.cut();
  const several = await Promise.all([1, 2, 3].map(() => s.connect({ spool })));
  await Promise.all(several.map((writ) => saidAgain(() => writ.runs.mergeSpool())));
  await until(async () => namesIn(spool).length === 0);
  expect((await s.log(runId)).sort()).toEqual(whole);
});
