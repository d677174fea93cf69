/** Nobody traces: nothing is written, sent or made. */
import { trace } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, definePlan, type Writ } from '../../src/index.js';
import { executing } from '../../src/telemetry/execution.js';
import { measuring, meter } from '../../src/telemetry/meter.js';
import { sending } from '../../src/telemetry/sending.js';
import { tracer } from '../../src/telemetry/tracer.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';

let db: TestDatabase;
let writ: Writ;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect({ observe: true });
});
afterEach(() => db.drop());

test('no job, run or event has a place in a trace, also inside a span of the API', async () => {
  const hello = defineJob('hello');
  const plan = definePlan('greeting', { version: '1' }, (p) => {
    p.step('again', hello, { after: p.step('once', hello) });
  });
  const active: unknown[] = [];
  await trace.getTracer('application').startActiveSpan('request', async () => {
    await writ.enqueue(hello);
    await writ.enqueueMany(hello, [{}, { key: 'one' }]);
    await writ.start(plan, undefined);
  });
  await runUntilIdle(writ, [hello.handle(() => void active.push(trace.getActiveSpan()))]);
  expect(active).toEqual(Array.from({ length: 5 }, () => undefined));
  expect(await db.query('select from writ_data.job where traceparent is not null')).toHaveLength(0);
  expect(await db.query('select from writ_data.run where traceparent is not null')).toHaveLength(0);
  const followed = [];
  for await (const { event } of writ.events({
    types: ['dot.*'],
    after: 'beginning',
    untilNow: true,
  }))
    followed.push(event);
  expect(followed.length).toBeGreaterThan(10);
  expect(followed.filter((event) => 'traceparent' in event)).toEqual([]);
});

test('nothing is made for a span or a metric', () => {
  expect([tracer(), sending('enqueue', 'x'), executing({} as never), meter(), measuring()]).toEqual(
    [undefined, undefined, undefined, undefined, false],
  );
});
