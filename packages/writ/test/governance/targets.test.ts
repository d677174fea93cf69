/** Who may act and what can be changed: adding, changing, and what a mistake in it leads to. */
import { describe, expect, test } from 'vitest';
import { configure, newKey } from '../../src/index.js';
import { codeOf } from '../runs/engine/scene.js';
import { scene } from './scene.js';
import { verifying } from './verifying.js';

const s = scene();

describe('principals', () => {
  test('adding somebody never replaces the key of somebody else, not even at the same time', async () => {
    expect(await codeOf(s.writ.principals.add({ id: 'ada', kind: 'person' }))).toBe(
      'principal_exists',
    );
    expect(await s.propose({}, s.keys.ada)).toBeDefined();
    const added = await Promise.allSettled(
      Array.from({ length: 8 }, () => s.writ.principals.add({ id: 'eve', kind: 'person' })),
    );
    expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const [key] = added.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(
      await s.propose(
        { title: 'By eve', steps: [{ type: 'capability_enable', capability_name: 'checkout' }] },
        key,
      ),
    ).toBeDefined();
  });

  test('somebody gets other rights, another key, is disabled and enabled; nobody is made by that', async () => {
    const { principals } = s.writ;
    await principals.change('ada', { rights: ['propose'] });
    const contract = await s.propose();
    const { hash } = await contract.preview({ as: s.keys.ada });
    await verifying(s.writ);
    expect(await codeOf(contract.approve({ as: s.keys.ada, hash }))).toBe('not_authorized');
    const key = newKey('bob');
    await principals.change('bob', { key });
    expect(await codeOf(contract.approve({ as: s.keys.bob, hash }))).toBe('not_authenticated');
    await principals.change('bob', { disabled: true });
    expect(await codeOf(contract.approve({ as: key, hash }))).toBe('not_authenticated');
    await principals.change('bob', { disabled: false });
    expect(await contract.approve({ as: key, hash })).toMatchObject({ status: 'APPROVED' });
    expect(await codeOf(principals.change('nobody', { rights: ['propose'] }))).toBe(
      'principal_not_found',
    );
    expect(await codeOf(principals.change('bob', { key: newKey('ada') }))).toBe(
      'invalid_principal',
    );
  });
});

describe('what is made known', () => {
  test.each([
    [{ type: 'http' }, 'needs url'],
    [{ type: 'prometheus', config: { url: 'http://x' } }, 'needs query'],
    [{ type: 'sql', config: { query: 'select true', expect: 200 } }, 'does not read expect'],
    [{ type: 'reported', config: { url: 'http://x' } }, 'does not read url'],
  ] as const)('refuses the probe %j, because it %s', async (probe, why) => {
    const put = s.writ.probes.put(
      { name: 'up', capability: 'checkout', ...probe },
      { as: s.keys.ops },
    );
    await expect(put).rejects.toMatchObject({
      code: 'invalid_probe',
      detail: expect.stringContaining(why),
    });
  });

  test.each([
    [{ domain: 'shop' }, 'Item 2 has no name'],
    [{ capability_name: 'b', values: { max: 1 } }, 'Item 2 says values, which nobody reads'],
    [{ scope: 'limits', domain: 'shop' }, 'Item 2 says domain, which nobody reads'],
  ])('refuses the item %j: %s', async (item, why) => {
    const put = s.writ.capabilities.put([{ capability_name: 'a' }, item], { as: s.keys.ops });
    await expect(put).rejects.toMatchObject({
      code: 'invalid_target',
      detail: expect.stringContaining(why),
    });
  });
});

