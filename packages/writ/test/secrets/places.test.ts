/** The places that secrets can be in, and what is refused at once. */
import { afterEach, expect, test } from 'vitest';
import { secretsAt } from '../../src/secrets/places.js';
import { fixture, writ } from '../cli/run.js';

const before = { ...process.env };
afterEach(() => {
  process.env = { ...before };
});

test.each(['', 'env:', 'file', 'file:', 'vault:secret', 'vault:/app', 'safe:x', 'hunter2'])(
  '“%s” is no place',
  async (place) => {
    expect(() => secretsAt(place)).toThrow(
      expect.objectContaining({ code: 'invalid_secrets_place' }),
    );
  },
);

test('Vault needs an address and a token, from the environment', () => {
  for (const name of ['VAULT_ADDR', 'VAULT_TOKEN', 'VAULT_TOKEN_FILE', 'VAULT_NAMESPACE'])
    delete process.env[name];
  expect(() => secretsAt('vault:secret/app')).toThrow('it has no address');
  process.env.VAULT_ADDR = 'http://127.0.0.1:1';
  expect(() => secretsAt('vault:secret/app')).toThrow('there is no token');
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
