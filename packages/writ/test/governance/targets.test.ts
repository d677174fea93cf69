/** Who may act and what can be changed: adding, changing, and what a mistake in it leads to. */
import { describe, expect, test } from 'vitest';
import { newKey } from '../../src/index.js';
import { codeOf } from '../runs/engine/scene.js';
import { scene } from './scene.js';

const s = scene();

describe('principals', () => {
  test('adding somebody never replaces the key of somebody else, not even at the same time', async () => {
    expect(await codeOf(s.writ.governance.addPrincipal({ id: 'ada', kind: 'person' }))).toBe(
      'principal_exists',
    );
    expect(await s.propose({}, s.keys.ada)).toBeDefined();
    const added = await Promise.allSettled(
      Array.from({ length: 8 }, () =>
        s.writ.governance.addPrincipal({ id: 'eve', kind: 'person' }),
      ),
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
    const { governance } = s.writ;
    await governance.changePrincipal('ada', { rights: ['propose'] });
    const contract = await s.propose();
    const { hash } = await contract.preview({ as: s.keys.ada });
    expect(await codeOf(contract.approve({ as: s.keys.ada, hash }))).toBe('not_authorized');
    const key = newKey('bob');
    await governance.changePrincipal('bob', { key });
    expect(await codeOf(contract.approve({ as: s.keys.bob, hash }))).toBe('not_authenticated');
    await governance.changePrincipal('bob', { disabled: true });
    expect(await codeOf(contract.approve({ as: key, hash }))).toBe('not_authenticated');
    await governance.changePrincipal('bob', { disabled: false });
    expect(await contract.approve({ as: key, hash })).toMatchObject({ status: 'APPROVED' });
    expect(await codeOf(governance.changePrincipal('nobody', { rights: ['propose'] }))).toBe(
      'principal_not_found',
    );
    expect(await codeOf(governance.changePrincipal('bob', { key: newKey('ada') }))).toBe(
      'invalid_principal',
    );
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
    ['no reason', { type: 'capability_disable', capability_name: 'checkout' }, 'it has no reason'],
  ])('%s is refused, and named', async (_, change, words) => {
    const refused = await s.propose({ steps: [change] }).catch((error) => error);
    expect([refused.code, refused.message]).toEqual([
      'invalid_contract',
      expect.stringContaining(words),
    ]);
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
  const put = (item: object) => s.writ.governance.put([item as never], { as: s.keys.ops });
  await put({ scope: 'limits', owner_capability: 'search' });
  expect(await s.sql('select scope, owner_capability from writ.configuration_scope')).toEqual([
    { scope: 'limits', owner_capability: 'search' },
  ]);
  await put({ scope: 'limits', values: { max: 100 } });
  for (const values of [{ max: 1 }, { burst: 1 }]) {
    const refused = await put({ scope: 'limits', values }).catch((error) => error);
    expect([refused.code, refused.message]).toEqual([
      'change_needs_a_contract',
      expect.stringContaining(`limits#${Object.keys(values)[0]}`),
    ]);
  }
  expect(await s.state()).toEqual({ checkout: 'DISABLED', search: 'LAUNCHED', 'limits#max': 100 });
});
