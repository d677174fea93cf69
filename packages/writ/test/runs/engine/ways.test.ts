/** Ways through a plan: what starts when, what is skipped, and what a step is given. */
import { describe, expect, test } from 'vitest';
import {
  defineJob,
  definePlan,
  type JobContext,
  PermanentFailure,
  when,
} from '../../../src/index.js';
import { scene } from './scene.js';

const s = scene();
type Order = { id: string; total: number; tags: string[] };
const order: Order = { id: 'o-1', total: 30, tags: ['new', 'gift'] };
const note = defineJob<Order>('note', { retry: { attempts: 1 } });
const take = defineJob<unknown>('take', { retry: { attempts: 1 } });

/** A handler that answers by step, and remembers what each was given. */
function recorder(answers: Record<string, unknown> = {}) {
  const given = new Map<string, unknown>();
  const handler = ({ input, step }: JobContext<unknown>) => {
    given.set(step?.stepId as string, input);
    const answer = answers[step?.stepId as string];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { given, handlers: [note.handle(handler), take.handle(handler)] };
}

describe('order', () => {
  test('steps in a row run one after the other, and the run completes with the last', async () => {
    const plan = definePlan<Order>('row', { version: '1' }, (p) => {
      const a = p.step('a', note);
      const b = p.step('b', note, { after: a });
      p.step('c', note, { after: b });
    });
    const run = await s.writ.start(plan, order);
    await s.work(recorder().handlers);
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'COMPLETED',
      counts: { succeeded: 3, running: 0 },
    });
    expect(await s.log(run.runId)).toEqual([
      'RunStarted',
      ...['a', 'b', 'c'].flatMap((id) => [`StepStarted ${id}`, `StepCompleted ${id}`]),
      'RunCompleted',
    ]);
  });

  test('a join waits for all that it comes after', async () => {
    const plan = definePlan<Order>('diamond', { version: '1' }, (p) => {
      const top = p.step('top', note);
      const sides = ['left', 'middle', 'right'].map((id) => p.step(id, note, { after: top }));
      p.step('bottom', note, { after: sides });
    });
    const run = await s.writ.start(plan, order);
    await s.work(recorder().handlers);
    await s.ended(run.runId);
    const log = await s.log(run.runId);
    for (const side of ['left', 'middle', 'right']) {
      expect(log.indexOf(`StepStarted ${side}`)).toBeGreaterThan(log.indexOf('StepCompleted top'));
      expect(log.indexOf(`StepCompleted ${side}`)).toBeLessThan(log.indexOf('StepStarted bottom'));
    }
    expect(log.filter((line) => line === 'StepStarted bottom')).toHaveLength(1);
  });

  test('steps that come after nothing all start with the run, and the run waits for each last one', async () => {
    const plan = definePlan<Order>('roots', { version: '1' }, (p) => {
      for (const id of ['a', 'b', 'c']) p.step(id, note);
    });
    const run = await s.writ.start(plan, order);
    await s.work(recorder().handlers);
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'COMPLETED',
      counts: { succeeded: 3 },
    });
  });

  test('what only part of the plan comes after does not hold up the rest', async () => {
    const plan = definePlan<Order>('uneven', { version: '1' }, (p) => {
      const a = p.step('a', note);
      const wait = p.waitFor('word');
      const b = p.step('b', note, { after: a });
      p.step('c', note, { after: [b, wait] });
    });
    const run = await s.writ.start(plan, order);
    await s.work(recorder().handlers);
    await s.untilLog(run.runId, 'StepCompleted b');
    expect(await s.log(run.runId)).not.toContain('StepStarted c');
    await s.writ.runs.deliver(run.runId, 'word');
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
  });
});

