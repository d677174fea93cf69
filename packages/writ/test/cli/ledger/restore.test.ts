/**
 * A database that is older than what is known outside: workers do not start on it, and it goes on
 * only when somebody says so, on the record.
 */
import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fixture, start, writ } from '../run.js';
import { httpPlace, Scene } from './scene.js';

/** The one that was lost, and the one that is there now. */
let lost: Scene;
let scene: Scene;
let key: string;
let place: string;

beforeEach(async () => {
  [lost, scene] = await Promise.all([Scene.make(), Scene.make()]);
  key = await lost.key();
  // Each time _system grows, so that it is longer than the other's, whatever is sealed there.
  for (const first of [1, 2, 3, 4]) {
    await lost.receipts('acme', first, 1);
    await lost.sign();
  }
  place = lost.path('checkpoint');
});
afterEach(() => Promise.all([lost.end(), scene.end()]));

const worker = (args: readonly string[], env: Record<string, string> = {}) =>
  start(['worker', fixture('jobs.mjs'), ...args], { env: { ...scene.env, ...env } });
/** `lost` has the key, which signs. */
const accept = (...args: string[]) =>
  scene.ledger(['accept-restore', '--sign', lost.path('key'), ...args]);
const reason = 'The disk of the primary was lost.';

describe('a worker', () => {
  test('does not start on a database that is older than a checkpoint outside', async () => {
    const { code, stderr } = await worker(['--checkpoint', place, '--ledger-key', key]).ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /older than a checkpoint that is known outside[\s\S]*writ ledger accept-restore/,
      ),
    ]);
    const byEnvironment = await worker([], {
      WRIT_LEDGER_PLACES: place,
      WRIT_LEDGER_PUBLIC_KEYS: key,
    }).ended;
    expect(byEnvironment.code).toBe(1);
  });

  test('starts on the one that has everything', async () => {
    const running = start(
      ['worker', fixture('jobs.mjs'), '--checkpoint', place, '--ledger-key', key],
      { env: lost.env },
    );
    await running.saying(/Working on/);
    running.kill('SIGTERM');
    expect((await running.ended).code).toBe(0);
  });

  test.each([
    [
      'places without a key',
      () => ['--checkpoint', place],
      2,
      /can only be believed with the public key/,
    ],
    [
      'a key that is none',
      () => ['--checkpoint', place, '--ledger-key', 'x'],
      2,
      /--ledger-key: This is not a key/,
    ],
    [
      'a key that has not signed',
      async () => ['--checkpoint', place, '--ledger-key', await scene.key('stranger')],
      1,
      /None of the keys/,
    ],
    [
      'a place that nobody answers at',
      () => ['--checkpoint', 'http://127.0.0.1:2/x', '--ledger-key', key],
      1,
      /nobody answers there/,
    ],
  ] as const)('does not start with %s, and says why', async (_name, args, exit, words) => {
    const { code, stderr } = await worker(await args()).ended;
    expect([code, stderr]).toEqual([exit, expect.stringMatching(words)]);
  });
});

