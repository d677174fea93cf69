/**
 * What an auditor gets: signed checkpoints outside, exports, proofs of single receipts and events;
 * and that whoever changes the database behind them, with every right there is, is found out, at
 * the first entry that is not what it was.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defineJob } from '../../src/index.js';
import { canonicalize } from '../../src/ledger/canonical.js';
import { erasable } from '../../src/ledger/erasable.js';
import { keyOfSeed, privateKeyText, publicKeyText } from '../../src/ledger/note.js';
import { verifyEventProof, verifyReceiptProof } from '../../src/ledger/proofs.js';
import { receipt } from '../../src/ledger/receipt.js';
import { toHex } from '../../src/ledger/text.js';
import { verifyExport } from '../../src/ledger/verify.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import type { Writ } from '../../src/writ.js';
import { direct, type Session, session, until, untilBlocked } from '../races/sessions.js';
import { append, entryOf } from './receipts.js';

const signer = keyOfSeed('acme.example/test', new Uint8Array(32).fill(7));
const key = privateKeyText(signer);
const keys = [publicKeyText(signer)];
const chore = defineJob<{ n: number }>('chore');

let db: TestDatabase;
let writ: Writ;
let folder: string;
let place: string;
beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  folder = mkdtempSync(join(tmpdir(), 'writ-ledger-'));
  place = join(folder, 'checkpoint');
});
afterEach(async () => {
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

const receipts = (log: string, first: number, count: number, stream = 'governor:1') =>
  append(
    db,
    Array.from({ length: count }, (_, n) => entryOf(log, stream, first + n)),
  );
const enqueue = (count: number) =>
  writ.enqueueMany(
    chore,
    Array.from({ length: count }, (_, n) => ({ input: { n } })),
  );
/** Everything is sealed: what other databases of this server have open holds it up. */
const seal = () =>
  until(async () => {
    await db.clock.advance('2s');
    await db.query(`select writ.fn_ledger_tick('test')`);
    const [left] = await db.query(
      `select (select count(*) from writ_data.event_batch) - (select coalesce(sum(rows), 0) from writ.event_seal) as rows`,
    );
    return Number(left?.rows) === 0;
  });
const sign = async () => {
  await seal();
  return writ.ledger.checkpoint({ key, places: [place] });
};
const outside = () => readFileSync(place, 'utf8');
const verify = (checkpoint: string | undefined = existsSync(place) ? outside() : undefined) =>
  writ.ledger.verify({ keys, ...(checkpoint ? { checkpoint } : {}) });
const firstProblem = async () => (await verify()).problems[0];

test('what was signed verifies: the logs of tenants, the log of the deployment, and the sealed record', async () => {
  await receipts('acme', 1, 300);
  await receipts('umbrella', 1, 3);
  await enqueue(50);
  const published = await sign();
  expect(published.map(({ log }) => log)).toEqual(['acme', 'umbrella', '_system']);
  const verdict = await verify();
  expect(verdict).toMatchObject({ ok: true, problems: [] });
  expect(verdict.logs.map(({ log, size }) => [log, size])).toEqual(
    expect.arrayContaining([
      ['acme', 300],
      ['umbrella', 3],
    ]),
  );
});

test('a log that has not grown is signed again, and kept once', async () => {
  await receipts('acme', 1, 3);
  await sign();
  await writ.ledger.checkpoint({ key, places: [place] });
  await writ.ledger.checkpoint({ key, places: [place] });
  const kept = await db.query(
    'select log_id, count(*)::int as n, count(distinct size)::int as sizes from writ.ledger_checkpoint group by log_id',
  );
  for (const { n, sizes } of kept) expect(n).toBe(sizes);
});

test('an export verifies offline, and is brought up to date in its folder', async () => {
  await receipts('acme', 1, 300);
  await enqueue(5);
  await sign();
  const path = join(folder, 'export');
  await writ.ledger.export(path);
  const read = async (file: string) =>
    existsSync(join(path, file)) ? readFileSync(join(path, file)) : null;
  expect(await verifyExport(read, { keys, checkpoint: outside() })).toMatchObject({ ok: true });
  await receipts('acme', 301, 500);
  await enqueue(5);
  await sign();
  // the export is older than what is known outside
  expect((await verifyExport(read, { keys, checkpoint: outside() })).ok).toBe(false);
  await writ.ledger.export(path);
  expect(await verifyExport(read, { keys, checkpoint: outside() })).toMatchObject({
    ok: true,
    problems: [],
  });
  writeFileSync(
    join(path, 'logs/acme/tile/entries/000'),
    Buffer.from(readFileSync(join(path, 'logs/acme/tile/entries/000'))).fill(120, 100, 101),
  );
  expect((await verifyExport(read, { keys, checkpoint: outside() })).problems[0]).toMatchObject({
    log: 'acme',
    index: 0,
  });
});

