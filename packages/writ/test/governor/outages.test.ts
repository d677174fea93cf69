/**
 * After an outage those hear of it whom it may have concerned: who was addressed meanwhile, and who
 * had something in flight.
 */
import { expect, test } from 'vitest';
import type { GovernorHandle } from '../../src/governor/governors.js';
import { until } from '../races/sessions.js';
import { governorScene, scaling } from './scene.js';

const s = governorScene();
const [from, to] = ['2026-11-16T10:00:00.000Z', '2026-11-16T10:00:40.000Z'];

/**
 * Of three governors: one is addressed, one has an action in flight that nobody answers, one has
 * neither.
 */
async function three(): Promise<Record<'addressed' | 'acting' | 'idle', GovernorHandle>> {
  await s.setting('governor.action_ms', 60_000);
  await s.work();
  const [addressed, acting, idle] = [
    await s.stable(undefined, { tenant: 'addressed' }),
    await s.stable(scaling(), { tenant: 'acting' }),
    await s.stable(undefined, { tenant: 'idle' }),
  ];
  s.answers.push(
    ({ signal }) =>
      new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('given up'))),
      ),
  );
  await acting.act('scale_up_cloud_run', {}, { as: s.key });
  await until(() => s.calls.length === 1);
  return { addressed, acting, idle };
}

const away = async (host: string, entries: readonly object[]) =>
  (
    await s.sql<{ answer: object }>(
      'select writ.fn_governor_outage($1, $2::jsonb, $3, $4) as answer',
      [...[host, JSON.stringify(entries), from, to]],
    )
  )[0]?.answer;
/** The tenants whose governors were told, in order. */
const told = async () =>
  (
    await s.sql<{ tenant_id: string }>(
      "select tenant_id from writ_data.governor_mail m join writ_data.governor g using (governor_id) where content ->> 'kind' = 'outage' order by 1",
    )
  ).map(({ tenant_id }) => tenant_id);

test('who was addressed hears of it, and who has something in flight, and nobody else', async () => {
  const { addressed, acting, idle } = await three();
  const entry = { seq: 1, tenant: 'addressed', sku: 'default', signal_id: 'lost', at: from };
  expect(await away('edge-1', [entry])).toEqual({ merged: 1 });
  expect(await told()).toEqual(['acting', 'addressed']);
  for (const governor of [addressed, acting]) {
    await s.inState(governor, 'degraded');
    expect((await s.receipt(governor, 'health_check_failed')).context).toMatchObject({
      ...{ causes: ['outage'], outage_from: from, outage_to: to },
    });
  }
  // What was in flight is undone.
  expect((await s.receipt(acting, 'action_rollback_issued')).context).toMatchObject({
    rollback_reason: 'outage',
  });
  expect((await idle.get()).state).toBe('stable');
  // A further line of the same outage is told to whom it names.
  expect(await away('edge-1', [{ ...entry, seq: 2, tenant: 'idle', at: to }])).toEqual({
    merged: 1,
  });
  expect(await told()).toEqual(['acting', 'addressed', 'idle']);
});

test('a host that nobody has addressed meanwhile tells those with something in flight', async () => {
  const { addressed, acting, idle } = await three();
  expect(await away('edge-1', [])).toEqual({ merged: 0 });
  expect(await told()).toEqual(['acting']);
  await s.inState(acting, 'degraded');
  expect([(await addressed.get()).state, (await idle.get()).state]).toEqual(['stable', 'stable']);
});
