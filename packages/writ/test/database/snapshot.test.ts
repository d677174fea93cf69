import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { schemaSnapshot } from '../../../../scripts/snapshot.mjs';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';

let db: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  db = await testDatabase();
  client = new pg.Client({ connectionString: db.connectionString });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await db.drop();
});
beforeEach(() => client.query('begin'));
afterEach(() => client.query('rollback'));

const committed = () => readFileSync(new URL('../../sql/snapshot.sql', import.meta.url), 'utf8');
/** A test database is switched on, and made for a few days; a bare migration is neither. */
const snapshot = async () =>
  (await schemaSnapshot(client))
    .replace('queue.job_substrate.enabled = true', 'queue.job_substrate.enabled = false')
    .replace('queue.partition.days_ahead = 3', 'queue.partition.days_ahead = 14');

test('the migrated schema is the one in sql/snapshot.sql', async () => {
  expect(
    await snapshot(),
    'the schema has changed: if that was meant, run `npm run snapshot` and commit sql/snapshot.sql',
  ).toBe(committed());
});

test('a day that comes does not show in it', async () => {
  await client.query(`select writ_data.make_partition('job', date '2222-02-02')`);
  expect(await snapshot()).toBe(committed());
});

test.each([
  ['a column', 'alter table writ_data.job add surprise text'],
  ['a default', `alter table writ_data.dot_config alter updated_by set default 'somebody'`],
  ['a constraint', 'alter table writ_data.job drop constraint tenant_is_not_blank'],
  ['an index', 'drop index writ_data.job_ready_claim'],
  ['a trigger', 'drop trigger job_is_written_once on writ_data.job'],
  ['a trigger that is off', 'alter table writ_data.job disable trigger job_is_written_once'],
  ['a grant', 'grant execute on function writ.fn_setting_set to writ_auditor'],
  ['an owner', 'alter function writ.fn_setting_set owner to current_user'],
  ['security', 'alter function writ.fn_setting_set security invoker'],
  ['a search_path', 'alter function writ.fn_setting_set reset search_path'],
  [
    'a body',
    `create or replace function writ.now() returns timestamptz language sql volatile as 'select null::timestamptz'`,
  ],
  ['a policy', 'create policy surprise on writ_data.job using (true)'],
])('it shows a change of %s', async (_, sql) => {
  await client.query(sql);
  expect(await snapshot()).not.toBe(committed());
});
