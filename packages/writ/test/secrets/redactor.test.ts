/**
 * A value that this process has been given is found in every text, in every form in which programs
 * write it, and in time that follows the text.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formsOf } from '../../src/secrets/forms.js';
import { Redactor } from '../../src/secrets/redactor.js';

const value = 'p4ss/w0rd+with "quotes" & ümlauts';
const knowing = (...values: string[]) => {
  const redactor = new Redactor();
  for (const [index, each] of values.entries()) redactor.add(`s${index + 1}`, each);
  return redactor;
};

describe('a value', () => {
  const bytes = Buffer.from(value);
  test.each([
    ['as it is', value],
    ['in JSON', JSON.stringify({ key: value })],
    ['in JSON that is a text in JSON', JSON.stringify(JSON.stringify({ key: value }))],
    ['in an address', `https://example.test/?key=${encodeURIComponent(value)}&x=1`],
    [
      'in an address, with small digits',
      `https://example.test/?key=${encodeURIComponent(value).toLowerCase()}&x=1`.replace(
        'p4ss',
        'p4ss',
      ),
    ],
    ['in a form', new URLSearchParams({ key: value }).toString()],
    ['in base64', bytes.toString('base64')],
    ['in base64url', bytes.toString('base64url')],
    ['in hexadecimal digits', bytes.toString('hex')],
    ['in large hexadecimal digits', bytes.toString('hex').toUpperCase()],
    ...['', 'a:', 'ad:', 'ada:'].map((user) => [
      `in base64 behind “${user}”`,
      Buffer.from(`${user}${value}`).toString('base64'),
    ]),
    ...['!', '!!', '!!!'].map((tail) => [
      `in base64 before “${tail}”`,
      Buffer.from(`${value}${tail}`).toString('base64'),
    ]),
  ])('%s is replaced by its name', (_, text) => {
    const redactor = knowing(value);
    const safe = redactor.redact(`before ${text} after`);
    expect(safe).toMatch(/^before .*«secret s1».* after$/);
    expect(redactor.find(safe)).toEqual([]);
    for (const form of formsOf(value)) expect(safe).not.toContain(form);
  });

  test('of several lines is found by one of them, but not by the lines that frame it', () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG'.repeat(3)}\n${'9w0BAQEFAASCBKcwggSj'.repeat(3)}\n-----END PRIVATE KEY-----\n`;
    const redactor = knowing(key);
    expect(redactor.redact(`line 2: ${key.split('\n')[1]}`)).toBe('line 2: «secret s1»');
    expect(redactor.redact('-----BEGIN PRIVATE KEY-----')).toBe('-----BEGIN PRIVATE KEY-----');
    expect(redactor.redact(`it is ${key}`)).toBe('it is «secret s1»');
  });

  test('that is not there changes nothing: the very same text comes back', () => {
    const text = 'nothing of it: p4ss/w0rd+with "quotes" & umlauts';
    expect(knowing(value).redact(text)).toBe(text);
    expect(new Redactor().redact(value)).toBe(value);
  });
});

test('of values that overlap nothing is left, and each that begins by itself is named', () => {
  const redactor = knowing('abcdefghij', 'hijklmnopq', 'cdefghij', 'unrelated-one');
  expect(redactor.redact('<abcdefghijklmnopq>')).toBe('<«secret s1»>');
  expect(redactor.redact('<unrelated-one><cdefghij>abcdefghij')).toBe(
    '<«secret s4»><«secret s3»>«secret s1»',
  );
  expect(redactor.find('hijklmnopq abcdefghij').sort()).toEqual(['s1', 's2', 's3']);
});

test('a value many times in a row is replaced each time', () => {
  expect(knowing('abababab').redact('abababab'.repeat(3))).toBe(
    '«secret s1»«secret s1»«secret s1»',
  );
  expect(knowing('aaaaaaaa').redact('a'.repeat(19))).toBe('«secret s1»«secret s1»aaa');
});

test('what is redacted holds no value, whatever the values and the text are', () => {
  const values = fc.array(
    fc.string({
      minLength: 8,
      maxLength: 20,
      unit: fc.constantFrom('a', 'b', '=', '"', '\\', 'é', '\n', '%'),
    }),
    {
      minLength: 1,
      maxLength: 5,
    },
  );
  const pieces = fc.array(
    fc.tuple(fc.nat(), fc.string({ maxLength: 6, unit: fc.constantFrom('a', 'b', '"', ' ') })),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(values, pieces, (secrets, parts) => {
      const redactor = knowing(...secrets);
      const forms = secrets.flatMap((secret) => [...formsOf(secret)]);
      const text = parts.map(([index, words]) => `${words}${forms[index % forms.length]}`).join('');
      const safe = redactor.redact(text);
      // Between two markers something may be left that is part of a value; a whole one never is.
      for (const secret of secrets)
        for (const piece of safe.split(/«secret s\d»/)) expect(piece.includes(secret)).toBe(false);
    }),
  );
});

test('a million characters and thousands of values take moments, also when every place of the text looks like a value', () => {
  const redactor = new Redactor();
  const values = Array.from(
    { length: 5_000 },
    (_, n) => `sk_live_${n.toString(36).padStart(6, '0')}${'x'.repeat(10)}`,
  );
  for (const [n, each] of values.entries()) redactor.add(`s${n}`, each);
  redactor.add('one', 'a'.repeat(60_000));
  const texts = [
    'sk_live_'.repeat(125_000),
    'x'.repeat(1_000_000),
    'a'.repeat(1_000_000),
    `${values[77]} `.repeat(40_000),
  ];
  const begun = performance.now();
  for (const text of texts) redactor.redact(text);
  // Comparing each value at each place would take minutes.
  expect(performance.now() - begun).toBeLessThan(6_000);
  expect(redactor.redact(`${'y'.repeat(500_000)}${values[4_321]}${'y'.repeat(500_000)}`)).toContain(
    'y«secret s4321»y',
  );
});

/** The slow way: every form is looked for in the whole text, one after the other. */
function naively(values: readonly string[], text: string): { safe: string; names: string[] } {
  const forms = new Map<string, string>();
  for (const [index, each] of values.entries()) {
    for (const form of formsOf(each)) if (!forms.has(form)) forms.set(form, `s${index + 1}`);
  }
  const hits = [...forms].flatMap(([form, name]) => {
    const found: { start: number; end: number; name: string }[] = [];
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length)) {
      found.push({ start: at, end: at + form.length, name });
    }
    return found;
  });
  hits.sort((a, b) => a.start - b.start || b.end - a.end);
  let safe = '';
  let upto = 0;
  for (const { start, end, name } of hits) {
    if (start >= upto) safe += `${text.slice(upto, start)}«secret ${name}»`;
    upto = Math.max(upto, end);
  }
  return {
    safe: safe + text.slice(upto),
    names: [...new Set(hits.map(({ name }) => name))].sort(),
  };
}

