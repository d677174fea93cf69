/** The ledger's logs: a log that cannot grow stops no other, and no signer has receipts dropped. */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keyOfSeed, privateKeyText, publicKeyText } from '../../src/ledger/note.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { entryOf } from '../ledger/receipts.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let signer: Login;
let engine: Login;
beforeEach(async () => {
  db = await testDatabase();
  signer = await login(db, ['writ_signer']);
  engine = await login(db, ['writ_engine']);
  // Seals are receipts too, and wait for open transactions of other databases.
  await db.query(
    `update writ_data.dot_config set value = 'false' where key = 'ledger.sealing.enabled'`,
  );
});
afterEach(async () => {
  for (const one of [signer, engine]) await one.end();
  await db.drop();
});

/** What a caller claims to have signed. */
const signed = { actor: 's', size: 1, signature: `${'A'.repeat(86)}==` };
const append = (log: string, seq: number) =>
  db.query('select writ_data.append_receipts(array[$1], writ.now())', [
    entryOf(log, 'governor:1', seq),
  ]);
const tick = () => engine.call('fn_ledger_tick', { actor: 'e' });
const heads = async () =>
  (await signer.call('fn_ledger_heads', { actor: 's' })) as unknown as {
    log: string;
    size: number;
  }[];
const sequenced = async (log: string) =>
  (
    await db.query(
      'select stream_seq::int as seq from writ.ledger_entry where log_id = $1 order by leaf_index',
      [log],
    )
  ).map((row) => row.seq);
const standing = async () =>
  (await db.query(
    'select code, subject, tenant_id from writ.alert where cleared_at is null order by 1, 2',
  )) as unknown[];
const record = (command: string) =>
  db.query('select actor, login from writ_data.event_batch where command = $1', [command]);

/** A superuser has put a leaf where the next receipt of the log belongs. */
const block = (log: string, index: number) =>
  db.query(
    `insert into writ_data.ledger_leaf (log_id, leaf_index, receipt_no, leaf_hash) values ($1, $2, -1, sha256('x'))`,
    [log, index],
  );
const unblock = (log: string, index: number) =>
  db.query(
    `do $$ begin alter table writ_data.ledger_leaf disable trigger user;
     delete from writ_data.ledger_leaf where log_id = '${log}' and leaf_index = ${index};
     alter table writ_data.ledger_leaf enable trigger user; end $$`,
  );

test('a log that cannot grow stops neither the sequencing nor the signing of others, and loses nothing', async () => {
  for (const log of ['acme', 'globex']) await append(log, 1);
  await tick();
  await block('acme', 1);
  for (const log of ['acme', 'globex']) await append(log, 2);
  await tick();
  expect(await sequenced('globex')).toEqual([1, 2]);
  expect((await heads()).map(({ log, size }) => [log, size])).toEqual([
    ['acme', 1],
    ['globex', 2],
    ['_system', 3], // the deployment's id, and one checkpoint of each log
  ]);
  expect(await standing()).toEqual([
    { code: 'LEDGER_LOG_STOPPED', subject: 'log/acme', tenant_id: 'acme' },
  ]);
  expect((await engine.call('fn_ledger_health', {})) as object).toMatchObject({ waiting: 1 });

  // Mended, it goes on in its order, with what has come since.
  await append('acme', 3);
  await tick();
  await unblock('acme', 1);
  await append('acme', 4);
  await db.clock.advance('2m');
  await tick();
  await tick();
  expect(await sequenced('acme')).toEqual([1, 2, 3, 4]);
  expect(await standing()).toEqual([]);
});

test('a leaf hash of the wrong length stops only its own log', async () => {
  await append('acme', 1);
  await db.query(
    `insert into writ_data.receipt (at, log_id, stream, stream_seq, receipt_id, entry, leaf_hash)
     values (writ.now(), 'acme', 's', 1, gen_random_uuid(), '{}', '\\x00')`,
  );
  await append('globex', 1);
  await tick();
  expect(await sequenced('globex')).toEqual([1]);
  expect(await standing()).toMatchObject([{ code: 'LEDGER_LOG_STOPPED', subject: 'log/acme' }]);
});

test('fn_ledger_heads omits a log whose root does not match its leaves, and signs the others', async () => {
  for (const log of ['acme', 'globex']) await append(log, 1);
  await tick();
  await db.query(`update writ_data.ledger_log set root = sha256('another') where log_id = 'acme'`);
  expect((await heads()).map(({ log }) => log)).toEqual(['globex', '_system']);
  expect(await standing()).toEqual([
    { code: 'LEDGER_LOG_DIFFERS', subject: 'log/acme', tenant_id: 'acme' },
  ]);
});

