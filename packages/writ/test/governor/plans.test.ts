/**
 * However many governors, mails and receipts there are, a signal and a turn cost what they
 * themselves need: whatever is read is found by an index.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decide } from '../../src/governor/decide.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { usualBounds } from '../../src/testing/simulation.js';
import { apply, decidedTurn } from './turns.js';

const governors = 4_000;
const mailsEach = 15;

/** What each of them knows, besides its names. */
const {
  sku_id: _,
  tenant_id: __,
  ...knows
} = decide(
  { state: null, data: null, event_id: '01234567-89ab-4def-8123-456789abcdef', postponed: [] },
  {
    event_seq: 1,
    at: Date.now(),
    from: 'mailbox',
    decide: 1,
    content: {
      kind: 'create',
      sku_id: 'default',
      tenant_id: 'tenant',
      process_id: 'test',
      bounds: usualBounds,
    },
  },
).data;
Object.assign(knows, { entitlement: { status: 'ACTIVE', quota_limit: null } });

let db: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  db = await testDatabase();
  client = new pg.Client({ connectionString: db.connectionString });
  await client.connect();
  await client.query(
    `insert into writ_data.governor (governor_id, tenant_id, sku_id, events, mail_done, mail_at, last_at, state, data, created_by, created_at)
      select gen_random_uuid(), 'tenant-' || n, 'default', 1, ${mailsEach}, now(), now(), 'stable', jsonb_build_object('sku_id', 'default', 'tenant_id', 'tenant-' || n) || $1, 'test', now() from generate_series(1, ${governors}) n`,
    [knows],
  );
  await client.query(`
    insert into writ_data.governor_inbox (governor_id, mails, arrivals, window_mail, last_at) select governor_id, ${mailsEach}, ${mailsEach}, 1, now() from writ_data.governor;
    insert into writ_data.governor_mail (governor_id, mail_seq, at, arrival_seq, signal_id, content) select governor_id, n, now() - interval '2 minutes', n, 'old-' || n, '{"kind": "signal"}' from writ_data.governor, generate_series(1, ${mailsEach}) n;
    insert into writ_data.governor_settled (governor_id, arrival_seq, receipt_id, at) select governor_id, n, gen_random_uuid(), now() from writ_data.governor, generate_series(1, ${mailsEach}) n;
    insert into writ_data.governor_event (governor_id, event_seq, at, kind, state) select governor_id, 1, now(), 'create', 'boot' from writ_data.governor;
    insert into writ_data.governor_due (due_at, governor_id) select now() + interval '1 hour', governor_id from writ_data.governor;
    analyze;`);
}, 60_000);
afterAll(async () => {
  await client.end();
  await db.drop();
});

/**
 * Of the tables that grow with governors: rows that were read without an index, and all that were
 * read, since whenever the server has last counted them elsewhere.
 */
async function counted(): Promise<Map<string, { scanned: number; n: number }>> {
  const { rows } =
    await client.query(`select relname, coalesce(seq_tup_read, 0)::int as scanned, (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as n
    from pg_stat_xact_user_tables where schemaname = 'writ_data' and relname ~ '^(governor|receipt|entitlement|ledger)' and relname <> 'receipt_reason'`);
  return new Map(rows.map(({ relname, scanned, n }) => [relname, { scanned, n }]));
}

async function read(call: () => Promise<unknown>): Promise<{ scanned: string[]; rows: number }> {
  await client.query('begin');
  try {
    const before = await counted();
    await call();
    const after = [...(await counted())].map(([name, { scanned, n }]) => {
      const was = before.get(name) ?? { scanned: 0, n: 0 };
      return { name, scanned: scanned - was.scanned, n: n - was.n };
    });
    return {
      scanned: after.filter(({ scanned }) => scanned > 0).map(({ name }) => name),
      rows: after.reduce((sum, { n }) => sum + n, 0),
    };
  } finally {
    await client.query('rollback');
  }
}

const signals = (...tenants: number[]) =>
  JSON.stringify(
    tenants.map((n) => ({
      t: `tenant-${n}`,
      s: 'default',
      id: `new-${n}`,
      c: content(`new-${n}`),
    })),
  );
const content = (signal_id: string) => ({
  ...{
    kind: 'signal',
    signal_id,
    type: 'load',
    source: 'custom',
    severity: 'LOW',
    value: 1,
    observed_at: Date.now(),
  },
});
const idOf = async (n: number) =>
  (
    await client.query(
      'select governor_id::text as id from writ_data.governor where tenant_id = $1',
      [`tenant-${n}`],
    )
  ).rows[0].id as string;
const take = (sql = `select * from writ.fn_governors_take(200, 64)`) => client.query(sql);

test('taking signals in', async () => {
  const { scanned, rows } = await read(() =>
    client.query(`select writ.fn_signals_take($1::json, 'test')`, [signals(7, 700, 3_900)]),
  );
  expect(scanned).toEqual([]);
  expect(rows).toBeLessThan(150);
});

test('taking governors that are due, and those that are named', async () => {
  const id = await idOf(42);
  for (const call of [
    async () => {
      await client.query(`select writ.fn_signals_take($1::json, 'test')`, [signals(42, 77)]);
      expect((await take()).rowCount).toBe(3);
    },
    () => take(`select * from writ.fn_governors_take(200, 64, '-infinity', '{${id}}')`),
    () => take(), // nobody is due
  ]) {
    const { scanned, rows } = await read(call);
    expect(scanned).toEqual([]);
    expect(rows).toBeLessThan(150);
  }
});

test('writing down what was decided', async () => {
  await client.query(`select writ.fn_signals_take($1::json, 'test')`, [signals(42, 77)]);
  const turn = await decidedTurn(client);
  expect(turn.receipts).toHaveLength(2);
  const { scanned, rows } = await read(() => client.query(apply, [JSON.stringify(turn), 'test']));
  expect(scanned).toEqual([]);
  expect(rows).toBeLessThan(30);
});

test('asking what has become of signals, what a governor looks at, and what one is told', async () => {
  const id = await idOf(42);
  const away = (at: string) =>
    `select writ.fn_governor_outage('here', '[{"seq": 1, "tenant": "tenant-42", "sku": "default", "signal_id": "s", "at": "${at}"}]', now(), now())`;
  // The first line of an outage has everything looked through, and only that.
  await client.query(away('2026-03-01T00:00:00Z'));
  for (const sql of [
    `select writ.fn_signals_settled('[{"g": "${id}", "n": 3}, {"g": "${id}", "n": 99}]')`,
    `select writ.fn_governor_check('{tenant-42,tenant-43}', true)`,
    `select writ.fn_governor_tell('{${id}}', '{"cause": "ledger", "failure_type": "timeout", "message": "late"}')`,
    `select writ.fn_governor_report(gen_random_uuid(), gen_random_uuid(), '{"kind": "result", "ok": true}')`,
    `select writ.fn_governor_crashed('${id}', 1, 'tried', 'test')`,
    `select writ.fn_governor_put('tenant-9999', 'default', 'test')`,
    away('2026-03-01T00:00:01Z'),
  ]) {
    const { scanned, rows } = await read(() => client.query(sql));
    expect({ sql, scanned, few: rows < 100 }).toEqual({ sql, scanned: [], few: true });
  }
});
