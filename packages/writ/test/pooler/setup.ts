/**
 * Before each test of a run through a pooler: skips, with its reason, what the list of exceptions
 * names.
 */
import { beforeEach } from 'vitest';
import { tests } from './exceptions.js';

beforeEach((context) => {
  const { file, name } = context.task;
  const exception = tests.find(
    (one) =>
      file.name.endsWith(one.file) &&
      name === one.test &&
      (one.pooler ?? process.env.WRIT_TEST_POOLER) === process.env.WRIT_TEST_POOLER,
  );
  context.skip(exception !== undefined, exception?.why);
});
