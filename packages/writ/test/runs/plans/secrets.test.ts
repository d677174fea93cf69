/**
 * Plans are stored and shown, so what looks like a secret does not get in: by its name or by its
 * form, and it is not repeated in the refusal.
 */
import { describe, expect, test } from 'vitest';
import { WritRefusal } from '../../../src/errors/index.js';
import { secretIn } from '../../../src/runs/plans/secrets.js';
import { validatePlan } from '../../../src/runs/plans/validate.js';

const planOf = (more: object) => ({
  schemaVersion: 1,
  planId: 'p',
  planVersion: '1',
  steps: [{ id: 'call', type: 'job', kind: 'do', ...more }],
});
const value = 'correct-horse';

function refusalOf(plan: unknown): WritRefusal {
  try {
    validatePlan(plan);
  } catch (error) {
    if (error instanceof WritRefusal) return error;
    throw error;
  }
  throw new Error('it got in');
}

describe('a text under the name of a secret', () => {
  test.each([
    'password',
    'Password',
    'dbPassword',
    'db_password',
    'DB-PASSWORD',
    'userpassword',
    'passwd',
    'pwd',
    'passphrase',
    'secret',
    'clientSecret',
    'token',
    'access_token',
    'api_key',
    'apiKey',
    'APIKey',
    'x-api-key',
    'authorization',
    'Authorization',
    'private_key',
    'privateKey',
    'AWS_SECRET_ACCESS_KEY',
    'credentials',
    'signingKey',
    'encryption_key',
    'passcode',
  ])('is refused: %s', (name) => {
    const refusal = refusalOf(planOf({ input: { call: [{ [name]: value }] } }));
    expect(refusal.code).toBe('PLAN_SECRET_INSIDE');
    expect(refusal.detail).toBe(
      `step call: input.call.0.${name} is a text, and ${name} is the name of a secret`,
    );
    expect(refusal.message).not.toContain(value);
  });

  test('is refused in the input of a compensation, below the name, and where a condition compares it', () => {
    expect(refusalOf(planOf({ compensate: { kind: 'undo', input: { token: value } } })).code).toBe(
      'PLAN_SECRET_INSIDE',
    );
    expect(refusalOf(planOf({ input: { secrets: { db: { main: value } } } })).code).toBe(
      'PLAN_SECRET_INSIDE',
    );
    expect(refusalOf(planOf({ input: { passwords: [value] } })).code).toBe('PLAN_SECRET_INSIDE');
    expect(
      refusalOf(planOf({ when: { not: { ref: 'input.user.password', is: value } } })).detail,
    ).toBe('step call: when.not.is is a text, and password is the name of a secret');
  });

  test.each([
    ['the name of a secret', { password: { $secret: 'prod/db-password' } }],
    ['a reference', { token: { $ref: 'input.token' } }],
    ['no text', { maxTokens: 500, token: 7, password: null, secret: true, pwd: '' }],
    [
      'another name',
      {
        secretName: value,
        tokenType: 'opaque',
        passwordPolicy: 'strict',
        author: 'Ada',
        keyboard: 'de',
        stop_tokens: ['\n'],
      },
    ],
  ])('is let in if it is %s', (_, input) => {
    expect(validatePlan(planOf({ input })).steps[0]).toMatchObject({ input });
  });
});

