import { configDefaults, defineConfig } from 'vitest/config';
import { files, tests } from './test/pooler/exceptions.js';

const pooler = process.env.WRIT_TEST_POOLER;
if (pooler) {
  console.log(`Through the pooler ${pooler}. Not among it:`);
  for (const { file, why } of files) console.log(`  ${file}: ${why}`);
  for (const one of tests.filter((test) => !test.pooler || test.pooler === pooler)) console.log(`  ${one.file}, “${one.test}”: ${one.why}`);
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(pooler ? files.map(({ file }) => file) : [])],
    globalSetup: ['test/server.ts'],
    setupFiles: pooler ? ['test/pooler/setup.ts'] : [],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 3,
    // Real processes on a busy machine: a second try tells noise from a fault, and the report names every test that needed one.
    retry: process.env.CI === 'true' ? 1 : 0,
    reporters: ['default', ['json', { outputFile: process.env.WRIT_TEST_REPORT ?? '.cache/vitest.json' }]],
  },
});
