/**
 * The ledger checker's own checks: a ledger without damage counts nothing, and each kind of damage,
 * done by hand behind the gates, is counted as what it is.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { defineJob } from '../../src/index.js';
import { keyOfSeed, privateKeyText } from '../../src/ledger/note.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { append, entryOf } from '../ledger/receipts.js';
import { until } from '../races/sessions.js';
import { checkLedger, prepareLedger, rootsAt, seenIn } from './ledger-checker.mjs';

const chore = defineJob<{ n: number }>('chore');
const key = privateKeyText(keyOfSeed('faults.example/test', new Uint8Array(32).fill(3)));
const streams = ['governor:1', 'governor:2'];

let db: TestDatabase;
let client: pg.Client;
let folder: string;
let published: string[];

/**
 * Two logs as a fault run would leave them, their record sealed in several segments, and two
 * checkpoints outside; one more transaction was rolled back.
 */
beforeAll(async () => {
  db = await testDatabase();
  folder = mkdtempSync(join(tmpdir(), 'writ-checker-'));
  const place = join(folder, 'checkpoint');
  client = new pg.Client({ connectionString: db.connectionString });
  await client.connect();
  await prepareLedger(client);
  const writ = await db.connect();
  published = [];
  for (let round = 0; round < 2; round++) {
    for (const log of ['acme', 'umbrella']) {
      for (const stream of streams) await writeDown(log, stream, 3 * round + 1, 3);
    }
    for (let n = 0; n < 5; n++) await writ.enqueue(chore, { n });
    await until(async () => {
      await db.clock.advance('2s');
      await db.query(`select writ.fn_ledger_tick('test')`);
      const [left] = await db.query(
        `select (select count(*) from writ_data.event_batch) - (select coalesce(sum(n_rows), 0) from writ_data.event_seal) as rows`,
      );
      return Number(left?.rows) === 0;
    });
    await writ.ledger.checkpoint({ key, places: [place] });
    published.push(readFileSync(place, 'utf8'));
  }
  await client.query(
    `insert into fault.tried values ($1, $2, 'acme', 'governor:1', 7, 'rolled_back')`,
    [randomUUID(), randomUUID()],
  );
});
afterAll(async () => {
  await client.end();
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Receipts of one transaction, with its witness, and what its writer would have put down. */
async function writeDown(log: string, stream: string, first: number, count: number): Promise<void> {
  const tx = randomUUID();
  const entries = Array.from({ length: count }, (_, n) => entryOf(log, stream, first + n));
  await append(db, entries);
  await client.query('insert into fault.written values ($1)', [tx]);
  for (const entry of entries) {
    const { receipt_id, context } = JSON.parse(entry) as {
      receipt_id: string;
      context: { stream_seq: number };
    };
    await client.query(`insert into fault.tried values ($1, $2, $3, $4, $5, 'committed')`, [
      tx,
      receipt_id,
      log,
      stream,
      context.stream_seq,
    ]);
  }
}

// Each test does its damage in a transaction of its own, which is undone afterwards.
beforeEach(() => client.query('begin'));
afterEach(() => client.query('rollback'));

const found = async (notes = published) =>
  (await checkLedger(client, notes)).map(({ verdict, what }) => `${verdict}: ${what}`);
/** Past every trigger, as only an administrator can. */
const behindTheGates = (sql: string) =>
  client.query(`set local session_replication_role = replica; ${sql}`);
const first = (log: string) =>
  `(select receipt_no from writ_data.ledger_leaf where log_id = '${log}' and leaf_index = 0)`;

test('a ledger without damage counts nothing', async () => {
  expect(await found()).toEqual([]);
});

const damages: [what: string, sql: string][] = [
  [
    'lost: a transaction was answered as committed and is not there',
    `delete from fault.written where tx = (select tx from fault.tried where answered = 'committed' limit 1)`,
  ],
  [
    'lost: a committed receipt is not in its log',
    `delete from writ_data.ledger_leaf where receipt_no = ${first('acme')}`,
  ],
  ['lost: a row of the record is not sealed', `delete from writ_data.event_seal where segment = 1`],
  [
    'lost: a signed tree of acme was larger',
    `delete from writ_data.ledger_leaf where log_id = 'acme' and leaf_index = 11`,
  ],
  [
    'repeated: a receipt is in its log more than once',
    `drop index writ_data.ledger_leaf_by_receipt; insert into writ_data.ledger_leaf select log_id, 12, receipt_no, leaf_hash from writ_data.ledger_leaf where receipt_no = ${first('acme')}`,
  ],
  [
    'repeated: a number of a stream is there more than once',
    `drop index writ_data.ledger_leaf_by_receipt; insert into writ_data.ledger_leaf select log_id, 12, receipt_no, leaf_hash from writ_data.ledger_leaf where receipt_no = ${first('acme')}`,
  ],
  [
    'repeated: a row of the record is sealed more than once',
    `update writ_data.event_seal set from_xid = '0' where segment = 2`,
  ],
  [
    'unreceipted: a segment is not what its receipt in _system says',
    `update writ_data.event_seal set root = sha256('other') where segment = 1`,
  ],
  [
    'unreceipted: a receipt of a segment has no segment',
    `delete from writ_data.event_seal where segment = 2`,
  ],
  [
    'unreceipted: a signed tree is not in _system',
    `update writ_data.ledger_checkpoint set root = sha256('other') where log_id = 'acme'`,
  ],
  [
    'stuck: a receipt has no place in a log',
    `delete from writ_data.ledger_leaf where receipt_no = ${first('umbrella')}`,
  ],
  [
    'wrong: a transaction was answered as rolled back and is there',
    `insert into fault.written select tx from fault.tried where answered = 'rolled_back'`,
  ],
  [
    'wrong: a receipt is there without its transaction',
    `delete from fault.written where tx = (select tx from fault.tried where answered = 'committed' limit 1)`,
  ],
  ['wrong: a receipt that nobody wrote', `delete from fault.tried where log_id = 'umbrella'`],
  [
    'wrong: a log is not dense',
    `update writ_data.ledger_leaf set leaf_index = 20 where log_id = 'acme' and leaf_index = 11`,
  ],
  [
    'wrong: a stream is out of order in its log',
    `update writ_data.ledger_leaf set leaf_index = 100 - leaf_index where log_id = 'acme'`,
  ],
  [
    'wrong: a leaf is not the hash of its entry',
    `update writ_data.ledger_leaf set leaf_hash = sha256('other') where receipt_no = ${first('acme')}`,
  ],
  [
    'wrong: an entry is not what its columns say',
    `update writ_data.receipt set stream = 'other' where receipt_no = ${first('acme')}`,
  ],
  [
    'wrong: segments have holes, or do not follow each other',
    `update writ_data.event_seal set segment = 9 where segment = (select max(segment) from writ_data.event_seal)`,
  ],
  [
    'wrong: a tree of acme is not that of its entries',
    `update writ_data.receipt set entry = replace(entry, 'MEDIUM', 'LOW') where receipt_no = ${first('acme')}`,
  ],
  [
    'wrong: a tree of umbrella is not that of its entries',
    `update writ_data.ledger_log set frontier = sha256('other') where log_id = 'umbrella'`,
  ],
  [
    'wrong: a segment is not that of its rows',
    `update writ_data.event_batch set actor = 'somebody else' where batch_id = (select to_id from writ_data.event_seal where segment = 1)`,
  ],
];

test.each(damages)('%s', async (what, sql) => {
  await behindTheGates(sql);
  expect(await found()).toContain(what);
});

test('a checkpoint outside that is larger than the log, or of another one, is counted', async () => {
  const [origin, size, root, ...rest] = String(published[1]).split('\n');
  const other = (lines: (string | undefined)[]) => [...lines, ...rest].join('\n');
  expect(await found([other([origin, String(Number(size) + 1), root])])).toEqual([
    'lost: a signed tree of _system was larger',
  ]);
  expect(await found([other([origin, size, Buffer.alloc(32).toString('base64')])])).toEqual([
    'wrong: a tree of _system is not that of its entries',
  ]);
  expect(seenIn(other(['deployment/a%2Fb/3', '17', root]), 'outside')).toMatchObject({
    log: 'a/b',
    size: 17,
  });
});

test('the roots are those that certificate transparency tests itself with', () => {
  const entries = [
    '',
    '00',
    '10',
    '2021',
    '3031',
    '40414243',
    '5051525354555657',
    '606162636465666768696a6b6c6d6e6f',
  ];
  const leaves = entries.map((entry) =>
    createHash('sha256')
      .update(Buffer.from(`00${entry}`, 'hex'))
      .digest(),
  );
  const roots = rootsAt(leaves, new Set([0, 1, 3, 5, 8]));
  expect(Object.fromEntries(roots)).toEqual({
    0: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    1: '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    3: 'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    5: '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    8: '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  });
});