describe('a text of a known form', () => {
  test.each([
    ['a private key', '-----BEGIN PRIVATE KEY-----\nMIIE'],
    ['a private key', 'x -----BEGIN RSA PRIVATE KEY-----'],
    ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----'],
    ['a private key', '-----BEGIN PGP PRIVATE KEY BLOCK-----'],
    ['a key of AWS', 'AKIA' + 'IOSFODNN7EXAMPLE'],
    ['a key of AWS', `id=ASIA${'IOSFODNN7EXAMPLE'};`],
    ['a bearer token', 'Bearer abc.def-123'],
    ['a bearer token', 'curl -H "Authorization: Bearer abcdefgh"'],
    ['a connection string with a password', `postgres://ada:${value}@db.example.org/app`],
    ['a connection string with a password', `redis://:${value}@cache:6379`],
    ['a connection string with a password', `amqps://ada:${value}@bus`],
    ['a connection string with a password', `host=db user=ada password=${value}`],
    ['a connection string with a password', `Server=db;User=ada;Pwd = ${value};`],
    ['a token of GitHub', `ghp_${'a1B2'.repeat(9)}`],
    ['a token of Slack', `xoxb-${'1234567890'}-abc`],
    ['a token of GitHub', `github_pat_${'11ABCDEFG0'.repeat(3)}`],
    ['a token of GitLab', `glpat-${'a1B2c3D4e5'.repeat(2)}`],
    ['a token of npm', `npm_${'a1B2'.repeat(9)}`],
    ['a key of Google', `AIza${'a1B2c3D'.repeat(5)}`],
    ['a key of SendGrid', `SG.${'a1B2c3D4'.repeat(3)}.${'a1B2c3D4'.repeat(5)}`],
    ['a key of a language model', `sk-ant-${'api03-a1B2c3D4e5'.repeat(2)}`],
    ['a key of a language model', `sk-${'a1B2c3D4'.repeat(6)}`],
    ['a token of Vault', `hvs.${'CAESIJa1B2'.repeat(3)}`],
    ['a user and password of HTTP', `Basic ${'YWRhOmNvcnJlY3QtaG9yc2U'}=`],
    ['a connection string with a key', `AccountName=ada;AccountKey=${'a1B2c3D4'.repeat(4)}==`],
    ['a key of Stripe', `sk_live_${'a1B2c3D4e5'}`],
    ['a key of Stripe', `rk_test_${'a1B2c3D4e5'}`],
    ['a key of Stripe', `whsec_${'a1B2c3D4e5'}`],
    [
      'a JSON web token',
      `eyJ${'hbGciOiJIUzI1NiJ9'}.eyJ${'zdWIiOiIxMjM0In0'}.${'dozjgNryP4J3jVmNHl'}`,
    ],
  ])('is refused: %s', (words, text) => {
    const refusal = refusalOf(planOf({ input: { note: text } }));
    expect(refusal.detail).toBe(`step call: input.note looks like ${words}`);
    expect(refusal.message).not.toContain(text.slice(-8));
    expect(refusalOf(planOf({ input: { [text]: 1 } })).detail).toBe(
      'step call: a name in input looks like a secret',
    );
  });

  test.each([
    '-----BEGIN CERTIFICATE-----',
    '-----BEGIN PUBLIC KEY-----',
    'https://example.org:8443/path?at=10:30',
    'https://ada@example.org/',
    'postgres://ada@db.example.org/app',
    'Bearer of bad news',
    'Basic understanding of it',
    'a task-oriented and risk-averse-but-otherwise-ordinary-text',
    'npm_config_cache',
    'the password is in the vault',
    'password=$PASSWORD',
    '2026-07-26T10:00:00Z',
    'sha256:6c99484df8a52a1dc3f2533b796f7257c11f57149d3fe3277d4c7ab98433d033',
  ])('is not every text: %s', (text) => {
    expect(secretIn({ note: text })).toBeUndefined();
  });
});

test('a secret that somebody has written for its name is refused, and so is one in a reference', () => {
  const key = `sk_live_${'a1B2c3D4e5'}`;
  const named = refusalOf(planOf({ input: { apiKey: { $secret: key } } }));
  expect(named.detail).toBe('step call: input.apiKey looks like a key of Stripe');
  expect(named.message).not.toContain(key);
  expect(refusalOf(planOf({ input: { apiKey: { $ref: `input.${key}` } } })).code).toBe(
    'PLAN_SECRET_INSIDE',
  );
});

test('the search takes no time that grows with the square of a text', () => {
  const hard = [
    'a.',
    'a:',
    'ab://',
    'eyJaaaaaaaaaaaa.a',
    'eyJ-',
    '-----BEGIN A ',
    'Bearer ',
    'password ',
    'A-B',
    'Basic a',
    'SG.a',
    'sk-',
  ].map((piece) => piece.repeat(Math.floor(260_000 / piece.length)));
  const begun = performance.now();
  for (const text of hard) expect(secretIn({ [text]: 1, note: text })).toBeUndefined();
  expect(performance.now() - begun).toBeLessThan(5_000);
});
