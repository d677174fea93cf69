/** Runs of other tenants and other engines: what a login can deliver, append, finish and read. */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { defineJob, definePlan, Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Binding, type Login, login } from './logins.js';

let db: TestDatabase;
const opened: Login[] = [];
const enter = async (roles: string[], binding?: Binding) => {
  const one = await login(db, roles, binding);
  opened.push(one);
  return one;
};
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const document = JSON.stringify({
  planId: 'order',
  planVersion: '1',
  schemaVersion: 1,
  steps: [
    { id: 'go', event: 'go', type: 'wait' },
    { after: ['go'], id: 'act', kind: 'act', type: 'job' },
  ],
});

beforeEach(async () => {
  db = await testDatabase();
  await db.query(`select writ.fn_job_kind_register('act', '{}', 'test')`);
  await db.query(`select writ.fn_plan_register($1, $2, 'test')`, [document, sha256(document)]);
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.end();
  await db.drop();
});

interface Item {
  readonly tenant?: string;
  readonly engine?: string;
  readonly [name: string]: unknown;
}

async function start(as: Login, item: Item = {}) {
  const run = {
    run_id: uuidv7(),
    plan_id: 'order',
    plan_version: '1',
    sha256: sha256(document),
    input: { secret: 1 },
    ...item,
  };
  const answer = await as.call('fn_run_start_many', { runs: JSON.stringify([run]), actor: 'p' });
  return { runId: run.run_id, answer };
}
const deliver = (as: Login, runId: string) =>
  as.call('fn_run_deliver', {
    run_id: runId,
    event: 'go',
    payload: '{}',
    delivery_id: 'd',
    actor: 'p',
  });
const append = (as: Login, runId: string, eventType: string, more: object = {}) =>
  as.call('fn_run_append', {
    run_id: runId,
    event: JSON.stringify({ eventType, ...more }),
    actor: 'p',
  });
const logOf = async (runId: string) =>
  (
    await db.query('select event_type from writ.run_events where run_id = $1 order by run_seq', [
      runId,
    ])
  ).map((row) => row.event_type);

describe('a delivery', () => {
  test('does not reach a run of another tenant', async () => {
    const acme = await enter(['writ_producer'], { tenant_id: 'acme' });
    const globex = await enter(['writ_producer'], { tenant_id: 'globex' });
    const { runId } = await start(globex);
    expect(await deliver(acme, runId)).toMatchObject({ refused: true, reason: 'RUN_NOT_FOUND' });
    expect(await deliver(globex, runId)).toMatchObject({ duplicate: false, step: 'go' });
  });

  test('is accepted from producers and the server, and not from workers', async () => {
    const worker = await enter(['writ_worker']);
    expect(await worker.attempt(`select writ.fn_run_deliver(null, null, null, null, null)`)).toBe(
      '42501',
    );
  });

  test('can be denied by authorizeSignal, and then leaves the attempt in the log', async () => {
    const asked: unknown[] = [];
    const writ = await Writ.connect({
      connectionString: db.connectionString,
      authorizeSignal: ({ principal, signal, run }) => {
        asked.push([principal, signal.type, run.tenant]);
        return principal === 'ada' ? true : { denied: 'AUTHZ_DENIED' };
      },
    });
    opened.push({ end: () => writ.close() } as never);
    const plan = definePlan('wait', { version: '1' }, (p) => p.waitFor('w', { event: 'go' }));
    const { runId } = await writ.start(plan, undefined);
    await expect(writ.runs.deliver(runId, 'go', {}, { as: 'mallory' })).rejects.toMatchObject({
      code: 'AUTHZ_DENIED',
    });
    expect(await logOf(runId)).toEqual(['RunStarted', 'StepStarted', 'SignalRejected']);
    await writ.runs.deliver(runId, 'go', {}, { as: 'ada' });
    expect(await logOf(runId)).toContain('RunCompleted');
    expect(asked).toEqual([
      ['mallory', 'DELIVER', 'default'],
      ['ada', 'DELIVER', 'default'],
    ]);
  });
});

test('denials cannot fill the log of a run, and may only carry a known code', async () => {
  const producer = await enter(['writ_producer']);
  const server = await enter(['writ_server']);
  const { runId } = await start(producer);
  const denied = (n: number) =>
    producer.call('fn_run_deliver', {
      run_id: runId,
      event: 'go',
      payload: null,
      delivery_id: `d-${n}`,
      actor: 'p',
      denied: 'AUTHZ_DENIED',
    });
  for (let n = 0; n < 60; n++) expect(await denied(n)).toEqual({ denied: 'AUTHZ_DENIED' });
  expect(await denied(60)).toMatchObject({ refused: true, reason: 'OUTBOX_RATE_LIMIT_EXCEEDED' });
  expect((await logOf(runId)).filter((type) => type === 'SignalRejected')).toHaveLength(60);
  const signal = {
    run_id: runId,
    signal: JSON.stringify({ signalId: uuidv7(), type: 'PAUSE' }),
    actor: 's',
    denied: 'x'.repeat(100_000),
  };
  expect(await server.call('fn_run_signal', signal)).toMatchObject({
    refused: true,
    reason: 'SIGNAL_INVALID_PAYLOAD',
  });
});

