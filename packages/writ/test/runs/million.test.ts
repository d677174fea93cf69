/**
 * Every list of runs, plans and receipts over a million runs, a million events and a million
 * receipts: a page reads no history as a whole.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Queryable } from '../../src/database/connection.js';
import type { Page } from '../../src/index.js';
import { Ledger } from '../../src/ledger/ledger.js';
import { Plans } from '../../src/runs/plans/registry.js';
import { Runs } from '../../src/runs/runs.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { append, entryOf } from '../ledger/receipts.js';
import { onServerOfItsOwn } from '../own-server.js';

const history = 1_000_000;
let db: TestDatabase;
let runs: Runs;
let plans: Plans;
let ledger: Ledger;
/** A run with a thousand events. */
let long: string;
let receiptId: string;
const asked: { readonly sql: string; readonly params: readonly unknown[] }[] = [];

/** An id of the n-th of so many runs, over three days. */
const id = (n: string) => `(lpad(to_hex((extract(epoch from date_trunc('day', clock_timestamp()
  at time zone 'UTC') at time zone 'UTC') * 1000)::bigint + ${n}::bigint * 86400000 * 3 / ${history}),
  12, '0') || '7000' || '8' || lpad(to_hex(${n}::bigint), 15, '0'))::uuid`;

/** Rows as they would be after years, past what guards them. */
const plant = (sql: string) =>
  db.query(`begin; set local session_replication_role = replica; ${sql}; commit`);

const fill = async () => {
  await plant(
    `insert into writ_data.plan (plan_id, plan_version, sha256, document, on_failure, last_steps,
       registered_by, registered_at)
     select p, '1', sha256(convert_to(d, 'UTF8')), d, 'fail', '{}', 'test', now()
     from (select p, '{"planId":"' || p || '","steps":[{"id":"a","kind":"k"}]}' as d
       from unnest(array['often', 'rare']) p) x`,
  );
  await plant(
    `insert into writ_data.run (run_id, tenant_id, project_id, environment_id, plan_no, engine,
       priority, status, started_by, created_at, moved_at)
     select ${id('n')}, case when n % 100000 = 7 then 'rare' else 'often' end, 'p', 'e',
       (select plan_no from writ_data.plan
        where plan_id = case when n % 50000 = 3 then 'rare' else 'often' end),
       'native', 0,
       case when n % 5000 = 1 then 'RUNNING' when n % 20000 = 2 then 'FAILED' else 'COMPLETED' end,
       'test', now(), now()
     from generate_series(1, ${history}) n`,
  );
  await plant(
    `insert into writ_data.run_event (run_id, run_seq, event_type, step_id, logical_attempt, data,
       at, batch_id)
     select ${id('r * 1000')}, s, case when s % 2 = 0 then 'StepStarted' else 'StepCompleted' end,
       's' || s / 2, '1', '{"artifacts": [{"uri": "file:x", "kind": "log"}]}', now(),
       gen_random_uuid()
     from generate_series(1, ${history} / 1000) r, generate_series(1, 1000) s`,
  );
  await plant(
    `insert into writ_data.run_delivery (run_id, delivery_id, event, delivered_at, delivered_by)
     select ${id('n')}, 'd', 'e', now(), 'test' from generate_series(1, ${history}, 10) n`,
  );
  await plant(
    `insert into writ_data.alert (alert_id, code, severity, tenant_id, subject, detail, raised_at)
     select gen_random_uuid(), 'X', 'P3', 'often', 'run/' || ${id('n')}, '{}', now()
     from generate_series(1, ${history}, 10) n`,
  );
  await append(db, [entryOf('often', 'governor:often', 1)]);
  await plant(
    `insert into writ_data.receipt (receipt_no, at, log_id, stream, stream_seq, receipt_id, entry,
       leaf_hash)
     select 1000 + n, r.at, t.log, t.stream, n, gen_random_uuid(), r.entry, r.leaf_hash
     from (select * from writ_data.receipt limit 1) r, generate_series(1, ${history}) n
     cross join lateral (
       select case when n % 100000 = 7 then 'rare' else 'often' end as log,
         case when n % 100000 = 9 then 'governor:rare' else 'governor:often' end as stream) t
     where n > 1`,
  );
  await plant(
    `insert into writ_data.ledger_leaf (log_id, leaf_index, receipt_no, leaf_hash)
     select log_id, row_number() over (partition by log_id order by receipt_no) - 1, receipt_no,
       leaf_hash
     from writ_data.receipt where log_id <> '_system'`,
  );
  await plant(
    `insert into writ_data.ledger_checkpoint (log_id, epoch, size, root, note, at)
     select case when n % 100 = 0 then 'rare' else '_system' end, 1, n, sha256('x'), 'note', now()
     from generate_series(1, 100000) n`,
  );
  await plant(
    `insert into writ_data.ledger_log (log_id, epoch, size, root)
     select l, 1, 1, sha256('x') from unnest(array['often', 'rare']) l
     on conflict do nothing`,
  );
  await plant(
    'update writ_data.ledger_clockwork set last_no = (select max(receipt_no) from writ_data.receipt)',
  );
  await db.query('vacuum analyze');
};

