/**
 * Steps, activations and audits that are done together: all or nothing of one job, and each by
 * itself of many.
 */
import { expect, test } from 'vitest';
import type { GovernanceJob } from '../../src/governance/changes.js';
import { configure, defineStep, enable, principal, soak } from '../../src/index.js';
import { until } from '../races/sessions.js';
import { codeOf } from '../runs/engine/scene.js';
import { five, scene } from './scene.js';

const s = scene();
const before = { checkout: 'DISABLED', search: 'LAUNCHED', 'limits#max': 100 };

test('of steps that follow one another in the database, none is done if one may not be', async () => {
  const contract = await s.approved();
  const job = await contract.activate({ as: s.keys.service });
  // Another hand, after the activation, at the third step's place.
  await s.sql(
    `insert into writ_data.configuration (tenant_id, scope, key, value, version, updated_by, updated_at) values ('default', 'limits', 'burst', '1', 99, 'mallory', now())`,
  );
  await s.work();
  const end = await job.finished({ timeoutMs: 20_000 });
  expect(end).toMatchObject({ status: 'ROLLED_BACK' });
  expect(end.status_reason).toContain('Step 3: limits#burst is not what it was');
  expect(end.rollback_job_id).toBeNull(); // there was nothing to undo
  expect(await s.state()).toEqual({ ...before, 'limits#burst': 1 });
  expect(await s.sql('select from writ_data.governance_step')).toEqual([]);
  const steps = (await job.steps()).map(({ status, error }) => [status, error]);
  expect(steps).toEqual([
    ['SKIPPED', null],
    ['SKIPPED', null],
    ['FAILED', expect.stringContaining('limits#burst is not what it was')],
    ['SKIPPED', null],
    ['SKIPPED', null],
  ]);
});

test('of steps that are done together, the one whose capability is unhealthy has FAILED', async () => {
  const contract = await s.approved({
    scope: ['checkout', 'search'],
    steps: [enable('checkout'), enable('search', 'PREVIEW')],
  });
  const job = await contract.activate({ as: s.keys.service });
  await s.writ.signals.record(
    { type: 'ERRORS', scope: 'search', decision: 'BLOCKED', reason: 'it finds nothing' },
    { as: s.keys.service },
  );
  await s.work();
  expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'ROLLED_BACK' });
  expect((await job.steps()).map(({ status, error }) => [status, error])).toEqual([
    ['SKIPPED', null],
    ['FAILED', 'search is unhealthy: blocked: it finds nothing'],
  ]);
});

test('nobody sees half of them', async () => {
  const look = `select (select lifecycle from writ.capability where capability_name = 'checkout') as checkout,
    (select jsonb_object_agg(key, value) from writ.configuration) as limits`;
  const [first] = await s.sql(look);
  await s.work();
  const job = await (await s.approved()).activate({ as: s.keys.service });
  const seen: unknown[] = [];
  await until(async () => {
    seen.push(...(await s.sql(look)));
    return (await job.get()).status === 'COMPLETED';
  });
  const [last] = await s.sql(look);
  expect(last).toEqual({ checkout: 'LAUNCHED', limits: { max: 300, burst: 5 } });
  for (const state of seen) expect([first, last]).toContainEqual(state);
});

test('contracts that are activated at the same time: each gets its job, or its own refusal', async () => {
  const one = await s.approved({ title: 'One', scope: ['checkout'], steps: [enable('checkout')] });
  const rival = await s.approved({
    title: 'Rival',
    scope: ['checkout'],
    steps: [enable('checkout', 'PREVIEW')],
  });
  const stale = await s.approved({
    title: 'Stale',
    scope: ['limits'],
    steps: [configure('limits', 'max', 1)],
  });
  const draft = await s.writ.contracts.propose(
    { title: 'Draft', scope: ['limits'], steps: [configure('limits', 'burst', 1)] },
    { as: s.keys.agent, draft: true },
  );
  await s.sql(`update writ_data.configuration set value = '7' where key = 'max'`);
  const as = s.keys.service;
  const outcomes = await Promise.all([
    codeOf(one.activate({ as })),
    codeOf(one.activate({ as })),
    codeOf(rival.activate({ as })),
    codeOf(stale.activate({ as })),
    codeOf(draft.activate({ as })),
    codeOf(draft.activate({ as: s.keys.agent })),
    codeOf(s.writ.contracts.handle('00000000-0000-7000-8000-000000000000').activate({ as })),
  ]);
  expect(outcomes.slice(3)).toEqual([
    'stale_pre_value',
    'invalid_transition',
    'agents_only_propose',
    'contract_not_found',
  ]);
  // One of the three has the target; the second call for the same contract finds it activated, the
  // rival finds it held.
  expect(outcomes.slice(0, 3).filter((code) => code === undefined)).toHaveLength(1);
  expect(
    outcomes.slice(0, 3).filter((code) => code === 'already_activated' || code === 'target_held'),
  ).toHaveLength(2);
  expect(await s.sql('select from writ_data.governance_job')).toHaveLength(1);
});

