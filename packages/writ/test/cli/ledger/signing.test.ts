/**
 * `writ ledger keygen` and `writ ledger checkpoint`: keys, places, and signing until told to stop.
 */
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually, start } from '../run.js';
import { type HttpPlace, httpPlace, Scene } from './scene.js';

let scene: Scene;
beforeEach(async () => {
  scene = await Scene.make();
});
afterEach(() => scene.end());

describe('keygen', () => {
  test('a key is made without a database: its file is for its owner alone, and only the public half is shown', async () => {
    const { code, stdout, stderr } = await scene.ledger(
      ['keygen', '--name', 'acme.example/prod', '--out', 'key'],
      { DATABASE_URL: '' },
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^ {2}acme\.example\/prod\+[0-9a-f]{8}\+[A-Za-z0-9+/=]{44}$/m);
    expect(stdout).toMatch(/writ ledger checkpoint --key key --to PLACE/);
    const secret = scene.read('key');
    expect(secret).toMatch(/^PRIVATE\+KEY\+acme\.example\/prod\+/);
    // base64 may have a + of its own
    expect(stdout).not.toContain(/^(?:[^+]+\+){4}(.+)$/.exec(secret.trim())?.[1]);
    expect(statSync(scene.path('key')).mode & 0o777).toBe(0o600);
  });

  test('a key that is there is not overwritten', async () => {
    await scene.key();
    const before = scene.read('key');
    const { code, stderr } = await scene.ledger([
      'keygen',
      '--name',
      'acme.example/test',
      '--out',
      'key',
    ]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/never overwritten[\s\S]*another --out/),
    ]);
    expect(scene.read('key')).toBe(before);
  });

  test.each([
    ['without a name', ['--out', 'key'], 2, /--name acme/],
    [
      'with a name that has a blank',
      ['--name', 'acme prod', '--out', 'key'],
      2,
      /"acme prod" is no name/,
    ],
    [
      'into a folder that is not there',
      ['--name', 'acme', '--out', 'no/key'],
      1,
      /no\/key cannot be written: ENOENT/,
    ],
    [
      'in the place of one that is not there',
      ['--replaces', 'gone', '--out', 'key'],
      2,
      /no key at gone/,
    ],
  ] as const)('%s it is refused in words', async (_name, args, exit, words) => {
    const { code, stderr } = await scene.ledger(['keygen', ...args]);
    expect([code, stderr]).toEqual([exit, expect.stringMatching(words)]);
    expect(existsSync(scene.path('key'))).toBe(false);
  });

  test('a key takes the place of another, and who trusts the old one can follow', async () => {
    const old = await scene.key();
    await scene.sign();
    const { code, stdout } = await scene.ledger([
      'keygen',
      '--replaces',
      'key',
      '--out',
      'next',
      '--actor',
      'ada',
    ]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`--trust ${old}`)]);
    const refused = await scene.ledger(['checkpoint', '--key', 'key', '--to', 'checkpoint']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/another key/)]);
    const untrusted = await scene.ledger(['checkpoint', '--key', 'next', '--to', 'checkpoint']);
    expect([untrusted.code, untrusted.stderr]).toEqual([
      1,
      expect.stringMatching(/another key has signed[\s\S]*--trust/),
    ]);
    await scene.json(['checkpoint', '--key', 'next', '--to', 'checkpoint', '--trust', old]);
    const verdict = await scene.json<{ ok: boolean; notes: string[] }>([
      'verify',
      '--key',
      old,
      '--checkpoint',
      'checkpoint',
    ]);
    expect(verdict).toMatchObject({ ok: true, notes: [] });
  });

  test('a key that the database refuses is not left behind', async () => {
    await scene.key();
    await scene.sign();
    await scene.key('stranger');
    const { code, stderr } = await scene.ledger([
      'keygen',
      '--replaces',
      'stranger',
      '--out',
      'next',
    ]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/signed with another key.*No key was made/),
    ]);
    expect(existsSync(scene.path('next'))).toBe(false);
  });
});

