/** What relaxes a check has a receipt that names the principal and the login, and a live scope changes only by contract. */
import { expect, test } from 'vitest';
import { configure, enable } from '../../src/index.js';
import { scene } from '../governance/scene.js';
import { codeOf } from '../runs/engine/scene.js';
import { attackers } from './attackers.js';

const s = scene();
const enter = attackers(s);
const controls = () =>
  s.sql<{ control: string; name: string; by: string; login: string }>(
    `select entry::jsonb #>> '{context,control}' as control, entry::jsonb #>> '{context,name}' as name, entry::jsonb #>> '{context,by}' as by,
       entry::jsonb #>> '{context,login}' as login
     from writ_data.receipt where entry::jsonb ->> 'reason' = 'control_changed' and log_id = 'default' order by receipt_no`,
  );

test('an operator adds no value to a live scope, and changes none', async () => {
  const operator = await enter(['writ_principal'], { principal_id: 'ops' });
  for (const values of [{ burst: 5 }, { max: 5 }, { max: 100, burst: null, more: 1 }]) {
    const items = JSON.stringify([{ scope: 'limits', values }]);
    expect(await operator.call('fn_capability_put', { key: null, items })).toMatchObject({
      reason: 'change_needs_a_contract',
    });
  }
  expect(await s.state()).toEqual({ checkout: 'DISABLED', search: 'LAUNCHED', 'limits#max': 100 });
});

test('owner, monitoring, freeze, probe, incident, signal and policy leave a receipt with principal and login', async () => {
  const operator = await enter(['writ_principal'], { principal_id: 'ops' });
  const before = (await controls()).length;
  const call = async (gate: string, name: string, value: unknown) => {
    const answer = await operator.call(gate, { key: null, [name]: JSON.stringify(value) });
    expect(answer).not.toHaveProperty('refused');
    return answer;
  };
  await call('fn_capability_put', 'items', [{ scope: 'limits', owner_capability: 'search' }]);
  await call('fn_capability_put', 'items', [
    { capability_name: 'checkout', monitored: true, frozen: 'not now' },
  ]);
  await call('fn_probe_put', 'probe', { name: 'beat', capability: 'checkout', type: 'heartbeat' });
  await call('fn_probe_put', 'probe', { name: 'beat', removed: true });
  const { freeze_id } = await call('fn_freeze_put', 'freeze', { reason: 'Friday' });
  await call('fn_freeze_put', 'freeze', { freeze_id });
  const { incident_id } = await call('fn_incident_put', 'incident', {
    capability: 'checkout',
    summary: 'slow',
  });
  await call('fn_incident_put', 'incident', { incident_id, resolution: 'restarted all of it' });
  await call('fn_signal_record', 'signal', {
    signal_type: 'G',
    scope: 'checkout',
    decision: 'BLOCKED',
    reason: 'x',
  });
  await call('fn_signal_record', 'signal', {
    signal_type: 'G',
    scope: 'checkout',
    decision: 'CLEAN',
    reason: 'x',
  });
  await call('fn_governance_policy_publish', 'document', { review_days: 5 });
  const left = (await controls()).slice(before);
  expect(left.map(({ control }) => control)).toEqual([
    'configuration_scope',
    'capability',
    'probe',
    'probe',
    'freeze',
    'freeze',
    'incident',
    'incident',
    'health_signal',
    'governance_policy',
  ]);
  expect(left.every(({ by, login }) => by === 'ops' && login === operator.name)).toBe(true);
});

test('every receipt of governance names the login beside the principal', async () => {
  await s.work();
  await s.done({ steps: [enable('checkout')] });
  const rows = await s.sql(
    `select from writ_data.receipt where entry::jsonb ->> 'sku_id' = 'governance' and coalesce(entry::jsonb #>> '{context,login}', '') <> session_user`,
  );
  expect(rows).toEqual([]);
});

