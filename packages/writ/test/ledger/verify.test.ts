/**
 * An export that nobody touched verifies; one that somebody touched does not, and the first bad
 * entry is named. Nothing is trusted but the key and what is outside.
 */
import { describe, expect, test } from 'vitest';
import { canonicalEntry } from '../../src/ledger/canonical.js';
import { leafHash } from '../../src/ledger/merkle.js';
import { signCheckpoint } from '../../src/ledger/note.js';
import { fromUtf8, utf8 } from '../../src/ledger/text.js';
import { describe as inWords } from '../../src/ledger/verdict.js';
import { verifyExport } from '../../src/ledger/verify.js';
import {
  check,
  deployment,
  edited,
  first,
  key,
  keys,
  log,
  readerOf,
  sampleLedger,
  TestLedger,
  tamper,
} from './exports.js';

describe('an export as it was signed', () => {
  test('verifies with the key and an outside checkpoint of _system, which covers every log', async () => {
    const ledger = sampleLedger();
    const verdict = await check(ledger.export(), { checkpoint: ledger.checkpoint('_system') });
    expect(verdict).toMatchObject({ ok: true, problems: [], notes: [], deployment });
    expect(
      verdict.logs.map(({ log, size, recorded, outside }) => [log, size, recorded, outside]),
    ).toEqual([
      ['acme', 600, 600, null],
      ['_system', 16, null, 16],
      ['Zürich AG/1.2', 5, 5, null],
    ]);
    expect(inWords(verdict)).toContain('is as it was signed: 3 logs, 621 entries.');
  });

  test('with the portable hash function gives the same verdict', async () => {
    const ledger = sampleLedger();
    const options = { checkpoint: ledger.checkpoint('_system') };
    expect(await verifyExport(readerOf(ledger.export()), { keys, ...options })).toEqual(
      await check(ledger.export(), options),
    );
  });

  test('without an outside checkpoint says that truncation was not checked', async () => {
    const verdict = await check(sampleLedger().export());
    expect(verdict).toMatchObject({
      ok: true,
      notes: ['Truncation not checked: no checkpoint from outside was given.'],
    });
    expect(inWords(verdict)).toContain('Truncation not checked');
  });

  test('with a checkpoint of one log alone says of the others that truncation was not checked', async () => {
    const ledger = sampleLedger();
    const { ok, notes } = await check(ledger.export(), { checkpoint: ledger.checkpoint(log, 300) });
    expect(ok).toBe(true);
    expect(notes.filter((note) => note.startsWith('Truncation not checked for log'))).toHaveLength(
      2,
    );
    expect(notes.join()).not.toContain('log acme');
  });

  test('agrees with outside checkpoints of any age', async () => {
    const ledger = sampleLedger();
    const checkpoints = [1, 2, 255, 256, 257, 599, 600].map((size) => ledger.checkpoint(log, size));
    const verdict = await check(ledger.export(), { checkpoints });
    expect(verdict.problems).toEqual([]);
    expect(verdict.logs.find((one) => one.log === log)?.outside).toBe(600);
  });

  test.each([0, 1, 255, 256, 257, 512, 513])('of %i entries verifies', async (size) => {
    const ledger = new TestLedger();
    ledger.entries.set(log, []);
    for (let n = 0; n < size; n++) ledger.append(log, 'signal_received');
    if (size > 0) ledger.record(log);
    ledger.append('_system', 'data_erased', {}, 'erasure');
    expect(await check(ledger.export(), { checkpoint: ledger.checkpoint(log) })).toMatchObject({
      ok: true,
    });
  });

  test('whose last entries _system does not record yet says so, and verifies', async () => {
    const ledger = sampleLedger();
    ledger.append(log, 'signal_received');
    expect(
      await check(ledger.export(), { checkpoint: ledger.checkpoint('_system') }),
    ).toMatchObject({
      ok: true,
      notes: ['Signed, but not yet recorded in _system: the last 1 entry of log acme.'],
    });
  });

  test('tells how far it is', async () => {
    const seen: string[] = [];
    await check(sampleLedger().export(), {
      progress: ({ log, entries, of }) => seen.push(`${log} ${entries}/${of}`),
    });
    expect(seen).toEqual([
      'acme 256/600',
      'acme 512/600',
      'acme 600/600',
      'Zürich AG/1.2 5/5',
      '_system 16/16',
    ]);
  });
});

