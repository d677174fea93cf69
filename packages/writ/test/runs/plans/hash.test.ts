/**
 * One plan has one hash; another plan has another; and a reference is believed only by its content.
 */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WritRefusal } from '../../../src/errors/index.js';
import type { PlanRef } from '../../../src/runs/plans/document.js';
import { planBytes, planRef, verifyPlanRef } from '../../../src/runs/plans/hash.js';
import { Plan } from '../../../src/runs/plans/plan.js';
import { validatePlan } from '../../../src/runs/plans/validate.js';

const value = {
  schemaVersion: 1,
  planId: 'fulfil',
  planVersion: '1.2.0',
  onFailure: 'pause',
  steps: [
    {
      id: 'a',
      type: 'job',
      kind: 'do',
      input: { z: [1, 2, { y: 'text', x: null }], b: true },
      retry: { attempts: 3 },
      timeoutMs: 5,
    },
    { id: 'w', type: 'wait', event: 'go', after: ['a'], timeoutMs: 9, onTimeout: 'skip' },
    {
      id: 'e',
      type: 'each',
      kind: 'do',
      over: { $ref: 'input.list' },
      parallel: 8,
      optional: true,
      when: { ref: 'input.n', above: 3 },
    },
    { id: 't', type: 'timer', ms: 10, after: ['w', 'e'] },
  ],
};
const plan = new Plan(value);
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** The same JSON, with the keys of every object in an order of its own. */
const otherwise = (json: unknown, turn: (keys: string[]) => string[]): unknown =>
  Array.isArray(json)
    ? json.map((member) => otherwise(member, turn))
    : typeof json === 'object' && json !== null
      ? Object.fromEntries(
          turn(Object.keys(json)).map((key) => [
            key,
            otherwise((json as Record<string, unknown>)[key], turn),
          ]),
        )
      : json;

/** Every place of a document where something stands, and a way to put something else there. */
function* changes(
  json: unknown,
  rebuild: (member: unknown) => unknown = (it) => it,
): Generator<unknown> {
  if (typeof json === 'object' && json !== null) {
    for (const [key, member] of Object.entries(json)) {
      const put = (replacement: unknown) =>
        rebuild(
          Array.isArray(json)
            ? json.map((one, n) => (String(n) === key ? replacement : one))
            : { ...json, [key]: replacement },
        );
      const { [key]: _, ...less } = json as Record<string, unknown>;
      if (!Array.isArray(json)) yield rebuild(less);
      yield* changes(member, put);
    }
  } else if (typeof json === 'number') yield rebuild(json + 1);
  else if (typeof json === 'string') yield rebuild(`${json}x`);
  else yield rebuild(json === null ? 0 : !json);
}

test('the hash is SHA-256 of the canonical bytes, written so that anybody can check it', () => {
  expect(plan.sha256).toBe(createHash('sha256').update(plan.canonical).digest('hex'));
  const small = new Plan({
    steps: [{ type: 'timer', ms: 1, id: 't' }],
    planVersion: '1',
    planId: 'p',
    schemaVersion: 1,
  });
  expect(new TextDecoder().decode(small.canonical)).toBe(
    '{"planId":"p","planVersion":"1","schemaVersion":1,"steps":[{"id":"t","ms":1,"type":"timer"}]}',
  );
});

test('the order of keys does not change it, nor does a way through JSON and the database', () => {
  fc.assert(
    fc.property(fc.infiniteStream(fc.nat()), (numbers) => {
      const turn = (keys: string[]) =>
        keys
          .map((key) => [numbers.next().value, key] as const)
          .sort(([a], [b]) => a - b)
          .map(([, key]) => key);
      expect(new Plan(otherwise(value, turn)).sha256).toBe(plan.sha256);
    }),
  );
  expect(new Plan(JSON.parse(new TextDecoder().decode(plan.canonical))).sha256).toBe(plan.sha256);
});

