/**
 * `writ.ledger` as a reader: receipts by log, subject, person, reason and time; logs and
 * checkpoints.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ListedReceipt, Page, ReceiptFilter, Writ } from '../../src/index.js';
import { keyOfSeed, privateKeyText } from '../../src/ledger/note.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { append, entryOf } from './receipts.js';

let db: TestDatabase;
let writ: Writ;
beforeAll(async () => {
  db = await testDatabase();
  writ = await db.connect();
  const of = (tenant: string, stream: string, first: number, n: number, more = {}) =>
    append(
      db,
      Array.from({ length: n }, (_, i) => entryOf(tenant, stream, first + i, more)),
    );
  await of('acme', 'governor:a', 1, 30);
  await of('acme', 'governor:b', 1, 5, { by: 'ada' });
  await of('globex', 'governor:a', 1, 10, { principal: 'ada' });
  await db.query(`select writ.fn_ledger_tick('test')`);
  await of('acme', 'governor:a', 31, 2);
});
afterAll(async () => {
  await db.drop();
});

const seqs = (items: readonly ListedReceipt[]) =>
  items.map(({ receipt }) => receipt.context.stream_seq);

async function all(filter: ReceiptFilter): Promise<ListedReceipt[]> {
  const rows: ListedReceipt[] = [];
  let page: Page<ListedReceipt> = await writ.ledger.receipts(filter);
  for (;;) {
    rows.push(...page.items);
    if (page.next === null) return rows;
    page = await writ.ledger.receipts({ ...filter, after: page.next });
  }
}

test('pages through all receipts, the newest first, sequenced or not', async () => {
  const found = await all({ limit: 7 });
  expect(found).toHaveLength(48); // with that of the deployment
  expect(found[0]).toMatchObject({
    log: 'acme',
    index: null,
    receipt: { tenant_id: 'acme', reason: 'signal_received', context: { stream_seq: 32 } },
  });
  expect(new Set(found.map(({ receipt }) => receipt.receipt_id)).size).toBe(48);
});

test('lists the log of a tenant by its places, and a subject by its numbers', async () => {
  const acme = await all({ tenant: 'acme', limit: 10 });
  expect(acme.map(({ index }) => index)).toEqual(Array.from({ length: 35 }, (_, n) => 34 - n));
  const stream = await all({ tenant: 'acme', subject: 'governor:a', limit: 9 });
  expect(seqs(stream)).toEqual(Array.from({ length: 32 }, (_, n) => 32 - n));
  expect(await writ.with({ tenant: 'globex' }).ledger.receipts()).toMatchObject({
    items: Array.from({ length: 10 }, () => ({ log: 'globex' })),
    next: null,
  });
  await expect(writ.ledger.receipts({ subject: 'governor:a' })).rejects.toMatchObject({
    code: 'invalid_argument',
  });
});

test('searches by person, reason and time', async () => {
  const count = async (filter: ReceiptFilter) => (await all(filter)).length;
  expect(await count({ person: 'ada' })).toBe(15);
  expect(await count({ person: 'ada', tenant: 'acme', limit: 2 })).toBe(5);
  expect(await count({ person: 'nobody' })).toBe(0);
  expect(await count({ reason: 'signal_received', tenant: 'globex' })).toBe(10);
  expect(await count({ reason: 'change_applied' })).toBe(0);
  expect(await count({ since: '2020-01-01T00:00:00Z' })).toBe(48);
  expect(await count({ until: '2020-01-01T00:00:00Z' })).toBe(0);
  await expect(writ.ledger.receipts({ since: 'soon' })).rejects.toMatchObject({
    code: 'invalid_argument',
  });
});

test('goes on with a search behind the receipts that a page has looked at', async () => {
  await append(
    db,
    Array.from({ length: 6_000 }, (_, n) => entryOf('large', 'governor:x', n + 1)),
  );
  const first = await writ.ledger.receipts({ person: 'ada' });
  expect(first.items).toEqual([]);
  expect(first.next).not.toBeNull();
  expect(await all({ person: 'ada' })).toHaveLength(15);
});

test('finds one receipt by its id, of its own tenant alone', async () => {
  const [one] = (await writ.ledger.receipts({ tenant: 'globex', limit: 1 })).items;
  const id = String(one?.receipt.receipt_id);
  expect(await writ.ledger.receipt(id)).toEqual(one);
  for (const wrong of [
    () => writ.ledger.receipt(id, { tenant: 'acme' }),
    () => writ.ledger.receipt('no id'),
    () => writ.ledger.receipt('01999999-0000-7000-8000-000000000000'),
  ])
    await expect(wrong()).rejects.toMatchObject({ code: 'receipt_not_found' });
});

test('takes no cursor of another list', async () => {
  const { next } = await writ.ledger.receipts({ tenant: 'acme', limit: 1 });
  for (const after of [String(next), 'nonsense'])
    await expect(writ.ledger.receipts({ after })).rejects.toMatchObject({ code: 'invalid_cursor' });
});

test('lists logs, the deployment’s first, and signed checkpoints, the newest first', async () => {
  const key = privateKeyText(keyOfSeed('acme.example/test', new Uint8Array(32).fill(7)));
  await writ.ledger.checkpoint({ key, places: [] });
  await append(db, [entryOf('acme', 'governor:c', 1)]);
  await writ.ledger.checkpoint({ key, places: [] });
  const logs = (await writ.ledger.logs()).items;
  expect(logs.map(({ log }) => log)).toEqual(['_system', 'large', 'acme', 'globex']);
  expect(logs[2]).toMatchObject({ size: 38, signed: 38, epoch: 1, signed_s: expect.any(Number) });
  expect((await writ.ledger.checkpoints({ log: 'acme' })).items).toMatchObject([
    { log: 'acme', size: 38, root: expect.stringMatching(/^[0-9a-f]{64}$/) },
    { log: 'acme', size: 37 },
  ]);
  expect(await writ.ledger.status()).toMatchObject({ waiting: 0, key: expect.any(String) });
});
