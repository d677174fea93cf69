/** Steps that go over a list. */
import { describe, expect, test } from 'vitest';
import { defineJob, definePlan, PermanentFailure } from '../../../src/index.js';
import { latch } from '../../queue/latch.js';
import { codeOf, scene } from './scene.js';

const s = scene();
type Input = { list: number[] };
const resize = defineJob<number>('resize', { retry: { attempts: 1 } });
const sum = defineJob<unknown>('sum', { retry: { attempts: 1 } });
const numbers = (n: number) => ({ list: Array.from({ length: n }, (_, index) => index) });

const over = (
  name: string,
  parallel: number,
  more: { onFailure?: 'pause'; optional?: boolean } = {},
) =>
  definePlan<Input>(
    name,
    { version: '1', ...(more.onFailure && { onFailure: more.onFailure }) },
    (p) => {
      const all = p.each('resize', resize, {
        over: p.input.list,
        parallel,
        ...(more.optional && { optional: true }),
      });
      p.step('sum', sum, { after: all, input: { done: true } });
    },
  );

test('every element is a job of its own with the element as its input, and the step ends with the last', async () => {
  const seen: unknown[] = [];
  const run = await s.writ.start(over('all', 4), numbers(25));
  await s.work([
    resize.handle(({ input, step }) => seen.push([step?.stepId, input])),
    sum.handle(() => undefined),
  ]);
  const snapshot = await s.ended(run.runId);
  expect(snapshot).toMatchObject({ status: 'COMPLETED', counts: { succeeded: 2 } });
  expect(snapshot.steps.find(({ stepId }) => stepId === 'resize')?.items).toMatchObject({
    total: 25,
    succeeded: 25,
    running: 0,
    failed: 0,
  });
  expect(new Map(seen as [string, number][])).toEqual(
    new Map(numbers(25).list.map((n) => [`resize[${n}]`, n])),
  );
  const log = await s.log(run.runId);
  expect(log.indexOf('StepCompleted resize')).toBeGreaterThan(
    Math.max(...numbers(25).list.map((n) => log.indexOf(`StepCompleted resize[${n}]`))),
  );
  expect(log.indexOf('StepStarted sum')).toBeGreaterThan(log.indexOf('StepCompleted resize'));
});

test('never more run at a time than the plan allows, whatever the number of workers', async () => {
  let running = 0;
  let most = 0;
  const handlers = [
    resize.handle(async () => {
      most = Math.max(most, ++running);
      await new Promise((turn) => setImmediate(turn));
      running--;
    }),
    sum.handle(() => undefined),
  ];
  const run = await s.writ.start(over('bounded', 3), numbers(40));
  for (let n = 0; n < 4; n++) await s.work(handlers, { concurrency: 10 });
  expect((await s.ended(run.runId)).status).toBe('COMPLETED');
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(3);
  // The log says so too, whatever the handlers saw.
  let open = 0;
  for (const line of await s.log(run.runId)) {
    if (line.startsWith('StepStarted resize[')) open++;
    if (line.startsWith('StepCompleted resize[')) open--;
    expect(open).toBeLessThanOrEqual(3);
  }
});

test('as many run at a time as the plan allows', async () => {
  const all = latch();
  let running = 0;
  const run = await s.writ.start(over('together', 3), numbers(3));
  await s.work([
    resize.handle(() => {
      if (++running === 3) all.open();
      return all.opened;
    }),
    sum.handle(() => undefined),
  ]);
  expect((await s.ended(run.runId)).status).toBe('COMPLETED');
});

test('an empty list ends its step at once', async () => {
  const run = await s.writ.start(over('empty', 3), { list: [] });
  expect(await s.log(run.runId)).toEqual([
    'RunStarted',
    'StepStarted resize',
    'StepCompleted resize',
  ]);
  await s.work([resize.handle(() => undefined), sum.handle(() => undefined)]);
  expect(await s.ended(run.runId)).toMatchObject({ status: 'COMPLETED', counts: { succeeded: 2 } });
});

describe('what is no list', () => {
  test.each([
    ['a text', 'abc'],
    ['nothing', undefined],
    ['an object', { length: 2 }],
    ['more than 10,000 elements', Array.from({ length: 10_001 }, () => 1)],
  ])('fails its step: %s', async (_, list) => {
    const run = await s.writ.start(over('none', 3), { list } as never);
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'FAILED',
      rootCause: { stepId: 'resize', errorCode: 'INVALID_LIST' },
    });
    expect(await s.log(run.runId)).toEqual([
      'RunStarted',
      'StepStarted resize',
      'StepFailed resize',
      'RunFailed',
    ]);
  });

  test('skips what depends on it, if the step is optional', async () => {
    const run = await s.writ.start(over('optional', 3, { optional: true }), {
      list: null,
    } as never);
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'COMPLETED',
      counts: { failed: 1, skipped: 1 },
    });
  });

  test('can be put right, and the step retried', async () => {
    const run = await s.writ.start(over('right', 3, { onFailure: 'pause' }), { list: 7 } as never);
    await s.untilStatus(run.runId, 'PAUSED');
    await s.writ.runs.signal(run.runId, { type: 'UPDATE_PARAMS', params: { list: [1, 2] } });
    await s.writ.runs.signal(run.runId, { type: 'RETRY_STEP', stepId: 'resize' });
    await s.work([resize.handle(({ input }) => input), sum.handle(() => undefined)]);
    const snapshot = await s.ended(run.runId);
    expect(snapshot).toMatchObject({ status: 'COMPLETED' });
    expect(snapshot.steps.find(({ stepId }) => stepId === 'resize')).toMatchObject({
      logicalAttemptId: '2',
      items: { total: 2, succeeded: 2 },
    });
  });
});

