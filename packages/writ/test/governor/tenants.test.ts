/**
 * What the governors of one tenant share: how much it may send, and how much may be done for it.
 */
import { expect, test } from 'vitest';
import type { GovernorHandle } from '../../src/governor/governors.js';
import { session, until } from '../races/sessions.js';
import { governorScene, scaling } from './scene.js';

const s = governorScene();
/** What acme has used of this month. */
const used = async () =>
  Number(
    (
      await s.sql<{ used: string }>(
        "select used from writ_data.governor_quota where tenant_id = 'acme'",
      )
    )[0]?.used,
  );
const using = (n: number) =>
  s.sql(
    "insert into writ_data.governor_quota (tenant_id, month, used) values ('acme', to_char(writ.now() at time zone 'UTC', 'YYYY-MM'), $1)",
    [n],
  );

/** A governor of acme that may act. */
async function ready(sku = 'default'): Promise<GovernorHandle> {
  const governor = await s.writ.governor({ tenant: 'acme', sku });
  await s.inState(governor, 'stable');
  await governor.publish(scaling(), { as: s.key });
  await s.receipt(governor, 'policy_updated');
  return governor;
}

let sent = 0;
/**
 * Takes signals in, in one call, and answers how many of the window each was where that was too
 * many.
 */
async function take(
  ...to: readonly (readonly [tenant: string, sku: string])[]
): Promise<(number | undefined)[]> {
  const about = {
    kind: 'signal',
    type: 'load',
    source: 'monitoring',
    severity: 'LOW',
    observed_at: 0,
    value: 1,
  };
  const items = to.map(([t, sku]) => {
    const id = `signal-${++sent}`;
    return { t, s: sku, id, c: { ...about, signal_id: id } };
  });
  const [row] = await s.sql<{ answer: { storm?: number }[] }>(
    "select writ.fn_signals_take($1::json, 'test') as answer",
    [JSON.stringify(items)],
  );
  return (row?.answer ?? []).map(({ storm }) => storm);
}

test('a storm is of a tenant: signals to all of its governors count together, and those of another tenant by themselves', async () => {
  await s.setting('governor.storm_limit', 4);
  for (const sku of ['a', 'b'])
    for (const tenant of ['acme', 'globex']) await s.writ.governor({ tenant, sku });
  const [a, b] = [['acme', 'a'] as const, ['acme', 'b'] as const];
  expect(await take(a)).toEqual([undefined]);
  expect(await take(b, a)).toEqual([undefined, undefined]);
  // The fifth is one too many, although neither governor has had more than three, whether it comes
  // by itself or along with others.
  expect(await take(b, a, ['globex', 'a'], b)).toEqual([undefined, 5, undefined, 6]);
  expect(await take(b)).toEqual([7]);
  expect(await take(['globex', 'b'], ['globex', 'a'])).toEqual([undefined, undefined]);
  // The number is part of the event, and whoever asks how much has come hears the same.
  const mails =
    'select content -> $1 as storm from writ_data.governor_mail m join writ_data.governor g using (governor_id)';
  const put = await s.sql(`${mails} where tenant_id = 'acme' and content ? $1 order by 1`, [
    'storm',
  ]);
  expect(put).toEqual([{ storm: 5 }, { storm: 6 }, { storm: 7 }]);
  const [row] = await s.sql(
    "select writ.fn_governor_check('{acme,globex}', true) -> 'tenants' as tenants",
  );
  expect(row?.tenants).toMatchObject({ acme: { recent: 7 }, globex: { recent: 3 } });
});

test('of two governors that want the last action of a month at once, on two hosts, one attempts it and the other is refused', async () => {
  // However slow the machine is, nobody gives up waiting for the row.
  await s.setting('governor.transition_ms', 60_000);
  await s.setting('governor.action_ms', 60_000);
  const worker = await s.work();
  await s.writ.governors.entitlements.put({ tier: 'free' }, { tenant: 'acme', as: s.key });
  const governors = [await ready('a'), await ready('b')];
  await worker.stop();
  await using(49);

  // Both have decided that one is left, and wait for the row that says so.
  const holder = await session(s.db);
  await holder.query('begin');
  await holder.query("select from writ_data.governor_quota where tenant_id = 'acme' for update");
  const waiting = async () =>
    (
      await s.sql(
        "select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0 and query like '%fn_governors_apply%'",
      )
    ).length;
  const hosts = [s.writ, await s.db.connect()];
  const stopping: Promise<void>[] = [];
  try {
    for (const [n, host] of hosts.entries()) {
      const driving = await host.drive();
      await governors[n]?.act('scale_up_cloud_run', {}, { as: s.key });
      await until(async () => (await waiting()) === n + 1);
      // It takes nothing more, and what it has taken it brings to an end.
      stopping.push(driving.stop());
    }
  } finally {
    await holder.end();
  }
  await Promise.all(stopping);
  await hosts[1]?.drive();
  const attempts = async () =>
    (await s.sql("select from writ_data.job where job_kind like 'governor.handler.%'")).length;
  const states = async () =>
    (await Promise.all(governors.map((one) => one.get()))).map(({ state }) => state).sort();
  await until(async () => (await states()).join() === 'intervening,refusing');
  expect([await attempts(), await used()]).toEqual([1, 50]);
  const receipts = (await Promise.all(governors.map((one) => one.receipts({ limit: 100 })))).flat();
  const about = receipts.filter(
    ({ reason }) => reason === 'action_attempted' || reason === 'policy_violation',
  );
  expect(about.map(({ reason }) => reason).sort()).toEqual([
    'action_attempted',
    'policy_violation',
  ]);
  expect(about.find(({ reason }) => reason === 'policy_violation')).toMatchObject({
    status: 'refuse',
    context: { reason: 'quota_exceeded' },
  });
});

test.each([
  ['free', 50],
  ['starter', 500],
  ['professional', 5_000],
] as const)('tier %s: %i actions in a month, and not one more', async (tier, limit) => {
  await s.work();
  expect(
    await s.writ.governors.entitlements.put({ tier }, { tenant: 'acme', as: s.key }),
  ).toMatchObject({
    tier,
    quota_limit: limit,
  });
  const governor = await ready();
  await using(limit - 1);
  await governor.act('scale_up_cloud_run', {}, { as: s.key });
  await s.receipt(governor, 'action_succeeded');
  await governor.act('scale_up_cloud_run', {}, { as: s.key });
  expect((await s.receipt(governor, 'policy_violation')).context).toMatchObject({
    reason: 'quota_exceeded',
  });
  expect([s.calls.length, await used()]).toEqual([1, limit]);
});

test('tier enterprise: without limit', async () => {
  await s.work();
  expect(
    await s.writ.governors.entitlements.put({ tier: 'enterprise' }, { tenant: 'acme', as: s.key }),
  ).toMatchObject({ quota_limit: null });
  const governor = await ready();
  await using(1_000_000);
  await governor.act('scale_up_cloud_run', {}, { as: s.key });
  await s.receipt(governor, 'action_succeeded');
  expect(await used()).toBe(1_000_001);
});