test('an activation whose answer was lost is made again, and there is one job', async () => {
  const contract = await s.approved();
  const items = JSON.stringify([
    { contract: contract.id, job: '01890000-0000-7000-8000-000000000001' },
  ]);
  const { credential } = principal(s.keys.service);
  const call = () =>
    s.sql<{ answer: unknown[] }>('select writ.fn_contracts_activate($1, $2::jsonb) as answer', [
      credential,
      items,
    ]);
  const [[first], [second]] = [await call(), await call()];
  expect(second).toEqual(first);
  expect(first?.answer).toMatchObject([
    { contract_id: contract.id, job_id: '01890000-0000-7000-8000-000000000001' },
  ]);
  expect(await s.sql('select from writ_data.governance_job')).toHaveLength(1);
});

test('many jobs at once: each is audited by itself, and one that fails takes nobody along', async () => {
  const values: Record<string, number> = {};
  const flag = defineStep<string>('flag', {
    target: (key) => `flag:${key}`,
    read: async (key) => values[key] ?? null,
    apply: async (key) => {
      values[key] = 1;
    },
    revert: async () => undefined,
    retry: { attempts: 2, base: '5ms', cap: '10ms' },
  });
  await s.use(flag);
  const jobs: GovernanceJob[] = [];
  for (const key of ['a', 'b', 'c', 'd']) {
    const contract = await s.approved({
      title: `Flag ${key}`,
      scope: [`flag:${key}`],
      steps: [flag(key), soak(key === 'c' ? '6s' : '100ms')],
    });
    jobs.push(await contract.activate({ as: s.keys.service }));
  }
  const main = await s.approved({ steps: five });
  jobs.push(await main.activate({ as: s.keys.service }));
  await s.work([flag]);
  await until(async () => (await jobs[2]?.steps())?.[0]?.status === 'COMPLETED');
  values.c = 7; // another hand, in the soak: the audit finds it
  const ends = await Promise.all(jobs.map((job) => job.finished({ timeoutMs: 20_000 })));
  expect(ends.map(({ status }) => status)).toEqual([
    'COMPLETED',
    'COMPLETED',
    'ROLLBACK_FAILED',
    'COMPLETED',
    'COMPLETED',
  ]);
  expect(
    await s.sql(
      `select verdict, count(*)::int as n from writ.governance_audits group by 1 order by 1`,
    ),
  ).toEqual([
    { verdict: 'FAIL', n: 1 },
    { verdict: 'PASS', n: 4 },
  ]);
});

test('an activation without a value from outside is refused, and voids nothing', async () => {
  let broken = false;
  const flag = defineStep<string>('flag', {
    target: (key) => `flag:${key}`,
    read: async () => {
      if (broken) throw new Error('the service is away');
      return 1;
    },
    apply: async () => undefined,
    revert: async () => undefined,
  });
  await s.use(flag);
  const contract = await s.approved({ title: 'Flag', scope: ['flag:a'], steps: [flag('a')] });
  broken = true;
  await s.setting('governance.read.interval_ms', 0);
  await contract.read({ as: s.keys.ada });
  const stranger = await s.db.connect();
  expect(
    await codeOf(stranger.contracts.handle(contract.id).activate({ as: s.keys.service })),
  ).toBe('target_not_read');
  expect(
    await codeOf(s.breakGlass(stranger.contracts.handle(contract.id), 'the house is on fire')),
  ).toBe('target_not_read');
  expect(await s.sql('select status from writ.system_contracts')).toEqual([{ status: 'APPROVED' }]);
});

test('what a target does not take fails its own job, and no other that is done with it', async () => {
  const one = await s.approved({ title: 'One', scope: ['checkout'], steps: [enable('checkout')] });
  const other = await s.approved({
    title: 'Other',
    scope: ['limits'],
    steps: [configure('limits', 'max', 7)],
  });
  const jobs = [
    await one.activate({ as: s.keys.service }),
    await other.activate({ as: s.keys.service }),
  ];
  await s.sql(
    `alter table writ_data.capability add constraint checkout_is_closed check (capability_name <> 'checkout' or lifecycle = 'DISABLED')`,
  );
  const [claim] = (await s.sql(
    `select writ.fn_job_claim_many('{governance.change}', 'external_worker', 'both', 30, 2, 2, null, false, gen_random_uuid(), false, '') as answer`,
  )) as [{ answer: { lease_token: string; jobs: string[][] } }];
  const items = claim.answer.jobs.map(([job]) => ({ job, token: claim.answer.lease_token }));
  const [row] = await s.sql<{ answer: unknown[] }>(
    `select writ.fn_changes_apply($1::jsonb, 'both') as answer`,
    [JSON.stringify(items)],
  );
  expect(row?.answer).toEqual([
    { reason: 'invalid_contract', detail: expect.stringContaining('checkout_is_closed') },
    { done: [expect.objectContaining({ slot: 'limits#max', after: 7 })] },
  ]);
  expect(await s.state()).toEqual({ ...before, 'limits#max': 7 });
  expect(await jobs[0]?.get()).toMatchObject({ status: 'PENDING' });
  expect(await jobs[1]?.get()).toMatchObject({ status: 'AUDIT_PENDING' });
});
