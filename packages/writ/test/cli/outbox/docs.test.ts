/** The code and the commands of docs/outbox.md run as they stand. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, definePlan } from '../../../src/index.js';
import { type TestDatabase, testDatabase } from '../../../src/testing/index.js';
import { natsMissing, startNats } from '../../outbox/nats-server.js';
import { start } from '../run.js';

const root = fileURLToPath(new URL('../../../../..', import.meta.url));
const page = readFileSync(join(root, 'docs/outbox.md'), 'utf8');
const run = promisify(execFile);
let db: TestDatabase;
let folder: string;
let env: Record<string, string | undefined>;

beforeEach(async () => {
  db = await testDatabase();
  folder = mkdtempSync(join(tmpdir(), 'writ-outbox-'));
  for (const name of ['node_modules', 'bin']) mkdirSync(join(folder, name));
  symlinkSync(join(root, 'packages/writ'), join(folder, 'node_modules', 'writ'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  // `npx writ` is the command that was built, as in a project that has installed it.
  writeFileSync(
    join(folder, 'bin', 'npx'),
    `#!/bin/sh\nshift\nexec "${process.execPath}" "${join(root, 'packages/writ/bin/writ.js')}" "$@"\n`,
    {
      mode: 0o755,
    },
  );
  env = {
    ...process.env,
    DATABASE_URL: db.connectionString,
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
  };
});
afterEach(async () => {
  await db.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** The first block of a language after a text. */
function block(language: string, after: string): string {
  const from = page.indexOf(after);
  const found = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page.slice(from));
  if (from < 0 || !found?.[1]) throw new Error(`docs/outbox.md has no ${language} after ${after}`);
  return found[1];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await promisify(server.close.bind(server))();
  return port;
}

test('the five minutes: the receiver hears of every step, signed, and the commands show it', async () => {
  const port = String(await freePort());
  const elsewhere = (text: string) => text.replaceAll('8080', port);
  for (const file of ['shop.js', 'start.js', 'receiver.js'])
    writeFileSync(join(folder, file), elsewhere(block('js', `\`${file}\``)));
  // The commands that the page puts into the background run until they are told that everything was
  // heard.
  const script = `${elsewhere(block('sh', 'A secret, the receiver'))}read heard\n${block('sh', 'Then look around')}kill $(jobs -p)\nwait || true\n`;
  const shell = spawn('bash', ['-ec', script], {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (data) => {
      printed += data;
      if (/heard dot\.run\.RunCompleted/.test(printed) && !shell.stdin.writableEnded)
        shell.stdin.end('\n');
    });
  }
  const [code] = await once(shell, 'close');
  expect([code, printed]).toEqual([0, expect.stringContaining('Added shop: http://127.0.0.1')]);
  expect(printed.match(/^heard .*$/gm)?.map((line) => line.trim())).toEqual([
    'heard dot.run.RunStarted',
    'heard dot.run.StepStarted charge',
    'heard dot.run.StepCompleted charge',
    'heard dot.run.StepStarted ship',
    'heard dot.run.StepCompleted ship',
    'heard dot.run.RunCompleted',
  ]);
  expect(printed).toMatch(/\nshop +active/);
  expect(printed).toMatch(/dot\.run\.StepCompleted {2}run \S+ ship\n/);
  expect(printed).toMatch(/Stopped after .*: 6 events delivered/);

  // And the program that follows the record itself: everything once, and then nothing more.
  writeFileSync(join(folder, 'follow.js'), block('js', '`follow.js`'));
  const follow = async () =>
    (await run(process.execPath, ['follow.js'], { cwd: folder, env })).stdout.split('\n').length -
    1;
  expect([await follow(), await follow()]).toEqual([6, 0]);
});

test('the rule of the page is set and shown', async () => {
  const { stdout } = await run('sh', ['-ec', block('sh', '## How many runs go on at once')], {
    cwd: folder,
    env,
  });
  expect(stdout).toMatch(
    /^acme: no rule → 100 at once, more are queued, 5,000 at most\nTENANT .*\nacme +0 +0 +100 at once/,
  );
});

test('the settings of the page are those of the database, with their defaults', async () => {
  const rows = await db.query(
    `select key, value::text from writ.dot_config where key like 'outbox.%' or key = 'runs.admission.retry_after_sec' order by key`,
  );
  const table = [
    ...page.slice(page.indexOf('## Settings')).matchAll(/^\| `([\w.]+)` \| (\d+) \|/gm),
  ].map(([, key, value]) => ({
    key,
    value,
  }));
  expect(table.sort((a, b) => String(a.key).localeCompare(String(b.key)))).toEqual(
    rows.sort((a, b) => String(a.key).localeCompare(String(b.key))),
  );
});

if (natsMissing) console.warn(`\n  !!! ${natsMissing}\n`);
test.skipIf(natsMissing)(
  'a relay with --nats tells the stream of the page, which it makes',
  async () => {
    await using nats = await startNats();
    writeFileSync(
      join(folder, 'stream.js'),
      block('js', '`stream.js`').replace('nats://127.0.0.1:4222', nats.url),
    );
    await run(process.execPath, ['stream.js'], { cwd: folder, env });
    const relay = start(['relay', '--nats', '--json'], {
      env: { DATABASE_URL: db.connectionString },
    });
    await relay.saying(/"relaying".*"buses":\["webhook","nats"\],"destinations":\["stream"\]/);
    const writ = await db.connect();
    await writ.start(definePlan('one', { version: '1' }, (p) => void p.step('a', defineJob('a'))));
    const told = async () => (await db.query('select ok from writ.delivery')).map(({ ok }) => ok);
    for (
      const giveUpAt = Date.now() + 15_000;
      (await told()).length === 0 && Date.now() < giveUpAt;
    )
      await new Promise((resume) => setTimeout(resume, 25));
    relay.kill('SIGTERM');
    expect([(await relay.ended).code, await told()]).toEqual([0, [true]]);
  },
);
