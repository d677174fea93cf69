import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  documentBytes,
  documentHash,
  parseDocument,
  type SignedDocument,
  slotOf,
} from '../../src/governance/document.js';
import { canonicalize } from '../../src/ledger/canonical.js';

const document = {
  writ: 'approval 1',
  deployment: '3f2a6f0e-0c3d-4b59-9d7f-0f6f4c1f9a10',
  tenant: 'default',
  contract: '019a9b1c-1111-7222-8333-944455556666',
  round: 1,
  title: 'Raise the limit',
  description: '',
  proposed_by: ['scout', 'alice'],
  risk: 'medium',
  policy: { version: 0, sha256: 'ab'.repeat(32), quorum: 1 },
  constraints: { max_duration_ms: 60_000 },
  scope: ['limits'],
  steps: [
    { step_type: 'config_update', target: 'limits', parameters: { key: 'max', new_value: 200 } },
  ],
  template: null,
  pre_state: { 'limits#max': 100 },
  not_after: '2026-01-31T12:00:00.000Z',
} satisfies SignedDocument;
const glass = {
  ...document,
  writ: 'break glass 1',
  reason: 'checkout is down',
} satisfies SignedDocument;
const template = {
  ...document,
  pre_state: {},
  template: {
    params: { max: { min: 1, max: 5 } },
    pre: { 'limits#max': { in: [1, null] } },
    activations: 3,
    expires_in_sec: 60,
  },
} satisfies SignedDocument;

describe('the bytes of a document', () => {
  test.each([
    ['an approval', document],
    ['a break-glass', glass],
    ['a template', template],
  ])('read back as %s', (_, each) => {
    expect(parseDocument(documentBytes(each))).toEqual(each);
    expect(parseDocument(Buffer.from(documentBytes(each)))).toEqual(each);
  });

  test('do not depend on the order of fields', () => {
    const reversed = Object.fromEntries(
      Object.entries(document).reverse(),
    ) as unknown as SignedDocument;
    expect(documentBytes(reversed)).toBe(documentBytes(document));
  });

  test('hash to their SHA-256', () => {
    const bytes = documentBytes({ ...document, title: 'Grenze anheben – 限' });
    expect(documentHash(bytes)).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(documentHash(Buffer.from(bytes))).toBe(documentHash(bytes));
  });

  test('change with every leaf', () => {
    const leaves = (value: unknown, path: string[] = []): string[][] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, one]) => leaves(one, [...path, key]))
        : [path];
    const seen = new Set([documentBytes(glass)]);
    const all = leaves({ ...glass, template: undefined }).filter(
      ([first]) => first !== 'template' && first !== 'writ',
    );
    for (const path of all) {
      const changed = structuredClone(glass) as Record<string, unknown>;
      let parent = changed;
      for (const key of path.slice(0, -1)) parent = parent[key] as Record<string, unknown>;
      const last = path.at(-1) as string;
      const value = parent[last];
      const others: Record<string, unknown> = {
        risk: 'high',
        not_after: '2026-01-31T12:00:00.001Z',
      };
      parent[last] =
        others[last] ??
        (typeof value === 'number'
          ? value + 1
          : String(value).replace(/.$|^$/, (end) => (end === 'a' ? 'c' : 'a')));
      seen.add(documentBytes(changed as unknown as SignedDocument));
    }
    expect(all.length).toBeGreaterThan(20);
    expect(seen.size).toBe(all.length + 1);
  });

  test('read back whatever values a contract has', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: 'grapheme' }), (value, title) => {
        const said = { ...document, title, pre_state: { place: value } };
        let bytes: string;
        try {
          bytes = documentBytes(said as SignedDocument);
        } catch (error) {
          expect(error).toMatchObject({
            code: expect.stringMatching(/^(?:value_not_canonical|invalid_text)$/),
          });
          return;
        }
        expect(documentBytes(parseDocument(bytes))).toBe(bytes);
      }),
    );
  });
});

