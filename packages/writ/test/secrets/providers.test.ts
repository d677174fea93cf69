/**
 * Secrets from the environment and from files: found by their names, refused where they could come
 * from somebody else, and never in the words of an error.
 */

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { WritError } from '../../src/errors/index.js';
import { environmentSecrets } from '../../src/secrets/environment.js';
import { fileSecrets } from '../../src/secrets/file.js';
import type { SecretsProvider } from '../../src/secrets/provider.js';
import { knownSecrets } from '../../src/secrets/redactor.js';
import { Secrets } from '../../src/secrets/secrets.js';

const context = { tenantId: 'acme', environmentId: 'prod' };
const ask = (provider: SecretsProvider, ...names: string[]) =>
  provider.resolve(
    names.map((name) => ({ $secret: name })),
    context,
  );
const failure = (asked: Promise<unknown>): Promise<WritError> =>
  asked.then(
    () => {
      throw new Error('it was answered');
    },
    (error: WritError) => error,
  );

describe('the environment', () => {
  afterEach(() => {
    for (const name of Object.keys(process.env))
      if (/^(?:WRIT_SECRET|APP)_TEST_/.test(name)) delete process.env[name];
  });

  test('has a secret under its name in large letters, behind the prefix', async () => {
    process.env.WRIT_SECRET_TEST_STRIPE_KEY = 'value-of-stripe';
    process.env.APP_TEST_STRIPE_KEY = 'value-of-app';
    expect(
      await ask(environmentSecrets(), 'test-stripe-key', 'test/stripe.key', 'test-none'),
    ).toEqual({
      'test-stripe-key': 'value-of-stripe',
      'test/stripe.key': 'value-of-stripe',
    });
    expect(await ask(environmentSecrets({ prefix: 'APP_' }), 'test-stripe-key')).toEqual({
      'test-stripe-key': 'value-of-app',
    });
  });

  test('is kept out of texts from the beginning, before anybody asks', () => {
    process.env.WRIT_SECRET_TEST_HELD = 'value-that-is-held';
    new Secrets(environmentSecrets(), 0);
    expect(knownSecrets.redact('it is value-that-is-held')).toBe('it is «secret test-held»');
  });
});

describe('a folder of files', () => {
  let folder: string;
  let outside: string;
  const write = (name: string, text: string, mode = 0o400) => {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), mode);
  };
  beforeEach(() => {
    outside = mkdtempSync(join(tmpdir(), 'writ-secrets-'));
    folder = join(outside, 'secrets');
    mkdirSync(folder);
  });
  afterEach(() => rmSync(outside, { recursive: true }));

  test('has one file for each secret, and the line break at its end is no part of it', async () => {
    write('stripe-key', 'value-of-stripe\n');
    write('two-lines', 'first\nsecond\n\n');
    mkdirSync(join(folder, 'db'));
    write('db/password', 'value-of-db\r\n', 0o444);
    expect(
      await ask(
        fileSecrets({ folder }),
        'stripe-key',
        'two-lines',
        'db/password',
        'none',
        'none/of-it',
        'stripe-key/x',
      ),
    ).toEqual({
      'stripe-key': 'value-of-stripe',
      'two-lines': 'first\nsecond\n',
      'db/password': 'value-of-db',
    });
  });

  test('is read as Kubernetes mounts it: links to a folder that is replaced as a whole', async () => {
    mkdirSync(join(folder, '..2026_01'));
    write('..2026_01/stripe-key', 'value-of-stripe');
    symlinkSync('..2026_01', join(folder, '..data'));
    symlinkSync('..data/stripe-key', join(folder, 'stripe-key'));
    expect(await ask(fileSecrets({ folder }), 'stripe-key')).toEqual({
      'stripe-key': 'value-of-stripe',
    });
  });

  test.each(['../elsewhere', 'a/../../elsewhere', 'a/./b', 'a//b', 'link'])(
    'does not lead out of itself: %s',
    async (name) => {
      writeFileSync(join(outside, 'elsewhere'), 'value-from-elsewhere');
      symlinkSync('../elsewhere', join(folder, 'link'));
      const error = await failure(ask(fileSecrets({ folder }), name));
      expect(error.code).toBe('secret_unusable');
      expect(error.message).not.toContain('value-from');
    },
  );

  test('whose name only begins like it is another folder', async () => {
    mkdirSync(`${folder}-of-others`);
    writeFileSync(join(`${folder}-of-others`, 'key'), 'value-of-others');
    symlinkSync('../secrets-of-others/key', join(folder, 'key'));
    expect((await failure(ask(fileSecrets({ folder }), 'key'))).code).toBe('secret_unusable');
  });

  test.each([
    ['the group may write', 0o660],
    ['everybody may write', 0o606],
  ])('has no secret in a file that %s', async (_, mode) => {
    write('stripe-key', 'value-of-stripe', mode);
    const error = await failure(ask(fileSecrets({ folder }), 'stripe-key'));
    expect(error).toMatchObject({
      code: 'secret_unusable',
      detail: 'others than its owner may write the file of stripe-key',
    });
    expect(error.message).not.toContain('value-of');
  });

  test('has no secret in a file that is too large, in a folder, or in a pipe, which keeps nobody waiting', async () => {
    write('large', 'x'.repeat(65_537));
    mkdirSync(join(folder, 'folder'));
    execFileSync('mkfifo', ['-m', '600', join(folder, 'pipe')]);
    for (const name of ['large', 'folder', 'pipe']) {
      expect((await failure(ask(fileSecrets({ folder }), name))).code).toBe('secret_unusable');
    }
  });

  test('that is not there is said to be missing, and not each of its secrets', async () => {
    expect(
      (await failure(ask(fileSecrets({ folder: join(outside, 'none') }), 'stripe-key'))).code,
    ).toBe('secrets_unavailable');
  });
});
