/**
 * A login with every role and without the ledger key: what it makes the ledger say about itself is
 * a finding of the next verification.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keyOfSeed, privateKeyText, publicKeyText, signCheckpoint } from '../../src/ledger/note.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import type { Writ } from '../../src/writ.js';
import { entryOf } from '../ledger/receipts.js';
import { type Login, login } from './logins.js';

const signer = keyOfSeed('acme.example/test', new Uint8Array(32).fill(7));
const bogus = keyOfSeed('acme.example/test', new Uint8Array(32).fill(9));
const keys = [publicKeyText(signer)];
const signature = `${'A'.repeat(86)}==`;

let db: TestDatabase;
let writ: Writ;
let admin: Login;
let folder: string;
beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  admin = await login(db, ['workflow_admin']);
  folder = mkdtempSync(join(tmpdir(), 'writ-ledger-admin-'));
  // Seals wait for open transactions of other databases.
  await db.query(
    `update writ_data.dot_config set value = 'false' where key = 'ledger.sealing.enabled'`,
  );
  await append(1, 300);
  await sign();
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  await admin.end();
  await db.drop();
});

const append = (first: number, count: number) =>
  db.query('select writ_data.append_receipts($1::text[], writ.now())', [
    Array.from({ length: count }, (_, n) => entryOf('acme', 'test:1', first + n)),
  ]);
const sign = async () =>
  (await writ.ledger.checkpoint({ key: privateKeyText(signer), places: [] })).at(-1)!;
const month = new Date().toISOString().slice(0, 7);
const archived = (size: number) =>
  admin.call('fn_ledger_archived', {
    month: `${month}-01`,
    place: '/dev/null',
    actor: 'root',
    size,
    signature,
  });

test('a month that it lets be dropped for an archive at /dev/null is a finding before and after the drop', async () => {
  await db.clock.advance('9600h'); // 400 days
  await append(301, 1);
  const { size } = await sign();
  expect(await archived(size)).toMatchObject({ month: `${month}-01` });
  await sign();
  const unsigned = {
    kind: 'archive_unsigned',
    subject: month,
    message: expect.stringContaining('/dev/null'),
  };
  expect(await writ.ledger.verify({ keys })).toMatchObject({ ok: false, problems: [unsigned] });
  await writ.ledger.export(folder);

  await db.clock.advance('2h');
  await admin.call('fn_ledger_tick', { actor: 'root' });
  const verdict = await writ.ledger.verify({ keys });
  expect(verdict.problems).toMatchObject([
    { kind: 'receipts_missing', subject: 'acme:0-300' },
    { kind: 'receipts_missing', log: '_system' },
  ]);
  // Who has exported in time has everything still.
  expect(await writ.ledger.verify({ keys, archive: folder })).toMatchObject({
    ok: false,
    problems: [unsigned],
  });
});

test('no month is dropped over a checkpoint that the signing key has not made', async () => {
  await db.clock.advance('9600h');
  await append(301, 1);
  const heads = (await admin.call('fn_ledger_heads', { actor: 'root' })) as unknown as {
    log: string;
    size: number;
    root: string;
  }[];
  const forged = heads.map((head) => ({
    ...head,
    note: signCheckpoint(
      { deployment: bogus.name, log: head.log, epoch: 1 },
      head.size,
      Buffer.from(head.root, 'hex'),
      [bogus],
    ),
  }));
  expect(
    await admin.call('fn_ledger_checkpoint_record', {
      checkpoints: JSON.stringify(forged),
      actor: 'root',
    }),
  ).toMatchObject({
    reason: 'checkpoint_mismatch',
  });
  expect(await archived(heads.at(-1)!.size)).toMatchObject({ reason: 'not_yet_signed' });
});

test('a restore that it accepts in advance is a finding', async () => {
  const root = createHash('sha256').digest('hex');
  const restore = {
    known_checkpoint: null,
    known_epoch: 9,
    known_size: 1_000_000,
    reason: 'for later, to be on the safe side',
  };
  await admin.call('fn_ledger_accept_restore', {
    ...restore,
    actor: 'root',
    epoch: 10,
    size: 0,
    root,
    signature,
  });
  await sign();
  const { problems } = await writ.ledger.verify({ keys });
  expect(problems).toContainEqual(
    expect.objectContaining({ kind: 'restore_unsigned', subject: '_system:10' }),
  );
});

test('a bogus key that it puts in the place of the one that signs is a finding, though nothing was signed since', async () => {
  const added = {
    key: publicKeyText(bogus),
    replaces: publicKeyText(signer),
    signature_new: signature,
    signature_old: signature,
  };
  await admin.call('fn_ledger_key_add', { ...added, actor: 'root' });
  await expect(sign()).rejects.toMatchObject({ code: 'key_mismatch' });
  expect(await writ.ledger.verify({ keys })).toMatchObject({
    ok: false,
    problems: [{ kind: 'key_unknown', subject: `${bogus.name}+${bogus.id}` }],
  });
});
