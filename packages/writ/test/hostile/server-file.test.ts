/**
 * Whoever gives a person a folder, as a repository or an archive, cannot have the command line send
 * that person's passwords and keys to an address of their choice, nor have it run what the folder
 * holds.
 */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Running, start, writ } from '../cli/run.js';

const key = `writ_key_ops_${'0123456789abcdef'.repeat(4)}`;
let cwd: string;
let env: Record<string, string>;
let thief: Server;
let connections: number;
let port: number;
let dev: Running | undefined;

/** A server that takes whatever it is sent. */
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'writ-given-'));
  chmodSync(cwd, 0o755);
  env = {
    XDG_STATE_HOME: join(cwd, 'state'),
    WRIT_KEY: key,
    PGPASSWORD: 'open-sesame-4711',
    PGUSER: 'ada',
  };
  connections = 0;
  thief = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
  port = (thief.address() as { port: number }).port;
});
afterEach(async () => {
  dev?.kill('SIGTERM');
  await dev?.ended;
  dev = undefined;
  await new Promise((resolve) => thief.close(resolve));
  rmSync(cwd, { recursive: true, force: true });
});

const folder = () => join(cwd, '.writ');
const records = () => join(cwd, 'state', 'writ', 'dev');
const recordFile = () =>
  join(records(), readdirSync(records()).find((name) => name.endsWith('.json')) as string);

/** The data folder as a server would leave it that runs as this very process. */
function plant(pid: number, planted = port): void {
  mkdirSync(join(folder(), 'data'), { recursive: true });
  writeFileSync(
    join(folder(), 'data', 'postmaster.pid'),
    `${pid}\n${join(folder(), 'data')}\n1700000000\n${planted}\n\n127.0.0.1\n`,
  );
  writeFileSync(join(folder(), 'data', 'PG_VERSION'), '18\n');
  const connectionString = `postgres://ada@127.0.0.1:${planted}/postgres`;
  writeFileSync(
    join(folder(), 'server.json'),
    JSON.stringify({ connectionString, pid, port: planted, password: 'x' }),
    { mode: 0o600 },
  );
}

test('does not connect to the address in .writ/server.json of the current folder', async () => {
  plant(process.pid);
  for (const args of [
    ['queue', 'stats'],
    ['contracts', 'list'],
    ['capabilities', 'put', 'checkout'],
    ['doctor'],
  ]) {
    const { code, stderr } = await writ(args, { cwd, env });
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining('.writ/server.json is not used: anybody could have written it.'),
    ]);
    expect(stderr).toContain('Set DATABASE_URL or --database-url');
  }
  expect(connections).toBe(0);
});

test('does not start a server on data that came with the folder', async () => {
  plant(process.pid);
  const victim = join(cwd, 'victim');
  writeFileSync(victim, 'mine');
  symlinkSync(victim, join(folder(), '.gitignore'));
  const { code, stderr } = await writ(['dev'], { cwd, env });
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/was not made by `writ dev` of this user[\s\S]*writ dev --adopt/),
  ]);
  expect(readFileSync(victim, 'utf8')).toBe('mine');
  expect(connections).toBe(0);
});

test('does not follow a .writ that leads elsewhere', async () => {
  mkdirSync(join(cwd, 'elsewhere'));
  symlinkSync(join(cwd, 'elsewhere'), folder());
  expect((await writ(['dev'], { cwd, env })).stderr).toContain(
    'was not made by `writ dev` of this user',
  );
  expect(existsSync(join(cwd, 'elsewhere', '.gitignore'))).toBe(false);
});

test('uses the record of a server only while nobody else can write it and that server runs on that data', async () => {
  dev = start(['dev'], { cwd, env });
  await dev.saying(/DATABASE_URL=/);
  const stats = () => writ(['queue', 'stats'], { cwd, env });
  expect((await stats()).code).toBe(0);

  // Whatever the folder says beside it.
  const mine = readFileSync(join(folder(), 'server.json'), 'utf8');
  writeFileSync(
    join(folder(), 'server.json'),
    JSON.stringify({ connectionString: `postgres://ada@127.0.0.1:${port}/x`, pid: process.pid }),
  );
  expect((await stats()).code).toBe(0);
  writeFileSync(join(folder(), 'server.json'), mine);

  for (const [path, usual] of [[recordFile(), 0o600] as const, [records(), 0o700] as const]) {
    chmodSync(path, usual | 0o020);
    expect(await stats()).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`${path} can be written by other users`),
    });
    chmodSync(path, usual);
    if (process.getuid?.() !== 0) continue;
    chownSync(path, 65_534, 65_534);
    expect(await stats()).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`${path} belongs to another user`),
    });
    chownSync(path, 0, 0);
  }
  expect((await stats()).code).toBe(0);

  const record = readFileSync(recordFile(), 'utf8');
  const naming = (change: object) => {
    const { server, ...rest } = JSON.parse(record) as { server: object };
    writeFileSync(recordFile(), JSON.stringify({ ...rest, server: { ...server, ...change } }));
  };
  // A record that is older than the server: another process has its number, another server its
  // port.
  for (const change of [
    { port },
    { pid: process.pid },
    { pid: 1 },
    { pid: 2 ** 22 + 1 },
    { pid: -1 },
  ]) {
    naming(change);
    expect((await stats()).code, JSON.stringify(change)).toBe(3);
  }
  writeFileSync(recordFile(), record);
  expect((await stats()).code).toBe(0);
  expect(connections).toBe(0);
}, 180_000);

test.runIf(process.platform === 'linux')(
  'does not mistake a process for the server because a stale postmaster.pid has its number',
  async () => {
    plant(process.pid);
    mkdirSync(records(), { recursive: true, mode: 0o700 });
    // fails, and leaves a record of the folder
    const adopt = start(['dev', '--adopt'], { cwd, env });
    expect((await adopt.ended).code).not.toBe(0);
    const stored = JSON.parse(readFileSync(recordFile(), 'utf8')) as object;
    writeFileSync(
      recordFile(),
      JSON.stringify({ ...stored, server: { pid: process.pid, port, password: 'x' } }),
    );
    expect((await writ(['queue', 'stats'], { cwd, env })).code).toBe(3);
    expect(connections).toBe(0);
  },
);
