/**
 * The write budget of the native engine: what a handler is told, what has begun, and what the log
 * has, while the database is slow and when it is quick again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  defineJob,
  definePlan,
  type HandledJob,
  PermanentFailure,
  type Worker,
  type Writ,
} from '../../../src/index.js';
import { checkLog } from '../../../src/runs/check-log.js';
import { until } from '../../races/sessions.js';
import { allEvents } from '../engine/scene.js';
import { aWhile, codeOf, slowDatabase, ways } from './slow.js';

const s = slowDatabase();
// As many attempts as a slow machine may want: each that is not in time is one.
const retry = { attempts: 20, base: '10ms', cap: '20ms' } as const;
const first = defineJob('first', { retry });
const second = defineJob('second');
const plan = definePlan('budget', { version: '1' }, (p) => {
  const done = p.step('first', first, { retry: { attempts: retry.attempts } });
  p.step('second', second, { after: done });
});

/** A budget that only what takes longer on purpose exceeds. */
const patience = 3_000;

interface Played {
  readonly runId: string;
  readonly writ: Writ;
  readonly worker: Worker;
  /** What the worker had trouble with, and what its handlers failed of. */
  readonly troubles: (string | undefined)[];
  readonly failures: (string | undefined)[];
  readonly began: string[];
  /** Lets the first handler go on. */
  go(): void;
}

/** A run whose first handler waits to be told to go on, and then does `work`. */
async function play(
  work: Parameters<typeof first.handle>[0],
  options: { writeBudget?: number } = {},
): Promise<Played> {
  const writ = await s.connect(options);
  const began: string[] = [];
  const troubles: (string | undefined)[] = [];
  const failures: (string | undefined)[] = [];
  let go = () => {};
  const told = new Promise<void>((done) => {
    go = done;
  });
  const handlers: HandledJob[] = [
    first.handle(async (context) => {
      began.push('first');
      await told;
      return work(context);
    }),
    second.handle(async () => {
      began.push('second');
    }),
  ];
  const worker = await writ.work(handlers, {
    poll: '50ms',
    lease: '30s',
    onError: (error, job) => (job ? failures : troubles).push((error as { code?: string }).code),
  });
  const { runId } = await s.onlooker.start(plan, undefined);
  await until(async () => began.includes('first'));
  return { runId, writ, worker, troubles, failures, began, go };
}

const ended = async (runId: string, status: string) => {
  expect(await s.onlooker.runs.finished(runId, { timeoutMs: 20_000 })).toMatchObject({ status });
  expect(checkLog(plan.document, await allEvents(s.onlooker, runId))).toEqual([]);
};
const whole = [
  'RunStarted',
  'StepStarted first',
  'StepCompleted first',
  'StepStarted second',
  'StepCompleted second',
  'RunCompleted',
];
const begun = whole.slice(0, 2);

test('a StepStarted is in the log before its handler begins, however slow the database is: there is nothing to fail open', {
  timeout: 30_000,
}, async () => {
  const writ = await s.connect();
  const logs: string[][] = [];
  const look = async ({ step }: { step: { runId: string } | undefined }) =>
    void logs.push(await s.log(step?.runId as string));
  const { runId } = await s.onlooker.start(plan, undefined);
  await s.slow('a lock', runId);
  const troubles: unknown[] = [];
  await writ.work([first.handle(look), second.handle(look)], {
    poll: '50ms',
    onError: (error) => troubles.push(error),
  });
  await aWhile();
  expect([logs, await s.log(runId)]).toEqual([[], ['RunStarted']]);
  await s.quick();
  await ended(runId, 'COMPLETED');
  expect(logs).toEqual([whole.slice(0, 2), whole.slice(0, 4)]);
});

describe.each(ways)('with %s', (way) => {
  test('a StepCompleted past the budget: nothing follows before the database has said so, and then once', {
    timeout: 30_000,
  }, async () => {
    const { runId, troubles, failures, began, go } = await play(async () => undefined);
    await s.slow(way, runId);
    go();
    await until(async () => troubles.includes('WRITE_BUDGET_EXCEEDED'));
    await aWhile();
    expect(began).toEqual(['first']);
    const log = await s.log(runId);
    // What was written although nobody heard of it is the truth; nobody acts on it.
    expect(log).toEqual(way === 'answers that do not come' ? whole.slice(0, log.length) : begun);
    await s.quick();
    await ended(runId, 'COMPLETED');
    expect([began, failures]).toEqual([['first', 'second'], []]);
    expect((await s.log(runId)).sort()).toEqual([...whole].sort());
  });

  test('a StepFailed past the budget: it is told again until the database has it, once', {
    timeout: 30_000,
  }, async () => {
    const { runId, troubles, began, go } = await play(async () => {
      throw new PermanentFailure('no');
    });
    await s.slow(way, runId);
    go();
    await until(async () => troubles.includes('WRITE_BUDGET_EXCEEDED'));
    if (way !== 'answers that do not come') expect(await s.log(runId)).toEqual(begun);
    await s.quick();
    await ended(runId, 'FAILED');
    expect(began).toEqual(['first']);
    expect((await s.log(runId)).filter((line) => line.startsWith('StepFailed'))).toEqual([
      'StepFailed first',
    ]);
  });
});

