import type { StandardSchemaV1 } from '@standard-schema/spec';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { defineJob, type Writ, WritRefusal } from '../../src/index.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';

let db: TestDatabase;
let writ: Writ;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
});
afterEach(() => db.drop());

const order = defineJob('order', {
  input: z.object({
    orderId: z.string().min(3),
    lines: z.array(z.object({ sku: z.string() })).default([]),
  }),
});
const onDay = defineJob('on-day', {
  input: z.object({ day: z.iso.date().transform((day) => new Date(day)) }),
});

test('an input that does not fit its schema is refused before it reaches the database', async () => {
  const outcome = await writ.tryEnqueue(order, { orderId: 'x' });
  expect(outcome).toMatchObject({ name: 'WritRefusal', code: 'invalid_input', retryable: false });
  expect(await db.query('select from writ.job_queue')).toEqual([]);
});

test('the refusal names the place and what is wrong there', async () => {
  const outcome = await writ.tryEnqueue(order, { orderId: 'o-1', lines: [{ sku: 7 as never }] });
  expect((outcome as WritRefusal).detail).toMatch(/^order: lines\.0\.sku: .*string/);
});

test('in bulk, the item that does not fit is refused by itself', async () => {
  const outcomes = await writ.tryEnqueueMany(order, [
    { input: { orderId: 'o-1' } },
    { input: { orderId: 'x' } },
  ]);
  expect(outcomes.map((outcome) => outcome instanceof WritRefusal)).toEqual([false, true]);
});

test('in bulk, all or nothing holds for schemas too', async () => {
  await expect(
    writ.enqueueMany(order, [{ input: { orderId: 'o-1' } }, { input: { orderId: 'x' } }]),
  ).rejects.toMatchObject({
    code: 'invalid_input',
  });
  expect(await db.query('select from writ.job_queue')).toEqual([]);
});

test('a handler gets the input as its schema makes it: defaults filled in', async () => {
  await writ.enqueue(order, { orderId: 'o-1' });
  const seen: unknown[] = [];
  await runUntilIdle(writ, [order.handle(({ input }) => void seen.push(input))]);
  expect(seen).toEqual([{ orderId: 'o-1', lines: [] }]);
});

test('a handler gets the input as its schema makes it: values transformed', async () => {
  await writ.enqueue(onDay, { day: '2026-07-26' });
  const seen: Date[] = [];
  await runUntilIdle(writ, [onDay.handle(({ input }) => void seen.push(input.day))]);
  expect(seen).toEqual([new Date('2026-07-26')]);
});

test('every attempt gets the transformed input, from the input as it was sent', async () => {
  const again = defineJob('again', {
    input: z.object({ n: z.number().transform((n) => n + 1) }),
    retry: { attempts: 3 },
  });
  await writ.enqueue(again, { n: 1 });
  const seen: number[] = [];
  const handler = again.handle(({ input }) => {
    seen.push(input.n);
    throw new Error('once more');
  });
  await runUntilIdle(writ, [handler], { skipTime: db });
  expect(seen).toEqual([2, 2, 2]);
});

test('a job that no longer fits the schema of the worker is a dead letter at once', async () => {
  const before = defineJob<{ n: number }>('changed');
  const after = defineJob('changed', { input: z.object({ name: z.string() }) });
  await writ.enqueue(before, { n: 1 });
  const worker = await db.connect();
  await runUntilIdle(worker, [after.handle(() => undefined)], { skipTime: db });
  expect(await db.query('select status, attempts, last_error_code from writ.job_queue')).toEqual([
    { status: 'dead_letter', attempts: 1, last_error_code: 'invalid_input' },
  ]);
});

/** Any object with this shape is a validator; here one made by hand, and asynchronous. */
const even: StandardSchemaV1<number, { half: number }> = {
  '~standard': {
    version: 1,
    vendor: 'by hand',
    validate: async (value) =>
      typeof value === 'number' && value % 2 === 0
        ? { value: { half: value / 2 } }
        : { issues: [{ message: 'not an even number' }] },
  },
};
const halve = defineJob('halve', { input: even });

test('a validator made by hand accepts and transforms', async () => {
  await writ.enqueue(halve, 8);
  const seen: number[] = [];
  await runUntilIdle(writ, [halve.handle(({ input }) => void seen.push(input.half))]);
  expect(seen).toEqual([4]);
});

test('a validator made by hand refuses', async () => {
  await expect(writ.enqueue(halve, 7)).rejects.toMatchObject({
    code: 'invalid_input',
    detail: 'halve: not an even number',
  });
});
