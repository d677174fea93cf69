/**
 * Events that were sealed: what stands in the export is what was sealed, row by row, or the bad row
 * is named.
 */
import { describe, expect, test } from 'vitest';
import { canonicalize } from '../../src/ledger/canonical.js';
import { eventId, eventOf } from '../../src/ledger/event-row.js';
import { fromUtf8, utf8 } from '../../src/ledger/text.js';
import { check, eventRow, type Files, sampleLedger } from './exports.js';

const path = 'events/000000002.jsonl';
const ledger = sampleLedger();

function changed(change: (lines: string[]) => string[], hashes = true): Files {
  const files = ledger.export({ hashes });
  const lines = fromUtf8(files.get(path)!)!.trimEnd().split('\n');
  return files.set(
    path,
    utf8(
      change(lines)
        .map((line) => `${line}\n`)
        .join(''),
    ),
  );
}
const row = (n: number) => eventRow(20 + n);
const problem = async (files: Files) => {
  const { problems } = await check(files);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ kind: 'segment', log: '_system' });
  return problems[0]!;
};

describe('a row', () => {
  test('that was edited is named by its batch', async () => {
    const files = changed((lines) => lines.with(7, canonicalize({ ...row(7), actor: 'mallory' })));
    expect(await problem(files)).toMatchObject({
      batch_id: row(7).batch_id,
      message: expect.stringContaining(`Segment 2, row 8, batch ${row(7).batch_id}`),
    });
  });
  test.each([
    ['removed', 7, (lines: string[]) => lines.toSpliced(7, 1), 8],
    [
      'inserted',
      7,
      (lines: string[]) => lines.toSpliced(7, 0, canonicalize(eventRow(99))),
      99 - 20,
    ],
    ['moved', 7, (lines: string[]) => lines.toSpliced(7, 1).toSpliced(12, 0, lines[7]!), 8],
  ])('that was %s is named at its place', async (_, at, change, found) => {
    expect(await problem(changed(change))).toMatchObject({
      batch_id: eventRow(20 + found).batch_id,
      message: expect.stringContaining(`row ${at + 1}`),
    });
  });
  test.each([
    ['is not canonical', (line: string) => line.replace(',', ', ')],
    ['has a key too many', (line: string) => line.replace(/}$/, ',"z":1}')],
    ['has no subject for a fact', (line: string) => line.replace('1,2]', '1,3]')],
    ['has a time without microseconds', (line: string) => line.replace(/\.\d{6}Z/, 'Z')],
  ])('that %s is named, with or without leaf hashes', async (_, change) => {
    for (const hashes of [true, false]) {
      expect(
        (await problem(changed((lines) => lines.with(7, change(lines[7]!)), hashes))).message,
      ).toContain('row 8');
    }
  });
});

describe('without leaf hashes', () => {
  test('an edited row makes its segment bad, and the segment is named with its ends', async () => {
    const files = changed(
      (lines) => lines.with(7, canonicalize({ ...row(7), actor: 'mallory' })),
      false,
    );
    expect(await problem(files)).toMatchObject({
      message: expect.stringMatching(/^Segment 2: .*from batch 0198c0de.* to batch 0198c0de/),
    });
  });
  test.each([
    [
      'rows',
      (lines: string[]) => lines.toSpliced(7, 1),
      /20 rows were sealed, and the export has 19/,
    ],
    [
      'events',
      (lines: string[]) => lines.with(7, canonicalize({ ...row(7), facts: [] })),
      /60 events were sealed, and its rows have 57/,
    ],
    [
      'the first row',
      (lines: string[]) => lines.with(0, canonicalize(eventRow(99))),
      /first row that was sealed/,
    ],
    [
      'the last row',
      (lines: string[]) => lines.with(19, canonicalize(eventRow(99))),
      /its last row/,
    ],
  ])('%s are counted', async (_, change, what) => {
    expect((await problem(changed(change, false))).message).toMatch(what);
  });
});

test('leaf hashes that were changed as well are not believed', async () => {
  const files = changed((lines) => lines.with(7, canonicalize({ ...row(7), actor: 'mallory' })));
  files.set(
    'events/000000002.hashes',
    files.get('events/000000002.hashes')!.map((byte) => byte ^ 1),
  );
  expect((await problem(files)).message).toMatch(
    /^Segment 2: its rows are not those that were sealed/,
  );
});

test('a segment that is missing, cut off, or sealed by nobody is named', async () => {
  const files = ledger.export();
  const whole = files.get(path)!;
  files.delete(path);
  expect((await check(files)).problems).toMatchObject([
    { kind: 'segments_missing', subject: '2', message: expect.stringContaining(path) },
  ]);
  files.set(path, whole.slice(0, -1));
  expect((await problem(files)).message).toContain('cut off');
  files.set(path, whole);
  const manifest = JSON.parse(fromUtf8(files.get('export.json')!)!);
  files.set('export.json', utf8(JSON.stringify({ ...manifest, segments: { first: 1, last: 4 } })));
  expect((await problem(files)).message).toContain('segment 4, but _system seals only 3');
});

test('segments that were not exported, and numbers that are not dense, are problems', async () => {
  const files = ledger.export();
  for (const name of files.keys()) if (name.startsWith('events/')) files.delete(name);
  const manifest = JSON.parse(fromUtf8(files.get('export.json')!)!);
  files.set('export.json', utf8(JSON.stringify({ ...manifest, segments: null })));
  expect(await check(files)).toMatchObject({
    ok: false,
    problems: [
      {
        kind: 'segments_missing',
        subject: '1-3',
        message: expect.stringContaining('60 sealed rows'),
      },
    ],
  });
  const gap = sampleLedger();
  gap.segments.push([]);
  gap.seal([eventRow(100)]);
  gap.segments.splice(3, 1);
  expect((await check(gap.export())).problems).toContainEqual(
    expect.objectContaining({
      kind: 'segment',
      message: expect.stringContaining('seals segment 5, where 4 should follow'),
    }),
  );
});

test('events of a row have the ids that the outbox shows', () => {
  const batch = eventRow(3);
  expect([1, 2, 3].map((n) => eventOf(batch, n))).toEqual([
    { event_id: eventId(batch.batch_id, 1), type: 'dot.job.enqueued', subject: batch.subjects[0] },
    { event_id: eventId(batch.batch_id, 2), type: 'dot.job.enqueued', subject: batch.subjects[1] },
    { event_id: eventId(batch.batch_id, 3), type: 'dot.job.leased', subject: batch.subjects[0] },
  ]);
  expect([0, 4, -1, 1.5].map((n) => eventOf(batch, n))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(eventId('0198c0de-0000-7000-8000-000003000000', 0xabcdef)).toBe(
    '0198c0de-0000-7000-8000-000003abcdef',
  );
});
