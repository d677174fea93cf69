/** `writ governor replay` and `writ ledger verify`: an export is decided again without a database, and what differs is named. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keyOfSeed, privateKeyText, publicKeyText } from '../../../src/ledger/note.js';
import { governorScene, scaling } from '../../governor/scene.js';
import { writ } from '../run.js';

const signer = keyOfSeed('acme.example/test', new Uint8Array(32).fill(7));
const s = governorScene();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-replay-cli-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** No database is needed. */
const nowhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' };
const run = (args: readonly string[], env: Record<string, string> = nowhere) =>
  writ(args, { env, cwd: folder });
const key = ['--key', publicKeyText(signer)];

test('an export is decided again without a database; what differs is named, with exit 1', {
  timeout: 60_000,
}, async () => {
  const worker = await s.work();
  const governor = await s.stable(scaling());
  s.answers.push(() => ({ baseline: 'restored' }));
  await governor.signal({ type: 'cpu_utilization', value: 90 });
  await s.receipt(governor, 'baseline_restored');
  await s.stable(scaling(), { tenant: 'other' });
  await worker.stop();
  await s.sql(`select writ.fn_ledger_tick('test')`);
  await s.writ.ledger.checkpoint({ key: privateKeyText(signer), places: [] });
  const exported = await run(['ledger', 'export', 'export'], {
    DATABASE_URL: s.db.connectionString,
  });
  expect([exported.code, exported.stdout]).toEqual([
    0,
    expect.stringMatching(/\d+ events of 2 governors/),
  ]);

  const alike = await run(['governor', 'replay', 'export', ...key]);
  expect([alike.code, alike.stderr]).toEqual([0, '']);
  expect(alike.stdout).toMatch(
    /✓ The ledger of acme\.example\/test is as it was signed[\s\S]*✓ All alike: \d+ events decided again\.\n/,
  );
  expect(alike.stdout).toMatch(
    /^acme\/default +\d+ +\d+ +0 +[\d,]+ +alike +boot stable warning intervening$/m,
  );
  const verified = await run(['ledger', 'verify', 'export', ...key]);
  expect([verified.code, verified.stdout]).toEqual([
    0,
    expect.stringMatching(/^ {2}governors: \d+ events decided again, all alike$/m),
  ]);
  const database = await run(['ledger', 'verify', ...key], { DATABASE_URL: s.db.connectionString });
  expect([database.code, database.stdout]).toEqual([
    0,
    expect.stringMatching(/^ {2}governors: \d+ events decided again, all alike$/m),
  ]);

  const path = join(folder, 'export/governors/acme/default/000000001.partial.jsonl');
  writeFileSync(path, readFileSync(path, 'utf8').replace('"value":90', '"value":10'));
  const changed = await run(['governor', 'replay', 'export', ...key]);
  expect([changed.code, changed.stdout]).toEqual([
    1,
    expect.stringMatching(/✗ Something differs\.[\s\S]*✗ acme\/default: Event \d+/),
  ]);
  const again = await run(['ledger', 'verify', 'export', ...key]);
  expect([again.code, again.stdout]).toEqual([
    1,
    expect.stringMatching(/1 governor NOT alike\n {2}✗ Governor acme\/default: Event \d+/),
  ]);
  const told = JSON.parse(
    (await run(['governor', 'replay', 'export', ...key, '--all', '--json'])).stdout,
  );
  expect(told).toMatchObject({
    ok: false,
    ledger: { ok: true },
    governors: [
      { tenant: 'acme', ok: false },
      { tenant: 'other', ok: true },
    ],
  });
  const one = await run([
    'governor',
    'replay',
    'export',
    ...key,
    '--governor',
    'other/default',
    '--json',
  ]);
  expect([one.code, JSON.parse(one.stdout)]).toMatchObject([
    0,
    { ok: true, governors: [{ tenant: 'other' }], undecided: [] },
  ]);
});

test('what cannot be replayed is said in words', async () => {
  await s.writ.ledger.checkpoint({ key: privateKeyText(signer), places: [] });
  await s.writ.ledger.export(join(folder, 'export'));
  for (const [args, exit, words] of [
    [['gone'], 2, /gone is not a folder/],
    [['export'], 2, /The export has no governors/],
    [['export', '--governor', 'acme/none'], 2, /no governor acme\/none/],
    [['export', '--governor', 'acme'], 2, /acme names no governor[\s\S]*acme\/catalog/],
  ] as const) {
    const { code, stdout, stderr } = await run(['governor', 'replay', ...args]);
    expect([code, stdout + stderr]).toEqual([exit, expect.stringMatching(words)]);
  }
});
