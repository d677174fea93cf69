/**
 * Signatures, checkpoints from outside, and restores: what a cut or replaced log cannot forge
 * without the key, and what nobody can hide from one who has kept a checkpoint.
 */
import { describe, expect, test } from 'vitest';
import { consistencyProof } from '../../src/ledger/merkle.js';
import { keyOfSeed, publicKeyText } from '../../src/ledger/note.js';
import { fromUtf8, toBase64, utf8 } from '../../src/ledger/text.js';
import { verifyExport } from '../../src/ledger/verify.js';
import {
  check,
  deployment,
  edited,
  first,
  key,
  keys,
  log,
  sampleLedger,
  sha256,
  sourceOf,
  TestLedger,
} from './exports.js';

describe('a checkpoint', () => {
  const other = keyOfSeed(deployment, new Uint8Array(32).fill(2));

  test('of another key is not trusted, whatever keys the export lists', async () => {
    const ledger = sampleLedger();
    ledger.key = other;
    const verdict = await check(ledger.export());
    expect(verdict.problems.filter(({ kind }) => kind === 'signature')).toHaveLength(3);
    expect(first(verdict)?.message).toContain('None of the keys that were given has signed');
  });

  test('whose signature does not fit, that is missing or unreadable, is named', async () => {
    const files = sampleLedger().export();
    const note = fromUtf8(files.get('logs/acme/checkpoint')!)!;
    for (const [text, what] of [
      [note.replace('\n600\n', '\n599\n'), /does not fit|missing/],
      ['nonsense', /cannot be read/],
    ] as const) {
      files.set('logs/acme/checkpoint', utf8(text));
      expect((await check(files)).problems).toContainEqual(
        expect.objectContaining({ kind: 'signature', log, message: expect.stringMatching(what) }),
      );
    }
    files.delete('logs/acme/checkpoint');
    expect((await check(files)).problems).toContainEqual(
      expect.objectContaining({
        kind: 'signature',
        log,
        message: expect.stringContaining('no checkpoint'),
      }),
    );
  });

  test('of another log, epoch or deployment does not stand for this one', async () => {
    const ledger = sampleLedger();
    const files = ledger.export();
    files.set('logs/acme/checkpoint', files.get('logs/_system/checkpoint')!);
    expect((await check(files)).problems).toContainEqual(
      expect.objectContaining({
        kind: 'signature',
        log,
        message: expect.stringContaining('should be of'),
      }),
    );
    ledger.key = keyOfSeed('other.example', new Uint8Array(32).fill(3));
    const verdict = await check(ledger.export(), { keys: [publicKeyText(ledger.key)] });
    expect(first(verdict)).toMatchObject({
      kind: 'signature',
      message: expect.stringContaining('a key of other.example'),
    });
  });

  test('of a key that a trusted one introduced is trusted', async () => {
    const ledger = sampleLedger();
    const third = keyOfSeed(deployment, new Uint8Array(32).fill(4));
    ledger.rotate(other);
    ledger.rotate(third);
    const verdict = await check(ledger.export(), { checkpoint: ledger.checkpoint('_system') });
    expect(verdict).toMatchObject({ ok: true });
    expect(verdict.logs[0]?.signers).toEqual([`${third.name}+${third.id}`]);
  });

  test('of a key that only says it was introduced is not', async () => {
    const ledger = sampleLedger();
    const thief = keyOfSeed(deployment, new Uint8Array(32).fill(5));
    ledger.key = thief;
    ledger.rotate(other);
    ledger.key = key;
    // The thief's chain is sound in itself, but it begins with a key that nobody trusts.
    const wrong = sampleLedger();
    wrong.entries.set('_system', ledger.entries.get('_system')!);
    wrong.key = other;
    expect((await check(wrong.export())).problems.every(({ kind }) => kind === 'signature')).toBe(
      true,
    );
    // And a rotation that the old key has not signed is named.
    const forged = sampleLedger();
    forged.rotate(other);
    const all = forged.entries.get('_system')!;
    all[all.length - 1] = edited(all.at(-1)!, ({ context }) => {
      const receipt = context as Record<string, unknown>;
      receipt.signature_old = receipt.signature_new;
    });
    expect((await check(forged.export())).problems).toContainEqual(
      expect.objectContaining({
        kind: 'key',
        log: '_system',
        index: 16,
        message: expect.stringContaining('has not signed'),
      }),
    );
  });
});

