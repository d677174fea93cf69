import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { json, writ } from './run.js';

let db: TestDatabase;
let env: Record<string, string>;

beforeEach(async () => {
  db = await testDatabase();
  env = { DATABASE_URL: db.connectionString };
  await db.query(`select writ.fn_job_kind_register('report', '{}', 'test')`);
});
afterEach(() => db.drop());

const put = (...args: string[]) => [
  'schedules',
  'put',
  'nightly',
  '--kind',
  'report',
  '--cron',
  '30 2 * * *',
  ...args,
];

test('a schedule is defined, listed in its own time zone, paused, resumed, run and removed', async () => {
  const { stdout: defined } = await writ(
    put('--time-zone', 'Europe/Berlin', '--input', '{"n":1}', '--priority', '-3'),
    { env },
  );
  expect(defined).toMatch(
    /^Defined nightly, next at \d{4}-\d\d-\d\d 0[23]:[03]0 Europe\/Berlin\.\n$/,
  );
  const { stdout: listed } = await writ(['schedules', 'list'], { env });
  expect(listed).toMatch(/SCHEDULE +CRON +ZONE +KIND +NEXT TICK +IN +LAST TICK +PAUSED/);
  expect(listed).toMatch(
    /nightly +30 2 \* \* \* +Europe\/Berlin +report +\d{4}-\d\d-\d\d 0[23]:[03]0 +[\d.]+ (?:h|min|s) +– +–/,
  );

  expect((await writ(['schedules', 'pause', 'nightly', '--actor', 'ada'], { env })).stdout).toBe(
    'Paused nightly.\n',
  );
  expect((await writ(['schedules', 'pause', 'nightly'], { env })).stdout).toBe(
    'nightly was paused already.\n',
  );
  expect((await writ(['schedules', 'list'], { env })).stdout).toMatch(/ago by ada/);
  expect((await writ(['schedules', 'resume', 'nightly'], { env })).stdout).toBe(
    'Resumed nightly.\n',
  );
  expect((await writ(['schedules', 'resume', 'nightly'], { env })).stdout).toBe(
    'nightly was not paused.\n',
  );

  const { jobId } = await json<{ jobId: string }>(
    ['schedules', 'run', 'nightly', '--actor', 'ada'],
    { env },
  );
  expect(
    await db.query(
      `select job_id, enqueued_by, priority, writ.fn_job_payload(job_id) -> 'input' as input from writ.job_queue`,
    ),
  ).toEqual([{ job_id: jobId, enqueued_by: 'ada', priority: -3, input: { n: 1 } }]);
  expect((await writ(['schedules', 'remove', 'nightly'], { env })).stdout).toBe(
    'Removed nightly.\n',
  );
  expect((await writ(['schedules', 'list'], { env })).stdout).toMatch(/^No schedules/);
});

test('--json answers data', async () => {
  const answer = await json<{ nextTick: string }>(put('--catch-up', 'all', '--tenant', 'acme'), {
    env,
  });
  expect(answer).toEqual({
    name: 'nightly',
    changed: true,
    nextTick: expect.stringMatching(/T02:30:00\+00:00$/),
  });
  expect(await json(put('--catch-up', 'all', '--tenant', 'acme'), { env })).toEqual({
    ...answer,
    changed: false,
  });
  expect(await json(['schedules', 'list', '--tenant', 'acme'], { env })).toEqual([
    expect.objectContaining({
      name: 'nightly',
      tenant: 'acme',
      catchUp: 'all',
      timeZone: 'UTC',
      nextTick: answer.nextTick,
      lastTick: null,
    }),
  ]);
  expect(await json(['schedules', 'pause', 'nightly', '--tenant', 'acme'], { env })).toEqual({
    name: 'nightly',
    changed: true,
  });
  expect(await json(['schedules', 'remove', 'nightly', '--tenant', 'acme'], { env })).toEqual({
    name: 'nightly',
    removed: true,
  });
});

test.each([
  ['a cron expression that is none', ['--cron', '61 * * * *'], 1, /61/],
  ['seconds', ['--cron', '0 0 9 * * *'], 1, /no seconds/],
  ['a zone that does not exist', ['--time-zone', 'Mars/Olympus'], 1, /Mars\/Olympus/],
  ['a kind that nobody registered', ['--kind', 'unheard'], 1, /unheard/],
  ['an input that is no JSON', ['--input', '{n'], 2, /JSON/],
  ['a catch-up rule that does not exist', ['--catch-up', 'some'], 2, /none, last, all/],
  ['a priority out of range', ['--priority', '99999'], 2, /32767/],
] as const)('%s is refused in words, and nothing is defined', async (_name, args, exit, words) => {
  const { code, stderr } = await writ(put(...args), { env });
  expect([code, stderr]).toEqual([exit, expect.stringMatching(words)]);
  expect(await json(['schedules', 'list'], { env })).toEqual([]);
});

test('a schedule that is not there is said to be so', async () => {
  for (const verb of ['pause', 'resume', 'run', 'remove']) {
    const { code, stderr } = await writ(['schedules', verb, 'gone'], { env });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/gone[\s\S]*writ schedules list/)]);
  }
});