test('a proof of a receipt, and of a single event of the queue, is checked with the public key alone', async () => {
  await receipts('acme', 1, 700);
  const [job] = await enqueue(7);
  await sign();
  const [row] = await db.query(
    `select receipt_id from writ.receipt where log_id = 'acme' and leaf_index = 333`,
  );
  const receipt = verifyReceiptProof(
    JSON.parse(JSON.stringify(await writ.ledger.proveReceipt(String(row?.receipt_id)))),
    { keys },
  );
  expect(receipt).toMatchObject({
    log: 'acme',
    index: 333,
    receipt: { receipt_id: row?.receipt_id },
  });
  const [event] = await db.query(
    `select id from writ.event_outbox where event_subject_ref = $1 and event_type = 'dot.job.enqueued'`,
    [job?.jobId],
  );
  const proof = JSON.parse(JSON.stringify(await writ.ledger.proveEvent(String(event?.id))));
  expect(verifyEventProof(proof, { keys }).event).toEqual({
    event_id: event?.id,
    type: 'dot.job.enqueued',
    subject: job?.jobId,
  });
  expect(() =>
    verifyEventProof(
      { ...proof, event: proof.event.replace('fn_job_enqueue', 'fn_job_enqueuE') },
      { keys },
    ),
  ).toThrow();
});

test('what is not signed yet, not sealed, or not there is said to be so', async () => {
  await expect(
    writ.ledger.proveEvent('00000000-0000-7000-8000-000000000001'),
  ).rejects.toMatchObject({ code: 'event_not_sealed' });
  await expect(writ.ledger.export(join(folder, 'x'))).rejects.toMatchObject({
    code: 'no_checkpoint',
  });
  await receipts('acme', 1, 1);
  const [row] = await db.query('select receipt_id from writ.receipt');
  await expect(writ.ledger.proveReceipt(String(row?.receipt_id))).rejects.toMatchObject({
    code: 'no_checkpoint',
  });
  await sign();
  await receipts('acme', 2, 1);
  const [later] = await db.query('select receipt_id from writ.receipt where stream_seq = 2');
  await expect(writ.ledger.proveReceipt(String(later?.receipt_id))).rejects.toMatchObject({
    code: 'not_yet_signed',
  });
});

test('every event of the record is sealed once, in dense segments, and a late commit in a later one', async () => {
  await db.query(`update writ_data.dot_config set value = '3' where key = 'ledger.seal.rows'`);
  const late = await session(db);
  await late.query('begin');
  await late.query(`select writ.fn_job_kind_register('late', '{}', 'late')`);
  for (let n = 0; n < 10; n++) await enqueue(1);
  for (let n = 0; n < 10; n++) {
    await db.clock.advance('2s');
    await db.query(`select writ.fn_ledger_tick('test')`);
  }
  await late.query('commit');
  await late.end();
  await sign();
  expect(await verify()).toMatchObject({ ok: true });
  const [counts] =
    await db.query(`select count(*)::int as segments, max(segment)::int as last, sum(rows)::int as rows,
    (select count(*)::int from writ_data.event_batch) as all from writ.event_seal`);
  expect(counts?.segments).toBe(counts?.last);
  expect(counts?.rows).toBe(counts?.all);
});

