/**
 * What stands around contracts: freezes, incidents, signals, the policy, and what a person decides
 * about a job.
 */
import { describe, expect, test } from 'vitest';
import { enable } from '../../src/index.js';
import { codeOf } from '../runs/engine/scene.js';
import { scene } from './scene.js';

const s = scene();
const nobody = '01999999-0000-7000-8000-000000000000';
const as = () => ({ as: s.keys.ops });

describe('freezes', () => {
  test('are put at once or by calendar, seen while they last or are to come, and lifted by somebody who may', async () => {
    const { freezes } = s.writ;
    const now = await freezes.put({ reason: 'end of the year' }, as());
    const later = await freezes.put(
      {
        reason: 'sale',
        from: new Date('2999-01-01T00:00:00Z'),
        until: new Date('2999-01-02T00:00:00Z'),
      },
      { ...as(), tenant: 'acme' },
    );
    expect((await freezes.list()).items).toMatchObject([
      {
        freeze_id: now,
        tenant_id: 'default',
        reason: 'end of the year',
        put_by: 'ops',
        ends_at: null,
        lasts: true,
      },
      { freeze_id: later, tenant_id: 'acme', lasts: false },
    ]);
    const [, calendar] = (await freezes.list()).items;
    expect(new Date(String(calendar?.ends_at))).toEqual(new Date('2999-01-02T00:00:00Z'));
    expect(await codeOf(freezes.lift(now, { as: s.keys.ada }))).toBe('not_authorized');
    await freezes.lift(now, as());
    expect(await codeOf(freezes.lift(now, as()))).toBe('freeze_not_found');
    expect(await codeOf(freezes.lift('not an id', as()))).toBe('freeze_not_found');
    expect((await freezes.list({ tenant: 'default' })).items).toEqual([]);
  });

  test('have a reason, and end after they begin', async () => {
    const { freezes } = s.writ;
    expect(await codeOf(freezes.put({ reason: ' ' }, as()))).toBe('invalid_argument');
    expect(await codeOf(freezes.put({ reason: 'x', until: new Date(0) }, as()))).toBe(
      'invalid_argument',
    );
    expect((await freezes.list()).items).toEqual([]);
  });
});

test('an incident makes its capability degraded until it is resolved, with words', async () => {
  const { incidents } = s.writ;
  const checkout = async () =>
    (await s.writ.health.get()).capabilities.find(
      ({ capability_name }) => capability_name === 'checkout',
    )?.status;
  const minor = await incidents.open({ summary: 'slow since noon', capability: 'checkout' }, as());
  const major = await incidents.open({ summary: 'orders are lost', severity: 'P1' }, as());
  expect(await checkout()).toBe('DEGRADED');
  expect((await incidents.list()).items).toMatchObject([
    { incidentId: major, severity: 'P1', capability: null, subject: 'tenant/default' },
    {
      incidentId: minor,
      severity: 'P2',
      capability: 'checkout',
      openedBy: 'ops',
      resolvedAt: null,
    },
  ]);
  expect(await codeOf(incidents.resolve(minor, { ...as(), resolution: 'done' }))).toBe(
    'reason_required',
  );
  expect(
    await codeOf(incidents.resolve(minor, { as: s.keys.agent, resolution: 'the index is back' })),
  ).toBe('agents_only_propose');
  await incidents.resolve(minor, { ...as(), resolution: 'the index is back' });
  expect(await checkout()).toBe('HEALTHY');
  expect(await codeOf(incidents.resolve(minor, { ...as(), resolution: 'the index is back' }))).toBe(
    'incident_not_found',
  );
  expect(await codeOf(incidents.resolve('x', { ...as(), resolution: 'the index is back' }))).toBe(
    'incident_not_found',
  );
  expect((await incidents.list()).items.map(({ incidentId }) => incidentId)).toEqual([major]);
  expect((await incidents.list({ all: true, limit: 5 })).items).toMatchObject([
    { incidentId: major },
    { resolution: 'the index is back' },
  ]);
  expect((await incidents.list({ tenant: 'acme', all: true })).items).toEqual([]);
});

