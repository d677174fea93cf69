/** Windows, limits and soaks, also when somebody moves the clock of the database. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { configure, defineStep, enable, recordSignal, soak } from '../../src/index.js';
import { until } from '../races/sessions.js';
import { codeOf } from '../runs/engine/scene.js';
import { probes } from './outside.js';
import { scene } from './scene.js';

const s = scene();
const probe = probes();
const before = { checkout: 'DISABLED', search: 'LAUNCHED', 'limits#max': 100 };
const finished = { timeoutMs: 20_000 };
/** The soak has been looked at, and `watched_ms` of it are over. */
const soaking = () =>
  s.sql<{ watched: number }>(
    `select watched_ms::integer as watched from writ_data.governance_step where step_type = 'soak'`,
  );
/** Sets the clock of every gate back. */
const back = (by: string) =>
  s.sql(
    `create or replace function writ.now() returns timestamptz language sql volatile as $$ select pg_catalog.clock_timestamp() - interval '${by}' $$`,
  );
const soakFor = (ms: number) =>
  s.sql(`update writ_data.governance_step set watched_ms = ${ms} where step_type = 'soak'`);

describe('a contract that could never end', () => {
  test.each([
    ['whose soaks last longer than its job may', { maxDuration: '10m' }, '11m'],
    ['whose soaks last as long as its job may', { maxDuration: '10m' }, '10m'],
    ['whose soaks last longer than a job may by default', {}, '61m'],
    ['whose soaks last longer than its window', { maxDuration: '5h', windowHours: 1 }, '2h'],
    ['whose soaks last as long as its window', { maxDuration: '5h', windowHours: 1 }, '1h'],
  ] as const)('%s is refused when it is proposed', async (_, limits, duration) => {
    const refused = await s
      .propose({ steps: [enable('checkout'), soak(duration)], ...limits })
      .catch((error) => error);
    expect([refused.code, refused.message]).toEqual([
      'invalid_contract',
      expect.stringContaining('soaks last'),
    ]);
  });

  test('is refused as a draft, too, when that is submitted', async () => {
    const draft = await s.writ.contracts.propose(
      {
        title: 'Long',
        scope: ['checkout'],
        steps: [enable('checkout'), soak('11m')],
        maxDuration: '10m',
      },
      { as: s.keys.agent, draft: true },
    );
    expect(await draft.submit({ as: s.keys.agent })).toMatchObject({ status: 'REJECTED' });
  });

  test('is not activated so late that its soaks end after its window; its approval stands', async () => {
    const contract = await s.approved({ steps: [enable('checkout'), soak('30m')], windowHours: 1 });
    await s.db.clock.advance('45m');
    expect(await codeOf(contract.activate({ as: s.keys.service }))).toBe('window_too_short');
    expect(await contract.get()).toMatchObject({ status: 'APPROVED' });
    expect(await s.sql('select from writ_data.target_hold')).toEqual([]);
  });

  test('an instance of a template has a window that its job fits into', async () => {
    const template = {
      pre: { checkout: { in: ['DISABLED'] } },
      activations: 3,
      expiresIn: '30d',
    } as const;
    const contract = await s.approved({
      steps: [enable('checkout'), soak('5h')],
      maxDuration: '6h',
      template,
    });
    const job = await contract.instantiate({}, { as: s.keys.service });
    expect(await job.get()).toMatchObject({ status: 'PENDING' });
  });
});

test('a job that still runs when its window ends is stopped and rolled back', async () => {
  await s.work();
  const contract = await s.approved({
    steps: [enable('checkout'), soak('50m')],
    maxDuration: '2h',
    windowHours: 1,
  });
  const job = await contract.activate({ as: s.keys.service });
  await until(async () => (await soaking()).length === 1);
  await s.db.clock.advance('61m');
  const end = await job.finished(finished);
  expect([end.status, end.status_reason]).toEqual(['ROLLED_BACK', expect.stringMatching(/window/)]);
  expect(await s.state()).toEqual(before);
});

test('A-004 fails a change that ended after its window', async () => {
  await s.work();
  await s.sql(`create function writ_data.narrow() returns trigger language plpgsql as $$ begin
    update writ_data.contract set window_end = window_start + interval '1 hour', window_start = window_start - interval '1 hour'
      where contract_id = new.contract_id; return new; end $$;
    create trigger narrow after update on writ_data.governance_job for each row
      when (new.status = 'AUDIT_PENDING' and old.status = 'RUNNING' and new.kind = 'forward') execute function writ_data.narrow()`);
  const contract = await s.approved({ steps: [enable('checkout')] });
  await s.db.clock.advance('90m');
  const job = await contract.activate({ as: s.keys.service });
  const end = await job.finished(finished);
  expect([end.status, end.status_reason]).toEqual([
    'ROLLED_BACK',
    expect.stringContaining('A-004'),
  ]);
});

