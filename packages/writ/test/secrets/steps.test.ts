/**
 * Handlers get the secrets that their plans name, and nobody gets one by writing its name into
 * data; what handlers leave behind has none in it.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  defineJob,
  definePlan,
  type HandledJob,
  type Plan,
  type SecretContext,
  type SecretsProvider,
  type WorkerOptions,
  type Writ,
  type WritError,
} from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';

const values: Record<string, string> = {};
let asked: { names: string[]; context: SecretContext }[];
const provider: SecretsProvider = {
  resolve: async (refs, context) => {
    asked.push({ names: refs.map(({ $secret }) => $secret), context });
    return Object.fromEntries(
      refs.flatMap(({ $secret: name }) =>
        values[name] === undefined ? [] : [[name, values[name]]],
      ),
    );
  },
};

let db: TestDatabase;
let writ: Writ;
let heard: WritError[];
beforeEach(async () => {
  for (const name of Object.keys(values)) delete values[name];
  Object.assign(values, {
    'stripe-key': 'value-of-the-stripe-key',
    'db/password': 'value-of-the-db-password',
  });
  asked = [];
  heard = [];
  db = await testDatabase();
  writ = await db.connect({ secrets: provider });
});
afterEach(() => db.drop());

const retry = { attempts: 3, base: '1ms', cap: '1ms' } as const;
const call = defineJob<unknown>('call', { retry });
const undo = defineJob<unknown>('undo', { retry });
const fail = defineJob<unknown>('fail', { retry: { attempts: 1 } });
const work = (handlers: readonly HandledJob[], options: WorkerOptions = {}) =>
  writ.work(handlers, {
    poll: '20ms',
    onError: (error) => void heard.push(error as WritError),
    ...options,
  });

/** Runs a plan to its end; answers the inputs that the handler of `call` was given. */
async function inputsOf<Input>(
  plan: Plan<Input>,
  input: Input,
  options: object = {},
): Promise<unknown[]> {
  const inputs: unknown[] = [];
  await work([
    call.handle(({ input: given }) => void inputs.push(structuredClone(given))),
    undo.handle(({ input: given }) => void inputs.push({ undo: structuredClone(given) })),
    fail.handle(() => {
      throw new Error('no');
    }),
  ]);
  await (
    await (writ.start as (...args: unknown[]) => ReturnType<Writ['start']>)(plan, input, options)
  ).finished({ timeoutMs: 15_000 });
  return inputs;
}

describe('the input of a step', () => {
  test('has the secrets that the plan names, at their places, asked for in one call, for the tenant and environment of the run', async () => {
    const plan = definePlan<{ id: string }>('places', { version: '1' }, (p) => {
      p.step('call', call, {
        input: {
          id: p.input.id,
          apiKey: { $secret: 'stripe-key' },
          dbs: [{ password: { $secret: 'db/password' } }, { $secret: 'db/password' }],
        },
      });
    });
    expect(await inputsOf(plan, { id: 'o-1' }, { tenant: 'acme', environment: 'prod' })).toEqual([
      {
        id: 'o-1',
        apiKey: values['stripe-key'],
        dbs: [{ password: values['db/password'] }, values['db/password']],
      },
    ]);
    expect(asked).toEqual([
      {
        names: expect.arrayContaining(['stripe-key', 'db/password']),
        context: { tenantId: 'acme', environmentId: 'prod' },
      },
    ]);
    // What stands in the database is the reference.
    const [row] = await db.query(
      `select j.input::text as input from writ_data.job j where j.job_kind = 'call'`,
    );
    expect(row?.input).toContain('{"$secret": "stripe-key"}');
  });

  test('may be a secret as a whole', async () => {
    const plan = definePlan('whole', { version: '1' }, (p) =>
      p.step('call', call, { input: { $secret: 'stripe-key' } }),
    );
    expect(await inputsOf(plan, undefined)).toEqual([values['stripe-key']]);
  });

  test('has no secret that came with data: not of the run, not of an element, not of another step', async () => {
    const planted = { $secret: 'stripe-key' };
    const plan = definePlan<{ a: unknown; list: unknown[] }>('data', { version: '1' }, (p) => {
      const first = p.step('first', call); // the run's input as it is
      const second = p.step('second', call, {
        after: first,
        input: { a: p.input.a, key: { $secret: 'db/password' } },
      });
      p.each('each', call, { after: second, over: p.input.list as never, parallel: 1 });
    });
    expect(await inputsOf(plan, { a: planted, list: [planted, { deep: planted }] })).toEqual([
      { a: planted, list: [planted, { deep: planted }] },
      { a: planted, key: values['db/password'] },
      planted,
      { deep: planted },
    ]);
    expect(asked.flatMap(({ names }) => names)).toEqual(['db/password']);
  });

  test('of elements and of what undoes a step has its secrets too', async () => {
    const plan = definePlan<{ list: { id: number }[] }>('undone', { version: '1' }, (p) => {
      const one = p.step('one', call, {
        input: { key: { $secret: 'stripe-key' } },
        compensate: undo,
      });
      const each = p.each('each', call, {
        after: one,
        over: p.input.list as never,
        parallel: 1,
        input: (item: { id: unknown }) => ({ id: item.id, key: { $secret: 'stripe-key' } }),
        compensate: {
          job: undo,
          input: (_: unknown, item: { id: unknown }) => ({
            of: item.id,
            password: { $secret: 'db/password' },
          }),
        },
      } as never);
      p.step('fail', fail, { after: each });
    });
    expect(await inputsOf(plan, { list: [{ id: 1 }] })).toEqual([
      { key: values['stripe-key'] },
      { id: 1, key: values['stripe-key'] },
      { undo: { of: 1, password: values['db/password'] } },
      { undo: { key: values['stripe-key'] } },
    ]);
  });

  test('is held against the schema of the job with its secrets in it', async () => {
    const strict = defineJob('strict', { input: z.object({ apiKey: z.string().min(10) }), retry });
    const plan = definePlan('strict', { version: '1' }, (p) =>
      p.step('strict', strict, { input: { apiKey: { $secret: 'stripe-key' } } }),
    );
    const inputs: unknown[] = [];
    await work([strict.handle(({ input }) => void inputs.push(input.apiKey))]);
    expect((await (await writ.start(plan)).finished({ timeoutMs: 15_000 })).status).toBe(
      'COMPLETED',
    );
    expect(inputs).toEqual([values['stripe-key']]);
  });
});

