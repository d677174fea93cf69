/**
 * The contract of signals by HTTP, row by row, and in its order: a request that is wrong in two
 * ways hears of the first.
 */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSignal } from '../../../src/governor/http/signal.js';
import { checkIncoming } from '../../../src/governor/incoming.js';
import {
  bytesOf,
  credentials,
  legacySigned,
  now,
  secret,
  signal,
  signed,
  token,
} from './sender.js';

const read = (...request: Parameters<typeof signed>) => readSignal(signed(...request), credentials);
const minute = 60_000;
const hour = 60 * minute;
const seconds = (ms: number) => String(ms / 1_000);
const iso = (ms: number) => new Date(ms).toISOString();
const without = (field: string) =>
  Object.fromEntries(Object.entries(signal).filter(([name]) => name !== field));

test('a signal that is right is what it says, with the id of its header', () => {
  const all = {
    ...signal,
    threshold: 75,
    correlation_id: 'deploy-7',
    metadata: { region: 'eu', cores: [1, 2] },
  };
  expect(read(all)).toEqual({
    ok: {
      signal_id: 'signal-1',
      source: 'monitoring',
      type: 'cpu_utilization',
      severity: 'HIGH',
      value: 82.5,
      threshold: 75,
      observed_at: Date.parse('2026-03-01T09:59:30Z'),
      correlation_id: 'deploy-7',
      metadata: { region: 'eu', cores: [1, 2] },
    },
  });
});

test('a value is what JSON makes of it: there is no zero below zero', () => {
  expect(Object.is(read(JSON.stringify(signal).replace('82.5', '-0')).ok?.value, 0)).toBe(true);
});

test('what is optional and left out, or null, is not there; nor are fields of others, or an id in the body', () => {
  const bare = {
    ...without('value'),
    threshold: null,
    correlation_id: null,
    metadata: null,
    signal_id: 'mine',
    arrival_seq: 9,
    storm: 5,
  };
  expect(Object.keys(read(bare).ok ?? {}).sort()).toEqual([
    'observed_at',
    'severity',
    'signal_id',
    'source',
    'type',
  ]);
  expect(read(bare).ok?.signal_id).toBe('signal-1');
});

