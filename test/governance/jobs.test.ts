import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { configure, defineStep, disable, enable, principal, recordSignal, soak } from '../../src/index.js';
import { until } from '../races/sessions.js';
import { codeOf } from '../runs/engine/scene.js';
import { five, scene } from './scene.js';

const s = scene();
const before = { checkout: 'DISABLED', search: 'LAUNCHED', 'limits#max': 100 };
const credential = (key: string) => principal(key).credential;

/** Something outside: a map, with a way to make it fail. */
function outside(values: Record<string, unknown>) {
  const calls: string[] = [];
  const trouble: { apply?: (key: string) => void; revert?: (key: string) => void } = {};
  const flag = defineStep<{ key: string; percent: number }>('flag', {
    target: ({ key }) => `flag:${key}`,
    read: async ({ key }) => values[key] ?? null,
    apply: async ({ key, percent }, { effectKey }) => {
      calls.push(`apply ${key} ${percent} ${effectKey.length}`);
      trouble.apply?.(key);
      values[key] = percent;
    },
    revert: async (found, { key }) => {
      calls.push(`revert ${key} ${String(found)}`);
      trouble.revert?.(key);
      if (found === null) delete values[key];
      else values[key] = found;
    },
    retry: { attempts: 3, base: '5ms', cap: '10ms' },
  });
  return { flag, calls, trouble, values };
}