describe('a clock that jumps', () => {
  test('ten minutes on does not shorten a soak', async () => {
    await s.work();
    const contract = await s.approved({ steps: [enable('checkout'), soak('5m')] });
    const job = await contract.activate({ as: s.keys.service });
    await until(async () => ((await soaking())[0]?.watched ?? 0) > 0);
    await s.db.clock.advance('10m');
    const [{ watched: then }] = (await soaking()) as [{ watched: number }];
    await until(async () => ((await soaking())[0]?.watched ?? 0) > then);
    expect((await soaking())[0]?.watched).toBeLessThan(240_000);
    expect(await job.get()).toMatchObject({ status: 'RUNNING' });
    await soakFor(300_000);
    expect(await job.finished(finished)).toMatchObject({ status: 'COMPLETED' });
  });

  test('five seconds back voids no approval, and its change passes its audit', async () => {
    const contract = await s.approved({
      steps: [enable('checkout'), soak('10ms'), configure('limits', 'max', 2)],
    });
    await back('5 seconds');
    await s.work();
    const job = await contract.activate({ as: s.keys.service });
    expect(await job.finished(finished)).toMatchObject({ status: 'COMPLETED' });
  });

  test('a minute back while a job runs takes no time of it back', async () => {
    await s.work();
    const contract = await s.approved({ steps: [enable('checkout'), soak('5m')] });
    const job = await contract.activate({ as: s.keys.service });
    await until(async () => ((await soaking())[0]?.watched ?? 0) > 0);
    await back('1 minute');
    const [{ watched: then }] = (await soaking()) as [{ watched: number }];
    await until(async () => ((await soaking())[0]?.watched ?? 0) > then);
    await soakFor(300_000);
    expect(await job.finished(finished)).toMatchObject({ status: 'COMPLETED' });
    const history = await s.sql<{ ordered: boolean }>(
      `select bool_and(h.at >= b.at) as ordered from writ_data.governance_job_history h
       join writ_data.governance_job_history b on b.job_id = h.job_id and b.version = h.version - 1`,
    );
    expect(history).toEqual([{ ordered: true }]);
    const { duration_ms } = (await job.get()) as { duration_ms: number };
    expect(duration_ms).toBeGreaterThanOrEqual(0);
  });

  test('forty days on make an audit inconclusive that nobody could do', async () => {
    const flag = defineStep<number>('flag', {
      target: () => 'flag:a',
      read: async () => {
        const auditing = await s.sql(
          `select from writ_data.governance_job where status = 'AUDIT_PENDING'`,
        );
        if (auditing.length > 0) throw new Error('it does not answer');
        return 1;
      },
      apply: async () => undefined,
      revert: async () => undefined,
    });
    await s.use(flag);
    await s.work([flag]);
    const contract = await s.approved({ scope: ['flag:a'], steps: [flag(1)] });
    const job = await contract.activate({ as: s.keys.service });
    await until(async () => (await job.get()).status === 'AUDIT_PENDING');
    await s.db.clock.advance('40d');
    await until(async () => (await s.sql('select from writ_data.governance_audit')).length > 0);
    expect(
      await s.sql(
        `select verdict, duration_ms from writ_data.governance_audit order by audit_id limit 1`,
      ),
    ).toEqual([{ verdict: 'INCONCLUSIVE', duration_ms: 2_147_483_647 }]);
    expect(await s.alerts()).not.toContain('GOVERNANCE_SET_ASIDE');
  });
});

describe('a clock that was ahead and is set right', () => {
  const ahead = ['10m', '40d'] as const;
  const health = async () => {
    const [checkout] = (await s.writ.health.get()).capabilities.filter(
      ({ capability_name }) => capability_name === 'checkout',
    );
    return checkout?.status;
  };
  const put = (more: object) =>
    s.writ.probes.put({ name: 'up', capability: 'checkout', ...more } as never, {
      as: s.keys.ops,
    });

  test.each(ahead)('by %s has probes asked as often as before', async (by) => {
    let status = 200;
    const url = await probe(() => status);
    await s.db.clock.advance(by);
    await put({ type: 'http', config: { url }, every_ms: 100 });
    await s.work();
    await until(async () => (await health()) === 'HEALTHY');
    await s.db.clock.reset();
    status = 500;
    await until(async () => (await health()) === 'UNHEALTHY');
    status = 200;
    await until(async () => (await health()) === 'HEALTHY');
  });

  test.each(ahead)('by %s makes no old report a new one', async (by) => {
    await put({ type: 'reported', every_ms: 60_000 });
    const report = () => s.writ.probes.report('up', 'HEALTHY', { as: s.keys.service });
    await s.db.clock.advance(by);
    await report();
    expect(await health()).toBe('HEALTHY');
    await s.db.clock.reset();
    expect(await health()).toBe('UNHEALTHY');
    await report();
    expect(await health()).toBe('HEALTHY');
  });

  test('by 40d while a change runs fails no audit', async () => {
    await s.db.clock.advance('40d');
    await put({ type: 'http', config: { url: await probe(() => 200) } });
    const worker = await s.work();
    await until(async () => (await health()) === 'HEALTHY');
    const contract = await s.approved({ steps: [enable('checkout'), soak('5m')] });
    const job = await contract.activate({ as: s.keys.service });
    await until(async () => ((await soaking())[0]?.watched ?? 0) > 0);
    await worker.stop();
    await s.sql(`update writ_data.governance_job set started_at = writ.now()`);
    await s.db.clock.reset();
    await soakFor(300_000);
    await s.work();
    expect(await job.finished(finished)).toMatchObject({ status: 'COMPLETED' });
  });

  test('by 40d keeps no agent from proposing the same again', async () => {
    await s.setting('governance.agent.proposals_per_hour', 1);
    await s.db.clock.advance('40d');
    await s.propose();
    await s.db.clock.reset();
    expect(await (await s.propose()).get()).toMatchObject({ status: 'ELIGIBLE' });
  });
});