/** Each with what it is refused with, in the order of the contract. */
const faults: readonly (readonly [
  name: string,
  status: number,
  code: string,
  request: ReturnType<typeof signed>,
])[] = [
  ...(
    [
      ['no content type', { 'content-type': undefined }],
      ['another content type', { 'content-type': 'text/plain' }],
      ['a content type that begins alike', { 'content-type': 'application/jsonp' }],
      ['a compressed body', { 'content-encoding': 'gzip' }],
      ['no token', { authorization: undefined }],
      ['another scheme', { authorization: `Basic ${token}` }],
      ['another token', { authorization: `Bearer ${token}x` }],
      ['the beginning of the token', { authorization: `Bearer ${token.slice(0, -1)}` }],
      ['an empty token', { authorization: 'Bearer ' }],
      ['no signature', { 'webhook-signature': undefined }],
      ['a signature of another kind', { 'webhook-signature': `sha256=${'a'.repeat(64)}` }],
      ['a signature that is empty', { 'webhook-signature': 'v1,' }],
      ['no id', { 'webhook-id': undefined }],
      ['an empty id', { 'webhook-id': '' }],
      ['an id that is too long', { 'webhook-id': 'x'.repeat(201) }],
      ['an id that cannot be printed', { 'webhook-id': 'a\u0007b' }],
      ['no timestamp', { 'webhook-timestamp': undefined }],
      ['a timestamp that is none', { 'webhook-timestamp': 'yesterday' }],
    ] as const
  ).map(
    ([name, headers]) =>
      [name, 403, 'header_validation_failed', signed(signal, { headers })] as const,
  ),
  [
    'sent more than five minutes ago',
    403,
    'timestamp_too_old',
    signed(signal, { at: seconds(now - 5 * minute - 1_000) }),
  ],
  ['sent at a time by RFC 3339', 403, 'header_validation_failed', signed(signal, { at: iso(now) })],
  [
    'sent more than five minutes from now',
    400,
    'timestamp_in_future',
    signed(signal, { at: seconds(now + 5 * minute + 1_000) }),
  ],
  [
    'sent at a time in milliseconds',
    403,
    'header_validation_failed',
    signed(signal, { at: String(now) }),
  ],
  ['signed in the older form', 403, 'header_validation_failed', legacySigned()],
  [
    'too large to be read',
    413,
    'body_too_large',
    signed({ ...signal, blanks: ' '.repeat(65_536) }),
  ],
  ['signed with another secret', 403, 'signature_invalid', signed(signal, { secret: 'another' })],
  [
    'changed after it was signed',
    403,
    'signature_invalid',
    { ...signed(), body: bytesOf({ ...signal, value: 1 }) },
  ],
  [
    'signed for another timestamp',
    403,
    'signature_invalid',
    { ...signed(), headers: { ...signed().headers, 'webhook-timestamp': seconds(now - 1_000) } },
  ],
  ['not JSON', 400, 'body_parse_error', signed('{"source":')],
  ['nothing', 400, 'body_parse_error', signed('')],
  ['a list', 400, 'body_parse_error', signed([signal])],
  ['null', 400, 'body_parse_error', signed('null')],
  [
    'not UTF-8',
    400,
    'body_parse_error',
    signed(Buffer.from(JSON.stringify({ ...signal, correlation_id: 'é' }), 'latin1')),
  ],
  [
    'nested without end',
    400,
    'invalid_signal',
    signed(
      `{"source":"custom","type":"t","timestamp":"${iso(now)}","severity":"LOW","metadata":{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`,
    ),
  ],
  ...['source', 'type', 'timestamp', 'severity'].flatMap((field) =>
    [without(field), { ...signal, [field]: null }, { ...signal, [field]: '' }].map(
      (body) =>
        [
          `without ${field}: ${JSON.stringify(body)}`,
          400,
          `missing_${field}_field`,
          signed(body),
        ] as const,
    ),
  ),
  ...[
    '1 March',
    '2026-03-01',
    '2026-03-01T10:00:00',
    '2026-02-30T10:00:00Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T10:00:00+2',
    1_772_359_200,
  ].map(
    (timestamp) =>
      [
        `observed at ${timestamp}`,
        400,
        'invalid_timestamp_format',
        signed({ ...signal, timestamp }),
      ] as const,
  ),
  [
    'observed more than an hour ago',
    400,
    'timestamp_too_old',
    signed({ ...signal, timestamp: iso(now - hour - 1) }),
  ],
  [
    'observed in the future',
    400,
    'timestamp_in_future',
    signed({ ...signal, timestamp: iso(now + minute + 1) }),
  ],
  ...(
    [
      ['source', 'weather'],
      ['source', 'constructor'],
      ['source', 7],
      ['type', 'CPU'],
      ['type', '9lives'],
      ['type', 'x'.repeat(101)],
      ['type', ['cpu_utilization']],
      ['severity', 'URGENT'],
      ['severity', 1],
      ['value', '82.5'],
      ['value', 2 ** 53],
      ['value', true],
      ['threshold', 'high'],
      ['correlation_id', ''],
      ['correlation_id', 'x'.repeat(201)],
      ['correlation_id', 'a\nb'],
      ['correlation_id', 'a\u0000b'],
      ['correlation_id', 5],
      ['metadata', 'text'],
      ['metadata', [1]],
      ['metadata', { text: 'x'.repeat(10_240) }],
      ['metadata', { text: 'a\u0000b' }],
      ['metadata', { text: '\\\u0000' }],
      ['metadata', { 'a\u0000': 1 }],
      ['metadata', { half: '\ud800' }],
      ['metadata', { count: 2 ** 60 }],
    ] as const
  ).map(
    ([field, value]) =>
      [
        `${field} ${JSON.stringify(value).slice(0, 40)}`,
        400,
        'invalid_signal',
        signed({ ...signal, [field]: value }),
      ] as const,
  ),
  [
    'a value beyond all numbers',
    400,
    'invalid_signal',
    signed(JSON.stringify(signal).replace('82.5', '1e999')),
  ],
];