describe('against outside', () => {
  test('a log cut back to an older signed checkpoint is found truncated, and the missing are counted', async () => {
    const ledger = sampleLedger();
    const known = ledger.checkpoint(log);
    ledger.entries.set(log, ledger.entries.get(log)!.slice(0, 500));
    const files = ledger.export();
    // Only what is outside shows it, if _system was cut back as well.
    const alone = new TestLedger();
    alone.entries.set(log, ledger.entries.get(log)!);
    expect(await check(alone.export(), { waive: ['log_missing:_system'] })).toMatchObject({
      ok: true,
    });
    expect((await check(alone.export(), { checkpoint: known })).problems).toContainEqual(
      expect.objectContaining({
        kind: 'truncated',
        log,
        index: 500,
        message: expect.stringContaining('100 entries known outside are missing after entry 499'),
      }),
    );
    // _system knows it too, if it was not.
    expect(first(await check(files))).toMatchObject({
      kind: 'truncated',
      log,
      message: expect.stringContaining('100 entries that _system records are missing'),
    });
  });

  test('a whole log replaced and signed again with the same key is found replaced', async () => {
    const ledger = sampleLedger();
    const checkpoints = [100, 300, 600].map((size) => ledger.checkpoint(log, size));
    const replaced = new TestLedger();
    ledger.entries.get(log)!.forEach((entry, at) => {
      replaced.put(
        log,
        at === 320 ? edited(entry, (receipt) => (receipt.status = 'refuse')) : entry,
      );
    });
    const waive = ['log_missing:_system'];
    expect(await check(replaced.export(), { waive })).toMatchObject({ ok: true });
    expect(first(await check(replaced.export(), { checkpoints, waive }))).toMatchObject({
      kind: 'replaced',
      log,
      index: 300,
      message: expect.stringMatching(
        /first 600 entries are not those.*agrees with outside up to entry 299/,
      ),
    });
  });

  test('a log replaced in the export alone disagrees with what _system records', async () => {
    const ledger = sampleLedger();
    const all = ledger.entries.get(log)!;
    all[320] = edited(all[320]!, (receipt) => (receipt.status = 'refuse'));
    expect(first(await check(ledger.export()))).toMatchObject({
      kind: 'root',
      log,
      index: 300,
      message: expect.stringMatching(/agrees up to 300: one of the entries 300 to 349/),
    });
  });

  test('whoever shows the old tiles when they are read again, and other entries before, is found out', async () => {
    const ledger = sampleLedger();
    const [old, known] = [ledger.export(), ledger.checkpoint(log, 550)];
    const all = ledger.entries.get(log)!;
    all[320] = edited(all[320]!, (receipt) => {
      receipt.status = 'refuse';
    });
    const now = ledger.export();
    const seen = new Set<string>();
    const reader = async (path: string) => {
      const again = seen.has(path);
      seen.add(path);
      return (again ? old : now).get(path) ?? null;
    };
    const { problems } = await verifyExport(reader, { keys, sha256, checkpoint: known });
    expect(problems).toContainEqual(
      expect.objectContaining({
        kind: 'tile',
        log,
        message: expect.stringContaining('read again'),
      }),
    );
    expect(problems).toContainEqual(expect.objectContaining({ kind: 'replaced', log }));
  });

  test('a log that is missing altogether is said to be', async () => {
    const ledger = sampleLedger();
    const known = ledger.checkpoint(log);
    ledger.entries.delete(log);
    const verdict = await check(ledger.export(), { checkpoint: known });
    expect(verdict.problems).toContainEqual(expect.objectContaining({ kind: 'truncated', log }));
    expect(first(verdict)).toMatchObject({
      kind: 'log_missing',
      log,
      message: expect.stringContaining('_system records 600 entries of it'),
    });
  });

  test('a checkpoint that no known key has signed, or of another deployment, counts for nothing', async () => {
    const ledger = sampleLedger();
    const signed = ledger.checkpoint(log);
    ledger.key = keyOfSeed(deployment, new Uint8Array(32).fill(9));
    const forged = ledger.checkpoint(log);
    ledger.key = key;
    expect(first(await check(ledger.export(), { checkpoint: forged }))).toMatchObject({
      kind: 'signature',
      log,
    });
    await expect(check(ledger.export(), { checkpoint: signed.slice(0, 20) })).rejects.toThrow(
      expect.objectContaining({ code: 'invalid_note' }),
    );
  });
});