describe('entries that were tampered with are found, and the first is named', () => {
  const whole = sampleLedger();
  const cases: [
    name: string,
    at: number,
    what: RegExp,
    change: (entries: Uint8Array[]) => Uint8Array[],
  ][] = [
    [
      'edited',
      300,
      /was changed/,
      (all) =>
        all.with(
          300,
          edited(all[300]!, (receipt) => (receipt.status = 'refuse')),
        ),
    ],
    [
      'edited, the first',
      0,
      /was changed/,
      (all) =>
        all.with(
          0,
          edited(all[0]!, (receipt) => (receipt.reason = 'x')),
        ),
    ],
    [
      'edited, the last',
      599,
      /was changed/,
      (all) =>
        all.with(
          599,
          edited(all[599]!, (receipt) => (receipt.reason = 'x')),
        ),
    ],
    ['removed', 300, /was removed/, (all) => all.toSpliced(300, 1)],
    [
      'removed at the end of a bundle',
      255,
      /missing|removed|changed/,
      (all) => all.toSpliced(255, 1),
    ],
    [
      'inserted',
      300,
      /was inserted/,
      (all) =>
        all.toSpliced(
          300,
          0,
          edited(all[300]!, (receipt) => (receipt.reason = 'x')),
        ),
    ],
    ['inserted at the end', 600, /was added/, (all) => [...all, all[599]!]],
    ['repeated', 301, /inserted|out of order|changed/, (all) => all.toSpliced(301, 0, all[300]!)],
    ['swapped', 300, /out of order/, (all) => all.with(300, all[301]!).with(301, all[300]!)],
    [
      'moved far away',
      10,
      /removed|out of order/,
      (all) => all.toSpliced(10, 1).toSpliced(400, 0, all[10]!),
    ],
    ['cut off at the end', 599, /missing/, (all) => all.slice(0, -1)],
  ];
  test.each(cases)('%s (entry %i)', async (_, at, what, change) => {
    const files = whole.export();
    tamper(files, log, 600, change);
    const verdict = await check(files);
    expect(verdict.ok).toBe(false);
    expect(first(verdict)).toMatchObject({
      log,
      index: at,
      kind: 'entry',
      message: expect.stringMatching(what),
    });
    expect(first(verdict)?.message).toContain(`Log acme, entry ${at}`);
  });

  test('a bundle that is missing, or cut off in the middle of an entry', async () => {
    const files = whole.export();
    const path = 'logs/acme/tile/entries/001';
    files.set(path, files.get(path)!.slice(0, 1000));
    const at =
      256 + Math.floor(1000 / ((files.get('logs/acme/tile/entries/000')!.length / 256) | 0));
    const cut = first(await check(files));
    expect(cut).toMatchObject({ log, kind: 'entry', message: expect.stringContaining('cut off') });
    expect(Math.abs(cut!.index! - at)).toBeLessThan(2);
    files.delete(path);
    expect(first(await check(files))).toMatchObject({
      log,
      index: 256,
      message: expect.stringContaining('tile/entries/001 is missing'),
    });
  });
});

test('a checkpoint that claims more entries than there ever were is not followed into the void', async () => {
  const ledger = sampleLedger();
  const files = ledger.export();
  const claim = signCheckpoint(
    { deployment, log, epoch: 1 },
    Number.MAX_SAFE_INTEGER,
    new Uint8Array(32),
    [key],
  );
  files.set('logs/acme/checkpoint', utf8(claim));
  expect((await check(files)).problems).toContainEqual(
    expect.objectContaining({ kind: 'entry', log, index: 512 }),
  );
});