test('finds exactly what a comparison of every form at every place finds', () => {
  const unit = fc.constantFrom('a', 'b', '/', '"', 'é');
  const values = fc.uniqueArray(fc.string({ minLength: 8, maxLength: 14, unit }), {
    minLength: 1,
    maxLength: 6,
  });
  const pieces = fc.array(fc.tuple(fc.nat(), fc.nat(20), fc.string({ maxLength: 6, unit })), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(values, pieces, (secrets, parts) => {
      const redactor = knowing(...secrets);
      const forms = secrets.flatMap((secret) => [...formsOf(secret)]);
      // Whole forms, and beginnings of forms: a match that almost is one.
      const text = parts
        .map(
          ([index, less, words]) =>
            `${words}${(forms[index % forms.length] as string).slice(0, less > 14 ? less : undefined)}`,
        )
        .join('');
      const { safe, names } = naively(secrets, text);
      expect(redactor.redact(text)).toBe(safe);
      expect(redactor.find(text).sort()).toEqual(names);
    }),
    { numRuns: 500 },
  );
});

test('of more values than it keeps, the oldest are forgotten and the newest are not', () => {
  const redactor = new Redactor();
  for (let n = 0; n < 10_050; n++) redactor.add('s', `value-number-${n}-of-many`);
  expect(redactor.size).toBeLessThanOrEqual(10_000);
  expect(redactor.find('value-number-10049-of-many')).toEqual(['s']);
  expect(redactor.find('value-number-2000-of-many')).toEqual(['s']);
  expect(redactor.find('value-number-0-of-many')).toEqual([]);
});