/** A probe that says what a test wants. */
const servers: Server[] = [];
async function probe(answer: () => number): Promise<string> {
  const server = createServer((_, response) => response.writeHead(answer()).end('{}'));
  servers.push(server);
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/health`;
}
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((closed) => server.close(closed).closeAllConnections());
});

describe('the invariants', () => {
  test('JOB-001: jobs execute the scope of their contract only', async () => {
    const contract = await s.approved({ steps: [enable('checkout')], scope: ['checkout'] });
    const job = await contract.activate({ as: s.keys.service });
    // As if somebody had edited what is done, and not what was approved.
    await s.sql(
      `update writ_data.contract set steps = '[{"step_type": "capability_disable", "target": "search", "parameters": {"reason": "x"}}]' where contract_id = $1`,
      [contract.id],
    );
    await s.work();
    expect(await job.finished()).toMatchObject({ status: 'ROLLED_BACK' });
    expect(await s.state()).toEqual(before);
  });

  test('JOB-002: health blocks execution', async () => {
    await s.writ.governance.putProbe(
      { name: 'up', capability: 'checkout', type: 'http', config: { url: await probe(() => 200) } },
      { as: s.keys.ops },
    );
    await s.work();
    await until(async () => (await s.writ.governance.health()).system === 'HEALTHY');
    const contract = await s.approved();
    await s.writ.governance.putProbe(
      { name: 'up', capability: 'checkout', type: 'http', config: { url: await probe(() => 503) } },
      { as: s.keys.ops },
    );
    const end = await (await contract.activate({ as: s.keys.service })).finished();
    expect(end).toMatchObject({ status: 'ROLLED_BACK' });
    expect(end.reason).toContain('checkout is unhealthy: probe up: it answered 503');
    const { history } = (await s.writ.governance.job(end.jobId).get()) as { history: { event: string }[] };
    expect(history.map(({ event }) => event)).toContain('health_block');
    expect(await s.state()).toEqual(before);
  });

  test('JOB-003 and JOB-006: a job that fails is rolled back by itself, the last step first', async () => {
    const { flag, trouble, values } = outside({ a: 5 });
    trouble.apply = (key) => {
      if (key === 'b') throw new Error('no such flag');
    };
    s.writ.governance.use(flag);
    await s.work([flag]);
    const { job, end } = await s.done({
      scope: ['checkout', 'limits', 'flag:a', 'flag:b'],
      steps: [...five, flag({ key: 'a', percent: 50 }), flag({ key: 'b', percent: 1 })],
    });
    expect(end).toMatchObject({ status: 'ROLLED_BACK' });
    expect(end.stateAfter).toBe(end.stateBefore);
    expect(await s.state()).toEqual(before);
    expect(values).toEqual({ a: 5 });
    const undone = await s.writ.governance.job(String(end.rollbackJobId)).steps();
    expect(undone.map(({ parameters }) => (parameters as { undo_of: number }).undo_of)).toEqual([7, 6, 5, 4, 3, 2, 1]);
    expect((await job.steps()).map(({ status }) => status)).toEqual([
      'COMPLETED',
      'COMPLETED',
      'COMPLETED',
      'COMPLETED',
      'COMPLETED',
      'COMPLETED',
      'FAILED',
    ]);
    expect(await s.sql('select from writ_data.target_hold')).toEqual([]);
    expect(await s.sql('select status from writ.system_contracts')).toEqual([{ status: 'FAILED' }]);
  });

  test('JOB-004: steps execute one after the other', async () => {
    await s.work();
    const max = (value: number) => configure('limits', 'max', value);
    const { job } = await s.done({ steps: [max(1), max(2), soak('20ms'), max(3), soak('20ms'), max(4), max(5)] });
    const steps = (await job.steps()) as { started_at: string; completed_at: string; receipt_no: number }[];
    // Those in the database that follow one another are one transaction; the others begin when those before them are done.
    const together = [[1, 2], [3], [4], [5], [6, 7]].map((part) => part.map((n) => steps[n - 1] as (typeof steps)[number]));
    for (const [n, part] of together.entries()) {
      expect(new Set(part.map(({ completed_at }) => completed_at)).size).toBe(1);
      if (n > 0) expect(String(part[0]?.started_at) >= String(together[n - 1]?.[0]?.completed_at)).toBe(true);
    }
    const receipts = steps.map(({ receipt_no }) => Number(receipt_no));
    expect(receipts).toEqual([...receipts].sort((a, b) => a - b));
    expect(
      (await s.sql(`select found from writ_data.governance_step where found is not null order by step_no`)).map(({ found }) => found),
    ).toEqual([100, 1, 2, 3, 4].map((value) => ({ 'limits#max': value })));
    const [first] = await s.sql<{ run_id: string }>('select run_id from writ.governance_jobs');
    const [lease] = await s.sql<{ job_id: string }>('select job_id from writ_data.job where run_id = $1 and step_no = 3', [first?.run_id]);
    const answer = await s.sql(`select writ.fn_changes_apply($1::jsonb, 'mallory') as answer`, [
      JSON.stringify([{ job: lease?.job_id, token: lease?.job_id }]),
    ]);
    expect(answer).toMatchObject([{ answer: [{ reason: 'already_committed' }] }]);
  });

  test('JOB-005: a job is completed when it was audited, and not before', async () => {
    const contract = await s.approved({ steps: [enable('checkout')] });
    const job = await contract.activate({ as: s.keys.service });
    expect(await codeOf(s.sql(`update writ_data.governance_job set status = 'COMPLETED' where job_id = $1`, [job.id]))).toBeDefined();
    await s.work();
    const end = await job.finished();
    expect(end.status).toBe('COMPLETED');
    const { history } = (await job.get()) as { history: { from_status: string; to_status: string }[] };
    expect(history.map(({ to_status }) => to_status)).toEqual(['PENDING', 'RUNNING', 'COMPLETED', 'AUDIT_PENDING', 'COMPLETED']);
    expect(await job.audit()).toMatchObject({ verdict: 'PASS', checks_passed: 7, checks_failed: 0, checks_inconclusive: 0 });
    expect(await s.state()).toMatchObject({ checkout: 'LAUNCHED' });
  });
});

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
    s.writ.governance.use(flag);
    await s.work([flag]);
    trouble.apply = () =>
      void s.sql(`update writ_data.configuration set value = '7', version = 99 where key = 'max'`).catch(() => undefined);
    const contract = await s.approved({
      scope: ['checkout', 'limits', 'flag:a'],
      steps: [enable('checkout'), flag({ key: 'a', percent: 1 }), soak('50ms'), configure('limits', 'max', 3)],
    });
    const job = await contract.activate({ as: s.keys.service });
    const end = await job.finished({ timeoutMs: 20_000 });
    expect((await job.get()).rollback_reason).toContain('limits#max is not what it was');
    expect((await s.state()).checkout).toBe('DISABLED');
    expect((await s.state())['limits#max']).toBe(7);
    // What another hand has changed is not ours to restore: so the state is not what it was, and people hear of it.
    expect(end.status).toBe('ROLLBACK_FAILED');
    expect(await s.alerts()).toContain('ROLLBACK_FAILED');
  });

  test('after a step: a rollback does not overwrite it, opens an incident, and keeps its hold until that is resolved', async () => {
    const { flag, trouble } = outside({});
    s.writ.governance.use(flag);
    await s.work([flag]);
    trouble.apply = () => {
      throw new Error('no');
    };
    const slowly = s.sql(`create function writ_data.meddle() returns trigger language plpgsql as $$ begin
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
    expect(await s.sql('select target from writ_data.target_hold order by 1')).toEqual([{ target: 'flag:a' }, { target: 'limits' }]);
    const other = await s.approved({ title: 'Other', scope: ['limits'], steps: [configure('limits', 'burst', 1)] });
    expect(await codeOf(other.activate({ as: s.keys.service }))).toBe('target_held');
    // A person puts it right, and has the rollback tried again.
    await s.sql(
      `drop trigger meddle on writ_data.governance_job; update writ_data.configuration set value = '3', version = (select written_version from writ_data.governance_step where job_id = '${job.id}' and step_no = 1) where key = 'max'`,
    );
    const [{ answer }] = (await s.sql(`select writ.fn_rollback_retry($1, $2) as answer`, [credential(s.keys.ops), job.id])) as [
      { answer: { job_id: string } },
    ];
    expect(await s.writ.governance.job(answer.job_id).finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
    expect(await job.get()).toMatchObject({ status: 'ROLLBACK_FAILED', resolved_by_job_id: answer.job_id });
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
    s.writ.governance.use(flag as never);
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
    const [{ answer }] = (await s.sql(`select writ.fn_rollback_retry($1, $2) as answer`, [credential(s.keys.ops), job.id])) as [
      { answer: { job_id: string } },
    ];
    expect(await s.writ.governance.job(answer.job_id).finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
    expect(await s.state()).toEqual(before);
    expect(values).toEqual({ b: 7 });
    expect(await s.sql('select from writ_data.target_hold')).toEqual([]);
  });
});

