import { expect, test } from 'vitest';
import { testDatabase } from 'writ/testing';
import { nightlyPipeline } from './nightly-pipeline.js';

test('every file is parsed once, and reported when all are; a step that nobody minds may be skipped or fail', async () => {
  const db = await testDatabase();
  expect(await nightlyPipeline(db.connectionString, 10)).toEqual({
    total: 1_000,
    steps: { list: 'SUCCESS', parse: 'SUCCESS', report: 'SUCCESS', celebrate: 'SKIPPED' },
  });
  await db.drop();
  const other = await testDatabase();
  expect(await nightlyPipeline(other.connectionString, 12)).toEqual({
    total: 1_200,
    steps: { list: 'SUCCESS', parse: 'SUCCESS', report: 'SUCCESS', celebrate: 'FAILED' },
  });
  await other.drop();
});
