/** What `writ worker --secrets` can be told, and that it says at once when it makes no sense. */
import { afterEach, expect, test } from 'vitest';
import { secretsAt } from '../../src/cli/secret-places.js';
import { fixture, writ } from './run.js';

const before = { ...process.env };
afterEach(() => {
  process.env = { ...before };
});

test.each(['', 'env:', 'file', 'file:', 'vault:secret', 'vault:/app', 'safe:x', 'hunter2'])(
  '“%s” is no place',
  async (place) => {
    expect(() => secretsAt(place)).toThrow(
      expect.objectContaining({ message: '--secrets does not say where secrets are.' }),
    );
  },
);

test('Vault needs an address and a token, from the environment', () => {
  for (const name of ['VAULT_ADDR', 'VAULT_TOKEN', 'VAULT_TOKEN_FILE', 'VAULT_NAMESPACE'])
    delete process.env[name];
  expect(() => secretsAt('vault:secret/app')).toThrow('Vault has no address.');
  process.env.VAULT_ADDR = 'http://127.0.0.1:1';
  expect(() => secretsAt('vault:secret/app')).toThrow('There is no token for Vault.');
  process.env.VAULT_TOKEN_FILE = 'token';
  expect(secretsAt('vault:secret/app')).toHaveProperty('resolve');
  process.env.VAULT_TOKEN = 'token';
  expect(secretsAt('vault:kv/app/prod')).toHaveProperty('resolve');
});

test('the command ends with wrong usage before it asks the database for anything', async () => {
  const { code, stderr } = await writ(['worker', fixture('jobs.mjs'), '--secrets', 'hunter2'], {
    env: { DATABASE_URL: 'postgres://127.0.0.1:1/none' },
  });
  expect(code).toBe(2);
  expect(stderr).toContain('Write env, env:PREFIX, file:FOLDER or vault:MOUNT/PATH.');
  expect(stderr).not.toContain('hunter2');
});
