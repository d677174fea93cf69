import { describe, expect, test } from 'vitest';
import { type ActionGiven, defineAction } from '../../src/governor/actuators/handler.js';
import { actuators } from '../../src/governor/actuators.js';
import { newWebhookSecret, verifyWebhook } from '../../src/outbox/webhooks.js';
import { scene } from '../governance/scene.js';
import { until } from '../races/sessions.js';
import { carrying, services } from './carrying.js';

const s = scene();
const c = carrying(s);
const service = services();

const hook = (url: string) => ({ actuator: { kind: 'webhook', url } }) as const;

describe('a webhook', () => {
  test('is told everything about the action, once, with its key, and what it answers is the result', async () => {
    const { url, asked } = await service((_, response) =>
      response.writeHead(200).end(
        JSON.stringify({
          baseline: 'restored',
          result: { replicas: 5, region: 'eu', nested: { no: 1 } },
        }),
      ),
    );
    await c.work();
    const now = Date.now();
    const input = {
      action_id: 'a-1',
      idempotency_key: 'a-1-key',
      sku_id: 'sku',
      initiated_by: 'olga',
      policy_id: 'error-budget',
      signal_id: 'sig',
      now,
      due_at: now + 20_000,
    };
    const report = await c.done(
      { ...hook(`${url}/actions?v=1`), parameters: { by: 2, gradual: true } },
      input,
    );
    expect(report).toEqual({
      result: {
        action_id: 'a-1',
        attempt: 1,
        ok: true,
        response_code: 200,
        baseline: 'restored',
        result: { replicas: 5, region: 'eu' },
      },
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      method: 'POST',
      path: '/actions?v=1',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'a-1-key' },
    });
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
      action_id: 'a-1',
      action_type: 'scale_up_cloud_run',
      sku_id: 'sku',
      tenant_id: 'default',
      target: 'catalog',
      parameters: { by: 2, gradual: true },
      created_at: new Date(now).toISOString(),
      initiated_by: 'olga',
      policy_id: 'error-budget',
      signal_id: 'sig',
    });
  });

  test('that undoes is told what it undoes, and says nothing of a baseline', async () => {
    const { url, asked } = await service((_, response) => response.writeHead(204).end());
    await c.work();
    const report = await c.done(hook(url), { kind: 'rollback', of: 'a-1' });
    expect(JSON.parse(asked[0]?.body ?? '')).toMatchObject({
      rollback_of: 'a-1',
      initiated_by: 'governor',
    });
    expect(report.result).toMatchObject({ ok: true, response_code: 204 });
    expect(report.result).not.toHaveProperty('baseline');
  });

  test.each([
    [403, 'permission_denied'],
    [500, 'service_error'],
    [503, 'service_error'],
    [404, 'rejected'],
    [429, 'rejected'],
    [302, 'rejected'],
  ])('that answers %i has ended with %s, and is asked once', async (status, failure_reason) => {
    const { url, asked } = await service((_, response) =>
      response.writeHead(status, { location: '/elsewhere' }).end('{"baseline":"restored"}'),
    );
    await c.work();
    const { result } = await c.done(hook(url));
    expect(result).toMatchObject({
      ok: false,
      failure_reason,
      response_code: status,
      error_message: expect.stringContaining(String(status)),
    });
    expect(result).not.toHaveProperty('baseline');
    expect(asked).toHaveLength(1);
  });

  test.each([
    ['no JSON', 'fine'],
    ['JSON that is no object', '"fine"'],
    ['a baseline that is none', '{"baseline":"perhaps"}'],
    ['more than anybody reads', `"${'x'.repeat(200_000)}"`],
  ])(
    'that answers 200 with %s has succeeded, and nothing is known of the baseline',
    async (_, body) => {
      const { url } = await service((_asked, response) => response.writeHead(200).end(body));
      await c.work();
      const { result } = await c.done(hook(url));
      expect(result).toMatchObject({ ok: true, baseline: 'unknown' });
      expect(result).not.toHaveProperty('result');
    },
  );

  test('that never answers is given up when the governor does, and sees that nobody waits any more', async () => {
    const { url, asked, abandoned } = await service(() => {});
    await c.work();
    const now = Date.now();
    const { result } = await c.done(hook(`${url}/never`), { now, due_at: now + 3_000 });
    expect(result).toMatchObject({
      ok: false,
      failure_reason: 'timeout',
      error_message: 'not done within 3000 ms',
    });
    expect(asked).toHaveLength(1);
    await until(() => abandoned.length === 1);
  });

  test('that cannot be reached, or breaks off, is unreachable', async () => {
    const gone = await service(() => {});
    await gone.close();
    const breaks = await service((_, response) => response.destroy());
    await c.work();
    expect((await c.done(hook(gone.url))).result).toMatchObject({
      ok: false,
      failure_reason: 'unreachable',
      error_message: 'the connection was refused',
    });
    expect((await c.done(hook(breaks.url))).result).toMatchObject({
      ok: false,
      failure_reason: 'unreachable',
    });
  });

  test('at an address of this machine is not asked, unless whoever runs the worker has said so', async () => {
    const { url, asked } = await service((_, response) => response.end());
    await c.work({ host: { reach: {} } });
    const { result } = await c.done(hook(url));
    expect(result).toMatchObject({
      ok: false,
      failure_reason: 'rejected',
      error_message: expect.stringContaining('allowHttp'),
    });
    expect((await c.done(hook(url.replace('http:', 'https:')))).result).toMatchObject({
      failure_reason: 'rejected',
      error_message: expect.stringContaining('not a public address'),
    });
    expect(asked).toEqual([]);
  });

  test('is signed with a secret that the worker signs with, and without one it is not asked', async () => {
    const secret = newWebhookSecret();
    const { url, asked } = await service((_, response) => response.end());
    const writ = await s.db.connect({
      secrets: { resolve: async (): Promise<Record<string, string>> => ({ hooks: secret }) },
    });
    await c.work({ writ, host: { signingSecrets: ['hooks', 'other'] } });
    const signed = (signed_with: string) =>
      ({ actuator: { kind: 'webhook', url, signed_with } }) as const;
    expect((await c.done(signed('hooks'))).result).toMatchObject({ ok: true });
    const [{ headers, body }] = asked as [(typeof asked)[number]];
    expect(verifyWebhook(headers as Record<string, string>, body, secret)).toMatchObject({
      action_type: 'scale_up_cloud_run',
    });
    expect((await c.done(signed('other'))).result).toMatchObject({
      ok: false,
      failure_reason: 'rejected',
      error_message: 'secret other: it could not be read',
    });
    expect((await c.done(signed('ledger-key'))).result).toMatchObject({
      ok: false,
      failure_reason: 'rejected',
      error_message: 'secret ledger-key is not among the signingSecrets of this worker',
    });
    expect(asked).toHaveLength(1);
  });
});

