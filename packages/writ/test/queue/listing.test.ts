/**
 * Lists of the queue, schedules and the outbox read no history from end to end, whatever has ended.
 * A million jobs are history in the matrix; a run by hand takes fewer.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { onServerOfItsOwn } from '../own-server.js';

const rows = process.env.CI === 'true' ? 1_000_000 : 60_000;
const history = [
  'job',
  'job_execution',
  'job_cleaned',
  'job_key',
  'event_batch',
  'delivery',
  'schedule_tick',
];

let db: TestDatabase;
let client: pg.Client;
let writ: Writ;
const scanned: string[] = [];

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

function scansIn(plan: Plan): string[] {
  return [
    ...(plan['Node Type'] === 'Seq Scan' ? [String(plan['Relation Name'])] : []),
    ...(plan.Plans ?? []).flatMap(scansIn),
  ];
}

/** The client explains each statement before it runs it. */
async function explained(sql: string, params: unknown[]): Promise<void> {
  const { rows: plans } = await client.query(`explain (format json) ${sql}`, params);
  const names = scansIn(plans[0]['QUERY PLAN'][0].Plan);
  const { rows: found } = await client.query(
    `select distinct coalesce(r.relname, c.relname)::text as name
     from pg_class c left join pg_class r on r.oid = pg_partition_root(c.oid)
     where c.relnamespace = 'writ_data'::regnamespace and c.relname = any ($1)
       and c.reltuples > 0`,
    [names],
  );
  scanned.push(...found.map(({ name }) => name).filter((name) => history.includes(name)));
}

onServerOfItsOwn();
beforeAll(async () => {
  db = await testDatabase();
  client = new pg.Client({ connectionString: db.connectionString });
  await client.connect();
  await client.query(
    `select writ.fn_job_kind_register(k, '{}', 'test') from unnest('{common,rare}'::text[]) k`,
  );
  // A day of history: jobs that have succeeded, few that were cancelled or died, their record.
  await client.query(
    `create table ids as
     select n, (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - ${rows} + n), 12, '0')
       || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid as id
     from generate_series(1, ${rows}) n`,
  );
  await client.query(
    `insert into writ_data.job (job_id, tenant_id, job_kind, event_domain, payload_classification,
       executor, max_attempts, priority, process_after, enqueued_by, enqueued_at, source_system,
       correlation_id)
     select id, case when n % 50000 = 7 then 'acme' else 'default' end,
       case when n % 50000 = 7 then 'rare' else 'common' end, 'dot', 'safe_metadata',
       'external_worker', 5, 0, now(), 'test', now(), 'writ',
       case when n % 1000 = 0 then 'c-' || n end
     from ids`,
  );
  await client.query(
    `insert into writ_data.job_execution (job_id, execution_no, attempt, status, abort_kind, final,
       started_at, committed_at, finished_at, error_code, error_message)
     select id, 1, 1, case when e then 'ABORTED' else 'DONE' end,
       case when n % 10000 = 1 then 'cancelled' when e then 'permanent' end, e, now(),
       case when not e then now() end, now(), case when e then 'x' end, case when e then 'y' end
     from ids, lateral (select n % 10000 in (1, 2) as e) x`,
  );
  await client.query(
    `insert into writ_data.event_batch (batch_id, at, command, actor, types, first, last, subjects)
     select id, now(), 'fn_job_finish', 'test', '{dot.job.succeeded}', '{1}', '{1}', array[id]
     from ids`,
  );
  await client.query(
    `select writ.fn_destination_put('shop', 'webhook', '{dot.run.*}', null, '{}', null, 'test')`,
  );
  await client.query(
    `insert into writ_data.delivery (delivery_id, destination, event_id, attempt, at, ok)
     select id, 'shop', id, 1, now(), n % 10000 <> 3 from ids`,
  );
  await client.query(
    `insert into writ_data.schedule (tenant_id, schedule, cron, time_zone, catch_up, job_kind, job,
       next_tick, created_at, created_by, updated_at, updated_by)
     select 'default', 's' || n, '* * * * *', 'UTC', 'last', 'common', '{}',
       date_trunc('hour', now()), now(), 'test', now(), 'test' from generate_series(1, 20) n`,
  );
  await client.query(
    `insert into writ_data.schedule_tick (tenant_id, schedule, tick, job_id, fired_at, fired_by)
     select 'default', 's' || (1 + n % 20), date_trunc('hour', now()) - n * interval '1 minute', id,
       now(), 'test' from ids where n <= 100000`,
  );
  await client.query('analyze');
  writ = await Writ.connect({
    db: {
      query: async (sql: string, params: unknown[] = []) => {
        if (/^\s*(?:select|with)\b/.test(sql)) await explained(sql, params);
        return client.query(sql, params);
      },
    },
  });
}, 600_000);
afterAll(async () => {
  await client.end();
  await db.drop();
});