describe('somebody with every right changes the database', () => {
  let superuser: Session;
  beforeEach(async () => {
    await receipts('acme', 1, 600);
    await enqueue(20);
    await sign();
    superuser = await session(direct(db));
    await superuser.query('set session_replication_role = replica'); // no trigger stands in the way
  });
  afterEach(() => superuser.end());
  const noOf = async (index: number) =>
    Number(
      (
        await db.query(
          `select receipt_no from writ_data.ledger_leaf where log_id = 'acme' and leaf_index = $1`,
          [index],
        )
      )[0]?.receipt_no,
    );

  test('an edited receipt is named', async () => {
    await superuser.query(
      `update writ_data.receipt set entry = replace(entry, '82.5', '12.5') where receipt_no = $1`,
      [await noOf(417)],
    );
    expect(await firstProblem()).toMatchObject({ log: 'acme', index: 417 });
  });

  test('one edited together with its leaf hash is named as well', async () => {
    const no = await noOf(417);
    await superuser.query(
      `update writ_data.receipt set entry = replace(entry, '82.5', '12.5') where receipt_no = $1`,
      [no],
    );
    await superuser.query(
      `update writ_data.ledger_leaf l set leaf_hash = sha256('\\x00'::bytea || convert_to(r.entry, 'UTF8')) from writ_data.receipt r where r.receipt_no = l.receipt_no and l.receipt_no = $1`,
      [no],
    );
    const verdict = await verify();
    expect(verdict.ok).toBe(false);
    expect(verdict.problems.map(({ log }) => log)).toContain('acme');
  });

  test('a deleted receipt is named', async () => {
    await superuser.query('delete from writ_data.receipt where receipt_no = $1', [await noOf(300)]);
    expect(await firstProblem()).toMatchObject({ log: 'acme', index: expect.closeTo(300, -2.5) });
  });

  test('an inserted receipt is named', async () => {
    await superuser.query(
      `update writ_data.ledger_leaf set leaf_index = -leaf_index - 1 where log_id = 'acme' and leaf_index >= 100`,
    );
    await superuser.query(
      `update writ_data.ledger_leaf set leaf_index = -leaf_index where log_id = 'acme' and leaf_index < 0`,
    );
    await superuser.query(
      `insert into writ_data.receipt (at, log_id, stream, stream_seq, receipt_id, entry, leaf_hash) select at, log_id, 'other', 1, gen_random_uuid(), entry, leaf_hash from writ_data.receipt where receipt_no = $1`,
      [await noOf(0)],
    );
    await superuser.query(
      `insert into writ_data.ledger_leaf select 'acme', 100, receipt_no, leaf_hash from writ_data.receipt where stream = 'other'`,
    );
    expect(await firstProblem()).toMatchObject({ log: 'acme', index: 100 });
  });

  test('two receipts in each other’s place are named', async () => {
    const [first, second] = [await noOf(50), await noOf(51)];
    await superuser.query(
      `update writ_data.ledger_leaf set receipt_no = -receipt_no where receipt_no = any ($1)`,
      [[first, second]],
    );
    await superuser.query(
      `update writ_data.ledger_leaf l set receipt_no = case when leaf_index = 50 then $2::bigint else $1::bigint end,
      leaf_hash = (select leaf_hash from writ_data.receipt where receipt_no = case when leaf_index = 50 then $2::bigint else $1::bigint end) where log_id = 'acme' and leaf_index in (50, 51)`,
      [first, second],
    );
    expect(await firstProblem()).toMatchObject({ log: 'acme', index: 50 });
  });

  test('a log whose end was cut off is found by what is known outside, even down to an older signed checkpoint', async () => {
    await receipts('acme', 601, 50);
    await sign();
    const known = outside();
    await superuser.query(`delete from writ_data.ledger_checkpoint where checkpoint_no > 2`);
    const [system] = await db.query(
      `select size::int as size, epoch from writ_data.ledger_checkpoint where log_id = '_system' order by checkpoint_no desc limit 1`,
    );
    await superuser.query(
      `delete from writ_data.ledger_leaf where log_id = '_system' and leaf_index >= $1`,
      [system?.size],
    );
    await superuser.query(
      `delete from writ_data.ledger_leaf where log_id = 'acme' and leaf_index >= 600`,
    );
    expect(await verify(known)).toMatchObject({ ok: false, problems: [{ kind: 'truncated' }] });
    expect((await writ.ledger.verify({ keys })).notes.join()).toMatch(/truncation not checked/i);
  });

  test('a sealed event that was edited is named', async () => {
    const [row] = await superuser.query(
      `update writ_data.event_batch set actor = 'nobody' where command = 'fn_job_enqueue' and actor = 'app' returning batch_id`,
    );
    const problem = await firstProblem();
    expect(problem).toMatchObject({ kind: 'segment', batch_id: row?.batch_id });
  });

  test('a sealed event that was deleted is found', async () => {
    await superuser.query(`delete from writ_data.event_batch where command = 'fn_job_enqueue'`);
    expect(await firstProblem()).toMatchObject({ kind: 'segment' });
  });

  test('a whole log in the place of another is not signed over, and not verified', async () => {
    await superuser.query(
      `update writ_data.receipt set entry = replace(entry, '82.5', '12.5') where log_id = '_system' or log_id = 'acme'`,
    );
    await superuser.query(
      `update writ_data.receipt set leaf_hash = sha256('\\x00'::bytea || convert_to(entry, 'UTF8'))`,
    );
    await superuser.query(
      `delete from writ_data.ledger_leaf; delete from writ_data.ledger_node; delete from writ_data.ledger_log; update writ_data.ledger_clockwork set last_no = 0`,
    );
    await superuser.query(
      `update writ_data.receipt set entry = replace(entry, '"log":"acme"', '"log":"acm3"'), leaf_hash = sha256('\\x00'::bytea || convert_to(replace(entry, '"log":"acme"', '"log":"acm3"'), 'UTF8')) where log_id = '_system'`,
    );
    await expect(sign()).rejects.toMatchObject({
      code: expect.stringMatching(/ledger_replaced|database_older_than_checkpoint/),
    });
    expect((await verify()).ok).toBe(false);
  });
});

