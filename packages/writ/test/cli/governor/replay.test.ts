/**
 * `writ ledger verify`: an export is decided again without a database, and what differs is named.
 */
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
  const again = await run(['ledger', 'verify', 'export', ...key]);
  expect([again.code, again.stdout]).toEqual([
    1,
    expect.stringMatching(/1 governor NOT alike\n {2}✗ Governor acme\/default: Event \d+/),
  ]);
});
