/**
 * `writ ledger export`, `verify` and `prove`: what leaves the database can be checked without it,
 * and what was changed is named.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defineJob } from '../../../src/index.js';
import type { GrowthProof } from '../../../src/ledger/proofs.js';
import { entryOf } from '../../ledger/receipts.js';
import { sealEverything } from '../../ledger/sealing.js';
import { Scene } from './scene.js';

let scene: Scene;
let key: string;
/** Commands that need no database get one that cannot be reached. */
const nowhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' };

beforeEach(async () => {
  scene = await Scene.make();
  key = await scene.key();
});
afterEach(() => scene.end());

const enqueue = async () =>
  (await scene.db.connect()).enqueue(defineJob<{ name: string }>('greet'), { name: 'Ada' });

describe('export and verify', () => {
  test('an export is verified without a database, against a key and a checkpoint from outside; one in its folder is brought up to date', async () => {
    await enqueue();
    await sealEverything(scene.db);
    await scene.receipts('acme', 1, 300);
    await scene.sign();
    const exported = await scene.ledger(['export', 'export']);
    expect([exported.code, exported.stdout]).toEqual([
      0,
      expect.stringMatching(/^Exported 30\d receipts of 2 logs, \d+ segments? of sealed events/),
    ]);
    const { code, stdout, stderr } = await scene.ledger(
      ['verify', 'export', '--key', key, '--checkpoint', 'checkpoint'],
      nowhere,
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^✓ The ledger of acme\.example\/test is as it was signed: 2 logs, 30\d entries\.\n/,
    );
    expect(stdout).toMatch(/^ {2}_system: .* agrees with outside at \d+$/m);
    expect(stdout).not.toContain('note:');

    await scene.receipts('acme', 301, 5);
    await scene.sign();
    const older = await scene.ledger(
      ['verify', 'export', '--key', key, '--checkpoint', 'checkpoint'],
      nowhere,
    );
    expect([older.code, older.stdout]).toEqual([
      1,
      expect.stringMatching(/^✗ .*does NOT verify[\s\S]*✗ Log _system is truncated/),
    ]);
    await scene.json(['export', 'export']);
    expect(
      (
        await scene.ledger(
          ['verify', 'export', '--key', key, '--checkpoint', 'checkpoint'],
          nowhere,
        )
      ).code,
    ).toBe(0);
  });

  test('the database itself is verified, and what was not checked is said', async () => {
    await scene.receipts('acme', 1, 3);
    await scene.sign();
    const { code, stdout } = await scene.ledger(['verify']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/note: Truncation not checked/);
    expect(stdout).toMatch(/note: Keys are the database’s own word/);
    const known = await scene.ledger(['verify', '--checkpoint', 'checkpoint'], {
      WRIT_LEDGER_PUBLIC_KEYS: key,
    });
    expect([known.code, known.stdout]).toEqual([0, expect.not.stringContaining('note:')]);
  });

  test('an entry that was changed in an export is named, and what it says has no say over the terminal', async () => {
    await scene.receipts('acme', 1, 3);
    await scene.sign();
    await scene.json(['export', 'export', '--no-events']);
    const bundle = scene.path('export/logs/acme/tile/entries/000.p/3');
    writeFileSync(
      bundle,
      readFileSync(bundle, 'latin1').replace('monitoring', 'monit\u001b[2Jng'.slice(0, 10)),
      'latin1',
    );
    const { code, stdout } = await scene.ledger(['verify', 'export', '--key', key], nowhere);
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/✗ Log acme, entry 0: its bytes are not the ones that were hashed/),
    ]);
    expect(stdout).not.toContain('\u001b');
    const problems = JSON.parse(
      (await scene.ledger(['verify', 'export', '--key', key, '--json'], nowhere)).stdout,
    ).problems;
    expect(problems[0]).toMatchObject({ kind: 'entry', log: 'acme', index: 0 });
  });

  test('missing evidence is named, and may be waived by that name', async () => {
    await enqueue();
    await sealEverything(scene.db);
    await scene.sign();
    await scene.json(['export', 'export', '--no-events']);
    const { code, stdout } = await scene.ledger(['verify', 'export', '--key', key], nowhere);
    const [, finding = ''] =
      /^ {2}✗ .* missing, from events\/000000001\.jsonl on\..* \((segments_missing:\S+)\)$/m.exec(
        stdout,
      ) ?? [];
    expect([code, finding]).toEqual([1, expect.stringMatching(/^segments_missing:1/)]);
    const waived = await scene.ledger(
      ['verify', 'export', '--key', key, '--waive', finding],
      nowhere,
    );
    expect([waived.code, waived.stdout]).toEqual([
      0,
      expect.stringMatching(/but for 1 waived finding[\s\S]*^ {2}waived segments_missing:1/m),
    ]);
    const wrong = await scene.ledger(
      ['verify', 'export', '--key', key, '--waive', 'entry:acme'],
      nowhere,
    );
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringMatching(/--waive: .*"entry" is not a finding that can be waived/),
    ]);
  });

  test('an export of somebody else’s key does not pass for ours, and by its own word says so', async () => {
    await scene.sign();
    await scene.json(['export', 'export']);
    const stranger = await scene.key('stranger');
    const { code, stdout } = await scene.ledger(['verify', 'export', '--key', stranger], nowhere);
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/None of the keys that were given has signed/),
    ]);
    const own = await scene.ledger(['verify', 'export'], nowhere);
    expect([own.code, own.stdout]).toEqual([
      0,
      expect.stringMatching(/Keys are the export’s own word/),
    ]);
  });

  test.each([
    ['a folder that is not there', ['verify', 'gone'], 2, /gone is not a folder/],
    ['a folder that is no export', ['verify', '.'], 1, /export\.json is missing/],
    [
      'a checkpoint that is not there',
      ['verify', '--checkpoint', 'gone'],
      2,
      /gone holds no checkpoint/,
    ],
    ['a checkpoint that is none', ['verify', '--checkpoint', 'key'], 1, /not a signed checkpoint/],
    [
      'a key that is none',
      ['verify', '--key', 'geheim'],
      2,
      /--key: This is not a key of a ledger/,
    ],
    [
      'a database in which nothing was signed',
      ['verify'],
      1,
      /Nothing has been signed yet[\s\S]*writ ledger keygen/,
    ],
    ['an export of nothing', ['export', 'x'], 1, /Nothing has been signed yet/],
    ['an archive of a month that is none', ['export', 'x', '--archive', '2026-13'], 2, /YYYY-MM/],
    [
      'an archive of a month to come',
      ['export', 'x', '--archive', '2999-01'],
      1,
      /month is not over/,
    ],
  ] as const)('%s is said in words', async (_name, args, exit, words) => {
    const { code, stdout, stderr } = await scene.ledger(args);
    expect([code, stdout + stderr]).toEqual([exit, expect.stringMatching(words)]);
    expect(stdout + stderr).not.toMatch(/geheim|PRIVATE/);
  });

  test('a private key in the place of a public one is not repeated', async () => {
    const { code, stderr } = await scene.ledger(['verify', '--key', scene.read('key').trim()]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/this is a private one/)]);
    // base64 may have a + of its own
    expect(stderr).not.toContain(/^(?:[^+]+\+){4}(.+)$/.exec(scene.read('key').trim())?.[1]);
  });

  test('where an export cannot be written is said', async () => {
    await scene.sign();
    const { code, stderr } = await scene.ledger(['export', 'key/inside']);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/key\/inside cannot be written: ENOTDIR/),
    ]);
  });
});

