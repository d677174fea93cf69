import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { WritRefusal } from '../../src/errors/index.js';
import { actionTypes } from '../../src/governor/action-types.js';
import {
  contract,
  definePolicy,
  handler,
  type PolicyOptions,
  policyHash,
  validatePolicy,
  webhook,
} from '../../src/governor/policy.js';
import { knownSecrets } from '../../src/secrets/redactor.js';
import { generateSignals } from '../../src/testing/signals.js';

const template = '0198c0de-0000-7000-8000-000000000001';
const undoing = '0198c0de-0000-7000-8000-000000000002';
const scaleUp = handler('scale_up_cloud_run', {
  target: 'catalog',
  parameters: { by: 2 },
  bounds: { by: { min: 1, max: 5 } },
});
const when = { error_rate: { above: 0.02, clearBelow: 0.01, cooldown: '5m' } } as const;

/** The code of a refusal and what it says, or what came instead. */
function refused(make: () => unknown): string {
  try {
    return `taken: ${JSON.stringify(make())}`;
  } catch (error) {
    const { code, detail } = error as WritRefusal;
    return `${code}: ${detail}`;
  }
}

describe('definePolicy', () => {
  test('makes the document of the design, with every default in it', () => {
    const disableCheckout = { id: template };
    const policy = definePolicy('error-budget', {
      when,
      then: contract(disableCheckout, { completeWithin: '15m' }),
      requires: 'flags:write',
      as: 'governor',
    });
    expect(policy).toEqual({
      policy_id: 'error-budget',
      principal: 'governor',
      when: {
        error_rate: {
          direction: 'above',
          limit: 0.02,
          clear: 0.01,
          cooldown_ms: 300_000,
          action: 'activate_template',
        },
      },
      actions: {
        activate_template: {
          action_type: 'activate_template',
          actuator: { kind: 'contract', template_id: template },
          service: 'governance',
          target: `template:${template}`,
          permission: 'flags:write',
          parameters: {},
          bounds: {},
          inverse: {
            action_type: 'undo_activate_template',
            actuator: { kind: 'contract' },
            service: 'governance',
            target: `template:${template}`,
            permission: 'flags:write',
            parameters: {},
          },
          completion_timeout_ms: 900_000,
          not_restored: 'keep',
          baseline_ms: 60_000,
          cost: 0,
        },
      },
      budget: null,
    });
  });

  test('answers something that nobody can change', () => {
    const policy = definePolicy('p', { when, then: scaleUp });
    const everything: unknown[] = [policy];
    for (const part of everything)
      if (typeof part === 'object' && part !== null) {
        expect(Object.isFrozen(part)).toBe(true);
        everything.push(...Object.values(part));
      }
    expect(everything.length).toBeGreaterThan(30);
  });

  test('takes thresholds in both directions, each with the action that answers it, or none', () => {
    const policy = definePolicy('p', {
      when: {
        cpu_utilization: { above: 80, then: 'scale_up_cloud_run' },
        requests: { below: 5, clearAbove: 10, cooldown: 0, then: 'scale_down_cloud_run' },
        disk_usage: { above: 90, then: false },
      },
      then: [
        scaleUp,
        webhook('scale_down_cloud_run', {
          url: 'https://ops.example/actions',
          target: 'catalog',
          signedWith: 'hooks',
          cost: 3,
        }),
      ],
      budget: 100,
    });
    expect(policy.when).toEqual({
      cpu_utilization: {
        direction: 'above',
        limit: 80,
        clear: 80,
        cooldown_ms: 60_000,
        action: 'scale_up_cloud_run',
      },
      requests: {
        direction: 'below',
        limit: 5,
        clear: 10,
        cooldown_ms: 0,
        action: 'scale_down_cloud_run',
      },
      disk_usage: { direction: 'above', limit: 90, clear: 90, cooldown_ms: 60_000 },
    });
    expect(policy.actions.scale_down_cloud_run).toMatchObject({
      actuator: { kind: 'webhook', url: 'https://ops.example/actions', signed_with: 'hooks' },
      service: 'ops.example',
      cost: 3,
      inverse: {
        action_type: 'scale_up_cloud_run',
        actuator: { kind: 'webhook', url: 'https://ops.example/actions' },
      },
    });
    expect(policy.budget).toBe(100);
  });

  test('a policy without actions only observes', () => {
    expect(definePolicy('p', { when })).toMatchObject({
      actions: {},
      when: { error_rate: { limit: 0.02 } },
    });
    expect(definePolicy('p', { when }).when.error_rate).not.toHaveProperty('action');
  });

  test('a contract is undone by another template, by stopping it, and by nothing that was not said', () => {
    const inverseOf = (action: object) =>
      validatePolicy({ policy_id: 'p', when, then: action, requires: 'flags:write' }).actions.off
        ?.inverse;
    expect(inverseOf(contract(template, { type: 'off', inverse: undoing }))).toMatchObject({
      action_type: 'undo_off',
      actuator: { kind: 'contract', template_id: undoing },
      target: `template:${template}`,
    });
    expect(
      inverseOf(
        contract(template, {
          type: 'off',
          inverse: { template: { id: undoing }, parameters: { percent: 5 } },
        }),
      ),
    ).toMatchObject({
      actuator: { kind: 'contract', template_id: undoing },
      parameters: { percent: 5 },
    });
    const off = { action_type: 'off', actuator: { kind: 'contract', template_id: template } };
    expect(inverseOf({ ...off, inverse: 'stop' })?.actuator).toEqual({ kind: 'contract' });
    expect(inverseOf({ ...off, inverse: { template_id: undoing } })?.actuator).toEqual({
      kind: 'contract',
      template_id: undoing,
    });
    expect(refused(() => inverseOf(off))).toMatch(
      /^action_without_inverse: then\.inverse: off names none/,
    );
    expect(refused(() => inverseOf({ ...off, inverse: { type: 'on' } }))).toMatch(
      /^action_without_inverse: .*neither a template_id nor 'stop'/,
    );
  });
});

