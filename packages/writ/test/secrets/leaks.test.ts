/**
 * A secret that is planted in a plan, an input, an error, a result and an environment is in no
 * table, no log and no answer afterwards. Real runs, a real worker process; then everything is
 * searched byte by byte. A canary that may be stored shows that the search would have found it.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  defineJob,
  definePlan,
  environmentSecrets,
  type JobKind,
  type Plan,
  validatePlan,
  Writ,
  type WritError,
} from '../../src/index.js';
import type { TestDatabase } from '../../src/testing/index.js';
import { Scene } from '../cli/ledger/scene.js';
import { eventually, type Running, writ as run, start } from '../cli/run.js';
import { sealEverything } from '../ledger/sealing.js';
import { asks, leaky } from './leaky.mjs';
import { everyFile, everyTable, formsIn } from './search.js';
import { startVault, type VaultServer } from './vault-server.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const handlers = join(root, 'secrets', 'leaky.mjs');
/**
 * What would trip up a careless search or replacement: quotes, an escape, what addresses encode,
 * letters beyond ASCII.
 */
const value = 'sk_live_51H8 "x"\\n/+%&=ü~leak';
const canary = 'canary/4711+"x" ü';
const token = 'hvs.token-of-the-worker-in-the-tests';

let scene: Scene;
let db: TestDatabase;
let folder: string;
let vault: VaultServer;
let running: Running | undefined;
beforeEach(async () => {
  scene = await Scene.make();
  db = scene.db;
  folder = mkdtempSync(join(tmpdir(), 'writ-leaks-'));
  mkdirSync(join(folder, 'secrets'));
  writeFileSync(join(folder, 'secrets', 'leak-key'), value, { mode: 0o400 });
  vault = await startVault();
  vault.token = token;
  vault.documents.set('secret/app', { 'leak-key': value });
});
afterEach(async () => {
  running?.kill('SIGKILL');
  await running?.ended;
  running = undefined;
  await vault.stop();
  await scene.end();
  rmSync(folder, { recursive: true });
});

test('the search finds a value in each form in which it may be stored', () => {
  const found = (text: string) => formsIn(Buffer.from(`x${text}y`), value);
  expect(found(value)).toContain('raw');
  expect(found(JSON.stringify(value))).toContain('json');
  expect(found(Buffer.from(value).toString('hex'))).toContain('hex');
  expect(found(encodeURIComponent(value))).toContain('url');
  expect(found(new URLSearchParams({ value }).toString())).toContain('url');
  for (const user of ['', 'a', 'ad', 'ada:']) {
    const encoded = Buffer.from(`${user}${value}`);
    for (const form of ['base64', 'base64url'] as const)
      expect(formsIn(Buffer.from(` ${encoded.toString(form)} `), value)).toEqual(['base64']);
  }
});

describe.each([
  [
    'the environment',
    (env: Record<string, string>) => ({
      args: ['--secrets', 'env'],
      env: { ...env, WRIT_SECRET_LEAK_KEY: value },
    }),
  ],
  [
    'a file',
    (env: Record<string, string>) => ({
      args: ['--secrets', `file:${join(folder, 'secrets')}`, '--json'],
      env,
    }),
  ],
  [
    'Vault',
    (env: Record<string, string>) => ({
      args: ['--secrets', 'vault:secret/app'],
      env: { ...env, VAULT_ADDR: vault.address, VAULT_TOKEN: token },
    }),
  ],
])('a secret from %s', (_, options) => {
  test('that handlers return, commit, pass on and throw is in no table, log or answer', {
    timeout: 90_000,
  }, async () => {
    const writ = await db.connect();
    const handle = await writ.start(leaky as unknown as Plan<{ canary: string }>, { canary });
    for (const permanently of [true, false])
      await writ.enqueue(asks as unknown as JobKind<{ permanently: boolean }>, { permanently });
    const { args, env } = options(scene.env);
    running = start(['worker', handlers, ...args], { env });
    expect((await handle.finished({ timeoutMs: 60_000 })).status).toBe('FAILED');
    await eventually(
      async () =>
        (
          await db.query(
            `select from writ.job_queue where job_kind = 'asks' and status = 'dead_letter'`,
          )
        ).length === 2,
    );
    running.kill('SIGTERM');
    const worker = await running.ended;
    expect(worker.code).toBe(0);

    // What was to happen did: the names stand where the values would.
    const [passed] = await db.query(
      `select e.result::text as result from writ_data.job_execution e join writ_data.job j using (job_id) where j.job_kind = 'passes'`,
    );
    expect(JSON.parse(String(passed?.result))).toHaveLength(8);
    for (const answer of JSON.parse(String(passed?.result)) as string[])
      expect(answer).toMatch(/^rejected secret_inside .*leak-key/);
    expect(await db.query(`select from writ.job_queue where job_kind = 'receives'`)).toEqual([]);
    expect((await writ.runs.snapshot(handle.runId)).rootCause).toMatchObject({
      stepId: 'throws',
      errorMessage: expect.stringContaining('«secret leak-key»'),
    });
    expect(worker.stdout).toContain('401 for «secret leak-key»');
    expect(worker.stdout).toMatch(/no: «secret leak-key»/);

    await sealEverything(db);
    const key = await scene.key();
    await scene.sign();
    expect((await scene.ledger(['export', join(folder, 'export')])).code).toBe(0);
    const everything = new Map([...(await everyTable(db)), ...everyFile(join(folder, 'export'))]);
    everything
      .set('the worker, stdout', Buffer.from(worker.stdout))
      .set('the worker, stderr', Buffer.from(worker.stderr));
    const jobs = await db.query('select job_id::text as id from writ.job_queue');
    const commands = [
      ['runs', 'show', handle.runId],
      ['runs', 'events', handle.runId],
      ['runs', 'events', handle.runId, '--export', join(folder, 'history.json')],
      ['runs', 'list'],
      ['runs', 'verify', handle.runId],
      ['queue', 'list'],
      ['doctor'],
      ...jobs.map(({ id }) => ['queue', 'show', String(id)]),
    ];
    for (const command of commands) {
      const { stdout, stderr } = await run([...command, '--json'], {
        env: { ...scene.env, WRIT_LEDGER_PUBLIC_KEYS: key },
      });
      everything.set(command.join(' '), Buffer.from(stdout + stderr));
      expect(stdout.length).toBeGreaterThan(10);
    }
    everything.set('history.json', everyFile(folder).get(join(folder, 'history.json')) as Buffer);

    const holding = (wanted: string) =>
      [...everything].flatMap(([where, bytes]) =>
        formsIn(bytes, wanted).map((form) => `${where}: ${form}`),
      );
    expect(holding(value)).toEqual([]);
    expect(holding(token)).toEqual([]);
    // The canary was stored, by the run and by the result of a step; so the tables were read.
    expect(
      holding(canary).filter((place) => place.startsWith('writ_data.')).length,
    ).toBeGreaterThan(1);
    expect(everything.size).toBeGreaterThan(60);
  });
});

