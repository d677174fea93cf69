/**
 * `writ governor listen`: what it says, how it ends, and what it leaves on the disk. Its intake is
 * a stand-in; the command and its process are real.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { describe, expect, onTestFinished, test } from 'vitest';
import { addListen } from '../../../src/cli/commands/listen.js';
import { Spool } from '../../../src/spool/spool.js';
import { secret, signal, signedNow, token } from '../../governor/http/sender.js';
import { spoolFolder } from '../../spool/folder.js';

const script = fileURLToPath(new URL('./listening.mjs', import.meta.url));

interface Running {
  readonly child: ChildProcess;
  readonly port: number;
  readonly spool: string;
  text(): string;
  errors(): string;
  saying(pattern: RegExp): Promise<RegExpExecArray>;
  send(type: string, id?: string, headers?: Record<string, string>): Promise<number>;
  ended: Promise<number | null>;
}

async function running(
  flags: readonly string[] = [],
  { spool = spoolFolder(), port = 0 } = {},
): Promise<Running> {
  const child = spawn(process.execPath, [script, spool, String(port), ...flags], {
    env: { ...process.env, LISTEN_TOKEN: token, LISTEN_SECRET: secret, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  });
  const saying = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(text);
        if (found) resolve(found);
      };
      look();
      child.stdout.on('data', look);
      void ended.then((code) =>
        reject(new Error(`it ended with ${code} and without saying ${pattern}: ${text}${errors}`)),
      );
    });
  const at = Number((await saying(/http:\/\/127\.0\.0\.1:(\d+)/))[1]);
  return {
    child,
    port: at,
    spool,
    text: () => text,
    errors: () => errors,
    saying,
    ended,
    send: async (type, id = 'signal-1', headers = {}) => {
      const request = signedNow(
        { ...signal, type, timestamp: new Date().toISOString() },
        { 'webhook-id': id, ...headers },
      );
      const { status } = await fetch(`http://127.0.0.1:${at}/v1/governors/acme/web/signals`, {
        method: 'POST',
        ...request,
      });
      return status;
    },
  };
}

test('it says where it listens and for what, counts what comes, and ends when it is told to', async () => {
  const { send, saying, child, ended, text, errors } = await running();
  expect(text()).toMatch(
    /^Listening on http:\/\/127\.0\.0\.1:\d+: POST \/v1\/governors\/:tenant\/:sku\/signals, .* Ctrl-C stops\.\n/,
  );
  expect(await send('cpu_utilization', 'one')).toBe(200);
  expect(await send('accepted', 'two')).toBe(202);
  expect(await send('buffered', 'three')).toBe(429);
  expect(await send('cpu_utilization', 'four', { authorization: 'Bearer other' })).toBe(403);
  await saying(/\d decided, \d accepted, \d buffered, /);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(text()).toMatch(/SIGTERM: stopping\./);
  expect(text()).toMatch(
    /Stopped after .*: 1 decided, 1 accepted, 1 buffered, 1 refused \(header_validation_failed 1\)\.\n$/,
  );
  expect(errors()).toBe('');
});

test('as JSON, each line is a value', async () => {
  const { send, child, ended, text, saying } = await running(['json']);
  await send('cpu_utilization');
  await saying(/"counts"/);
  child.kill('SIGINT');
  expect(await ended).toBe(0);
  const lines = text()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  expect(lines.map(({ event }) => event)).toEqual(['listening', 'counts', 'stopping', 'stopped']);
  expect(lines[0]).toMatchObject({
    address: expect.stringMatching(/^http:/),
    routes: expect.arrayContaining(['GET /healthz']),
  });
  expect(lines[1]).toMatchObject({ decided: 1, accepted: 0, buffered: 0, missed: 0, refused: {} });
});

test('while the database is away, what was missed is in the spool, and is handed over in its order when it is back', async () => {
  const { send, saying, spool, text } = await running(['away']);
  expect(await send('cpu_utilization', 'first')).toBe(503);
  expect(await send('cpu_utilization', 'unknown')).toBe(503);
  expect((await new Spool(spool).state()).waiting).toBe(2);
  await saying(/2 missed: the database is away|1 missed: the database is away/);
  expect(await send('database.back', 'third')).toBe(200);
  await saying(/The database is back: 1 entry of the spool handed over, 1 refused for good\./);
  const told = [...text().matchAll(/TOLD missed (.*)/g)].map(([, line]) =>
    JSON.parse(line as string),
  );
  expect(told).toEqual([
    { kind: 'signal', tenant: 'acme', sku: 'web', signal_id: 'first' },
    { kind: 'signal', tenant: 'acme', sku: 'web', signal_id: 'unknown' },
  ]);
  expect(await new Spool(spool).state()).toMatchObject({ waiting: 0, refused: 1 });
});

test('what another process has left in the spool is handed over too', async () => {
  const spool = spoolFolder();
  const other = await running(['away'], { spool });
  expect(await other.send('cpu_utilization', 'left')).toBe(503);
  other.child.kill('SIGKILL');
  await other.ended;
  const { saying } = await running([], { spool });
  expect((await saying(/TOLD missed (.*)/))[1]).toContain('"left"');
});

test('a fault is said once, under the id of its request, without the secret in its words', async () => {
  const { send, child, ended, errors } = await running();
  expect([await send('fault'), await send('fault')]).toEqual([500, 500]);
  child.kill('SIGTERM');
  await ended;
  expect(errors().match(/it broke with/g)).toHaveLength(1);
  expect(errors()).toMatch(/\(request [0-9a-f-]{36}\)/);
  expect(errors()).not.toContain(secret);
});

test('what is in hand when it is told to stop is still answered', async () => {
  const { port, child, ended, saying } = await running();
  const request = signedNow();
  const sending = fetch(`http://127.0.0.1:${port}/v1/governors/acme/web/signals`, {
    method: 'POST',
    headers: request.headers,
    duplex: 'half',
    body: new ReadableStream({
      async start(controller) {
        controller.enqueue(request.body.subarray(0, 10));
        await saying(/SIGTERM: stopping/);
        controller.enqueue(request.body.subarray(10));
        controller.close();
      },
    }),
  } as RequestInit);
  // Its headers have come when a place is taken by it.
  for (let inHand = 0; inHand === 0; )
    ({ in_hand: inHand } = (await (await fetch(`http://127.0.0.1:${port}/healthz`)).json()) as {
      in_hand: number;
    });
  child.kill('SIGTERM');
  expect((await sending).status).toBe(200);
  expect(await ended).toBe(0);
});

test('a port that is taken is said', async () => {
  const { port } = await running();
  await expect(running([], { port })).rejects.toThrow(
    new RegExp(`Cannot listen on 127\\.0\\.0\\.1:${port}: another process uses it`),
  );
});

describe('wrong usage is said before anything is asked of the database', () => {
  const listen = async (...args: string[]) => {
    const program = new Command()
      .option('--database-url <url>')
      .exitOverride()
      .configureOutput({ writeErr: () => undefined });
    addListen(program);
    await program.parseAsync(['--database-url', 'postgres://127.0.0.1:1/none', 'listen', ...args], {
      from: 'user',
    });
  };

  test.each([
    ['without a token', ['--spool', 's'], /No token is given/],
    ['without a spool', ['--token', 'env:PATH'], /--spool/],
    [
      'with a token itself in place of where it is',
      ['--spool', 's', '--token', 'hunter2hunter2'],
      /--token does not say where/,
    ],
    [
      'with a secret that is not there',
      ['--spool', 's', '--token', 'env:PATH', '--secret', 'acme=env:WRIT_NO_SUCH'],
      /--secret env:WRIT_NO_SUCH cannot be used/,
    ],
    [
      'with a key of Vault that has no name',
      ['--spool', 's', '--token', 'vault:kv/app'],
      /which key of Vault/,
    ],
    ['with a port that is none', ['--spool', 's', '--port', '70000'], /--port/],
  ])('%s', async (_, args, words) => {
    const error = await listen(...args).catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(words);
    expect(String(error)).not.toContain('hunter2');
  });
});
