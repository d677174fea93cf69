import { configDefaults, defineConfig } from 'vitest/config';
import { matrix } from './packages/writ/test/matrix.mjs';
import { files, tests } from './packages/writ/test/pooler/exceptions.js';

const pooler = process.env.WRIT_TEST_POOLER;
if (pooler) {
  console.log(`Through the pooler ${pooler}. Not among it:`);
  for (const { file, why } of files) console.log(`  ${file}: ${why}`);
  for (const one of tests.filter((test) => !test.pooler || test.pooler === pooler))
    console.log(`  ${one.file}, “${one.test}”: ${one.why}`);
}

/**
 * What registers itself with OpenTelemetry, or has to know every secret that its process was given,
 * does so for a whole process, so these files get one each.
 */
const apart = ['telemetry/**/*', 'secrets/redaction'].map(
  (file) => `packages/writ/test/${file}.test.ts`,
);

const each = {
  // Tests that are about a trust file name it. A worker without a trust source applies nothing.
  env: { WRIT_TRUST: 'database' },
  setupFiles: pooler ? ['packages/writ/test/pooler/setup.ts'] : [],
  testTimeout: 120_000,
  hookTimeout: 180_000,
  // Real processes on a busy machine: a second try tells noise from a fault, and the report names
  // every test that needed one.
  retry: process.env.CI === 'true' ? 1 : 0,
};
const exclude = [
  ...configDefaults.exclude,
  ...(process.env.WRIT_TEST_QUICK ? matrix.map((each) => each.files) : []),
  ...(pooler ? files.map(({ file }) => `packages/writ/${file}`) : []),
];

export default defineConfig({
  test: {
    globalSetup: ['packages/writ/test/server.ts'],
    maxWorkers: 3,
    reporters: [
      'default',
      ['json', { outputFile: process.env.WRIT_TEST_REPORT ?? '.cache/vitest.json' }],
    ],
    projects: [
      // One after the other in the same processes: to load the sources again for every file takes
      // longer than many files do.
      {
        test: {
          ...each,
          name: 'together',
          include: ['packages/*/test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: [...exclude, ...apart],
          isolate: false,
        },
      },
      { test: { ...each, name: 'apart', include: apart, exclude } },
    ],
  },
});