describe('the probe of the policy', () => {
  test.each([
    [200, '', 'restored'],
    [200, '{"restored":true}', 'restored'],
    [200, '{"restored":false}', 'not_restored'],
    [503, '', 'not_restored'],
  ])(
    'that answers %i %s says that the baseline is %s, whatever the service said',
    async (status, body, baseline) => {
      const acts = await service((_, response) => response.end('{"baseline":"unknown"}'));
      const probe = await service((_, response) => response.writeHead(status).end(body));
      await c.work();
      expect(
        (await c.done(hook(acts.url), { probe: { url: `${probe.url}/up` } })).result,
      ).toMatchObject({ ok: true, baseline });
      expect(probe.asked).toMatchObject([{ method: 'GET', path: '/up', body: '' }]);
    },
  );

  test('that never answers costs the action nothing: it has succeeded, in time, and the baseline is unknown', async () => {
    const probe = await service(() => {});
    await c.work({ actions: [defineAction('drain', { run: () => ({ baseline: 'restored' }) })] });
    const now = Date.now();
    const { result } = await c.done(
      { action_type: 'drain' },
      { now, due_at: now + 600, probe: { url: probe.url } },
    );
    expect(result).toMatchObject({ ok: true, baseline: 'unknown' });
  });

  test('is not asked after a failure or a rollback', async () => {
    const acts = await service((asked, response) =>
      response.writeHead(asked.path === '/bad' ? 500 : 200).end(),
    );
    const probe = await service((_, response) => response.end());
    await c.work();
    await c.done(hook(`${acts.url}/bad`), { probe: { url: probe.url } });
    await c.done(hook(acts.url), { probe: { url: probe.url }, kind: 'rollback', of: 'a' });
    expect(probe.asked).toEqual([]);
  });
});

