/** A process that meets a database of another pre-release says so when it connects. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { writ } from '../cli/run.js';

let db: TestDatabase;

beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

const connect = async () => {
  const connected = await Writ.connect({ connectionString: db.connectionString, max: 1 });
  await connected.close();
};

test('connects to a database of this build', async () => {
  await expect(connect()).resolves.toBeUndefined();
});

test.each([
  ['another pre-release', `'Writ 0.7.0, base 0123456789abcdef'`],
  ['another build of this pre-release', `'Writ 0.8.0, base 0123456789abcdef'`],
  ['a pre-release that left no mark', 'null'],
])('refuses to connect to a database of %s', async (_, comment) => {
  await db.query(`comment on schema writ is ${comment}`);
  await expect(connect()).rejects.toMatchObject({
    code: 'schema_prerelease',
    message: expect.stringContaining('made by another pre-release of Writ'),
    remedy: 'Create a new database, and install Writ in it.',
  });
});

test('the command line says what to do, and exits 3', async () => {
  await db.query(`comment on schema writ is 'Writ 0.7.0, base 0123456789abcdef'`);
  const env = { DATABASE_URL: db.connectionString };
  for (const command of [['queue', 'stats'], ['migrate']]) {
    const { code, stderr } = await writ(command, { env });
    expect(code).toBe(3);
    expect(stderr).toContain('Until 1.0.0 there is no upgrade');
    expect(stderr).toContain('Create a new database');
  }
});
