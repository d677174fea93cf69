/** The ledger against a signer that lies, and against receipts that somebody has planted. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { keyOfSeed, publicKeyText, signCheckpoint } from '../../src/ledger/note.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let signer: Login;
let engine: Login;
beforeEach(async () => {
  db = await testDatabase();
  // a receipt to sign
  await db.query(`select writ.fn_setting_set('queue.notify.enabled', 'true', 'test')`);
  signer = await login(db, ['writ_signer']);
  engine = await login(db, ['writ_engine']);
});
afterEach(async () => {
  for (const one of [signer, engine]) await one.end();
  await db.drop();
});

interface Head {
  readonly log: string;
  readonly epoch: number;
  readonly size: number;
  readonly root: string;
}
/** The form of a signature. */
const any = `${'A'.repeat(86)}==`;
const heads = async () =>
  (await signer.call('fn_ledger_heads', { actor: 's' })) as unknown as Head[];
const key = keyOfSeed('writ.example', new Uint8Array(32).fill(7));
const noteOf = ({ size, root }: Head, by = key, epoch = 1) =>
  signCheckpoint({ deployment: by.name, log: '_system', epoch }, size, Buffer.from(root, 'hex'), [
    by,
  ]);
const begin = () =>
  signer.call('fn_ledger_key_add', {
    ...{
      key: publicKeyText(key),
      replaces: null,
      signature_new: 'AAAA',
      signature_old: null,
      actor: 's',
    },
  });
const record = (checkpoint: object) =>
  signer.call('fn_ledger_checkpoint_record', {
    checkpoints: JSON.stringify([checkpoint]),
    actor: 's',
  });

describe('a signer', () => {
  test('records a checkpoint that matches the log', async () => {
    await begin();
    const head = (await heads()).at(-1) as Head;
    expect(await record({ ...head, note: noteOf(head) })).toEqual({ recorded: 1 });
  });

  test.each<[string, (head: Head) => object]>([
    [
      'another root',
      (h) => ({ ...h, root: '00'.repeat(32), note: noteOf({ ...h, root: '00'.repeat(32) }) }),
    ],
    [
      'a size that the log has not reached',
      (h) => ({ ...h, size: h.size + 1, note: noteOf({ ...h, size: h.size + 1 }) }),
    ],
    [
      'a note that another key has signed',
      (h) => ({ ...h, note: noteOf(h, keyOfSeed('writ.example', new Uint8Array(32))) }),
    ],
    [
      'a note of another deployment',
      (h) => ({ ...h, note: noteOf(h, keyOfSeed('other.example', new Uint8Array(32))) }),
    ],
    ['a note of another epoch', (h) => ({ ...h, note: noteOf(h, key, 2) })],
    ['an unsigned note', (h) => ({ ...h, note: noteOf(h).replace(/— .*/, '— writ.example AAAA') })],
    ['a note with another root', (h) => ({ ...h, note: noteOf({ ...h, root: '00'.repeat(32) }) })],
    ['a note with another size', (h) => ({ ...h, note: noteOf({ ...h, size: h.size + 9 }) })],
    ['an unknown log', (h) => ({ log: 'nobody', epoch: null, size: 0, root: h.root, note: '' })],
    ['an unknown epoch', (h) => ({ ...h, epoch: 7, note: noteOf(h) })],
    ['no fields', () => ({})],
    ['text as its size', (h) => ({ ...h, size: 'many', note: noteOf(h) })],
  ])('records no checkpoint with %s', async (_, forge) => {
    await begin();
    const head = (await heads()).at(-1) as Head;
    expect(await record(forge(head))).toMatchObject({
      refused: true,
      reason: 'checkpoint_mismatch',
    });
    expect(await db.query('select from writ.ledger_checkpoint')).toHaveLength(0);
  });

  test.each([
    [null],
    ['infinity'],
    ['-infinity'],
    ['2999-01-01'],
    [new Date().toISOString().slice(0, 10)],
  ])('archives no month that is %s', async (month) => {
    expect(
      await signer.call('fn_ledger_archived', {
        month,
        place: 'here',
        actor: 's',
        size: 1,
        signature: any,
      }),
    ).toMatchObject({
      refused: true,
    });
    expect(await db.query('select from writ_data.receipt_archive')).toHaveLength(0);
  });

  test('adds no malformed key, and replaces no key but the one that signs', async () => {
    const key = (text: string | null, replaces: string | null = null) =>
      signer.call('fn_ledger_key_add', {
        key: text,
        replaces,
        signature_new: 'AAAA',
        signature_old: 'AAAA',
        actor: 's',
      });
    for (const text of [null, '', 'x', 'a b+00000000+AAAA', `n+00000000+${'A'.repeat(100_000)}`])
      expect(await key(text)).toMatchObject({ refused: true, reason: 'invalid_argument' });
    expect(await key('n+00000001+AAAA')).toEqual({ added: true });
    expect(await key('n+00000002+AAAA')).toMatchObject({ reason: 'key_mismatch' });
    expect(await key('n+00000002+AAAA', 'n+00000001+AAAA')).toEqual({ added: true });
    expect(await key('n+00000001+AAAA', 'n+00000002+AAAA')).toMatchObject({
      reason: 'key_mismatch',
    });
  });

  test('accepts no restore', async () => {
    expect(
      await signer.attempt(
        `select writ.fn_ledger_accept_restore(null, null, null, 'because I say so', 's', 2, 0, '', '')`,
      ),
    ).toBe('42501');
  });
});

test('accepting a restore cannot use up the numbers of epochs', async () => {
  const [row] = await db.query(
    `select writ.fn_ledger_accept_restore(null, 2147483647, 1, 'because I say so', 's', 2, 0, '', $1) as answer`,
    [any],
  );
  expect(row?.answer).toMatchObject({ refused: true, reason: 'checkpoint_mismatch' });
});

test('a planted number in the stream of seals stops neither sealing nor signing', async () => {
  const tick = () => engine.call('fn_ledger_tick', { actor: 'e' });
  const work = () =>
    db.query(`select writ.fn_job_kind_register('k' || floor(random() * 1e9)::text, '{}', 'test')`);
  await work();
  await tick();
  const [last] = await db.query(
    `select coalesce(max(last_seq), 0) + 1 as next from writ_data.receipt_stream where stream = 'seal'`,
  );
  await db.query(
    `insert into writ_data.receipt (at, log_id, stream, stream_seq, receipt_id, entry, leaf_hash)
     values (writ.now(), '_system', 'seal', $1, gen_random_uuid(), '{}', sha256('x'))`,
    [last?.next],
  );
  const sealed = async () =>
    Number((await db.query('select count(*) as n from writ.event_seal'))[0]?.n);
  const before = await sealed();
  // Open transactions of other databases on this server can hold sealing up for a while.
  await vi.waitFor(
    async () => {
      await work();
      await db.clock.advance('2s');
      await tick();
      expect(await sealed()).toBeGreaterThan(before);
    },
    { timeout: 25_000, interval: 50 },
  );
  expect(await db.query(`select code from writ.alert where code = 'RECEIPT_PLANTED'`)).toHaveLength(
    1,
  );
  expect((await heads()).at(-1)).toMatchObject({ log: '_system' });
});
