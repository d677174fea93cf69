/**
 * Missing evidence is a finding: verification fails on each of these, says what is missing and what
 * to do, and passes only if the auditor waives exactly that by name.
 */
import { describe, expect, test } from 'vitest';
import { canonicalize } from '../../src/ledger/canonical.js';
import { leafHash } from '../../src/ledger/merkle.js';
import { keyOfSeed, publicKeyText } from '../../src/ledger/note.js';
import { fromUtf8, toHex, utf8 } from '../../src/ledger/text.js';
import { describe as inWords } from '../../src/ledger/verdict.js';
import {
  check,
  deployment,
  eventRow,
  type Files,
  log,
  sampleLedger,
  sha256,
  TestLedger,
} from './exports.js';

const stranger = keyOfSeed(deployment, new Uint8Array(32).fill(5));
const without = (files: Files, pattern: RegExp): Files =>
  new Map([...files].filter(([path]) => !pattern.test(path)));
const manifestOf = (files: Files, change: (manifest: Record<string, unknown>) => object): Files => {
  const manifest = JSON.parse(fromUtf8(files.get('export.json')!)!);
  return new Map(files).set(
    'export.json',
    utf8(JSON.stringify({ ...manifest, ...change(manifest) })),
  );
};
const only =
  (...names: string[]) =>
  (manifest: Record<string, unknown>) => ({
    logs: (manifest.logs as { log: string }[]).filter((one) => names.includes(one.log)),
  });

/** A segment of one row, which seals two events of a run. */
const withRuns = (lines: (events: string[]) => string[]): Files => {
  const events = [1, 2].map((n) => canonicalize({ n, run: 'r' }));
  const run = '0198c0de-0000-7000-8000-000000000000';
  const ledger = new TestLedger();
  const run_events = events.map(
    (line, at) => [run, at + 1, toHex(leafHash(utf8(line), sha256))] as const,
  );
  ledger.seal([eventRow(1, { run_events })]);
  const text = lines(events).map((line) => `${line}\n`);
  return ledger.export().set('events/000000001.runs.jsonl', utf8(text.join('')));
};

const sample = () => sampleLedger().export();
const changed = (change: (ledger: TestLedger) => void): Files => {
  const ledger = sampleLedger();
  change(ledger);
  return ledger.export();
};

const cases: [what: string, finding: string, files: () => Files, message: RegExp][] = [
  [
    'an export without logs',
    'export_empty',
    () => manifestOf(sample(), only()),
    /holds no receipt.*Export again/,
  ],
  [
    'an export without _system',
    'log_missing:_system',
    () => manifestOf(sample(), only(log, 'Zürich AG/1.2')),
    /which logs/,
  ],
  [
    'an export without the log of a tenant',
    `log_missing:${log}`,
    () => manifestOf(sample(), only('_system', 'Zürich AG/1.2')),
    /600 entries/,
  ],
  [
    'deleted receipts',
    `receipts_missing:${log}:0-511`,
    () => without(sample(), /acme\/tile\/entries\/00[01]$/),
    /archive/,
  ],
  [
    'deleted segments',
    'segments_missing:2-3',
    () => without(sample(), /events\/00000000[23]/),
    /40 sealed rows of segments 2 to 3/,
  ],
  [
    'segments that export.json leaves out',
    'segments_missing:1-3',
    () => manifestOf(without(sample(), /^events/), () => ({ segments: null })),
    /60 sealed rows/,
  ],
  [
    'events of a run that are null',
    'run_events_missing:1',
    () => withRuns((all) => all.map(() => 'null')),
    /2 events of runs/,
  ],
  [
    'one event of a run that is null',
    'run_events_missing:1',
    () => withRuns((all) => all.with(1, 'null')),
    /1 event of runs/,
  ],
  [
    'no events of runs',
    'run_events_missing:1',
    () =>
      without(
        withRuns((all) => all),
        /runs/,
      ),
    /2 events of runs/,
  ],
  [
    'a log without a checkpoint',
    `signature:${log}`,
    () => without(sample(), /acme\/checkpoint/),
    /no checkpoint/,
  ],
  [
    'a restore that nobody signed',
    'restore_unsigned:_system:2',
    () => changed((all) => all.open('_system', null, null)),
    /epoch 2/,
  ],
  [
    'a restore that a stranger signed',
    'restore_unsigned:_system:2',
    () => changed((all) => all.open('_system', null, stranger)),
    /no trusted ledger key has signed/,
  ],
  [
    'a month that a stranger lets be dropped',
    'archive_unsigned:2026-03',
    () => changed((all) => all.archive('2026-03', '/dev/null', stranger)),
    /2026-03 be dropped \(by alice, archive at \/dev\/null\)/,
  ],
  [
    'signing that was ended with a bogus key',
    `key_unknown:${stranger.name}+${stranger.id}`,
    () =>
      manifestOf(sample(), ({ keys }) => ({
        keys: [...(keys as string[]), publicKeyText(stranger)],
      })),
    /somebody has ended signing/,
  ],
];

