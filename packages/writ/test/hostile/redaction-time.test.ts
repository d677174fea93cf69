/**
 * Whoever writes a text that a process prints or stores, such as the message of an error, cannot
 * make that process spend more than a moment on keeping secrets out of it.
 */
import { expect, test } from 'vitest';
import { redact } from '../../src/secrets/passwords.js';
import { Redactor } from '../../src/secrets/redactor.js';

/** The best of several, because other programs run on this machine. */
function fastest(work: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 5; run++) {
    const begun = performance.now();
    work();
    best = Math.min(best, performance.now() - begun);
  }
  return best;
}

test.each<[string, readonly string[], string]>([
  ['a long value that almost matches at every place', [`${'a'.repeat(60_000)}b`], 'a'],
  [
    'thousands of values of one length with the same middle',
    Array.from(
      { length: 5_000 },
      (_, n) => `${String(n).padStart(6, '0')}same-middle-same-middle${String(n).padStart(6, '0')}`,
    ),
    'same-middle-',
  ],
  ['no value', ['not-in-this-text'], 'lorem ipsum '],
])('takes four times as long for four times the text: %s', (_, values, piece) => {
  const redactor = new Redactor();
  for (const value of values) redactor.add('s', value);
  const of = (length: number) => piece.repeat(length / piece.length);
  const [short, long] = [of(500_000), of(2_000_000)];
  const [one, four] = [fastest(() => redactor.redact(short)), fastest(() => redactor.redact(long))];
  expect(four).toBeLessThan(10 * one + 50);
});

test.each([
  ['letters', 'a'],
  ['addresses without a password', 'x://:'],
  ['addresses with a password', 'db://ada:s3cret@h '],
  ['passwords', 'password=x '],
])('redacting a megabyte of %s takes a moment', (_, piece) => {
  // A part first: the quadratic form takes half a minute for it, and hours for the whole.
  for (const length of [50_000, 1_000_000]) {
    const text = piece.repeat(length / piece.length);
    const begun = performance.now();
    const safe = redact(text);
    expect(performance.now() - begun).toBeLessThan(3_000);
    expect(safe).not.toContain('s3cret');
  }
});