describe('a secret that cannot be had', () => {
  const plan = definePlan('needs', { version: '1' }, (p) =>
    p.step('call', call, { input: { key: { $secret: 'late-key' } } }),
  );

  test('fails its step after the retries, under its name, and the handler is not called', async () => {
    const run = await writ.start(plan);
    let calls = 0;
    await work([call.handle(() => void calls++)]);
    expect((await run.finished({ timeoutMs: 15_000 })).rootCause).toMatchObject({
      stepId: 'call',
      errorCode: 'secret_not_found',
    });
    expect(calls).toBe(0);
    expect(heard.map(({ code, detail }) => [code, detail])).toEqual(
      Array(3).fill(['secret_not_found', 'late-key']),
    );
  });

  test('is used as soon as it is there', async () => {
    const run = await writ.start(plan);
    const given: unknown[] = [];
    await work([call.handle(({ input }) => void given.push(input))], {
      onError: () => {
        values['late-key'] = 'value-of-the-late-key';
      },
    });
    expect((await run.finished({ timeoutMs: 15_000 })).status).toBe('COMPLETED');
    expect(given).toEqual([{ key: 'value-of-the-late-key' }]);
  });

  test('because nobody said where secrets are fails its step, and says so', async () => {
    await writ.close();
    writ = await db.connect();
    const run = await writ.start(plan);
    await work([call.handle(() => undefined)]);
    expect((await run.finished({ timeoutMs: 15_000 })).rootCause?.errorCode).toBe(
      'secrets_not_configured',
    );
  });

  test('in time does not let the handler begin behind the back of its job', async () => {
    await writ.close();
    let answer: (found: Record<string, string>) => void = () => undefined;
    writ = await db.connect({ secrets: { resolve: () => new Promise((done) => (answer = done)) } });
    const slow = definePlan('slow', { version: '1' }, (p) => {
      p.step('call', call, {
        input: { key: { $secret: 'late-key' } },
        timeout: '50ms',
        retry: { attempts: 1 },
      });
    });
    const run = await writ.start(slow);
    let calls = 0;
    await work([call.handle(() => void calls++)]);
    expect((await run.finished({ timeoutMs: 15_000 })).rootCause?.errorCode).toBe('timeout');
    answer({ 'late-key': 'value-of-the-late-key' });
    await new Promise((turn) => setImmediate(turn));
    expect(calls).toBe(0);
  });
});

