/**
 * Every gate of the queue and its schedules takes an actor of 200 characters and refuses a longer
 * one.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let caller: Login;
beforeAll(async () => {
  db = await testDatabase();
  await db.query(
    `select writ.fn_job_kind_register('chore', '{}', 'test'), writ.fn_job_kind_register('audit', '{}', 'test')`,
  );
  caller = await login(db, ['writ_producer', 'writ_engine', 'writ_admin']);
});
afterAll(async () => {
  await caller.end();
  await db.drop();
});

const definition = '{"cron": "* * * * *", "kind": "chore", "job": {}}';
const subscription = { executor_id: 'w', job_kind: 'chore', event_domain: null };

test.each<[string, Record<string, unknown>]>([
  ['fn_schedule_put', { schedule: 's', definition, next_tick: '2026-01-01T00:00:00Z' }],
  ['fn_schedule_pause', { schedule: 's' }],
  ['fn_schedule_resume', { schedule: 's' }],
  ['fn_schedule_run_now', { schedule: 's' }],
  ['fn_schedule_fire', { due: '[]' }],
  ['fn_schedule_remove', { schedule: 's' }],
  [
    'fn_consumer_register',
    { consumer: 'c', event_type: 'dot.job.enqueued', job_kind: 'audit', options: '{}' },
  ],
  ['fn_consumer_remove', { consumer: 'c' }],
  ['fn_job_subscription_put', { ...subscription, priority_floor: 0 }],
  ['fn_job_subscription_remove', subscription],
  [
    'fn_mot_graph_emit',
    { workflow: '{"kind": "w", "generator": "g"}', jobs: '[{"kind": "chore"}]' },
  ],
  ['fn_tenant_weight_set', { tenant_id: 't', weight: 2 }],
  ['fn_setting_set', { key: 'queue.poison.crashes', value: '4' }],
])('%s refuses an actor of more than 200 characters', async (gate, parameters) => {
  expect(await caller.call(gate, { ...parameters, actor: 'a'.repeat(201) })).toMatchObject({
    refused: true,
    reason: 'invalid_actor',
  });
  expect(await caller.call(gate, { ...parameters, actor: 'a'.repeat(200) })).not.toHaveProperty(
    'reason',
  );
});

test('fn_login_put and fn_login_remove refuse an actor of more than 200 characters', async () => {
  await db.query('create role "actors test" login');
  const put = {
    login: 'actors test',
    definition: JSON.stringify({ tenant_id: 'acme', roles: ['writ_worker', 'writ_worker'] }),
  };
  expect(await caller.call('fn_login_put', { ...put, actor: 'a'.repeat(201) })).toMatchObject({
    reason: 'invalid_actor',
  });
  expect(await caller.call('fn_login_put', { ...put, actor: 'a'.repeat(200) })).toMatchObject({
    roles: ['writ_worker'],
  });
  const long = JSON.stringify({ tenant_id: 't'.repeat(201) });
  expect(await caller.call('fn_login_put', { ...put, definition: long, actor: 'a' })).toMatchObject(
    { reason: 'invalid_login' },
  );
  expect(
    await caller.call('fn_login_remove', { login: 'actors test', actor: 'a'.repeat(201) }),
  ).toMatchObject({ reason: 'invalid_actor' });
  expect(
    await caller.call('fn_login_remove', { login: 'actors test', actor: 'a'.repeat(200) }),
  ).toEqual({ login: 'actors test' });
  await db.query('drop role "actors test"');
});