describe('conditions', () => {
  test('a step whose condition does not hold is skipped, and what comes after it runs', async () => {
    const plan = definePlan<Order>('when', { version: '1' }, (p) => {
      const a = p.step<{ stock: number }>('a', note);
      const b = p.step('b', note, { when: when.above(a.output.stock, 5) });
      p.step('c', note, { after: b });
      p.step('d', note, { when: when.is(p.input.total, 30), after: b });
    });
    const run = await s.writ.start(plan, order);
    await s.work(recorder({ a: { stock: 5 } }).handlers);
    const snapshot = await s.ended(run.runId);
    expect(snapshot).toMatchObject({
      status: 'COMPLETED',
      counts: { succeeded: 3, skipped: 1, failed: 0 },
    });
    expect(snapshot.steps.find(({ stepId }) => stepId === 'b')).toMatchObject({
      status: 'SKIPPED',
      reasonCode: 'CONDITION_FALSE',
    });
  });

  test('a first step can be skipped as the run starts, and a run whose steps all are completes without a worker', async () => {
    const plan = definePlan<Order>('none', { version: '1' }, (p) => {
      const a = p.step('a', note, { when: when.above(p.input.total, 1000) });
      p.step('b', note, { after: a, when: when.not(when.exists(p.input.id)) });
    });
    const run = await s.writ.start(plan, order);
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'COMPLETED',
      counts: { skipped: 2, succeeded: 0 },
    });
    expect(await s.log(run.runId)).toEqual([
      'RunStarted',
      'StepSkipped a',
      'StepSkipped b',
      'RunCompleted',
    ]);
  });

  test('the output of a step that was skipped is not there for those that ask for it', async () => {
    const { given, handlers } = recorder();
    const plan = definePlan<Order>('absent', { version: '1' }, (p) => {
      const a = p.step<{ n: number }>('a', note, { when: when.is(p.input.id, 'another') });
      p.step('b', take, { input: { n: a.output.n, all: a.output } });
      p.step('c', note, { when: when.not(when.exists(a.output)) });
    });
    const run = await s.writ.start(plan, order);
    await s.work(handlers);
    expect((await s.ended(run.runId)).counts).toMatchObject({ succeeded: 2, skipped: 1 });
    expect(given.get('b')).toEqual({ n: null, all: null });
  });
});

describe('failure', () => {
  const broken = new PermanentFailure('the printer is on fire', { code: 'printer' } as never);

  test('of an optional step skips what depends on it, and that in turn, and the run completes', async () => {
    const plan = definePlan<Order>('optional', { version: '1' }, (p) => {
      const a = p.step('a', note, { optional: true });
      const b = p.step('b', note, { after: a });
      p.step('c', note, { after: b });
      p.step('d', note);
    });
    const run = await s.writ.start(plan, order);
    await s.work(recorder({ a: broken }).handlers);
    const snapshot = await s.ended(run.runId);
    expect(snapshot).toMatchObject({
      status: 'COMPLETED',
      counts: { succeeded: 1, failed: 1, skipped: 2 },
    });
    for (const id of ['b', 'c'])
      expect(snapshot.steps.find(({ stepId }) => stepId === id)).toMatchObject({
        status: 'SKIPPED',
        reasonCode: 'DEPENDENCY_FAILED',
      });
  });

  test('of an optional last step completes the run', async () => {
    const plan = definePlan<Order>('last', { version: '1' }, (p) => {
      const a = p.step('a', note);
      p.step('b', note, { after: a, optional: true });
    });
    const run = await s.writ.start(plan, order);
    await s.work(recorder({ b: broken }).handlers);
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'COMPLETED',
      counts: { succeeded: 1, failed: 1 },
    });
  });

  test('of a step fails the run, which names it as the cause, and nothing more starts', async () => {
    const { given, handlers } = recorder({ b: broken });
    const plan = definePlan<Order>('fails', { version: '1' }, (p) => {
      const a = p.step('a', note);
      const b = p.step('b', note, { after: a });
      p.step('c', note, { after: b });
    });
    const run = await s.writ.start(plan, order);
    await s.work(handlers);
    const snapshot = await s.ended(run.runId);
    expect(snapshot).toMatchObject({
      status: 'FAILED',
      rootCause: { stepId: 'b', errorMessage: 'the printer is on fire' },
    });
    expect(snapshot.undone).toBeUndefined();
    expect([...given.keys()]).toEqual(['a', 'b']);
  });
});

