/** The code of docs/webhooks.md runs as it stands, against what our bus sends. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { webhookBus } from '../../src/outbox/buses/webhook.js';
import { encodeEvent } from '../../src/outbox/envelope.js';
import { newWebhookSecret, signWebhook, webhookKey } from '../../src/outbox/webhooks.js';
import { eventOf, never } from './events.js';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const page = readFileSync(join(root, 'docs/webhooks.md'), 'utf8');
const run = promisify(execFile);

function block(language: string): string {
  const found = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1];
  if (!found) throw new Error(`docs/webhooks.md has no ${language}`);
  return found;
}

function folderOfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'writ-hooks-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A delivery as the bus makes it. */
function delivery(secret: string) {
  const event = eventOf('run', 1, { text: 'Grüße' });
  const body = encodeEvent(event) as Buffer;
  return { body, headers: signWebhook(event.id, body, [webhookKey(secret)]) };
}

test('the receiver of the page takes what is signed with either secret of a rotation, and answers 401 to anything else', async () => {
  const folder = folderOfTest();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(root, 'packages/writ'), join(folder, 'node_modules', 'writ'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'receiver.js'), block('ts'));
  const [old, next] = [newWebhookSecret(), newWebhookSecret()];
  const receiver = spawn(process.execPath, ['receiver.js'], {
    cwd: folder,
    env: { ...process.env, PORT: '0', WEBHOOK_SECRETS: `${old} ${next}` },
  });
  onTestFinished(async () => {
    const ended = once(receiver, 'exit');
    receiver.kill('SIGKILL');
    await ended;
  });
  let printed = '';
  receiver.stdout.on('data', (data) => {
    printed += data;
  });
  receiver.stderr.pipe(process.stderr);
  await once(receiver.stdout, 'data');
  const url = `http://127.0.0.1:${/listening on (\d+)/.exec(printed)?.[1]}/`;
  const send = async (secret: string, event = eventOf('run-1', 1)) => {
    const bus = webhookBus({
      name: 'page',
      url,
      secrets: ['s'],
      secretOf: () => secret,
      allowHttp: true,
      allowPrivate: true,
    });
    const [outcome] = await bus.publish([event], never);
    await bus.close();
    return { outcome, event };
  };
  const { outcome, event } = await send(old);
  expect(outcome).toMatchObject({ ok: true, status: 204 });
  expect(printed).toContain(`dot.run.StepCompleted of /writ/runs/run-1, id ${event.id}\n`);
  expect((await send(next)).outcome).toMatchObject({ ok: true });
  expect((await send(newWebhookSecret())).outcome).toMatchObject({
    ok: false,
    status: 401,
    retryable: false,
  });
});

const python = spawnSync('python3', ['--version']).status === 0;
if (!python)
  console.warn(
    '\n  !!! python3 is not installed: the Python of docs/webhooks.md is NOT tested here\n',
  );
test.skipIf(!python)('the Python of the page agrees', async () => {
  const folder = folderOfTest();
  const secret = newWebhookSecret();
  const { body, headers } = delivery(secret);
  writeFileSync(join(folder, 'body.json'), body);
  const asked = (secrets: string[], given: object) =>
    `print(verify(json.loads(r'''${JSON.stringify(given)}'''), open("body.json", "rb").read(), ${JSON.stringify(secrets)}))`;
  const program = [
    block('python'),
    'import json',
    asked([secret], headers),
    asked([newWebhookSecret(), secret], headers),
    asked([newWebhookSecret()], headers),
    asked([secret], { ...headers, 'webhook-id': 'another' }),
    asked([secret], { ...headers, 'webhook-timestamp': '1000' }),
  ].join('\n');
  writeFileSync(join(folder, 'verify.py'), program);
  expect((await run('python3', ['verify.py'], { cwd: folder })).stdout.split('\n')).toEqual([
    'True',
    'True',
    'False',
    'False',
    'False',
    '',
  ]);
});

test('the openssl of the page prints the signature', async () => {
  const folder = folderOfTest();
  const secret = newWebhookSecret();
  const { body, headers } = delivery(secret);
  writeFileSync(join(folder, 'body.json'), body);
  const env = {
    ...process.env,
    SECRET: secret,
    ID: headers['webhook-id'],
    TIMESTAMP: headers['webhook-timestamp'],
  };
  const { stdout } = await run('sh', ['-ec', block('sh')], { cwd: folder, env });
  expect(`v1,${stdout.trim()}`).toBe(headers['webhook-signature']);
});