test('steps that have to be put in order end up with the hash of those that were', () => {
  const row = ['a', 'b', 'c'].map((id, n, ids) => ({
    id,
    type: 'timer',
    ms: 1,
    ...(n > 0 && { after: [ids[n - 1]] }),
  }));
  expect(new Plan({ ...value, steps: [...row].reverse() }).sha256).toBe(
    new Plan({ ...value, steps: row }).sha256,
  );
});

test('any change changes it, or makes it no plan', () => {
  const hashes = new Set([plan.sha256]);
  let kept = 0;
  for (const changed of changes(value)) {
    try {
      hashes.add(new Plan(changed).sha256);
      kept++;
    } catch (error) {
      expect(error).toBeInstanceOf(WritRefusal);
    }
  }
  expect(kept).toBeGreaterThan(25);
  expect(hashes.size).toBe(kept + 1);
});

describe('a plan', () => {
  test('has a reference to itself', () => {
    expect(plan.ref).toEqual({
      uri: 'writ:plan/fulfil/1.2.0',
      sha256: plan.sha256,
      schemaVersion: 1,
      planId: 'fulfil',
      planVersion: '1.2.0',
      sizeBytes: plan.canonical.length,
    });
    expect(verifyPlanRef(plan.ref, plan.canonical)).toEqual(plan.document);
  });

  test('cannot be changed', () => {
    expect(() => Object.assign(plan.document.steps[0] as object, { kind: 'other' })).toThrow(
      TypeError,
    );
    expect(() => (plan.document.steps as unknown[]).push({})).toThrow(TypeError);
    expect(() => Object.assign(plan.ref, { sha256: '' })).toThrow(TypeError);
  });

  test('made of data names the kinds that it needs', () => {
    expect([...plan.kinds]).toEqual([['do', undefined]]);
  });
});