describe('archiving a month', () => {
  const month = () => {
    const date = new Date();
    date.setUTCDate(0); // the last day of the month before
    return date.toISOString();
  };
  const archives = () =>
    scene.db.query('select month::text, place, archived_by from writ_data.receipt_archive');
  const lastMonth = async (count: number) => {
    await scene.db.query('select writ_data.make_receipt_partition($1::timestamptz::date)', [
      month(),
    ]);
    const entries = Array.from({ length: count }, (_, n) => entryOf('acme', 'governor:1', n + 1));
    await scene.db.query('select writ_data.append_receipts($1::text[], $2::timestamptz)', [
      entries,
      month(),
    ]);
  };

  test('the export is verified first; then the month may be dropped, and from when on is shown', async () => {
    await lastMonth(5);
    await scene.sign();
    const name = month().slice(0, 7);
    const { code, stdout } = await scene.ledger([
      'export',
      'archive',
      '--archive',
      name,
      '--key',
      key,
      '--sign',
      'key',
      '--actor',
      'ada',
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(
        `To archive ${name} allows its 5 receipts to be dropped from the database, from \\d{4}-\\d\\d-\\d\\d on\\.[\\s\\S]*Archived ${name}\\.`,
      ),
    );
    expect(await archives()).toEqual([
      { month: `${name}-01`, place: scene.path('archive'), archived_by: 'ada' },
    ]);
  });

  test('an archive that does not verify allows nothing', async () => {
    await lastMonth(5);
    await scene.sign();
    await scene.json(['export', 'archive']);
    const bundle = scene.path('archive/logs/acme/tile/entries/000.p/5');
    writeFileSync(
      bundle,
      readFileSync(bundle, 'latin1').replace('monitoring', 'monitorinG'),
      'latin1',
    );
    const { code, stderr } = await scene.ledger([
      'export',
      'archive',
      '--archive',
      month().slice(0, 7),
      '--sign',
      'key',
    ]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/does not verify, so nothing may be dropped[\s\S]*empty folder/),
    ]);
    expect(await archives()).toEqual([]);
  });

  test('receipts that no checkpoint covers keep their month', async () => {
    await scene.sign();
    await lastMonth(2);
    const { code, stderr } = await scene.ledger([
      'export',
      'archive',
      '--archive',
      month().slice(0, 7),
      '--sign',
      'key',
    ]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/No signed checkpoint covers this yet\. \(2 receipts of/),
    ]);
    expect(await archives()).toEqual([]);
  });
});