test('only an administrator adds principals, under names that are not the system’s, and each has a receipt', async () => {
  const definition = (id: string) =>
    JSON.stringify({
      principal_id: id,
      kind: 'person',
      auth_sha256: '0'.repeat(64),
      public_key: '0'.repeat(64),
    });
  for (const roles of [['dot_executor'], ['writ_principal'], ['writ_server']])
    expect(
      await (await enter(roles)).attempt(`select writ.fn_principal_put($1, 'x')`, [
        definition('eve'),
      ]),
    ).toBe('42501');
  const admin = await enter(['writ_admin']);
  for (const id of ['writ', 'Writ', 'writ.clockwork', '_system', 'system'])
    expect(
      await admin.call('fn_principal_put', { principal: definition(id), actor: 'x' }),
    ).toMatchObject({ reason: 'invalid_principal' });
  expect(
    await admin.call('fn_principal_put', { principal: definition('eve'), actor: 'x' }),
  ).toEqual({ principal_id: 'eve' });
  const [row] = await s.sql(
    `select entry::jsonb -> 'context' as context from writ_data.receipt where log_id = '_system' and entry::jsonb ->> 'reason' = 'control_changed' order by receipt_no desc limit 1`,
  );
  expect(row).toMatchObject({ context: { control: 'principal', name: 'eve', login: admin.name } });
  expect(JSON.stringify(row)).not.toContain('auth_sha256');
});

test('a scope with a null in it allows no target', async () => {
  const agent = await enter(['writ_principal'], { principal_id: 'agent' });
  const content = JSON.stringify({ scope: [null], steps: [configure('limits', 'max', 1)] });
  expect(
    await agent.call('fn_contract_propose', { key: null, content, about: '{"title": "x"}' }),
  ).toMatchObject({
    reason: 'invalid_contract',
  });
});

test('a parameter of a template is one of the listed values, and not a part of one', async () => {
  const steps = [configure('limits', 'max', { $param: 'max' })];
  const template = {
    params: { max: { in: [{ a: 1, b: 2 }, [1, 2]] } },
    activations: 5,
    expiresIn: '1d' as const,
  };
  const contract = await s.approved({ scope: ['limits'], steps, template });
  for (const max of [{ a: 1 }, {}, [1], [[1]]])
    expect(await codeOf(contract.instantiate({ max }, { as: s.keys.service }))).toBe(
      'out_of_bounds',
    );
});

test('a preview changes nothing, whoever looks and whatever they claim to have read', async () => {
  const contract = await s.propose();
  const stands = () => s.sql('select to_jsonb(c) as row from writ_data.contract c');
  const before = await stands();
  const agent = await enter(['writ_principal'], { principal_id: 'agent' });
  await agent.call('fn_contract_preview', {
    key: null,
    contract_id: contract.id,
    read: '{"limits#max": 7}',
  });
  expect(await stands()).toEqual(before);
  expect(
    await s.sql(`select provolatile from pg_proc where proname = 'fn_contract_preview'`),
  ).toEqual([{ provolatile: 's' }]);
});

test('a glass is not broken by an activation that is refused', async () => {
  const held = await s.approved({ scope: ['checkout', 'limits'] });
  await held.activate({ as: s.keys.service });
  const contract = await s.propose({
    title: 'Other',
    scope: ['limits'],
    steps: [configure('limits', 'burst', 1)],
  });
  expect(
    await codeOf(contract.activate({ as: s.keys.ops, breakGlass: 'it burns everywhere' })),
  ).toBe('target_held');
  expect(await contract.get()).toMatchObject({ status: 'ELIGIBLE', glass_broken: null });
  expect(await codeOf(contract.activate({ as: s.keys.service }))).toBe('invalid_transition');
});

test('one bad item among good ones does not concern the others', async () => {
  const contract = await s.approved({ steps: [enable('checkout')] });
  const service = await enter(['writ_principal'], { principal_id: 'deployer' });
  const [taken] = await s.sql<{ job_id: string }>(`select gen_random_uuid() as job_id`);
  const items = JSON.stringify([
    { contract: 'x' },
    7,
    null,
    { contract: contract.id, job: taken?.job_id },
    {},
  ]);
  const answers = (await service.call('fn_contracts_activate', {
    key: null,
    items,
  })) as unknown as object[];
  expect(answers).toMatchObject([
    { refused: true },
    { refused: true },
    { refused: true },
    { contract_id: contract.id, job_id: taken?.job_id },
    { refused: true },
  ]);
});
