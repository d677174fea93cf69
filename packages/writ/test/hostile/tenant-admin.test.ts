/** An administrator of one tenant changes nothing that belongs to all of them. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let admin: Login;
beforeAll(async () => {
  db = await testDatabase();
});
afterEach(() => admin.end());
afterAll(() => db.drop());

const entered = async () => {
  admin = await login(db, ['writ_admin'], { tenant_id: 'mine' });
  return admin;
};
const keys = { auth_sha256: 'ab'.repeat(32), public_key: 'cd'.repeat(32), kind: 'service' };

test.each([
  ['fn_setting_set', { key: 'queue.job_substrate.enabled', value: 'false', actor: 'x' }],
  ['fn_tenant_weight_set', { tenant_id: 'mine', weight: 100, actor: 'x' }],
  [
    'fn_consumer_register',
    { consumer: 'c', event_type: 'dot.job.succeeded', job_kind: 'k', options: '{}', actor: 'x' },
  ],
  ['fn_consumer_remove', { consumer: 'c', actor: 'x' }],
  [
    'fn_job_subscription_put',
    { executor_id: 'w', job_kind: 'k', event_domain: null, priority_floor: 0, actor: 'x' },
  ],
  [
    'fn_job_subscription_remove',
    { executor_id: 'w', job_kind: 'k', event_domain: null, actor: 'x' },
  ],
  ['fn_principal_put', { principal: JSON.stringify({ principal_id: 'p', ...keys }), actor: 'x' }],
  [
    'fn_principal_put',
    { principal: JSON.stringify({ principal_id: 'p', tenant: 'theirs', ...keys }), actor: 'x' },
  ],
] as const)('%s refuses a login that is bound to a tenant', async (gate, parameters) => {
  const caller = await entered();
  expect(await caller.call(gate, { ...parameters })).toMatchObject({
    refused: true,
    reason: 'tenant_forbidden',
  });
});

test('fn_login_put does not let a login unbind itself', async () => {
  const caller = await entered();
  const definition = JSON.stringify({ roles: ['writ_admin'] });
  expect(
    await caller.call('fn_login_put', { login: caller.name, definition, actor: 'x' }),
  ).toMatchObject({ reason: 'tenant_forbidden' });
  expect(await caller.call('fn_login_remove', { login: caller.name, actor: 'x' })).toMatchObject({
    reason: 'tenant_forbidden',
  });
  expect(await caller.call('fn_login')).toMatchObject({ tenant_id: 'mine' });
});

test('fn_principal_put lets an administrator of a tenant add a principal of that tenant', async () => {
  const caller = await entered();
  const principal = JSON.stringify({ principal_id: 'own', tenant: 'mine', ...keys });
  expect(await caller.call('fn_principal_put', { principal, actor: 'x' })).toEqual({
    principal_id: 'own',
  });
});

test('fn_principal_put refuses an agent that acts for a principal of another tenant', async () => {
  const caller = await entered();
  const put = (id: string, more: object) => JSON.stringify({ principal_id: id, ...keys, ...more });
  await db.query(`select writ.fn_principal_put($1::jsonb, 'test')`, [
    put('theirs', { kind: 'person', tenant: 'theirs' }),
  ]);
  await db.query(`select writ.fn_principal_put($1::jsonb, 'test')`, [
    put('anywhere', { kind: 'person' }),
  ]);
  const agent = (id: string, on_behalf_of: string) =>
    caller.call('fn_principal_put', {
      principal: put(id, { kind: 'agent', tenant: 'mine', on_behalf_of }),
      actor: 'x',
    });
  expect(await agent('agent-1', 'theirs')).toMatchObject({ reason: 'invalid_principal' });
  expect(await agent('agent-2', 'anywhere')).toEqual({ principal_id: 'agent-2' });
});

test('fn_principal_put refuses an agent that acts for itself', async () => {
  const caller = await entered();
  const principal = JSON.stringify({
    principal_id: 'self',
    ...keys,
    kind: 'agent',
    tenant: 'mine',
    on_behalf_of: 'self',
  });
  expect(await caller.call('fn_principal_put', { principal, actor: 'x' })).toMatchObject({
    reason: 'invalid_principal',
  });
});

test('a denied call of a server of one tenant leaves its receipt in that tenant, whoever the server names', async () => {
  await db.query(`select writ.fn_principal_put($1::jsonb, 'test')`, [
    JSON.stringify({
      principal_id: 'their-operator',
      ...keys,
      kind: 'person',
      tenant: 'theirs',
      rights: ['operate'],
    }),
  ]);
  admin = await login(db, ['writ_server'], { tenant_id: 'mine' });
  for (const tenant_id of ['mine', 'theirs'])
    expect(
      await admin.call('fn_freeze_put', {
        key: 'their-operator',
        freeze: '{"reason": "x"}',
        tenant_id,
      }),
    ).toMatchObject({
      reason: 'TENANT_ACCESS_DENIED',
    });
  expect(
    await db.query(
      `select distinct log_id from writ_data.receipt where entry::jsonb ->> 'reason' = 'access_denied'`,
    ),
  ).toEqual([{ log_id: 'mine' }]);
  expect(await db.query('select tenant_id, denials from writ_data.denial')).toEqual([
    { tenant_id: 'mine', denials: 2 },
  ]);
});

test('a denied call of a principal of all tenants begins no log of a tenant that it names', async () => {
  await db.query(`select writ.fn_principal_put($1::jsonb, 'test')`, [
    JSON.stringify({ principal_id: 'everywhere', ...keys, rights: ['propose'] }),
  ]);
  admin = await login(db, ['writ_principal'], { principal_id: 'everywhere' });
  for (const [key, tenant_id, reason] of [
    [null, 'nowhere-1', 'not_authorized'],
    ['ops', 'nowhere-2', 'not_authenticated'],
    [null, '_system', 'TENANT_ACCESS_DENIED'],
  ])
    expect(
      await admin.call('fn_freeze_put', { key, freeze: '{"reason": "x"}', tenant_id }),
    ).toMatchObject({ reason });
  expect(
    await db.query(
      `select log_id, entry::jsonb #>> '{context,tenant}' as asked from writ_data.receipt
       where entry::jsonb #>> '{context,principal}' = 'everywhere'
         and entry::jsonb ->> 'reason' = 'access_denied' order by receipt_no`,
    ),
  ).toEqual(['nowhere-1', 'nowhere-2', '_system'].map((asked) => ({ log_id: 'default', asked })));
});
