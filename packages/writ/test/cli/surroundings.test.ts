import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { json, writ } from './run.js';

let db: TestDatabase;
let env: Record<string, string>;

beforeEach(async () => {
  db = await testDatabase();
  env = { DATABASE_URL: db.connectionString };
  const app = await db.connect();
  await app.enqueue(defineJob('alert'));
});
afterEach(() => db.drop());

test('consumers are put, listed and removed', async () => {
  expect((await writ(['consumers', 'list'], { env })).stdout).toBe('No consumers.\n');
  const put = [
    'consumers',
    'put',
    'alarm',
    '--on',
    'dot.job.dead_letter',
    '--job',
    'alert',
    '--priority',
    '-3',
    '--delay',
    '5s',
  ];
  expect((await writ([...put, '--actor', 'ada'], { env })).stdout).toBe(
    'alarm: from each dot.job.dead_letter a job alert follows.\n',
  );
  expect((await writ(['consumers', 'list'], { env })).stdout).toMatch(
    /CONSUMER .*\nalarm +dot\.job\.dead_letter +any +any +alert\s*\n$/,
  );
  expect(await json(['consumers', 'list'], { env })).toMatchObject([
    { name: 'alarm', priority: -3, delayMs: 5000, registeredBy: 'ada' },
  ]);
  expect((await writ(['consumers', 'remove', 'alarm'], { env })).stdout).toBe('Removed alarm.\n');
  const again = await writ(['consumers', 'remove', 'alarm'], { env });
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('writ consumers list')]);
});

test('a consumer that cannot be is refused with what to do', async () => {
  const put = (...rest: string[]) => writ(['consumers', 'put', 'alarm', ...rest], { env });
  expect(
    await put('--on', 'dot.job.failed', '--job', 'alert', '--subject-kind', 'alert'),
  ).toMatchObject({ code: 1 });
  expect(await put('--on', 'dot.job.vanished', '--job', 'alert')).toMatchObject({ code: 1 });
  expect(await put('--on', 'dot.job.failed')).toMatchObject({ code: 2 });
  expect(await put('--on', 'dot.job.failed', '--job', 'alert', '--priority', 'high')).toMatchObject(
    { code: 2 },
  );
  expect(await json(['consumers', 'list'], { env })).toEqual([]);
});

test('subscriptions are put, listed and removed', async () => {
  expect((await writ(['subscriptions', 'list'], { env })).stdout).toMatch(/^No subscriptions/);
  await writ(['subscriptions', 'put', 'till', '--kind', 'alert', '--priority-floor', '5'], { env });
  await writ(['subscriptions', 'put', 'till', '--domain', 'iu'], { env });
  expect((await writ(['subscriptions', 'list'], { env })).stdout).toMatch(
    /\ntill +alert +any +5\ntill +any +iu +any\n$/,
  );
  const remove = (...rest: string[]) => writ(['subscriptions', 'remove', 'till', ...rest], { env });
  expect((await remove('--kind', 'alert')).stdout).toBe('Removed; till has others.\n');
  expect((await remove('--domain', 'iu')).stdout).toBe('Removed; till is no longer limited.\n');
  expect((await remove('--domain', 'iu')).code).toBe(1);
});

test('a workflow is shown with its jobs', async () => {
  const app = await db.connect({ actor: 'shop' });
  const alert = defineJob('alert');
  const { workflowId, jobIds } = await app.emitGraph(
    { kind: 'fulfil', generator: 'shop', key: 'order-1' },
    [{ job: alert }, { job: alert }],
  );
  const { stdout } = await writ(['queue', 'workflow', workflowId], { env });
  expect(stdout).toMatch(
    /kind +fulfil\n.*\n.*\nkey +order-1\nstatus +active\nenqueued .* by shop\n/,
  );
  for (const id of jobIds) expect(stdout).toContain(id);
  expect(await json(['queue', 'workflow', workflowId], { env })).toMatchObject({
    workflow: { status: 'active' },
    jobs: [{}, {}],
  });
  expect((await writ(['queue', 'workflow', workflowId, '--tenant', 'acme'], { env })).code).toBe(1);
});