test('a failure to seal does not stop signing', async () => {
  await append('acme', 1);
  await db.query(
    `update writ_data.dot_config set value = 'true' where key = 'ledger.sealing.enabled'`,
  );
  await db.query(
    `alter function writ_data.seal_events(integer, timestamptz) rename to seal_events_away`,
  );
  expect((await heads()).map(({ log }) => log)).toEqual(['acme', '_system']);
  expect(await standing()).toMatchObject([{ code: 'LEDGER_SEALING_STOPPED' }]);
});

test('a month of receipts that cannot be dropped stops nothing', async () => {
  await db.query(`create view public.kept as select * from writ_data.receipt_${month()}`);
  await db.query(
    `insert into writ_data.receipt_archive values (date_trunc('month', now())::date, 'here', 'test', now())`,
  );
  await db.clock.advance('800d');
  await append('acme', 1); // makes its month
  await tick();
  await tick();
  expect(await sequenced('acme')).toContain(1);
  expect(await standing()).toMatchObject([{ code: 'RECEIPTS_NOT_KEPT' }]);
});

const month = () => new Date().toISOString().slice(0, 7).replace('-', '');

test('a signer cannot drop the receipts of this month by archiving the same month BC', async () => {
  await append('acme', 1);
  const same = `${new Date().toISOString().slice(0, 7)}-01 BC`;
  expect(
    await signer.call('fn_ledger_archived', { month: same, place: 'nowhere', ...signed }),
  ).toMatchObject({
    refused: true,
    reason: 'invalid_argument',
  });
  await tick();
  expect(await sequenced('acme')).toEqual([1]);
  expect(
    await db.query(`select to_regclass('writ_data.receipt_${month()}') is not null as kept`),
  ).toEqual([{ kept: true }]);
});

test.each([['1999-12-01'], ['0001-01-01'], ['4000-01-01 BC']])(
  'a signer archives no month without receipts: %s',
  async (text) => {
    expect(
      await signer.call('fn_ledger_archived', { month: text, place: 'here', ...signed }),
    ).toMatchObject({ reason: 'invalid_argument' });
    expect(await db.query('select from writ_data.receipt_archive')).toHaveLength(0);
  },
);

test('the record names the login of an archive, a key, an erasure and an accepted restore', async () => {
  const admin = await login(db, ['writ_admin']);
  try {
    await db.query(`select writ_data.make_receipt_partition((now() - interval '2 months')::date)`);
    const past = new Date();
    past.setUTCDate(1);
    past.setUTCMonth(past.getUTCMonth() - 2);
    const own = keyOfSeed('n', new Uint8Array(32).fill(7));
    const key = {
      key: publicKeyText(own),
      replaces: null,
      signature_new: 'AAAA',
      signature_old: null,
      actor: 'said',
    };
    expect(await signer.call('fn_ledger_key_add', key)).toEqual({ added: true });
    const writ = await db.connect({ actor: 'other' });
    const size = (await writ.ledger.checkpoint({ key: privateKeyText(own), places: [] })).at(
      -1,
    )?.size;
    const month = past.toISOString().slice(0, 10);
    const archived = await signer.call('fn_ledger_archived', {
      month,
      place: 'here',
      actor: 'said',
      size,
      signature: signed.signature,
    });
    expect(archived).toHaveProperty('month');
    await append('acme', 1);
    const [row] = await db.query(`select receipt_id from writ_data.receipt where log_id = 'acme'`);
    await db.query(
      `insert into writ_data.receipt_erasable select receipt_no, sha256('h'), 's', '1' from writ_data.receipt where log_id = 'acme'`,
    );
    const erase = { receipt_id: row?.receipt_id, reason: 'asked for by its owner', actor: 'said' };
    expect(await admin.call('fn_receipt_erase', erase)).toEqual({ erased: 1 });
    const restore = {
      ...{
        known_checkpoint: null,
        known_epoch: null,
        known_size: null,
        reason: 'restored from a backup',
        actor: 'said',
      },
      ...{
        epoch: 2,
        size: 0,
        root: createHash('sha256').digest('hex'),
        signature: signed.signature,
      },
    };
    expect(await admin.call('fn_ledger_accept_restore', restore)).toHaveProperty('logs');
    expect(await record('fn_ledger_archived')).toEqual([{ actor: 'said', login: signer.name }]);
    expect(await record('fn_ledger_key_add')).toEqual([{ actor: 'said', login: signer.name }]);
    expect(await record('fn_receipt_erase')).toEqual([{ actor: 'said', login: admin.name }]);
    expect(await record('fn_ledger_accept_restore')).toEqual([
      { actor: 'said', login: admin.name },
    ]);
  } finally {
    await admin.end();
  }
});