describe('what a step is given', () => {
  test('is the input of the run, unless the plan says otherwise', async () => {
    const { given, handlers } = recorder({
      first: { list: [{ n: 7 }], text: 'a "quoted" 💡', nothing: null },
    });
    const plan = definePlan<Order>('given', { version: '1' }, (p) => {
      const first = p.step<{ list: { n: number }[]; text: string; nothing: null }>('first', note);
      p.step('second', take, {
        input: {
          order: p.input.id,
          tags: p.input.tags,
          run: p.run.id,
          n: first.output.list[0]?.n,
          text: first.output.text,
          nested: [{ whole: first.output }, 1, null, 'x'],
          nothing: first.output.nothing,
          missing: first.output.list[9]?.n,
        },
      });
    });
    const run = await s.writ.start(plan, order);
    await s.work(handlers);
    await s.ended(run.runId);
    expect(given.get('first')).toEqual(order);
    const whole = { list: [{ n: 7 }], text: 'a "quoted" 💡', nothing: null };
    expect(given.get('second')).toEqual({
      order: 'o-1',
      tags: ['new', 'gift'],
      run: run.runId,
      n: 7,
      text: 'a "quoted" 💡',
      nested: [{ whole }, 1, null, 'x'],
      nothing: null,
      missing: null,
    });
  });

  test('tells which step of which run it is, and the event points to its output without holding it', async () => {
    const plan = definePlan<Order>('tells', { version: '2.1.0' }, (p) => {
      p.step('only', note);
    });
    const seen: unknown[] = [];
    const run = await s.writ.start(plan, order);
    await s.work([
      note.handle(({ step }) => {
        seen.push(step);
        return { secret: 'of the result' };
      }),
    ]);
    const snapshot = await s.ended(run.runId);
    expect(seen).toEqual([
      { runId: run.runId, stepId: 'only', attempt: 1, planId: 'tells', planVersion: '2.1.0' },
    ]);
    const [row] = await s.db.query(
      `select j.job_id, e.result, encode(sha256(convert_to(e.result::text, 'UTF8')), 'hex') as sha256, octet_length(e.result::text) as size
       from writ_data.job j join writ_data.job_execution e using (job_id) where j.run_id = $1`,
      [run.runId],
    );
    expect(row?.result).toEqual({ secret: 'of the result' });
    expect(snapshot.artifacts).toEqual([
      {
        uri: `writ:result/${row?.job_id}`,
        kind: 'output',
        sha256: row?.sha256,
        sizeBytes: row?.size,
      },
    ]);
    expect(JSON.stringify((await s.writ.runs.events(run.runId)).items)).not.toContain(
      'of the result',
    );
  });

  test('of two steps with the same kind is told apart', async () => {
    const { given, handlers } = recorder();
    const plan = definePlan<Order>('same', { version: '1' }, (p) => {
      p.step('one', take, { input: { n: 1 } });
      p.step('two', take, { input: { n: 2 } });
    });
    const run = await s.writ.start(plan, order);
    await s.work(handlers);
    await s.ended(run.runId);
    expect(Object.fromEntries(given)).toEqual({ one: { n: 1 }, two: { n: 2 } });
  });
});

test('a run that starts in a transaction that is rolled back never was', async () => {
  const plan = definePlan<Order>('rolled', { version: '1' }, (p) => {
    p.step('a', note);
  });
  await s.writ.runs.register(plan as never);
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: s.db.connectionString });
  await client.connect();
  try {
    await client.query('begin');
    const lost = await s.writ.start(plan, order, { db: client });
    await client.query('rollback');
    await client.query('begin');
    const kept = await s.writ.start(plan, order, { db: client });
    await client.query('commit');
    await s.work(recorder().handlers);
    expect((await s.ended(kept.runId)).status).toBe('COMPLETED');
    expect((await s.writ.runs.list()).items.map(({ runId }) => runId)).toEqual([kept.runId]);
    expect(lost.runId).not.toBe(kept.runId);
  } finally {
    await client.end();
  }
});
