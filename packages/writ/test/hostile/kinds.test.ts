/** Kinds of jobs are shared: nobody rewrites another's, and Writ's own are reserved. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let producer: Login;
let worker: Login;
let applier: Login;
let tenants: Login;
const others: Login[] = [];

beforeEach(async () => {
  db = await testDatabase();
  producer = await login(db, ['writ_producer']);
  worker = await login(db, ['writ_worker']);
  applier = await login(db, ['writ_applier']);
  tenants = await login(db, ['writ_worker', 'writ_producer'], { tenant_id: 'acme' });
});
afterEach(async () => {
  for (const one of [producer, worker, applier, tenants, ...others.splice(0)]) await one.end();
  await db.drop();
});

const define = (as: Login, kind: string, definition: object) =>
  as.call('fn_job_kind_register', { kind, definition: JSON.stringify(definition), actor: 'eve' });
const standing = async (kind: string) =>
  (await db.query('select * from writ_data.job_kind where job_kind = $1', [kind]))[0];
const enqueue = async (kind: string, as = producer) => {
  const id = uuidv7();
  const answer = await as.call('fn_job_enqueue_many', {
    jobs: JSON.stringify([{ id, kind }]),
    actor: 'p',
  });
  return { id, answer };
};
const claim = (as: Login, kinds: string[]) =>
  as.call('fn_job_claim_many', {
    kinds,
    executor: 'external_worker',
    lease_holder: 'w',
    limit: 10,
    start: 10,
  });
const whole = {
  event_domain: 'kg',
  executor: 'external_worker',
  max_attempts: 3,
  timeout_s: 60,
  limit_concurrency: 2,
};

describe('a registration', () => {
  test('with {} changes no kind', async () => {
    await define(worker, 'chore', whole);
    const before = await standing('chore');
    for (const as of [producer, worker, applier, tenants]) {
      expect(await define(as, 'chore', {})).toEqual({ registered: 'chore' });
    }
    expect(await standing('chore')).toEqual(before);
  });

  test('changes only the fields that it names, and records the values before and after', async () => {
    await define(worker, 'chore', whole);
    await define(worker, 'chore', { max_attempts: 7 });
    expect(await standing('chore')).toMatchObject({ ...whole, max_attempts: 7 });
    const [{ note, login: by }] = (await db.query(
      `select note, login from writ.command_run where command = 'fn_job_kind_register' order by run_id desc limit 1`,
    )) as [{ note: string; login: string }];
    expect([note, by]).toEqual(['chore: max_attempts 3 → 7', worker.name]);
  });

  test('that brings back within a day what the last one replaced raises KIND_CONFLICT', async () => {
    const alerts = () =>
      db.query(
        `select subject, detail from writ.alert where code = 'KIND_CONFLICT' and cleared_at is null`,
      );
    await define(worker, 'chore', whole);
    expect(await define(worker, 'chore', { max_attempts: 7 })).toEqual({ registered: 'chore' });
    await db.clock.advance('25h');
    // a deployment taken back
    expect(await define(worker, 'chore', { max_attempts: 3 })).toEqual({ registered: 'chore' });
    expect(await define(worker, 'chore', { max_attempts: 8 })).toEqual({ registered: 'chore' });
    expect(await alerts()).toEqual([]);
    for (const max_attempts of [3, 8]) {
      expect(await define(worker, 'chore', { max_attempts })).toEqual({
        registered: 'chore',
        conflict: 'eve',
      });
    }
    expect(await alerts()).toEqual([
      {
        subject: 'kind/chore',
        detail: { changed: 'max_attempts 8 → 3', by: 'eve', before_by: 'eve' },
      },
    ]);
  });

  test('by a producer or a tenant’s worker changes nothing, and answers which fields it kept', async () => {
    await define(worker, 'chore', whole);
    const before = await standing('chore');
    for (const as of [producer, tenants]) {
      expect(await define(as, 'chore', { max_attempts: 1, limit_concurrency: 1 })).toEqual({
        registered: 'chore',
        kept: ['limit_concurrency', 'max_attempts'],
      });
    }
    expect(await standing('chore')).toEqual(before);
  });

  test('by a worker cannot move a kind to another executor', async () => {
    await define(worker, 'chore', whole);
    expect(await define(worker, 'chore', { executor: 'DOT' })).toMatchObject({
      kept: ['executor'],
    });
    const { id } = await enqueue('chore');
    expect(await claim(worker, ['chore'])).toMatchObject({
      jobs: [expect.arrayContaining([id, 'chore'])],
    });
  });

  test('changes none of Writ’s own kinds, for any role', async () => {
    const own = await db.query(
      `select * from writ_data.job_kind where registered_by = 'migration' order by job_kind`,
    );
    expect(own.length).toBeGreaterThan(5);
    const all = await login(db, ['workflow_admin']);
    for (const { job_kind } of own) {
      for (const as of [producer, worker, applier, tenants, all]) {
        await define(as, String(job_kind), { executor: 'DOT', max_attempts: 9, timeout_s: 1 });
      }
    }
    expect(
      await db.query(
        `select * from writ_data.job_kind where registered_by = 'migration' order by job_kind`,
      ),
    ).toEqual(own);
    await all.end();
  });

  test('under a reserved name is accepted only from an applier', async () => {
    for (const kind of ['governance.mine', 'governor.mine', 'writ.mine']) {
      for (const as of [producer, worker, tenants]) {
        expect(await define(as, kind, {})).toMatchObject({ reason: 'reserved_job_kind' });
      }
    }
    expect(await define(applier, 'writ.mine', {})).toMatchObject({ reason: 'reserved_job_kind' });
    expect(await define(applier, 'governance.mine', {})).toEqual({ registered: 'governance.mine' });
  });

  test.each([
    { limit_rate: 'NaN' },
    { limit_rate: 'Infinity' },
    { limit_rate: 1e300 },
    { limit_burst: 'NaN', limit_rate: 1 },
    { timeout_s: 'NaN' },
    { timeout_s: 1e300 },
    { backoff_cap_s: 'Infinity' },
    { limit_concurrency: 2_000_000_000 },
    { source_system: 'x'.repeat(201) },
    { registered_by: 'migration' },
  ])('with %j is refused', async (definition) => {
    expect(await define(worker, 'chore', definition)).toMatchObject({
      reason: 'invalid_job_definition',
    });
  });
});

describe('a claim', () => {
  test('skips a foreign, a reserved and an unknown kind, and claims the rest', async () => {
    await define(worker, 'chore', {});
    await define(worker, 'theirs', { executor: 'DOT' });
    const { id } = await enqueue('chore');
    const answer = await claim(worker, ['theirs', 'governance.ended', 'nothing', 'chore']);
    expect(answer).toMatchObject({
      jobs: [expect.arrayContaining([id, 'chore'])],
      skipped: { theirs: 'executor_forbidden', 'governance.ended': 'reserved_job_kind' },
    });
  });

  test('of reserved kinds only is refused to a worker', async () => {
    expect(await claim(worker, ['governance.change', 'governance.ended'])).toMatchObject({
      reason: 'reserved_job_kind',
    });
    expect(await claim(applier, ['governance.change'])).toEqual({ jobs: [] });
    // Also of one that nobody has registered.
    expect(await claim(worker, ['governance.unknown'])).toMatchObject({
      reason: 'reserved_job_kind',
    });
  });
});

describe('a heartbeat', () => {
  const beat = async (as: Login) => {
    await as.call('fn_queue_heartbeat', {
      executor_id: 'w',
      executor_kind: 'external_worker',
      domain_scope: [],
      cadence_seconds: 10,
      kinds: ['chore', 'governance.verify', 'governor.action'],
    });
    const [row] = await db.query('select kinds from writ_data.queue_worker where login = $1', [
      as.name,
    ]);
    return row?.kinds;
  };

  test('of a login without writ_applier counts for no reserved kind', async () => {
    const engine = await login(db, ['writ_engine']);
    others.push(engine);
    // A review answers from these rows whether an applier runs.
    expect(await beat(worker)).toEqual(['chore']);
    expect(await beat(engine)).toEqual(['chore']);
    expect(await beat(applier)).toEqual(['chore', 'governance.verify', 'governor.action']);
  });
});

describe('a job of a reserved kind', () => {
  type Lease = { lease_token: string; jobs: [id: string, kind: string][] };

  /** Enqueues as a gate of its kind does. */
  async function own(kind: string): Promise<string> {
    const id = uuidv7();
    await db.query(
      `select writ_data.enqueue_alike($1, array[$2::uuid], '[{}]', 'test', 'default')`,
      [kind, id],
    );
    return id;
  }
  async function lease(as: Login, kinds: string[]): Promise<Lease> {
    const executor = String((await standing(String(kinds[0])))?.executor);
    return (await as.call('fn_job_claim_many', {
      kinds,
      executor,
      lease_holder: 'w',
      limit: 10,
      start: 10,
    })) as unknown as Lease;
  }
  const executions = (id: string) =>
    db.query('select status, result, result_ref from writ_data.job_execution where job_id = $1', [
      id,
    ]);

  /** Every gate of the queue and the runs that commits or succeeds a job. */
  const finishing: Record<string, (as: Login, id: string, token: string) => Promise<unknown>> = {
    fn_job_commit: (as, id, token) => as.call('fn_job_commit', { job_id: id, lease_token: token }),
    fn_job_succeed: (as, id, token) =>
      as.call('fn_job_succeed', {
        job_id: id,
        lease_token: token,
        result_ref: 's3://x',
        actor: 'w',
      }),
    fn_job_succeed_many: (as, _, token) =>
      as.call('fn_job_succeed_many', { lease_token: token, positions: [1] }),
    'fn_job_succeed_many with results': (as, _, token) =>
      as.call('fn_job_succeed_many', {
        lease_token: token,
        positions: [1],
        results: ['{"done":true}'],
      }),
    'fn_job_succeed_many with positions beside the lease': (as, _, token) =>
      as.call('fn_job_succeed_many', {
        lease_token: token,
        positions: [null, 2_000_000_000, 1, 1, 0, -1],
      }),
    fn_run_step_commit: (as, id, token) =>
      as.call('fn_run_step_commit', { job_id: id, lease_token: token, result: '{}' }),
    'fn_job_commit, then fn_run_step_commit': async (as, id, token) => {
      await as.query('begin');
      try {
        await as.call('fn_job_commit', { job_id: id, lease_token: token });
        return await as.call('fn_run_step_commit', {
          job_id: id,
          lease_token: token,
          result: '{}',
        });
      } finally {
        await as.query('commit');
      }
    },
  };

  test.each(['writ_applier', 'dot_executor', 'workflow_admin'])(
    'is neither committed nor succeeded by a gate of the queue for %s',
    async (role) => {
      await define(applier, 'governance.mine', {});
      await define(applier, 'governor.handler.mine', {});
      const kinds = await db.query(
        'select job_kind as kind from writ_data.job_kind where writ_data.reserved_kind(job_kind)',
      );
      expect(kinds.length).toBeGreaterThanOrEqual(10);
      const mallory = await login(db, [role]);
      others.push(mallory);
      for (const { kind } of kinds) {
        const id = await own(String(kind));
        const held = await lease(mallory, [String(kind)]);
        expect(held.jobs.map(([one, of]) => [one, of])).toEqual([[id, kind]]);
        for (const [gate, finish] of Object.entries(finishing)) {
          const answer = await finish(mallory, id, held.lease_token).catch(
            (error: { message: string }) => error.message,
          );
          expect([kind, gate, JSON.stringify(answer)]).toEqual([
            kind,
            gate,
            expect.stringContaining('reserved_job_kind'),
          ]);
          expect([kind, gate, await executions(id)]).toEqual([kind, gate, []]);
        }
        const steps = {
          tokens: [held.lease_token],
          positions: [1],
          jobs: [id],
          runs: [uuidv7()],
          results: [null],
          take: [true],
        };
        const going = { kinds: [kind], token: uuidv7(), lease_ttl_seconds: 30, holder: 'w' };
        expect(await mallory.call('fn_run_steps_succeed', { ...steps, ...going })).toEqual({
          unusual: true,
        });
        expect(await executions(id)).toEqual([]);
        expect(await db.query('select open_jobs from writ_data.job_lease')).toEqual([
          { open_jobs: 1 },
        ]);
        expect(
          await mallory.call('fn_lease_release', { lease_token: held.lease_token, actor: 'w' }),
        ).toMatchObject({ queued: 1 });
      }
    },
  );

  test('reaches its applier whatever an administrator subscribes that applier to', async () => {
    const admin = await login(db, ['writ_admin']);
    others.push(admin);
    const subscribe = (executor_id: string) =>
      admin.call('fn_job_subscription_put', {
        executor_id,
        job_kind: 'chore',
        event_domain: null,
        priority_floor: 7,
        actor: 'mallory',
      });
    await define(worker, 'chore', {});
    await define(worker, 'extra', {});
    await enqueue('chore');
    await enqueue('extra');
    const verify = await own('governance.verify');
    expect(await subscribe('w')).not.toHaveProperty('refused');
    const held = await lease(applier, ['governance.verify', 'extra', 'chore']);
    expect(held.jobs.map(([id]) => id)).toEqual([verify]);
  });

  test('does not stop the other jobs of its lease from succeeding', async () => {
    await define(worker, 'chore', {});
    const { id } = await enqueue('chore');
    const reserved = await own('governance.audit');
    const held = await lease(applier, ['chore', 'governance.audit']);
    expect(held.jobs.map(([one]) => one).sort()).toEqual([id, reserved].sort());
    const position = held.jobs.findIndex(([one]) => one === reserved) + 1;
    expect(
      await applier.call('fn_job_succeed_many', {
        lease_token: held.lease_token,
        positions: [1, 2, 77],
      }),
    ).toMatchObject({
      done: 1,
      refused: expect.arrayContaining([
        { position, reason: 'reserved_job_kind' },
        { position: 77, reason: 'lease_lost' },
      ]),
    });
    expect(await executions(id)).toMatchObject([{ status: 'DONE' }]);
    expect(await executions(reserved)).toEqual([]);
  });

  test('that its own gate has committed becomes DONE by a report, which cannot set its result', async () => {
    const id = await own('governor.webhook');
    const held = await lease(applier, ['governor.webhook']);
    const its = { job_id: id, lease_token: held.lease_token };
    expect(await applier.call('fn_governor_commit', its)).toMatchObject({ committed: true });
    const answer = {
      lease_token: held.lease_token,
      positions: [1],
      results: ['"forged"'],
      result_refs: ['s3://forged'],
    };
    expect(await applier.call('fn_job_succeed_many', answer)).toMatchObject({
      done: 1,
      refused: [],
    });
    expect(await executions(id)).toEqual([{ status: 'DONE', result: null, result_ref: null }]);
  });

  test('that its own gate has committed becomes DONE by the reaper when its applier is gone', async () => {
    const id = await own('governor.webhook');
    const held = await lease(applier, ['governor.webhook']);
    await applier.call('fn_governor_commit', { job_id: id, lease_token: held.lease_token });
    await db.query(
      `update writ_data.job_lease set leased_until = writ.now() - interval '1 minute'`,
    );
    await db.query(`select writ.fn_job_tick('clockwork')`);
    expect(await executions(id)).toMatchObject([{ status: 'DONE' }]);
  });

  test('cannot be committed by the gate of another kind', async () => {
    const id = await own('governance.ended');
    const held = await lease(applier, ['governance.ended']);
    const its = { job_id: id, lease_token: held.lease_token };
    await expect(applier.call('fn_governor_commit', its)).rejects.toThrow('not_an_action');
    const items = JSON.stringify([{ job: id, token: held.lease_token }]);
    expect(JSON.stringify(await applier.call('fn_changes_apply', { items, actor: 'w' }))).toContain(
      'reason',
    );
    expect(
      JSON.stringify(await applier.call('fn_governance_audits', { items, actor: 'w' })),
    ).toContain('job_not_found');
    expect(await executions(id)).toEqual([]);
  });

  test('is not committed for an actor of more than 200 characters', async () => {
    const id = await own('governor.webhook');
    const held = await lease(applier, ['governor.webhook']);
    const commit = applier.call('fn_governor_commit', {
      job_id: id,
      lease_token: held.lease_token,
      actor: 'x'.repeat(201),
    });
    await expect(commit).rejects.toThrow('invalid_actor');
  });
});