describe('when an element fails', () => {
  test('no further ones start, those that run go on to their end, and the step fails with its error', async () => {
    const begun = latch();
    const finish = latch();
    const started: number[] = [];
    const run = await s.writ.start(over('fails', 2), numbers(10));
    await s.work([
      resize.handle(async ({ input }) => {
        started.push(input);
        if (input === 0) {
          await begun.opened;
          throw new PermanentFailure('too dark', { code: 'dark' });
        }
        begun.open();
        await finish.opened;
      }),
      sum.handle(() => undefined),
    ]);
    await s.untilLog(run.runId, 'StepFailed resize[0]');
    expect(await s.log(run.runId)).not.toContain('StepFailed resize');
    finish.open();
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'FAILED',
      rootCause: { stepId: 'resize', errorCode: 'dark', errorMessage: 'too dark' },
    });
    expect(started.sort()).toEqual([0, 1]);
    expect(await s.log(run.runId)).toContain('StepCompleted resize[1]');
  });

  test('those that stand in the queue already do not start either', async () => {
    const run = await s.writ.start(over('queued', 60), numbers(60));
    const failing = resize.handle(() => {
      throw new PermanentFailure('too dark');
    });
    await s.work([failing], { concurrency: 1, batch: 1 });
    expect(await s.ended(run.runId)).toMatchObject({ status: 'FAILED' });
    const log = await s.log(run.runId);
    const begun = (lines: string[]) =>
      lines.filter((line) => line.startsWith('StepStarted resize['));
    expect(
      begun(log.slice(log.findIndex((line) => line.startsWith('StepFailed resize[')))),
    ).toEqual([]);
    expect(begun(log).length).toBeLessThan(60);
  });

  test('and is retried, only those that have not succeeded are done again', async () => {
    const attempts = new Map<number, number[]>();
    const run = await s.writ.start(over('again', 2, { onFailure: 'pause' }), numbers(6));
    await s.work([
      resize.handle(({ input, step }) => {
        attempts.set(input, [...(attempts.get(input) ?? []), step?.attempt as number]);
        if (input === 3 && step?.attempt === 1) throw new PermanentFailure('too dark');
      }),
      sum.handle(() => undefined),
    ]);
    await s.untilStatus(run.runId, 'PAUSED');
    const done = (await s.log(run.runId))
      .flatMap((line) => /^StepCompleted resize\[(\d)\]$/.exec(line)?.[1] ?? [])
      .map(Number);
    await s.writ.runs.signal(run.runId, { type: 'RETRY_STEP', stepId: 'resize' });
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
    for (const n of numbers(6).list)
      expect([n, attempts.get(n)]).toEqual([n, n === 3 ? [1, 2] : done.includes(n) ? [1] : [2]]);
  });
});

test('a step over the output of another goes over what that gave, in a template of its own', async () => {
  const shout = defineJob<{ word: string; run: string }>('shout');
  const split = defineJob<undefined>('split');
  const words: unknown[] = [];
  const plan = definePlan('chain', { version: '1' }, (p) => {
    const a = p.step<{ words: string[] }>('split', split);
    p.each('shout', shout, {
      over: a.output.words,
      parallel: 2,
      input: (item) => ({ word: item, run: p.run.id }),
    });
  });
  const run = await s.writ.start(plan);
  await s.work([
    split.handle(() => ({ words: ['a', 'b'] })),
    shout.handle(({ input }) => words.push(input)),
  ]);
  expect((await s.ended(run.runId)).status).toBe('COMPLETED');
  expect(words).toHaveLength(2);
  expect(words).toEqual(
    expect.arrayContaining([
      { word: 'a', run: run.runId },
      { word: 'b', run: run.runId },
    ]),
  );
});

test('a step that goes over a list cannot be skipped while it runs', async () => {
  const finish = latch();
  const run = await s.writ.start(over('running', 2), numbers(2));
  await s.work([resize.handle(() => finish.opened), sum.handle(() => undefined)]);
  await s.untilLog(run.runId, 'StepStarted resize[1]');
  expect(await codeOf(s.writ.runs.signal(run.runId, { type: 'SKIP_STEP', stepId: 'resize' }))).toBe(
    'STEP_NOT_TERMINAL',
  );
  finish.open();
  expect((await s.ended(run.runId)).status).toBe('COMPLETED');
});

test('the outputs of the elements are artifacts of the step and of the run', async () => {
  const run = await s.writ.start(over('kept', 4), numbers(5));
  await s.work([resize.handle(({ input }) => ({ size: input })), sum.handle(() => undefined)]);
  const { steps, artifacts } = await s.ended(run.runId);
  const ofElements = (await s.writ.runs.events(run.runId)).items
    .filter(
      ({ eventType, stepId }) => eventType === 'StepCompleted' && /^resize\[\d\]$/.test(stepId),
    )
    .flatMap(({ eventData }) => (eventData as { artifacts: unknown[] }).artifacts);
  expect(ofElements).toHaveLength(5);
  expect(steps.find(({ stepId }) => stepId === 'resize')?.artifacts).toEqual(ofElements);
  expect(artifacts).toEqual(ofElements);
});