const some = async <Row>(page: Promise<{ items: readonly Row[] }>) => (await page).items;

test('the check can fail: a search of all executions is one', async () => {
  await explained('select max(finished_at) from writ.job_execution', []);
  expect(scanned.splice(0)).toContain('job_execution');
});

const lists: [string, (w: Writ, after?: string) => Promise<unknown>][] = [
  ['jobs', (w) => w.jobs.list()],
  ...(
    [
      'queued',
      'retry_waiting',
      'leased',
      'in_progress',
      'dead_letter',
      'cancelled',
      'succeeded',
      'cleaned',
    ] as const
  ).map((status): [string, (w: Writ) => Promise<unknown>] => [
    `jobs that are ${status}`,
    (w) => w.jobs.list({ status }),
  ]),
  ['jobs of a rare kind', (w) => w.jobs.list({ kind: 'rare' })],
  ['jobs of a rare tenant', (w) => w.jobs.list({ tenant: 'acme', status: 'succeeded' })],
  ['dead letters of a kind', (w) => w.jobs.list({ status: 'dead_letter', kind: 'common' })],
  ['jobs of a correlation', (w) => w.jobs.list({ correlationId: 'c-1000' })],
  ['jobs of a workflow', (w) => w.jobs.list({ workflow: '01900000-0000-7000-8000-000000000000' })],
  ['kinds', (w) => w.kinds.list()],
  ['workers', (w) => w.workers.list()],
  ['weights', (w) => w.workers.weights()],
  ['alerts', (w) => w.alerts.list()],
  ['settings', (w) => w.settings.list()],
  ['consumers', (w) => w.consumers.list()],
  ['subscriptions', (w) => w.subscriptions.list()],
  ['schedules', (w) => w.schedules.list()],
  ['ticks', (w) => w.schedules.ticks('s1')],
  ['destinations', (w) => w.destinations.list()],
  ['deliveries', (w) => w.destinations.deliveries('shop')],
  ['executions', async (w) => w.jobs.executions(String((await w.jobs.list()).items[0]?.job_id))],
  ['refused deliveries', (w) => w.destinations.deliveries('shop', { failed: true })],
  ['dead letters of a destination', (w) => w.destinations.deadLetters('shop')],
];

test.each(lists)('a list of %s reads no history from end to end', async (_name, read) => {
  scanned.length = 0;
  const began = performance.now();
  await read(writ);
  expect(scanned).toEqual([]);
  expect(performance.now() - began).toBeLessThan(5_000);
});

test('the facts of a job, and those that a destination would be told of, are read by their time', async () => {
  const [job] = await some(writ.jobs.list({ status: 'dead_letter' }));
  scanned.length = 0;
  expect(await writ.jobs.events(String(job?.job_id))).toBeInstanceOf(Array);
  const counts = await writ.destinations.recorded('shop', new Date(Date.now() - 1_000));
  expect(counts.reduce((sum, { events }) => sum + events, 0)).toBeLessThan(rows);
  expect(scanned).toEqual([]);
});

test('a job is read by its id', async () => {
  const [job] = await some(writ.jobs.list({ status: 'dead_letter' }));
  const id = String(job?.job_id);
  scanned.length = 0;
  await writ.jobs.get(id);
  await writ.jobs.executions(id);
  expect(scanned).toEqual([]);
});

test('a search that no index serves goes on page by page until it has found everything', async () => {
  const found: string[] = [];
  let pages = 0;
  for (let after: string | null | undefined; after !== null; pages++) {
    const page = await writ.jobs.list({ kind: 'rare', ...(after && { after }) });
    found.push(...page.items.map(({ job_id }) => job_id));
    after = page.next;
  }
  expect(found).toHaveLength(Math.ceil((rows - 6) / 50_000));
  expect(pages).toBeGreaterThan(rows / 20_000 - 1);
}, 120_000);
