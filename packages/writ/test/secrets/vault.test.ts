/**
 * Secrets from Vault: asked for as its key-value engine wants to be asked, and every way of not
 * answering is told apart, without a secret or the token in words.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type SecretContext,
  type VaultSecretsOptions,
  vaultSecrets,
  WritError,
} from '../../src/index.js';
import { startVault, type VaultServer } from './vault-server.js';

let vault: VaultServer;
beforeEach(async () => {
  vault = await startVault();
  vault.documents.set('secret/app', {
    'stripe-key': 'value-of-stripe',
    'mail-key': 'value-of-mail',
  });
});
afterEach(() => vault.stop());

const context: SecretContext = { tenantId: 'acme', environmentId: 'prod' };
const refs = (...names: string[]) => names.map((name) => ({ $secret: name }));
const provider = (more: Partial<VaultSecretsOptions> = {}) =>
  vaultSecrets({
    address: vault.address,
    token: vault.token,
    path: 'app',
    ...more,
  } as VaultSecretsOptions);

async function failure(asked: Promise<unknown>): Promise<WritError> {
  const error = await asked.then(
    () => new Error('it was answered'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(WritError);
  // Neither in its words nor in what hangs on it.
  const text = inspect(error, { depth: 20, showHidden: true });
  expect(text).not.toContain(vault.token);
  expect(text).not.toContain('value-of');
  return error as WritError;
}

describe('a document', () => {
  test('is asked for once for all of its keys, with token and namespace', async () => {
    expect(
      await provider({ namespace: 'team/a' }).resolve(
        refs('stripe-key', 'mail-key', 'none'),
        context,
      ),
    ).toEqual({
      'stripe-key': 'value-of-stripe',
      'mail-key': 'value-of-mail',
    });
    expect(vault.requests).toEqual([{ path: '/v1/secret/data/app', namespace: 'team/a' }]);
  });

  test('below it is named by what stands before the last slash', async () => {
    vault.documents.set('kv/app/db', { password: 'value-of-db' });
    expect(await provider({ mount: 'kv' }).resolve(refs('db/password'), context)).toEqual({
      'db/password': 'value-of-db',
    });
  });

  test('can be another for each tenant and environment', async () => {
    vault.documents.set('secret/acme/prod', { key: 'value-of-acme' });
    const path = ({ tenantId, environmentId }: SecretContext) => `${tenantId}/${environmentId}`;
    expect(await provider({ path }).resolve(refs('key'), context)).toEqual({
      key: 'value-of-acme',
    });
    expect(
      await provider({ path }).resolve(refs('key'), { ...context, tenantId: 'other' }),
    ).toEqual({});
    // A tenant whose name is a way up is not led to the document of another.
    expect(
      (await failure(provider({ path }).resolve(refs('key'), { ...context, tenantId: '..' }))).code,
    ).toBe('invalid_argument');
    expect(
      await provider({ path }).resolve(refs('key'), { tenantId: 'a?b#c', environmentId: 'x' }),
    ).toEqual({});
    expect(vault.requests.at(-1)?.path).toBe('/v1/secret/data/a?b#c/x');
  });

  test('that is not there, or was deleted, has no secrets', async () => {
    expect(await provider({ path: 'none' }).resolve(refs('key'), context)).toEqual({});
    vault.documents.set('secret/gone', null);
    expect(await provider({ path: 'gone' }).resolve(refs('key'), context)).toEqual({});
    vault.once = (_, response) => void response.end('{"data":{"data":null,"metadata":{}}}');
    expect(await provider().resolve(refs('key'), context)).toEqual({});
  });
});

describe('an answer that is none', () => {
  test('403: the token may not read it, and the document is named', async () => {
    const error = await failure(
      provider({ token: 'another-token' }).resolve(refs('stripe-key'), context),
    );
    expect(error).toMatchObject({
      code: 'secrets_denied',
      detail: `Vault at ${new URL(vault.address).host}, app`,
    });
    expect(error.message).not.toContain('another-token');
  });

  test.each([
    ['an error of the server', 500, '{"errors":["value-of-stripe"]}', /it answers 500$/],
    ['sealed', 503, '{"errors":["Vault is sealed"]}', /it answers 503$/],
    ['no JSON', 200, 'value-of-stripe is not JSON', /is not what the key-value engine/],
    [
      'JSON that is cut off',
      200,
      '{"data":{"data":{"stripe-key":"value-of-str',
      /is not what the key-value engine/,
    ],
    [
      'what version 1 of the engine answers',
      200,
      '{"data":{"stripe-key":"value-of-stripe"}}',
      /is not what the key-value engine/,
    ],
    ['null', 200, 'null', /is not what the key-value engine/],
    ['a list', 200, '{"data":{"data":["value-of-stripe"]}}', /is not what the key-value engine/],
    [
      'more than anybody keeps there',
      200,
      `{"data":{"data":{"x":"${'y'.repeat(2_000_000)}"}}}`,
      /more than 1048576 bytes$/,
    ],
  ])('%s', async (_, status, body, words) => {
    vault.once = (_, response) => void response.writeHead(status).end(body);
    const error = await failure(provider().resolve(refs('stripe-key'), context));
    expect(error.code).toBe('secrets_unavailable');
    expect(error.detail).toMatch(words);
  });

  test('a redirect: the token does not go along', async () => {
    const heard: unknown[] = [];
    const elsewhere = createServer((request, response) => {
      heard.push(request.headers);
      response.end('{}');
    });
    await new Promise<void>((done) => elsewhere.listen(0, '127.0.0.1', done));
    const { port } = elsewhere.address() as AddressInfo;
    vault.once = (_, response) =>
      void response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end();
    const error = await failure(provider().resolve(refs('stripe-key'), context));
    await new Promise((done) => elsewhere.close(done));
    expect(error.detail).toMatch(/it answers 307, a redirect/);
    expect(heard).toEqual([]);
  });

  test('none in time, and none to the end', async () => {
    vault.once = () => undefined;
    expect(
      (await failure(provider({ timeoutMs: 100 }).resolve(refs('stripe-key'), context))).detail,
    ).toMatch(/no answer within 100 ms$/);
    vault.once = (_, response) => void response.write('{"data":{');
    expect(
      (await failure(provider({ timeoutMs: 100 }).resolve(refs('stripe-key'), context))).detail,
    ).toMatch(/no answer within 100 ms$/);
    vault.once = (request) => void request.socket.destroy();
    expect((await failure(provider().resolve(refs('stripe-key'), context))).detail).toMatch(
      /cannot be reached/,
    );
  });

  test('nobody there', async () => {
    await vault.stop();
    expect((await failure(provider().resolve(refs('stripe-key'), context))).detail).toMatch(
      /it cannot be reached: ECONNREFUSED$/,
    );
  });
});

describe('a token', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'writ-vault-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const from = (tokenFile: string) =>
    vaultSecrets({ address: vault.address, tokenFile, path: 'app' });

  test('in a file is read again each time, because an agent renews it', async () => {
    const file = join(folder, 'token');
    writeFileSync(file, `${vault.token}\n`, { mode: 0o600 });
    const asking = from(file);
    expect(await asking.resolve(refs('mail-key'), context)).toEqual({
      'mail-key': 'value-of-mail',
    });
    vault.token = 'hvs-that-is-new';
    expect((await failure(asking.resolve(refs('mail-key'), context))).code).toBe('secrets_denied');
    writeFileSync(file, vault.token);
    expect(await asking.resolve(refs('mail-key'), context)).toEqual({
      'mail-key': 'value-of-mail',
    });
  });

  test('that is not there, that others may write, or that is no token is not sent', async () => {
    const file = join(folder, 'token');
    expect((await failure(from(file).resolve(refs('key'), context))).detail).toBe(
      'there is no Vault token',
    );
    writeFileSync(file, 'two\nlines');
    expect((await failure(from(file).resolve(refs('key'), context))).detail).toBe(
      'the Vault token is not one',
    );
    chmodSync(file, 0o666);
    expect((await failure(from(file).resolve(refs('key'), context))).code).toBe('secret_unusable');
    expect(vault.requests).toEqual([]);
  });
});

test.each([
  'vault.example',
  'http://vault.example:8200',
  'ftp://127.0.0.1',
  'https://ada:pass@vault.example',
  'http://127.0.0.1.example.org',
])('an address that would show the token to others is refused: %s', (address) => {
  expect(() => provider({ address })).toThrow(
    expect.objectContaining({ code: 'invalid_argument' }),
  );
  expect(() => provider({ address })).not.toThrow(/pass@/);
});