describe('entries that were tampered with together with their tiles', () => {
  /**
   * Everything is computed again but the signature: what somebody with the files and without the
   * key can do.
   */
  const rebuilt = (change: (entries: Uint8Array[]) => Uint8Array[]) => {
    const ledger = sampleLedger();
    const note = ledger.export().get('logs/acme/checkpoint')!;
    ledger.entries.set(log, change(ledger.entries.get(log)!));
    const files = ledger.export();
    files.set('logs/acme/checkpoint', note);
    return files;
  };

  test('do not give the signed root, and _system tells between which sizes', async () => {
    const files = rebuilt((all) =>
      all.with(
        320,
        edited(all[320]!, (receipt) => (receipt.status = 'refuse')),
      ),
    );
    const verdict = await check(files);
    expect(first(verdict)).toMatchObject({
      kind: 'root',
      log,
      message: expect.stringContaining('do not give the root that was signed'),
    });
    expect(inWords(verdict)).toContain('does NOT verify');
  });

  test('leave a gap in a stream where one was removed', async () => {
    const files = rebuilt((all) => all.toSpliced(300, 1));
    const verdict = await check(files);
    expect(verdict.problems.find(({ kind }) => kind === 'stream')).toMatchObject({
      log,
      index: 301,
      message: expect.stringMatching(/number 152 of stream governor:0, where 151/),
    });
  });

  test('with only the leaf tile changed do not fit the tile above', async () => {
    const ledger = sampleLedger();
    const files = ledger.export();
    const bad = edited(ledger.entries.get(log)![300]!, (receipt) => (receipt.status = 'refuse'));
    tamper(files, log, 600, (all) => all.with(300, bad));
    const tile = files.get('logs/acme/tile/0/001')!.slice();
    tile.set(leafHash(bad), (300 - 256) * 32);
    files.set('logs/acme/tile/0/001', tile);
    expect(first(await check(files))).toMatchObject({
      kind: 'tile',
      log,
      index: 256,
      message: expect.stringMatching(/tile\/1\/000\.p\/2 .*entries 256 to 511/),
    });
  });

  test.each(['logs/acme/tile/0/000', 'logs/acme/tile/0/002.p/88', 'logs/acme/tile/1/000.p/2'])(
    '%s that is missing or short is named',
    async (path) => {
      const files = sampleLedger().export();
      files.set(path, files.get(path)!.slice(0, -32));
      expect((await check(files)).problems).toContainEqual(
        expect.objectContaining({
          kind: 'tile',
          log,
          message: expect.stringContaining(path.slice(10)),
        }),
      );
      files.delete(path);
      expect((await check(files)).problems).toContainEqual(
        expect.objectContaining({ kind: 'tile', log, message: expect.stringContaining('missing') }),
      );
    },
  );
});