test('a denied command is recorded only with a code of authorizeSignal', async () => {
  const { runId } = await start(await enter(['writ_producer']));
  const server = await enter(['writ_server']);
  const signal = (type: string, denied: string | null) =>
    server.call('fn_run_signal', {
      run_id: runId,
      signal: JSON.stringify({ signalId: uuidv7(), type }),
      actor: 'm',
      denied,
    });
  const codes = () => db.query('select code from writ_data.run_signal where not accepted');
  for (const denied of ['x', 'x'.repeat(4_000), ''])
    expect(await signal('PAUSE', denied)).toMatchObject({
      refused: true,
      reason: 'SIGNAL_INVALID_PAYLOAD',
    });
  expect(await signal('CANCEL', null)).toMatchObject({ accepted: true });
  // The log of a run that has ended takes no event, so its bounds do not help.
  expect(await signal('RETRY_RUN', 'x'.repeat(1_000_000))).toMatchObject({
    refused: true,
    reason: 'SIGNAL_INVALID_PAYLOAD',
  });
  expect(await codes()).toEqual([]);
  expect(await signal('RETRY_RUN', 'AUTHZ_DENIED')).toMatchObject({
    accepted: false,
    code: 'AUTHZ_DENIED',
  });
  expect(await codes()).toEqual([{ code: 'AUTHZ_DENIED' }]);
});

describe('an event of a run of another engine', () => {
  test('is refused from a login that did not start the run', async () => {
    const engine = await enter(['writ_producer']);
    const other = await enter(['writ_producer', 'writ_engine']);
    const { runId } = await start(engine, { engine: 'external', tenant: 'acme' });
    expect(await append(engine, runId, 'RunStarted')).toMatchObject({ run_seq: 1 });
    expect(await append(other, runId, 'RunCompleted')).toMatchObject({
      refused: true,
      reason: 'not_the_engine',
    });
    expect(await append(other, runId, 'RunStarted')).toMatchObject({
      refused: true,
      reason: 'not_the_engine',
    });
    expect(await logOf(runId)).toEqual(['RunStarted']);
  });

  test('is refused from an engine without a tenant that sets writ.tenant', async () => {
    const engine = await enter(['writ_producer']);
    const other = await enter(['writ_producer', 'writ_engine']);
    const { runId } = await start(engine, { engine: 'external', tenant: 'acme' });
    await append(engine, runId, 'RunStarted');
    await other.query(`set writ.tenant = 'acme'`);
    expect(await append(other, runId, 'RunCompleted')).toMatchObject({
      refused: true,
      reason: 'not_the_engine',
    });
    expect(await logOf(runId)).toEqual(['RunStarted']);
  });

  test('is refused from a login of another tenant, and accepted from an engine of its own tenant', async () => {
    const engine = await enter(['writ_producer']);
    const acme = await enter(['writ_engine'], { tenant_id: 'acme' });
    const globex = await enter(['writ_engine'], { tenant_id: 'globex' });
    const { runId } = await start(engine, { engine: 'external', tenant: 'acme' });
    expect(await append(globex, runId, 'RunStarted')).toMatchObject({
      refused: true,
      reason: 'RUN_NOT_FOUND',
    });
    expect(await append(acme, runId, 'RunStarted')).toMatchObject({ run_seq: 1 });
  });

  test.each<[string, object]>([
    ['SignalAccepted', {}],
    ['RunRewritten', {}],
    ['StepCompleted', { stepId: 'nowhere' }],
    ['RunResumed', {}],
    ['RunCompleted', { stepId: 'act' }],
    ['StepStarted', { stepId: 'act', logicalAttemptId: 'x'.repeat(100) }],
    ['StepStarted', { stepId: 'act', engineAttemptId: '99999999999999' }],
  ])('%s %j is refused where the machine does not allow it', async (eventType, more) => {
    const engine = await enter(['writ_producer']);
    const { runId } = await start(engine, { engine: 'external' });
    await append(engine, runId, 'RunStarted');
    expect(await append(engine, runId, eventType, more)).toMatchObject({ refused: true });
    expect(await logOf(runId)).toEqual(['RunStarted']);
  });

  test('cannot name another plan or engine', async () => {
    const engine = await enter(['writ_producer']);
    const { runId } = await start(engine, { engine: 'external' });
    await append(engine, runId, 'RunStarted', { eventData: { planId: 'other', engine: 'native' } });
    const [row] = await db.query('select event_data from writ.run_events where run_id = $1', [
      runId,
    ]);
    expect(row?.event_data).toMatchObject({ planId: 'order', engine: 'external' });
  });
});

