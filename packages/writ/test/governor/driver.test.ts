/** The whole way, on a real database: a signal, the decision, the job, the effect, the receipts. */
import { afterEach, describe, expect, test } from 'vitest';
import { onFaultPoint } from '../../src/testing/index.js';
import { until } from '../races/sessions.js';
import { governorScene, scaling } from './scene.js';

const s = governorScene();
const over = (value = 90) => ({ type: 'cpu_utilization', value, source: 'monitoring' as const });

afterEach(() => onFaultPoint(undefined));

describe('actions', () => {
  test('a signal over its threshold is answered by an action, which brings the baseline back', async () => {
    await s.work();
    const governor = await s.stable(scaling());
    s.answers.push(() => ({ baseline: 'restored', previous_replicas: 5, new_replicas: 8 }));
    const answer = await s.decided(governor, over());
    expect(answer).toMatchObject({
      status: 'decided',
      arrival_seq: 1,
      receipt: { reason: 'signal_received', status: 'accept' },
    });
    const succeeded = await s.receipt(governor, 'action_succeeded');
    expect(succeeded.context).toMatchObject({
      previous_replicas: 5,
      new_replicas: 8,
      baseline: 'restored',
      baseline_restored: true,
    });
    await s.inState(governor, 'stable');
    expect(s.calls).toMatchObject([
      {
        type: 'scale_up_cloud_run',
        given: { target: 'catalog', parameters: { replicas_delta: 3 } },
      },
    ]);
    expect(await s.reasons(governor)).toEqual([
      ...['boot_start', 'entitlement_verified', 'state_transition', 'policy_updated'],
      ...[
        'signal_received',
        'threshold_exceeded',
        'state_transition',
        'action_attempted',
        'state_transition',
      ],
      ...['action_succeeded', 'baseline_restored', 'state_transition'],
    ]);
    const [{ used } = { used: 0 }] = await s.sql<{ used: string }>(
      'select used::text from writ_data.governor_quota',
    );
    expect(Number(used)).toBe(1);
  });

  test('three attempts that fail are undone, with one use of the quota', async () => {
    await s.work();
    const governor = await s.stable(scaling());
    const fail = () => {
      throw Object.assign(new Error('INTERNAL_ERROR'), { status: 500 });
    };
    s.answers.push(fail, fail, fail);
    await governor.signal(over());
    const issued = await s.receipt(governor, 'action_rollback_issued');
    expect(issued.context).toMatchObject({
      rollback_reason: 'action_failed',
      action_type: 'scale_down_cloud_run',
    });
    await until(async () => (await governor.get()).in_flight === null);
    expect(s.calls.map(({ type }) => type)).toEqual([
      ...['scale_up_cloud_run', 'scale_up_cloud_run', 'scale_up_cloud_run'],
      'scale_down_cloud_run',
    ]);
    expect(new Set(s.calls.slice(0, 3).map(({ given }) => given.idempotencyKey)).size).toBe(1);
    expect((await governor.get()).state).toBe('warning');
    expect((await s.reasons(governor)).filter((reason) => reason === 'action_failed')).toHaveLength(
      3,
    );
    expect(await s.sql('select used::text from writ_data.governor_quota')).toEqual([{ used: '1' }]);
  });

  test('what is not done in time is fenced and undone, and a person is told', async () => {
    await s.setting('governor.action_ms', 2_000); // enough to begin
    await s.work();
    const governor = await s.stable(scaling());
    let aborted = false;
    s.answers.push(
      ({ signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            aborted = true;
            setTimeout(() => reject(new Error('stopped')), 1_000);
          }),
        ),
    );
    await governor.signal(over());
    const timeout = await s.receipt(governor, 'action_timeout');
    expect(timeout.context).toMatchObject({ action_timeout_ms: 2_000 });
    expect((timeout.context as { elapsed_ms: number }).elapsed_ms).toBeGreaterThanOrEqual(2_000);
    await until(async () => (await governor.get()).in_flight === null);
    expect(aborted).toBe(true);
    expect(s.calls.at(-1)?.type).toBe('scale_down_cloud_run');
    const { state, causes } = await governor.get();
    // the rollback has succeeded: the next look brings it back
    expect([state, causes]).toEqual(['degraded', []]);
    expect(
      await s.sql("select code from writ.alert where code = 'GOVERNOR_ACTION_TIMEOUT'"),
    ).toHaveLength(1);
  });

  test.each(['finishes in its own time', 'has finished, and is fenced before it can say so'])(
    'what is done after it was given up is told, and undone once more: a service that %s',
    async (how) => {
      await s.setting('governor.action_ms', 1_500);
      await s.work();
      const governor = await s.stable(scaling());
      const isUndone = async () =>
        (await s.reasons(governor)).includes('action_timeout') &&
        (await governor.get()).in_flight === null;
      if (how.startsWith('finishes'))
        s.answers.push(() => until(isUndone).then(() => ({ new_replicas: 8 })));
      let first = true;
      onFaultPoint(async (point) => {
        if (how.startsWith('finishes') || point !== 'action_made' || !first) return;
        first = false;
        await until(isUndone);
      });
      await governor.signal(over());
      const issued = await s.receipt(governor, 'action_rollback_issued', 2);
      expect(issued.context).toMatchObject({ rollback_reason: 'late_result' });
      const late = (await governor.receipts({ limit: 100 })).filter(
        ({ reason, status }) => reason === 'late_result' && status === 'accept',
      );
      expect(late.map(({ context }) => context)).toMatchObject([
        { action_type: 'scale_up_cloud_run', attempt: 1, result: 'succeeded' },
      ]);
      await until(async () => (await governor.get()).in_flight === null);
      expect(s.calls.map(({ type }) => type)).toEqual([
        'scale_up_cloud_run',
        'scale_down_cloud_run',
        'scale_down_cloud_run',
      ]);
      expect(s.calls[2]?.given.rollbackOf).toBe(s.calls[0]?.given.actionId);
    },
  );

  test('what no worker carries out is refused until one does', async () => {
    await s.setting('governor.recheck_ms', 200);
    const deciding = await s.work({ actions: [] });
    const governor = await s.stable(scaling());
    await governor.signal(over());
    await s.inState(governor, 'refusing');
    expect((await s.receipt(governor, 'policy_violation')).context).toMatchObject({
      reason: 'target_service_not_found',
    });
    await s.work();
    expect((await s.receipt(governor, 'violations_cleared')).context).toMatchObject({
      cleared: ['target_service_not_found'],
      cleared_by: 'recheck',
    });
    await deciding.stop();
  });

  test('a service that says 403 ends in refusing, until a policy changes that', async () => {
    await s.work();
    const governor = await s.stable(scaling());
    s.answers.push(() => {
      throw Object.assign(new Error('no'), { status: 403 });
    });
    await governor.signal(over());
    await s.inState(governor, 'refusing');
    expect(await s.reasons(governor)).toContain('permission_denied');
    expect(await s.decided(governor, over(91))).toMatchObject({
      receipt: { reason: 'policy_violation', status: 'refuse' },
    });
    await governor.publish(scaling({ budget: 100 }), { as: s.key });
    await s.receipt(governor, 'violations_cleared');
    const reasons = await s.reasons(governor);
    const cleared = reasons.indexOf('violations_cleared');
    expect(reasons.slice(cleared - 1, cleared + 2)).toEqual([
      'policy_updated',
      'violations_cleared',
      'state_transition',
    ]);
  });

  test('a principal without the permission acts on nothing', async () => {
    await s.sql(
      "update writ_data.principal set permissions = '{}' where principal_id = 'governor'",
    );
    await s.work();
    const governor = await s.stable(scaling());
    await governor.signal(over());
    await s.inState(governor, 'refusing');
    expect((await s.receipt(governor, 'permission_denied')).context).toMatchObject({
      ...{
        required_permission: 'run.services.update',
        principal: 'governor',
        permission_for: 'action',
        has_permission: false,
      },
    });
    expect(s.calls).toEqual([]);
    expect(await s.sql('select from writ_data.governor_quota')).toEqual([]);
  });

  test('signals wait while something is in flight, and come after it in their order', async () => {
    await s.work();
    const governor = await s.stable(scaling());
    let go: (value: unknown) => void = () => undefined;
    s.answers.push(() => new Promise((done) => (go = done)));
    await governor.signal(over());
    await until(() => s.calls.length === 1);
    const waiting = await Promise.all(
      [10, 11, 12].map((value) => governor.signal({ ...over(value), id: `s-${value}` })),
    );
    expect(waiting.map(({ status }) => status)).toEqual(['accepted', 'accepted', 'accepted']);
    await until(async () => (await governor.get()).postponed === 3);
    go({ baseline: 'restored' });
    await until(
      async () =>
        (await s.reasons(governor)).filter((reason) => reason === 'signal_received').length === 4,
    );
    const settled = (await governor.receipts({ limit: 1_000 })).filter(
      ({ reason }) => reason === 'signal_received',
    );
    expect(settled.map(({ context }) => (context as { arrival_seq: number }).arrival_seq)).toEqual([
      1, 2, 3, 4,
    ]);
  });

  test('a shadow says what it would do, and does nothing', async () => {
    await s.work();
    const governor = await s.stable(scaling(), { shadow: true });
    await governor.signal(over());
    const attempted = await s.receipt(governor, 'action_attempted');
    expect(attempted.context).toMatchObject({ shadow: true, action_type: 'scale_up_cloud_run' });
    expect((await governor.get()).state).toBe('warning');
    expect(s.calls).toEqual([]);
  });

  test('the quota of a month ends, and a purchase goes on', async () => {
    await s.work();
    const governor = await s.stable(scaling());
    await s.writ.governors.entitlements.put({ quota: 0 }, { tenant: 'acme', as: s.key });
    await governor.signal(over());
    await s.inState(governor, 'refusing');
    expect((await s.receipt(governor, 'policy_violation')).context).toMatchObject({
      reason: 'quota_exceeded',
    });
    await s.writ.governors.entitlements.put({ quota: 10 }, { tenant: 'acme', as: s.key });
    expect((await s.receipt(governor, 'violations_cleared')).context).toMatchObject({
      cleared: ['quota_exceeded'],
      cleared_by: 'entitlement',
    });
  });

  test('an entitlement that ended refuses every signal, and one that is back is heard of', async () => {
    await s.work();
    const governor = await s.stable(scaling());
    await s.writ.governors.entitlements.put({ status: 'CANCELLED' }, { tenant: 'acme', as: s.key });
    await until(
      async () => ((await governor.get()).entitlement as { status: string }).status === 'CANCELLED',
    );
    expect(await s.decided(governor, over(10))).toMatchObject({
      receipt: { reason: 'invariant_violation' },
    });
    await s.inState(governor, 'refusing');
    await s.writ.governors.entitlements.put({ status: 'ACTIVE' }, { tenant: 'acme', as: s.key });
    await s.inState(governor, 'stable');
  });
});