describe('a handler', () => {
  test('is given the action, and what it answers is the result', async () => {
    const given: ActionGiven[] = [];
    const run = (one: ActionGiven) => {
      given.push(one);
      return { replicas: 5, 'not a name': 1, baseline: 'restored' } as const;
    };
    await c.work({ actions: [defineAction('scale_up_cloud_run', { run })] });
    const { result } = await c.done({ parameters: { by: 2 } }, { action_id: 'a-1' });
    expect(result).toEqual({
      action_id: 'a-1',
      attempt: 1,
      ok: true,
      baseline: 'restored',
      result: { replicas: 5 },
    });
    expect(given).toMatchObject([
      {
        tenant: 'default',
        target: 'catalog',
        parameters: { by: 2 },
        idempotencyKey: 'key-a-1',
        actionId: 'a-1',
      },
    ]);
  });

  test.each([
    [
      'an error',
      new Error('no quota'),
      { failure_reason: 'handler_error', error_message: 'no quota' },
    ],
    [
      'something that is no error',
      'no quota',
      { failure_reason: 'handler_error', error_message: 'no quota' },
    ],
    [
      'a status of 403',
      Object.assign(new Error('no'), { status: 403 }),
      { failure_reason: 'permission_denied', response_code: 403 },
    ],
    [
      'a code of 403',
      Object.assign(new Error('no'), { code: 403 }),
      { failure_reason: 'permission_denied', response_code: 403 },
    ],
    [
      'a response of 503',
      Object.assign(new Error('no'), { response: { status: 503 } }),
      { failure_reason: 'service_error', response_code: 503 },
    ],
    [
      'a statusCode of 404',
      Object.assign(new Error('no'), { statusCode: 404 }),
      { failure_reason: 'handler_error', response_code: 404 },
    ],
    [
      'a code that is a word',
      Object.assign(new Error('no'), { code: 'ECONNRESET' }),
      { failure_reason: 'handler_error', error_message: 'no' },
    ],
    [
      'too many words',
      new Error('x'.repeat(5_000)),
      { failure_reason: 'handler_error', error_message: 'x'.repeat(1_000) },
    ],
    [
      'words that no database holds',
      new Error('a\0b\ud800'),
      { failure_reason: 'handler_error', error_message: 'ab\ufffd' },
    ],
    [
      'an object without a prototype',
      Object.assign(Object.create(null), { message: 'no quota', statusCode: 503 }),
      { failure_reason: 'service_error', error_message: 'no quota', response_code: 503 },
    ],
    [
      'an error whose message is no text',
      Object.assign(new Error(), { message: { quota: 0 } }),
      { failure_reason: 'handler_error', error_message: 'the handler threw {"quota":0}' },
    ],
    [
      'an error whose response cannot be read',
      Object.defineProperty(new Error('no quota'), 'response', {
        get: () => {
          throw new Error('gone');
        },
      }),
      { failure_reason: 'handler_error', error_message: 'no quota' },
    ],
  ])('that throws %s has failed, once', async (_, thrown, expected) => {
    let runs = 0;
    const run = () => {
      runs += 1;
      throw thrown;
    };
    await c.work({ actions: [defineAction('drain', { run })] });
    const { result } = await c.done({ action_type: 'drain' });
    expect(result).toMatchObject({ ok: false, ...expected });
    expect(runs).toBe(1);
  });

  test('that throws a secret does not report it', async () => {
    const writ = await s.db.connect({
      secrets: { resolve: async () => ({ api: 'sesame-open-now' }) },
    });
    const run = async ({ secret }: ActionGiven) => {
      throw new Error(`401 for ${await secret('api')}`);
    };
    await c.work({ writ, actions: [defineAction('drain', { run })] });
    const { result } = await c.done({ action_type: 'drain' });
    expect(result?.error_message).toMatch(/^401 for /);
    expect(JSON.stringify(await c.reports())).not.toContain('sesame');
  });

  test.each(['listens', 'does not listen'])(
    'that is not done in time is given up, whether it %s or not',
    async (how) => {
      let aborted: Promise<void> | undefined;
      const run = ({ signal }: ActionGiven) =>
        new Promise<undefined>((_, reject) => {
          aborted = new Promise((resolve) =>
            signal.addEventListener('abort', () => resolve(), { once: true }),
          );
          if (how === 'listens')
            signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        });
      await c.work({ actions: [defineAction('drain', { run })] });
      const now = Date.now();
      const { result } = await c.done({ action_type: 'drain' }, { now, due_at: now + 3_000 });
      expect(result).toMatchObject({ ok: false, failure_reason: 'timeout' });
      await aborted;
    },
  );

  test('whose time was over before a worker came is not begun', async () => {
    let runs = 0;
    const actions = [defineAction('drain', { run: () => void runs++ as undefined })];
    const worker = await c.work({ actions });
    await worker.stop();
    const jobId = await c.send(
      { action_type: 'drain' },
      { now: Date.now(), due_at: Date.now() + 500 },
    );
    await s.db.clock.advance('2s');
    await c.work({ actions });
    expect((await c.told(jobId)).result).toMatchObject({ ok: false, failure_reason: 'timeout' });
    expect(runs).toBe(0);
  });

  test('of a worker that stops is done by another, with the same key', async () => {
    const keys: string[] = [];
    let begun = () => {};
    const first = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const run = ({ signal, idempotencyKey }: ActionGiven) => {
      keys.push(idempotencyKey);
      if (keys.length > 1) return undefined;
      begun();
      return new Promise<undefined>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
      );
    };
    const actions = [defineAction('drain', { run })];
    const nobody = async () => {};
    const reporter = { begin: nobody, result: nobody, late: nobody, effect: nobody };
    const jobs = actuators({ contracts: s.writ.contracts, reporter }, actions);
    await c.work({ actions }).then((worker) => worker.stop());
    const worker = await s.writ.work(jobs, { poll: '20ms', grace: 0 });
    const now = Date.now();
    const jobId = await c.send({ action_type: 'drain' }, { now, due_at: now + 20_000 });
    await first;
    await worker.stop();
    await c.work({ actions });
    expect((await c.told(jobId)).result).toMatchObject({ ok: true });
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  test('undoes under the name of its inverse; one that is its own inverse, under its own', async () => {
    const done: string[] = [];
    const both = (name: string) => ({
      run: () => void done.push(`${name} done`) as undefined,
      undo: ({ rollbackOf }: ActionGiven) =>
        void done.push(`${name} of ${rollbackOf} undone`) as undefined,
    });
    const actions = [
      defineAction('scale_up_cloud_run', both('up')),
      defineAction('drain', both('drain')),
      defineAction('scale_gke_cluster', both('gke')),
    ];
    expect(actions.map(({ inverse }) => inverse)).toEqual([
      'scale_down_cloud_run',
      'undo_drain',
      'scale_gke_cluster',
    ]);
    await c.work({ actions });
    const undo = { kind: 'rollback', of: 'a' } as const;
    await c.done({ action_type: 'scale_down_cloud_run' }, undo);
    await c.done({ action_type: 'undo_drain' }, undo);
    await c.done({ action_type: 'scale_gke_cluster' });
    await c.done({ action_type: 'scale_gke_cluster' }, undo);
    expect(done).toEqual(['up of a undone', 'drain of a undone', 'gke done', 'gke of a undone']);
  });

  test('that is defined twice, or has no name, is refused', () => {
    const run = () => undefined;
    const host = { contracts: s.writ.contracts, reporter: {} as never };
    expect(() => defineAction('Drain it', { run })).toThrow(
      expect.objectContaining({ code: 'invalid_action' }),
    );
    const twice = [
      defineAction('scale_up_cloud_run', { run, undo: run }),
      defineAction('scale_down_cloud_run', { run }),
    ];
    expect(() => actuators(host, twice)).toThrow(
      expect.objectContaining({ code: 'invalid_action' }),
    );
  });
});