describe('a backup is restored', () => {
  /** The state of the ledger's tables as a backup has it. */
  const tables = [
    'receipt',
    'ledger_leaf',
    'ledger_node',
    'ledger_log',
    'ledger_checkpoint',
    'receipt_stream',
    'event_seal',
    'ledger_clockwork',
    'event_batch',
  ];
  const backup = async (on: Session) => {
    for (const table of tables)
      await on.query(`create table public.backup_${table} as table writ_data.${table}`);
  };
  const restore = async (on: Session) => {
    for (const table of tables) {
      await on.query(`delete from writ_data.${table}`);
      await on.query(
        `insert into writ_data.${table} overriding system value table public.backup_${table}`,
      );
    }
  };

  test('it is refused until somebody accepts it, on the record, and then it verifies with what was lost', async () => {
    await receipts('acme', 1, 20);
    await sign();
    const superuser = await session(direct(db));
    await superuser.query('set session_replication_role = replica');
    await backup(superuser);
    await receipts('acme', 21, 5);
    await enqueue(3);
    await sign();
    const known = outside();
    await restore(superuser);
    await superuser.end();
    const guarded = { places: [place], keys };
    const accepted = { ...guarded, key };
    await expect(writ.ledger.assertNotOlder(guarded)).rejects.toMatchObject({
      code: 'database_older_than_checkpoint',
    });
    await expect(sign()).rejects.toMatchObject({ code: 'database_older_than_checkpoint' });
    expect(await verify(known)).toMatchObject({ ok: false });
    await expect(writ.ledger.acceptRestore({ ...accepted, reason: 'oops' })).rejects.toMatchObject({
      code: 'reason_required',
    });
    await writ.ledger.acceptRestore({ ...accepted, reason: 'The disk of the primary was lost.' });
    await writ.ledger.assertNotOlder(guarded);
    await receipts('acme', 21, 2);
    await sign();
    const verdict = await verify(known);
    expect(verdict.problems).toEqual([]);
    expect(verdict.notes.join()).toMatch(/The disk of the primary was lost/);
    expect((await verify()).ok).toBe(true);
  });
});

