/**
 * Secrets are asked for once in a while and not for each job; what could not be had is asked for
 * again; what cannot be kept out of records is not handed out.
 */
import { describe, expect, test } from 'vitest';
import type { SecretsProvider } from '../../src/secrets/provider.js';
import { knownSecrets } from '../../src/secrets/redactor.js';
import { Secrets } from '../../src/secrets/secrets.js';

const acme = { tenantId: 'acme', environmentId: 'prod' };

/** Answers from a table, and remembers what it was asked. */
function provider(values: Record<string, unknown>): SecretsProvider & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    resolve: async (refs, { tenantId, environmentId }) => {
      asked.push(`${tenantId}/${environmentId}: ${refs.map(({ $secret }) => $secret).join()}`);
      return Object.fromEntries(
        refs.flatMap(({ $secret }) =>
          $secret in values ? [[$secret, values[$secret] as string]] : [],
        ),
      );
    },
  };
}

describe('a secret', () => {
  test('is asked for once, together with the others that are needed, and by all who need it at the same time', async () => {
    const from = provider({ one: 'value-of-one', two: 'value-of-two', three: 'value-of-three' });
    const secrets = new Secrets(from, 60_000);
    const [first, second] = await Promise.all([
      secrets.resolve(['one', 'two', 'one'], acme),
      secrets.resolve(['two', 'three'], acme),
    ]);
    expect(Object.fromEntries(first)).toEqual({ one: 'value-of-one', two: 'value-of-two' });
    expect(Object.fromEntries(second)).toEqual({ two: 'value-of-two', three: 'value-of-three' });
    await secrets.resolve(['one', 'two', 'three'], acme);
    expect(from.asked).toEqual(['acme/prod: one,two', 'acme/prod: three']);
  });

  test('of one tenant or environment is not handed to another', async () => {
    const from = provider({ one: 'value-of-one' });
    const secrets = new Secrets(from, 60_000);
    for (const tenantId of ['acme', 'other'])
      for (const environmentId of ['prod', 'test'])
        await secrets.resolve(['one'], { tenantId, environmentId });
    expect(from.asked).toEqual([
      'acme/prod: one',
      'acme/test: one',
      'other/prod: one',
      'other/test: one',
    ]);
  });

  test('is asked for again when its time is over, and each time if there is none', async () => {
    const from = provider({ one: 'value-of-one' });
    const brief = new Secrets(from, 5);
    await brief.resolve(['one'], acme);
    await new Promise((resume) => setTimeout(resume, 20));
    await brief.resolve(['one'], acme);
    expect(from.asked).toHaveLength(2);
    const none = new Secrets(from, 0);
    await none.resolve(['one'], acme);
    await none.resolve(['one'], acme);
    expect(from.asked).toHaveLength(4);
  });

  test('that was not there is asked for again, and found when it is there; those that were there stay known', async () => {
    const values: Record<string, string> = { one: 'value-of-one' };
    const from = provider(values);
    const secrets = new Secrets(from, 60_000);
    await expect(secrets.resolve(['one', 'late'], acme)).rejects.toMatchObject({
      code: 'secret_not_found',
      detail: 'late',
    });
    values.late = 'value-of-late';
    expect((await secrets.resolve(['one', 'late'], acme)).get('late')).toBe('value-of-late');
    expect(from.asked).toEqual(['acme/prod: one,late', 'acme/prod: late']);
  });

  test.each([
    ['is too short to be kept out of texts', 'seven-7', 'key has fewer than 8 characters'],
    ['is empty', '', 'key has fewer than 8 characters'],
    [
      'is too long',
      'a secret that nobody else uses'.repeat(2_200),
      'key has more than 65536 characters',
    ],
    ['is not a text', 12_345_678, 'key is not a text'],
  ])('that %s is not handed out', async (_, value, detail) => {
    const asked = new Secrets(provider({ key: value }), 1_000).resolve(['key'], acme);
    await expect(asked).rejects.toMatchObject({ code: 'secret_unusable', detail });
  });

  test('is known to what keeps it out of records before it is handed out', async () => {
    await new Secrets(provider({ key: 'value-of-key' }), 0).resolve(['key'], acme);
    expect(knownSecrets.redact('value-of-key')).toBe('«secret key»');
  });
});

test('without a provider, the names that nobody could be asked for are said', async () => {
  await expect(new Secrets(undefined, 0).resolve(['a', 'b'], acme)).rejects.toMatchObject({
    code: 'secrets_not_configured',
    detail: 'a, b',
  });
});

test('a provider that fails is said to have failed, and is asked again', async () => {
  let calls = 0;
  const failing: SecretsProvider = {
    resolve: async () => {
      if (++calls === 1) throw new Error('the safe is locked');
      return { key: 'value-of-key' };
    },
  };
  const secrets = new Secrets(failing, 60_000);
  await expect(secrets.resolve(['key'], acme)).rejects.toMatchObject({
    code: 'secrets_unavailable',
    detail: 'key: the safe is locked',
  });
  expect((await secrets.resolve(['key'], acme)).get('key')).toBe('value-of-key');
});

test('what is not the name of a secret is not asked for', async () => {
  const from = provider({});
  for (const name of ['', '../x', 'two words', 'x'.repeat(201)]) {
    await expect(new Secrets(from, 0).resolve([name], acme)).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  }
  expect(from.asked).toEqual([]);
});
