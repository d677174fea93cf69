import { describe, expect, test } from 'vitest';
import { configure, enable, recordSignal, soak } from '../../src/index.js';
import { until } from '../races/sessions.js';
import { codeOf } from '../runs/engine/scene.js';
import { outside, probes } from './outside.js';
import { five, scene } from './scene.js';

const s = scene();
const probe = probes();
const before = { checkout: 'DISABLED', search: 'LAUNCHED', 'limits#max': 100 };

describe('another hand', () => {
  test('a value that has changed since the approval: nothing is done, and a draft takes its place', async () => {
    const contract = await s.approved();
    await s.sql(`update writ_data.configuration set value = '7' where key = 'max'`);
    expect(await codeOf(contract.activate({ as: s.keys.service }))).toBe('stale_pre_value');
    expect(await s.state()).toEqual({ ...before, 'limits#max': 7 });
    expect(await s.sql('select status from writ.system_contracts order by created_at')).toEqual([
      { status: 'FAILED' },
      { status: 'DRAFT' },
    ]);
  });

  test('between two steps: the job fails, and what it did itself is undone', async () => {
    const { flag, trouble } = outside({});
    await s.use(flag);
    await s.work([flag]);
    trouble.apply = () =>
      void s
        .sql(`update writ_data.configuration set value = '7', version = 99 where key = 'max'`)
        .catch(() => undefined);
    const contract = await s.approved({
      scope: ['checkout', 'limits', 'flag:a'],
      steps: [
        enable('checkout'),
        flag({ key: 'a', percent: 1 }),
        soak('50ms'),
        configure('limits', 'max', 3),
      ],
    });
    const job = await contract.activate({ as: s.keys.service });
    const end = await job.finished({ timeoutMs: 20_000 });
    expect((await job.get()).rollback_reason).toContain('limits#max is not what it was');
    expect((await s.state()).checkout).toBe('DISABLED');
    expect((await s.state())['limits#max']).toBe(7);
    // What another hand has changed is not ours to restore: so the state is not what it was, and
    // people hear of it.
    expect(end.status).toBe('ROLLBACK_FAILED');
    expect(await s.alerts()).toContain('ROLLBACK_FAILED');
  });

  test('after a step: a rollback does not overwrite it, opens an incident, and keeps its hold until that is resolved', async () => {
    const { flag, trouble } = outside({});
    await s.use(flag);
    await s.work([flag]);
    trouble.apply = () => {
      throw new Error('no');
    };
    const slowly =
      s.sql(`create function writ_data.meddle() returns trigger language plpgsql as $$ begin
      if new.kind = 'rollback' then update writ_data.configuration set value = '7', version = 99 where key = 'max'; end if; return new; end $$;
      create trigger meddle after insert on writ_data.governance_job for each row execute function writ_data.meddle()`);
    await slowly;
    const contract = await s.approved({
      scope: ['limits', 'flag:a'],
      steps: [configure('limits', 'max', 3), flag({ key: 'a', percent: 1 })],
    });
    const job = await contract.activate({ as: s.keys.service });
    const end = await job.finished({ timeoutMs: 20_000 });
    expect(end).toMatchObject({ status: 'ROLLBACK_FAILED' });
    expect((await s.state())['limits#max']).toBe(7);
    expect(await s.sql('select target from writ_data.target_hold order by 1')).toEqual([
      { target: 'flag:a' },
      { target: 'limits' },
    ]);
    const other = await s.approved({
      title: 'Other',
      scope: ['limits'],
      steps: [configure('limits', 'burst', 1)],
    });
    expect(await codeOf(other.activate({ as: s.keys.service }))).toBe('target_held');
    // A person puts it right, and has the rollback tried again.
    await s.sql(
      `drop trigger meddle on writ_data.governance_job; update writ_data.configuration set value = '3', version = (select written_version from writ_data.governance_step where job_id = '${job.id}' and step_no = 1) where key = 'max'`,
    );
    const retried = await job.retryRollback({ as: s.keys.ops });
    expect(await retried.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
    expect(await job.get()).toMatchObject({
      status: 'ROLLBACK_FAILED',
      resolved_by_job_id: retried.id,
    });
    expect(await s.state()).toEqual(before);
    expect(await s.sql('select from writ_data.target_hold')).toEqual([]);
  });
});

describe('a rollback that a person has tried again', () => {
  test('goes on from what the one before has restored, in the database and outside', async () => {
    const { flag, trouble, values } = outside({ b: 7 });
    trouble.apply = (key) => {
      if (key === 'c') throw new Error('no such flag');
    };
    trouble.revert = (key) => {
      if (key === 'a') throw new Error('not now');
    };
    await s.use(flag as never);
    await s.work([flag as never]);
    const { job, end } = await s.done({
      scope: ['limits', 'flag:a', 'flag:b', 'flag:c'],
      steps: [
        configure('limits', 'max', 2),
        flag({ key: 'a', percent: 1 }),
        configure('limits', 'max', 3),
        configure('limits', 'burst', 5),
        flag({ key: 'b', percent: 1 }),
        flag({ key: 'c', percent: 1 }),
      ],
    });
    expect(end).toMatchObject({ status: 'ROLLBACK_FAILED' });
    expect(await s.state()).toMatchObject({ 'limits#max': 2 });
    delete trouble.revert;
    const retried = await job.retryRollback({ as: s.keys.ops });
    expect(await retried.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
    expect(await s.state()).toEqual(before);
    expect(values).toEqual({ b: 7 });
    expect(await s.sql('select from writ_data.target_hold')).toEqual([]);
  });
});

describe('steering', () => {
  test('a job that has not begun is cancelled; one that runs or has ended is not', async () => {
    const contract = await s.approved();
    const job = await contract.activate({ as: s.keys.service });
    expect(await codeOf(job.cancel({ as: s.keys.agent, reason: 'stop it' }))).toBe(
      'agents_only_propose',
    );
    await job.cancel({ as: s.keys.ada, reason: 'not today' });
    expect(await job.finished()).toMatchObject({ status: 'CANCELLED' });
    expect(await codeOf(job.cancel({ as: s.keys.ada, reason: 'again' }))).toBe('job_terminal');
    await s.work();
    expect(await s.state()).toEqual(before);
    const slow = await s.approved({ steps: [enable('checkout'), soak('30s')] });
    const running = await slow.activate({ as: s.keys.service });
    await until(async () => (await running.get()).status === 'RUNNING');
    expect(await codeOf(running.cancel({ as: s.keys.ada, reason: 'too late' }))).toBe(
      'job_running',
    );
    expect(await running.get()).toMatchObject({ status: 'RUNNING' });
    expect(await slow.get()).toMatchObject({ status: 'ACTIVE' });
  });

  test.each([
    { type: 'PAUSE' },
    { type: 'RESUME' },
    { type: 'CANCEL', reason: 'stop it' },
    { type: 'RETRY_STEP', stepId: 's2' },
    { type: 'RETRY_RUN' },
    { type: 'SKIP_STEP', stepId: 's2' },
    { type: 'UPDATE_PARAMS', params: { steps: [] } },
  ] as const)(
    'a governed run does not take $type, running or ended, and nothing changes',
    async (signal) => {
      const contract = await s.approved({ steps: [enable('checkout'), soak('300ms')] });
      const job = await contract.activate({ as: s.keys.service });
      const { run_id: runId } = (await job.get()) as { run_id: string };
      const everything = () =>
        s.sql(
          `select r.status, r.input, r.steered, r.pauses, (select count(*)::integer from writ_data.run_event e where e.run_id = r.run_id) as events, (select count(*)::integer from writ_data.run_signal) as signals,
           (select jsonb_agg(g.version) from writ_data.governance_job g) as jobs from writ_data.run r`,
        );
      const stands = await everything();
      expect(await codeOf(s.writ.runs.signal(runId, signal))).toBe('run_is_governed');
      expect(await everything()).toEqual(stands);
      await s.work();
      expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
      expect(await codeOf(s.writ.runs.signal(runId, signal))).toBe('run_is_governed');
      expect(await everything()).toMatchObject([{ signals: 0, status: 'COMPLETED' }]);
    },
  );

  test('a step of a governed run is not cancelled, replayed, delivered to or written into by way of the queue or the log', async () => {
    const contract = await s.approved({ steps: [enable('checkout')] });
    const job = await contract.activate({ as: s.keys.service });
    const { run_id: runId } = (await job.get()) as { run_id: string };
    const [step] = (await s.sql('select job_id from writ_data.job where run_id = $1', [runId])) as [
      { job_id: string },
    ];
    expect(await codeOf(s.writ.jobs.cancel(step.job_id, { reason: 'stop it' }))).toBe(
      'reserved_job_kind',
    );
    expect(await codeOf(s.writ.runs.deliver(runId, 'approval', {}))).toBe('run_is_governed');
    const event = {
      eventType: 'StepCompleted',
      stepId: 's1',
      logicalAttemptId: '1',
      eventData: {},
    };
    expect(
      await s.sql(`select writ.fn_run_append($1, $2::jsonb, 'mallory') as answer`, [
        runId,
        JSON.stringify(event),
      ]),
    ).toMatchObject([{ answer: { refused: true, reason: 'CAPABILITIES_NOT_SUPPORTED' } }]);
    expect(await job.get()).toMatchObject({ status: 'PENDING', completed_steps: 0 });
    expect(await s.state()).toEqual(before);
  });

  test('EMERGENCY_STOP reaches a governed run, and what it did is rolled back', async () => {
    await s.work();
    const contract = await s.approved({ steps: [enable('checkout'), soak('60s')] });
    const job = await contract.activate({ as: s.keys.service });
    await until(async () => (await job.get()).completed_steps === 1);
    const { run_id: runId } = (await job.get()) as { run_id: string };
    await s.writ.runs.signal(runId, { type: 'EMERGENCY_STOP', reason: 'it burns' });
    expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'ROLLED_BACK' });
    expect(await s.state()).toEqual(before);
  });

  test('a step is not ended past its effect, whatever a worker says', async () => {
    const contract = await s.approved({ steps: [enable('checkout')] });
    await contract.activate({ as: s.keys.service });
    const [claim] = (await s.sql(
      `select writ.fn_job_claim_many('{governance.change}', 'external_worker', 'mallory', 30, 1, 1, null, false, gen_random_uuid(), false, '') as answer`,
    )) as [{ answer: { lease_token: string } }];
    const told = await s.sql(`select writ.fn_job_succeed_many($1, '{1}') as answer`, [
      claim.answer.lease_token,
    ]);
    expect(told).toMatchObject([
      { answer: { done: 0, refused: [{ position: 1, reason: 'reserved_job_kind' }] } },
    ]);
    expect(await s.state()).toEqual(before);
  });

  test('past its time it is stopped and rolled back', async () => {
    await s.work();
    const contract = await s.approved({
      steps: [enable('checkout'), soak('9m')],
      maxDuration: '10m',
    });
    const job = await contract.activate({ as: s.keys.service });
    await until(async () => (await job.get()).completed_steps === 1);
    await s.db.clock.advance('11m');
    const end = await job.finished({ timeoutMs: 20_000 });
    expect(end).toMatchObject({ status: 'ROLLED_BACK' });
    const { history } = await job.get();
    expect(history.map(({ event }) => event)).toContain('duration_exceeded');
  });

  test('a rollback is not stopped by the time that the change itself may take', async () => {
    const { flag, trouble, values } = outside({ a: 5 });
    let mended = false;
    const begun = new Promise<void>((resolve) => {
      trouble.revert = () => {
        resolve();
        if (!mended) throw new Error('not yet');
      };
    });
    await s.use(flag as never);
    await s.work([flag as never]);
    const contract = await s.approved({
      scope: ['flag:a'],
      steps: [flag({ key: 'a', percent: 1 }), soak('9m')],
      maxDuration: '10m',
    });
    const job = await contract.activate({ as: s.keys.service });
    await until(async () => (await job.get()).completed_steps === 1);
    await s.db.clock.advance('11m');
    await begun;
    const [rollback] = await s.sql<{ due_at: Date | null }>(
      `select due_at from writ_data.governance_job where kind = 'rollback'`,
    );
    expect(rollback?.due_at).toBeNull();
    await s.db.clock.advance('11m');
    mended = true;
    expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'ROLLED_BACK' });
    expect(values).toEqual({ a: 5 });
  });
});

