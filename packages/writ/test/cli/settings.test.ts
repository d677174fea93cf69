import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { json, writ } from './run.js';

let db: TestDatabase;
let env: Record<string, string>;
const key = 'queue.retry.backoff_base_sec';

beforeEach(async () => {
  db = await testDatabase();
  env = { DATABASE_URL: db.connectionString };
});
afterEach(() => db.drop());

test('settings lists every setting with its value and meaning', async () => {
  const all = await json<{ key: string; value: unknown; description: string }[]>(['settings'], {
    env,
  });
  expect(all).toContainEqual(expect.objectContaining({ key, value: 10 }));
  const { stdout } = await writ(['settings'], { env });
  for (const setting of all) expect(stdout).toContain(setting.description);
});

test('one setting is shown with who set it', async () => {
  expect((await writ(['settings', key], { env })).stdout).toMatch(
    /10\nmeaning .*\nset .* by migration\n$/,
  );
});

test('a change is shown from before to after, and is on the record', async () => {
  expect((await writ(['settings', 'set', key, '2.5', '--actor', 'ada'], { env })).stdout).toBe(
    `${key}: 10 → 2.5\n`,
  );
  expect(await json(['settings', 'set', key, '3'], { env })).toEqual({ key, was: 2.5, value: 3 });
  expect(
    await db.query(
      `select actor, note from writ.command_run where command = 'fn_setting_set' and actor = 'ada'`,
    ),
  ).toEqual([{ actor: 'ada', note: `${key}: 10 → 2.5` }]);
});

test.each([
  ['a value of the wrong type', [key, 'soon']],
  ['a negative number', [key, '-1']],
  ['a setting that does not exist', ['queue.speed', '11']],
])('%s is refused, and nothing changes', async (_name, args) => {
  const before = await db.query('select key, value from writ.dot_config order by key');
  const { code, stderr } = await writ(['settings', 'set', '--', ...args], { env });
  expect([code, stderr]).toEqual([1, expect.stringContaining('writ settings')]);
  expect(await db.query('select key, value from writ.dot_config order by key')).toEqual(before);
});

test('showing a setting that does not exist exits 1', async () => {
  expect((await writ(['settings', 'queue.speed'], { env })).code).toBe(1);
});