describe('a login that is bound to a tenant', () => {
  test('starts runs only for its tenant, and registers plans only for its tenant', async () => {
    const acme = await enter(['writ_producer'], { tenant_id: 'acme' });
    const globex = await enter(['writ_producer'], { tenant_id: 'globex' });
    expect((await start(acme, { tenant: 'globex' })).answer.refused).toMatchObject([
      { reason: 'TENANT_ACCESS_DENIED' },
    ]);
    const { runId } = await start(acme);
    expect(await db.query('select tenant_id from writ.run where run_id = $1', [runId])).toEqual([
      { tenant_id: 'acme' },
    ]);

    const register = (as: Login, kind: string) => {
      const plan = JSON.stringify({
        planId: 'own',
        planVersion: '1',
        schemaVersion: 1,
        steps: [{ id: kind, kind: 'act', type: 'job' }],
      });
      return as.call('fn_plan_register', { document: plan, sha256: sha256(plan), actor: 'p' });
    };
    expect(await register(acme, 'a')).toMatchObject({ duplicate: false });
    expect(await register(globex, 'b')).toMatchObject({ duplicate: false });
    expect(await register(acme, 'b')).toMatchObject({ reason: 'PLAN_VERSION_EXISTS' });
    const seen = await acme.query(`select document from writ.plan where plan_id = 'own'`);
    expect(seen).toHaveLength(1);
  });

  test('reads no run, log, snapshot, value or alert of another tenant', async () => {
    const globex = await enter(['writ_producer'], { tenant_id: 'globex' });
    const { runId } = await start(globex);
    await db.query(
      `select writ_data.raise_alert('X', 'P2', 'globex', 's', '{}', 'a', now()), writ_data.raise_alert('Y', 'P2', null, 's', '{}', 'a', now())`,
    );
    const acme = await enter(['writ_producer', 'writ_worker', 'writ_engine'], {
      tenant_id: 'acme',
    });
    for (const view of [
      'run',
      'run_events',
      'run_snapshots',
      'alert',
      'admission',
      'destination',
      'delivery',
      'undelivered',
    ])
      expect(await acme.query(`select * from writ.${view}`), view).toEqual([]);
    const [read] = await acme.query('select writ.fn_run_read_many(array[$1::uuid]) as runs', [
      runId,
    ]);
    expect(read?.runs).toEqual([]);
    expect(await acme.call('fn_run_values', { run_id: runId, refs: ['input'] })).toMatchObject({
      reason: 'RUN_NOT_FOUND',
    });
    expect(
      await acme.call('fn_outbox_read', { position: 'beginning', types: ['dot.run.*'] }),
    ).toMatchObject({ events: [] });
    expect(await acme.call('fn_run_changes', { projector: 'p' })).toMatchObject({
      reason: 'tenant_forbidden',
    });
    expect(await acme.call('fn_metrics')).toMatchObject({ reason: 'tenant_forbidden' });
  });

  test('clears no alert of the deployment', async () => {
    await db.query(`select writ_data.raise_alert('Y', 'P2', null, 's', '{}', 'a', now())`);
    const [row] = await db.query(`select alert_id from writ.alert`);
    const admin = await enter(['writ_admin'], { tenant_id: 'acme' });
    const cleared = await admin.call('fn_alert_clear', {
      alert_id: row?.alert_id,
      reason: 'nothing to see here',
      actor: 'm',
    });
    expect(cleared).toMatchObject({ refused: true, reason: 'alert_not_found' });
  });

  test('cannot end a step of another tenant, even with the lease token', async () => {
    const act = defineJob<unknown>('act');
    const writ = await db.connect();
    const plan = definePlan<unknown>('one', { version: '1' }, (p) => p.step('act', act));
    const { runId } = await writ.start(plan, {}, { tenant: 'globex' });
    const worker = await enter(['writ_worker']);
    const claimed = await worker.call('fn_job_claim_many', {
      kinds: ['act'],
      executor: 'external_worker',
      lease_holder: 'w',
      limit: 1,
      start: 1,
    });
    const { lease_token, jobs } = claimed as { lease_token: string; jobs: [string][] };
    const succeed = (as: Login) =>
      as.call('fn_run_steps_succeed', {
        tokens: [lease_token],
        positions: [1],
        jobs: [jobs[0]?.[0]],
        runs: [runId],
        results: [null],
        take: [true],
        kinds: ['act'],
        token: uuidv7(),
        lease_ttl_seconds: 30,
        holder: 'w',
      });
    const acme = await enter(['writ_worker'], { tenant_id: 'acme' });
    expect(await succeed(acme)).toMatchObject({ unusual: true });
    expect(await logOf(runId)).not.toContain('StepCompleted');
    expect(await succeed(worker)).toMatchObject({ done: 1, runs_ended: [runId] });
  });
});
