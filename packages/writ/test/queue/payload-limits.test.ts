/** A refusal for size says what is too large, how large it is, and which limit it exceeds. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isObject } from '../../src/database/schema.js';
import { defineJob, definePlan, type Writ } from '../../src/index.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';

let db: TestDatabase;
let writ: Writ;

const note = defineJob<{ text: string }>('note', { retry: { attempts: 1 } });
const act = defineJob<unknown>('act');

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  await db.query(`select writ.fn_setting_set('queue.payload.max_bytes', '1000', 'test')`);
});
afterEach(() => db.drop());

const refused = (call: Promise<unknown>): Promise<{ code?: string; detail?: string }> =>
  call.then(
    () => ({}),
    (error: { code: string; detail: string }) => error,
  );

test('an input, a schedule, a run and params that are too large name the limit', async () => {
  const text = 'x'.repeat(2_000);
  expect(await refused(writ.enqueue(note, { text }))).toMatchObject({
    code: 'payload_too_large',
    detail: expect.stringMatching(
      /^The input has 20\d\d bytes; queue.payload.max_bytes allows 1000\.$/,
    ),
    message: expect.stringContaining('allows 1000'),
  });
  const put = writ.schedules.put('nightly', note, {
    cron: '0 3 * * *',
    input: { text: 'x'.repeat(70_000) },
  });
  expect(await refused(put)).toMatchObject({
    code: 'payload_too_large',
    detail: expect.stringMatching(/has 70\d{3} bytes; at most 66536 are allowed/),
  });
  const plan = definePlan<unknown>('one', { version: '1' }, (p) => void p.step('act', act));
  expect(await refused(writ.start(plan, { text }))).toMatchObject({
    code: 'payload_too_large',
    detail: expect.stringMatching(
      /^The input has 20\d\d bytes; queue.payload.max_bytes allows 1000\.$/,
    ),
  });
});

test('metadata that is too large names its own limit', async () => {
  await writ.enqueue(note, { text: 'known' });
  const detail = async (fields: Record<string, unknown>) => {
    const jobs = JSON.stringify([{ kind: 'note', executor: 'external_worker', ...fields }]);
    const [row] = await db.query(
      `select writ.fn_job_enqueue_many(jsonb_build_array(($1::text::jsonb -> 0) || jsonb_build_object('id', writ_data.uuidv7())), 'test')
         -> 'refused' -> 0 as refusal`,
      [jobs],
    );
    return row?.refusal as { reason: string; detail: string };
  };
  expect(await detail({ safe_payload: { a: 'x'.repeat(9_000) } })).toMatchObject({
    reason: 'payload_too_large',
    detail: 'safe_payload has 9009 bytes; queue.safe_payload.max_bytes allows 8192.',
  });
  expect(await detail({ correlation_id: 'x'.repeat(2_001) })).toMatchObject({
    reason: 'payload_too_large',
    detail: 'The correlation id has 2001 bytes; at most 2000 are allowed.',
  });
  expect(await detail({ source_ref: 'x'.repeat(8_200) })).toMatchObject({
    reason: 'payload_too_large',
    detail: expect.stringContaining('at most 8192 are allowed'),
  });
});

test('a result that is too large is a dead letter whose error names the limit', async () => {
  await writ.enqueue(note, { text: 'long' });
  await runUntilIdle(writ, [note.handle(() => 'x'.repeat(2_000))], { onError: () => undefined });
  const [job] = await db.query('select status, last_error_code, last_error from writ.job_queue');
  expect(job).toEqual({
    status: 'dead_letter',
    last_error_code: 'payload_too_large',
    last_error: 'The result has 2002 bytes; queue.payload.max_bytes allows 1000.',
  });
});

test('every gate that refuses for size names the limit', () => {
  const root = new URL('../../sql/', import.meta.url);
  const silent = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => isObject(file))
    .flatMap((file) => {
      const sql = readFileSync(new URL(file, root), 'utf8').replace(/^\s*--.*$/gm, '');
      const refusals = [
        ...sql.matchAll(
          /(?:refusal\(\s*'payload_too_large'|message = 'payload_too_large')[\s\S]{0,200}/g,
        ),
      ];
      return refusals
        .filter(([words]) => !/max_bytes|at most [\d,]+|more than \d+/.test(words))
        .map(() => file);
    });
  expect(silent).toEqual([]);
});