test('a secret in a plan, or for the name of one, is refused by programs and by the command, which do not repeat it', async () => {
  const kind = defineJob<unknown>('k');
  await (await db.connect()).enqueue(kind, {});
  const planned = (input: unknown) => ({
    schemaVersion: 1,
    planId: 'p',
    planVersion: '1',
    steps: [{ id: 's', type: 'job', kind: 'k', input }],
  });
  const plain = 'sk_live_51H8abcdefghij';
  for (const input of [
    { note: plain },
    { apiKey: 'anything at all' },
    { key: { $secret: plain } },
    { [plain]: 1 },
  ]) {
    expect(() => validatePlan(planned(input))).toThrow(
      expect.objectContaining({ code: 'PLAN_SECRET_INSIDE' }),
    );
    writeFileSync(join(folder, 'plan.json'), JSON.stringify(planned(input)));
    const { code, stdout, stderr } = await run(
      ['runs', 'start', '--plan', join(folder, 'plan.json'), '--json'],
      { env: scene.env },
    );
    expect(code).toBe(1);
    expect(stderr).toContain('PLAN_SECRET_INSIDE');
    expect(formsIn(Buffer.from(stdout + stderr), plain)).toEqual([]);
    expect(stderr).not.toContain('anything at all');
  }
  for (const [, bytes] of await everyTable(db)) expect(formsIn(bytes, plain)).toEqual([]);
});

test('a secret of the environment is refused in an input, an event and a plan before any worker has asked for it', async () => {
  process.env.WRIT_SECRET_LEAK_TEST = value;
  const writ = await Writ.connect({
    connectionString: db.connectionString,
    secrets: environmentSecrets(),
  });
  try {
    const kind = defineJob<unknown>('k');
    const plan = definePlan<unknown>('p', { version: '1' }, (p) => void p.waitFor('word'));
    const { runId } = await writ.start(plan, { fine: true });
    const tries = [
      writ.enqueue(kind, { key: value }),
      writ.start(plan, { deep: [{ header: Buffer.from(`ada:${value}`).toString('base64') }] }),
      writ.runs.deliver(runId, 'word', value),
      writ.runs.signal(runId, {
        type: 'UPDATE_PARAMS',
        params: { key: encodeURIComponent(value) },
      }),
    ];
    for (const tried of await Promise.allSettled(tries)) {
      expect(tried).toMatchObject({ status: 'rejected', reason: { code: 'secret_inside' } });
      const { message, stack } = (tried as PromiseRejectedResult).reason as WritError;
      expect(formsIn(Buffer.from(`${message}${stack}`), value)).toEqual([]);
    }
    expect(() =>
      definePlan('q', { version: '1' }, (p) => void p.step('s', kind, { input: { note: value } })),
    ).toThrow(expect.objectContaining({ code: 'PLAN_SECRET_INSIDE' }));
    for (const [, bytes] of await everyTable(db)) expect(formsIn(bytes, value)).toEqual([]);
  } finally {
    delete process.env.WRIT_SECRET_LEAK_TEST;
    await writ.close();
  }
});