describe('a commit past the budget', () => {
  const inserts: Parameters<typeof first.handle>[0] = ({ commit }) =>
    commit((tx) => tx.query('insert into effect default values').then(() => null));
  const effects = async () => (await s.db.query('select from effect')).length;

  test('that waits for a lock is undone, its handler is told so, and the next attempt is the one effect', {
    timeout: 30_000,
  }, async () => {
    await s.db.query('create table effect ()');
    const { runId, failures, began, go } = await play(inserts);
    await s.slow('a lock', runId);
    go();
    await until(async () => failures.includes('WRITE_BUDGET_EXCEEDED'));
    expect([await effects(), await s.log(runId)]).toEqual([0, begun]);
    await s.quick();
    await ended(runId, 'COMPLETED');
    expect([await effects(), began.at(-1)]).toEqual([1, 'second']);
  });

  test('whose COMMIT never arrives is undone, and the next attempt is the one effect', {
    timeout: 30_000,
  }, async () => {
    await s.db.query('create table effect ()');
    const { runId, failures, go } = await play(async (context) => {
      if (context.job.executionNo > 1) return inserts(context);
      return context.commit(async (tx) => {
        await tx.query('insert into effect default values');
        s.wire.holdRequests();
        return null;
      });
    });
    go();
    await until(
      async () =>
        (
          await s.db.query(
            `select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
          )
        ).length > 0,
    );
    await aWhile();
    expect(await effects()).toBe(0);
    s.wire.cut(); // what was held back is lost
    await ended(runId, 'COMPLETED');
    expect([await effects(), failures]).toEqual([1, ['WRITE_BUDGET_EXCEEDED']]);
  });

  test('that went through unheard is found, not repeated, and its handler is told that it stands', {
    timeout: 30_000,
  }, async () => {
    await s.db.query('create table effect ()');
    const verdicts: unknown[] = [];
    const work: Parameters<typeof first.handle>[0] = async (context) => {
      verdicts.push(
        await codeOf(
          context.commit(async (tx) => {
            await tx.query('insert into effect default values');
            s.wire.holdAnswersTo('; commit');
            return null;
          }),
        ),
      );
    };
    const { runId, failures, began, go } = await play(work, { writeBudget: patience });
    go();
    await until(async () => (await effects()) === 1);
    await pause(1.5 * patience);
    expect(verdicts).toEqual([]);
    s.wire.cut();
    await ended(runId, 'COMPLETED');
    expect([verdicts, failures, await effects(), began]).toEqual([
      [undefined],
      [],
      1,
      ['first', 'second'],
    ]);
  });

  test('is not what its effect takes: that is the handler’s own time', {
    timeout: 30_000,
  }, async () => {
    await s.db.query('create table effect ()');
    const { runId, troubles, failures, go } = await play(
      ({ commit }) =>
        commit(async (tx) => {
          await tx.query('insert into effect default values');
          await pause(1.5 * patience);
          return null;
        }),
      { writeBudget: patience },
    );
    go();
    await ended(runId, 'COMPLETED');
    expect([troubles, failures, await effects()]).toEqual([[], [], 1]);
  });
});

test('a handler that commits for long keeps the reports of its neighbours from nothing', {
  timeout: 30_000,
}, async () => {
  const writ = await s.connect({ writeBudget: patience });
  const chore = defineJob<{ long: boolean }>('chore');
  let finish = () => {};
  const finished = new Promise<void>((done) => {
    finish = done;
  });
  await writ.enqueueMany(
    chore,
    [true, false, false, false].map((long) => ({ input: { long } })),
  );
  const troubles: unknown[] = [];
  await writ.work(
    [chore.handle(({ input, commit }) => (input.long ? commit(() => finished) : undefined))],
    {
      poll: '50ms',
      onError: (error) => troubles.push(error),
    },
  );
  const done = async () =>
    (await s.db.query(`select from writ.job_queue where status = 'succeeded'`)).length;
  await until(async () => (await done()) === 3);
  await pause(1.5 * patience);
  finish();
  await until(async () => (await done()) === 4);
  expect(troubles).toEqual([]);
});