describe('an accepted restore', () => {
  /** _system lost what came after entry 10; alice accepted that. */
  const restored = (known: (ledger: TestLedger) => string | null) => {
    const ledger = sampleLedger();
    const outside = {
      at16: ledger.checkpoint('_system'),
      at14: ledger.checkpoint('_system', 14),
      at8: ledger.checkpoint('_system', 8),
    };
    const before = ledger.entries.get('_system')!.slice();
    const note = known(ledger);
    ledger.segments.length = 0;
    ledger.entries.set(log, ledger.entries.get(log)!.slice(0, 500));
    ledger.entries.delete('Zürich AG/1.2');
    ledger.restore('_system', 10, note);
    return { ledger, outside, before };
  };

  test('of exactly the checkpoint that is known outside is told, and is no tampering', async () => {
    const { ledger, outside } = restored((before) => before.checkpoint('_system'));
    const verdict = await check(ledger.export(), { checkpoints: [outside.at16, outside.at8] });
    expect(verdict.problems).toEqual([]);
    expect(verdict.notes).toContainEqual(
      expect.stringMatching(
        /^Log _system: accepted restore by alice at 2026-\S+, 6 entries lost, reason: the disk died\. Of the 10 entries that were kept, 8 are known outside$/,
      ),
    );
  });

  test('that names another checkpoint, or none, leaves the log truncated', async () => {
    for (const [known, what] of [
      [() => null, /names no checkpoint/],
      [
        (before: TestLedger) => before.checkpoint('_system', 12),
        /names another checkpoint, of epoch 1 and size 12/,
      ],
    ] as const) {
      const { ledger, outside } = restored(known);
      expect(first(await check(ledger.export(), { checkpoint: outside.at16 }))).toMatchObject({
        kind: 'truncated',
        log: '_system',
        index: 10,
        message: expect.stringMatching(what),
      });
    }
  });

  test('covers an older checkpoint only if the named one is shown to go on from it', async () => {
    const { ledger, outside, before } = restored((whole) => whole.checkpoint('_system'));
    expect(first(await check(ledger.export(), { checkpoint: outside.at14 }))).toMatchObject({
      kind: 'truncated',
      message: expect.stringContaining('no proof was given'),
    });
    const proof = await consistencyProof(14, 16, sourceOf(before));
    const consistency = proof.map(toBase64);
    expect(
      await check(ledger.export(), { checkpoint: { note: outside.at14, consistency } }),
    ).toMatchObject({ ok: true });
    const bent = consistency.with(0, toBase64(new Uint8Array(32)));
    expect(
      first(
        await check(ledger.export(), { checkpoint: { note: outside.at14, consistency: bent } }),
      ),
    ).toMatchObject({
      kind: 'truncated',
      message: expect.stringContaining('does not go on from this one'),
    });
  });

  test('must have begun with the entries that it says', async () => {
    const { ledger } = restored(() => null);
    const all = ledger.entries.get('_system')!;
    all[10] = edited(
      all[10]!,
      (receipt) => ((receipt.context as Record<string, unknown>).restored_root = '00'.repeat(32)),
    );
    expect(first(await check(ledger.export()))).toMatchObject({ kind: 'restore', log: '_system' });
  });

  test('is what an epoch comes from: an export cannot make one up', async () => {
    const ledger = sampleLedger();
    ledger.epochs.set(log, 2);
    expect(first(await check(ledger.export()))).toMatchObject({
      kind: 'restore',
      log,
      message: expect.stringContaining('epoch 2, and _system knows it in 1'),
    });
  });

  test('leaves the last checkpoint of a log that has not grown since in the epoch before', async () => {
    const ledger = sampleLedger();
    const [note, known] = [ledger.checkpoint(log), ledger.checkpoint(log, 300)];
    ledger.restore(log, 600, null);
    const files = ledger.export();
    files.set('logs/acme/checkpoint', utf8(note));
    const manifest = JSON.parse(fromUtf8(files.get('export.json')!)!);
    const logs = manifest.logs.map((one: { log: string }) =>
      one.log === log ? { ...one, epoch: 1 } : one,
    );
    files.set('export.json', utf8(JSON.stringify({ ...manifest, logs })));
    expect(await check(files, { checkpoints: [known, ledger.checkpoint(log)] })).toMatchObject({
      ok: true,
    });
  });

  test('and an export from before it is older than what is known outside', async () => {
    const old = sampleLedger();
    const { ledger } = restored(() => null);
    expect(
      first(await check(old.export(), { checkpoint: ledger.checkpoint('_system') })),
    ).toMatchObject({
      kind: 'truncated',
      message: expect.stringContaining('older than what is known outside'),
    });
  });
});