describe('types of action that have a name', () => {
  test.each(
    [...actionTypes].filter(([type, { inverse }]) => inverse !== undefined && inverse !== type),
  )(
    '%s has its permission and its inverse, whose inverse it is',
    (type, { permission, inverse }) => {
      expect(actionTypes.get(String(inverse))).toEqual({ permission, inverse: type });
      const { [type]: rule } = definePolicy('p', {
        when,
        then: handler(type, { target: 't' }),
      }).actions;
      expect(rule).toMatchObject({ permission, inverse: { action_type: inverse, permission } });
    },
  );

  test('cannot be had with another permission, or undone by another type', () => {
    const of = (options: object) =>
      refused(() =>
        definePolicy('p', {
          when,
          then: handler('scale_up_cloud_run', { target: 't', ...options }),
        }),
      );
    expect(of({ requires: 'flags:write' })).toMatch(
      /^invalid_policy: then\.permission can be nothing but run\.services\.update/,
    );
    expect(of({ inverse: 'resume_billing' })).toMatch(
      /^invalid_policy: then\.inverse\.action_type can be nothing but scale_down_cloud_run/,
    );
  });

  test('one that is its own inverse says with which parameters', () => {
    const of = (inverse?: object) =>
      definePolicy('p', {
        when,
        then: handler('scale_gke_cluster', {
          target: 't',
          parameters: { nodes: 9 },
          ...(inverse && { inverse }),
        }),
      });
    expect(refused(() => of())).toMatch(/^action_without_inverse/);
    expect(of({ parameters: { nodes: 3 } }).actions.scale_gke_cluster?.inverse.parameters).toEqual({
      nodes: 3,
    });
  });

  test('others say both', () => {
    const of = (options: object) =>
      refused(() =>
        definePolicy('p', { when, then: handler('drain', { target: 't', ...options }) }),
      );
    expect(of({ inverse: 'fill' })).toBe('invalid_policy: then.permission is missing');
    expect(of({ requires: 'pools:write' })).toMatch(
      /^action_without_inverse: then\.inverse: drain names none/,
    );
    expect(
      refused(() =>
        definePolicy('p', { when, then: handler('enforce_cost_cap', { target: 't' }) }),
      ),
    ).toMatch(/^action_without_inverse/);
    expect(of({ requires: 'pools:write', inverse: 'fill' })).toMatch(/^taken/);
    expect(
      refused(() =>
        definePolicy('p', {
          when,
          then: handler(
            { type: 'drain', inverse: 'fill' },
            { target: 't', requires: 'pools:write' },
          ),
        }),
      ),
    ).toMatch(/^taken/);
  });
});

