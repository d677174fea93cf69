/** Where secrets and tokens of senders are: by tenant, several at once, and read again. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { Credentials } from '../../../src/cli/governor/credentials.js';
import { redact } from '../../../src/secrets/passwords.js';

const before = { ...process.env };
afterEach(() => {
  process.env = { ...before };
  vi.useRealTimers();
});

function file(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'writ-credentials-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'secret');
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

test('several are good at once, and a tenant with its own has no other', async () => {
  Object.assign(process.env, {
    ALL_OLD: 'for-all-old',
    ALL_NEW: 'for-all-new',
    ACME: 'of-acme-alone',
  });
  const tokens = new Credentials('--token', ['env:ALL_NEW', 'env:ALL_OLD', 'acme=env:ACME']);
  expect(await tokens.of('anybody')).toEqual(['for-all-new', 'for-all-old']);
  expect(await tokens.of('acme')).toEqual(['of-acme-alone']);
});

test('a tenant for which there is none has none', async () => {
  process.env.ACME = 'of-acme-alone';
  expect(await new Credentials('--token', ['acme=env:ACME']).of('other')).toEqual([]);
});

test('one is read again after a minute, and one that is gone then is left out', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const path = file('first-value\n');
  process.env.STAYS = 'the-other-one';
  const secrets = new Credentials('--secret', [`file:${path}`, 'env:STAYS']);
  expect(await secrets.of('acme')).toEqual(['first-value', 'the-other-one']);
  writeFileSync(path, 'second-value');
  expect(await secrets.of('acme')).toEqual(['first-value', 'the-other-one']);
  vi.advanceTimersByTime(60_001);
  expect(await secrets.of('acme')).toEqual(['second-value', 'the-other-one']);
  rmSync(path);
  vi.advanceTimersByTime(60_001);
  expect(await secrets.of('acme')).toEqual(['the-other-one']);
});

test('one that cannot be read is an error, and not one less', async () => {
  const path = file('written-by-all');
  chmodSync(path, 0o666);
  await expect(new Credentials('--secret', [`file:${path}`]).of('acme')).rejects.toMatchObject({
    code: 'secret_unusable',
  });
});

test('one that is too short to be one is said at the start', async () => {
  process.env.SHORT = 'short';
  await expect(new Credentials('--token', ['env:SHORT']).assertThere()).rejects.toThrow(
    /--token env:SHORT cannot be used: .*fewer than 8/,
  );
});

test('once read, it is kept out of what is printed', async () => {
  process.env.PRINTED = 'never-to-be-printed';
  await new Credentials('--token', ['env:PRINTED']).assertThere();
  expect(redact('a fault with never-to-be-printed in it')).not.toContain('never-to-be-printed');
});

test.each(['', 'hunter2', 'env:', 'safe:x', 'acme=', '=env:X', `${'t'.repeat(201)}=env:X`])(
  '“%s” is no place',
  (text) => {
    expect(() => new Credentials('--token', [text])).toThrow(
      expect.objectContaining({ message: '--token does not say where to find it.' }),
    );
  },
);
