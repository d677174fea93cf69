/**
 * A frozen capability is not changed, at the activation or at a step, but by an undo. A freeze of
 * the tenant stops activations only.
 */
import { expect, test } from 'vitest';
import { configure, enable, soak } from '../../src/index.js';
import { until } from '../races/sessions.js';
import { scene } from './scene.js';

const s = scene();
const before = { checkout: 'DISABLED', search: 'LAUNCHED', 'limits#max': 100 };
const freeze = () =>
  s.writ.capabilities.put([{ capability_name: 'checkout', frozen: 'not now' }], { as: s.keys.ops });

test('a capability frozen after the approval refuses the activation, and the approval outlives it', async () => {
  await s.work();
  const ofItself = await s.approved({ scope: ['checkout'], steps: [enable('checkout')] });
  const ofItsScope = await s.approved({
    title: 'Limits',
    scope: ['limits'],
    steps: [configure('limits', 'max', 2)],
  });
  await freeze();
  for (const contract of [ofItself, ofItsScope]) {
    const refused = await contract.activate({ as: s.keys.service }).catch((error) => error);
    expect([refused.code, refused.message]).toEqual([
      'changes_frozen',
      expect.stringContaining('checkout: not now'),
    ]);
    expect(await contract.get()).toMatchObject({ status: 'APPROVED', job_id: null });
  }
  expect(await s.state()).toEqual(before);
  await s.writ.capabilities.put([{ capability_name: 'checkout', frozen: null }], {
    as: s.keys.ops,
  });
  const job = await ofItself.activate({ as: s.keys.service });
  expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
});

test('a person who breaks the glass changes a frozen capability', async () => {
  await s.work();
  const contract = await s.approved({ steps: [enable('checkout')] });
  await freeze();
  const job = await s.breakGlass(contract, 'the shop is down');
  expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
});

test('a capability frozen after the activation stops the job before its first step', async () => {
  const contract = await s.approved();
  const job = await contract.activate({ as: s.keys.service });
  await freeze();
  await s.work();
  const end = await job.finished({ timeoutMs: 20_000 });
  expect([end.status, end.status_reason]).toEqual([
    'ROLLED_BACK',
    expect.stringContaining('not now'),
  ]);
  expect(await s.state()).toEqual(before);
});

test('a frozen owner stops a job at its next step, and what was done is undone though it is frozen', async () => {
  await s.work();
  const contract = await s.approved({
    scope: ['limits'],
    steps: [configure('limits', 'max', 2), soak('10m'), configure('limits', 'max', 3)],
  });
  const job = await contract.activate({ as: s.keys.service });
  await until(
    async () =>
      (await s.sql(`select from writ_data.governance_step where step_type = 'soak'`)).length === 1,
  );
  expect(await s.state()).toMatchObject({ 'limits#max': 2 });
  await freeze();
  await s.sql(`update writ_data.governance_step set watched_ms = 600000 where step_type = 'soak'`);
  const end = await job.finished({ timeoutMs: 20_000 });
  expect([end.status, end.status_reason]).toEqual([
    'ROLLED_BACK',
    expect.stringContaining('not now'),
  ]);
  expect(await s.state()).toEqual(before);
});

test('a freeze of the tenant lets a job go on that runs', async () => {
  await s.work();
  const contract = await s.approved({
    scope: ['limits'],
    steps: [configure('limits', 'max', 2), soak('10m')],
  });
  const job = await contract.activate({ as: s.keys.service });
  await until(
    async () =>
      (await s.sql(`select from writ_data.governance_step where step_type = 'soak'`)).length === 1,
  );
  await s.writ.freezes.put({ reason: 'not now' }, { as: s.keys.ops });
  await s.sql(`update writ_data.governance_step set watched_ms = 600000 where step_type = 'soak'`);
  expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
});
