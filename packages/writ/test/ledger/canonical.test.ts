/**
 * RFC 8785, with the examples of the RFC itself, and what is refused because JSON would change it.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WritRefusal } from '../../src/errors/index.js';
import { canonicalEntry, canonicalize, isCanonical } from '../../src/ledger/canonical.js';
import { utf8 } from '../../src/ledger/text.js';

/** A number by the bits of its IEEE 754 form. */
const double = (hex: string) =>
  new DataView(new BigUint64Array([BigInt(`0x${hex}`)]).buffer).getFloat64(0, true);
const codeOf = (value: unknown) => {
  try {
    return canonicalize(value);
  } catch (error) {
    if (error instanceof WritRefusal) return error.code;
    throw error;
  }
};

describe('numbers', () => {
  // RFC 8785, appendix B.
  test.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['433fffffffffffff', '9007199254740991'],
    ['c33fffffffffffff', '-9007199254740991'],
    ['3fd5555555555555', '0.3333333333333333'],
    ['3fb999999999999a', '0.1'],
    ['3f50624dd2f1a9fc', '0.001'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['3e45798ee2308c3a', '1e-8'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('%s is written as %s', (bits, text) => {
    expect(canonicalize(double(bits))).toBe(text);
  });

  // The same appendix has these, which are whole and beyond what JSON carries exactly.
  test.each([
    '7fefffffffffffff',
    'ffefffffffffffff',
    '4340000000000000',
    'c340000000000000',
    '4430000000000000',
    '44b52d02c7e14af6',
    '444b1ae4d6e2ef50',
  ])('%s is refused: it is a whole number beyond 2^53 - 1', (bits) => {
    expect(codeOf(double(bits))).toBe('value_not_canonical');
  });

  test.each([
    2 ** 53,
    -(2 ** 53),
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    1e21,
    1n,
  ])('%s is refused', (value) => {
    expect(codeOf({ value })).toBe('value_not_canonical');
  });
});

describe('texts and keys', () => {
  test('keys are sorted by UTF-16 code units, as in the example of the RFC', () => {
    const value = {
      '€': 'Euro',
      '\r': 'Carriage',
      '\ufb33': 'Hebrew',
      '1': 'One',
      '😀': 'Emoji',
      '\u0080': 'Control',
      ö: 'O',
    };
    expect(Object.values(JSON.parse(canonicalize(value)))).toHaveLength(7);
    const order = [...canonicalize(value).matchAll(/:"(\w+)/g)].map((match) => match[1]);
    expect(order).toEqual(['Carriage', 'One', 'Control', 'O', 'Euro', 'Emoji', 'Hebrew']);
  });

  test('the example of section 3.2.2 has the form that the RFC gives', () => {
    const value = {
      numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    // 1e30 is whole and inexact: it is what the RFC allows and a ledger does not.
    expect(codeOf(value)).toBe('value_not_canonical');
    value.numbers.splice(1, 1);
    expect(canonicalize(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  test('keys that look like numbers stand where texts stand', () => {
    expect(canonicalize({ 9: 1, 10: 2, a: 3 })).toBe('{"10":2,"9":1,"a":3}');
    expect(isCanonical(utf8('{"10":2,"9":1,"a":3}'))).toBe(true);
    expect(isCanonical(utf8('{"9":1,"10":2,"a":3}'))).toBe(false);
  });

  test.each([['\ud800'], ['a\udc00b'], [{ '\udfff': 1 }], [['\ud83d']]])(
    'half of a surrogate pair is refused: %j',
    (value) => {
      expect(codeOf(value)).toBe('invalid_text');
    },
  );

  test('a refusal says where, and not what', () => {
    expect(() => canonicalize({ context: { list: [1, { secret: Number.NaN }] } })).toThrow(
      /\/context\/list\/1\/secret: not a finite number/,
    );
  });
});

test.each([
  [undefined],
  [{ a: undefined }],
  [[undefined]],
  [() => 1],
  [Symbol('s')],
  [new Date(0)],
  [new Map()],
  [new Uint8Array(1)],
  [new Array(1)],
])('what JSON would drop or replace is refused: %s', (value) => {
  expect(codeOf(value)).toBe('value_not_canonical');
});

test('a circle is refused, and so is what is nested without end', () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  expect(codeOf(circle)).toBe('value_not_canonical');
  const both: unknown[] = [];
  both.push(both, both);
  expect(codeOf(both)).toBe('value_not_canonical');
  expect(isCanonical(utf8('['.repeat(30_000) + ']'.repeat(30_000)))).toBe(false);
});

test('an entry of 65,535 bytes is taken and one of 65,536 refused', () => {
  expect(canonicalEntry('x'.repeat(65_533))).toHaveLength(65_535);
  expect(() => canonicalEntry('x'.repeat(65_534))).toThrow(
    expect.objectContaining({ code: 'entry_too_large' }),
  );
  expect(() => canonicalEntry({ text: 'x'.repeat(70_000) })).toThrow(/65,535/);
});

describe('bytes are canonical', () => {
  test.each([
    '{"a":1,"a":1}',
    '{"b":1,"a":2}',
    '{"a": 1}',
    '{"a":1}\n',
    '[1.0]',
    '[1e2]',
    '[-0]',
    '[9007199254740992]',
    '[9007199254740993]',
    '[1e400]',
    '"\\u0041"',
    '"\\/"',
    '"\\ud is text"',
    '"\\ud800"',
    '"\\uD83D\\uDE00"',
    '"\\u000A"',
    '{"__proto__":{"b":1,"a":1}}',
    '',
    'undefined',
    '\ufeff1',
  ])('not if they are %j', (text) => {
    expect(isCanonical(utf8(text))).toBe(false);
  });
  test('not if they are no UTF-8', () => {
    expect(isCanonical(Uint8Array.of(0x22, 0xff, 0x22))).toBe(false);
    expect(isCanonical(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22))).toBe(false);
  });
  test.each(['null', '"\\\\ud800"', '{"__proto__":{"a":1}}', '{"":0,"a":[{}]}'])(
    'if they are %s',
    (text) => {
      expect(isCanonical(utf8(text))).toBe(true);
    },
  );

  test('exactly if they are what canonicalize writes, for any JSON', () => {
    const json = fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' });
    fc.assert(
      fc.property(json, (value) => {
        const text = codeOf(value);
        if (text === 'value_not_canonical' || text === 'invalid_text') return;
        expect(isCanonical(utf8(text))).toBe(true);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        const spread = JSON.stringify(value);
        expect(isCanonical(utf8(spread))).toBe(spread === text);
      }),
      { numRuns: 1000 },
    );
  });
});