describe('a policy in a file', () => {
  const policies: [string, PolicyOptions][] = [
    ['one that scales', { when, then: scaleUp, as: 'scaler', budget: 5 }],
    [
      'one with a contract',
      { when, then: contract(template, { parameters: { percent: 0 } }), requires: 'flags:write' },
    ],
    [
      'one with a probe',
      {
        when,
        then: webhook('pause_cloud_run', {
          url: 'http://127.0.0.1:8080/x',
          target: 't',
          probe: { url: 'https://a.example/up' },
        }),
      },
    ],
    ['one that observes', { when: { a: { below: 1, clearAbove: 2 }, b: { above: 1 } } }],
  ];
  test.each(policies)(
    '%s, as it is stored, is what it was, and has the same hash',
    (_, options) => {
      const policy = definePolicy('p', options);
      const read = validatePolicy(JSON.parse(JSON.stringify(policy)));
      expect(read).toEqual(policy);
      expect(policyHash(read)).toBe(policyHash(policy));
      expect(policyHash(policy)).toMatch(/^[0-9a-f]{64}$/);
    },
  );

  test('may be written as people write, with the same outcome', () => {
    const written = {
      id: 'p',
      as: 'scaler',
      when: { error_rate: { above: 0.02, clearBelow: 0.01, cooldown: '5m' } },
      then: {
        type: 'drain',
        actuator: { kind: 'handler' },
        target: 't',
        requires: 'pools:write',
        inverse: 'fill',
        baselineWithin: '2m',
      },
    };
    const said = handler('drain', {
      target: 't',
      inverse: 'fill',
      requires: 'pools:write',
      baselineWithin: '2m',
    });
    expect(validatePolicy(written)).toEqual(definePolicy('p', { when, then: said, as: 'scaler' }));
  });

  test('may be YAML', () => {
    const file = `
policy_id: error-budget
as: governor
requires: flags:write
when:
  error_rate: { above: 0.02, clearBelow: 0.01, cooldown: 5m }
  requests_per_second: { below: 5, then: false }
then:
  type: disable_checkout
  actuator: { kind: contract, template_id: ${template} }
  inverse: stop
  completeWithin: 15m
`;
    expect(validatePolicy(parse(file))).toEqual(
      definePolicy('error-budget', {
        when: { ...when, requests_per_second: { below: 5, then: false } },
        then: contract(template, { type: 'disable_checkout', completeWithin: '15m' }),
        requires: 'flags:write',
      }),
    );
  });

  test('whose order of names is another has the same hash; one that decides otherwise has another', () => {
    const policy = definePolicy('p', { when, then: scaleUp });
    const turned = Object.fromEntries(Object.entries(policy).reverse());
    expect(policyHash(validatePolicy(turned))).toBe(policyHash(policy));
    expect(
      policyHash(
        definePolicy('p', {
          when: { error_rate: { ...when.error_rate, above: 0.03 } },
          then: scaleUp,
        }),
      ),
    ).not.toBe(policyHash(policy));
  });
});

