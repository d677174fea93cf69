import { describe, expect, test } from 'vitest';
import { isUuid } from '../../src/database/uuid.js';
import { WritRefusal } from '../../src/errors/index.js';
import { assertReferencesOnly, eventId, idempotencyKey, itemOf } from '../../src/runs/events.js';

describe('the idempotency key', () => {
  test.each([
    [
      ['run-001', 'model.orders', '1', 'StepStarted', '1.2.0'],
      '6c99484df8a52a1dc3f2533b796f7257c11f57149d3fe3277d4c7ab98433d033',
    ],
    [
      ['run-001', 'RUN', '1', 'RunStarted', '1.2.0'],
      'd219f09c191299aed8f136206aac54aba08233611a71d86470eb60174fb086b4',
    ],
  ] as const)(
    'of %j is the one of the specification',
    ([runId, stepId, attempt, type, version], key) => {
      expect(idempotencyKey(runId, stepId, attempt, type, version)).toBe(key);
    },
  );

  test('differs with each of its parts', () => {
    const parts = ['run', 'step', '1', 'StepStarted', '1.0.0'] as const;
    const changed = parts.map(
      (_, at) =>
        parts.map((part, other) => (other === at ? `${part}x` : part)) as unknown as typeof parts,
    );
    expect(new Set([parts, ...changed].map((each) => idempotencyKey(...each))).size).toBe(6);
  });
});

describe('the id of an event', () => {
  test('is a UUIDv8, the same each time', () => {
    for (let seq = 1; seq <= 200; seq++) {
      const id = eventId('0198c0de-0000-7000-8000-000000000001', seq);
      expect(isUuid(id)).toBe(true);
      expect(id).toMatch(/^.{14}8.{4}[89ab]/);
      expect(eventId('0198c0de-0000-7000-8000-000000000001', seq)).toBe(id);
    }
  });

  test('is the start of SHA-256 over run and place', () => {
    // printf 'run-001|1' | sha256sum: 128 bits of it, but for version and variant.
    expect(eventId('run-001', 1)).toBe('8df35234-a4cb-8255-a8be-b8f1e9e5d80d');
  });

  test('differs between places and runs', () => {
    const ids = ['a', 'b'].flatMap((run) =>
      Array.from({ length: 500 }, (_, at) => eventId(run, at + 1)),
    );
    expect(new Set(ids).size).toBe(1000);
  });
});

test.each([
  ['resize[0]', { stepId: 'resize', index: 0 }],
  ['resize[9999]', { stepId: 'resize', index: 9999 }],
  ['undo:resize[3]', { stepId: 'undo:resize', index: 3 }],
  ['resize', undefined],
  ['resize[01]', undefined],
  ['resize[]', undefined],
  ['resize[x]', undefined],
  ['resize[1', undefined],
  ['[1]', undefined],
  ['resize[1234567890]', undefined],
  [']', undefined],
  ['', undefined],
])('the item that %j names', (id, item) => {
  expect(itemOf(id)).toEqual(item);
});

describe('the data of an event', () => {
  const ref = {
    uri: 'writ:result/1',
    kind: 'output',
    sha256: 'ab'.repeat(32),
    sizeBytes: 0,
    expiresAt: '2027-01-01T00:00:00Z',
  };
  test.each([
    {},
    { artifacts: [] },
    { artifacts: [ref, { uri: 's3://bucket/key', kind: 'log-bundle' }] },
    { error: { errorMessage: 'x'.repeat(4000) } },
    { params: { deep: [{ deeper: 'x'.repeat(4096) }] } },
  ])('may be references and short texts: %#', (data) => {
    expect(() => assertReferencesOnly(data)).not.toThrow();
  });

  test.each<[string, object, RegExp]>([
    ['a body beside the reference', { artifacts: [{ ...ref, body: 'x' }] }, /artifacts\/0\/body/],
    [
      'content as a data: URI',
      { artifacts: [{ ...ref, uri: 'data:text/plain,hello' }] },
      /artifacts\/0\/uri/,
    ],
    ['a uri without a scheme', { artifacts: [{ ...ref, uri: 'file.txt' }] }, /artifacts\/0\/uri/],
    ['no uri', { artifacts: [{ kind: 'output' }] }, /artifacts\/0\/uri: missing/],
    ['no kind', { artifacts: [ref, { uri: 's3://a/b' }] }, /artifacts\/1\/kind: missing/],
    ['a hash that is none', { artifacts: [{ ...ref, sha256: 'AB' }] }, /sha256/],
    ['a size below zero', { artifacts: [{ ...ref, sizeBytes: -1 }] }, /sizeBytes/],
    ['a size that is a text', { artifacts: [{ ...ref, sizeBytes: '1' }] }, /sizeBytes/],
    ['a time that is none', { artifacts: [{ ...ref, expiresAt: 'soon' }] }, /expiresAt/],
    ['a text for a reference', { artifacts: ['hello'] }, /artifacts\/0/],
    ['a list for a reference', { artifacts: [[ref]] }, /artifacts\/0/],
    ['artifacts that are no list', { artifacts: { 0: ref } }, /artifacts: not an array/],
    [
      'a long text anywhere',
      { error: { errorMessage: 'x'.repeat(4097) } },
      /error\/errorMessage: a text of 4097/,
    ],
    ['a long name', { params: { ['x'.repeat(4097)]: 1 } }, /params: a name/],
    ['bytes', { params: { image: new Uint8Array(4) } }, /params\/image: bytes/],
  ])('may not be %s', (_, data, place) => {
    const attempt = () => assertReferencesOnly(data);
    expect(attempt).toThrow(WritRefusal);
    expect(attempt).toThrow(place);
    expect(attempt).toThrow(expect.objectContaining({ code: 'ARTIFACT_BODY_NOT_ALLOWED' }));
  });

  test('may not be nested without end', () => {
    const circle: Record<string, unknown> = {};
    circle.again = circle;
    expect(() => assertReferencesOnly(circle)).toThrow(/nested deeper/);
  });

  test('is not told in the refusal', () => {
    expect(() => assertReferencesOnly({ artifacts: [{ ...ref, sha256: 'very secret' }] })).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('very secret') }),
    );
  });
});