describe('watching', () => {
  test('health that fails in a soak rolls everything back, and the state is what it was', async () => {
    let status = 200;
    await s.writ.probes.put(
      {
        name: 'up',
        capability: 'checkout',
        type: 'http',
        config: { url: await probe(() => status) },
        every_ms: 200,
      },
      { as: s.keys.ops },
    );
    await s.work();
    await until(async () => (await s.writ.health.get()).system === 'HEALTHY');
    const contract = await s.approved({ steps: [...five, soak('30s'), recordSignal('DONE')] });
    const job = await contract.activate({ as: s.keys.service });
    await until(async () => (await job.get()).completed_steps === 5);
    expect(await s.state()).toEqual({
      checkout: 'LAUNCHED',
      search: 'LAUNCHED',
      'limits#max': 300,
      'limits#burst': 5,
    });
    status = 500;
    const end = await job.finished({ timeoutMs: 20_000 });
    expect(end).toMatchObject({ status: 'ROLLED_BACK' });
    expect(end.state_after).toBe(end.state_before);
    expect(await s.state()).toEqual(before);
  });

  test('a soak lasts as long as was approved, whoever watches', async () => {
    const first = await s.work();
    const contract = await s.approved({ steps: [enable('checkout'), soak('1500ms')] });
    const job = await contract.activate({ as: s.keys.service });
    await until(async () => (await job.get()).completed_steps === 1);
    await first.stop();
    await s.work();
    expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
    const [, watched] = (await job.steps()) as [
      unknown,
      { started_at: string; completed_at: string },
    ];
    expect(
      Date.parse(watched.completed_at) - Date.parse(watched.started_at),
    ).toBeGreaterThanOrEqual(1490);
  });

  test('health that is worse afterwards fails the audit, and is rolled back', async () => {
    await s.work();
    const contract = await s.approved({ steps: [enable('checkout')] });
    await s.sql(`create function writ_data.blame() returns trigger language plpgsql as $$ begin
      insert into writ_data.incident (incident_id, tenant_id, capability, severity, subject, summary, opened_by, opened_at) values (gen_random_uuid(), 'default', 'checkout', 'P2', 'x', 'orders are lost', 'test', now()); return new; end $$;
      create trigger blame after update on writ_data.governance_job for each row when (new.status = 'AUDIT_PENDING' and old.status = 'RUNNING' and new.kind = 'forward') execute function writ_data.blame()`);
    const end = await (await contract.activate({ as: s.keys.service })).finished({
      timeoutMs: 20_000,
    });
    expect(end).toMatchObject({ status: 'ROLLED_BACK' });
    expect(end.status_reason).toContain('A-002');
    expect(await s.state()).toEqual(before);
  });

  test('an audit without an answer is tried once more, and then a person decides who neither proposed nor approved', async () => {
    const contract = await s.approved({ steps: [enable('checkout')] });
    await s.sql(
      `update writ_data.job_kind set max_attempts = 1 where job_kind = 'governance.audit'`,
    );
    const job = await contract.activate({ as: s.keys.service });
    await s.sql(`create function writ_data.forget() returns trigger language plpgsql as $$ begin new.health_before := null; return new; end $$;
      create trigger forget before update on writ_data.governance_job for each row when (new.status = 'AUDIT_PENDING' and old.status = 'RUNNING') execute function writ_data.forget()`);
    const worker = await s.work();
    await until(async () => (await s.alerts()).includes('AUDIT_INCONCLUSIVE'));
    expect(await job.get()).toMatchObject({
      status: 'AUDIT_PENDING',
      audit_verdict: 'INCONCLUSIVE',
    });
    const resolve = (as: string) =>
      job.resolve({ as, verdict: 'PASS', reason: 'looked at every graph' });
    expect(await codeOf(resolve(s.keys.ada))).toBe('own_contract');
    expect(await codeOf(resolve(s.keys.agent))).toBe('agents_only_propose');
    expect(await resolve(s.keys.bob)).toBe('COMPLETED');
    expect(
      await s.sql('select status, audit_verdict, audit_reason from writ.system_contracts'),
    ).toEqual([
      { status: 'COMPLETED', audit_verdict: 'PASS', audit_reason: 'looked at every graph' },
    ]);
    await worker.stop();
  });
});

