import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
    globalSetup: ['test/server.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // Real processes on a busy machine: a second try tells noise from a fault, and the report names every test that needed one.
    retry: process.env.CI === 'true' ? 1 : 0,
    reporters: ['default', ['json', { outputFile: process.env.WRIT_TEST_REPORT ?? '.cache/vitest.json' }]],
  },
});