describe('prove', () => {
  test('an event and a receipt are proven, and the proofs are checked with the public key alone', async () => {
    const { jobId } = await enqueue();
    await sealEverything(scene.db);
    await scene.receipts('acme', 1, 3);
    await scene.sign();
    const [event] = await scene.db.query(
      `select id from writ.event_outbox where event_subject_ref = $1`,
      [jobId],
    );
    const [receipt] = await scene.db.query(
      `select receipt_id from writ.receipt where log_id = 'acme' and stream_seq = 2`,
    );
    expect(
      (await scene.ledger(['prove', '--event', String(event?.id), '--out', 'event.json'])).stdout,
    ).toMatch(/prove --check event\.json/);
    const ofEvent = await scene.ledger(['prove', '--check', 'event.json', '--key', key], nowhere);
    expect([ofEvent.code, ofEvent.stderr]).toEqual([0, '']);
    expect(ofEvent.stdout).toMatch(
      new RegExp(
        `✓ The proof holds[\\s\\S]*dot\\.job\\.enqueued of ${jobId}[\\s\\S]*acme\\.example/test`,
      ),
    );
    // Without --out the proof itself is what is printed.
    writeFileSync(
      scene.path('receipt.json'),
      (await scene.ledger(['prove', '--receipt', String(receipt?.receipt_id)])).stdout,
    );
    const ofReceipt = await scene.ledger(
      ['prove', '--check', 'receipt.json', '--key', key],
      nowhere,
    );
    expect([ofReceipt.code, ofReceipt.stdout]).toEqual([
      0,
      expect.stringMatching(/signal_received \(accept\)[\s\S]*1 of log acme/),
    ]);

    writeFileSync(
      scene.path('forged.json'),
      scene.read('event.json').replace('fn_job_enqueue', 'fn_job_enqueuE'),
    );
    const forged = await scene.ledger(['prove', '--check', 'forged.json', '--key', key], nowhere);
    expect([forged.code, forged.stdout, forged.stderr]).toEqual([
      1,
      '',
      expect.stringMatching(/The proof does not hold/),
    ]);
    const stranger = await scene.key('stranger');
    const foreign = await scene.ledger(
      ['prove', '--check', 'event.json', '--key', stranger],
      nowhere,
    );
    expect([foreign.code, foreign.stderr]).toEqual([
      1,
      expect.stringMatching(/None of the keys that were given/),
    ]);
  });

  test('that the log has only grown since a checkpoint which was kept is proven, and a person can read it', async () => {
    await scene.sign();
    renameSync(scene.path('checkpoint'), scene.path('kept'));
    await scene.receipts('acme', 1, 3);
    await scene.sign();
    const size = (file: string) => scene.read(file).split('\n')[1];
    const made = await scene.ledger(['prove', '--since', 'kept', '--out', 'growth.json']);
    expect([made.code, made.stdout]).toEqual([
      0,
      expect.stringMatching(/The proof is in growth\.json.*prove --check growth\.json/),
    ]);
    const { code, stdout, stderr } = await scene.ledger(
      ['prove', '--check', 'growth.json', '--key', key],
      nowhere,
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, ' '))).toEqual([
      '✓ The proof holds: the log has only grown.',
      '',
      'log _system',
      `then ${size('kept')} entries, epoch 1`,
      'deployment acme.example/test',
      `checkpoint ${size('checkpoint')} entries, epoch 1, signed by ${/^[^+]+\+[^+]+/.exec(key)?.[0]}`,
      '',
    ]);
    const told = JSON.parse(
      (await scene.ledger(['prove', '--check', 'growth.json', '--key', key, '--json'], nowhere))
        .stdout,
    );
    expect(told).toMatchObject({
      log: '_system',
      size: Number(size('checkpoint')),
      before: { epoch: 1, size: Number(size('kept')) },
    });
    // Without --out the proof itself is what is printed.
    expect((await scene.ledger(['prove', '--since', 'kept'])).stdout).toBe(
      scene.read('growth.json'),
    );

    const proof = JSON.parse(scene.read('growth.json')) as GrowthProof;
    for (const [bent, words] of [
      [
        { ...proof, before: proof.checkpoint, checkpoint: proof.before },
        /The proof does not hold.*does not begin with one of/,
      ],
      [{ ...proof, consistency: [] }, /The proof does not hold.*too short/],
      [
        { ...proof, before: proof.before.replace(/\n\d+\n/, '\n0\n') },
        /a signature of a known key that does not fit/,
      ],
    ] as const) {
      writeFileSync(scene.path('bent.json'), JSON.stringify(bent));
      const { code, stdout, stderr } = await scene.ledger(
        ['prove', '--check', 'bent.json', '--key', key],
        nowhere,
      );
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(words)]);
    }
  });

  test('a database that is not the one the checkpoint was signed for does not prove that it is', async () => {
    await scene.sign();
    const other = await Scene.make();
    try {
      writeFileSync(other.path('key'), scene.read('key'), { mode: 0o600 });
      await other.receipts('acme', 1, 3);
      await other.sign(); // at least as many as were kept: a key and the tree of acme
      const { code, stdout, stderr } = await other.ledger([
        'prove',
        '--since',
        scene.path('checkpoint'),
      ]);
      expect([code, stdout, stderr]).toEqual([
        1,
        '',
        expect.stringMatching(/is not the one that a checkpoint outside was signed for/),
      ]);
      for (let n = 1; n < 6; n++) {
        await scene.receipts('acme', n, 1);
        await scene.sign();
      }
      const ahead = await other.ledger(['prove', '--since', scene.path('checkpoint')]);
      expect([ahead.code, ahead.stderr]).toEqual([
        1,
        expect.stringMatching(
          /No signed checkpoint covers this yet\. \(\d+ receipts of _system are signed, and the checkpoint has \d+\)/,
        ),
      ]);
    } finally {
      await other.end();
    }
  });

  test.each([
    ['nothing to prove', [], 2, /one of --event, --receipt, --since and --check/],
    ['two things at once', ['--event', 'a', '--receipt', 'b'], 2, /one of --event/],
    ['growth, and a check of it', ['--since', 'key', '--check', 'b'], 2, /one of --event/],
    [
      'growth since a place with nothing in it',
      ['--since', 'gone'],
      2,
      /gone holds no checkpoint[\s\S]*--since/,
    ],
    ['growth since what is no checkpoint', ['--since', 'key'], 1, /not a signed checkpoint/],
    [
      'an event that is not there',
      ['--event', '00000000-0000-7000-8000-000000000001'],
      1,
      /not sealed, or is not there/,
    ],
    ['a receipt that is not there', ['--receipt', 'b'], 1, /no such receipt/],
    ['a check without a key', ['--check', 'key'], 2, /worth what its key is worth/],
    ['a proof that is not there', ['--check', 'gone', '--key', 'KEY'], 2, /no proof at gone/],
    ['a proof that is none', ['--check', 'key', '--key', 'KEY'], 1, /key is not JSON/],
  ] as const)('%s is said in words', async (_name, args, exit, words) => {
    const { code, stderr } = await scene.ledger([
      'prove',
      ...args.map((text) => (text === 'KEY' ? key : text)),
    ]);
    expect([code, stderr]).toEqual([exit, expect.stringMatching(words)]);
    expect(existsSync(scene.path('gone'))).toBe(false);
  });

  test('what is written but not signed yet is not proven', async () => {
    await scene.sign();
    await scene.receipts('acme', 1, 1);
    const [receipt] = await scene.db.query(
      `select receipt_id from writ.receipt where log_id = 'acme'`,
    );
    const { code, stderr } = await scene.ledger([
      'prove',
      '--receipt',
      String(receipt?.receipt_id),
    ]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/No signed checkpoint covers this yet[\s\S]*writ ledger checkpoint/),
    ]);
  });
});