describe('health in a job', () => {
  test('is asked for again when the clock jumps while a probe answers', async () => {
    let answers = 0;
    const server = createServer(async (_, response) => {
      if (++answers === 2) await s.db.clock.advance('15s');
      response.end('{}');
    });
    await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const about = {
        name: 'up',
        capability: 'checkout',
        type: 'http',
        config: { url },
        every_ms: 86_400_000,
      } as const;
      await s.writ.probes.put(about, { as: s.keys.ops });
      const worker = await s.work();
      await until(async () => (await s.writ.health.get()).system === 'HEALTHY');
      await worker.stop();
      const contract = await s.approved({ steps: [enable('checkout')] });
      const job = await contract.activate({ as: s.keys.service });
      await s.sql(`update writ_data.probe set checked_at = checked_at - interval '1 minute'`);
      await s.work();
      expect(await job.finished(finished)).toMatchObject({ status: 'COMPLETED' });
    } finally {
      await new Promise((closed) => server.close(closed).closeAllConnections());
    }
  });

  test('counts the answers of probes that are asked after a read, however long it takes', async () => {
    let value = 0;
    const flag = defineStep<number>('flag', {
      target: () => 'flag:a',
      read: async () => {
        await s.db.clock.advance('6s');
        return value;
      },
      apply: async (input) => {
        value = input;
      },
      revert: async () => undefined,
    });
    await s.use(flag);
    await s.writ.capabilities.put([{ capability_name: 'flag:a' }], { as: s.keys.ops });
    const config = { url: await probe(() => 200) };
    await s.writ.probes.put(
      { name: 'a', capability: 'flag:a', type: 'http', config },
      { as: s.keys.ops },
    );
    await s.work([flag]);
    await until(async () => (await s.writ.health.get()).system === 'HEALTHY');
    const contract = await s.approved({ scope: ['flag:a'], steps: [flag(1)] });
    expect(
      await (await contract.activate({ as: s.keys.service })).finished(finished),
    ).toMatchObject({ status: 'COMPLETED' });
  });

  test.each([
    ['its owner', 'checkout', 'checkout is unhealthy: blocked: orders are lost'],
    ['the configuration itself', 'limits', 'limits is blocked: orders are lost'],
  ])('a soak on a configuration ends as soon as %s is BLOCKED', async (_, blocked, why) => {
    await s.work();
    const contract = await s.approved({
      scope: ['limits'],
      steps: [configure('limits', 'max', 2), soak('30m')],
    });
    const job = await contract.activate({ as: s.keys.service });
    await until(async () => ((await soaking())[0]?.watched ?? 0) > 0);
    await s.writ.signals.record(
      { type: 'ERRORS', scope: blocked, decision: 'BLOCKED', reason: 'orders are lost' },
      { as: s.keys.service },
    );
    const end = await job.finished(finished);
    expect([end.status, end.status_reason]).toEqual(['ROLLED_BACK', expect.stringContaining(why)]);
    expect(await s.state()).toEqual(before);
  });

  test('a signal is not recorded while the system is UNHEALTHY', async () => {
    const contract = await s.approved({
      steps: [recordSignal('STARTING'), soak('10ms'), enable('checkout')],
    });
    const job = await contract.activate({ as: s.keys.service });
    for (const scope of ['checkout', 'search'])
      await s.writ.signals.record(
        { type: 'ERRORS', scope, decision: 'BLOCKED', reason: 'nothing works' },
        { as: s.keys.service },
      );
    await s.work();
    const end = await job.finished(finished);
    expect([end.status, end.status_reason]).toEqual([
      'ROLLED_BACK',
      expect.stringContaining('The system is unhealthy'),
    ]);
    expect(
      await s.sql(`select from writ_data.governance_signal where signal_type = 'STARTING'`),
    ).toEqual([]);
  });
});
