/**
 * Writ applies exactly what it shows: gates refuse a number that canonical JSON prints as another.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isExact, parseExactJson } from '../../src/cli/exact.js';
import { parseFile } from '../../src/cli/governance/proposal.js';
import { configure, param } from '../../src/index.js';
import { canonicalize } from '../../src/ledger/canonical.js';
import { outside } from '../governance/outside.js';
import { scene } from '../governance/scene.js';
import { attackers, storeRead } from './attackers.js';

const s = scene();
const enter = attackers(s);

const inexact = [
  '9007199254740993',
  '9007199254740992',
  '1e400',
  '-1e400',
  '1e-400',
  '0.1000000000000000055511151231257827',
];
const exact = [
  '0',
  '-0',
  '1',
  '-12.50',
  '0.1',
  '1.0',
  '1e3',
  '123456.789',
  '9007199254740991',
  '5e-324',
  '1.7976931348623e-300',
];

const content = (value: string) =>
  `{"scope":["limits"],"steps":[{"parameters":{"key":"max","new_value":{"deep":[1,${value}]}},"step_type":"config_update","target":"limits"}]}`;
const propose = async (text: string) =>
  (await enter(['writ_principal'], { principal_id: 'agent' })).call('fn_contract_propose', {
    key: null,
    content: text,
    about: JSON.stringify({ title: 'Raise it', risk_level: 'low' }),
  });

describe('a contract', () => {
  test('with a number that would be shown as another one is refused, and the refusal names the place', async () => {
    for (const value of inexact)
      expect(await propose(content(value)), value).toMatchObject({
        refused: true,
        reason: 'value_not_canonical',
        detail: expect.stringContaining('/steps/0/parameters/new_value/deep/1'),
      });
    expect(await s.sql('select from writ.system_contracts')).toEqual([]);
  });

  test('with exact numbers is accepted, whatever the session prints', async () => {
    const agent = await enter(['writ_principal'], { principal_id: 'agent' });
    await agent.query('set extra_float_digits = -15');
    for (const value of exact)
      expect(
        await agent.call('fn_contract_propose', {
          key: null,
          content: content(value),
          about: JSON.stringify({ title: value, risk_level: 'low' }),
        }),
        value,
      ).not.toHaveProperty('refused');
  });

  test('that was planted as a draft with such a number is rejected when it is submitted', async () => {
    const contract = await s.propose({
      scope: ['limits'],
      steps: [configure('limits', 'max', 1)],
      risk: 'low',
    });
    await s
      .sql(
        `update writ_data.contract set status = 'DRAFT', steps = $1::jsonb -> 'steps' where contract_id = $2`,
        [content('9007199254740993'), contract.id],
      )
      .catch(() => undefined);
    const agent = await enter(['writ_principal'], { principal_id: 'agent' });
    const id = randomUUID();
    await agent.call('fn_contract_propose', {
      key: null,
      content: content('9007199254740993'),
      about: JSON.stringify({ contract_id: id, title: 'x', draft: true, risk_level: 'low' }),
    });
    expect(
      await agent.call('fn_contract_review', { key: null, contract_id: id, action: 'SUBMIT' }),
    ).toMatchObject({ status: 'REJECTED' });
  });
});

test('a template takes no parameter that is not exact', async () => {
  const template = {
    activations: 5,
    expiresIn: '1h',
    params: { to: { min: 0, max: 1e15 } },
    pre: { 'limits#max': { min: 0, max: 1000 } },
  } as const;
  const contract = await s.approved({
    scope: ['limits'],
    steps: [configure('limits', 'max', param('to'))],
    risk: 'low',
    template,
  });
  const service = await enter(['writ_principal'], { principal_id: 'deployer' });
  const steps = `[{"parameters":{"key":"max","new_value":0.1000000000000000055},"step_type":"config_update","target":"limits"}]`;
  expect(
    await service.call('fn_template_activate', {
      key: null,
      template_id: contract.id,
      params: '{"to": 0.1000000000000000055}',
      content: `{"scope":["limits"],"steps":${steps}}`,
    }),
  ).toMatchObject({ reason: 'value_not_canonical', detail: expect.stringContaining('/to') });
});

test('a preview shows no value from outside that is not exact', async () => {
  const { flag } = outside({ a: 1 });
  s.writ.contracts.use(flag);
  await (await s.work([flag])).stop();
  const contract = await s.propose({
    scope: ['flag:a'],
    steps: [flag({ key: 'a', percent: 2 })],
    risk: 'low',
  });
  const ada = await enter(['writ_principal'], { principal_id: 'ada' });
  await storeRead(await enter(['writ_applier']), '[{"slot": "flag:a", "value": 9007199254740993}]');
  expect(
    await ada.call('fn_contract_preview', { key: null, contract_id: contract.id }),
  ).toMatchObject({
    document: { pre_state: {}, not_after: null },
    outside: [{ slot: 'flag:a', code: 'value_not_canonical' }],
  });
});

test('no policy, capability or configuration takes a number that is not exact', async () => {
  const operator = await enter(['writ_principal'], { principal_id: 'ops' });
  const refused = { reason: 'value_not_canonical' };
  expect(
    await operator.call('fn_governance_policy_publish', {
      key: null,
      document: '{"draft_days": 1.00000000000000000001}',
    }),
  ).toMatchObject(refused);
  const items =
    '[{"scope": "fresh", "owner_capability": "checkout", "values": {"max": 9007199254740993}}]';
  expect(await operator.call('fn_capability_put', { key: null, items })).toMatchObject({
    ...refused,
    detail: '/0/values/max: 9007199254740993',
  });
});

describe('a file or an option', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'writ-exact-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  test('of YAML or JSON with a number that would be rounded is refused with its line', async () => {
    for (const value of inexact) {
      await expect(
        parseFile(file('a.yaml', `title: x\nvalue: ${value}\n`)),
        value,
      ).rejects.toMatchObject({
        code: 'value_not_canonical',
        detail: expect.stringMatching(/a\.yaml, line 2: /),
      });
      await expect(
        parseFile(file('a.json', `{"title": "9007199254740993",\n"value": [${value}]}`)),
        value,
      ).rejects.toMatchObject({
        code: 'value_not_canonical',
      });
      expect(() => parseExactJson(`{"a": ${value}}`, '--set'), value).toThrow();
    }
  });

  test('with exact numbers is read', async () => {
    expect(exact.filter((value) => !isExact(value))).toEqual([]);
    expect(await parseFile(file('b.yaml', exact.map((value) => `- ${value}\n`).join('')))).toEqual(
      exact.map(Number),
    );
    expect(
      await parseFile(file('c.yaml', '- 0x1F\n- 0o17\n- "9007199254740993"\n- 2026-01-01\n')),
    ).toEqual([31, 15, '9007199254740993', '2026-01-01']);
    expect(parseExactJson('["1e400 \\" 9007199254740993", 2.50]', '--set')).toEqual([
      '1e400 " 9007199254740993',
      2.5,
    ]);
  });
});

test('a step of an own type with a parameter that nobody reads is refused', async () => {
  const { flag } = outside({ a: 1 });
  await s.use(flag);
  await (await s.work([flag])).stop();
  const step = {
    step_type: 'flag',
    target: 'flag:a',
    parameters: { value: { key: 'a', percent: 2 }, quietly: true },
  };
  expect(await propose(canonicalize({ scope: ['flag:a'], steps: [step] }))).toMatchObject({
    reason: 'invalid_contract',
    detail: expect.stringContaining('and no other'),
  });
});
