/**
 * What relaxes a check has a receipt that names the principal and the login, and a live scope
 * changes only by contract.
 */
import { expect, test } from 'vitest';
import { configure, enable } from '../../src/index.js';
import { scene } from '../governance/scene.js';
import { until } from '../races/sessions.js';
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

test('every change of an owner, monitoring, freeze, probe, incident, signal or policy leaves a receipt with principal and login', async () => {
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

test('only an administrator adds principals, never under a name of the system, and each leaves a receipt', async () => {
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

test('a contract whose scope contains null is refused', async () => {
  const agent = await enter(['writ_principal'], { principal_id: 'agent' });
  const content = JSON.stringify({ scope: [null], steps: [configure('limits', 'max', 1)] });
  expect(
    await agent.call('fn_contract_propose', { key: null, content, about: '{"title": "x"}' }),
  ).toMatchObject({
    reason: 'invalid_contract',
  });
});

test('a template refuses a parameter that is only a part of a listed value', async () => {
  const steps = [configure('limits', 'max', { $param: 'max' })];
  const pre = { 'limits#max': { in: [100] } };
  const template = {
    params: { max: { in: [{ a: 1, b: 2 }, [1, 2]] } },
    pre,
    activations: 5,
    expiresIn: '1d' as const,
  };
  const contract = await s.approved({ scope: ['limits'], steps, template });
  for (const max of [{ a: 1 }, {}, [1], [[1]]])
    expect(await codeOf(contract.instantiate({ max }, { as: s.keys.service }))).toBe(
      'out_of_bounds',
    );
});

test('a preview changes nothing, and takes no values from its caller', async () => {
  const contract = await s.propose();
  const stands = () => s.sql('select to_jsonb(c) as row from writ_data.contract c');
  const before = await stands();
  const agent = await enter(['writ_principal'], { principal_id: 'agent' });
  await agent.call('fn_contract_preview', {
    key: null,
    contract_id: contract.id,
  });
  expect(await stands()).toEqual(before);
  expect(
    await s.sql(`select provolatile, pronargs from pg_proc where proname = 'fn_contract_preview'`),
  ).toEqual([{ provolatile: 's', pronargs: 2 }]);
});

test('a refused activation does not break the glass', async () => {
  const held = await s.approved({ scope: ['checkout', 'limits'] });
  await held.activate({ as: s.keys.service });
  const contract = await s.propose({
    title: 'Other',
    scope: ['limits'],
    steps: [configure('limits', 'burst', 1)],
  });
  expect(await codeOf(s.breakGlass(contract, 'it burns everywhere'))).toBe('target_held');
  const ops = await enter(['writ_principal'], { principal_id: 'ops' });
  const items = JSON.stringify([
    { contract: contract.id, break_glass: [null, null, null], signature: '00'.repeat(64) },
  ]);
  expect(await ops.call('fn_contracts_activate', { key: null, items })).toMatchObject([
    { refused: true },
  ]);
  expect(await contract.get()).toMatchObject({ status: 'ELIGIBLE', glass_broken: null });
  expect(await codeOf(contract.activate({ as: s.keys.service }))).toBe('invalid_transition');
});

test('fn_contracts_activate refuses bad items and activates the good one', async () => {
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

test.each(['window_hours', 'review_days', 'draft_days', 'similar_within_sec'])(
  'a policy cannot switch %s off',
  async (name) => {
    const operator = await enter(['writ_principal'], { principal_id: 'ops' });
    for (const value of [null, 'NaN', '24', 1e9, [24], true])
      expect(
        await operator.call('fn_governance_policy_publish', {
          key: null,
          document: JSON.stringify({ [name]: value }),
        }),
      ).toMatchObject({
        reason: 'invalid_argument',
      });
  },
);

test('the receipt of a signal shows when the block that the signal replaces ends', async () => {
  const operator = await enter(['writ_principal'], { principal_id: 'ops' });
  const signal = (more: object) =>
    operator.call('fn_signal_record', {
      key: null,
      signal: JSON.stringify({
        signal_type: 'G',
        scope: 'checkout',
        decision: 'BLOCKED',
        reason: 'x',
        ...more,
      }),
    });
  await signal({});
  await signal({ expires_at: '2020-01-01T00:00:00Z' });
  const [row] = await s.sql<{ now: string }>(
    `select entry::jsonb #>> '{context,now}' as now from writ_data.receipt where entry::jsonb #>> '{context,control}' = 'health_signal'`,
  );
  expect(JSON.parse(String(row?.now))).toMatchObject({
    decision: 'BLOCKED',
    expires_at: expect.stringContaining('2020-01-01'),
  });
});

test('gates refuse texts and documents without an end, and record nothing of them', async () => {
  const operator = await enter(['writ_principal'], { principal_id: 'ops' });
  const long = 'x'.repeat(100_000);
  for (const [gate, name, value] of [
    ['fn_freeze_put', 'freeze', { reason: 'Friday', more: long }],
    [
      'fn_probe_put',
      'probe',
      { name: 'beat', capability: 'checkout', type: 'heartbeat', more: long },
    ],
    ['fn_incident_put', 'incident', { capability: 'checkout', summary: 'slow', more: long }],
    ['fn_capability_put', 'items', [{ capability_name: 'checkout', frozen: long }]],
    ['fn_capability_put', 'items', [{ capability_name: 'checkout', disqualified: long }]],
    ['fn_capability_put', 'items', [{ capability_name: 'checkout', domain: long }]],
    ['fn_capability_put', 'items', [{ capability_name: 'checkout', more: long }]],
  ] as const)
    expect(await operator.call(gate, { key: null, [name]: JSON.stringify(value) })).toMatchObject({
      refused: true,
    });
  const [row] = await s.sql<{ most: number }>(
    'select max(octet_length(details::text)) as most from writ_data.event_batch',
  );
  expect(row?.most).toBeLessThan(10_000);
});

test('fn_governance_cancel cuts its reason to 1,000 characters', async () => {
  const contract = await s.approved();
  const job = await contract.activate({ as: s.keys.service });
  const service = await enter(['writ_principal'], { principal_id: 'deployer' });
  await service.call('fn_governance_cancel', {
    key: null,
    job_id: job.id,
    reason: 'x'.repeat(1_000_000),
  });
  expect(
    await s.sql('select max(length(reason)) as most from writ_data.governance_job_history'),
  ).toEqual([{ most: 1000 }]);
});

test('a person who broke the glass cannot decide the audit', async () => {
  const contract = await s.propose({ steps: [enable('checkout')] }, s.keys.ada);
  await s.sql(`create function writ_data.forget() returns trigger language plpgsql as $$ begin new.health_before := null; return new; end $$;
    create trigger forget before update on writ_data.governance_job for each row when (new.status = 'AUDIT_PENDING' and old.status = 'RUNNING') execute function writ_data.forget()`);
  const job = await s.breakGlass(contract, 'it burns everywhere');
  await s.work();
  await until(async () => (await s.alerts()).includes('AUDIT_INCONCLUSIVE'));
  const resolve = (as: string) =>
    job.resolve({ as, verdict: 'PASS', reason: 'looked at every graph' });
  expect(await codeOf(resolve(s.keys.ops))).toBe('own_contract');
  expect(await resolve(s.keys.bob)).toBe('COMPLETED');
});

test('fn_template_activate refuses content with a megabyte of padding', async () => {
  const steps = [configure('limits', 'max', { $param: 'max' })];
  const pre = { 'limits#max': { in: [100] } };
  const template = {
    params: { max: { min: 1, max: 500 } },
    pre,
    activations: 5,
    expiresIn: '1d' as const,
  };
  const contract = await s.approved({ scope: ['limits'], steps, template });
  const service = await enter(['writ_principal'], { principal_id: 'deployer' });
  const content =
    JSON.stringify({ scope: ['limits'], steps: [configure('limits', 'max', 7)] }) +
    ' '.repeat(1_000_000);
  const instance = { key: null, template_id: contract.id, params: '{"max": 7}', content };
  expect(await service.call('fn_template_activate', instance)).toMatchObject({
    reason: 'invalid_contract',
  });
});

test('an activation that cannot get its lock raises the lock timeout, and refuses no item', async () => {
  const contract = await s.approved({ steps: [enable('checkout')] });
  const service = await enter(['writ_principal'], { principal_id: 'deployer' });
  await service.query(`set lock_timeout = '50ms'`);
  const holder = await enter(['writ_principal'], { principal_id: 'ops' });
  await holder.query('begin');
  await holder.query(`select writ.fn_contract_review(null, $1, 'ESCALATE')`, [contract.id]);
  const items = JSON.stringify([{ contract: contract.id }, {}]);
  expect(await service.attempt('select writ.fn_contracts_activate(null, $1::jsonb)', [items])).toBe(
    '55P03',
  );
  await holder.query('rollback');
});

test('an emergency stop that fails for one contract still stops the others', async () => {
  const first = await s.approved({ scope: ['checkout'], steps: [enable('checkout')] });
  const second = await s.approved({
    title: 'Other',
    scope: ['limits'],
    steps: [configure('limits', 'burst', 1)],
  });
  for (const contract of [first, second]) await contract.activate({ as: s.keys.service });
  const jobs = await s.sql<{ run_id: string; contract_id: string }>(
    'select run_id, contract_id from writ_data.governance_job order by job_id',
  );
  const [id] = await s.sql<{ id: string }>('select gen_random_uuid() as id');
  // A signal of another sort has this id already.
  await s.sql(
    `insert into writ_data.run_signal (run_id, signal_id, type, accepted, principal, at) values ($1, $2, 'PAUSE', false, 'x', now())`,
    [jobs[0]?.run_id, id?.id],
  );
  const service = await enter(['writ_principal'], { principal_id: 'deployer' });
  const answer = await service.call('fn_governance_stop', {
    key: null,
    contract_ids: [first.id, second.id],
    reason: 'it burns',
    signal_id: id?.id,
    tenant_id: 'default',
  });
  expect(answer).toMatchObject([
    { contract_id: jobs[0]?.contract_id, stopped: false, reason: 'SIGNAL_DUPLICATE' },
    { contract_id: jobs[1]?.contract_id, stopped: true },
  ]);
});

test('the receipt of a probe shows a change at the end of a long document', async () => {
  const operator = await enter(['writ_principal'], { principal_id: 'ops' });
  for (const url of ['https://honest.example', 'https://always-well.example'])
    await operator.call('fn_probe_put', {
      key: null,
      probe: JSON.stringify({
        name: 'p',
        capability: 'checkout',
        type: 'http',
        config: { a: 'x'.repeat(9000), url },
      }),
    });
  const [row] = await s.sql<{ was: string; now: string }>(
    `select entry::jsonb #>> '{context,was}' as was, entry::jsonb #>> '{context,now}' as now from writ_data.receipt
     where entry::jsonb #>> '{context,control}' = 'probe' order by receipt_no desc limit 1`,
  );
  expect(row?.was).toMatch(/sha256 [0-9a-f]{64}$/);
  expect(row?.now).not.toBe(row?.was);
  expect(Math.max(Number(row?.was.length), Number(row?.now.length))).toBeLessThanOrEqual(8192);
});

test('a change of the limit on a tenant’s runs leaves a receipt with the login', async () => {
  const admin = await enter(['writ_admin'], { tenant_id: 'default' });
  const before = (await controls()).length;
  const put = (policy: string | null) =>
    admin.call('fn_admission_put', {
      tenant_id: 'default',
      policy,
      max_running: 5,
      max_pending: null,
      delay_ms: null,
      actor: 'ops',
    });
  for (const policy of ['QUEUE', 'QUEUE', null])
    expect(await put(policy)).toEqual({ tenant: 'default', policy });
  expect((await controls()).slice(before)).toEqual(
    Array.from({ length: 2 }, () => ({
      control: 'admission',
      name: 'default',
      by: 'ops',
      login: admin.name,
    })),
  );
});

test('no clockwork tells a login of one tenant when rows of another are due', async () => {
  await s.propose();
  await s.sql(`select writ.fn_governor_put('default', 'theirs', 'test')`);
  await s.sql(`update writ_data.governor_due set due_at = now() + interval '1 hour'`);
  const bound = await enter(['writ_engine'], { tenant_id: 'acme' });
  expect(await bound.call('fn_governance_tick', { actor: 'acme' })).toEqual({ moved: 0 });
  expect(await bound.query('select due from writ.fn_governors_take(10, 10)')).toEqual([
    { due: null },
  ]);
  const engine = await enter(['writ_engine']);
  expect(await engine.call('fn_governance_tick', { actor: 'engine' })).toMatchObject({
    next_ms: expect.any(Number),
  });
  expect(await engine.query('select due from writ.fn_governors_take(10, 10)')).toEqual([
    { due: expect.any(String) },
  ]);
});

test('an engine without anything to do is not told to call again at once', async () => {
  const engine = await enter(['writ_engine']);
  expect(await engine.call('fn_governance_tick', { actor: 'engine' })).toEqual({ moved: 0 });
  expect(await engine.call('fn_probes_take', { limit: 10 })).toEqual({ probes: [] });
});

test.each([
  ['governor.backoff_ms', []],
  ['governor.backoff_ms', ['soon']],
  ['governor.backoff_ms', [1_000, -1]],
  ['governor.backoff_ms', [1e300]],
  ['governor.backoff_ms', [10.5]],
  ['governor.backoff_ms', Array(21).fill(1_000)],
  ['governance.rollback.health_gate', 'off'],
])('the setting %s refuses %j', async (key, value) => {
  const admin = await enter(['writ_admin']);
  const set = (to: unknown) =>
    admin.call('fn_setting_set', { key, value: JSON.stringify(to), actor: 'ops' });
  const [row] = await s.sql<{ value: unknown }>(
    'select value from writ_data.dot_config where key = $1',
    [key],
  );
  expect(await set(value)).toMatchObject({ refused: true, reason: 'invalid_setting' });
  expect(await set(row?.value)).toMatchObject({ key, value: row?.value });
});
