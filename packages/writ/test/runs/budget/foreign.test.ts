/**
 * The write budget of events that another engine tells: what it is told, what the log has meanwhile
 * and afterwards, event class by event class.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import {
  type AppendedEvent,
  defineJob,
  definePlan,
  type FailOpenEvent,
  Writ,
} from '../../../src/index.js';
import { checkLog } from '../../../src/runs/check-log.js';
import { knownSecrets } from '../../../src/secrets/redactor.js';
import { until } from '../../races/sessions.js';
import { namesIn, spoolFolder } from '../../spool/folder.js';
import { allEvents } from '../engine/scene.js';
import { aWhile, budgetMs, codeOf, saidAgain, slowDatabase, type Way, ways } from './slow.js';

const s = slowDatabase();
const plan = definePlan('abroad', { version: '1' }, (p) => {
  const only = p.step('only', defineJob('only'));
  p.step('then', defineJob('then'), { after: only, optional: true });
});

const runStarted: AppendedEvent = {
  eventType: 'RunStarted',
  eventData: {
    planId: plan.id,
    planVersion: plan.version,
    planSha256: plan.sha256,
    engine: 'external',
  },
};
const step = (eventType: string, eventData: object = {}, stepId = 'only'): AppendedEvent => ({
  eventType,
  stepId,
  eventData,
});
const failure = {
  error: {
    errorCode: 'broken',
    errorMessage: 'It broke.',
    retryable: false,
    failureCategory: 'USER',
    failureSource: 'handler',
  },
};
const completed = step('StepCompleted', { artifacts: [] });

/**
 * Every class of events: what comes before it in the log, and whether it may be in the log later
 * than it happened.
 */
const classes: { event: AppendedEvent; before: AppendedEvent[]; failsOpen?: true }[] = [
  { event: runStarted, before: [] },
  { event: step('StepStarted'), before: [runStarted], failsOpen: true },
  { event: completed, before: [runStarted, step('StepStarted')] },
  { event: step('StepFailed', failure), before: [runStarted, step('StepStarted')] },
  {
    event: step('StepSkipped', { reasonCode: 'CONDITION_FALSE' }, 'then'),
    before: [runStarted, step('StepStarted'), completed],
  },
  { event: { eventType: 'RunPaused' }, before: [runStarted] },
  { event: { eventType: 'RunResumed' }, before: [runStarted, { eventType: 'RunPaused' }] },
  { event: { eventType: 'RunCompleted' }, before: [runStarted, step('StepStarted'), completed] },
  {
    event: { eventType: 'RunFailed' },
    before: [runStarted, step('StepStarted'), step('StepFailed', failure)],
  },
  { event: { eventType: 'RunCancelled' }, before: [runStarted] },
];

async function foreignRun(before: readonly AppendedEvent[]): Promise<string> {
  const { runId } = await s.onlooker.start(plan, undefined, { engine: 'external' });
  for (const event of before) await s.onlooker.runs.append(runId, event);
  return runId;
}

const countOf = async (runId: string, { eventType, stepId }: AppendedEvent) =>
  (await allEvents(s.onlooker, runId)).filter(
    (event) => event.eventType === eventType && event.stepId === (stepId ?? 'RUN'),
  ).length;

/** Has its connections, so that what is measured is the write. */
async function warm(
  options: { spool?: string; writeBudget?: number; failOpen?: readonly FailOpenEvent[] } = {},
): Promise<Writ> {
  const writ = await s.connect(options);
  await Promise.all([1, 2, 3, 4].map(() => writ.jobs.health()));
  return writ;
}

/** A budget for what is about something else: no machine is as slow as that. */
const patience = 10_000;
/**
 * One in which the database has done what nobody hears of, although the machine stood still for a
 * moment.
 */
const enough = 1_500;