describe('signals', () => {
  test('one that is sent twice gets the answer of the first, and one receipt', async () => {
    await s.work();
    const governor = await s.stable();
    const first = await s.decided(governor, { ...over(), id: 'the-same' });
    const second = await governor.signal({ ...over(12), id: 'the-same' });
    expect(second).toMatchObject({ status: 'decided', arrival_seq: 1, duplicate: true });
    expect('receipt' in second && second.receipt).toEqual(first.receipt);
    const both = await Promise.all([
      governor.signal({ ...over(), id: 'at-once' }),
      governor.signal({ ...over(), id: 'at-once' }),
    ]);
    expect(both.map(({ arrival_seq }) => arrival_seq)).toEqual([2, 2]);
    await s.decided(governor, { ...over(), id: 'at-once' });
    expect(
      (await s.reasons(governor)).filter((reason) => reason === 'signal_received'),
    ).toHaveLength(2);
  });

  test('that are decided quickly are answered with the decision, without being asked again', async () => {
    await s.work();
    const governor = await s.stable();
    // A machine may be slow now and then, and not all the time.
    await until(async () => {
      const answer = await governor.signal(over(10));
      return answer.status === 'decided' && !answer.duplicate;
    });
  });

  test('to a governor that is not there are refused', async () => {
    const sending = s.writ.governors.take(
      { tenant: 'nobody', sku: 'x' },
      { signal_id: '1', source: 'custom', type: 'cpu', severity: 'LOW', observed_at: Date.now() },
    );
    await expect(sending).rejects.toMatchObject({ code: 'governor_not_found' });
  });

  test('a storm is buffered, told once, and released as fast as its tenant may send', async () => {
    await s.setting('governor.storm_limit', 10);
    await s.setting('governor.storm_every_ms', 200);
    await s.work();
    const governor = await s.stable();
    const answers = [];
    for (let n = 1; n <= 25; n++)
      answers.push(await governor.signal({ ...over(10), id: `storm-${n}` }));
    // later, on a slow machine
    const early = answers.map(({ status }) => (status === 'accepted' ? 'decided' : status));
    expect(early).toEqual([...Array(10).fill('decided'), ...Array(15).fill('buffered')]);
    await until(async () => Number((await governor.get()).buffered) === 15);
    const told = await s.receipt(governor, 'signal_storm_detected');
    expect(told.context).toMatchObject({ rate: 11, limit: 10, buffered: 1, arrival_seq: 11 });
    for (const released of [20, 25]) {
      await s.db.clock.advance('61s');
      await until(
        async () =>
          (await s.reasons(governor)).filter((reason) => reason === 'signal_received').length >=
          released,
      );
      expect(
        (await s.reasons(governor)).filter((reason) => reason === 'signal_received'),
      ).toHaveLength(released);
    }
    const reasons = await s.reasons(governor);
    expect(reasons.filter((reason) => reason === 'signal_storm_detected')).toHaveLength(1);
    expect((await governor.get()).buffered).toBe(0);
  });

  test('that wait in the buffer are said to, also to who sends them again, and by hosts that do not drive', async () => {
    await s.setting('governor.storm_limit', 2);
    await s.setting('governor.storm_retry_ms', 45_000);
    await s.setting('governor.storm_every_ms', 60_000);
    await s.work();
    const governor = await s.stable();
    for (let n = 1; n <= 3; n++) await governor.signal({ ...over(10), id: `storm-${n}` });
    expect(await governor.signal({ ...over(10), id: 'storm-3' })).toEqual({
      status: 'buffered',
      arrival_seq: 3,
      duplicate: true,
    });
    const elsewhere = await (await s.db.connect()).governor({ tenant: 'acme' });
    await until(
      async () => (await elsewhere.signal({ ...over(10), id: 'storm-4' })).status === 'buffered',
    );
    expect(await elsewhere.signal({ ...over(10), id: 'storm-1' })).toMatchObject({
      status: 'decided',
      duplicate: true,
    });
    // What the listener tells a sender to wait is what the setting says.
    const again = {
      signal_id: 'storm-3',
      source: 'custom',
      type: 'cpu_utilization',
      severity: 'LOW',
      observed_at: Date.now(),
    } as const;
    expect(
      await s.writ.governors.intake().take({ tenant: 'acme', sku: 'default' }, again),
    ).toMatchObject({
      status: 'buffered',
      retry_after: 45,
    });
  });

  test('what is too much even for the buffer is dropped, the oldest first, with a receipt that names it', async () => {
    await s.setting('governor.storm_limit', 5);
    await s.setting('governor.capacity', 4);
    await s.setting('governor.storm_every_ms', 60_000);
    await s.work();
    const governor = await s.stable();
    for (let n = 1; n <= 12; n++) await governor.signal({ ...over(10), id: `drop-${n}` });
    await until(
      async () =>
        (await s.reasons(governor)).filter((reason) => reason === 'signal_dropped').length === 3,
    );
    const dropped = (await governor.receipts({ limit: 100 })).filter(
      ({ reason }) => reason === 'signal_dropped',
    );
    expect(
      dropped.map(({ context }) => (context as { arrival_ranges: unknown }).arrival_ranges),
    ).toEqual([[[6, 6]], [[7, 7]], [[8, 8]]]);
    // Its sender, asking again, hears of it.
    expect(await governor.signal({ ...over(10), id: 'drop-6' })).toMatchObject({
      duplicate: true,
      receipt: { reason: 'signal_dropped' },
    });
  });
});
