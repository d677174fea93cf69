import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { writ } from './run.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.drop());

const id = '01a1dee0-7ce0-71da-afff-7b5c49d81918';

test('the help tells every command and every exit code', async () => {
  const { code, stdout } = await writ(['--help']);
  expect(code).toBe(0);
  for (const command of [
    'dev',
    'demo',
    'migrate',
    'worker',
    'queue',
    'runs',
    'contracts',
    'changes',
    'principals',
    'governor',
    'health',
    'events',
    'webhooks',
    'relay',
    'alerts',
    'settings',
    'doctor',
  ])
    expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
  for (const exit of ['0', '1', '2', '3', '130'])
    expect(stdout).toMatch(new RegExp(`^  ${exit}  `, 'm'));
});

test('the version is the package’s', async () => {
  expect((await writ(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test.each([
  ['no command', []],
  ['a group without a command', ['queue']],
  ['an unknown command', ['frobnicate']],
  ['an unknown option', ['queue', 'list', '--frobnicate']],
  ['too many arguments', ['doctor', 'please']],
  ['a job id that is not a UUID', ['queue', 'show', '42']],
  ['a status that no job can have', ['queue', 'list', '--status', 'failed']],
  ['a limit that is not a number', ['queue', 'list', '--limit', 'many']],
  ['a cancel without a reason', ['queue', 'cancel', id]],
  ['a blank reason', ['queue', 'cancel', id, '--reason', ' ']],
  ['a requeue of nothing', ['queue', 'requeue', '--reason', 'mended']],
  ['a requeue of all of no kind', ['queue', 'requeue', '--all', '--reason', 'mended']],
  ['a duration without a unit', ['queue', 'watch', '--for', '10 minutes']],
  ['a port that is none', ['dev', '--port', '70000']],
  ['a worker with nothing to do', ['worker', '--no-governance', '--no-governor']],
  [
    'a connection string that is none',
    ['queue', 'stats', '--database-url', 'host=localhost password=hunter22'],
  ],
])('wrong usage exits 2: %s', async (_name, args) => {
  const { code, stdout, stderr } = await writ(args, { env: { DATABASE_URL: db.connectionString } });
  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).not.toBe('');
  expect(stderr).not.toMatch(/hunter22|\n {4}at /);
});

test('without any database it exits 3 and says how to get one', async () => {
  const { code, stderr } = await writ(['queue', 'stats'], { cwd: '/' });
  expect(code).toBe(3);
  expect(stderr).toMatch(/DATABASE_URL.*writ dev/s);
});

test('a database that cannot be reached exits 3, and its password is not printed', async () => {
  for (const flags of [[], ['--debug'], ['--json']]) {
    const { code, stdout, stderr } = await writ(['queue', 'stats', ...flags], {
      env: { DATABASE_URL: 'postgres://ada:hunter22@127.0.0.1:1/shop' },
    });
    expect(code).toBe(3);
    expect(stderr).toMatch(/ada@127\.0\.0\.1:1\/shop cannot be reached/);
    expect(stdout + stderr).not.toContain('hunter22');
  }
});

test('a wrong password exits 3 and is not printed', async () => {
  const url = new URL(db.connectionString);
  url.password = 'hunter22';
  const { code, stderr } = await writ(['queue', 'stats', '--debug', '--database-url', url.href]);
  expect(code).toBe(3);
  expect(stderr).toMatch(/check user, password/);
  expect(stderr).not.toContain('hunter22');
});

test('a database without Writ exits 3 and says how to install it', async () => {
  const url = new URL(db.connectionString);
  url.pathname = '/template1';
  for (const args of [['queue', 'stats'], ['queue', 'show', id], ['settings']]) {
    const { code, stderr } = await writ([...args, '--database-url', url.href]);
    expect([code, stderr]).toEqual([3, expect.stringContaining('writ migrate --enable')]);
  }
});

test('a refusal exits 1 with what happened and what to do, and a stack trace only with --debug', async () => {
  const args = [
    'queue',
    'cancel',
    id,
    '--reason',
    'no longer wanted',
    '--database-url',
    db.connectionString,
  ];
  const plain = await writ(args);
  expect([plain.code, plain.stdout]).toEqual([1, '']);
  expect(plain.stderr).toMatch(/^writ: This tenant has no such job\. .*\n {6}Check the id;.*\n$/);
  expect((await writ([...args, '--debug'])).stderr).toMatch(/\n {4}at /);
});

test('with --json an error is JSON on standard error', async () => {
  const { code, stdout, stderr } = await writ([
    'queue',
    'show',
    id,
    '--json',
    '--database-url',
    db.connectionString,
  ]);
  expect([code, stdout]).toEqual([1, '']);
  expect(JSON.parse(stderr).error).toMatchObject({
    code: 'job_not_found',
    message: expect.any(String),
    remedy: expect.any(String),
  });
});

test('colours are for terminals, unless forced, and never with NO_COLOR', async () => {
  const args = ['queue', 'stats', '--database-url', db.connectionString];
  expect((await writ(args)).stdout).not.toContain('\u001b[');
  expect((await writ(args, { env: { FORCE_COLOR: '1' } })).stdout).toContain('\u001b[');
  expect((await writ(args, { env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).stdout).not.toContain(
    '\u001b[',
  );
});