describe('steering', () => {
  test('a job that has not begun is cancelled; one that runs or has ended is not', async () => {
    const contract = await s.approved();
    const job = await contract.activate({ as: s.keys.service });
    expect(await codeOf(job.cancel(credential(s.keys.agent), 'stop it'))).toBe('agents_only_propose');
    await job.cancel(credential(s.keys.ada), 'not today');
    expect(await job.finished()).toMatchObject({ status: 'CANCELLED' });
    expect(await codeOf(job.cancel(credential(s.keys.ada), 'again'))).toBe('job_terminal');
    await s.work();
    expect(await s.state()).toEqual(before);
    const slow = await s.approved({ steps: [enable('checkout'), soak('30s')] });
    const running = await slow.activate({ as: s.keys.service });
    await until(async () => (await running.get()).status === 'RUNNING');
    expect(await codeOf(running.cancel(credential(s.keys.ada), 'too late'))).toBe('job_running');
  });

  test('a governed run takes no signal but EMERGENCY_STOP, and is rolled back then', async () => {
    await s.work();
    const contract = await s.approved({ steps: [enable('checkout'), soak('60s')] });
    const job = await contract.activate({ as: s.keys.service });
    await until(async () => (await job.get()).completed_steps === 1);
    const { run_id: runId } = (await job.get()) as { run_id: string };
    for (const signal of [
      { type: 'PAUSE' },
      { type: 'CANCEL' },
      { type: 'SKIP_STEP', stepId: 's2' },
      { type: 'UPDATE_PARAMS', params: {} },
    ] as const)
      expect(await codeOf(s.writ.runs.signal(runId, signal))).toBe('run_is_governed');
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
    expect(await codeOf(s.sql(`select writ.fn_job_succeed_many($1, '{1}')`, [claim.answer.lease_token]))).toBe('WR001');
    expect(await s.state()).toEqual(before);
  });

  test('past its time it is stopped and rolled back', async () => {
    await s.work();
    const contract = await s.approved({ steps: [enable('checkout'), soak('1h')], maxDuration: '10m' });
    const job = await contract.activate({ as: s.keys.service });
    await until(async () => (await job.get()).completed_steps === 1);
    await s.db.clock.advance('11m');
    const end = await job.finished({ timeoutMs: 20_000 });
    expect(end).toMatchObject({ status: 'ROLLED_BACK' });
    const { history } = (await job.get()) as { history: { event: string }[] };
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
    s.writ.governance.use(flag as never);
    await s.work([flag as never]);
    const contract = await s.approved({ scope: ['flag:a'], steps: [flag({ key: 'a', percent: 1 }), soak('1h')], maxDuration: '10m' });
    const job = await contract.activate({ as: s.keys.service });
    await until(async () => (await job.get()).completed_steps === 1);
    await s.db.clock.advance('11m');
    await begun;
    const [rollback] = await s.sql<{ due_at: Date | null }>(`select due_at from writ_data.governance_job where kind = 'rollback'`);
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
    await s.writ.governance.putProbe(
      { name: 'up', capability: 'checkout', type: 'http', config: { url: await probe(() => status) }, every_ms: 200 },
      { as: s.keys.ops },
    );
    await s.work();
    await until(async () => (await s.writ.governance.health()).system === 'HEALTHY');
    const contract = await s.approved({ steps: [...five, soak('30s'), recordSignal('DONE')] });
    const job = await contract.activate({ as: s.keys.service });
    await until(async () => (await job.get()).completed_steps === 5);
    expect(await s.state()).toEqual({ checkout: 'LAUNCHED', search: 'LAUNCHED', 'limits#max': 300, 'limits#burst': 5 });
    status = 500;
    const end = await job.finished({ timeoutMs: 20_000 });
    expect(end).toMatchObject({ status: 'ROLLED_BACK' });
    expect(end.stateAfter).toBe(end.stateBefore);
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
    const [, watched] = (await job.steps()) as [unknown, { started_at: string; completed_at: string }];
    expect(Date.parse(watched.completed_at) - Date.parse(watched.started_at)).toBeGreaterThanOrEqual(1490);
  });

  test('health that is worse afterwards fails the audit, and is rolled back', async () => {
    await s.work();
    const contract = await s.approved({ steps: [enable('checkout')] });
    await s.sql(`create function writ_data.blame() returns trigger language plpgsql as $$ begin
      insert into writ_data.incident (incident_id, tenant_id, capability, severity, subject, summary, opened_by, opened_at) values (gen_random_uuid(), 'default', 'checkout', 'P2', 'x', 'orders are lost', 'test', now()); return new; end $$;
      create trigger blame after update on writ_data.governance_job for each row when (new.status = 'AUDIT_PENDING' and old.status = 'RUNNING' and new.kind = 'forward') execute function writ_data.blame()`);
    const end = await (await contract.activate({ as: s.keys.service })).finished({ timeoutMs: 20_000 });
    expect(end).toMatchObject({ status: 'ROLLED_BACK' });
    expect(end.reason).toContain('A-002');
    expect(await s.state()).toEqual(before);
  });

  test('an audit without an answer is tried once more, and then a person decides who neither proposed nor approved', async () => {
    const contract = await s.approved({ steps: [enable('checkout')] });
    await s.sql(`update writ_data.job_kind set max_attempts = 1 where job_kind = 'governance.audit'`);
    const job = await contract.activate({ as: s.keys.service });
    await s.sql(`create function writ_data.forget() returns trigger language plpgsql as $$ begin new.health_before := null; return new; end $$;
      create trigger forget before update on writ_data.governance_job for each row when (new.status = 'AUDIT_PENDING' and old.status = 'RUNNING') execute function writ_data.forget()`);
    const worker = await s.work();
    await until(async () => (await s.alerts()).includes('AUDIT_INCONCLUSIVE'));
    expect(await job.get()).toMatchObject({ status: 'AUDIT_PENDING', audit_verdict: 'INCONCLUSIVE' });
    const resolve = (key: string) =>
      s.sql(`select writ.fn_audit_resolve($1, $2, 'PASS', 'looked at every graph') as answer`, [credential(key), job.id]);
    expect(await resolve(s.keys.ada)).toMatchObject([{ answer: { reason: 'own_contract' } }]);
    expect(await resolve(s.keys.agent)).toMatchObject([{ answer: { reason: 'agents_only_propose' } }]);
    expect(await resolve(s.keys.bob)).toMatchObject([{ answer: { verdict: 'PASS', status: 'COMPLETED' } }]);
    expect(await s.sql('select status from writ.system_contracts')).toEqual([{ status: 'COMPLETED' }]);
    await worker.stop();
  });
});