describe('a handler', () => {
  test('asks for a secret by its name, also in a job that is no step', async () => {
    const job = defineJob<{ planted: unknown }>('asks', { retry });
    const seen = new Promise<unknown>((done) => {
      void work([
        job.handle(async ({ input, secret }) => done([input, await secret('stripe-key')])),
      ]);
    });
    await writ.enqueue(job, { planted: { $secret: 'db/password' } }, { tenant: 'acme' });
    // In the input of a job the name of a secret is data: whoever enqueues may not be somebody who
    // may read it.
    expect(await seen).toEqual([{ planted: { $secret: 'db/password' } }, values['stripe-key']]);
    expect(asked).toEqual([
      { names: ['stripe-key'], context: { tenantId: 'acme', environmentId: 'default' } },
    ]);
  });

  test('that passes a secret on is refused, whichever way it takes, and is told the name', async () => {
    const job = defineJob<unknown>('passes', { retry: { attempts: 1 } });
    const other = defineJob<unknown>('other');
    const waits = definePlan<unknown>('waits', { version: '1' }, (p) => void p.waitFor('word'));
    const waiting = await writ.start(waits, {});
    const refused: [string, string | undefined][] = [];
    const seen = new Promise<void>((done) => {
      void work([
        job.handle(async ({ secret }) => {
          const key = await secret('stripe-key');
          const ways: Record<string, () => Promise<unknown>> = {
            enqueue: () => writ.enqueue(other, { key }),
            'enqueue in base64': () =>
              writ.enqueue(other, Buffer.from(`ada:${key}`).toString('base64')),
            'enqueue with a key': () => writ.enqueue(other, {}, { key }),
            'enqueue with a label': () => writ.enqueue(other, {}, { labels: { note: key } }),
            enqueueMany: () => writ.enqueueMany(other, [{ input: 1 }, { input: key }]),
            'enqueue in a transaction': () =>
              writ.enqueue(
                other,
                { key },
                { db: { query: (sql, params) => db.query(sql, params) } },
              ),
            emitGraph: () =>
              writ.emitGraph({ kind: 'g', generator: 'g' }, [{ job: other, input: key }]),
            schedule: () => writ.schedules.put('s', other, { cron: '@daily', input: { key } }),
            start: () => writ.start(waits, { key }),
            deliver: () => writ.runs.deliver(waiting.runId, 'word', { key }),
            signal: () => writ.runs.signal(waiting.runId, { type: 'CANCEL', reason: key }),
            'cancel with a reason': () => writ.jobs.cancel(waiting.runId, { reason: key }),
            'replay with a triage': () => writ.jobs.requeue(waiting.runId, { reason: key }),
          };
          for (const [way, take] of Object.entries(ways)) {
            const error = await take().then(
              () => undefined,
              (thrown: WritError) => thrown,
            );
            refused.push([
              way,
              `${error?.code} ${/the value of (.*)$/.exec(error?.detail ?? '')?.[1]}`,
            ]);
            expect(error?.message).not.toContain(key);
          }
          done();
        }),
      ]);
    });
    await writ.enqueue(job, {});
    await seen;
    expect(refused.filter(([, what]) => what !== 'secret_inside stripe-key')).toEqual([]);
    expect(refused).toHaveLength(13);
  });

  test('that puts a secret into a plan is refused, whatever it looks like', async () => {
    const job = defineJob('plans', { retry: { attempts: 1 } });
    const seen = new Promise<WritError>((done) => {
      void work([
        job.handle(async ({ secret }) => {
          const key = await secret('stripe-key');
          try {
            definePlan(
              'p',
              { version: '1' },
              (p) => void p.step('call', call, { input: { note: `with ${key}` } }),
            );
          } catch (error) {
            done(error as WritError);
          }
        }),
      ]);
    });
    await writ.enqueue(job);
    expect((await seen).code).toBe('PLAN_SECRET_INSIDE');
    expect((await seen).message).not.toContain(values['stripe-key']);
  });

  test('that returns a secret leaves its name in the result, and its worker tells of it', async () => {
    const plan = definePlan('returns', { version: '1' }, (p) => {
      const first = p.step('first', call, { input: { key: { $secret: 'stripe-key' } } });
      p.step('second', undo, { input: { echo: first.output.echo } });
    });
    const inputs: unknown[] = [];
    await work([
      call.handle(({ input }) => ({ echo: `Bearer ${(input as { key: string }).key}` })),
      undo.handle(({ input }) => void inputs.push(input)),
    ]);
    expect((await (await writ.start(plan)).finished({ timeoutMs: 15_000 })).status).toBe(
      'COMPLETED',
    );
    expect(inputs).toEqual([{ echo: 'Bearer «secret stripe-key»' }]);
    expect(heard.map(({ code }) => code)).toEqual(['secret_in_result']);
  });

  test('that commits, reports progress or throws with a secret leaves its name', async () => {
    const plan = definePlan('throws', { version: '1' }, (p) => {
      const done = p.step('commits', call, { input: { key: { $secret: 'stripe-key' } } });
      p.step('throws', fail, { after: done, input: { key: { $secret: 'stripe-key' } } });
    });
    await work([
      call.handle(async ({ input, commit, progress }) => {
        const { key } = input as { key: string };
        await progress(`with ${key}`);
        await commit(() => ({ echo: key }));
      }),
      fail.handle(({ input }) => {
        const { key } = input as { key: string };
        throw Object.assign(new Error(`401 for ${key}`, { cause: new Error(key) }), { code: key });
      }),
    ]);
    const run = await writ.start(plan);
    const { rootCause } = await run.finished({ timeoutMs: 15_000 });
    expect(rootCause).toEqual({
      stepId: 'throws',
      errorCode: '«secret stripe-key»',
      errorMessage: '401 for «secret stripe-key»',
    });
    const [row] = await db.query(
      `select e.result::text as result from writ_data.job_execution e join writ_data.job j using (job_id) where j.job_kind = 'call'`,
    );
    expect(JSON.parse(String(row?.result))).toEqual({ echo: '«secret stripe-key»' });
    const failure = heard.find(({ message }) => message.startsWith('401'));
    expect(failure).toMatchObject({
      message: '401 for «secret stripe-key»',
      cause: { message: '«secret stripe-key»' },
    });
    expect(failure?.stack).not.toContain(values['stripe-key']);
  });
});