describe('a request is refused', () => {
  test.each(faults)('%s: %i %s', (_, status, code, request) => {
    expect(readSignal(request, credentials)).toMatchObject({ refused: { status, code } });
  });

  test('with words that name the field, and neither what stood in it nor a credential', () => {
    for (const [, , , request] of faults) {
      const { message } = readSignal(request, credentials).refused ?? { message: '' };
      expect(message.length).toBeGreaterThan(20);
      expect(message.length).toBeLessThan(1_000);
      expect(message).not.toContain(secret);
      expect(message).not.toContain(token);
    }
    expect(read({ ...signal, source: 'weather' }).refused?.message).toMatch(
      /source is one of monitoring/,
    );
    expect(read(signal, { headers: { 'webhook-id': undefined } }).refused?.message).toMatch(
      /webhook-id/,
    );
  });
});

/** One fault for each step, in the order of the contract, as a change to a request. */
const steps: readonly (readonly [code: string, apply: (request: Wrong) => Wrong])[] = [
  [
    'header_validation_failed',
    (r) => ({ ...r, headers: { ...r.headers, 'content-type': 'text/plain' } }),
  ],
  [
    'header_validation_failed',
    (r) => ({ ...r, headers: { ...r.headers, authorization: 'Bearer wrong' } }),
  ],
  ['timestamp_too_old', (r) => ({ ...r, at: seconds(now - 2 * hour) })],
  ['body_too_large', (r) => ({ ...r, after: ' '.repeat(70_000) })],
  ['signature_invalid', (r) => ({ ...r, secret: 'another' })],
  ['body_parse_error', (r) => ({ ...r, before: '<' })],
  ['missing_source_field', (r) => ({ ...r, fields: { ...r.fields, source: undefined } })],
  ['missing_type_field', (r) => ({ ...r, fields: { ...r.fields, type: '' } })],
  ['missing_timestamp_field', (r) => ({ ...r, fields: { ...r.fields, timestamp: null } })],
  ['missing_severity_field', (r) => ({ ...r, fields: { ...r.fields, severity: undefined } })],
  ['invalid_signal', (r) => ({ ...r, fields: { ...r.fields, value: 'much' } })],
];

interface Wrong {
  readonly headers: Record<string, string>;
  readonly at?: string;
  readonly secret?: string;
  readonly before: string;
  readonly after: string;
  readonly fields: Record<string, unknown>;
}

const sent = ({ headers, at, secret: signer, before, after, fields }: Wrong) =>
  signed(before + JSON.stringify(fields) + after, {
    headers,
    ...(at && { at }),
    ...(signer && { secret: signer }),
  });

test('of two things that are wrong, the one that is checked first is said: all pairs', () => {
  const right: Wrong = { headers: {}, before: '', after: '', fields: signal };
  expect(readSignal(sent(right), credentials)).toHaveProperty('ok');
  for (const [first, [code, one]] of steps.entries()) {
    for (const [, other] of steps.slice(first)) {
      expect(readSignal(sent(other(one(right))), credentials).refused?.code).toBe(code);
    }
  }
});

test('a time of a value is looked at after every field was found to be there', () => {
  expect(read({ ...without('severity'), timestamp: 'soon' }).refused?.code).toBe(
    'missing_severity_field',
  );
  expect(read({ ...signal, timestamp: 'soon', source: 'weather' }).refused?.code).toBe(
    'invalid_timestamp_format',
  );
});