describe('a type of your own', () => {
  test('is read, done, read again and audited like everything else; drift is seen', async () => {
    const { flag, calls, values } = outside({ a: 5 });
    await s.use(flag);
    await s.work([flag]);
    const contract = await s.approved({
      scope: ['flag:a'],
      steps: [flag({ key: 'a', percent: 10 }), flag({ key: 'a', percent: 50 })],
    });
    expect(
      (await contract.preview({ as: s.keys.ada })).steps.map(({ before: b, after }) => [b, after]),
    ).toEqual([
      [5, { key: 'a', percent: 10 }],
      [
        { key: 'a', percent: 10 },
        { key: 'a', percent: 50 },
      ],
    ]);
    values.a = 6;
    await contract.read({ as: s.keys.ada });
    expect(await codeOf(contract.activate({ as: s.keys.service }))).toBe('stale_pre_value');
    values.a = 5;
    const again = await s.approved({
      title: 'Again',
      scope: ['flag:a', 'checkout'],
      steps: [flag({ key: 'a', percent: 10 }), flag({ key: 'a', percent: 50 }), enable('checkout')],
    });
    expect(
      await (await again.activate({ as: s.keys.service })).finished({ timeoutMs: 20_000 }),
    ).toMatchObject({ status: 'COMPLETED' });
    expect(values).toEqual({ a: 50 });
    expect(calls).toEqual(['apply a 10 64', 'apply a 50 64']);
  });

  test('a step that began and whose end nobody knows is undone, too', async () => {
    const { flag, calls, trouble, values } = outside({ a: 5 });
    await s.use(flag);
    await s.work([flag]);
    trouble.apply = (key) => {
      values[key] = 77; // it was done, and the answer was lost
      throw new Error('connection reset');
    };
    const { end } = await s.done({ scope: ['flag:a'], steps: [flag({ key: 'a', percent: 10 })] });
    expect(end).toMatchObject({ status: 'ROLLED_BACK' });
    expect(values).toEqual({ a: 5 });
    expect(calls.at(-1)).toBe('revert a 5');
  });
});
