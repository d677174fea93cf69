import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answersYes } from '../../src/cli/confirm.js';
import {
  fit,
  Output,
  oneLine,
  onScreen,
  sizeOf,
  span,
  visible,
  wrap,
} from '../../src/cli/output.js';
import { describeTarget } from '../../src/database/address.js';
import { keepSecret, redact } from '../../src/secrets/passwords.js';

test('passwords are taken out of connection strings, wherever they stand', () => {
  expect(redact('cannot reach postgres://ada:s3cret@host/db?x=1 now')).toBe(
    'cannot reach postgres://ada:***@host/db?x=1 now',
  );
  expect(redact('postgres:///db?password=s3cret&x=1')).toBe('postgres:///db?password=***&x=1');
});

test('passwords of connection strings are found as one expression would find them', () => {
  const piece = fc.constantFrom('postgres', '://', ':', '@', '/', ' ', 'ada', 'é', '\n', '=', '-');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
      const text = pieces.join('');
      expect(redact(text)).toBe(text.replace(/(\w+:\/\/[^\s:/@]*:)[^\s@]*@/g, '$1***@'));
    }),
    { numRuns: 2_000 },
  );
});

test('the password in use is taken out even when it stands alone, as written and as meant', () => {
  keepSecret('postgres://ada:p%40ss-word@host/db');
  expect(redact('tried p@ss-word and p%40ss-word')).toBe('tried *** and ***');
});

test('a target is shown without its password', () => {
  expect(describeTarget('postgres://ada:s3cret@db.example:5433/shop')).toBe(
    'ada@db.example:5433/shop',
  );
});

test('control characters are shown, not obeyed, and colours of ours stay', () => {
  expect(oneLine('a\nb\tc\u0007d\u001b]0;title\u0007')).toBe('a b c�d�]0;title�');
  expect(oneLine('\u001b[31mred\u001b[39m')).toBe('�[31mred�[39m');
  const output = new Output({});
  Object.assign(output, { colours: true });
  expect(onScreen(`${output.style(['bold', 'red'], 'red')} \u001b[8mhidden`)).toBe(
    '\u001b[1m\u001b[31mred\u001b[39m\u001b[22m �[8mhidden',
  );
});

test('sentences are broken between words', () => {
  expect(wrap('one two three four', 9)).toEqual(['one two', 'three', 'four']);
});

test('spans of time are short to read', () => {
  expect([0.4, 850, 12_400, 300_000, 10_800_000, 777_600_000].map(span)).toEqual([
    '0.4 ms',
    '850 ms',
    '12.4 s',
    '5 min',
    '3 h',
    '9 d',
  ]);
});

test.each([
  ['y\n', true],
  ['YES\n', true],
  ['\n', false],
  ['yesterday\n', false],
  ['', false],
])('only yes is a yes: %j', async (typed, yes) => {
  const input = new PassThrough();
  const answer = answersYes('Go on?', input, new PassThrough());
  input.end(typed);
  expect(await answer).toBe(yes);
});

test('a terminal without a size is drawn on as an ordinary one', () => {
  expect(sizeOf({ rows: 0, columns: 0 })).toEqual({ rows: 24, columns: 80 });
  expect(sizeOf({ rows: 50, columns: 120 })).toEqual({ rows: 50, columns: 120 });
  expect(sizeOf({})).toEqual({ rows: 24, columns: 80 });
});

test('a line is cut to the width of the terminal, without its colours being counted', () => {
  expect(fit('short', 5)).toBe('short');
  const output = new Output({});
  Object.assign(output, { colours: true });
  expect(visible(fit(output.style('red', 'too long'), 5))).toBe('too …');
});
