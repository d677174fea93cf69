/** How often a step is tried, how long it may take, and what commits with it. */
import { describe, expect, test } from 'vitest';
import {
  defineJob,
  definePlan,
  type HandledJob,
  type JobContext,
  PermanentFailure,
} from '../../../src/index.js';
import { runUntilIdle, testDatabase } from '../../../src/testing/index.js';
import { latch } from '../../queue/latch.js';
import { scene } from './scene.js';

const s = scene();
const retry = { attempts: 3, base: '1ms', cap: '1ms' } as const;
const charge = defineJob<{ order: string }>('charge', { retry });
const ship = defineJob<unknown>('ship', { retry });
const input = { order: 'o-1' };

const pay = (name: string, options: object = {}) =>
  definePlan<{ order: string }>(name, { version: '1' }, (p) => {
    const paid = p.step<{ receipt: string }>('charge', charge, options);
    p.step('ship', ship, { input: { receipt: paid.output.receipt } });
  });
const shipping = ship.handle(() => undefined);

const failing = defineJob<unknown>('failing', { retry: { attempts: 1 } });
const asking = definePlan<unknown>('asking', { version: '1', onFailure: 'pause' }, (p) => {
  p.step('charge', failing);
});

describe('attempts', () => {
  test('that fail are repeated by the engine, and the log has one start and one end for the logical attempt', async () => {
    let tries = 0;
    const keys = new Set<string>();
    const run = await s.writ.start(pay('stumbles'), input);
    await s.work([
      charge.handle(({ effectKey, step }) => {
        keys.add(`${effectKey} ${step?.attempt}`);
        if (++tries < 3) throw new Error('the bank is busy');
        return { receipt: 'r-1' };
      }),
      shipping,
    ]);
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
    expect(tries).toBe(3);
    expect(keys.size).toBe(1);
    const events = (await s.writ.runs.events(run.runId)).items.filter(
      ({ stepId }) => stepId === 'charge',
    );
    expect(
      events.map(({ eventType, logicalAttemptId, engineAttemptId }) => [
        eventType,
        logicalAttemptId,
        engineAttemptId,
      ]),
    ).toEqual([
      ['StepStarted', '1', '1'],
      ['StepCompleted', '1', '3'],
    ]);
  });

  test('are as many as the plan says, and not as the kind of the job', async () => {
    let tries = 0;
    const run = await s.writ.start(pay('once', { retry: { attempts: 1 } }), input);
    await s.work([
      charge.handle(() => {
        tries++;
        throw new Error('the bank is busy');
      }),
    ]);
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'FAILED',
      rootCause: { stepId: 'charge', errorMessage: 'the bank is busy' },
    });
    expect(tries).toBe(1);
  });

  test('are as many as the kind of the job says, if the plan says nothing', async () => {
    let tries = 0;
    const run = await s.writ.start(pay('kind'), input);
    await s.work([
      charge.handle(() => {
        tries++;
        throw new Error('the bank is busy');
      }),
    ]);
    expect((await s.ended(run.runId)).status).toBe('FAILED');
    expect(tries).toBe(3);
  });

  test('end with a failure that cannot be mended', async () => {
    let tries = 0;
    const run = await s.writ.start(pay('permanent'), input);
    await s.work([
      charge.handle(() => {
        tries++;
        throw new PermanentFailure('no such card', { code: 'no_card' });
      }),
    ]);
    expect((await s.ended(run.runId)).rootCause).toEqual({
      stepId: 'charge',
      errorCode: 'no_card',
      errorMessage: 'no such card',
    });
    expect(tries).toBe(1);
  });

  test('that take longer than the plan allows are stopped, and fail as a timeout', async () => {
    const run = await s.writ.start(pay('slow', { timeout: '50ms', retry: { attempts: 1 } }), input);
    await s.work([
      charge.handle(
        ({ signal }) =>
          new Promise((_, stop) => signal.addEventListener('abort', () => stop(signal.reason))),
      ),
    ]);
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'FAILED',
      rootCause: { stepId: 'charge', errorCode: 'timeout' },
    });
    const failed = (await s.writ.runs.events(run.runId)).items.find(
      ({ eventType }) => eventType === 'StepFailed',
    );
    expect(failed?.eventData).toMatchObject({
      error: { failureCategory: 'TIMEOUT', retryable: true },
    });
  });
});