describe('a producer', () => {
  test('cannot enqueue a reserved kind through any gate', async () => {
    const all = await login(db, ['workflow_admin']);
    for (const kind of [
      'governance.change',
      'governance.ended',
      'governor.webhook',
      'writ.timer',
    ]) {
      for (const as of [producer, all]) {
        expect((await enqueue(kind, as)).answer).toMatchObject({
          enqueued: 0,
          refused: [{ reason: 'reserved_job_kind' }],
        });
        const alike = { kind, ids: [uuidv7()], inputs: null, actor: 'p' };
        expect(await as.call('fn_job_enqueue_alike', alike)).toMatchObject({
          enqueued: 0,
          refused: [{ reason: 'reserved_job_kind' }],
        });
        const graph = {
          workflow: JSON.stringify({ kind: 'w', generator: 'g' }),
          jobs: JSON.stringify([{ kind }]),
          actor: 'p',
        };
        expect(await as.call('fn_mot_graph_emit', graph)).toMatchObject({
          reason: 'reserved_job_kind',
        });
      }
      const schedule = {
        schedule: 's',
        definition: JSON.stringify({ cron: '@daily', kind, job: {} }),
        next_tick: '2030-01-01T00:00Z',
        actor: 'p',
      };
      expect(await all.call('fn_schedule_put', schedule)).toMatchObject({
        reason: 'reserved_job_kind',
      });
      const consumer = {
        consumer: 'c',
        event_type: 'dot.job.succeeded',
        job_kind: kind,
        options: '{}',
        actor: 'p',
      };
      expect(await all.call('fn_consumer_register', consumer)).toMatchObject({
        reason: 'reserved_job_kind',
      });
    }
    await all.end();
  });

  test('cannot take the key of a schedule’s tick or a consumer’s fact', async () => {
    await define(worker, 'chore', {});
    for (const key of ['schedule:nightly:2030-01-01T00:00:00Z', 'consumer:c:1']) {
      const jobs = JSON.stringify([{ id: uuidv7(), kind: 'chore', key }]);
      expect(await producer.call('fn_job_enqueue_many', { jobs, actor: 'p' })).toMatchObject({
        refused: [{ reason: 'reserved_idempotency_key' }],
      });
    }
  });
});