describe('a type of your own', () => {
  test('is read, done, read again and audited like everything else; drift is seen', async () => {
    const { flag, calls, values } = outside({ a: 5 });
    s.writ.governance.use(flag);
    await s.work([flag]);
    const contract = await s.approved({ scope: ['flag:a'], steps: [flag({ key: 'a', percent: 10 }), flag({ key: 'a', percent: 50 })] });
    expect((await contract.preview({ as: s.keys.ada })).steps.map(({ before: b, after }) => [b, after])).toEqual([
      [5, { key: 'a', percent: 10 }],
      [
        { key: 'a', percent: 10 },
        { key: 'a', percent: 50 },
      ],
    ]);
    values.a = 6;
    expect(await codeOf(contract.activate({ as: s.keys.service }))).toBe('stale_pre_value');
    values.a = 5;
    const again = await s.approved({
      title: 'Again',
      scope: ['flag:a', 'checkout'],
      steps: [flag({ key: 'a', percent: 10 }), flag({ key: 'a', percent: 50 }), enable('checkout')],
    });
    expect(await (await again.activate({ as: s.keys.service })).finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
    expect(values).toEqual({ a: 50 });
    expect(calls).toEqual(['apply a 10 64', 'apply a 50 64']);
  });

  test('a step that began and whose end nobody knows is undone, too', async () => {
    const { flag, calls, trouble, values } = outside({ a: 5 });
    s.writ.governance.use(flag);
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

test('the ledger has what was done, and verifies', async () => {
  await s.work();
  await s.done();
  await s.done({ title: 'Off', scope: ['search'], steps: [disable('search', 'old')] });
  const rows = await s.sql<{ reason: string; stream: string; seq: number }>(
    `select entry::jsonb ->> 'reason' as reason, stream, stream_seq::integer as seq from writ_data.receipt where log_id = 'default' order by stream, stream_seq`,
  );
  expect(rows.filter(({ reason }) => reason === 'change_applied')).toHaveLength(6);
  const streams = Map.groupBy
    ? Map.groupBy(rows, ({ stream }) => stream)
    : new Map(rows.map(({ stream }) => [stream, rows.filter((row) => row.stream === stream)]));
  for (const [, of] of streams) expect(of.map(({ seq }) => seq)).toEqual(of.map((_, n) => n + 1));
});

test('others are told of it: facts of governance belong to their tenant', async () => {
  await s.work();
  await s.done({ steps: [enable('checkout'), recordSignal('ROLLOUT')] });
  const seen: [string, string | undefined][] = [];
  for await (const { event } of s.writ.events({
    types: ['governance.*', 'health.*'],
    after: 'beginning',
    tenant: 'default',
    untilNow: true,
  }))
    seen.push([event.type, event.tenantid]);
  expect(new Set(seen.map(([type]) => type))).toEqual(
    new Set([
      'governance.contract_moved',
      'governance.contract_reviewed',
      'governance.job_moved',
      'governance.change_applied',
      'governance.audited',
      'health.signal_recorded',
    ]),
  );
  expect(new Set(seen.map(([, tenant]) => tenant))).toEqual(new Set(['default']));
});

test('every change is on the record with what it was, also where several were written down together', async () => {
  const one = await s.approved({ title: 'One', scope: ['checkout', 'limits'], steps: [enable('checkout'), configure('limits', 'max', 7)] });
  const other = await s.approved({ title: 'Other', scope: ['search'], steps: [disable('search', 'old')] });
  const jobs = [await one.activate({ as: s.keys.service }), await other.activate({ as: s.keys.service })];
  await s.work();
  for (const job of jobs) await job.finished({ timeoutMs: 20_000 });
  const facts = await s.sql(
    `select safe_payload -> 'steps' as steps, canonical_address from writ.event_outbox where event_type = 'governance.change_applied' order by canonical_address`,
  );
  expect(facts).toEqual([
    {
      steps: [
        { step: 1, step_type: 'capability_enable', target: 'checkout' },
        { step: 2, step_type: 'config_update', target: 'limits' },
      ],
      canonical_address: `job/${jobs[0]?.id}`,
    },
    { steps: [{ step: 1, step_type: 'capability_disable', target: 'search' }], canonical_address: `job/${jobs[1]?.id}` },
  ]);
  const steps = `event_subject_ref in (select job_id::text from writ_data.job where run_id is not null)`;
  expect(await s.sql(`select safe_payload as says from writ.event_outbox where event_type = 'dot.job.committed' and ${steps}`)).toEqual([
    { says: {} },
    { says: {} },
  ]);
});