test('a signal stands until another of its type takes its place, or its time is over', async () => {
  const { signals } = s.writ;
  await signals.record(
    { scope: 'checkout', decision: 'BLOCKED', reason: 'it burns', constraints: { until: 'noon' } },
    as(),
  );
  expect((await s.propose()) as never).toMatchObject({ status: 'VALIDATED' });
  const id = await signals.record(
    { scope: 'checkout', decision: 'CLEAN', reason: 'it is out' },
    as(),
  );
  await signals.record(
    {
      scope: 'search',
      decision: 'WARN',
      reason: 'slow',
      type: 'LATENCY',
      until: new Date(Date.now() + 60_000),
    },
    as(),
  );
  expect((await signals.list()).items).toMatchObject([
    {
      id,
      scope: 'checkout',
      signal_type: 'MANUAL',
      decision: 'CLEAN',
      recorded_by: 'ops',
      expires_at: null,
    },
    { scope: 'search', signal_type: 'LATENCY', decision: 'WARN' },
  ]);
  await s.db.clock.advance('2m');
  expect((await signals.list({ tenant: 'default' })).items).toMatchObject([{ id }]);
  expect(
    await codeOf(
      signals.record({ scope: 'checkout', decision: 'MAYBE' as never, reason: 'x' }, as()),
    ),
  ).toBe('invalid_signal');
  expect(
    await codeOf(
      signals.record({ scope: 'checkout', decision: 'CLEAN', reason: 'x' }, { as: s.keys.ada }),
    ),
  ).toBe('not_authorized');
});

test('a policy is published in versions, which stay; what it leaves out is as built in, and contracts are held to it', async () => {
  const { policy } = s.writ;
  const builtIn = await policy.get();
  expect(builtIn).toMatchObject({
    version: 0,
    document: { approvals: { medium: 1 }, window_hours: 24 },
    published_by: null,
  });
  const before = await s.propose();
  expect(await before.preview({ as: s.keys.ada })).toMatchObject({
    approvals_needed: 1,
    policy_version: 0,
  });
  expect(
    await policy.publish({ approvals: { low: 1, medium: 2, high: 3, critical: 3 } }, as()),
  ).toBe(1);
  expect(await before.preview({ as: s.keys.ada })).toMatchObject({
    approvals_needed: 2,
    policy_version: 1,
  });
  expect(await policy.publish({ window_hours: 2 }, as())).toBe(2);
  expect(await policy.get()).toMatchObject({
    version: 2,
    document: { approvals: { medium: 1 }, window_hours: 2 },
    published_by: 'ops',
  });
  expect(await policy.get({ version: 1 })).toMatchObject({
    document: { approvals: { medium: 2 } },
  });
  expect(await policy.get({ version: 0 })).toEqual(builtIn);
  expect(await policy.get({ tenant: 'acme' })).toEqual(builtIn);
  expect(await codeOf(policy.get({ version: 7 }))).toBe('policy_not_found');
  expect(await codeOf(policy.publish({ window_hours: 1000 }, as()))).toBe('invalid_argument');
  expect(await codeOf(policy.publish({ windows: 1 } as never, as()))).toBe('invalid_argument');
  expect(await codeOf(policy.publish({}, { as: s.keys.ada }))).toBe('not_authorized');
});

describe('a job', () => {
  test('that is not there, or not in that state, is not decided about', async () => {
    const { changes } = s.writ;
    expect(() => changes.handle('x')).toThrowError(/no such job/);
    expect(await codeOf(changes.handle(nobody).cancel({ ...as(), reason: 'stop' }))).toBe(
      'job_not_found',
    );
    expect(
      await codeOf(
        changes.handle(nobody).resolve({ ...as(), verdict: 'PASS', reason: 'looked at it all' }),
      ),
    ).toBe('job_not_found');
    expect(await codeOf(changes.handle(nobody).retryRollback(as()))).toBe('job_not_found');
    const job = await (await s.approved({ steps: [enable('checkout')] })).activate({
      as: s.keys.service,
    });
    expect(await codeOf(job.retryRollback(as()))).toBe('invalid_transition');
    expect(
      await codeOf(job.resolve({ as: s.keys.bob, verdict: 'PASS', reason: 'looked at it all' })),
    ).toBe('invalid_transition');
    expect(await codeOf(job.cancel({ reason: 'nobody says so' }))).toBe('not_authenticated');
    expect(await job.get()).toMatchObject({ status: 'PENDING' });
  });
});

