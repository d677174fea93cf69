/** Whatever a handler throws, its worker goes on, and the record says what was thrown and where. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defineJob, type Writ, WritError } from '../../src/index.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';

let db: TestDatabase;
let writ: Writ;

const step = defineJob<{ n: number }>('step', { retry: { attempts: 3, base: '7d', cap: '7d' } });

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
});
afterEach(() => db.drop());

const executions = () =>
  db.query(
    'select status, error_code, error_message, error_stack from writ.job_execution order by job_id',
  );

class Sly extends Error {
  override get message(): string {
    throw new Error('nobody reads me');
  }
}

const throwing = (name: string) =>
  Object.defineProperty(new Error('plain'), name, {
    get: () => {
      throw new Error('nobody reads me');
    },
  });

/** An error whose message can be read so many times. */
function shy(times: number): Error {
  let looks = 0;
  return Object.defineProperty(new Error('x'), 'message', {
    get: () => {
      if (looks++ >= times) throw new Error('enough');
      return 'seen';
    },
  });
}

const values: Record<string, [thrown: unknown, message: RegExp]> = {
  undefined: [undefined, /^undefined$/],
  'a text': ['plain words', /^plain words$/],
  'a symbol': [Symbol('odd'), /odd/],
  'an object without a prototype': [
    Object.assign(Object.create(null), { message: 'bare' }),
    /^bare$/,
  ],
  'an object whose message is a number': [{ message: 42 }, /42/],
  'an error whose message is an object': [
    Object.assign(new Error('x'), { message: { deep: 1 } }),
    /deep/,
  ],
  'an error whose message throws': [Object.create(Sly.prototype), /cannot be read|threw/],
  'an error whose code throws': [throwing('code'), /^plain$/],
  'an error whose code is a NUL character': [
    Object.assign(new Error('plain'), { code: '\0' }),
    /^plain$/,
  ],
  'an error whose cause throws': [throwing('cause'), /^plain$/],
  'an error whose cause cannot be read': [
    new Error('plain', { cause: throwing('cause') }),
    /^plain$/,
  ],
  'an error whose name is a symbol': [
    Object.assign(new Error('plain'), { name: Symbol('n'), stack: undefined }),
    /^plain$/,
  ],
  'an error that can be read once': [shy(1), /seen|cannot be read|threw/],
  'an error that can be read twice': [shy(2), /seen|cannot be read|threw/],
  'an error that can be read three times': [shy(3), /seen|cannot be read|threw/],
  'a proxy that throws at every look': [
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('no');
        },
        getPrototypeOf: () => {
          throw new Error('no');
        },
      },
    ),
    /cannot be read/,
  ],
};

test.each(Object.entries(values))(
  'a handler that throws %s fails its job and no other',
  async (_, [thrown, message]) => {
    await writ.enqueueMany(step, [{ input: { n: 1 } }, { input: { n: 2 } }]);
    const handler = step.handle(({ input }) => {
      if (input.n === 1) throw thrown;
    });
    let heard = 0;
    const spy = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    await runUntilIdle(writ, [handler], {
      onError: () => {
        heard++;
        throw thrown; // the worker prints it
      },
    });
    spy.mockRestore();
    const [failed, done] = await executions();
    expect(failed).toMatchObject({
      status: 'ABORTED',
      error_code: 'handler_error',
      error_message: expect.stringMatching(message),
    });
    expect(done).toMatchObject({ status: 'DONE' });
    expect(heard).toBe(1);
  },
);

test('the stack of an error and of its causes is kept with the execution', async () => {
  await writ.enqueue(step, { n: 1 });
  const handler = step.handle(function failing() {
    throw new Error('outer', { cause: new TypeError('inner', { cause: 'a text' }) });
  });
  await runUntilIdle(writ, [handler], { onError: () => undefined });
  const [row] = await executions();
  expect(row?.error_stack).toMatch(/^Error: outer\n\s+at .*failing.*thrown-values/);
  expect(row?.error_stack).toMatch(/\nCaused by: TypeError: inner\n/);
  expect(row?.error_stack).toMatch(/\nCaused by: Error: a text$/);
});

test('prints where an attempt failed unless somebody listens', async () => {
  await writ.enqueue(step, { n: 1 });
  const written: string[] = [];
  const spy = vi
    .spyOn(process.stderr, 'write')
    .mockImplementation((text) => written.push(String(text)) > 0);
  const handler = step.handle(function failing() {
    throw new Error('outer\u001b[2J', { cause: new TypeError('inner') });
  });
  const worker = await writ.work([handler], { poll: '20ms' });
  await expect.poll(() => written.join('')).toContain('Caused by');
  await worker.stop();
  spy.mockRestore();
  expect(written.join('')).toMatch(
    /^writ: step \S+ attempt 1: outer.\[2J\n {2}at .*failing.*thrown-values.*\n/,
  );
  expect(written.join('')).toMatch(/\n {2}Caused by: TypeError: inner\n {2}at /);
  expect(written.join('')).not.toContain('\u001b');
});

test('a stack has at most 8,000 characters, also at the gate', async () => {
  await writ.enqueue(step, { n: 1 });
  const handler = step.handle(() => {
    throw Object.assign(new Error('long'), { stack: 'x'.repeat(100_000) });
  });
  await runUntilIdle(writ, [handler], { onError: () => undefined });
  expect(String((await executions())[0]?.error_stack)).toHaveLength(8_000);
});

test('refuses two handlers for one kind', async () => {
  const twice = writ.work([step.handle(() => 1), step.handle(() => 2)]);
  await expect(twice).rejects.toThrow(WritError);
  await expect(twice).rejects.toMatchObject({ code: 'kind_handled_twice' });
});
