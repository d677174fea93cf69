/** What tenants and workers share, none of them changes or watches for the others. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let worker: Login;
let bound: Login;

beforeEach(async () => {
  db = await testDatabase();
  await db.query(`select writ.fn_job_kind_register('chore', '{}', 'test')`);
  worker = await login(db, ['writ_worker', 'writ_producer']);
  bound = await login(db, ['writ_worker', 'writ_producer', 'writ_admin'], { tenant_id: 'acme' });
});
afterEach(async () => {
  for (const one of [worker, bound]) await one.end();
  await db.drop();
});

const enqueue = (tenant: string, more: object = {}) =>
  worker.call('fn_job_enqueue_many', {
    jobs: JSON.stringify([{ id: uuidv7(), kind: 'chore', tenant, ...more }]),
    actor: 'p',
  });
const beat = {
  executor_id: 'w',
  executor_kind: 'external_worker',
  domain_scope: ['dot'],
  cadence_seconds: 10,
};

test('a login of one tenant gets the figures of its own jobs only', async () => {
  const dead = async (tenant: string) => {
    await enqueue(tenant);
    const claim = { kinds: ['chore'], executor: 'external_worker', lease_holder: 'w', start: 1 };
    const { lease_token } = await worker.call('fn_job_claim_many', claim);
    const failed = {
      lease_token,
      positions: [1],
      abort_kinds: ['permanent'],
      codes: ['x'],
      messages: ['x'],
    };
    expect(await worker.call('fn_job_abort_many', failed)).toMatchObject({ dead_letter: 1 });
  };
  await dead('globex');
  await enqueue('globex');
  await worker.call('fn_job_claim_many', {
    kinds: ['chore'],
    executor: 'external_worker',
    lease_holder: 'w',
  });
  await enqueue('globex');
  await enqueue('globex', { delay_ms: 60_000 });
  const none = {
    backlog: 0,
    waiting: 0,
    in_progress: 0,
    dead_letter_open: 0,
    lease_active: 0,
    lease_expired: 0,
    oldest_queued_age_s: null,
  };
  expect(await bound.call('fn_job_queue_health')).toMatchObject(none);
  expect(await bound.call('fn_job_queue_health', { kinds: ['chore'] })).toMatchObject(none);

  await enqueue('acme');
  expect(await bound.call('fn_job_queue_health')).toMatchObject({
    ...none,
    backlog: 1,
    oldest_queued_age_s: expect.any(Number),
  });
  const all = { backlog: 2, waiting: 1, in_progress: 1, dead_letter_open: 1, lease_active: 1 };
  expect(await worker.call('fn_job_queue_health')).toMatchObject(all);
  expect(await worker.call('fn_job_queue_health', { kinds: ['chore'] })).toMatchObject(all);
});

test('a login of one tenant that registers a kind first sets no limits for the others', async () => {
  const definition = JSON.stringify({ limit_rate: 1e-6, limit_concurrency: 1, max_attempts: 7 });
  const answer = await bound.call('fn_job_kind_register', {
    kind: 'email',
    definition,
    actor: 'acme',
  });
  expect(answer).toEqual({ registered: 'email', kept: ['limit_concurrency', 'limit_rate'] });
  const kind = `select max_attempts, limit_concurrency, limit_rate, limit_burst from writ.job_kind where job_kind = 'email'`;
  expect(await db.query(kind)).toEqual([
    { max_attempts: 7, limit_concurrency: null, limit_rate: null, limit_burst: null },
  ]);
});

test('a login can neither remove nor overwrite another login’s worker, nor take its wake-ups', async () => {
  await worker.call('fn_queue_heartbeat', { ...beat, kinds: ['chore'], idle_seconds: 30 });
  expect(await bound.call('fn_queue_worker_leave', { executor_id: 'w' })).toEqual({ left: false });
  await bound.call('fn_queue_heartbeat', { ...beat, kinds: [], cadence_seconds: 86_400 });
  expect(
    await db.query(
      `select login, kinds, idle_until > writ.now() as idle from writ.v_queue_heartbeat
       where executor_id = 'w' order by login = $1`,
      [worker.name],
    ),
  ).toEqual([
    { login: bound.name, kinds: [], idle: null },
    { login: worker.name, kinds: ['chore'], idle: true },
  ]);
});

test('a login may have a thousand workers on the list, and workers silent for a day make room', async () => {
  await worker.query(
    `select writ.fn_queue_heartbeat('w' || n, 'external_worker', '{dot}', 10) from generate_series(1, 1000) n`,
  );
  const next = () => worker.call('fn_queue_heartbeat', { ...beat, executor_id: 'one more' });
  expect(await next()).toMatchObject({ refused: true, reason: 'batch_too_large' });
  expect(
    await worker.call('fn_queue_heartbeat', { ...beat, executor_id: 'w1' }),
  ).not.toHaveProperty('reason');
  expect(
    await bound.call('fn_queue_heartbeat', { ...beat, executor_id: 'another login' }),
  ).not.toHaveProperty('reason');
  await db.clock.advance('25h');
  expect(await next()).not.toHaveProperty('reason');
});

test('a login of one tenant begins no request under the name of another', async () => {
  const digest = 'ab'.repeat(32);
  const begin = (tenant_id: string) =>
    bound.call('fn_request_begin', { key: null, tenant_id, once: 'once', digest });
  expect(await begin('globex')).toMatchObject({ refused: true, reason: 'tenant_forbidden' });
  expect(await begin('acme')).toBeNull();
  expect(await db.query('select tenant_id from writ_data.request')).toEqual([
    { tenant_id: 'acme' },
  ]);
});

test('a principal of one tenant begins no request under the name of another', async () => {
  await db.query(
    `insert into writ_data.principal (principal_id, tenant_id, kind, rights, auth_sha256,
       public_key, added_by, added_at)
     values ('ann', 'acme', 'person', '{}', sha256(''), sha256(''), 'test', now())`,
  );
  const ann = await login(db, ['writ_principal'], { principal_id: 'ann' });
  try {
    const begin = (tenant_id: string) =>
      ann.call('fn_request_begin', { key: null, tenant_id, once: 'o', digest: 'ab'.repeat(32) });
    expect(await begin('globex')).toMatchObject({ refused: true, reason: 'tenant_forbidden' });
    expect(await begin('acme')).toBeNull();
  } finally {
    await ann.end();
  }
});
