import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { testDatabase } from 'writ/testing';
import { ask, handlers, paid } from './agent-approval.js';

const main = fileURLToPath(new URL('../packages/writ/bin/writ.js', import.meta.url));

test('nothing is paid before a person says so, and what is refused or forgotten is explained', async () => {
  const db = await testDatabase();
  const writ = await db.connect();
  await writ.work(handlers, { poll: '50ms' });
  const stepsOf = async (runId: string) => {
    const { status, steps } = await writ.runs.finished(runId, { timeoutMs: 20_000 });
    return [status, ...steps.map((step) => `${step.stepId} ${step.status}`).sort()];
  };
  const answer = (runId: string, approved: boolean) =>
    promisify(execFile)(
      process.execPath,
      [
        main,
        'runs',
        'deliver',
        runId,
        'approval',
        '--payload',
        JSON.stringify({ approved, by: 'ada' }),
      ],
      {
        env: { ...process.env, DATABASE_URL: db.connectionString },
      },
    );

  const yes = await ask(writ, { id: 't-1', text: 'It arrived broken.' });
  expect(paid).toEqual([]);
  await answer(yes, true);
  expect(await stepsOf(yes)).toEqual([
    'COMPLETED',
    'approval SUCCESS',
    'explain SKIPPED',
    'pay SUCCESS',
    'propose SUCCESS',
  ]);
  expect(paid).toEqual([{ action: 'refund t-1', amount: 18, by: 'ada' }]);

  const no = await ask(writ, { id: 't-2', text: 'I want more.' });
  await answer(no, false);
  expect(await stepsOf(no)).toEqual([
    'COMPLETED',
    'approval SUCCESS',
    'explain SUCCESS',
    'pay SKIPPED',
    'propose SUCCESS',
  ]);

  const forgotten = await ask(writ, { id: 't-3', text: 'Hello?' });
  await db.clock.advance('49h');
  expect(await stepsOf(forgotten)).toEqual([
    'COMPLETED',
    'approval SKIPPED',
    'explain SUCCESS',
    'pay SKIPPED',
    'propose SUCCESS',
  ]);
  expect(paid).toHaveLength(1);
  await db.drop();
});
