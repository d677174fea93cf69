/** Who acts, and in which tenant: the login's registration decides, whatever a call says. */
import { afterEach, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { principal } from '../../src/governance/keys.js';
import { enable, Writ } from '../../src/index.js';
import { scene } from '../governance/scene.js';
import { verifying } from '../governance/verifying.js';
import { type Binding, type Login, login } from './logins.js';

const governed = scene();
const opened: { end(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.end();
});

async function enter(roles: readonly string[], binding?: Binding): Promise<Login> {
  const entered = await login(governed.db, roles, binding);
  opened.push(entered);
  return entered;
}

const proposal = {
  content:
    '{"scope":["checkout"],"steps":[{"parameters":{"target_lifecycle":"PREVIEW"},"step_type":"capability_enable","target":"checkout"}]}',
  about: JSON.stringify({ title: 'Open checkout', confidence: 0.9 }),
};
const propose = (as: Login, key: string | null) =>
  as.call('fn_contract_propose', { key, ...proposal });
const credential = (name: 'ops' | 'ada' | 'agent') => principal(governed.keys[name]).credential;

const denials = () =>
  governed.sql(
    `select log_id, entry::jsonb #>> '{context,principal}' as principal, entry::jsonb #>> '{context,code}' as code,
       entry::jsonb #>> '{context,login}' as login
     from writ_data.receipt where entry::jsonb ->> 'reason' = 'access_denied' order by receipt_no`,
  );

describe('a login that is bound to a principal', () => {
  test('acts for that principal without a key', async () => {
    const agent = await enter(['writ_principal'], { principal_id: 'agent' });
    const { contract_id } = await propose(agent, null);
    const [row] = await governed.sql(
      'select created_by from writ.system_contracts where contract_id = $1',
      [contract_id],
    );
    expect(row).toEqual({ created_by: 'agent' });
  });

  test('acts for no other principal, even with that principal’s key', async () => {
    const agent = await enter(['writ_principal'], { principal_id: 'agent' });
    expect(await propose(agent, credential('ops'))).toMatchObject({ reason: 'not_authenticated' });
    expect(await propose(agent, 'ops')).toMatchObject({ reason: 'not_authenticated' });
  });

  test('leaves a receipt that names its principal when it sends the key of another', async () => {
    const agent = await enter(['writ_principal'], { principal_id: 'agent' });
    await propose(agent, credential('ops'));
    expect(await denials()).toEqual([
      { log_id: 'default', principal: 'agent', code: 'not_authenticated', login: agent.name },
    ]);
  });

  test('acts for no principal after its own is disabled', async () => {
    const agent = await enter(['writ_principal'], { principal_id: 'agent' });
    await governed.sql(
      `select writ.fn_principal_put('{"principal_id": "agent", "disabled": true}', 'test')`,
    );
    expect(await propose(agent, null)).toMatchObject({ reason: 'not_authenticated' });
  });

  test('proposes and follows through the library without a key', async () => {
    const agent = await enter(['writ_principal'], { principal_id: 'agent' });
    const writ = await Writ.connect({ connectionString: agent.connectionString });
    opened.push({ end: () => writ.close() });
    const contract = await writ.contracts.propose({
      title: 'Open checkout',
      scope: ['checkout'],
      steps: [enable('checkout', 'PREVIEW')],
    });
    expect(await contract.get()).toMatchObject({ created_by: 'agent', status: 'ELIGIBLE' });
    await expect(contract.activate()).rejects.toMatchObject({ code: 'agents_only_propose' });
  });
});

describe('a login that is bound to no principal', () => {
  test('acts for the principal whose key it sends, and for no other', async () => {
    const team = await enter(['dot_executor']);
    expect(await propose(team, credential('agent'))).toHaveProperty('contract_id');
    expect(await propose(team, 'agent')).toMatchObject({ reason: 'not_authenticated' });
    expect(await propose(team, null)).toMatchObject({ reason: 'not_authenticated' });
    expect(await propose(team, `ops:${credential('agent').split(':')[1]}`)).toMatchObject({
      reason: 'not_authenticated',
    });
  });

  test('names the principal that it acts for if it has writ_server', async () => {
    const server = await enter(['writ_server']);
    expect(await propose(server, 'agent')).toHaveProperty('contract_id');
    expect(await propose(server, 'nobody')).toMatchObject({ reason: 'not_authenticated' });
  });
});

describe('a login that is bound to a tenant', () => {
  test('sees no row of another tenant in any view', async () => {
    const foreign = await enter(['writ_auditor'], { tenant_id: 'globex' });
    const views = await governed.sql<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
       where c.relnamespace = 'writ'::regnamespace and c.relkind = 'v' order by 1`,
    );
    expect(views.length).toBeGreaterThan(20);
    for (const { name } of views) {
      const rows = await foreign.query(
        `select tenant_id from ${name} where tenant_id is distinct from 'globex' and tenant_id is not null`,
      );
      expect([name, rows]).toEqual([name, []]);
    }
  });

  test('cannot widen its tenant with the setting writ.tenant', async () => {
    const foreign = await enter(['writ_auditor'], { tenant_id: 'globex' });
    await governed.propose();
    await foreign.query(`set writ.tenant = 'default'`);
    expect(await foreign.attempt('select * from writ.system_contracts')).toBe('42501');
    await foreign.query('reset writ.tenant');
    expect(await foreign.query('select * from writ.system_contracts')).toEqual([]);
  });

  test('cannot enqueue for another tenant', async () => {
    const producer = await enter(['writ_producer'], { tenant_id: 'globex' });
    await producer.call('fn_job_kind_register', { kind: 'chore', definition: '{}', actor: 'x' });
    const jobs = JSON.stringify([{ kind: 'chore', id: uuidv7() }]);
    const answer = await producer.call('fn_job_enqueue_many', {
      jobs,
      actor: 'x',
      tenant_id: 'default',
    });
    expect(JSON.stringify(answer)).toContain('tenant_forbidden');
  });
});

describe('registering a login', () => {
  const put = (as: Login, name: string, definition: object) =>
    as.call('fn_login_put', { login: name, definition: JSON.stringify(definition), actor: 'ops' });

  test('is refused to all roles but writ_admin', async () => {
    const agent = await enter(['writ_principal'], { principal_id: 'agent' });
    for (const roles of [['dot_executor'], ['writ_server'], ['writ_signer'], ['writ_auditor']]) {
      const one = await enter(roles);
      expect(await one.attempt(`select writ.fn_login_put('${agent.name}', '{}', 'x')`)).toBe(
        '42501',
      );
      expect(await one.attempt(`select writ.fn_login_remove('${agent.name}', 'x')`)).toBe('42501');
    }
  });

  test('leaves a receipt that names the login of the administrator', async () => {
    const admin = await enter(['writ_admin']);
    const agent = await enter(['writ_principal']);
    await put(admin, agent.name, { principal_id: 'agent', roles: ['writ_principal'] });
    const [row] = await governed.sql(
      `select receipt -> 'context' as context from writ.receipt where log_id = '_system' and receipt ->> 'reason' = 'control_changed' order by stream_seq desc limit 1`,
    );
    expect(row).toMatchObject({
      context: { control: 'login', name: agent.name, by: 'ops', login: admin.name },
    });
  });

  test('refuses an unknown login or principal, an unknown role, and a tenant that is not the principal’s', async () => {
    const admin = await enter(['writ_admin']);
    const agent = await enter(['writ_principal']);
    await governed.sql(
      `select writ.fn_principal_put(jsonb_build_object('principal_id', 'gil', 'kind', 'person', 'tenant', 'globex', 'auth_sha256', repeat('0', 64), 'public_key', repeat('0', 64)), 'test')`,
    );
    expect(await put(admin, 'nobody-of-that-name', {})).toMatchObject({
      reason: 'login_not_found',
    });
    expect(await put(admin, agent.name, { principal_id: 'nobody' })).toMatchObject({
      reason: 'principal_not_found',
    });
    expect(await put(admin, agent.name, { roles: ['superuser'] })).toMatchObject({
      reason: 'invalid_login',
    });
    expect(await put(admin, agent.name, { roles: 'writ_principal' })).toMatchObject({
      reason: 'invalid_login',
    });
    expect(await put(admin, agent.name, { password: 'x' })).toMatchObject({
      reason: 'invalid_login',
    });
    expect(await put(admin, agent.name, { principal_id: 'gil', tenant_id: 'acme' })).toMatchObject({
      reason: 'invalid_login',
    });
    expect(await put(admin, agent.name, { principal_id: 'gil' })).toMatchObject({
      tenant_id: 'globex',
    });
  });

  test('cannot be undone while the login still has roles', async () => {
    const admin = await enter(['writ_admin']);
    const agent = await enter(['writ_principal'], { principal_id: 'agent' });
    const remove = () => admin.call('fn_login_remove', { login: agent.name, actor: 'ops' });
    expect(await remove()).toMatchObject({ reason: 'login_in_use' });
    await governed.sql(`revoke writ_principal from ${agent.name}`);
    expect(await remove()).toMatchObject({ login: agent.name });
    expect(await remove()).toMatchObject({ reason: 'login_not_found' });
  });
});

test('a principal that tries to reach another tenant leaves a receipt in the log of its own tenant', async () => {
  await governed.writ.principals.add({
    id: 'tina',
    kind: 'person',
    tenant: 'mine',
    rights: ['operate'],
  });
  const tina = await enter(['writ_principal'], { principal_id: 'tina' });
  const freeze = { key: null, freeze: '{"reason": "x"}', tenant_id: 'default' };
  expect(await tina.call('fn_freeze_put', freeze)).toMatchObject({
    reason: 'TENANT_ACCESS_DENIED',
  });
  expect(await denials()).toEqual([
    { log_id: 'mine', principal: 'tina', code: 'TENANT_ACCESS_DENIED', login: tina.name },
  ]);
});

test('a principal that sets writ.tenant to another tenant leaves its denials in the log of its own tenant', async () => {
  const key = await governed.writ.principals.add({
    id: 'tina',
    kind: 'person',
    tenant: 'mine',
    rights: ['operate'],
  });
  const team = await enter(['writ_principal']);
  await team.query(`set writ.tenant = 'theirs'`);
  const freeze = { key: principal(key).credential, freeze: '{"reason": "x"}', tenant_id: 'mine' };
  expect(await team.call('fn_freeze_put', freeze)).toMatchObject({
    reason: 'TENANT_ACCESS_DENIED',
  });
  expect(await denials()).toEqual([
    { log_id: 'mine', principal: 'tina', code: 'TENANT_ACCESS_DENIED', login: team.name },
  ]);
});

test('an agent may submit and clarify only its own contracts', async () => {
  await governed.writ.principals.add({ id: 'other', kind: 'agent', onBehalfOf: 'ada' });
  const contract = await governed.propose({}, governed.keys.ada);
  await contract.requestClarification({ as: governed.keys.bob, reason: 'which limits, and why?' });
  const other = await enter(['writ_principal'], { principal_id: 'other' });
  const clarify = { key: null, contract_id: contract.id, action: 'CLARIFY', reason: 'whatever' };
  expect(await other.call('fn_contract_review', clarify)).toMatchObject({
    reason: 'agents_only_propose',
  });
  expect(
    await governed.sql('select clock_stopped_at is not null as stopped from writ_data.contract'),
  ).toEqual([{ stopped: true }]);
});

test('a person cannot approve a contract that an agent of their agent proposed', async () => {
  const key = await governed.writ.principals.add({
    id: 'deputy',
    kind: 'agent',
    onBehalfOf: 'agent',
  });
  const contract = await governed.propose({}, key);
  const { hash } = await contract.preview({ as: governed.keys.ops });
  await expect(contract.approve({ as: governed.keys.ops, hash })).rejects.toMatchObject({
    code: 'own_contract',
  });
  await verifying(governed.writ);
  await contract.approve({ as: governed.keys.ada, hash });
});

test('fn_login returns the roles and bindings of the calling login', async () => {
  const agent = await enter(['writ_principal'], { principal_id: 'agent' });
  const team = await enter(['dot_executor']);
  expect(await agent.call('fn_login')).toEqual({
    login: agent.name,
    principal_id: 'agent',
    tenant_id: null,
    roles: ['writ_principal'],
  });
  expect(await team.call('fn_login')).toMatchObject({
    principal_id: null,
    roles: ['writ_applier', 'writ_engine', 'writ_principal', 'writ_producer', 'writ_worker'],
  });
});