describe('what cannot be is refused at its place', () => {
  const good = { policy_id: 'p', when, then: { ...scaleUp } };
  const many = (n: number, member: unknown) =>
    Object.fromEntries(Array.from({ length: n }, (_, at) => [`n${at}`, member]));
  const threshold = (given: unknown) => ({ ...good, when: { cpu: given } });
  const action = (given: object) => ({ ...good, then: { ...scaleUp, ...given } });
  const hook = (url: unknown) => action({ actuator: { kind: 'webhook', url } });
  test.each<[string, unknown, RegExp]>([
    ['nothing', null, /^the policy must be an object/],
    ['a list', [], /^the policy must be an object/],
    ['a function', { ...good, budget: () => 1 }, /^the policy is not JSON: \/budget/],
    ['a name that nobody reads', { ...good, tehn: [] }, /^tehn is not read by anybody/],
    ['the same said twice', { ...good, id: 'p', policy_id: 'p' }, /says again/],
    ['no name', { when }, /^policy_id is missing/],
    ['a bad name', { ...good, policy_id: 'p q' }, /^policy_id must be/],
    ['a bad principal', { ...good, principal: '' }, /^principal must be the name/],
    ['nothing to look at', { ...good, when: {} }, /^when names no type/],
    [
      'too much to look at',
      { ...good, when: many(51, when.error_rate) },
      /^when has 51 members; 50/,
    ],
    [
      'too many actions',
      { ...good, then: Array.from({ length: 51 }, () => scaleUp) },
      /^then has 51 actions; 50/,
    ],
    [
      'an action twice',
      { ...good, then: [scaleUp, scaleUp] },
      /^then has scale_up_cloud_run twice/,
    ],
    [
      'a type of signal that is none',
      { ...good, when: { 'Error Rate': { above: 1 } } },
      /^the name of when\."Error Rate" must be/,
    ],
    ['no limit', threshold({ cooldown: '5m' }), /^when\.cpu must have above or below/],
    ['two limits', threshold({ above: 1, below: 0 }), /^when\.cpu must have above or below/],
    ['a limit that is no number', threshold({ above: '80' }), /^when\.cpu\.above must be a number/],
    [
      'a limit that is beyond all numbers',
      threshold({ above: 1e300 }),
      /^the policy is not JSON|^when\.cpu\.above must be/,
    ],
    [
      'a limit that is not finite',
      threshold({ above: Number.POSITIVE_INFINITY }),
      /^the policy is not JSON: \/when\/cpu\/above/,
    ],
    [
      'clearing above what is over',
      threshold({ above: 80, clearBelow: 81 }),
      /^when\.cpu clears on the wrong side/,
    ],
    [
      'clearing below what is under',
      threshold({ below: 80, clearAbove: 79 }),
      /^when\.cpu clears on the wrong side/,
    ],
    [
      'the other clearing',
      threshold({ above: 80, clearAbove: 90 }),
      /^when\.cpu\.clearAbove does not stand beside above/,
    ],
    [
      'a cooldown that is none',
      threshold({ above: 80, cooldown: '5 minutes' }),
      /^when\.cpu\.cooldown must be a duration/,
    ],
    [
      'a cooldown that is too long',
      threshold({ above: 80, cooldown: '31d' }),
      /^when\.cpu\.cooldown must be a number from 0/,
    ],
    [
      'an action that is not there',
      threshold({ above: 80, then: 'pause_cloud_run' }),
      /^when\.cpu is answered by pause_cloud_run/,
    ],
    [
      'no word on which action',
      { ...good, then: [scaleUp, handler('pause_cloud_run', { target: 't' })] },
      /^when\.error_rate\.then has to say which/,
    ],
    [
      'a stored threshold with words of the other kind',
      threshold({ direction: 'above', limit: 1, then: 'x' }),
      /^when\.cpu\.then does not stand beside/,
    ],
    [
      'a direction that is none',
      threshold({ direction: 'up', limit: 1 }),
      /^when\.cpu\.direction must be one of above, below/,
    ],
    ['no target', action({ target: '' }), /^then\.target must be/],
    [
      'an actuator that is none',
      action({ actuator: { kind: 'email' } }),
      /^then\.actuator\.kind must be one of/,
    ],
    [
      'an actuator with what it does not have',
      action({ actuator: { kind: 'handler', url: 'https://a.example' } }),
      /^then\.actuator\.url is nothing that a handler has/,
    ],
    [
      'a contract without a template',
      action({ actuator: { kind: 'contract' }, inverse: 'stop' }),
      /^then\.actuator\.template_id is missing/,
    ],
    [
      'a template that has no id',
      action({ actuator: { kind: 'contract', template_id: 'x' }, inverse: 'stop' }),
      /^then\.actuator\.template_id must be/,
    ],
    [
      'a handler that is undone by stopping it',
      action({ inverse: { actuator: { kind: 'contract' } } }),
      /^then\.inverse\.actuator has no template/,
    ],
    [
      'a template to undo a handler',
      action({ inverse: { template_id: undoing } }),
      /^then\.inverse\.template_id belongs to the inverse of a contract/,
    ],
    ['http', hook('http://ops.example/'), /^then\.actuator\.url must begin with https/],
    ['another protocol', hook('file:///etc/passwd'), /^then\.actuator\.url must begin with https/],
    [
      'a name that begins like this machine',
      hook('http://127.0.0.1.example/'),
      /^then\.actuator\.url must begin with https/,
    ],
    ['no url', hook(undefined), /not JSON|must be a URL/],
    [
      'credentials in a url',
      hook('https://ada:sesame@ops.example/'),
      /has credentials in it|looks like a connection string/,
    ],
    [
      'a secret in a url',
      hook('https://ops.example/?api_key=abcd'),
      /^then\.actuator\.url has a secret in it/,
    ],
    [
      'a secret among parameters',
      action({ parameters: { password: 'sesame' }, bounds: {} }),
      /^then\.parameters hold a secret/,
    ],
    [
      'what looks like a secret elsewhere',
      action({ service: `ghp_${'a'.repeat(36)}` }),
      /looks like a token of GitHub/,
    ],
    [
      'a parameter that is no plain value',
      action({ parameters: { by: [2] } }),
      /^then\.parameters\.by must be/,
    ],
    [
      'too many parameters',
      action({ parameters: many(21, 1), bounds: {} }),
      /^then\.parameters has 21 members; 20/,
    ],
    [
      'a parameter beyond its bounds',
      action({ parameters: { by: 6 } }),
      /^then\.bounds\.by do not have the value/,
    ],
    [
      'a parameter that is not among its choices',
      action({ bounds: { by: { in: [1, 3] } } }),
      /^then\.bounds\.by do not have the value/,
    ],
    [
      'bounds of nothing',
      action({ bounds: { size: { min: 1, max: 2 } } }),
      /^then\.bounds\.size are bounds of a parameter that has no value/,
    ],
    [
      'bounds of what every object has',
      action({ bounds: { constructor: { min: 1, max: 2 } } }),
      /^then\.bounds\.constructor are bounds of a parameter/,
    ],
    [
      'half of a bound',
      action({ bounds: { by: { min: 1 } } }),
      /^then\.bounds\.by\.max is missing/,
    ],
    ['a cost below nothing', action({ cost: -1 }), /^then\.cost must be a number from 0/],
    ['a budget below nothing', { ...good, budget: -1 }, /^budget must be a number from 0/],
    [
      'no time to complete',
      action({ completeWithin: 0 }),
      /^then\.completion_timeout_ms must be a number from 1000/,
    ],
    [
      'a word for not_restored',
      action({ notRestored: 'maybe' }),
      /^then\.not_restored must be one of keep, rollback/,
    ],
    [
      'a probe over http',
      action({ probe: { url: 'http://a.example' } }),
      /^then\.probe\.url must begin with https/,
    ],
    [
      'a stored action under another name',
      { policy_id: 'p', when: { cpu: { above: 1 } }, actions: { other: scaleUp } },
      /^actions\.other\.action_type must be/,
    ],
    ['a text that a database cannot hold', action({ target: 'a\0b' }), /NUL|must be a text/],
    ['half of a character', action({ target: '\ud800' }), /not JSON/],
    ['too many bytes', action({ service: 'x'.repeat(140_000) }), /bytes; 131072 are allowed/],
    [
      'a prototype',
      JSON.parse('{"policy_id":"p","__proto__":{"when":{}}}'),
      /^__proto__ is not read by anybody/,
    ],
  ])('%s', (_, policy, words) => {
    const said = refused(() => validatePolicy(policy));
    expect(said).toMatch(/^invalid_policy: /);
    expect(said.slice('invalid_policy: '.length)).toMatch(words);
  });

  test('a secret that this process has been given, and its value is not repeated', () => {
    knownSecrets.add('db', 'correct-horse-battery');
    const said = refused(() => validatePolicy(action({ target: 'x correct-horse-battery' })));
    expect(said).toMatch(/^secret_inside: the governor policy: the value of db/);
    expect(said).not.toContain('horse');
  });
});