describe('a reference is refused', () => {
  const refused = (change: Partial<PlanRef>, bytes: Uint8Array = plan.canonical, options = {}) => {
    try {
      verifyPlanRef({ ...plan.ref, ...change }, bytes, options);
    } catch (error) {
      if (error instanceof WritRefusal) return [error.code, error.detail];
      throw error;
    }
    return undefined;
  };
  const integrity = (words: unknown) => ['PLAN_INTEGRITY_VALIDATION_FAILED', words];
  const other = new Plan({ ...value, planVersion: '1.2.1' });

  test('if its hash is of something else', () => {
    const sha256 = '0'.repeat(64);
    expect(refused({ sha256 })).toEqual(
      integrity(`fulfil 1.2.0: the reference says SHA-256 ${sha256}, the plan's is ${plan.sha256}`),
    );
    expect(refused({}, other.canonical)).toEqual(
      integrity(
        `fulfil 1.2.0: the reference says SHA-256 ${plan.sha256}, the plan's is ${other.sha256}`,
      ),
    );
    expect(refused({ sha256: plan.sha256.toUpperCase() })).toEqual(
      integrity(expect.stringContaining('the reference says SHA-256')),
    );
  });

  test('for any byte that was changed', () => {
    for (let at = 0; at < plan.canonical.length; at += 7) {
      const bytes = plan.canonical.slice();
      bytes[at] = (bytes[at] as number) ^ 1;
      expect(refused({}, bytes)).toEqual(integrity(expect.any(String)));
    }
  });

  test('if its size, id, version or format is another', () => {
    expect(refused({ sizeBytes: 7 })).toEqual(
      integrity(`fulfil 1.2.0: the reference says 7 bytes, the plan has ${plan.canonical.length}`),
    );
    expect(refused({ planId: 'other', uri: 'writ:plan/other/1.2.0' })).toEqual(
      integrity("other 1.2.0: the plan's planId is fulfil"),
    );
    expect(refused({ planVersion: '1.2.1' })).toEqual(
      integrity("fulfil 1.2.1: the plan's planVersion is 1.2.0"),
    );
    expect(refused({ schemaVersion: 2 as 1 })).toEqual(
      integrity("fulfil 1.2.0: the plan's schemaVersion is 1"),
    );
    expect(refused({ uri: 'writ:plan/fulfil/1.2.1' })).toEqual(
      integrity(
        "fulfil 1.2.0: the reference says writ:plan/fulfil/1.2.1, the plan's uri is writ:plan/fulfil/1.2.0",
      ),
    );
  });

  test('if it has expired, or says nonsense about when', () => {
    const now = new Date('2026-07-26T10:00:00Z');
    expect(refused({ expiresAt: '2026-07-26T10:00:01Z' }, plan.canonical, { now })).toBeUndefined();
    expect(refused({ expiresAt: '2026-07-26T10:00:00Z' }, plan.canonical, { now })).toEqual(
      integrity('fulfil 1.2.0: the reference has expired'),
    );
    expect(refused({ expiresAt: 'soon' }, plan.canonical, { now })).toEqual(
      integrity('fulfil 1.2.0: the reference has expired'),
    );
  });

  test('if the bytes are not in canonical form, though their hash is right', () => {
    const refTo = (bytes: Uint8Array) => ({
      sha256: createHash('sha256').update(bytes).digest('hex'),
      sizeBytes: bytes.length,
    });
    const spaced = bytesOf(JSON.stringify(plan.document, null, 2));
    expect(refused(refTo(spaced), spaced)).toEqual(
      integrity('fulfil 1.2.0: its bytes are not canonical JSON'),
    );
    const document = validatePlan(value);
    const unordered = planBytes({ ...document, steps: [...document.steps].reverse() });
    expect(refused(refTo(unordered), unordered)).toEqual(
      integrity(
        'fulfil 1.2.0: its steps are not in order; validate it and use the hash of what comes out',
      ),
    );
  });

  test('if what it names is no plan', () => {
    const bytes = bytesOf('{"planId":"fulfil"}');
    const ref = {
      sha256: createHash('sha256').update(bytes).digest('hex'),
      sizeBytes: bytes.length,
    };
    expect(refused(ref, bytes)).toEqual([
      'INVALID_STEP_SCHEMA',
      'the plan: schemaVersion is missing',
    ]);
  });

  test.each([
    'https://example.org/plan.json',
    'file:///etc/passwd',
    'writ:plans/fulfil/1.2.0',
    'WRIT:plan/fulfil/1.2.0',
    'writ:plan/',
    'writ:plan/../fulfil/1.2.0',
    'writ:plan/fulfil/%2e%2e',
    'writ:plan/fulfil/1.2.0?x',
    'writ:plan/fulfil//1.2.0',
    '',
    undefined as unknown as string,
  ])('if plans are not taken from there: %s', (uri) => {
    expect(refused({ uri })?.[0]).toBe('PLAN_URI_NOT_ALLOWED');
  });

  test('unless its place is one of those that are allowed', () => {
    const allowed = ['s3://plans/', 'https://plans.example.org'];
    expect(
      refused({ uri: 's3://plans/fulfil/1.2.0.json' }, plan.canonical, { allowed }),
    ).toBeUndefined();
    expect(refused({ uri: 's3://plans-of-others/fulfil' }, plan.canonical, { allowed })?.[0]).toBe(
      'PLAN_URI_NOT_ALLOWED',
    );
    // A place that does not end with a slash would be the beginning of other places too.
    expect(
      refused({ uri: 'https://plans.example.org.evil.test/fulfil' }, plan.canonical, {
        allowed,
      })?.[0],
    ).toBe('PLAN_URI_NOT_ALLOWED');
    expect(refused({}, plan.canonical, { allowed })).toEqual([
      'PLAN_URI_NOT_ALLOWED',
      '"writ:plan/fulfil/1.2.0"; allowed: s3://plans/, https://plans.example.org',
    ]);
    expect(planRef(plan.document, plan.canonical)).toEqual(plan.ref);
  });
});
