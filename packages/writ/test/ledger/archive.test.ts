/**
 * Months of receipts are dropped when they have been archived, and not before; the archive and the
 * database together verify as before.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keyOfSeed, privateKeyText, publicKeyText } from '../../src/ledger/note.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import type { Writ } from '../../src/writ.js';
import { direct, session } from '../races/sessions.js';
import { append, entryOf } from './receipts.js';

const signer = keyOfSeed('acme.example/test', new Uint8Array(32).fill(7));
const key = privateKeyText(signer);
const keys = [publicKeyText(signer)];

let db: TestDatabase;
let writ: Writ;
let folder: string;
beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  folder = mkdtempSync(join(tmpdir(), 'writ-archive-'));
  await db.query(
    `update writ_data.dot_config set value = 'false' where key = 'ledger.sealing.enabled'`,
  );
});
afterEach(async () => {
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

const receipts = (first: number, count: number) =>
  append(
    db,
    Array.from({ length: count }, (_, n) => entryOf('acme', 'governor:1', first + n)),
  );
const tick = () => db.query(`select writ.fn_ledger_tick('test')`);
const months = async () =>
  (
    await db.query(`select relname from pg_class where relname ~ '^receipt_[0-9]{6}$' order by 1`)
  ).map(({ relname }) => relname);
const month = new Date().toISOString().slice(0, 7);
const partition = `receipt_${month.replace('-', '')}`;
const archived = async (at: string) => {
  const [head] = await db.query(
    `select max(size) as size from writ.ledger_checkpoint where log_id = '_system'`,
  );
  return db.query(`select writ.fn_ledger_archived($1, 'here', 'test', $2, $3) as answer`, [
    at,
    head?.size,
    signature,
  ]);
};
const signature = `${'A'.repeat(86)}==`;

test('a month stays until it is archived, is dropped after its retention, and the archive stands in for it', async () => {
  await receipts(1, 700);
  await tick();
  await writ.ledger.checkpoint({ key, places: [] });
  expect((await archived(`${month}-01`))[0]?.answer).toMatchObject({
    refused: true,
    reason: 'month_not_over',
  });
  await db.clock.advance('9600h'); // 400 days
  await tick();
  expect(await months()).toContain(partition);
  await receipts(701, 10);
  await writ.ledger.checkpoint({ key, places: [] });
  const exported = await writ.ledger.export(folder);
  expect(await writ.ledger.archived({ key, month, place: folder, exported })).toMatchObject({
    month: `${month}-01`,
  });
  await db.clock.advance('2h');
  await tick();
  expect(await months()).not.toContain(partition);
  // The database alone cannot show them any more, and says so; with the archive it can; a new
  // export into the archive adds what is new.
  expect((await writ.ledger.verify({ keys })).ok).toBe(false);
  expect(await writ.ledger.verify({ keys, archive: folder })).toMatchObject({
    ok: true,
    problems: [],
  });
  await receipts(711, 300);
  await tick();
  await writ.ledger.checkpoint({ key, places: [] });
  await writ.ledger.export(folder);
  expect(await writ.ledger.verify({ keys, archive: folder })).toMatchObject({
    ok: true,
    problems: [],
  });
  await expect(writ.ledger.export(join(folder, 'elsewhere'))).rejects.toMatchObject({
    code: 'not_in_database',
  });
});

test('a month in which a receipt is not in its log yet cannot be archived', async () => {
  const open = await session(db);
  await open.query('begin');
  await append(open, [entryOf('acme', 'slow', 1)]);
  await db.clock.advance('2400h');
  await tick();
  await open.query('commit');
  await open.end();
  expect((await archived(`${month}-01`))[0]?.answer).toMatchObject({
    refused: true,
    reason: 'receipts_not_sequenced',
  });
  await tick();
  expect((await archived(`${month}-01`))[0]?.answer).toMatchObject({
    refused: true,
    reason: 'not_yet_signed',
  });
  await writ.ledger.checkpoint({ key, places: [] });
  expect((await archived(`${month}-01`))[0]?.answer).toMatchObject({ month: `${month}-01` });
});

test('a dump that is restored into another server goes on: nothing is sequenced twice, nothing is passed over', async () => {
  await receipts(1, 5);
  await tick();
  await receipts(6, 3); // in the dump, and not yet in the log
  // Another server counts its transactions anew: seen from there, those of the dump are far in the
  // future.
  const superuser = await session(direct(db));
  await superuser.query('set session_replication_role = replica');
  await superuser.query(
    `update writ_data.ledger_clockwork set missing_xid = (missing_xid::text::bigint + 1000000000)::text::xid8`,
  );
  await superuser.end();
  for (let n = 0; n < 3; n++) {
    await receipts(9 + n, 1);
    await tick();
    await tick();
  }
  const found = await db.query(
    `select stream_seq::int as seq from writ.ledger_entry where log_id = 'acme' order by leaf_index`,
  );
  expect(found.map(({ seq }) => seq)).toEqual(Array.from({ length: 11 }, (_, n) => n + 1));
  await writ.ledger.checkpoint({ key, places: [] });
  expect((await writ.ledger.verify({ keys })).ok).toBe(true);
});