describe.each(ways)('with %s', (way) => {
  test.each(classes)(
    '$event.eventType past the budget, without a spool: it is refused, and said again it is there once',
    async ({ event, before }) => {
      const runId = await foreignRun(before);
      const writeBudget = way === 'answers that do not come' ? enough : budgetMs;
      const writ = await warm({ writeBudget });
      await s.slow(way, runId);
      const began = performance.now();
      const error = await writ.runs.append(runId, event).catch((error) => error);
      expect(error).toMatchObject({ code: 'WRITE_BUDGET_EXCEEDED', retryable: true, status: 504 });
      expect(performance.now() - began).toBeGreaterThanOrEqual(writeBudget - 20);
      expect(await countOf(runId, event)).toBe(way === 'answers that do not come' ? 1 : 0);
      await s.quick();
      expect(await saidAgain(() => writ.runs.append(runId, event))).toMatchObject({
        runSeq: before.length + 1,
      });
      expect(await countOf(runId, event)).toBe(1);
    },
  );

  test('a StepStarted past the budget, with a spool: it is kept there, and in the log once when the database is quick again', async () => {
    const spool = spoolFolder();
    const runId = await foreignRun([runStarted]);
    const writ = await warm({ spool });
    await s.slow(way, runId);
    expect(await writ.runs.append(runId, step('StepStarted'))).toEqual({ spooled: true });
    expect(namesIn(spool)).toHaveLength(1);
    await s.quick();
    await until(async () => namesIn(spool).length === 0);
    expect(await countOf(runId, step('StepStarted'))).toBe(1);
  });
});

test.each(classes.filter(({ failsOpen }) => !failsOpen))(
  '$event.eventType never goes into the spool: it is refused, and in the log when it is said again',
  async ({ event, before }) => {
    const spool = spoolFolder();
    const runId = await foreignRun(before);
    const writ = await warm({ spool });
    await s.slow('requests that do not arrive', runId);
    expect(await codeOf(writ.runs.append(runId, event))).toBe('WRITE_BUDGET_EXCEEDED');
    expect([existsSync(spool), await countOf(runId, event)]).toEqual([false, 0]);
    s.wire.cut();
    await saidAgain(() => writ.runs.append(runId, event));
    expect(await countOf(runId, event)).toBe(1);
  },
);

describe('with the database away', () => {
  const away = async () => {
    await s.wire.close();
  };

  test('a StepStarted is kept in the spool, and anything else is refused', async () => {
    const spool = spoolFolder();
    const runId = await foreignRun([runStarted]);
    const writ = await warm({ spool, writeBudget: patience });
    await away();
    expect(await writ.runs.append(runId, step('StepStarted'))).toEqual({ spooled: true });
    expect(await codeOf(writ.runs.append(runId, completed))).toBe('database_unreachable');
    expect(await s.log(runId)).toEqual(['RunStarted']);
  });

  test('what may wait in the spool is what the connection names', async () => {
    const skipped = step('StepSkipped', { reasonCode: 'CONDITION_FALSE' }, 'then');
    const runId = await foreignRun([runStarted]);
    const writ = await warm({
      spool: spoolFolder(),
      writeBudget: patience,
      failOpen: ['StepSkipped'],
    });
    await away();
    expect(await writ.runs.append(runId, skipped)).toEqual({ spooled: true });
    expect(await codeOf(writ.runs.append(runId, step('StepStarted')))).toBe('database_unreachable');
  });

  test.each([
    'StepCompleted',
    'StepFailed',
    'RunStarted',
    'RunCompleted',
    'RunFailed',
    'RunCancelled',
    'RunPaused',
  ])('a connection that lets %s wait in the spool is refused', async (type) => {
    const connecting = (async () => s.connect({ failOpen: [type as FailOpenEvent] }))();
    await expect(connecting).rejects.toMatchObject({
      code: 'invalid_argument',
      detail: expect.stringContaining(type),
    });
  });

  test('a StepStarted is refused without a spool', async () => {
    const runId = await foreignRun([runStarted]);
    const writ = await warm({ writeBudget: patience });
    await away();
    expect(await codeOf(writ.runs.append(runId, step('StepStarted')))).toBe('database_unreachable');
  });
});