describe('places and keys', () => {
  let server: Server;
  let url: string;
  let held: string | undefined;
  let status = 200;
  beforeEach(async () => {
    held = undefined;
    status = 200;
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        if (status === 200 && request.method === 'PUT') held = body;
        response.statusCode =
          status === 200 && request.method === 'GET' && held === undefined ? 404 : status;
        response.end(request.method === 'GET' ? held : '');
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    url = `http://user:secret@127.0.0.1:${(server.address() as AddressInfo).port}/checkpoint`;
  });
  afterEach(() => server.close());

  test('a checkpoint is published to every place, and one that cannot be reached is named without its password', async () => {
    await receipts('acme', 1, 1);
    await writ.ledger.checkpoint({ key, places: [place, url] });
    expect(held).toBe(outside());
    status = 500;
    await receipts('acme', 2, 1);
    const failure = await writ.ledger
      .checkpoint({ key, places: [place, url] })
      .catch((error: Error) => error);
    expect(failure).toMatchObject({ code: 'checkpoint_place_unreachable' });
    expect(String((failure as Error).message)).not.toContain('secret');
  });

  test('a key is replaced by another that both have signed for, and nobody else signs', async () => {
    await receipts('acme', 1, 5);
    await sign();
    const next = keyOfSeed(signer.name, new Uint8Array(32).fill(9));
    await expect(
      writ.ledger.checkpoint({ key: privateKeyText(next), places: [] }),
    ).rejects.toMatchObject({ code: 'key_mismatch' });
    await writ.ledger.rotateKey({ old: key, next: privateKeyText(next) });
    await expect(sign()).rejects.toMatchObject({ code: 'key_mismatch' });
    await receipts('acme', 6, 5);
    await writ.ledger.checkpoint({ key: privateKeyText(next), places: [place], trusted: keys });
    const verdict = await verify();
    expect(verdict).toMatchObject({ ok: true });
    expect(
      (await writ.ledger.verify({ keys: [publicKeyText(next)], checkpoint: outside() })).ok,
    ).toBe(true);
  });

  test('of two who sign at once, the one who knows less and is the later to say so is not believed more', async () => {
    const { Writ } = await import('../../src/writ.js');
    await receipts('acme', 1, 3);
    let overtaken = false;
    const slow = await Writ.connect({
      db: {
        async query(sql: string, params?: unknown[]) {
          if (sql.includes('fn_ledger_checkpoint_record') && !overtaken) {
            overtaken = true;
            await receipts('acme', 4, 3);
            await sign();
          }
          return db.query(sql, params);
        },
      },
    });
    const [acme, system] = await slow.ledger.checkpoint({ key, places: [place] });
    expect([acme?.size, overtaken]).toEqual([3, true]);
    expect(outside()).not.toBe(system?.note);
    const verdict = await verify();
    expect(verdict).toMatchObject({ ok: true, problems: [] });
    expect(verdict.logs.find(({ log }) => log === 'acme')?.size).toBe(6);
  });

  test('of two keys that are introduced at once one is the first', async () => {
    const [a, b] = await Promise.all([session(db), session(db)]);
    const add = (on: Session, text: string) =>
      on.gate(`fn_ledger_key_add($1, null, 'x', null, 'test')`, [text]);
    await a.query('begin');
    expect(await add(a, String(keys[0]))).toEqual({ added: true });
    const [same, other] = [add(b, String(keys[0])), session(db)];
    const c = await other;
    const another = add(c, 'acme.example/test+00000000+AQ==');
    await Promise.all([untilBlocked(db, b), untilBlocked(db, c)]);
    await a.query('commit');
    expect([await same, await another]).toMatchObject([
      { added: false },
      { refused: true, reason: 'key_mismatch' },
    ]);
    await Promise.all([a, b, c].map((one) => one.end()));
  });

  test('connecting to a database that is older than what is known outside is refused', async () => {
    await receipts('acme', 1, 5);
    await sign();
    const other = await testDatabase();
    try {
      const { Writ } = await import('../../src/writ.js');
      await expect(
        Writ.connect({
          connectionString: other.connectionString,
          ledger: { places: [place], keys },
        }),
      ).rejects.toMatchObject({
        code: 'database_older_than_checkpoint',
      });
    } finally {
      await other.drop();
    }
  });
});

test('what may have to be erased is behind a salted hash: erased, the proofs hold', async () => {
  const made = receipt('action_failed', {
    receipt_id: randomUUID(),
    timestamp: new Date(),
    sku_id: 'acme-catalog-v1',
    tenant_id: 'acme',
    status: 'error',
    context: {
      stream: 'governor:1',
      stream_seq: 1,
      action_id: randomUUID(),
      action_type: 'scale_up_cloud_run',
      failure_reason: 'service_error',
      error_message: erasable('the phone of Ada'),
      retry_countdown: 2,
      max_retries: 3,
    },
  });
  const { receipt_id: id } = made.receipt;
  const out = made.erasables.map(({ hash, salt, value }) => ({
    entry: 1,
    hash,
    salt: toHex(salt),
    value,
  }));
  await db.query('select writ_data.append_receipts(array[$1], writ.now(), $2::jsonb)', [
    canonicalize(made.receipt),
    JSON.stringify(out),
  ]);
  expect(await db.query('select value from writ_data.receipt_erasable')).toEqual([
    { value: 'the phone of Ada' },
  ]);
  expect(canonicalize(made.receipt)).not.toContain('Ada');
  await sign();
  expect(await writ.ledger.erase(id, 'Ada asked for it on Monday.')).toBe(1);
  expect(await writ.ledger.erase(id, 'Ada asked for it on Monday.')).toBe(0);
  expect(await db.query('select from writ_data.receipt_erasable')).toEqual([]);
  await sign();
  expect((await verify()).ok).toBe(true);
  expect(verifyReceiptProof(await writ.ledger.proveReceipt(id), { keys }).receipt.receipt_id).toBe(
    id,
  );
  expect(await db.query(`select from writ.receipt where stream = 'erasure'`)).toHaveLength(1);
});