onServerOfItsOwn();
beforeAll(async () => {
  db = await testDatabase();
  await fill();
  long = String((await db.query(`select ${id('500000')}::text as id`))[0]?.id);
  receiptId = String(
    (await db.query('select receipt_id::text as id from writ_data.receipt limit 1'))[0]?.id,
  );
  const recording: Queryable = {
    query: (sql, params = []) => {
      asked.push({ sql, params });
      return db.query(sql, [...params]).then((rows) => ({ rows }));
    },
  };
  const host = {
    db: recording,
    actor: 'test',
    register: async () => undefined,
    calling: <T>(call: () => Promise<T>) => call(),
    authorize: undefined,
    writeBudgetMs: 10_000,
    spool: undefined,
  };
  plans = new Plans(host);
  runs = new Runs(host, plans);
  ledger = new Ledger(host);
}, 900_000);
afterAll(() => db?.drop());

const alone = async (read: Promise<unknown>): Promise<Page<unknown>> => {
  await read;
  return { items: [], next: null };
};
const page = (after?: string) => ({ limit: 20, ...(after && { after }) });

const day = 86_400_000;
const lists: Readonly<Record<string, (after?: string) => Promise<Page<unknown>>>> = {
  runs: (after) => runs.list(page(after)),
  'runs of a large tenant': (after) => runs.list({ ...page(after), tenant: 'often' }),
  'runs of a small tenant': (after) => runs.list({ ...page(after), tenant: 'rare' }),
  'runs of a large plan': (after) => runs.list({ ...page(after), plan: 'often' }),
  'runs of a small plan': (after) => runs.list({ ...page(after), plan: 'rare' }),
  'runs that failed': (after) => runs.list({ ...page(after), status: 'FAILED' }),
  'runs that go on': (after) => runs.list({ ...page(after), status: 'RUNNING' }),
  'runs that wait': (after) => runs.list({ ...page(after), status: 'PENDING' }),
  'runs that completed': (after) => runs.list({ ...page(after), status: 'COMPLETED' }),
  'runs of a time': (after) =>
    runs.list({ ...page(after), until: new Date(Date.now() + day).toISOString() }),
  'one run': () => alone(runs.get(long)),
  'a run whole': () => alone(runs.detail(long)),
  'tries of steps': () => alone(runs.tries(long, ['s1', 's2'])),
  'events of a run': (after) => runs.events(long, page(after)),
  'events from the end': (after) => runs.events(long, { ...page(after), order: 'desc' }),
  'events of a step': (after) => runs.events(long, { ...page(after), step: 's7' }),
  'deliveries of a run': (after) => runs.deliveries(long, page(after)),
  'artifacts of a run': (after) => runs.artifacts(long, page(after)),
  admissions: (after) => runs.admissions(page(after)),
  plans: (after) => plans.list(page(after)),
  'one plan': () => alone(plans.get('rare')),
  receipts: (after) => ledger.receipts(page(after)),
  'receipts of a large log': (after) => ledger.receipts({ ...page(after), tenant: 'often' }),
  'receipts of a small log': (after) => ledger.receipts({ ...page(after), tenant: 'rare' }),
  'receipts of a subject': (after) =>
    ledger.receipts({ ...page(after), tenant: 'often', subject: 'governor:rare' }),
  'receipts of a person': (after) => ledger.receipts({ ...page(after), person: 'nobody' }),
  'receipts of a reason': (after) =>
    ledger.receipts({ ...page(after), tenant: 'often', reason: 'change_applied' }),
  'receipts of a time': (after) =>
    ledger.receipts({ ...page(after), until: '2020-01-01T00:00:00Z' }),
  'one receipt': () => alone(ledger.receipt(receiptId)),
  logs: (after) => ledger.logs(page(after)),
  checkpoints: (after) => ledger.checkpoints(page(after)),
  'checkpoints of a log': (after) => ledger.checkpoints({ ...page(after), log: 'rare' }),
  'how far the ledger is': () => alone(ledger.status()),
};

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Plan[];
}

const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];
const isHistory = ({ 'Relation Name': relation = '' }: Plan) =>
  /^(run|run_event|run_delivery|receipt)(_|$)|^(ledger_leaf|ledger_checkpoint|alert)$/.test(
    relation,
  );
const searches = /^receipts of a (person|reason|time)/;
/** Rows that one scan may read: a search looks at 5,000, and a run has a thousand events. */
const mostRows = (name: string) => (searches.test(name) ? 5_001 : 1_000);
/** Pages of 8 kB that a statement may touch, in functions, too. A million receipts have 100,000. */
const mostBlocks = (name: string) => (searches.test(name) ? 60_000 : 5_000);

test.each(Object.keys(lists))(
  '%s reads no more of the history than its page',
  async (name) => {
    asked.length = 0;
    const first = await lists[name]?.();
    if (first?.next) await lists[name]?.(first.next);
    expect(asked.length).toBeGreaterThan(0);
    for (const { sql, params } of asked) {
      const rows = await db.query(`explain (analyze, buffers, format json) ${sql}`, [...params]);
      const [{ Plan: plan }] = (rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'];
      const blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      expect(blocks, sql).toBeLessThanOrEqual(mostBlocks(name));
      const scans = nodes(plan).filter(isHistory);
      const whole = scans.filter((scan) => scan['Node Type'] === 'Seq Scan');
      expect(whole.filter((scan) => scan['Actual Rows'] > 0)).toEqual([]);
      for (const scan of scans)
        expect(scan['Actual Rows'] * scan['Actual Loops'], sql).toBeLessThanOrEqual(mostRows(name));
    }
  },
  60_000,
);
