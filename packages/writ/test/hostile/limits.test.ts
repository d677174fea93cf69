/**
 * What one principal can do without limit costs others nothing, and a notification tells a stranger
 * nothing.
 */
import pg from 'pg';
import { expect, test } from 'vitest';
import { scene } from '../governance/scene.js';
import { until } from '../races/sessions.js';
import { attackers } from './attackers.js';
import type { Login } from './logins.js';

const s = scene();
const enter = attackers(s);
let n = 0;
const propose = (as: Login) =>
  as.call('fn_contract_propose', {
    key: null,
    content: `{"scope":["limits"],"steps":[{"parameters":{"key":"k${++n}","new_value":1},"step_type":"config_update","target":"limits"}]}`,
    about: JSON.stringify({ title: `Proposal ${n}` }),
  });

test('an agent may propose 60 contracts an hour, and the refusal says when it may propose again', async () => {
  await s.setting('governance.agent.open_contracts', 1000);
  const agent = await enter(['writ_principal'], { principal_id: 'agent' });
  for (let i = 0; i < 60; i++) expect(await propose(agent)).toHaveProperty('contract_id');
  expect(await propose(agent)).toMatchObject({
    reason: 'proposals_limited',
    detail: expect.stringMatching(/again at \d{4}-/),
  });
  await s.db.clock.advance('61m');
  expect(await propose(agent)).toHaveProperty('contract_id');
});

test('an agent may have 50 open contracts', async () => {
  const agent = await enter(['writ_principal'], { principal_id: 'agent' });
  for (let i = 0; i < 50; i++) expect(await propose(agent)).toHaveProperty('contract_id');
  expect(await propose(agent)).toMatchObject({
    reason: 'proposals_limited',
    detail: expect.stringContaining('open'),
  });
  const person = await enter(['writ_principal'], { principal_id: 'ada' });
  expect(await propose(person)).toHaveProperty('contract_id');
});

test('one receipt counts the denials of a principal above ten a minute', async () => {
  const agent = await enter(['writ_principal'], { principal_id: 'agent' });
  await s.db.clock.advance('1m');
  for (let i = 0; i < 25; i++)
    expect(
      await agent.call('fn_freeze_put', { key: null, freeze: '{"reason": "x"}' }),
    ).toMatchObject({ reason: 'agents_only_propose' });
  await s.db.clock.advance('1m');
  const engine = await enter(['writ_engine']);
  await engine.query(`select writ.fn_governance_tick('clockwork')`);
  await engine.query(`select writ.fn_governance_tick('clockwork')`);
  const denials = await s.sql<{ count: number | null }>(
    `select (entry::jsonb #>> '{context,count}')::integer as count from writ_data.receipt where entry::jsonb ->> 'reason' = 'access_denied' order by receipt_no`,
  );
  const counted = denials.reduce((sum, { count }) => sum + (count ?? 1), 0);
  expect(counted).toBe(25);
  expect(denials.length).toBeLessThanOrEqual(22); // the calls may fall into two minutes
  expect(denials.some(({ count }) => count !== null)).toBe(true);
});

test('denials of one principal in many tenants count together', async () => {
  const agent = await enter(['writ_principal'], { principal_id: 'agent' });
  for (let i = 0; i < 30; i++)
    expect(
      await agent.call('fn_freeze_put', {
        key: null,
        freeze: '{"reason": "x"}',
        tenant_id: `tenant-${i}`,
      }),
    ).toMatchObject({
      reason: 'agents_only_propose',
    });
  await s.db.clock.advance('1m');
  await (await enter(['writ_engine'])).query(`select writ.fn_governance_tick('clockwork')`);
  const denials = await s.sql<{ count: number | null }>(
    `select (entry::jsonb #>> '{context,count}')::integer as count from writ_data.receipt where entry::jsonb ->> 'reason' = 'access_denied'`,
  );
  expect(denials.reduce((sum, { count }) => sum + (count ?? 1), 0)).toBe(30);
  expect(denials.length).toBeLessThanOrEqual(22); // the calls may fall into two minutes
});

test('an agent that submits or clarifies repeatedly writes nothing and extends no deadline', async () => {
  const contract = await s.propose();
  const agent = await enter(['writ_principal'], { principal_id: 'agent' });
  const stands = () =>
    s.sql(`select c.receipts, c.version, c.review_due_at, (select count(*) from writ_data.contract_review) as reviews,
      (select count(*) from writ_data.receipt) as all from writ_data.contract c`);
  const before = await stands();
  await s.db.clock.advance('1h');
  for (const action of ['SUBMIT', 'CLARIFY', 'SUBMIT', 'CLARIFY'])
    expect(
      await agent.call('fn_contract_review', {
        key: null,
        contract_id: contract.id,
        action,
        reason: 'x'.repeat(4000),
      }),
    ).toMatchObject({
      reason: 'invalid_transition',
    });
  expect(await stands()).toEqual(before);
});

test('a stranger that listens for flags receives no name, tenant or value', async () => {
  const stranger = await enter([]);
  const client = new pg.Client({ connectionString: stranger.connectionString });
  await client.connect();
  const heard: (string | undefined)[] = [];
  client.on('notification', ({ payload }) => heard.push(payload));
  await client.query('listen flags_changed');
  try {
    await s.writ.capabilities.put([{ capability_name: 'secret-project' }], { as: s.keys.ops });
    await until(async () => heard.length > 0);
    expect(heard.every((payload) => payload === '')).toBe(true);
  } finally {
    await client.end();
  }
});