describe('a document is refused', () => {
  const { reason: _, ...withoutReason } = glass;
  const { title: __, ...withoutTitle } = document;
  test.each<[string, unknown, string]>([
    ['that is not an object', [document], 'the document'],
    ['of another version', { ...document, writ: 'approval 2' }, 'writ'],
    ['without a field', withoutTitle, 'title'],
    ['with an unknown field', { ...document, note: 'x' }, 'note'],
    [
      'with a field of a prototype',
      JSON.parse(canonicalize({ ...document, constructor: 'x' })),
      'constructor',
    ],
    ['with a reason, but no broken glass', { ...document, reason: 'x' }, 'reason'],
    ['with a broken glass, but no reason', withoutReason, 'reason'],
    ['with an empty reason', { ...glass, reason: '' }, 'reason'],
    [
      'with a deployment in upper case',
      { ...document, deployment: document.deployment.toUpperCase() },
      'deployment',
    ],
    ['with a contract that is no UUID', { ...document, contract: 'x' }, 'contract'],
    ['with round 0', { ...document, round: 0 }, 'round'],
    ['with half a round', { ...document, round: 1.5 }, 'round'],
    ['without a proposer', { ...document, proposed_by: [] }, 'proposed_by'],
    ['with a proposer twice', { ...document, proposed_by: ['ada', 'ada'] }, 'proposed_by'],
    ['of unknown risk', { ...document, risk: 'none' }, 'risk'],
    [
      'with a quorum of 0',
      { ...document, policy: { ...document.policy, quorum: 0 } },
      'policy/quorum',
    ],
    [
      'with a quorum that is a text',
      { ...document, policy: { ...document.policy, quorum: '1' } },
      'policy/quorum',
    ],
    [
      'with half a hash',
      { ...document, policy: { ...document.policy, sha256: 'ab' } },
      'policy/sha256',
    ],
    [
      'with an unknown field of the policy',
      { ...document, policy: { ...document.policy, approvals: 0 } },
      'policy/approvals',
    ],
    ['with a scope that is a text', { ...document, scope: 'limits' }, 'scope'],
    ['with a name twice in its scope', { ...document, scope: ['limits', 'limits'] }, 'scope'],
    ['without steps', { ...document, steps: [] }, 'steps'],
    [
      'with an unknown field of a step',
      { ...document, steps: [{ ...document.steps[0], undo: null }] },
      'steps/0/undo',
    ],
    [
      'with a step without parameters',
      { ...document, steps: [{ step_type: 'soak', target: 'SYSTEM' }] },
      'steps/0/parameters',
    ],
    ['with a pre-state that is a list', { ...document, pre_state: [] }, 'pre_state'],
    [
      'with a template and a pre-state',
      { ...template, pre_state: { 'limits#max': 1 } },
      'pre_state',
    ],
    [
      'with a template that never expires',
      { ...template, template: { activations: 1 } },
      'template/expires_in_sec',
    ],
    [
      'with bounds of two kinds',
      { ...template, template: { ...template.template, pre: { a: { min: 0, max: 1, in: [7] } } } },
      'template/pre/a/',
    ],
    [
      'with bounds of no kind',
      { ...template, template: { ...template.template, params: { a: { max: 1 } } } },
      'template/params/a/min',
    ],
    [
      'with a time in another zone',
      { ...document, not_after: '2026-01-31T12:00:00.000+00:00' },
      'not_after',
    ],
    [
      'with a day that no calendar has',
      { ...document, not_after: '2026-02-30T12:00:00.000Z' },
      'not_after',
    ],
  ])('%s, and the refusal names the field', (_, value, field) => {
    const refusal = expect.objectContaining({
      code: 'invalid_document',
      detail: expect.stringContaining(field),
    });
    expect(() => documentBytes(value as SignedDocument)).toThrow(refusal);
    expect(() => parseDocument(canonicalize(value))).toThrow(refusal);
  });

  const bytes = documentBytes(document);
  test.each([
    ['with a blank', `${bytes} `],
    ['in another order', JSON.stringify(document)],
    ['with a number in another form', bytes.replace('200', '2e2')],
    ['with a number that changes when it is read', bytes.replace('200', '9007199254740993')],
    ['with a field twice', bytes.replace('"round":1', '"round":1,"round":1')],
    ['with an escape that is not needed', bytes.replace('Raise', '\\u0052aise')],
    ['with half of a surrogate pair', bytes.replace('Raise', '\ud800')],
    ['that is cut off', bytes.slice(0, -1)],
    ['that is empty', ''],
  ])('whose text is not canonical: %s', (_, text) => {
    expect(text).not.toBe(bytes);
    expect(() => parseDocument(text)).toThrow(
      expect.objectContaining({
        code: 'invalid_document',
        detail: expect.stringContaining('canonical'),
      }),
    );
  });

  test('whose bytes are not UTF-8', () => {
    const broken = Buffer.from(bytes);
    broken[20] = 0xff;
    expect(() => parseDocument(broken)).toThrow(
      expect.objectContaining({ code: 'invalid_document' }),
    );
  });
});

test('the slot of a step is the place that it changes', () => {
  const step = (step_type: string) =>
    slotOf({ step_type, target: 'limits', parameters: { key: 'max' } });
  expect([
    step('config_update'),
    step('capability_enable'),
    step('note'),
    step('soak'),
    step('signal_record'),
  ]).toEqual(['limits#max', 'limits', 'limits', undefined, undefined]);
});