describe('changes', () => {
  test.each([
    [
      'a misspelt value',
      { type: 'configuration_update', scope: 'limits', key: 'max', new_vale: 1 },
      'it has no new_value',
    ],
    [
      'something that nobody reads',
      { type: 'capability_enable', capability_name: 'checkout', force: true },
      'nobody reads force',
    ],
    [
      'no such type',
      { type: 'capability_enabel', capability_name: 'checkout' },
      'Types are capability_enable,',
    ],
    [
      'an override of qualifiers',
      { type: 'capability_enable', capability_name: 'checkout', qualifier_override: true },
      'qualifier_override',
    ],
    ['no reason', { type: 'capability_disable', capability_name: 'checkout' }, 'it has no reason'],
  ])('%s is refused, and named', async (_, change, words) => {
    const refused = await s.propose({ steps: [change] }).catch((error) => error);
    expect([refused.code, refused.message]).toEqual([
      'invalid_contract',
      expect.stringContaining(words),
    ]);
  });

  test.each([
    [{ target_lifecycle: 'LAUNCHED', qualifier_override: true }, 'qualifier_override'],
    [{ target_lifecycle: 'LAUNCHED', force: true }, 'Step 1'],
  ])('a step with the parameters %j is refused by the gate', async (parameters, words) => {
    const step = { step_type: 'capability_enable', target: 'checkout', parameters };
    const refused = await s.propose({ scope: ['checkout'], steps: [step] }).catch((error) => error);
    expect([refused.code, refused.message]).toEqual([
      'invalid_contract',
      expect.stringContaining(words),
    ]);
  });

  test('a capability is enabled with an override that is false', async () => {
    const change = {
      type: 'capability_enable',
      capability_name: 'checkout',
      qualifier_override: false,
    };
    expect((await s.propose({ steps: [change] })) as never).toMatchObject({ status: 'ELIGIBLE' });
    const step = {
      step_type: 'capability_enable',
      target: 'search',
      parameters: { qualifier_override: false },
    };
    expect((await s.propose({ scope: ['search'], steps: [step] })) as never).toMatchObject({
      status: 'ELIGIBLE',
    });
  });

  test('a value can be taken away on purpose', async () => {
    const contract = await s.propose({
      steps: [{ type: 'configuration_update', scope: 'limits', key: 'max', new_value: null }],
    });
    expect((await contract.preview({ as: s.keys.ada })).steps).toMatchObject([
      { before: 100, after: null },
    ]);
  });
});

test('an operator gives a configuration another owner, and changes or adds no value', async () => {
  const put = (item: object) => s.writ.capabilities.put([item as never], { as: s.keys.ops });
  await put({ scope: 'limits', owner_capability: 'search' });
  expect(await s.sql('select scope, owner_capability from writ.configuration_scope')).toEqual([
    { scope: 'limits', owner_capability: 'search' },
  ]);
  await put({ scope: 'limits', values: { max: 100, none: null } });
  for (const values of [{ max: 1 }, { burst: 1 }, { max: null }]) {
    const refused = await put({ scope: 'limits', values }).catch((error) => error);
    expect([refused.code, refused.message]).toEqual([
      'change_needs_a_contract',
      expect.stringContaining(`limits#${Object.keys(values)[0]}`),
    ]);
  }
  expect(await s.state()).toEqual({ checkout: 'DISABLED', search: 'LAUNCHED', 'limits#max': 100 });
});

describe('what a contract at work is checked against', () => {
  const probe = { name: 'web', capability: 'checkout', type: 'reported' } as const;
  const put = (item: object) =>
    codeOf(s.writ.capabilities.put([item] as never, { as: s.keys.ops }));
  const putProbe = (more: object) =>
    codeOf(s.writ.probes.put({ ...probe, ...more } as never, { as: s.keys.ops }));

  test('keeps its owner, its probes and its disqualification while a contract holds the scope', async () => {
    const disqualified = { capability_name: 'checkout', disqualified: 'It lost orders.' };
    const contract = await s.approved({
      scope: ['limits'],
      steps: [configure('limits', 'max', 2)],
    });
    await contract.activate({ as: s.keys.service });
    expect(await put(disqualified)).toBeUndefined();
    expect(await putProbe({})).toBeUndefined();

    expect(await put({ scope: 'limits', owner_capability: 'search' })).toBe('target_held');
    expect(await put({ capability_name: 'checkout', disqualified: null })).toBe('target_held');
    expect(await put({ capability_name: 'checkout', monitored: false })).toBe('target_held');
    expect(await put({ capability_name: 'checkout', domain: 'other' })).toBe('target_held');
    expect(await putProbe({ capability: 'search' })).toBe('target_held');
    expect(await codeOf(s.writ.probes.remove('web', { as: s.keys.ops }))).toBe('target_held');

    expect(await put({ scope: 'limits', owner_capability: 'checkout' })).toBeUndefined();
    expect(await put({ capability_name: 'checkout', frozen: 'A sale.' })).toBeUndefined();
    expect(await put({ capability_name: 'search', domain: 'other' })).toBeUndefined();
    expect(await putProbe({ every_ms: 60_000 })).toBeUndefined();
  });
});
