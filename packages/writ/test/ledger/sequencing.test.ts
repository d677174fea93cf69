/**
 * Receipts get their places in the logs after they are committed, exactly once, whoever writes and
 * whoever sequences.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CompactRange, leafHash } from '../../src/ledger/merkle.js';
import { toHex, utf8 } from '../../src/ledger/text.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Session, session, untilBlocked } from '../races/sessions.js';
import { append, entryOf } from './receipts.js';

let db: TestDatabase;
let a: Session;
let b: Session;
beforeEach(async () => {
  db = await testDatabase();
  [a, b] = await Promise.all([session(db), session(db)]);
  await db.query(
    `update writ_data.dot_config set value = 'false' where key = 'ledger.sealing.enabled'`,
  ); // seals are receipts too
});
afterEach(async () => {
  await Promise.all([a.end(), b.end()]);
  await db.drop();
});

const tick = async (on: { query: TestDatabase['query'] } = db) =>
  (await on.query(`select writ.fn_ledger_tick('test') as answer`))[0]?.answer as {
    sequenced: number;
    busy?: true;
  };
const entries = (log: string) =>
  db.query(
    'select leaf_index::int as index, stream, stream_seq::int as seq, entry, leaf_hash from writ.ledger_entry where log_id = $1 order by leaf_index',
    [log],
  );
const head = async (log: string) =>
  (
    await db.query('select size::int as size, root from writ.ledger_log where log_id = $1', [log])
  )[0] as { size: number; root: string };

/**
 * The log is dense, each leaf is the hash of its entry, and the root is that of a tree made by
 * other means.
 */
async function check(log: string): Promise<number> {
  const rows = await entries(log);
  const tree = new CompactRange();
  rows.forEach((row, n) => {
    expect(row.index).toBe(n);
    expect(toHex(row.leaf_hash as Buffer)).toBe(toHex(leafHash(utf8(String(row.entry)))));
    tree.append(leafHash(utf8(String(row.entry))));
  });
  expect(await head(log)).toEqual({ size: rows.length, root: toHex(tree.root()) });
  const streams = new Map<unknown, number>();
  for (const { stream, seq } of rows) {
    expect(seq).toBe((streams.get(stream) ?? 0) + 1);
    streams.set(stream, seq as number);
  }
  return rows.length;
}

const from = (log: string, stream: string, first: number, count: number) =>
  Array.from({ length: count }, (_, n) => entryOf(log, stream, first + n));

test('committed receipts are in their logs after one turn, and the tree is that of RFC 6962', async () => {
  await append(db, [...from('acme', 'governor:1', 1, 3), ...from('umbrella', 'governor:9', 1, 2)]);
  expect((await tick()).sequenced).toBe(5);
  expect([await check('acme'), await check('umbrella')]).toEqual([3, 2]);
  expect((await tick()).sequenced).toBe(0);
});

test('a log grows by any number at a time to the same tree', async () => {
  let size = 0;
  for (const count of [1, 1, 2, 3, 5, 8, 250, 1, 255, 256, 257, 700]) {
    await append(db, from('acme', 's', size + 1, count));
    size += count;
    await tick();
    expect(await check('acme')).toBe(size);
  }
});

test('the root of every earlier size is still known', async () => {
  await append(db, from('acme', 's', 1, 600));
  await tick();
  const tree = new CompactRange();
  const roots = [toHex(tree.root())];
  for (const { entry } of await entries('acme')) {
    tree.append(leafHash(utf8(String(entry))));
    roots.push(toHex(tree.root()));
  }
  const found = await db.query(
    `select n, writ.fn_ledger_root_at('acme', n) ->> 'root' as root from generate_series(0, 601) n order by n`,
  );
  expect(found.map(({ root }) => root)).toEqual([...roots, null]);
});

test('a receipt whose transaction commits late is sequenced late, and others do not wait for it', async () => {
  await a.query('begin');
  await append(a, from('acme', 'slow', 1, 2));
  await append(db, from('acme', 'fast', 1, 3));
  expect((await tick()).sequenced).toBe(3);
  await append(db, from('acme', 'fast', 4, 1));
  expect((await tick()).sequenced).toBe(1);
  await a.query('commit');
  expect((await tick()).sequenced).toBe(2);
  expect((await tick()).sequenced).toBe(0);
  expect(await check('acme')).toBe(6);
});

test('a receipt of the youngest transaction is not passed over when an older one, which goes on writing after it, commits first', async () => {
  await a.query('begin');
  await a.query('select pg_current_xact_id()');
  await b.query('begin');
  await append(b, from('acme', 'young', 1, 2));
  await append(a, from('acme', 'old', 1, 3)); // larger numbers in an older transaction
  await a.query('commit');
  // b is younger than every transaction that has ended: no snapshot lists it as open
  expect((await tick()).sequenced).toBe(3);
  await b.query('commit');
  expect((await tick()).sequenced).toBe(2);
  expect((await tick()).sequenced).toBe(0);
  expect(await check('acme')).toBe(5);
});

test('a receipt whose transaction rolls back is never sequenced', async () => {
  await a.query('begin');
  await append(a, from('acme', 's', 1, 2));
  await tick();
  await a.query('rollback');
  await append(db, from('acme', 's', 1, 1));
  await tick();
  expect(await check('acme')).toBe(1);
});

