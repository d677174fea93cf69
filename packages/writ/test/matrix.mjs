// @ts-check
/**
 * Test files that only CI=true runs, so that `npm test` ends within minutes, and what they are. Two
 * need more than Node: the registry, Python.
 * @type {readonly { files: string, what: string }[]}
 */
export const matrix = [
  { files: 'packages/writ/test/hostile/**', what: 'hostile logins, gates and content' },
  { files: 'packages/writ/test/races/**', what: 'races between processes' },
  { files: 'packages/writ/test/upgrade/**', what: 'rolling upgrades' },
  {
    files:
      'packages/writ/test/{queue/listing,governance/lists,runs/million,governor/million}.test.ts',
    what: 'lists over a million rows',
  },
  { files: 'packages/writ/test/database/roles.test.ts', what: 'every role × every gate' },
  {
    files: 'packages/writ/test/database/migrate.test.ts',
    what: 'migrations on servers of their own',
  },
  { files: 'packages/writ/test/machines/every-pair.test.ts', what: 'every state × every event' },
  { files: 'packages/writ/test/artifacts/s3.test.ts', what: 'artifacts in S3' },
  {
    files: 'packages/writ/test/cli/{governance,governor,ledger,outbox,runs,doctor}/**',
    what: 'commands of governance, governors, the ledger, runs and the doctor',
  },
  { files: 'packages/writ/test/secrets/leaks.test.ts', what: 'secrets in everything that leaves' },
  { files: 'packages/writ/test/package.test.ts', what: 'installs of the packed packages' },
  { files: 'packages/writ/test/outbox/docs.test.ts', what: 'receivers of webhooks, one in Python' },
];