describe('is taken', () => {
  test.each([
    ['exactly five minutes old', seconds(now - 5 * minute)],
    ['exactly five minutes ahead', seconds(now + 5 * minute)],
  ])('a request %s', (_, at) => {
    expect(read(signal, { at })).toHaveProperty('ok');
  });

  test.each([
    ['2026-03-01T10:59:30+01:00', '2026-03-01T09:59:30Z'],
    ['2026-03-01t09:59:30.5z', '2026-03-01T09:59:30.500Z'],
    ['2026-03-01T04:29:30-05:30', '2026-03-01T09:59:30Z'],
    ['2026-03-01T09:59:60Z', '2026-03-01T10:00:00Z'],
  ])('an observation at %s, which is %s', (timestamp, utc) => {
    expect(read({ ...signal, timestamp }).ok?.observed_at).toBe(Date.parse(utc));
  });

  test.each([
    ['content-type', 'application/json; charset=utf-8'],
    ['content-type', 'Application/JSON'],
    ['authorization', `bearer ${token}`],
    ['content-encoding', 'identity'],
    ['webhook-id', 'x'.repeat(200)],
    ['webhook-id', 'an id with blanks, 100% ~'],
  ])('a header %s: %s', (name, value) => {
    expect(read(signal, { headers: { [name]: value } })).toHaveProperty('ok');
  });

  test('one of several signatures, as during a rotation', () => {
    const request = signed();
    const both = `v1,${'A'.repeat(43)}= ${request.headers['webhook-signature']} v1a,asymmetric`;
    expect(
      readSignal(
        { ...request, headers: { ...request.headers, 'webhook-signature': both } },
        credentials,
      ),
    ).toHaveProperty('ok');
  });

  test('the older form, where the listener is asked to take it, and then no other', () => {
    const legacy = { ...credentials, legacy: true };
    expect(readSignal(legacySigned(), legacy)).toHaveProperty('ok');
    for (const at of [
      iso(now - hour),
      '2026-03-01T11:00:00+01:00',
      '2026-03-01T09:59:59.999999999Z',
    ])
      expect(readSignal(legacySigned(signal, { at }), legacy)).toHaveProperty('ok');
    expect(readSignal(legacySigned(signal, { secret: 'another' }), legacy)).toMatchObject({
      refused: { code: 'signature_invalid' },
    });
    expect(readSignal(signed(), legacy)).toMatchObject({
      refused: { code: 'header_validation_failed' },
    });
  });

  test('metadata of exactly 10 KB, however it was written', () => {
    const text = 'x'.repeat(10_240 - '{"text":""}'.length);
    expect(read(JSON.stringify({ ...signal, metadata: { text } }, null, 8))).toHaveProperty('ok');
    expect(read({ ...signal, metadata: { text: `${text}x` } })).toHaveProperty('refused');
  });

  test('a body of exactly 64 KB', () => {
    const text = JSON.stringify(signal);
    expect(read(text + ' '.repeat(65_536 - text.length))).toHaveProperty('ok');
    expect(read(text + ' '.repeat(65_537 - text.length)).refused?.code).toBe('body_too_large');
  });
});

test.each([
  ...['monitoring', 'stackdriver', 'prometheus', 'datadog', 'cloudwatch', 'gcp-monitoring'].map(
    (name) => [name, 'monitoring'],
  ),
  ...['logging', 'gcp-logging', 'cloudwatch-logs'].map((name) => [name, 'logging']),
  ...['billing', 'gcp-billing', 'aws-billing'].map((name) => [name, 'billing']),
  ['custom', 'custom'],
  ['Prometheus', 'monitoring'],
])('source %s is %s', (source, ours) => {
  expect(read({ ...signal, source }).ok?.source).toBe(ours);
});

test.each([
  ['CRITICAL', 'CRITICAL'],
  ['CRITICAL_PLUS', 'CRITICAL'],
  ['HIGH', 'HIGH'],
  ['MEDIUM', 'MEDIUM'],
  ['LOW', 'LOW'],
  ['INFO', 'LOW'],
  ['critical', 'CRITICAL'],
])('severity %s is %s', (severity, ours) => {
  expect(read({ ...signal, severity }).ok?.severity).toBe(ours);
});

test.each([
  'cpu_utilization',
  'memory_usage',
  'error_rate',
  'disk_usage',
  'billing_spend',
  'a',
  'queue.depth:eu-1',
  'x'.repeat(100),
])('type %s is a type', (type) => {
  expect(read({ ...signal, type }).ok?.type).toBe(type);
});

