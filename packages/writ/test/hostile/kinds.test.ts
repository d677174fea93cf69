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

beforeEach(async () => {
  db = await testDatabase();
  producer = await login(db, ['writ_producer']);
  worker = await login(db, ['writ_worker']);
  applier = await login(db, ['writ_applier']);
  tenants = await login(db, ['writ_worker', 'writ_producer'], { tenant_id: 'acme' });
});
afterEach(async () => {
  for (const one of [producer, worker, applier, tenants]) await one.end();
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
  test('with {} changes nothing of anybody’s kind', async () => {
    await define(worker, 'chore', whole);
    const before = await standing('chore');
    for (const as of [producer, worker, applier, tenants]) {
      expect(await define(as, 'chore', {})).toEqual({ registered: 'chore' });
    }
    expect(await standing('chore')).toEqual(before);
  });

  test('changes only the fields that it names, and the record has both values', async () => {
    await define(worker, 'chore', whole);
    await define(worker, 'chore', { max_attempts: 7 });
    expect(await standing('chore')).toMatchObject({ ...whole, max_attempts: 7 });
    const [{ note, login: by }] = (await db.query(
      `select note, login from writ.command_run where command = 'fn_job_kind_register' order by run_id desc limit 1`,
    )) as [{ note: string; login: string }];
    expect([note, by]).toEqual(['chore: max_attempts 3 → 7', worker.name]);
  });

  test('by a producer or a tenant’s worker keeps what stands, and says so', async () => {
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

  test('cannot hand a kind to an executor that nobody claims with', async () => {
    await define(worker, 'chore', whole);
    expect(await define(worker, 'chore', { executor: 'DOT' })).toMatchObject({
      kept: ['executor'],
    });
    const { id } = await enqueue('chore');
    expect(await claim(worker, ['chore'])).toMatchObject({
      jobs: [expect.arrayContaining([id, 'chore'])],
    });
  });

  test('rewrites none of Writ’s own kinds, whatever the role', async () => {
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

  test('in a reserved name is for an applier', async () => {
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

  test('of reserved kinds alone is refused to a worker', async () => {
    expect(await claim(worker, ['governance.change', 'governance.ended'])).toMatchObject({
      reason: 'reserved_job_kind',
    });
    expect(await claim(applier, ['governance.change'])).toEqual({ jobs: [] });
  });
});

describe('a producer', () => {
  test('enqueues no reserved kind by any gate', async () => {
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

  test('does not take the key of a schedule’s tick or a consumer’s fact', async () => {
    await define(worker, 'chore', {});
    for (const key of ['schedule:nightly:2030-01-01T00:00:00Z', 'consumer:c:1']) {
      const jobs = JSON.stringify([{ id: uuidv7(), kind: 'chore', key }]);
      expect(await producer.call('fn_job_enqueue_many', { jobs, actor: 'p' })).toMatchObject({
        refused: [{ reason: 'reserved_idempotency_key' }],
      });
    }
  });
});