describe('what was spooled', () => {
  const spoolOne = async (way: Way = 'requests that do not arrive') => {
    const spool = spoolFolder();
    const runId = await foreignRun([runStarted]);
    const writ = await warm({
      spool,
      writeBudget: way === 'answers that do not come' ? enough : budgetMs,
    });
    await s.slow(way, runId);
    expect(await writ.runs.append(runId, step('StepStarted'))).toEqual({ spooled: true });
    return { spool, runId, writ };
  };

  test('is in the log before what the same connection says next of the run, with the time at which the step began', async () => {
    const { runId, writ, spool } = await spoolOne();
    const spooledBy = new Date().toISOString();
    s.wire.cut();
    await saidAgain(() => writ.runs.append(runId, completed));
    expect(await s.log(runId)).toEqual(['RunStarted', 'StepStarted only', 'StepCompleted only']);
    const [started] = (await s.onlooker.runs.snapshot(runId)).steps;
    expect(started).toMatchObject({ status: 'SUCCESS', startedAt: expect.any(String) });
    expect((started?.startedAt as string) <= spooledBy).toBe(true);
    expect(namesIn(spool)).toEqual([]);
  });

  test('keeps what follows in the same run from the log while the database is slow', async () => {
    const { runId, writ } = await spoolOne();
    expect(await codeOf(writ.runs.append(runId, completed))).toBe('WRITE_BUDGET_EXCEEDED');
    expect(await writ.runs.append(runId, step('StepStarted', {}, 'then'))).toEqual({
      spooled: true,
    });
    s.wire.cut();
    await saidAgain(() => writ.runs.append(runId, completed));
    expect(await s.log(runId)).toEqual([
      'RunStarted',
      'StepStarted only',
      'StepStarted then',
      'StepCompleted only',
    ]);
  });

  test('and was written after all is there once', async () => {
    const { runId, writ, spool } = await spoolOne('answers that do not come');
    expect(await s.log(runId)).toEqual(['RunStarted', 'StepStarted only']);
    s.wire.cut();
    await saidAgain(() => writ.runs.mergeSpool());
    expect(namesIn(spool)).toEqual([]);
    expect(await s.log(runId)).toEqual(['RunStarted', 'StepStarted only']);
  });

  test('is kept as late when others said the end of the step, or of the run, first', async () => {
    const { runId, writ } = await spoolOne();
    await s.onlooker.runs.append(runId, completed);
    await s.onlooker.runs.append(
      runId,
      step('StepSkipped', { reasonCode: 'OPERATOR_SKIP' }, 'then'),
    );
    await s.onlooker.runs.append(runId, { eventType: 'RunCompleted' });
    s.wire.cut();
    await saidAgain(() => writ.runs.mergeSpool());
    const events = await allEvents(s.onlooker, runId);
    expect(events.at(-1)).toMatchObject({
      eventType: 'StepStarted',
      eventData: { late: true, spooledAt: expect.any(String) },
    });
    const snapshot = await s.onlooker.runs.snapshot(runId);
    expect(snapshot).toMatchObject({
      status: 'COMPLETED',
      steps: [{ stepId: 'only', status: 'SUCCESS', late: true }, {}],
    });
    expect(snapshot.inconsistent).toBeUndefined();
    const [first] = snapshot.steps;
    expect((first?.startedAt as string) <= (first?.completedAt as string)).toBe(true);
    expect(checkLog(plan.document, events).filter(({ fault }) => fault !== 'not_allowed')).toEqual(
      [],
    );
    // The end of the attempt stands, although its start is behind it.
    expect(await codeOf(s.onlooker.runs.append(runId, step('StepFailed', failure)))).toBe(
      'EVENT_OUT_OF_ORDER',
    );
  });

  test('and will never be in the log is kept aside with the reason, and said', async () => {
    const { runId, writ, spool } = await spoolOne();
    // nothing tells that the step ever ended
    await s.onlooker.runs.append(runId, { eventType: 'RunCancelled' });
    const warnings: Error[] = [];
    const hear = (warning: Error) => warnings.push(warning);
    process.on('warning', hear);
    s.wire.cut();
    await saidAgain(() => writ.runs.mergeSpool());
    await until(async () => warnings.length > 0);
    process.off('warning', hear);
    expect(warnings).toMatchObject([
      { code: 'spool_refused', message: expect.stringContaining(runId) },
    ]);
    expect(namesIn(spool)).toEqual(['refused.jsonl']);
    expect(JSON.parse(readFileSync(join(spool, 'refused.jsonl'), 'utf8'))).toMatchObject({
      refused: 'EVENT_OUT_OF_ORDER',
      payload: { runId, event: { eventType: 'StepStarted' } },
    });
  });

  test('is merged by whoever connects next with the same folder, and by close', async () => {
    const { runId, writ, spool } = await spoolOne();
    s.wire.cut();
    await writ.close();
    expect([await s.log(runId), namesIn(spool)]).toEqual([['RunStarted', 'StepStarted only'], []]);
  });

  test('has no secret in it: what has one is refused before it is written anywhere', async () => {
    const { runId, writ, spool } = await spoolOne();
    const value = `s3cret-${randomUUID()}`;
    knownSecrets.add('token', value);
    expect(
      await codeOf(writ.runs.append(runId, step('StepStarted', { note: value }, 'then'))),
    ).toBe('secret_inside');
    expect(readFileSync(join(spool, namesIn(spool)[0] as string), 'utf8')).not.toContain(value);
  });
});

