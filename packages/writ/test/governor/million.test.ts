/**
 * Every list of governors over a million receipts and events: a page reads no history as a whole.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Queryable } from '../../src/database/connection.js';
import { Governors } from '../../src/governor/governors.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { onServerOfItsOwn } from '../own-server.js';

const history = 1_000_000;
/** Receipts take long to make: a run by hand takes a tenth of them. */
const receipts = process.env.CI === 'true' ? history : 100_000;
let db: TestDatabase;
let governors: Governors;
const asked: { readonly sql: string; readonly params: readonly unknown[] }[] = [];

onServerOfItsOwn();
beforeAll(async () => {
  db = await testDatabase();
  const writ = await db.connect();
  const { id } = await writ.governor({ tenant: 'acme' });
  await db.query(
    `insert into writ_data.governor_event (governor_id, event_seq, at, kind, from_state, state)
     select $1, n, clock_timestamp(), case when n % 1000 = 0 then 'act' else 'signal' end,
       'stable', 'stable' from generate_series(1, $2::integer) n`,
    [id, history],
  );
  await db.query(
    `insert into writ_data.receipt select (jsonb_populate_record(null::writ_data.receipt,
       to_jsonb(r) || jsonb_build_object('receipt_id', gen_random_uuid(), 'stream_seq', n,
         'receipt_no', 1000000 + n, 'log_id', 'acme', 'stream', 'governor:default'))).*
     from (select * from writ_data.receipt limit 1) r, generate_series(1, $1::integer) n`,
    [receipts],
  );
  await db.query(
    `insert into writ_data.governor_policy (governor_id, version, policy_id, hash, shadow,
       published_by, published_at)
     select $1, n, 'p', sha256('x'), false, 'olga', clock_timestamp()
     from generate_series(1, 10000) n`,
    [id],
  );
  await db.query(
    'update writ_data.governor set events = $2, receipts = $3 where governor_id = $1',
    [id, history, receipts],
  );
  await db.query('vacuum analyze');
  const recording: Queryable = {
    query: (sql, params = []) => {
      asked.push({ sql, params });
      return db.query(sql, [...params]).then((rows) => ({ rows }));
    },
  };
  governors = new Governors({
    db: recording,
    actor: 'test',
    tenant: 'acme',
    key: undefined,
    listening: undefined,
  });
}, 900_000);
afterAll(() => db?.drop());

const lists: Readonly<Record<string, (after?: string) => Promise<{ next: string | null }>>> = {
  list: (after) => governors.list({ limit: 20, ...(after && { after }) }),
  get: async () => ({ next: null, ...(await governors.get()) }),
  receipts: (after) => governors.receipts('default', { limit: 20, ...(after && { after }) }),
  'receipts after a number': (after) =>
    governors.receipts('default', { beyond: receipts / 2, order: 'asc', ...(after && { after }) }),
  events: (after) => governors.events('default', { limit: 20, ...(after && { after }) }),
  actions: (after) => governors.actions('default', { limit: 20, ...(after && { after }) }),
  policies: (after) => governors.policies.list('default', { limit: 20, ...(after && { after }) }),
  entitlements: (after) => governors.entitlements.list({ ...(after && { after }) }),
};

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly Plan[];
}

/** Rows that a scan has looked at, in all its loops, whether it answered them or not. */
const looked = (scan: Plan) =>
  scan['Actual Loops'] *
  (scan['Actual Rows'] +
    (scan['Rows Removed by Filter'] ?? 0) +
    (scan['Rows Removed by Index Recheck'] ?? 0));

const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];

test.each(Object.keys(lists))(
  '%s reads no more of the history than its page',
  async (name) => {
    asked.length = 0;
    const first = await lists[name]?.();
    if (first?.next) await lists[name]?.(first.next);
    expect(asked.length).toBeGreaterThan(0);
    for (const { sql, params } of asked) {
      const rows = await db.query(`explain (analyze, format json) ${sql}`, [...params]);
      const [{ Plan: plan }] = (rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'];
      const scans = nodes(plan).filter(({ 'Relation Name': relation }) =>
        /^(receipt|governor_(event|mail|settled|policy))/.test(relation ?? ''),
      );
      const most = name === 'actions' ? history / 1_000 : 50;
      const large = scans.filter((scan) => looked(scan) > most);
      expect(
        large.map((scan) => `${scan['Node Type']} of ${scan['Relation Name']}: ${looked(scan)}`),
        sql,
      ).toEqual([]);
    }
  },
  60_000,
);
