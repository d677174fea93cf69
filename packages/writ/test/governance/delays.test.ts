/** What waits too long is alerted, once per tenant, until it is over. */
import { expect, test } from 'vitest';
import { configure, defineStep, enable, soak } from '../../src/index.js';
import { until } from '../races/sessions.js';
import { scene } from './scene.js';

const s = scene();
const tick = () => s.sql(`select writ.fn_governance_tick('test')`);
const standing = () =>
  s.sql(
    `select code, severity, subject, detail from writ.alert where cleared_at is null order by code`,
  );

test('more contracts that wait for a decision than governance.alert.pending are alerted, until enough are decided', async () => {
  await s.setting('governance.alert.pending', 1);
  const one = await s.propose();
  await tick();
  expect(await standing()).toEqual([]);
  await s.propose({ title: 'Another', scope: ['search'], steps: [enable('search', 'PREVIEW')] });
  await tick();
  await tick();
  expect(await standing()).toEqual([
    {
      code: 'CONTRACTS_PENDING',
      severity: 'P3',
      subject: 'tenant/default',
      detail: { contracts: 2 },
    },
  ]);
  await one.reject({ as: s.keys.ada, reason: 'not what we want' });
  await tick();
  expect(await standing()).toEqual([]);
});

test('a hundred contracts may wait, a job may take a minute and an audit half of one', async () => {
  const settings = await s.sql(
    `select key, value from writ.dot_config where key like 'governance.alert.%' order by key`,
  );
  expect(settings).toEqual([
    { key: 'governance.alert.audit_sec', value: 30 },
    { key: 'governance.alert.job_sec', value: 60 },
    { key: 'governance.alert.pending', value: 100 },
  ]);
});

test('a job that no worker has taken for a minute is alerted, also if it soaks', async () => {
  const contract = await s.approved({ steps: [enable('checkout'), soak('10m')] });
  const job = await contract.activate({ as: s.keys.service });
  await s.db.clock.advance('50s');
  await tick();
  expect(await standing()).toEqual([]);
  await s.db.clock.advance('11s');
  await tick();
  expect(await standing()).toEqual([
    {
      code: 'GOVERNANCE_JOB_SLOW',
      severity: 'P2',
      subject: 'tenant/default',
      detail: { jobs: 1, first: job.id },
    },
  ]);
  await job.cancel({ as: s.keys.ada, reason: 'it takes too long' });
  await tick();
  expect(await standing()).toEqual([]);
});

test('the time of a soak that has begun does not count against its job', async () => {
  const worker = await s.work();
  const contract = await s.approved({ steps: [enable('checkout'), soak('10m')] });
  await contract.activate({ as: s.keys.service });
  await until(
    async () =>
      (await s.sql(`select from writ_data.governance_step where step_type = 'soak'`)).length === 1,
  );
  await worker.stop();
  await s.db.clock.advance('10m');
  await tick();
  expect(await s.alerts()).not.toContain('GOVERNANCE_JOB_SLOW');
  await s.db.clock.advance('2m');
  await tick();
  expect(await s.alerts()).toContain('GOVERNANCE_JOB_SLOW');
});

test('an audit that takes longer than half a minute is alerted, until it is done', async () => {
  let answers = false;
  const flag = defineStep<number>('flag', {
    target: () => 'flag:a',
    read: async () => {
      const auditing = await s.sql(
        `select from writ_data.governance_job where status = 'AUDIT_PENDING'`,
      );
      if (auditing.length > 0 && !answers) throw new Error('it does not answer');
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
  await s.db.clock.advance('40s');
  await until(async () => (await s.alerts()).includes('AUDIT_SLOW'));
  answers = true;
  await s.db.clock.advance('1m');
  expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
  await until(async () => !(await s.alerts()).includes('AUDIT_SLOW'));
});

test('more than five rollbacks in an hour are alerted, and an hour later no longer', async () => {
  await s.work();
  for (let n = 1; n <= 6; n++) {
    const contract = await s.approved({
      title: `Try ${n}`,
      scope: ['limits'],
      steps: [configure('limits', `k${n}`, 1), soak('10m')],
    });
    const job = await contract.activate({ as: s.keys.service });
    await until(async () => (await job.get()).completed_steps === 1);
    await s.writ.contracts.stop([contract.id], { reason: 'enough of it', as: s.keys.ops });
    expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'ROLLED_BACK' });
    expect((await s.alerts()).includes('ROLLBACKS_MANY')).toBe(n > 5);
  }
  await s.db.clock.advance('61m');
  await until(async () => !(await s.alerts()).includes('ROLLBACKS_MANY'));
});