/** Every place in a value, as the way to it. */
function* places(value: unknown, way: readonly string[] = []): Generator<readonly string[]> {
  yield way;
  if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) yield* places(member, [...way, name]);
}

test('whatever is put into a policy, it is refused by its code, or becomes a policy that stays what it is', () => {
  const stored = definePolicy('p', {
    when: {
      error_rate: { ...when.error_rate, then: 'pause_cloud_run' },
      requests: { below: 5, clearAbove: 9, then: false },
    },
    then: [
      scaleUp,
      contract(template, { parameters: { max: 3 } }),
      webhook('pause_cloud_run', {
        url: 'https://a.example/',
        target: 't',
        probe: { url: 'https://a.example/up' },
      }),
    ],
    requires: 'flags:write',
  });
  const written = {
    policy_id: 'p',
    when,
    then: [{ ...scaleUp }],
    requires: 'flags:write',
    as: 'g',
    budget: 3,
  };
  const odd = [
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e15,
    Number.NaN,
    '',
    'stop',
    'x',
    'scale_up_cloud_run',
    '5m',
    'https://a.example',
    template,
    [],
    ['x'],
    {},
    { kind: 'contract' },
    { in: [] },
    { min: 3, max: 1 },
    undefined,
  ];
  let taken = 0;
  let refusals = 0;
  for (const base of [stored, written]) {
    for (const way of places(base)) {
      for (const value of odd) {
        const policy = structuredClone(base) as Record<string, unknown>;
        const last = way.at(-1);
        const parent = way
          .slice(0, -1)
          .reduce((part, name) => part[name] as Record<string, unknown>, policy);
        if (last !== undefined) parent[last] = value;
        try {
          const document = validatePolicy(last === undefined ? value : policy);
          expect(validatePolicy(JSON.parse(JSON.stringify(document)))).toEqual(document);
          taken += 1;
        } catch (error) {
          expect(['invalid_policy', 'action_without_inverse']).toContain(
            (error as WritRefusal).code,
          );
          refusals += 1;
        }
      }
    }
  }
  expect(taken).toBeGreaterThan(50);
  expect(refusals).toBeGreaterThan(1_000);
});

