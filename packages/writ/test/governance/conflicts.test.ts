/**
 * A rollback that meets a change of another hand: it restores everything else, and a person can put
 * that right.
 */
import { expect, test } from 'vitest';
import { configure, enable } from '../../src/index.js';
import { codeOf } from '../runs/engine/scene.js';
import { outside } from './outside.js';
import { scene } from './scene.js';

const s = scene();
const before = { checkout: 'DISABLED', search: 'LAUNCHED', 'limits#max': 100 };

/**
 * Four changes done together and one outside that fails; `meddle` happens when the rollback is
 * made.
 */
async function conflicted(meddle: string) {
  const { flag, trouble } = outside({});
  await s.use(flag);
  await s.work([flag]);
  trouble.apply = () => {
    throw new Error('no');
  };
  await s.sql(`create function writ_data.meddle() returns trigger language plpgsql as $$ begin
    if new.kind = 'rollback' then ${meddle}; end if; return new; end $$;
    create trigger meddle after insert on writ_data.governance_job for each row execute function writ_data.meddle()`);
  const contract = await s.approved({
    scope: ['checkout', 'limits', 'flag:a'],
    steps: [
      enable('checkout'),
      configure('limits', 'max', 2),
      configure('limits', 'burst', 5),
      configure('limits', 'max', 3),
      flag({ key: 'a', percent: 1 }),
    ],
  });
  const job = await contract.activate({ as: s.keys.service });
  const end = await job.finished({ timeoutMs: 20_000 });
  await s.sql('drop trigger meddle on writ_data.governance_job');
  return { job, end };
}
const put = (value: number) =>
  `update writ_data.configuration set value = '${value}', version = nextval('writ_data.target_version') + 1 where key = 'max'`;
const incidents = () => s.sql(`select severity, subject, resolved_at from writ_data.incident`);

test('an undo goes on past a conflict: everything else is restored, and the value of the other hand stays', async () => {
  const { job, end } = await conflicted(put(7));
  expect([end.status, end.status_reason]).toEqual([
    'ROLLBACK_FAILED',
    expect.stringContaining('limits#max was changed by another hand'),
  ]);
  expect(await s.state()).toEqual({ ...before, 'limits#max': 7 });
  const steps = await s.writ.changes.handle(String(end.rollback_job_id)).steps();
  expect(steps.map(({ undo_of, status, error }) => [undo_of, status, error])).toEqual([
    [5, 'COMPLETED', null],
    [4, 'FAILED', 'limits#max was changed by another hand.'],
    [3, 'COMPLETED', null],
    [2, 'FAILED', 'limits#max was not restored by the step before.'],
    [1, 'COMPLETED', null],
  ]);
  const receipts = await s.sql<{ reason: string; n: number }>(
    `select entry::jsonb ->> 'reason' as reason, count(*)::integer as n from writ_data.receipt
     where stream = 'governance_job:${end.rollback_job_id}' and entry::jsonb ->> 'reason' ~ 'rever|conflict' group by 1 order by 1`,
  );
  expect(receipts).toEqual([
    { reason: 'change_reverted', n: 3 },
    { reason: 'rollback_conflict', n: 2 },
  ]);
  expect(await job.get()).toMatchObject({ status: 'ROLLBACK_FAILED' });
});

test.each([
  ['what the step had written', 3],
  ['what stood there before', 100],
])('a rollback is tried again with success when the value was put right: %s', async (_, value) => {
  const { job, end } = await conflicted(put(7));
  expect(end).toMatchObject({ status: 'ROLLBACK_FAILED' });
  await s.sql(put(value));
  const retried = await job.retryRollback({ as: s.keys.ops });
  expect(await retried.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
  expect(await s.state()).toEqual(before);
  expect(await s.sql('select from writ_data.target_hold')).toEqual([]);
});

test('every failed try belongs to the one incident of its job, and none follows once that is resolved', async () => {
  const { job } = await conflicted(put(7));
  for (let n = 0; n < 2; n++) {
    const retried = await job.retryRollback({ as: s.keys.ops });
    expect(await retried.finished({ timeoutMs: 20_000 })).toMatchObject({
      status: 'ROLLBACK_FAILED',
    });
    expect(await incidents()).toEqual([
      { severity: 'P1', subject: `governance_job/${job.id}`, resolved_at: null },
    ]);
  }
  expect(await s.state()).toEqual({ ...before, 'limits#max': 7 });
  const [{ id }] = (await s.sql('select incident_id as id from writ_data.incident')) as [
    { id: string },
  ];
  await s.writ.incidents.resolve(id, {
    resolution: 'seven is what it shall be',
    as: s.keys.ops,
  });
  expect(await s.sql('select from writ_data.target_hold')).toEqual([]);
  expect(await codeOf(job.retryRollback({ as: s.keys.ops }))).toBe('target_not_held');
  expect(await incidents()).toHaveLength(1);
});

test('a value of another hand outside the database stays, and the steps after it are undone', async () => {
  const { flag, trouble, values } = outside({ a: 5 });
  await s.use(flag);
  await s.work([flag]);
  trouble.apply = (key) => {
    if (key !== 'b') return;
    values.a = 77;
    throw new Error('no');
  };
  const { end, job } = await s.done({
    scope: ['limits', 'flag:a', 'flag:b'],
    steps: [
      configure('limits', 'max', 2),
      flag({ key: 'a', percent: 1 }),
      flag({ key: 'b', percent: 1 }),
    ],
  });
  expect(end).toMatchObject({ status: 'ROLLBACK_FAILED' });
  expect(values).toEqual({ a: 77 });
  expect(await s.state()).toEqual(before);
  values.a = 5;
  const retried = await job.retryRollback({ as: s.keys.ops });
  expect(await retried.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
});
