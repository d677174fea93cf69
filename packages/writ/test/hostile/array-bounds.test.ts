/** Every array that a gate takes has a bound: a longer one is refused before anything is read. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { readCatalogue } from './catalogue.mjs';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.drop());

const id = uuidv7();
const step = {
  tokens: [id],
  positions: [1],
  jobs: [id],
  runs: [id],
  results: [null],
  take: [true],
  token: id,
  lease_ttl_seconds: 1,
  holder: 'w',
};
const ids = (n: number) => Array(n).fill(id);
const names = (n: number) => Array(n).fill('x');
const objects = (n: number) => JSON.stringify(Array(n).fill({}));

/** By gate: arguments of which the first is one longer than its bound. */
const calls: [gate: string, parameters: Record<string, unknown>][] = [
  ['fn_governed_approvals', { runs: ids(10_001) }],
  ['fn_governed_read', { jobs: ids(10_001) }],
  ['fn_signatures_read', { contracts: ids(10_001) }],
  ['fn_probes_take', { targets: names(10_001), limit: 1, tenant_id: 'default' }],
  ['fn_probes_take', { without: names(10_001), limit: 1 }],
  ['fn_outbox_take', { buses: names(10_001), relay: 'r' }],
  ['fn_run_project', { snapshots: objects(100_001), turn: id }],
  ['fn_ledger_checkpoint_record', { checkpoints: objects(10_001), actor: 'x' }],
  ['fn_run_steps_succeed', { kinds: names(10_001), ...step }],
];

test.each(calls)('%s refuses an array that is too long', async (gate, parameters) => {
  const given = Object.entries(parameters);
  const list = given.map(([name], index) => `p_${name} => $${index + 1}`).join(', ');
  const [row] = await db.query(
    `select writ.${gate}(${list}) as answer`,
    given.map(([, value]) => value),
  );
  expect(row?.answer).toMatchObject({ refused: true, reason: 'invalid_argument' });
});

/** Gates whose bound stands in a function that they call. */
const elsewhere: Record<string, string> = {
  fn_job_enqueue_alike: 'writ_data.enqueue_alike and writ_data.enqueue_unlike',
};

test('every gate that takes an array compares its length with a bound', async () => {
  const client = { query: async (sql: string) => ({ rows: await db.query(sql) }) };
  const unbounded: string[] = [];
  for (const { name, args } of await readCatalogue(client)) {
    const arrays = args.filter(({ type }) => type.endsWith('[]'));
    const [row] = await db.query(
      `select pg_get_functiondef(p.oid) as body from pg_proc p
       where p.proname = $1 and p.pronamespace = 'writ'::regnamespace`,
      [name],
    );
    for (const { name: array } of arrays)
      if (
        !new RegExp(`cardinality\\(${array}\\)|${array}\\[1:`).test(String(row?.body)) &&
        !(name in elsewhere)
      )
        unbounded.push(`${name} ${array}`);
  }
  expect(unbounded).toEqual([]);
});