describe('generated signals', () => {
  const types = {
    error_rate: { calm: 0.005, high: 0.05 },
    billing_spend: { calm: 100, high: 900 },
  };
  const options = { types, n: 900, tenants: ['a', 'b'], profile: 'spikes' } as const;

  test('are the same for the same seed, and others for another', () => {
    expect(generateSignals(7, options)).toEqual(generateSignals(7, options));
    expect(generateSignals(8, options)).not.toEqual(generateSignals(7, options));
  });

  test('have ids of their own and times in order', () => {
    const signals = generateSignals(1, options);
    expect(new Set(signals.map(({ signal_id }) => signal_id)).size).toBe(900);
    expect(
      signals.every(
        ({ observed_at }, at) => at === 0 || observed_at > (signals[at - 1]?.observed_at ?? 0),
      ),
    ).toBe(true);
    expect(new Set(signals.map(({ tenant, type }) => `${tenant} ${type}`)).size).toBe(4);
  });

  test.each([1, 2, 3, 4, 5])(
    'with seed %i: calm ones stay calm, spikes are some of them, and a storm is denser than anything else',
    (seed) => {
      const isHigh = ({ type, value }: { type: string; value: number }) =>
        value > (type === 'error_rate' ? 0.03 : 500);
      expect(generateSignals(seed, { ...options, profile: 'calm' }).filter(isHigh)).toEqual([]);
      const spikes = generateSignals(seed, options).filter(isHigh).length;
      expect(spikes).toBeGreaterThan(20);
      expect(spikes).toBeLessThan(450);
      const most = (profile: 'spikes' | 'storm') => {
        const times = generateSignals(seed, { ...options, profile }).map(
          ({ observed_at }) => observed_at,
        );
        return Math.max(
          ...times.map(
            (time) => times.filter((other) => other > time - 1_000 && other <= time).length,
          ),
        );
      };
      expect(most('spikes')).toBeLessThan(20);
      expect(most('storm')).toBeGreaterThan(60);
    },
  );
});
