/**
 * What does not go through a pooler, and why. One list: the configuration of the tests, the setup
 * that skips, and the test that it is true read it.
 */

export interface FileException {
  readonly file: string;
  readonly why: string;
}

/**
 * Files that have no way through a pooler, because they speak to no database or to one that they
 * start themselves.
 */
export const files: readonly FileException[] = [
  { file: 'test/demo/demo.test.ts', why: 'the demo starts a server of its own' },
  { file: 'test/cli/dev.test.ts', why: '`writ dev` starts a server of its own' },
  {
    file: 'test/doctor/conditions.test.ts',
    why: 'starts a server of its own, and poolers before it',
  },
  { file: 'test/doctor/judgements.test.ts', why: 'no database' },
  { file: 'test/cli/output.test.ts', why: 'no database' },
  {
    file: 'test/database/migrate.test.ts',
    why: 'starts a server of its own, without our roles in it',
  },
  { file: 'test/errors/registry.test.ts', why: 'no database' },
  { file: 'test/faults/plan.test.ts', why: 'no database' },
  { file: 'test/machines/declarations.test.ts', why: 'no database' },
  { file: 'test/machines/generated.test.ts', why: 'no database' },
  { file: 'test/package.test.ts', why: 'no database' },
  { file: 'test/pooler/pool.test.ts', why: 'puts a pool before the server itself' },
  { file: 'test/runs/check-log.test.ts', why: 'no database' },
  { file: 'test/runs/conditions.test.ts', why: 'no database' },
  { file: 'test/runs/decide.test.ts', why: 'no database' },
  { file: 'test/runs/events.test.ts', why: 'no database' },
  { file: 'test/runs/items.test.ts', why: 'no database' },
  { file: 'test/runs/recorded.test.ts', why: 'no database' },
  { file: 'test/runs/snapshot.test.ts', why: 'no database' },
  { file: 'test/spool/spool.test.ts', why: 'no database' },
  { file: 'test/tidy.test.ts', why: 'no database' },
];

export interface TestException extends FileException {
  /** The title of the test. */
  readonly test: string;
  /** The pooler that it cannot go through; left out: none. */
  readonly pooler?: string;
}

/** Single tests of files that otherwise go through. */
export const tests: readonly TestException[] = [
  {
    file: 'test/cli/doctor.test.ts',
    test: 'a healthy installation is all ok and exits 0',
    why: 'behind a pooler the doctor gives a hint, so that not all is ok',
  },
  {
    file: 'test/cli/usage.test.ts',
    test: 'a wrong password exits 3 and is not printed',
    pooler: 'pgbouncer',
    why: 'our pgbouncer trusts loopback, as it does not know the passwords of roles that tests make',
  },
];