describe('a report about a probe', () => {
  const put = (name: string, type: 'reported' | 'heartbeat' | 'sql') =>
    s.writ.probes.put(
      {
        ...{ name, capability: 'checkout', type, every_ms: 60_000 },
        config: type === 'sql' ? { query: 'select true' } : {},
      },
      as(),
    );
  const said = () => s.sql('select name, status, detail from writ.probe order by name');

  test('is made by a principal with the right to: services have it, and whoever operates', async () => {
    await put('up', 'reported');
    const report = s.writ.probes.report.bind(s.writ.probes);
    expect(await codeOf(report('up', 'HEALTHY'))).toBe('not_authenticated');
    expect(await codeOf(report('up', 'HEALTHY', { as: s.keys.ada }))).toBe('not_authorized');
    expect(await codeOf(report('up', 'HEALTHY', { as: s.keys.agent }))).toBe('agents_only_propose');
    expect(await said()).toEqual([{ name: 'up', status: null, detail: null }]);
    await report('up', 'DEGRADED', { as: s.keys.service, detail: 'slow' });
    expect(await said()).toEqual([{ name: 'up', status: 'DEGRADED', detail: 'slow' }]);
    await report('up', 'HEALTHY', as());
    expect((await s.writ.health.get()).system).toBe('HEALTHY');
    const denied = await s.sql(
      `select entry::jsonb #>> '{context,principal}' as who from writ_data.receipt where entry::jsonb ->> 'reason' = 'access_denied' order by receipt_no`,
    );
    expect(denied.map(({ who }) => who)).toEqual(['ada', 'agent']);
  });

  test('is not made for a probe that is asked, nor for one that is not there, nor with another word', async () => {
    await put('asked', 'sql');
    await put('beat', 'heartbeat');
    const report = (name: string, status: string, tenant?: string) =>
      codeOf(
        s.writ.probes.report(name, status as 'HEALTHY', {
          as: s.keys.service,
          ...(tenant !== undefined && { tenant }),
        }),
      );
    expect(await report('asked', 'HEALTHY')).toBe('invalid_probe');
    expect(await report('gone', 'HEALTHY')).toBe('probe_not_found');
    expect(await report('beat', 'HEALTHY', 'acme')).toBe('probe_not_found');
    expect(await report('beat', 'FINE')).toBe('invalid_probe');
    expect(await said()).toMatchObject([{ status: null }, { status: null }]);
  });

  test('a worker writes down what it was answered, and speaks for no probe that waits to be told', async () => {
    await put('asked', 'sql');
    await put('beat', 'heartbeat');
    await s.sql('select writ.fn_probes_take(10)');
    const reports = JSON.stringify(
      ['asked', 'beat'].map((name) => ({ name, status: 'HEALTHY', detail: 'as asked' })),
    );
    expect(
      await s.sql(`select writ.fn_probes_report($1, 'worker') as answer`, [reports]),
    ).toMatchObject([{ answer: { reported: 1 } }]);
    expect(await said()).toMatchObject([
      { name: 'asked', status: 'HEALTHY' },
      { name: 'beat', status: null },
    ]);
  });

  test('a service records signals with the same right, and does nothing else of whoever operates', async () => {
    const { freezes, incidents, signals } = s.writ;
    await signals.record(
      { scope: 'checkout', decision: 'WARN', reason: 'slow' },
      { as: s.keys.service },
    );
    expect((await signals.list()).items).toMatchObject([{ recorded_by: 'deployer' }]);
    expect(await codeOf(incidents.open({ summary: 'slow' }, { as: s.keys.service }))).toBe(
      'not_authorized',
    );
    expect(await codeOf(freezes.put({ reason: 'slow' }, { as: s.keys.service }))).toBe(
      'not_authorized',
    );
  });
});
