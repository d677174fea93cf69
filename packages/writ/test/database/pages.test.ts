/** Every list of the API is in a test that has its plans explained over a long history. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pages } from '../pages.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test.each(Object.entries(pages))('%s is explained in %s', (method, file) => {
  const text = read(file);
  expect(text).toContain('`explain ');
  expect(text.split('const lists')[1]).toContain(`${method}(`);
});

test('the check can fail', () => {
  expect(read('test/queue/listing.test.ts').split('const lists')[1]).not.toContain('runs.list(');
});