describe('commit in a step', () => {
  const charging = (
    effect: Parameters<JobContext<{ order: string }>['commit']>[0],
    after?: () => unknown,
  ): HandledJob =>
    charge.handle(async ({ commit }) => {
      await commit(effect);
      await after?.();
    });
  const see = async (runId: string) => ({
    effects: (await s.db.query('select from charges')).length,
    log: (await s.log(runId)).filter((line) => line !== 'RunStarted'),
    successors: (
      await s.db.query(`select from writ_data.job where run_id = $1 and step_no = 2`, [runId])
    ).length,
    results: (
      await s.db.query(
        `select e.result from writ_data.job_execution e join writ_data.job j using (job_id) where j.step_no = 1 and e.result is not null`,
      )
    ).map(({ result }) => result),
  });

  test('makes effect, output, event and successor visible together', async () => {
    await s.db.query('create table charges (order_id text)');
    const run = await s.writ.start(pay('together'), input);
    const seen: Awaited<ReturnType<typeof see>>[] = [];
    const held = latch();
    await s.work([
      charging(
        async (tx) => {
          await tx.query(`insert into charges values ('o-1')`);
          seen.push(await see(run.runId));
          return { receipt: 'r-1' };
        },
        async () => {
          seen.push(await see(run.runId));
          await held.opened;
        },
      ),
    ]);
    await s.untilLog(run.runId, 'StepCompleted charge');
    held.open();
    await s.work([shipping]);
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
    expect(seen).toEqual([
      { effects: 0, log: ['StepStarted charge'], successors: 0, results: [] },
      {
        effects: 1,
        log: ['StepStarted charge', 'StepCompleted charge'],
        successors: 1,
        results: [{ receipt: 'r-1' }],
      },
    ]);
  });

  test('leaves nothing of them when the effect is rolled back, and the step is tried again', async () => {
    await s.db.query('create table charges (order_id text)');
    const run = await s.writ.start(pay('rolled', { retry: { attempts: 2 } }), input);
    let tries = 0;
    let between: unknown;
    await s.work([
      charge.handle(async ({ commit }) => {
        if (++tries === 2) between = await see(run.runId);
        await commit(async (tx) => {
          await tx.query(`insert into charges values ('o-1')`);
          if (tries === 1) throw new Error('the card reader is on fire');
          return { receipt: 'r-2' };
        });
      }),
      shipping,
    ]);
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
    expect(between).toEqual({
      effects: 0,
      log: ['StepStarted charge'],
      successors: 0,
      results: [],
    });
    expect(await see(run.runId)).toMatchObject({
      effects: 1,
      successors: 1,
      results: [{ receipt: 'r-2' }],
    });
  });

  test('gives what the effect returned to the steps that follow, whatever the handler returns', async () => {
    let given: unknown;
    const run = await s.writ.start(pay('returns'), input);
    await s.work([
      charge.handle(async ({ commit }) => {
        await commit(() => ({ receipt: 'of the effect' }));
        return { receipt: 'of the handler' };
      }),
      ship.handle((job) => {
        given = job.input;
      }),
    ]);
    await s.ended(run.runId);
    expect(given).toEqual({ receipt: 'of the effect' });
  });

  test('stands when the handler fails afterwards: the step has succeeded', async () => {
    await s.db.query('create table charges (order_id text)');
    const run = await s.writ.start(pay('afterwards'), input);
    await s.work([
      charging(
        (tx) => tx.query(`insert into charges values ('o-1')`).then(() => ({ receipt: 'r' })),
        () => {
          throw new PermanentFailure('the mail server is down');
        },
      ),
      shipping,
    ]);
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'COMPLETED',
      counts: { succeeded: 2, failed: 0 },
    });
    expect((await see(run.runId)).effects).toBe(1);
  });

  test('of a last step ends the run with the effect', async () => {
    const plan = definePlan<{ order: string }>('last', { version: '1' }, (p) => {
      p.step('charge', charge);
    });
    await s.db.query('create table charges (order_id text)');
    const run = await s.writ.start(plan, input);
    const states: unknown[] = [];
    const status = async () =>
      states.push((await s.db.query('select status from writ.run'))[0]?.status);
    await s.work([
      charging(async (tx) => {
        await tx.query(`insert into charges values ('o-1')`);
        await status();
      }, status),
    ]);
    await s.ended(run.runId);
    expect(states).toEqual(['RUNNING', 'COMPLETED']);
  });
});