describe('what is signed and yet no receipt is named', () => {
  const bytes = (text: string) => utf8(text);
  const good = () => JSON.parse(fromUtf8(new TestLedger().append(log, 'r'))!);
  const cases: [string, Uint8Array, RegExp][] = [
    [
      'keys in another order',
      bytes(JSON.stringify(Object.fromEntries(Object.entries(good()).reverse()))),
      /canonical/,
    ],
    ['blanks', bytes(`${JSON.stringify({ a: 1 })} `), /canonical/],
    ['a whole number of 2^53', bytes('{"a":9007199254740992}'), /canonical/],
    ['half of a surrogate pair', bytes('{"a":"\\ud800"}'), /canonical/],
    ['bytes that are not UTF-8', Uint8Array.of(255), /canonical/],
    ['nothing in it', new Uint8Array(), /canonical/],
    ['an array', bytes('[]'), /not an object/],
    ['a key too many', canonicalEntry({ ...good(), zone: 1 }), /“zone” where “no more”/],
    [
      'a key too few',
      canonicalEntry(Object.fromEntries(Object.entries(good()).slice(0, -1))),
      /no “timestamp”/,
    ],
    ['another tenant', canonicalEntry({ ...good(), tenant_id: 'other' }), /another log/],
    ['another status', canonicalEntry({ ...good(), status: 'maybe' }), /status/],
    ['an id that is none', canonicalEntry({ ...good(), receipt_id: 'x' }), /receipt_id/],
    [
      'a day that does not exist',
      canonicalEntry({ ...good(), timestamp: '2026-02-30T00:00:00.000Z' }),
      /timestamp/,
    ],
    [
      'a time without milliseconds',
      canonicalEntry({ ...good(), timestamp: '2026-02-03T00:00:00Z' }),
      /timestamp/,
    ],
    ['no stream', canonicalEntry({ ...good(), context: { stream_seq: 1 } }), /context\.stream/],
    [
      'number 0 of a stream',
      canonicalEntry({ ...good(), context: { stream: 's', stream_seq: 0 } }),
      /stream_seq/,
    ],
  ];
  test.each(cases)('%s', async (_, entry, what) => {
    const ledger = new TestLedger();
    ledger.append(log, 'r');
    ledger.put(log, entry);
    expect(first(await check(ledger.export()))).toMatchObject({
      kind: 'receipt',
      log,
      index: 1,
      message: expect.stringMatching(what),
    });
  });

  test('a stream that begins late, repeats or goes back', async () => {
    for (const [seqs, at] of [
      [[2], 0],
      [[1, 1], 1],
      [[1, 2, 4], 2],
      [[1, 2, 1], 2],
    ] as const) {
      const ledger = new TestLedger();
      for (const stream_seq of seqs)
        ledger.put(log, canonicalEntry({ ...good(), context: { stream: 's', stream_seq } }));
      expect(first(await check(ledger.export()))).toMatchObject({ kind: 'stream', log, index: at });
    }
  });
});

describe('export.json', () => {
  const files = sampleLedger().export();
  const manifest = JSON.parse(fromUtf8(files.get('export.json')!)!);
  const [one] = manifest.logs;
  test.each([
    ['is missing', null],
    ['is not JSON', '{'],
    ['is of another format', { ...manifest, format: 'writ-ledger-export-2' }],
    ['leads elsewhere', { ...manifest, logs: [{ ...one, directory: '../../etc' }] }],
    ['names a log twice', { ...manifest, logs: [one, one] }],
    ['has no size', { ...manifest, logs: [{ ...one, size: -1 }] }],
    ['has no logs', { ...manifest, logs: null }],
    ['has no deployment', { ...manifest, deployment: '' }],
    ['has odd segments', { ...manifest, segments: {} }],
  ])('that %s is a problem, and not an exception', async (_, content) => {
    const changed = new Map(files);
    if (content === null) changed.delete('export.json');
    else
      changed.set(
        'export.json',
        utf8(typeof content === 'string' ? content : JSON.stringify(content)),
      );
    expect(await check(changed)).toMatchObject({ ok: false, problems: [{ kind: 'export' }] });
  });
  test('that says another size than the checkpoint is a problem', async () => {
    const changed = new Map(files).set(
      'export.json',
      utf8(
        JSON.stringify({
          ...manifest,
          logs: manifest.logs.map((each: object) => ({ ...each, size: 5 })),
        }),
      ),
    );
    expect(first(await check(changed))).toMatchObject({ kind: 'export', log });
  });
  test('with a key that is none is a mistake of the caller', async () => {
    await expect(check(files, { keys: ['nonsense'] })).rejects.toThrow(
      expect.objectContaining({ code: 'invalid_ledger_key' }),
    );
  });
});