describe('checkpoint', () => {
  let place: HttpPlace;
  beforeEach(async () => {
    place = await httpPlace();
  });
  afterEach(() => place.close());

  test('what there is is signed and put outside, into a file and to an http address, and no password is shown', async () => {
    const key = await scene.key();
    await scene.receipts('acme', 1, 3);
    const { code, stdout, stderr } = await scene.ledger([
      'checkpoint',
      '--key',
      'key',
      '--to',
      'checkpoint',
      '--to',
      place.url,
    ]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^acme +1 +3 +[0-9a-f]{16}…$/m);
    expect(stdout).toContain('/checkpoint, http://127.0.0.1:');
    expect(stdout).not.toContain('geheim');
    expect(scene.read('checkpoint')).toMatch(/^acme\.example\/test\/_system\/1\n\d+\n/);
    expect(place.held).toBe(scene.read('checkpoint'));
    expect(await scene.json(['status'])).toMatchObject({ key, waiting: 0 });
  });

  test('the environment can say which key and which places', async () => {
    await scene.key();
    const env = { WRIT_LEDGER_KEY: 'key', WRIT_LEDGER_PLACES: `one, two,${place.url}` };
    expect((await scene.ledger(['checkpoint'], env)).code).toBe(0);
    expect([scene.read('one'), scene.read('two')]).toEqual([place.held, place.held]);
  });

  test('a key file that others can read is warned of', async () => {
    await scene.key();
    chmodSync(scene.path('key'), 0o644);
    const { code, stderr } = await scene.ledger([
      'checkpoint',
      '--key',
      'key',
      '--to',
      'checkpoint',
    ]);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/key can be read by others[\s\S]*chmod 600 key/),
    ]);
  });

  test.each([
    ['no key', ['--to', 'checkpoint'], 2, /no key to sign with/],
    ['no place', ['--key', 'key'], 2, /shows nothing to anybody/],
    ['a key file that is not there', ['--key', 'gone', '--to', 'checkpoint'], 2, /no key at gone/],
    [
      'a key file that is a folder',
      ['--key', 'a-folder', '--to', 'checkpoint'],
      1,
      /a-folder cannot be read: EISDIR/,
    ],
    [
      'a key file that holds something else',
      ['--key', 'letter', '--to', 'checkpoint'],
      1,
      /letter does not hold a private key/,
    ],
    [
      'a place whose folder is not there',
      ['--key', 'key', '--to', 'no/place'],
      1,
      /no\/place: its folder does not exist/,
    ],
    [
      'an address that is none',
      ['--key', 'key', '--to', 'http://:geheim@'],
      2,
      /neither a path nor an http address/,
    ],
    [
      'an old key that is none',
      ['--key', 'key', '--to', 'checkpoint', '--trust', 'geheim'],
      2,
      /--trust: This is not a key/,
    ],
    [
      'more often than each second',
      ['--key', 'key', '--to', 'checkpoint', '--every', '10ms'],
      2,
      /at least 1s/,
    ],
  ] as const)(
    '%s is said in words, and nothing is printed that should not be',
    async (_name, args, exit, words) => {
      await scene.key();
      mkdirSync(scene.path('a-folder'));
      writeFileSync(scene.path('letter'), 'Dear Ada, geheim');
      const { code, stdout, stderr } = await scene.ledger(['checkpoint', ...args]);
      expect([code, stdout, stderr]).toEqual([exit, '', expect.stringMatching(words)]);
      expect(stderr).not.toContain('geheim');
    },
  );

  test('every so often, until it is told to stop; a place that fails is reported once and tried again', async () => {
    await scene.key();
    place.status = 500;
    const running = start(
      ['ledger', 'checkpoint', '--key', 'key', '--to', place.url, '--every', '1s'],
      scene.options,
    );
    await eventually(async () => place.requests >= 2);
    place.status = 200;
    await running.saying(/signed _system at \d+; 1 place\n[\s\S]*signed _system/);
    running.kill('SIGTERM');
    const { code, stdout, stderr } = await running.ended;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/Stopped\.\n$/)]);
    expect(stderr.match(/answered 500/g)).toHaveLength(1);
    expect(stderr).not.toContain('geheim');
    expect(place.held).toMatch(/^acme\.example\/test\/_system\/1\n/);
  });

  test('what only a person can mend ends it', async () => {
    await scene.key();
    await scene.sign();
    await scene.key('stranger');
    const { code, stderr } = await start(
      ['ledger', 'checkpoint', '--key', 'stranger', '--to', 'checkpoint', '--every', '1s'],
      scene.options,
    ).ended;
    expect([code, stderr]).toEqual([1, expect.stringMatching(/another key/)]);
  });
});