describe.each(cases)('%s', (_, finding, files, message) => {
  const kind = finding.split(':', 1)[0];

  test('is a finding that says what is missing', async () => {
    const verdict = await check(files());
    expect(verdict).toMatchObject({
      ok: false,
      problems: [{ kind, message: expect.stringMatching(message) }],
    });
    expect(verdict.problems).toHaveLength(1);
    expect(inWords(verdict)).toContain(`(${finding})`);
  });

  test('is waived by its name or its kind, and the verdict says so', async () => {
    for (const waiver of [finding, String(kind)]) {
      const verdict = await check(files(), { waive: [waiver] });
      expect(verdict).toMatchObject({ ok: true, problems: [], waived: [{ kind }] });
      expect(inWords(verdict)).toContain('1 waived finding');
      expect(inWords(verdict)).toContain(`waived ${finding}: `);
    }
  });

  test('is not waived by another name', async () => {
    const waive = [
      `${kind}:another`,
      finding.startsWith('log_missing') ? 'export_empty' : 'log_missing',
    ];
    const verdict = await check(files(), { waive });
    expect(verdict).toMatchObject({ ok: false, waived: [] });
    expect(verdict.notes.join()).toContain(`The waiver ${kind}:another waived nothing.`);
  });
});

test('two missing logs are two findings, and one waiver is for one of them', async () => {
  const files = manifestOf(sample(), only('_system'));
  expect((await check(files)).problems.map(({ subject }) => subject)).toEqual([
    log,
    'Zürich AG/1.2',
  ]);
  const verdict = await check(files, { waive: [`log_missing:${log}`] });
  expect(verdict).toMatchObject({
    ok: false,
    problems: [{ subject: 'Zürich AG/1.2' }],
    waived: [{ subject: log }],
  });
});

test('a shorter history is waived by the name of its log', async () => {
  const ledger = sampleLedger();
  const checkpoint = ledger.checkpoint('_system');
  ledger.entries.set('_system', ledger.entries.get('_system')!.slice(0, 15));
  const files = without(ledger.export(), /events\/000000003/);
  const segments = manifestOf(files, () => ({ segments: { first: 1, last: 2 } }));
  expect(await check(segments, { checkpoint })).toMatchObject({
    ok: false,
    problems: [{ kind: 'truncated' }],
  });
  expect(await check(segments, { checkpoint, waive: ['truncated:_system'] })).toMatchObject({
    ok: true,
  });
});

test.each(['entry', 'entry:acme', 'root:acme', 'key', 'restore', 'nonsense', ''])(
  'evidence that was changed is not waived: %s',
  async (waiver) => {
    await expect(check(sample(), { waive: [waiver] })).rejects.toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    );
  },
);

test('receipts of _system that are missing leave the rest of it to be checked', async () => {
  const ledger = new TestLedger();
  for (let n = 0; n < 300; n++) {
    ledger.append(log, 'signal_received');
    ledger.record(log);
  }
  ledger.seal([eventRow(1)]);
  ledger.open(log, null);
  const files = without(ledger.export(), /_system\/tile\/entries\/000$/);
  const verdict = await check(files, { waive: ['receipts_missing:_system:0-255'] });
  expect(verdict).toMatchObject({
    ok: true,
    waived: [{ kind: 'receipts_missing', subject: '_system:0-255' }],
  });
});

test('the verdict on missing receipts says where their months were archived', async () => {
  const files = changed((ledger) => ledger.archive('2026-03', '/dev/null'));
  const { notes } = await check(without(files, /acme\/tile\/entries\/000$/));
  expect(notes.join()).toContain(
    'Months of receipts that were archived: 2026-03 at /dev/null (alice).',
  );
});

test('signed restores and archives are no findings', async () => {
  const files = changed((ledger) => {
    ledger.open(log, null);
    ledger.archive('2026-03', '/archive');
  });
  expect(await check(files)).toMatchObject({ ok: true, problems: [] });
});

test('a line behind the sealed events of runs is found', async () => {
  expect((await check(withRuns((all) => all))).problems).toEqual([]);
  const { problems } = await check(withRuns((all) => [...all, '{"n":3,"run":"r"}']));
  expect(problems).toMatchObject([
    {
      kind: 'segment',
      message: expect.stringMatching(/lines after the 2 events that were sealed/),
    },
  ]);
});