test('calls to a database that is stuck do not pile up in it', async () => {
  const runId = await foreignRun([runStarted]);
  const writ = await warm();
  await s.slow('a lock', runId);
  const backends = async () =>
    Number(
      (
        await s.db.query(
          `select count(*)::integer as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
      )[0]?.n,
    );
  for (let round = 0; round < 5; round++) {
    await Promise.all(
      [1, 2, 3, 4, 5, 6].map(() => codeOf(writ.runs.append(runId, step('StepStarted')))),
    );
    expect(await backends()).toBeLessThanOrEqual(4);
  }
  // with the lock still held: the server has given up by itself
  await until(async () => (await backends()) === 0);
  await s.quick();
  expect(await s.log(runId)).toEqual(['RunStarted']);
});

test('what nobody waits for any more is not sent', async () => {
  const runId = await foreignRun([runStarted]);
  const writ = await warm({ writeBudget: enough });
  await s.slow('answers that do not come', runId);
  // Four have a connection each; the fifth waits for one, and is told so before it has it.
  const events = ['a', 'b', 'c', 'd', 'e'].map((id) => ({
    ...step('StepStarted'),
    logicalAttemptId: id,
  }));
  expect(await Promise.all(events.map((event) => codeOf(writ.runs.append(runId, event))))).toEqual(
    events.map(() => 'WRITE_BUDGET_EXCEEDED'),
  );
  await s.quick();
  await writ.jobs.health();
  await aWhile();
  expect((await s.log(runId)).sort()).toEqual([
    'RunStarted',
    ...['a', 'b', 'c', 'd'].map((id) => `StepStarted only #${id}`),
  ]);
});

test('a connection of the program’s own has the same budget', async () => {
  const runId = await foreignRun([runStarted]);
  const pool = new pg.Pool({ connectionString: s.db.connectionString, max: 2 });
  const writ = await Writ.connect({ db: pool, writeBudget: budgetMs });
  await s.slow('a lock', runId);
  expect(await codeOf(writ.runs.append(runId, step('StepStarted')))).toBe('WRITE_BUDGET_EXCEEDED');
  await s.quick();
  await saidAgain(() => writ.runs.append(runId, step('StepStarted')));
  expect(await countOf(runId, step('StepStarted'))).toBe(1);
  await writ.close();
  await pool.end();
});

test('a StepStarted that the spool cannot keep either is refused with the reason', async () => {
  const spool = spoolFolder();
  writeFileSync(spool, 'a file');
  const runId = await foreignRun([runStarted]);
  const writ = await warm({ spool });
  await s.slow('a lock', runId);
  expect(await codeOf(writ.runs.append(runId, step('StepStarted')))).toBe('spool_unavailable');
});

test('closing does not wait for what was not answered in time', async () => {
  const runId = await foreignRun([runStarted]);
  const writ = await warm({ writeBudget: 1_000 });
  await s.slow('answers that do not come', runId);
  expect(await codeOf(writ.runs.append(runId, step('StepStarted')))).toBe('WRITE_BUDGET_EXCEEDED');
  const began = performance.now();
  await writ.close();
  // its connection would be kept for ten budgets
  expect(performance.now() - began).toBeLessThan(5_000);
});

test('three seconds unless another budget is given', { timeout: 15_000 }, async () => {
  const runId = await foreignRun([runStarted]);
  const writ = await s.connect({ writeBudget: undefined as never });
  await s.slow('a lock', runId);
  const began = performance.now();
  expect(await codeOf(writ.runs.append(runId, step('StepStarted')))).toBe('WRITE_BUDGET_EXCEEDED');
  const took = performance.now() - began;
  expect(took).toBeGreaterThanOrEqual(2_950);
  expect(took).toBeLessThan(6_000);
});

test.each([0, -1, '2h' as const])('%s is not a budget', async (writeBudget) => {
  expect(await codeOf(s.connect({ writeBudget: writeBudget as never }))).toMatch(
    /^invalid_(?:argument|duration)$/,
  );
});