describe('the effect key of a step', () => {
  /** Runs the step as often as signals ask for it, and answers its key in each attempt. */
  async function keysOf(signals: readonly object[]) {
    const keys: string[] = [];
    const run = await s.writ.start(asking, {});
    await s.work([
      failing.handle(({ effectKey }) => {
        keys.push(effectKey);
        if (keys.length <= signals.length) throw new Error('no answer');
      }),
    ]);
    for (const [n, more] of signals.entries()) {
      await s.untilLog(run.runId, `StepFailed charge${n === 0 ? '' : ` #${n + 1}`}`);
      await s.writ.runs.signal(run.runId, { type: 'RETRY_STEP', stepId: 'charge', ...more });
    }
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
    return keys;
  }

  test('is one for its life, however often a person has it retried', async () => {
    const keys = await keysOf([{}, { newEffectKey: false }]);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });

  test('is a new one if the signal asks for it, and stays that one', async () => {
    const [first, second, third, fourth] = await keysOf([
      { newEffectKey: true },
      {},
      { newEffectKey: true },
    ]);
    expect(second).not.toBe(first);
    expect(third).toBe(second);
    expect([first, second]).not.toContain(fourth);
  });

  test('is asked for with RETRY_STEP alone', async () => {
    const run = await s.writ.start(asking, {});
    const sent = s.writ.runs.signal(run.runId, { type: 'PAUSE', newEffectKey: true });
    await expect(sent).rejects.toMatchObject({ code: 'SIGNAL_INVALID_PAYLOAD' });
    const signal = JSON.stringify({
      type: 'PAUSE',
      signalId: '00000000-0000-4000-8000-000000000000',
      newEffectKey: true,
    });
    const [row] = await s.db.query(`select writ.fn_run_signal($1, $2, 'ada') as answer`, [
      run.runId,
      signal,
    ]);
    expect(row?.answer).toMatchObject({ refused: true, reason: 'SIGNAL_INVALID_PAYLOAD' });
  });

  test('cannot be used twice at once: a step that is to be retried is not retried again', async () => {
    const run = await s.writ.start(asking, {});
    const worker = await s.work([
      failing.handle(() => {
        throw new Error('no answer');
      }),
    ]);
    await s.untilLog(run.runId, 'RunPaused');
    await worker.stop();
    const retry = () => s.writ.runs.signal(run.runId, { type: 'RETRY_STEP', stepId: 'charge' });
    await retry();
    await expect(retry()).rejects.toMatchObject({ code: 'STEP_NOT_TERMINAL' });
    expect(
      await s.db.query(`select from writ_data.job where run_id = $1`, [run.runId]),
    ).toHaveLength(2);
  });
});

test('a step that was tried as often as its counter can count is not retried again', async () => {
  const db = await testDatabase();
  const writ = await db.connect();
  const run = await writ.start(asking, {});
  const handler = failing.handle(() => {
    throw new Error('no answer');
  });
  await runUntilIdle(writ, [handler], { onError: () => undefined });
  await db.query(
    `select writ_data.append_events(array[$1, $1]::uuid[], '{StepStarted,StepFailed}', '{charge,charge}', '{32767,32767}', '{1,1}',
      array['{}', '{}']::jsonb[], null, null, 'fn_job_fail', 'ada', writ.now())`,
    [run.runId],
  );
  const retry = writ.runs.signal(run.runId, { type: 'RETRY_STEP', stepId: 'charge' });
  await expect(retry).rejects.toMatchObject({ code: 'SIGNAL_NOT_APPLICABLE' });
  await db.drop();
});

test('a step that failed for good says that no retry can help', async () => {
  for (const [name, error, retryable] of [
    ['permanent', new PermanentFailure('no such card'), false],
    ['transient', new Error('the bank is busy'), true],
  ] as const) {
    const run = await s.writ.start(pay(`says-${name}`, { retry: { attempts: 1 } }), input);
    const worker = await s.work([
      charge.handle(() => {
        throw error;
      }),
    ]);
    const { steps } = await s.ended(run.runId);
    expect(steps[0]?.error).toMatchObject({ retryable });
    await worker.stop();
  }
});
