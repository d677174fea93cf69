/**
 * A hostile export: whatever lies where a file should be, verification ends soon, with a finding.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifyFolder } from '../../src/ledger/exports.js';
import { utf8 } from '../../src/ledger/text.js';
import { eventRow, keys, sampleLedger, TestLedger } from '../ledger/exports.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-hostile-export-'));
  for (const [path, bytes] of sampleLedger().export()) write(path, bytes);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const inside = (path: string) => join(folder, 'export', path);
function write(path: string, bytes: Uint8Array | string): void {
  mkdirSync(dirname(inside(path)), { recursive: true });
  writeFileSync(inside(path), bytes);
}
const replace = (path: string, by: (target: string) => void) => {
  rmSync(inside(path), { recursive: true });
  by(inside(path));
};
const verify = () => verifyFolder(join(folder, 'export'), { keys });

const files = [
  'export.json',
  'logs/_system/checkpoint',
  'logs/acme/tile/0/000',
  'logs/acme/tile/entries/001',
  'events/000000001.jsonl',
  'events/000000002.hashes',
];

describe.each(files)('%s', (path) => {
  test.each<[string, (target: string) => void, RegExp]>([
    ['a FIFO', (target) => execFileSync('mkfifo', [target]), /not a regular file/],
    ['a link to an endless device', (target) => symlinkSync('/dev/zero', target), /it is a link/],
    ['a link to a file outside', (target) => symlinkSync('/etc/passwd', target), /it is a link/],
    ['a folder', (target) => mkdirSync(target), /not a regular file/],
  ])('that is %s is a finding', async (_, by, why) => {
    replace(path, by);
    const verdict = await verify();
    expect(verdict.ok).toBe(false);
    expect(verdict.problems).toContainEqual(
      expect.objectContaining({
        kind: 'export',
        subject: path,
        message: expect.stringMatching(why),
      }),
    );
  });

  test('that is larger than any of ours is a finding, and is not read', async () => {
    truncateSync(inside(path), 2 ** 40); // sparse
    expect((await verify()).problems).toContainEqual(
      expect.objectContaining({
        kind: 'export',
        subject: path,
        message: expect.stringMatching(/at most \d+ are read/),
      }),
    );
  });
});

test('a folder that is a link out of the export is a finding', async () => {
  rmSync(inside('events'), { recursive: true });
  symlinkSync(tmpdir(), inside('events'));
  expect((await verify()).problems).toContainEqual(
    expect.objectContaining({
      kind: 'export',
      message: expect.stringMatching(/link out of the export/),
    }),
  );
});

test('an export whose own path is a link verifies', async () => {
  symlinkSync(join(folder, 'export'), join(folder, 'link'));
  expect(await verifyFolder(join(folder, 'link'), { keys })).toMatchObject({ ok: true });
});

test('a row that is longer than any of ours is a finding', async () => {
  const ledger = new TestLedger();
  ledger.seal([eventRow(1, { details: 'x'.repeat(17 * 2 ** 20) })]);
  rmSync(inside('.'), { recursive: true });
  for (const [path, bytes] of ledger.export()) write(path, bytes);
  expect((await verify()).problems).toMatchObject([
    { kind: 'segment', message: expect.stringMatching(/longer than \d+ bytes/) },
  ]);
});

test('a list of keys that is none is a finding', async () => {
  write(
    'export.json',
    utf8(
      JSON.stringify({
        ...JSON.parse(String(new TextDecoder().decode(sampleLedger().export().get('export.json')))),
        keys: [{}],
      }),
    ),
  );
  expect((await verify()).problems).toMatchObject([{ kind: 'export' }]);
});
