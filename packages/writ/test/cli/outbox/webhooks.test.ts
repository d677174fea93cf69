/** `writ webhooks` and `writ relay`, as a person would use them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { webhookKey } from '../../../src/outbox/webhooks.js';
import { eventually, json, writ as run, start } from '../run.js';
import { eventsOfRun, scene } from './scene.js';

test('a secret is printed alone, once, and is one; where it goes is said beside it', async () => {
  const { code, stdout, stderr } = await run(['webhooks', 'secret', 'my-shop']);
  expect([code, webhookKey(stdout.trim()).length]).toEqual([0, 32]);
  expect(stdout).toMatch(/^whsec_\S+\n$/);
  expect(stderr).toContain(
    'WRIT_WEBHOOK_SECRET_MY_SHOP, or the file my-shop in the folder WRIT_WEBHOOK_SECRETS_DIR',
  );
  expect(stderr).not.toContain(stdout.trim());
  expect((await run(['webhooks', 'secret'])).stdout).not.toBe(stdout);
});

test('a secret in the place of its name is refused, and not shown again', async () => {
  const secret = 'whsec_bm90IHJlYWxseSBhIHNlY3JldCBhdCBhbGw=';
  const { code, stdout, stderr } = await run([
    'webhooks',
    'add',
    'shop',
    'https://shop.example/',
    '--secret',
    secret,
  ]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('takes the name of one');
  expect(stderr).not.toContain(secret);
});

test('a webhook is told of runs from when it was added, signed, by a relay that says what it did', async () => {
  const { db, receiver, env, completed, relay } = await scene();
  await completed(); // before it was added: not told
  const added = await run(
    [
      'webhooks',
      'add',
      'shop',
      receiver.url,
      '--secret',
      'shop',
      '--type',
      'dot.run.*',
      '--actor',
      'ada',
    ],
    { env },
  );
  expect([added.code, added.stdout]).toEqual([
    0,
    `Added shop: ${receiver.url} is told of dot.run.*, from now on.\n`,
  ]);
  expect(added.stderr).toBe('`writ relay --allow-http --allow-private` tells it.\n');
  expect(await db.query('select put_by, config from writ.destination')).toEqual([
    { put_by: 'ada', config: { url: receiver.url, secrets: ['shop'] } },
  ]);
  const relaying = await relay();
  const runId = await completed();
  await eventually(async () => receiver.deliveries().length >= eventsOfRun);
  relaying.kill('SIGTERM');
  const { code, stdout } = await relaying.ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^Relaying as \S+ to webhook: 1 destination\. Ctrl-C stops\.\n {2}shop {2}http:\S+\n/,
  );
  expect(stdout).toMatch(
    new RegExp(
      `\nSIGTERM: stopping\\..*\nStopped after .*: ${eventsOfRun} events delivered, 0 failed tries, 0 dead\\.\n$`,
    ),
  );
  const told = receiver.deliveries();
  expect(told.map(({ partitionkey, verified }) => [partitionkey, verified])).toEqual(
    told.map(() => [runId, true]),
  );
  expect(told.map(({ sequence }) => Number(sequence))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);

  expect(await json(['webhooks', 'list'], { env })).toMatchObject([
    { name: 'shop', state: 'active', undelivered: 0, dead: 0 },
  ]);
  expect((await run(['webhooks', 'list'], { env })).stdout).toMatch(
    /^WEBHOOK +STATE +BEHIND +UNDELIVERED +DEAD +URL\nshop +active/,
  );
  expect(
    (await run(['webhooks', 'deliveries', 'shop'], { env })).stdout.match(/ 204 /g),
  ).toHaveLength(eventsOfRun);
  expect((await run(['webhooks', 'deliveries', 'shop', '--failed'], { env })).stdout).toBe(
    'shop has accepted everything that it was sent.\n',
  );
});

test('what cannot be right is refused before the database hears of it, and a secret in the place of a name is not shown', async () => {
  const { receiver, env } = await scene();
  const add = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(['webhooks', 'add', ...args], { env });
    return { code, text: stdout + stderr };
  };
  const leaked = await add('shop', receiver.url, '--secret', receiver.secret);
  expect(leaked).toMatchObject({
    code: 2,
    text: expect.stringContaining('--secret takes the name of one'),
  });
  expect(await add('shop', receiver.url)).toMatchObject({
    code: 2,
    text: expect.stringContaining('writ webhooks secret shop'),
  });
  expect(await add('shop', 'ftp://example.com', '--secret', 's')).toMatchObject({
    code: 2,
    text: expect.stringContaining('https://host/path'),
  });
  const withPassword = await add('shop', 'https://ada:hunter22@example.com', '--secret', 's');
  expect(withPassword).toMatchObject({ code: 2 });
  expect(withPassword.text).not.toContain('hunter22');
  expect(await add('no name', receiver.url, '--secret', 's')).toMatchObject({ code: 2 });
  expect(await add('shop', receiver.url, '--secret', 's', '--type', 'a b')).toMatchObject({
    code: 2,
  });
  const nobody = await run(['webhooks', 'show', 'nobody'], { env });
  expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining('writ webhooks list')]);
  expect(await json(['webhooks', 'list'], { env })).toEqual([]);
});

test('changing one that is there is shown first, and what is not given stays', async () => {
  const { receiver, env } = await scene();
  await json(
    [
      'webhooks',
      'add',
      'shop',
      receiver.url,
      '--secret',
      'shop',
      '--type',
      'dot.run.RunCompleted',
      '--tenant',
      'acme',
    ],
    { env },
  );
  const asked = await run(
    [
      'webhooks',
      'add',
      'shop',
      'https://example.com/hooks',
      '--secret',
      'next',
      '--secret',
      'shop',
    ],
    { env },
  );
  expect([asked.code, asked.stdout, asked.stderr]).toEqual([
    1,
    `shop would change:\n  url: ${receiver.url} → https://example.com/hooks\n  secrets: shop → next, shop\n`,
    expect.stringContaining('nothing was done.\n      Add --yes to do it.'),
  ]);
  expect(await json(['webhooks', 'show', 'shop'], { env })).toMatchObject({
    config: { url: receiver.url },
  });
  await json(
    [
      'webhooks',
      'add',
      'shop',
      'https://example.com/hooks',
      '--secret',
      'next',
      '--secret',
      'shop',
      '--yes',
    ],
    { env },
  );
  expect(await json(['webhooks', 'show', 'shop'], { env })).toMatchObject({
    config: { url: 'https://example.com/hooks', secrets: ['next', 'shop'] },
    types: ['dot.run.RunCompleted'],
    tenant: 'acme',
  });
});

test('a receiver that has gone is paused, which the relay says; it shows why and what to do, and goes on where it was', async () => {
  const { db, receiver, env, completed, relay } = await scene();
  await json(['webhooks', 'add', 'shop', receiver.url, '--secret', 'shop', '--type', 'dot.run.*'], {
    env,
  });
  await receiver.answer({ mode: 'status', status: 410 });
  const relaying = await relay();
  await completed();
  await relaying.saying(
    /! shop is paused: the endpoint answered 410\. .*`writ webhooks resume shop`/,
  );
  const shown = await run(['webhooks', 'show', 'shop'], { env });
  expect(shown.stdout).toMatch(/state +paused: It answered that it is gone\./);
  expect(shown.stdout).toMatch(
    /→ Nothing is lost while it is paused\..*`writ webhooks resume shop`/,
  );
  expect(await db.query('select code from writ.alert where cleared_at is null')).toEqual([
    { code: 'DESTINATION_PAUSED' },
  ]);
  const doctor = await run(['doctor'], {
    env: { ...env, DATABASE_URL: db.directConnectionString },
  });
  expect(doctor.stdout).toMatch(
    /! destinations +shop is paused, .* behind: It answered that it is gone\./,
  );
  expect(doctor.stdout).toMatch(
    /! alerts +P2 DESTINATION_PAUSED of destination shop[\s\S]*`writ webhooks resume shop`/,
  );

  const kept = await run(['webhooks', 'remove', 'shop'], { env });
  expect([kept.code, kept.stdout, kept.stderr]).toEqual([
    1,
    expect.stringMatching(/it is .* behind, and will not be told/),
    expect.stringContaining('Add --yes'),
  ]);
  await receiver.answer();
  expect((await run(['webhooks', 'resume', 'shop'], { env })).stdout).toMatch(
    /^Resumed shop, .* behind\.\n$/,
  );
  await eventually(
    async () => receiver.deliveries().filter(({ status }) => status === 204).length >= eventsOfRun,
  );
  expect(await db.query('select from writ.alert where cleared_at is null')).toEqual([]);

  expect(await json(['webhooks', 'pause', 'shop', '--reason', 'they move house'], { env })).toEqual(
    { name: 'shop', state: 'paused' },
  );
  expect((await run(['webhooks', 'show', 'shop'], { env })).stdout).toMatch(
    /state +paused: they move house/,
  );
  expect(await json(['webhooks', 'remove', 'shop', '--yes'], { env })).toEqual({
    name: 'shop',
    removed: true,
  });
  expect((await run(['webhooks', 'list'], { env })).stdout).toMatch(/^No webhooks\./);
});

test('a secret that is missing is said at the start and while nothing gets through; in a file it is found without a restart', async () => {
  const { db, receiver, env, completed } = await scene();
  const folder = mkdtempSync(join(tmpdir(), 'writ-secrets-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { WRIT_WEBHOOK_SECRET_SHOP: secret, ...without } = env;
  await json(['settings', 'set', 'outbox.delivery.backoff_ms', '20'], { env });
  const added = await run(
    ['webhooks', 'add', 'shop', receiver.url, '--secret', 'shop', '--type', 'dot.run.*'],
    { env: without },
  );
  expect(added.stderr).toMatch(
    /^The relay needs the secret shop: in WRIT_WEBHOOK_SECRET_SHOP, or the file shop/,
  );
  const relaying = start(['relay', '--allow-http', '--allow-private', '--json'], {
    env: { ...without, WRIT_WEBHOOK_SECRETS_DIR: folder },
  });
  onTestFinished(async () => {
    relaying.kill('SIGKILL');
    await relaying.ended;
  });
  await relaying.saying(/"trouble".*WRIT_WEBHOOK_SECRET_SHOP/);
  await completed();
  await relaying.saying(
    /"failing","destination":"shop","reason":"secret shop: .*WRIT_WEBHOOK_SECRET_SHOP/,
  );
  writeFileSync(join(folder, 'shop'), `${secret}\n`);
  await relaying.saying(/"recovered","destination":"shop"/);
  await eventually(async () => receiver.deliveries().length >= eventsOfRun);
  expect(receiver.deliveries().every(({ verified }) => verified)).toBe(true);
  relaying.kill('SIGINT');
  const { code, stdout } = await relaying.ended;
  expect(code).toBe(0);
  const said = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(said.at(0)).toMatchObject({
    event: 'relaying',
    buses: ['webhook'],
    destinations: ['shop'],
  });
  expect(said.at(-1)).toMatchObject({ event: 'stopped', delivered: eventsOfRun, dead: 0 });
  expect(await db.query('select from writ.undelivered')).toEqual([]);
});

test('without leave a relay calls neither plain http nor this machine', async () => {
  const { receiver, env, completed } = await scene();
  await json(['webhooks', 'add', 'shop', receiver.url, '--secret', 'shop', '--type', 'dot.run.*'], {
    env,
  });
  const relaying = start(['relay'], { env });
  onTestFinished(async () => {
    relaying.kill('SIGKILL');
    await relaying.ended;
  });
  await relaying.saying(/! shop: .*would be called without encryption; --allow-http lets it/);
  await completed();
  await relaying.saying(/shop accepts nothing: the bus could not be opened: invalid_bus/);
  relaying.kill('SIGTERM');
  const { code, stderr } = await relaying.ended;
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining('would be called without encryption; --allow-http lets it'),
  ]);
  expect(receiver.deliveries()).toEqual([]);
});
