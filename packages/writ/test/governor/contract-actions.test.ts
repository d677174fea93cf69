/** Actions that are contracts, on the real governance. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { referenceTo, resultOfRest } from '../../src/governor/actuators/contract.js';
import { configure, param, soak } from '../../src/index.js';
import { governanceJobStates } from '../../src/machines/governance-job.js';
import { onFaultPoint } from '../../src/testing/index.js';
import { scene } from '../governance/scene.js';
import { until } from '../races/sessions.js';
import { carrying } from './carrying.js';

const s = scene();
const c = carrying(s);

const before = { checkout: 'DISABLED', search: 'LAUNCHED', 'limits#max': 100 };
const template = {
  params: { max: { min: 50, max: 500 } },
  pre: { 'limits#max': { min: 1, max: 1000 } },
  activations: 10,
  expiresIn: '30d',
} as const;
const limits = {
  title: 'Limits',
  scope: ['limits'],
  steps: [configure('limits', 'max', param('max'))],
  template,
};
const slow = { ...limits, steps: [...limits.steps, soak('60s')] };

const by = (template_id: string, max: unknown = 200) =>
  ({
    action_type: 'lower_limits',
    actuator: { kind: 'contract', template_id },
    parameters: { max: max as number },
  }) as const;
const stop = { action_type: 'undo_lower_limits', actuator: { kind: 'contract' } } as const;
const undoing = (of: string) => ({ kind: 'rollback', of }) as const;
const jobIn = ({ acknowledged = '' }: { acknowledged?: string }) =>
  s.writ.changes.handle(acknowledged.replace('governance_job:', ''));
const instances = () => s.sql('select * from writ_data.contract where template_id is not null');

describe('an action that is a contract', () => {
  test('activates an instance of the template, is acknowledged, and is done as any other contract', async () => {
    await c.work({ governance: true });
    const { id } = await s.approved(limits);
    const report = await c.done(by(id));
    expect(report).toEqual({
      acknowledged: expect.stringMatching(/^governance_job:[0-9a-f-]{36}$/),
    });
    expect(await jobIn(report).finished({ timeoutMs: 20_000 })).toMatchObject({
      status: 'COMPLETED',
    });
    expect(await s.state()).toEqual({ ...before, 'limits#max': 200 });
  });

  test('that is repeated activates nothing more; another attempt is another instance', async () => {
    await c.work();
    const { id } = await s.approved({
      ...limits,
      template: { ...template, pre: { 'limits#max': { min: 1, max: 500 } } },
    });
    const action_id = randomUUID();
    const first = await c.done(by(id), { action_id });
    expect(await c.done(by(id), { action_id })).toEqual(first);
    expect(await instances()).toHaveLength(1);
    expect((await c.done(by(id), { action_id, attempt: 2 })).result).toMatchObject({
      ok: false,
      failure_reason: 'rejected',
      error_message: expect.stringMatching(/^target_held: /),
    });
  });

  test.each([
    ['beyond the bounds of the template', { max: 501 }, 'rejected', /^out_of_bounds: /],
    [
      'with a principal that may not',
      { as: 'agent' },
      'permission_denied',
      /^agents_only_propose: /,
    ],
    [
      'of a tenant whose template it is not',
      { tenant: 'other' },
      'rejected',
      /^contract_not_found: /,
    ],
    [
      'of a template that is not there',
      { template: '0198c0de-0000-7000-8000-000000000001' },
      'rejected',
      /^contract_not_found: /,
    ],
  ] as const)(
    '%s has failed, and nothing was activated',
    async (_, given: {
      max?: number;
      as?: 'agent';
      tenant?: string;
      template?: string;
    }, failure_reason, words) => {
      await c.work({ host: { as: s.keys[given.as ?? 'service'] } });
      const { id } = await s.approved(limits);
      const { result } = await c.done(by(given.template ?? id, given.max), {
        tenant: given.tenant ?? 'default',
      });
      expect(result).toMatchObject({
        ok: false,
        failure_reason,
        error_message: expect.stringMatching(words),
      });
      expect(await instances()).toEqual([]);
    },
  );

  test('whoever may not leaves a receipt of that: what a gate writes about a refusal stands with the report', async () => {
    await c.work({ host: { as: s.keys.agent } });
    const { id } = await s.approved(limits);
    await c.done(by(id));
    const denials = () =>
      s.sql(`select 1 from writ_data.receipt where entry::jsonb ->> 'reason' = 'access_denied'`);
    expect(await denials()).toHaveLength(1);
  });

  test('of a worker that was fenced activates nothing', async () => {
    const { id } = await s.approved(limits);
    const worker = await c.work();
    let jobId = '';
    const fenced = new Promise<void>((resolve) => {
      onFaultPoint(async (point, job) => {
        if (point !== 'started' || job === undefined) return;
        jobId = job;
        await s.db.clock.advance('2m');
        await s.sql('select writ.fn_job_lease_reaper()');
        await s.sql("select writ_data.cancel_job($1, 'given up', 'test')", [job]);
        await s.db.clock.reset();
        resolve();
      });
    });
    try {
      await c.send(by(id));
      await fenced;
      await worker.stop();
    } finally {
      onFaultPoint(undefined);
    }
    expect(await s.sql('select status from writ.job_queue where job_id = $1', [jobId])).toEqual([
      { status: 'cancelled' },
    ]);
    expect(await c.reports()).toEqual([]);
    expect(await instances()).toEqual([]);
  });

  test('whose commit fails has activated nothing, and says so', async () => {
    const { id } = await s.approved(limits);
    await c.work();
    let broken = false;
    onFaultPoint((point) => {
      if (point !== 'before_commit' || broken) return;
      broken = true;
      throw new Error('the disk is full');
    });
    try {
      expect((await c.done(by(id))).result).toMatchObject({
        ok: false,
        failure_reason: 'handler_error',
        error_message: 'the disk is full',
      });
    } finally {
      onFaultPoint(undefined);
    }
    expect(await instances()).toEqual([]);
  });

  test('that was due before a worker came is not begun', async () => {
    const { id } = await s.approved(limits);
    const jobId = await c.send(by(id), { now: Date.now(), due_at: Date.now() + 500 });
    await s.db.clock.advance('2s');
    await c.work();
    expect((await c.told(jobId)).result).toMatchObject({ ok: false, failure_reason: 'timeout' });
    expect(await instances()).toEqual([]);
  });
});

test('many that begin and are stopped at the same time do not get into one another’s way', async () => {
  await c.work({ governance: true });
  const keys = Array.from({ length: 8 }, (_, n) => `k${n}`);
  await s.writ.capabilities.put(
    keys.map((key) => ({ scope: `scope-${key}`, owner_capability: 'search', values: { max: 1 } })),
    { as: s.keys.ops },
  );
  const templates = await Promise.all(
    keys.map((key) =>
      s.approved({
        ...slow,
        title: key,
        scope: [`scope-${key}`],
        steps: [configure(`scope-${key}`, 'max', param('max')), soak('60s')],
        template: { ...slow.template, pre: { [`scope-${key}#max`]: { in: [1] } } },
      }),
    ),
  );
  const actions = templates.map(({ id }) => ({ id, action_id: randomUUID() }));
  const begun = await Promise.all(
    actions.map(({ id, action_id }) => c.done(by(id), { action_id })),
  );
  const stopped = await Promise.all(
    actions.map(({ action_id }) => c.done(stop, undoing(action_id))),
  );
  expect(stopped).toEqual(begun);
  for (const one of begun)
    expect(await jobIn(one).finished({ timeoutMs: 20_000 })).toMatchObject({
      status: 'ROLLED_BACK',
    });
  expect(Object.entries(await s.state()).filter(([name]) => name.startsWith('scope-'))).toEqual(
    keys.map((key) => [`scope-${key}#max`, 1]),
  );
});

describe('undoing it by stopping it', () => {
  test('what is under way is rolled back, and found without anybody having said where it is', async () => {
    await c.work({ governance: true });
    const { id } = await s.approved(slow);
    const action_id = randomUUID();
    const begun = await c.done(by(id), { action_id });
    const job = jobIn(begun);
    await until(async () => (await job.get()).completed_steps === 1);
    expect(await s.state()).toEqual({ ...before, 'limits#max': 200 });
    expect(await c.done(stop, undoing(action_id))).toEqual({ acknowledged: begun.acknowledged });
    expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'ROLLED_BACK' });
    expect(await s.state()).toEqual(before);
    expect((await c.done(stop, undoing(action_id))).result).toMatchObject({ ok: true });
  });

  test('what nobody has begun yet never begins', async () => {
    const { id } = await s.approved(limits);
    const worker = await c.work();
    const action_id = randomUUID();
    const begun = await c.done(by(id), { action_id });
    expect(await jobIn(begun).get()).toMatchObject({ status: 'PENDING' });
    expect(await c.done(stop, undoing(action_id))).toEqual({ acknowledged: begun.acknowledged });
    await worker.stop();
    await c.work({ governance: true });
    expect(await jobIn(begun).finished({ timeoutMs: 20_000 })).toMatchObject({
      status: 'ROLLED_BACK',
    });
    expect(await s.state()).toEqual(before);
  });

  test('what is completed is not undone so, and that is said', async () => {
    await c.work({ governance: true });
    const { id } = await s.approved(limits);
    const action_id = randomUUID();
    await jobIn(await c.done(by(id), { action_id })).finished({ timeoutMs: 20_000 });
    const { result } = await c.done(stop, undoing(action_id));
    expect(result).toMatchObject({
      ok: false,
      failure_reason: 'rejected',
      error_message: expect.stringContaining('no inverse template'),
    });
    expect(await s.state()).toEqual({ ...before, 'limits#max': 200 });
  });

  test('where nothing was activated there is nothing to undo', async () => {
    await c.work();
    expect((await c.done(stop, undoing(randomUUID()))).result).toMatchObject({ ok: true });
  });

  test('the same stop again is one stop; one of another tenant is none', async () => {
    const { id } = await s.approved(slow);
    await c.work();
    const action_id = randomUUID();
    const begun = await c.done(by(id), { action_id });
    expect((await c.done(stop, { ...undoing(action_id), tenant: 'other' })).result).toMatchObject({
      ok: true,
    });
    expect(await s.sql('select 1 from writ_data.run_signal')).toEqual([]);
    const rollback = { ...undoing(action_id), action_id: randomUUID() };
    expect(await c.done(stop, rollback)).toEqual({ acknowledged: begun.acknowledged });
    await c.done(stop, { ...rollback, attempt: 2 });
    expect(await s.sql('select 1 from writ_data.run_signal')).toHaveLength(1);
  });

  test('a principal that may not stops nothing', async () => {
    const { id } = await s.approved(slow);
    const worker = await c.work();
    const action_id = randomUUID();
    await c.done(by(id), { action_id });
    await worker.stop();
    await c.work({ host: { as: s.keys.agent } });
    expect((await c.done(stop, undoing(action_id))).result).toMatchObject({
      ok: false,
      failure_reason: 'permission_denied',
    });
    expect(await s.sql('select 1 from writ_data.run_signal')).toEqual([]);
  });
});

test('undoing it by another template is a contract of its own', async () => {
  await c.work({ governance: true });
  const { id } = await s.approved(limits);
  const action_id = randomUUID();
  await jobIn(await c.done(by(id), { action_id })).finished({ timeoutMs: 20_000 });
  const undone = await c.done(by(id, 100), { ...undoing(action_id), action_id: randomUUID() });
  expect(await jobIn(undone).finished({ timeoutMs: 20_000 })).toMatchObject({
    status: 'COMPLETED',
  });
  expect(await s.state()).toEqual(before);
});

describe('when its governance job comes to rest', () => {
  const said = (
    doing: object,
    kind: 'action' | 'rollback',
    status: (typeof governanceJobStates)[number],
  ) =>
    resultOfRest(
      { action_id: 'a', attempt: 2, kind, doing: doing as never },
      { jobId: 'j', status, reason: 'why' },
    );

  test.each(governanceJobStates)(
    '%s says whether it was done, or undone, once it rests',
    (status) => {
      const done = said(by('t'), 'action', status);
      const undone = said(stop, 'rollback', status);
      const byTemplate = said(by('t'), 'rollback', status);
      const rests = ['COMPLETED', 'CANCELLED', 'ROLLED_BACK', 'ROLLBACK_FAILED'].includes(status);
      expect([done, undone, byTemplate].map((one) => one !== undefined)).toEqual([
        rests,
        rests,
        rests,
      ]);
      if (!rests) return;
      expect(done).toMatchObject({ action_id: 'a', attempt: 2, ok: status === 'COMPLETED' });
      expect(byTemplate?.ok).toBe(status === 'COMPLETED');
      expect(undone?.ok).toBe(status === 'ROLLED_BACK' || status === 'CANCELLED');
    },
  );

  test('its reference names it', () => expect(referenceTo('j')).toBe('governance_job:j'));
});
