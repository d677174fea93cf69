/**
 * An applier and an auditor judge a change by what persons have signed, whatever the database says.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  documentBytes,
  type Risk,
  risks,
  type SignedDocument,
} from '../../../src/governance/document.js';
import { signedBy } from '../../../src/governance/keys.js';
import {
  demandsOn,
  isFinding,
  type SignatureRow,
  weigh,
} from '../../../src/governance/trust/judge.js';
import {
  change,
  deployment,
  document,
  judged,
  keyOf,
  now,
  person,
  signature,
  trustFile,
} from './signing.js';

const minutes = (n: number) => new Date(now.getTime() + n * 60_000);
const glass = {
  ...document,
  writ: 'break glass 1',
  reason: 'checkout is down',
  not_after: minutes(15).toISOString(),
} as SignedDocument;

describe('signatures', () => {
  test('of enough persons approve a document', () => {
    expect(judged()).toMatchObject({ persons: ['ada'], quorum: 1, risk: 'medium' });
    expect(judged({ document: { ...document, risk: 'high' }, by: ['ada', 'bob'] })).toMatchObject({
      persons: ['ada', 'bob'],
      quorum: 2,
      risk: 'high',
    });
  });

  test('of one person count once, with however many keys they are made', () => {
    const trust = trustFile({
      persons: { ada: person('ada', { keys: ['ada', 'ada/2'] }), bob: person('bob') },
    });
    const high = { ...document, risk: 'high' } as const;
    const alone = judged({ trust, document: high, by: ['ada', 'ada/2', 'ada'] });
    expect(alone).toMatchObject({
      code: 'quorum_missing',
      detail: expect.stringContaining('1 of 2 persons'),
    });
    expect(judged({ trust, document: high, by: ['ada', 'ada/2', 'bob'] })).toMatchObject({
      persons: ['ada', 'bob'],
    });
  });

  test.each(['scout', 'helper', 'alice'])(
    'of %s, who wants the change directly or through agents, do not count',
    (name) => {
      const trust = trustFile({ persons: { [name]: person(name), ada: person('ada') } });
      expect(judged({ trust, by: [name] })).toMatchObject({
        code: 'quorum_missing',
        detail: expect.stringContaining(`${name} wants this change`),
      });
      expect(judged({ trust, by: [name, 'ada'] })).toMatchObject({ persons: ['ada'] });
    },
  );

  test.each<[string, Partial<SignatureRow>]>([
    ['of zeros', { signature: '00'.repeat(64) }],
    ['of another document', { signature: signature('ada', { ...document, round: 2 }).signature }],
    ['of another person', { signature: signature('bob').signature }],
    [
      'of another person, without a key',
      { signature: signature('bob').signature, public_key: null },
    ],
    ['that are too short', { signature: 'ab' }],
    ['that are not hexadecimal', { signature: 'zz'.repeat(64) }],
  ])('%s do not count', (_, wrong) => {
    const forged = { ...signature('ada'), ...wrong };
    expect(judged({ signatures: [forged] })).toEqual({
      code: 'quorum_missing',
      detail: expect.stringContaining('ada has not signed this'),
    });
    expect(judged({ signatures: [forged, signature('bob')] })).toMatchObject({ persons: ['bob'] });
  });

  test('under a key that the database has planted wait for the trust file', () => {
    const planted = { ...signature('mallory'), by: 'ada' };
    expect(judged({ signatures: [planted] })).toEqual({
      code: 'unknown_key',
      detail: expect.stringContaining('no such key of ada'),
      wait: true,
    });
    expect(judged({ by: ['mallory'] })).toMatchObject({ code: 'unknown_key', wait: true });
  });

  test('under unknown keys are no reason to wait if they would not be enough', () => {
    const critical = { ...document, risk: 'critical' } as const;
    expect(judged({ document: critical, by: ['mallory'] })).toEqual({
      code: 'quorum_missing',
      detail: expect.any(String),
    });
    expect(judged({ document: critical, by: ['mallory', 'ada'] })).toMatchObject({
      code: 'unknown_key',
      wait: true,
    });
  });

  test.each(['__proto__', 'constructor'])(
    'of %s, a name that every object knows, are of nobody',
    (by) => {
      expect(judged({ signatures: [{ ...signature('ada'), by }] })).toMatchObject({
        code: 'unknown_key',
      });
    },
  );

  test.each([
    ['the right to approve', { rights: ['break_glass'] as const }],
    ['a right in this tenant', { tenants: ['other'] }],
  ])('of a person without %s do not count', (_, more) => {
    const trust = trustFile({ persons: { ada: person('ada', more) } });
    expect(judged({ trust })).toMatchObject({
      code: 'quorum_missing',
      detail: expect.stringContaining('ada has no right to approve'),
    });
  });

  test('of a person of every tenant count', () => {
    expect(
      judged({ trust: trustFile({ persons: { ada: person('ada', { tenants: ['*'] }) } }) }),
    ).toMatchObject({ persons: ['ada'] });
  });

  test('of another deployment do not count', () => {
    const staging = '00000000-0c3d-4b59-9d7f-0f6f4c1f9a10';
    expect(judged({ trust: trustFile({ deployment: staging }) })).toMatchObject({
      code: 'other_deployment',
    });
    expect(
      judged({ trust: { source: 'database' }, database: { deployment: staging } }),
    ).toMatchObject({ code: 'other_deployment' });
    expect(judged({ trust: { source: 'database' }, database: { deployment } })).toMatchObject({
      persons: ['ada'],
    });
  });

  test('of bytes that are no document do not count', () => {
    const bytes = `${documentBytes(document)} `;
    expect(
      weigh({ trust: trustFile(), document: bytes, signatures: [], at: now, signedBy }),
    ).toMatchObject({ code: 'invalid_document' });
  });

  test('have a standing each, so that a verifier can record its verdicts', () => {
    const weighed = weigh({
      trust: trustFile(),
      document: documentBytes(document),
      signatures: [
        signature('ada'),
        signature('mallory'),
        { ...signature('bob'), signature: '00'.repeat(64) },
      ],
      at: now,
      signedBy,
    });
    expect(weighed).toMatchObject({
      persons: ['ada'],
      signatures: [
        { by: 'ada' },
        { by: 'mallory', finding: { wait: true } },
        { by: 'bob', finding: { code: 'wrong_signature' } },
      ],
    });
  });

  test('approve exactly what enough honest persons have signed, whoever else has signed what', () => {
    const persons = ['ada', 'bob', 'cleo', 'dora'];
    const trust = trustFile({
      persons: Object.fromEntries(
        [...persons, 'alice'].map((name) => [name, person(name, { keys: [name, `${name}/2`] })]),
      ),
    });
    const other = { ...document, title: 'Another' };
    const rows = {
      genuine: (name: string) => signature(name),
      second: (name: string) => signature(`${name}/2`),
      other: (name: string) => signature(name, other),
      stolen: (name: string) => ({ ...signature('ada'), by: name === 'ada' ? 'bob' : name }),
      zeros: (name: string) => ({ ...signature(name), signature: '00'.repeat(64) }),
    };
    const one = fc.record({
      by: fc.constantFrom(...persons, 'alice'),
      how: fc.constantFrom(...(Object.keys(rows) as (keyof typeof rows)[])),
    });
    fc.assert(
      fc.property(
        fc.array(one, { maxLength: 8 }),
        fc.integer({ min: 1, max: 4 }),
        (signed, quorum) => {
          const answer = judged({
            trust: { ...trust, quorum: { ...trust.quorum, medium: quorum } },
            signatures: signed.map(({ by, how }) => rows[how](by)),
          });
          const honest = new Set(
            signed
              .filter(({ by, how }) => by !== 'alice' && ['genuine', 'second'].includes(how))
              .map(({ by }) => by),
          );
          if (honest.size >= quorum)
            expect(new Set((answer as { persons: readonly string[] }).persons)).toEqual(honest);
          else expect(isFinding(answer)).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('a key', () => {
  const trustWith = (times: object) => {
    const { keys, ...rest } = person('ada');
    return trustFile({ persons: { ada: { ...rest, keys: [{ ...keys[0]!, ...times }] } } });
  };

  test.each(['until', 'compromised_since'])(
    'does not count once the applier’s clock has reached its %s',
    (end) => {
      const trust = trustWith({ [end]: now.toISOString() });
      expect(judged({ trust, at: minutes(-1) })).toMatchObject({ persons: ['ada'] });
      expect(judged({ trust })).toMatchObject({
        code: 'quorum_missing',
        detail: expect.stringContaining('The key of ada ended'),
      });
    },
  );

  test('that begins later is a reason to wait', () => {
    const trust = trustWith({ since: minutes(1).toISOString() });
    expect(judged({ trust })).toMatchObject({ code: 'key_not_yet_valid', wait: true });
    expect(judged({ trust, at: minutes(1) })).toMatchObject({ persons: ['ada'] });
  });

  test('that ends during a job stops its next step', () => {
    const answer = judged({ trust: trustWith({ until: minutes(5).toISOString() }) });
    if (isFinding(answer)) throw new Error(answer.detail);
    expect(answer.at(minutes(4))).toBeUndefined();
    expect(answer.at(minutes(5))).toMatchObject({ code: 'quorum_missing' });
  });
});

test('an approval counts until its not_after, by the applier’s clock', () => {
  const answer = judged({ at: new Date(document.not_after) });
  if (isFinding(answer)) throw new Error(answer.detail);
  expect(answer.at(new Date(Date.parse(document.not_after) + 1))).toMatchObject({
    code: 'window_elapsed',
  });
  expect(judged({ at: new Date(Date.parse(document.not_after) + 1) })).toMatchObject({
    code: 'window_elapsed',
  });
});

test('a document of a former deployment counts for an auditor, until that was renewed', () => {
  const until = minutes(1).toISOString();
  const trust = trustFile({
    deployment: '11111111-0c3d-4b59-9d7f-0f6f4c1f9a10',
    former_deployments: [{ deployment: document.deployment, until }],
  });
  expect(judged({ trust })).toMatchObject({ code: 'other_deployment' });
  expect(judged({ trust, former: true })).toMatchObject({ persons: ['ada'] });
  const late = { trust, former: true, at: new Date(Date.parse(until) + 1) } as const;
  expect(judged(late)).toMatchObject({ code: 'other_deployment' });
  expect(judged({ ...late, trust: trustFile({ deployment: trust.deployment }) })).toMatchObject({
    code: 'other_deployment',
  });
});

describe('risk and quorum', () => {
  test('are the highest of file, database and document', () => {
    const risk = fc.constantFrom(...risks);
    const persons = fc.integer({ min: 1, max: 20 });
    const quorums = fc.record({ low: persons, medium: persons, high: persons, critical: persons });
    fc.assert(
      fc.property(
        risk,
        risk,
        risk,
        quorums,
        quorums,
        persons,
        (said, floor, stored, quorum, policy, signed) => {
          const trust = trustFile({
            quorum,
            risk_floors: [
              { target: 'limits', risk: floor },
              { target: 'elsewhere', risk: 'critical' },
            ],
          });
          const of = { ...document, risk: said, policy: { ...document.policy, quorum: signed } };
          const highest = [...risks]
            .reverse()
            .find((each) => [said, floor, stored].includes(each)) as Risk;
          expect(demandsOn(of, trust, { risk: stored, quorum: policy })).toEqual({
            risk: highest,
            quorum: Math.max(
              signed,
              ...risks
                .slice(0, risks.indexOf(highest) + 1)
                .flatMap((each) => [quorum[each], policy[each]]),
            ),
          });
          expect(demandsOn(of, { source: 'database' }, { quorum: 3 }).quorum).toBe(
            Math.max(3, signed),
          );
        },
      ),
    );
  });

  test.each([
    ['limits', 'critical'],
    ['lim*', 'critical'],
    ['*', 'critical'],
    ['limits#max', 'critical'],
    ['limits#m*', 'critical'],
    ['checkout', 'critical'],
    ['limit', 'medium'],
    ['limits#', 'medium'],
    ['Limits', 'medium'],
    ['mits*', 'medium'],
  ])('a floor for %s makes the risk of a change of limits#max and checkout %s', (target, risk) => {
    expect(
      demandsOn(document, trustFile({ risk_floors: [{ target, risk: 'critical' }] })).risk,
    ).toBe(risk);
  });

  test('a database that lowers the risk lowers nothing', () => {
    const critical = {
      ...document,
      risk: 'critical',
      policy: { ...document.policy, quorum: 2 },
    } as const;
    expect(judged({ document: critical, database: { risk: 'low', quorum: 1 } })).toMatchObject({
      code: 'quorum_missing',
    });
  });
});

describe('a broken glass', () => {
  const trust = trustFile({
    persons: { ada: person('ada', { rights: ['break_glass'] }), bob: person('bob') },
  });

  test('needs one person who may break it, whatever the risk', () => {
    expect(judged({ trust, document: { ...glass, risk: 'critical' } })).toMatchObject({
      persons: ['ada'],
      quorum: 1,
      risk: 'critical',
    });
    expect(judged({ trust, document: glass, by: ['bob'] })).toMatchObject({
      code: 'quorum_missing',
    });
  });

  test('is not a signature of an approval', () => {
    expect(judged({ trust, document, by: ['ada'] })).toMatchObject({ code: 'quorum_missing' });
    const approval = { ...signature('ada', document) };
    expect(judged({ trust, document: glass, signatures: [approval] })).toMatchObject({
      code: 'quorum_missing',
    });
  });

  test('expires before the first step, and not after it', () => {
    expect(judged({ trust, document: glass, at: minutes(16) })).toMatchObject({
      code: 'window_elapsed',
    });
    expect(judged({ trust, document: glass, at: minutes(16), begun: true })).toMatchObject({
      persons: ['ada'],
    });
    const answer = judged({ trust, document: glass });
    if (isFinding(answer)) throw new Error(answer.detail);
    expect(answer.at(minutes(60))).toBeUndefined();
  });

  test('lasts no longer than 15 minutes', () => {
    const long = { ...glass, not_after: minutes(17).toISOString() };
    expect(judged({ trust, document: long })).toMatchObject({ code: 'glass_too_long' });
    expect(judged({ trust, document: long, begun: true })).toMatchObject({
      code: 'glass_too_long',
    });
  });

  test('ends with the time that its job may take, whatever the database says was begun', () => {
    expect(judged({ trust, document: glass, at: minutes(77), begun: true })).toMatchObject({
      code: 'window_elapsed',
    });
    const short = { ...glass, constraints: { max_duration_ms: 60_000 } };
    expect(judged({ trust, document: short, at: minutes(18), begun: true })).toMatchObject({
      code: 'window_elapsed',
    });
  });
});

describe('what is done', () => {
  test('is what was signed', () => {
    expect(judged({ change: change() })).toMatchObject({ persons: ['ada'] });
  });

  const [first, ...rest] = document.steps;
  test.each<[string, Parameters<typeof change>[1], string]>([
    ['another contract', { contract: '019a9b1c-0000-7222-8333-944455556666' }, 'other_contract'],
    ['another tenant', { tenant: 'other' }, 'other_contract'],
    ['a wider scope', { scope: [...document.scope, 'search'] }, 'other_content'],
    [
      'another value',
      { steps: [{ ...first!, parameters: { key: 'max', new_value: 201 } }, ...rest] },
      'other_content',
    ],
    [
      'a value that only looks the same',
      { steps: [{ ...first!, parameters: { key: 'max', new_value: '200' } }, ...rest] },
      'other_content',
    ],
    ['one step less', { steps: rest }, 'other_content'],
    [
      'another pre-state',
      { preState: { ...document.pre_state, checkout: 'LAUNCHED' } },
      'other_pre_state',
    ],
    ['an instance of what is no template', { params: {} }, 'other_content'],
  ])('is not %s', (_, more, code) => {
    expect(judged({ change: change(document, more) })).toMatchObject({ code });
  });
});

describe('an undo', () => {
  const undo = (restores: Record<string, Record<string, unknown>>) =>
    change(document, { restores });

  test('restores the signed pre-state, or what an earlier step has put there', () => {
    for (const restores of [
      {},
      { 1: { 'limits#max': 100 }, 3: { checkout: 'DISABLED' } },
      { 4: { 'limits#max': 200 } },
      { 4: { 'limits#max': 100 } },
    ])
      expect(judged({ change: undo(restores) })).toMatchObject({ persons: ['ada'] });
  });

  test.each<[string, Record<string, Record<string, unknown>>]>([
    ['restores another value', { 1: { 'limits#max': 1_000_000 } }],
    ['restores a later step’s value', { 1: { 'limits#max': 200 } }],
    ['restores another slot', { 1: { checkout: 'DISABLED' } }],
    ['restores one slot more', { 1: { 'limits#max': 100, checkout: 'DISABLED' } }],
    ['restores nothing', { 1: {} }],
    ['is of a step that changes nothing', { 2: { SYSTEM: null } }],
    ['is of a step that was not signed', { 5: { 'limits#max': 100 } }],
    ['is of no step', { x: { 'limits#max': 100 } }],
  ])('that %s is refused', (_, restores) => {
    expect(judged({ change: undo(restores) })).toMatchObject({ code: 'wrong_undo' });
  });

  test('of steps that were not signed is refused', () => {
    const steps = document.steps.map((step) => ({ ...step, target: 'search' }));
    expect(judged({ change: { ...undo({}), steps } })).toMatchObject({ code: 'other_content' });
  });

  test('needs the same signatures', () => {
    expect(judged({ change: undo({}), by: [] })).toMatchObject({ code: 'quorum_missing' });
    expect(
      judged({
        change: undo({}),
        signatures: [{ ...signature('ada'), signature: '00'.repeat(64) }],
      }),
    ).toMatchObject({
      code: 'quorum_missing',
    });
  });

  test('is possible after the window, and after the keys have ended', () => {
    const { keys, ...rest } = person('ada');
    const ended = {
      ...keys[0]!,
      until: '2026-01-02T00:00:00Z',
      compromised_since: '2026-01-02T00:00:00Z',
    };
    const trust = trustFile({ persons: { ada: { ...rest, keys: [ended] } } });
    expect(
      judged({ trust, change: undo({ 1: { 'limits#max': 100 } }), at: minutes(1_000_000) }),
    ).toMatchObject({ persons: ['ada'] });
    const disabled = { ...signature('ada'), active: false };
    expect(
      judged({ trust: { source: 'database' }, change: undo({}), signatures: [disabled] }),
    ).toMatchObject({ persons: ['ada'] });
  });

  test('is not stopped by a policy that demands more since then', () => {
    const database = { risk: 'critical', quorum: 5 } as const;
    expect(judged({ change: undo({}), database })).toMatchObject({ persons: ['ada'], quorum: 1 });
    expect(judged({ change: change(), database })).toMatchObject({ code: 'quorum_missing' });
  });

  test('of a broken glass is possible after its expiry', () => {
    const trust = trustFile({ persons: { ada: person('ada', { rights: ['break_glass'] }) } });
    expect(
      judged({
        trust,
        document: glass,
        change: change(glass, { restores: { 1: { 'limits#max': 100 } } }),
        at: minutes(60),
      }),
    ).toMatchObject({
      persons: ['ada'],
    });
  });
});

describe('an instance of a template', () => {
  const template: SignedDocument = {
    ...document,
    steps: [
      {
        step_type: 'config_update',
        target: 'limits',
        parameters: { key: 'max', new_value: { $param: 'max' } },
      },
    ],
    template: {
      params: { max: { min: 1, max: 500 }, why: { in: ['load', ['x']] } },
      pre: { 'limits#max': { min: 50, max: 500 } },
      activations: 3,
      expires_in_sec: 86_400,
    },
    pre_state: {},
  };
  const filledWith = (max: unknown) => [
    { step_type: 'config_update', target: 'limits', parameters: { key: 'max', new_value: max } },
  ];
  const instance = (more: Parameters<typeof change>[1] = {}) =>
    change(template, {
      steps: filledWith(200),
      params: { max: 200, why: 'load' },
      preState: { 'limits#max': 60 },
      ...more,
    });
  const judgedAs = (more: Parameters<typeof change>[1], rest: Parameters<typeof judged>[0] = {}) =>
    judged({ document: template, change: instance(more), ...rest });

  test('is done under the signatures of its template', () => {
    expect(judgedAs({})).toMatchObject({ persons: ['ada'] });
    expect(judgedAs({ params: { max: 200, why: ['x'] } })).toMatchObject({ persons: ['ada'] });
  });

  test.each<[string, Parameters<typeof change>[1], string]>([
    ['another scope', { scope: ['limits', 'search'] }, 'other_content'],
    ['other steps', { steps: filledWith(201) }, 'other_content'],
    [
      'its parameter in another place',
      {
        steps: [
          {
            step_type: 'config_update',
            target: 'limits',
            parameters: { key: '200', new_value: 200 },
          },
        ],
      },
      'other_content',
    ],
    [
      'a parameter above its bounds',
      { params: { max: 501, why: 'load' }, steps: filledWith(501) },
      'out_of_bounds',
    ],
    ['a parameter that is not in its list', { params: { max: 200, why: 'fun' } }, 'out_of_bounds'],
    [
      'a text in place of a number',
      { params: { max: '200', why: 'load' }, steps: filledWith('200') },
      'out_of_bounds',
    ],
    ['a parameter less', { params: { max: 200 } }, 'out_of_bounds'],
    ['a parameter more', { params: { max: 200, why: 'load', extra: 1 } }, 'out_of_bounds'],
    ['a pre-state out of its range', { preState: { 'limits#max': 49 } }, 'other_pre_state'],
    ['a pre-state without a slot', { preState: {} }, 'other_pre_state'],
    ['the template itself', { params: null, steps: template.steps }, 'other_content'],
    [
      'a contract of its own',
      { contract: '019a9b1c-0000-7222-8333-944455556666' },
      'other_contract',
    ],
  ])('is refused with %s', (_, more, code) => {
    expect(judgedAs(more)).toMatchObject({ code });
  });

  test('is refused after the template has expired', () => {
    expect(judgedAs({}, { at: new Date(Date.parse(template.not_after) + 1) })).toMatchObject({
      code: 'window_elapsed',
    });
  });

  test('restores only a value in the signed range', () => {
    expect(
      judgedAs({ restores: { 1: { 'limits#max': 60 } } }, { at: minutes(1_000_000) }),
    ).toMatchObject({ persons: ['ada'] });
    expect(judgedAs({ restores: { 1: { 'limits#max': 501 } } })).toMatchObject({
      code: 'wrong_undo',
    });
    const unbounded = { ...template, template: { ...template.template!, pre: {} } };
    expect(
      judged({ document: unbounded, change: instance({ restores: { 1: { 'limits#max': 60 } } }) }),
    ).toMatchObject({
      code: 'wrong_undo',
    });
    expect(judged({ document: unbounded, change: instance() })).toMatchObject({
      code: 'other_pre_state',
    });
  });
});

describe('the trust “database”', () => {
  const trust = { source: 'database' } as const;
  test('takes keys, rights and tenants from the rows', () => {
    expect(judged({ trust, by: ['mallory'] })).toMatchObject({ persons: ['mallory'] });
    for (const less of [
      { active: false },
      { active: null },
      { rights: [] },
      { rights: null },
      { tenant: 'other' },
      { public_key: null },
      { public_key: keyOf('bob').publicKey },
    ])
      expect(judged({ trust, signatures: [{ ...signature('ada'), ...less }] })).toMatchObject({
        code: 'quorum_missing',
      });
  });
  test('counts nobody who wants the change', () => {
    expect(judged({ trust, by: ['alice'] })).toMatchObject({ code: 'quorum_missing' });
  });
});