describe('while credentials are rotated', () => {
  const both = { secrets: ['the new secret', secret], tokens: ['the-new-token', token], now };

  test('the old and the new ones are good, in any combination, and no others', () => {
    for (const one of [secret, 'the new secret']) {
      for (const bearer of [token, 'the-new-token']) {
        expect(
          readSignal(
            signed(signal, { secret: one, headers: { authorization: `Bearer ${bearer}` } }),
            both,
          ),
        ).toHaveProperty('ok');
      }
    }
    expect(readSignal(signed(signal, { secret: 'third' }), both).refused?.code).toBe(
      'signature_invalid',
    );
    expect(
      readSignal(signed(signal, { headers: { authorization: 'Bearer third' } }), both).refused
        ?.code,
    ).toBe('header_validation_failed');
  });

  test('a tenant that has none is refused everything, and not for that reason', () => {
    expect(readSignal(signed(), { secrets: [secret], tokens: [], now }).refused).toEqual(
      read(signal, { headers: { authorization: 'Bearer wrong' } }).refused,
    );
    expect(readSignal(signed(), { secrets: [], tokens: [token], now }).refused?.code).toBe(
      'signature_invalid',
    );
  });
});

test('secrets are compared in constant time, and only so', () => {
  const source = readFileSync(
    new URL('../../../src/governor/http/request.ts', import.meta.url),
    'utf8',
  );
  expect(source.match(/timingSafeEqual\(/g)).toHaveLength(2);
  expect(source).not.toMatch(
    /(?:===|!==|includes\()\s*(?:signature|expected|token|secret)s?\b(?! === undefined)/,
  );
});

describe('from a program', () => {
  const given = {
    signal_id: 's',
    source: 'prometheus',
    type: 'error_rate',
    severity: 'info',
    observed_at: now,
  };

  test('the same names and bounds hold', () => {
    expect(checkIncoming(given)).toEqual({ ...given, source: 'monitoring', severity: 'LOW' });
  });

  test.each([
    null,
    'signal',
    [given],
    { ...given, signal_id: '' },
    { ...given, signal_id: ' padded ' },
    { ...given, observed_at: new Date(now) },
    { ...given, observed_at: -1 },
    { ...given, observed_at: Number.NaN },
    { ...given, value: Number.NaN },
    { ...given, value: Number.POSITIVE_INFINITY },
    { ...given, metadata: { at: new Date(now) } },
    { ...given, metadata: { nothing: undefined } },
  ])('%j is refused', (value) => {
    expect(() => checkIncoming(value)).toThrow(
      expect.objectContaining({ name: 'WritRefusal', code: 'invalid_signal' }),
    );
  });

  test('what is given afterwards to an object of the caller does not change the signal', () => {
    const metadata = { region: 'eu' };
    const checked = checkIncoming({ ...given, metadata });
    metadata.region = 'us';
    expect(checked.metadata).toEqual({ region: 'eu' });
  });
});

test('no input throws: it is a signal, or it is refused with a status of the client', () => {
  const field = fc.oneof(
    fc.constant(undefined),
    fc.string({ unit: 'binary' }),
    fc.double(),
    fc.jsonValue(),
    fc.constantFrom(...Object.values(signal)),
  );
  const fields = fc.record({
    source: field,
    type: field,
    timestamp: field,
    severity: field,
    value: field,
    threshold: field,
    metadata: field,
    correlation_id: field,
    [`__proto__`]: field,
  });
  const header = fc.oneof(
    fc.constant(undefined),
    fc.string(),
    fc.array(fc.string(), { maxLength: 2 }),
  );
  const right = signed().headers;
  const headers = fc.record(
    Object.fromEntries(
      Object.keys(right).map((name) => [
        name,
        fc.oneof({ weight: 6, arbitrary: fc.constant(right[name]) }, header),
      ]),
    ),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fields.map((value) => JSON.stringify(value)),
        fc.json(),
        fc.string(),
      ),
      fc.boolean(),
      headers,
      (body, sign, changed) => {
        const request = sign
          ? signed(body)
          : { headers: changed as Record<string, string>, body: Buffer.from(body) };
        const answer = readSignal(request, credentials);
        if (answer.ok) expect(checkIncoming(answer.ok)).toEqual(answer.ok);
        else expect([400, 403, 413]).toContain(answer.refused.status);
      },
    ),
    { seed: 20_260_301, numRuns: 3_000 },
  );
});