describe('accept-restore', () => {
  test('shows what is missing, changes nothing without --yes, and then goes on in a new epoch that says why', async () => {
    await scene.receipts('acme', 1, 2);
    await scene.db.query(`select writ.fn_ledger_tick('test')`);
    const shown = await accept('--to', place, '--key', key, '--reason', reason);
    expect(shown.code).toBe(1);
    expect(shown.stdout).toMatch(
      /PLACE +LOG +EPOCH +KNOWN +HERE\n.*checkpoint +_system +1 +\d+ +\d +\d+ receipts missing/,
    );
    expect(shown.stdout).toMatch(/Logs of tenants here: acme 2\./);
    expect(shown.stderr).toMatch(/nothing was done\.[\s\S]*Add --yes/);
    expect(await scene.db.query(`select from writ.receipt where stream = 'epoch'`)).toEqual([]);

    const accepted = await accept(
      '--to',
      place,
      '--key',
      key,
      '--reason',
      reason,
      '--yes',
      '--actor',
      'ada',
    );
    expect([accepted.code, accepted.stdout]).toEqual([
      0,
      expect.stringMatching(/Accepted\. 2 logs go on in a new epoch/),
    ]);
    const [receipt] = await scene.db.query(
      `select receipt -> 'context' as context from writ.receipt where stream = 'epoch' and receipt #>> '{context,log}' = '_system'`,
    );
    expect(receipt?.context).toMatchObject({
      reason,
      actor: 'ada',
      epoch: 2,
      restored_size: expect.any(Number),
      known_checkpoint: lost.read('checkpoint'),
    });

    // A loss is accepted once; then it is signed over, by the same key, and verifies with what was
    // lost.
    expect((await accept('--to', place, '--key', key, '--reason', reason, '--yes')).stderr).toMatch(
      /accepted as lost before/,
    );
    const before = scene.path('before');
    await writ(['ledger', 'checkpoint', '--key', lost.path('key'), '--to', place, '--to', before], {
      env: scene.env,
    });
    expect(existsSync(before)).toBe(true);
    const verdict = await scene.ledger(['verify', '--key', key, '--checkpoint', place]);
    expect([verdict.code, verdict.stdout]).toEqual([0, expect.stringMatching(/_system: epoch 2/)]);
    const running = worker(['--checkpoint', place, '--ledger-key', key]);
    await running.saying(/Working on/);
    running.kill('SIGTERM');
    expect((await running.ended).code).toBe(0);
  });

  test('a database that has everything is left as it is', async () => {
    const { code, stdout, stderr } = await lost.ledger([
      'accept-restore',
      '--sign',
      'key',
      '--to',
      place,
      '--key',
      key,
      '--reason',
      reason,
      '--yes',
    ]);
    expect([code, stdout, stderr]).toEqual([
      1,
      expect.stringContaining('everything is here'),
      expect.stringMatching(/nothing to accept/),
    ]);
    expect(await lost.db.query(`select from writ.receipt where stream = 'epoch'`)).toEqual([]);
  });

  test.each([
    ['no place', () => ['--key', key, '--reason', reason], 2, /nobody knows what was lost/],
    [
      'a key that is not among those that sign',
      async () => {
        await scene.key('own');
        return ['--sign', scene.path('own'), '--to', place, '--key', key, '--reason', reason];
      },
      1,
      /not among the public keys/,
    ],
    [
      'no key',
      () => ['--to', place, '--reason', reason],
      2,
      /can only be believed with the public key/,
    ],
    ['no reason', () => ['--to', place, '--key', key], 2, /--reason/],
    [
      'a reason that says nothing',
      () => ['--to', place, '--key', key, '--reason', 'oops'],
      1,
      /reason that somebody else will understand/,
    ],
    [
      'a place that holds nothing',
      () => ['--to', 'empty', '--key', key, '--reason', reason],
      1,
      /None of the places holds a checkpoint/,
    ],
    [
      'a key that has not signed',
      async () => ['--to', place, '--key', await scene.key('stranger'), '--reason', reason],
      1,
      /None of the keys/,
    ],
  ] as const)('with %s it changes nothing, and says why', async (_name, args, exit, words) => {
    const { code, stderr } = await accept(...(await args()), '--yes');
    expect([code, stderr]).toEqual([exit, expect.stringMatching(words)]);
    expect(await scene.db.query(`select from writ.receipt where stream <> 'deployment'`)).toEqual(
      [],
    );
  });

  test('an http place is read too', async () => {
    const http = await httpPlace();
    try {
      http.held = lost.read('checkpoint');
      const { stdout, stderr } = await accept('--to', http.url, '--key', key, '--reason', reason);
      expect(stdout).toMatch(/http:\/\/127\.0\.0\.1:\d+\/checkpoint +_system .*missing/);
      expect(stdout + stderr).not.toContain('geheim');
    } finally {
      await http.close();
    }
  });
});
