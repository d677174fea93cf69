import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { json, type Running, start, writ } from './run.js';

let cwd: string;
let env: Record<string, string>;
let dev: Running | undefined;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'writ-dev-'));
  chmodSync(cwd, 0o755); // the server may run as another user
  env = { XDG_STATE_HOME: join(cwd, 'state') };
});
afterEach(async () => {
  dev?.kill('SIGTERM');
  await dev?.ended;
  dev = undefined;
  rmSync(cwd, { recursive: true, force: true });
});

const file = () => join(cwd, '.writ', 'server.json');

test('dev serves a database to the commands of its folder until it is stopped, and keeps the data', async () => {
  dev = start(['dev'], { cwd, env });
  const [, url] = await dev.saying(/^ {2}DATABASE_URL=(postgres:\S+)$/m);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({
    connectionString: url,
    pid: expect.any(Number),
  });
  expect(await json(['queue', 'stats'], { cwd, env })).toMatchObject({ enabled: true, backlog: 0 });
  await json(['settings', 'set', 'queue.retry.backoff_base_sec', '7'], { cwd, env });

  const second = await writ(['dev'], { cwd, env });
  expect([second.code, second.stdout]).toEqual([
    0,
    expect.stringMatching(/already[\s\S]*WRIT_TRUST=database/),
  ]);

  dev.kill('SIGINT');
  expect((await dev.ended).code).toBe(0);
  expect(existsSync(file())).toBe(false);
  expect((await writ(['queue', 'stats'], { cwd, env })).code).toBe(3);

  dev = start(['dev', '--json'], { cwd, env });
  await dev.saying(/"connectionString":"postgres:/);
  expect(await json(['settings', 'queue.retry.backoff_base_sec'], { cwd, env })).toMatchObject({
    value: 7,
  });
}, 180_000);

test('dev keeps its port across restarts, and names the port when another process uses it', async () => {
  const url = async (args: string[]) => {
    dev = start(['dev', ...args, '--json'], { cwd, env });
    const [, found] = await dev.saying(/"connectionString":"(postgres:[^"]+)"/);
    dev.kill('SIGINT');
    expect((await dev.ended).code).toBe(0);
    return found as string;
  };
  const first = await url([]);
  expect(await url([])).toBe(first);

  const { port } = new URL(first);
  const other = createServer();
  await new Promise<void>((done) => other.listen(Number(port), '127.0.0.1', done));
  const refused = await writ(['dev'], { cwd, env });
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(
      new RegExp(`port ${port} of 127\\.0\\.0\\.1: another process uses it[\\s\\S]*--port`),
    ),
  ]);

  // A port that was chosen replaces the kept one.
  const free = createServer();
  await new Promise<void>((done) => free.listen(0, '127.0.0.1', done));
  const { port: chosen } = free.address() as { port: number };
  await new Promise((done) => free.close(done));
  const second = await url(['--port', String(chosen)]);
  expect(new URL(second).port).toBe(String(chosen));
  await new Promise((done) => other.close(done));
  expect(await url([])).toBe(second);
}, 180_000);

test('a server that outlives its command is found and used, and one that dies ends its command', async () => {
  dev = start(['dev'], { cwd, env });
  await dev.saying(/DATABASE_URL=/);
  dev.kill('SIGKILL');
  await dev.ended;
  const { pid } = JSON.parse(readFileSync(file(), 'utf8')) as { pid: number };
  expect((await writ(['queue', 'stats'], { cwd, env })).code).toBe(0);
  expect((await writ(['dev'], { cwd, env })).stdout).toContain(`kill -INT ${pid}`);
  process.kill(pid, 'SIGINT');

  // It is gone, whatever server.json says; the next command starts one of its own, as soon as the
  // data is free.
  for (dev = undefined; !dev; ) {
    const next = start(['dev'], { cwd, env });
    if (
      await next.saying(/on\.\n\n {2}DATABASE_URL=/).then(
        () => true,
        () => false,
      )
    )
      dev = next;
  }
  process.kill((JSON.parse(readFileSync(file(), 'utf8')) as { pid: number }).pid, 'SIGINT');
  const { code, stderr } = await dev.ended;
  expect([code, stderr]).toEqual([1, expect.stringContaining('ended by itself')]);
  expect(existsSync(file())).toBe(false);
}, 180_000);
