/**
 * A secret that a handler throws, in words, as a code, or out of its transaction, is in no span and
 * no metric: searched byte by byte, as tables are. A canary shows that the search would find it.
 */
import { inspect } from 'node:util';
import { trace } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, definePlan, environmentSecrets, type Writ } from '../../src/index.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { formsIn } from '../secrets/search.js';
import { registerMetrics, registerTraces } from './sdk.js';

const value = 'sk_live_51H8 "x"\\n/+%&=ü~leak';
const canary = 'canary-4711';
const traces = registerTraces();
const measured = registerMetrics();
let db: TestDatabase;
let writ: Writ;

beforeEach(async () => {
  process.env.WRIT_SECRET_LEAK_KEY = value;
  db = await testDatabase();
  writ = await db.connect({ secrets: environmentSecrets(), observe: true });
});
afterEach(async () => {
  delete process.env.WRIT_SECRET_LEAK_KEY;
  await db.drop();
});

test('a secret in an error is in no span and no metric', async () => {
  const failure = (code?: string) =>
    Object.assign(
      new Error(`could not pay with ${value}`, { cause: new Error(value) }),
      code !== undefined && { code },
    );
  const leak = defineJob<{ how: string }>('leak', { retry: { attempts: 1 } });
  const step = defineJob('leak.step', { retry: { attempts: 1 } });
  const plan = definePlan('leaky', { version: '1' }, (p) => p.step('only', step));
  const handler = leak.handle(async ({ input: { how }, secret, commit }) => {
    await secret('leak-key');
    if (how === 'words') throw failure();
    if (how === 'code') throw failure(value);
    if (how === 'canary') throw failure(canary);
    if (how === 'transaction') await commit((tx) => tx.query('select $1::integer', [value]));
    await commit(() => {
      throw failure(value);
    });
  });
  for (const how of ['words', 'code', 'canary', 'transaction', 'commit'])
    await writ.enqueue(leak, { how });
  await expect(writ.enqueue(leak, { how: value })).rejects.toMatchObject({ code: 'secret_inside' });
  await writ.start(plan, undefined);
  await runUntilIdle(writ, [
    handler,
    step.handle(() => {
      throw failure(value);
    }),
  ]);
  expect(traces.spans.filter((span) => span.name === 'process leak')).toHaveLength(5);
  const told = traces.spans.map(
    ({ name, attributes, status, events, links, resource, instrumentationScope }) =>
      [
        JSON.stringify([
          name,
          attributes,
          status,
          events,
          links,
          resource.attributes,
          instrumentationScope,
        ]),
        inspect({ name, attributes, status, events, links }, { depth: 20 }),
      ].join('\n'),
  );
  const bytes = Buffer.from(
    `${told.join('\n')}\n${inspect(await measured.collect(), { depth: 20 })}`,
  );
  expect(formsIn(bytes, canary)).toContain('raw');
  expect(formsIn(bytes, value)).toEqual([]);
  expect(trace.getActiveSpan()).toBeUndefined();
});