test('numbers that were rolled back are not looked for for ever, even while there is always something open', async () => {
  const missing = async () =>
    Number(
      (
        await db.query(
          `select count(*) from writ_data.ledger_clockwork, unnest(missing + missing_before) m`,
        )
      )[0]?.count,
    );
  let n = 1;
  // Two transactions overlap like the links of a chain, and every second one is rolled back.
  const link = async () => {
    await a.query('begin');
    await append(a, from('acme', 'a', (n + 1) / 2, 1));
    await b.query('rollback');
    await append(db, from('acme', 's', n, 1));
    await tick();
    await b.query('begin');
    await append(b, from('acme', 'b', 1, 1));
    await a.query('commit');
    await append(db, from('acme', 's', n + 1, 1));
    await tick();
    n += 2;
    return missing();
  };
  for (let links = 0; links < 10; links++) await link();
  // Transactions of other databases on the server hold it up too, for moments: then the chain goes
  // on, slowly.
  await expect.poll(link, { timeout: 60_000, interval: 300 }).toBeLessThanOrEqual(4);
  await b.query('rollback');
  await expect.poll(() => tick().then(missing), { timeout: 60_000 }).toBe(0);
}, 150_000);

test('a stream keeps its order when an older transaction writes to it after a younger one', async () => {
  await a.query('begin');
  await append(a, from('acme', 'other', 1, 1)); // the older transaction has its number
  await b.query('begin');
  await append(b, [
    entryOf(
      'acme',
      's',
      Number((await b.query(`select writ_data.next_seq('acme', 's', 1) as n`))[0]?.n),
    ),
  ]);
  const waiting = a.query(`select writ_data.next_seq('acme', 's', 1) as n`);
  await untilBlocked(db, a);
  await b.query('commit');
  await append(a, [entryOf('acme', 's', Number((await waiting)[0]?.n))]);
  await tick();
  await a.query('commit');
  await tick();
  expect(await check('acme')).toBe(3);
});

test('of two sequencers at once one does it, and the other does not wait', async () => {
  await append(db, from('acme', 's', 1, 10));
  await a.query('begin');
  expect((await tick(a)).sequenced).toBe(10);
  expect(await tick(b)).toMatchObject({ busy: true, sequenced: 0 });
  await a.query('rollback'); // as a crash would
  expect((await tick(b)).sequenced).toBe(10);
  expect(await check('acme')).toBe(10);
});

test('more than one turn takes is taken in several, in order', async () => {
  await db.query(`do $$ begin for n in 0..24 loop perform writ_data.append_receipts(array(select writ_data.canonical(jsonb_build_object('receipt_id', gen_random_uuid(), 'timestamp', '2026-01-01T00:00:00.000Z',
    'sku_id', 'writ', 'tenant_id', 'acme', 'status', 'accept', 'reason', 'signal_received', 'context', jsonb_build_object('stream', 's', 'stream_seq', n * 1000 + i))) from generate_series(1, 1000) i), writ.now()); end loop; end $$`);
  const turns = [(await tick()).sequenced, (await tick()).sequenced, (await tick()).sequenced];
  expect(turns).toEqual([20_000, 5_000, 0]);
  expect(await check('acme')).toBe(25_000);
});

test('what is no receipt is not written, and nothing beside it', async () => {
  const receipts = () => db.query('select receipt_no from writ_data.receipt');
  const before = await receipts();
  const good = entryOf('acme', 's', 1);
  const object = JSON.parse(good) as Record<string, unknown>;
  const bad = [
    '{"not":"a receipt"}',
    JSON.stringify({ ...object, more: 1 }),
    JSON.stringify({ ...object, reason: 'nobody_knows' }),
    JSON.stringify({ ...object, status: 'refuse' }),
    JSON.stringify({ ...object, context: { stream: 's' } }),
  ];
  for (const entry of bad)
    await expect(append(db, [good, entry]), entry).rejects.toThrow('invalid_receipt');
  await expect(
    append(db, [entryOf('acme', 's', 1, { source: 'x'.repeat(70_000) })]),
  ).rejects.toThrow('entry_fits_a_bundle');
  await expect(append(db, [good.replace('82.5', '"\\ud800"')])).rejects.toThrow();
  expect(await receipts()).toEqual(before);
});

test('nobody can give a stream a number twice, or change, delete or truncate what is written', async () => {
  await append(db, from('acme', 's', 1, 2));
  await tick();
  await expect(append(db, from('acme', 's', 2, 1))).rejects.toThrow('receipt_by_stream');
  for (const table of [
    'receipt',
    'ledger_leaf',
    'event_seal',
    'ledger_checkpoint',
    'ledger_node',
  ]) {
    await expect(db.query(`truncate writ_data.${table}`), table).rejects.toThrow(
      'illegal_transition',
    );
  }
  await expect(db.query(`update writ_data.receipt set entry = 'x'`)).rejects.toThrow(
    'illegal_transition',
  );
  await expect(db.query('delete from writ_data.receipt')).rejects.toThrow('illegal_transition');
  await expect(db.query(`update writ_data.ledger_leaf set leaf_hash = '\\x00'`)).rejects.toThrow(
    'illegal_transition',
  );
  await expect(db.query('delete from writ_data.ledger_leaf')).rejects.toThrow('illegal_transition');
});
