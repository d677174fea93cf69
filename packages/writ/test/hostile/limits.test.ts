/** What one principal can do without limit costs others nothing, and a notification tells a stranger nothing. */
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

test('an agent proposes 60 contracts an hour, and hears when it may go on', async () => {
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

test('an agent has 50 contracts open at once', async () => {
  const agent = await enter(['writ_principal'], { principal_id: 'agent' });
  for (let i = 0; i < 50; i++) expect(await propose(agent)).toHaveProperty('contract_id');
  expect(await propose(agent)).toMatchObject({
    reason: 'proposals_limited',
    detail: expect.stringContaining('open'),
  });
  const person = await enter(['writ_principal'], { principal_id: 'ada' });
  expect(await propose(person)).toHaveProperty('contract_id');
});

test('above ten denials a minute one receipt counts the rest', async () => {
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

test('a stranger that listens for flags hears no name, tenant or value', async () => {
  const stranger = await enter([]);
  const client = new pg.Client({ connectionString: stranger.connectionString });
  await client.connect();
  const heard: (string | undefined)[] = [];
  client.on('notification', ({ payload }) => heard.push(payload));
  await client.query('listen flags_changed');
  try {
    await s.writ.governance.put([{ capability_name: 'secret-project' }], { as: s.keys.ops });
    await until(async () => heard.length > 0);
    expect(heard.every((payload) => payload === '')).toBe(true);
  } finally {
    await client.end();
  }
});
