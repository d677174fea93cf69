/** `writ deployment`: the id of a database, and one of its own for a copy. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { writ } from './run.js';

let db: TestDatabase;
let env: Record<string, string>;
beforeEach(async () => {
  db = await testDatabase();
  env = { DATABASE_URL: db.directConnectionString };
});
afterEach(() => db.drop());
const id = async () =>
  (await db.query('select deployment_id from writ.deployment'))[0]?.deployment_id;
const renew = ['deployment', 'renew', '--reason', 'staging, a copy of production'];

test('show prints the id', async () => {
  const shown = await writ(['deployment', 'show'], { env });
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining(String(await id()))]);
});

test('renew changes nothing without a yes, and gives the copy another id with one', async () => {
  const before = await id();
  const asked = await writ(renew, { env });
  expect([asked.code, asked.stderr]).toEqual([
    1,
    expect.stringMatching(/nothing was done\.\n.*Add --yes/),
  ]);
  expect(await id()).toBe(before);
  const done = await writ([...renew, '--yes', '--actor', 'ops', '--json'], { env });
  expect([done.code, JSON.parse(done.stdout)]).toEqual([
    0,
    { deployment_id: await id(), replaces: before, contracts: 0, in_review: 0, jobs: 0 },
  ]);
  expect(await id()).not.toBe(before);
});

test('renew refuses a reason that says nothing', async () => {
  const { code, stderr } = await writ(['deployment', 'renew', '--reason', 'copy', '--yes'], {
    env,
  });
  expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining('reason')]);
  expect(code).not.toBe(0);
});
