/**
 * The checker beside a superuser counts nothing in honest work, and each kind of damage as what it
 * is.
 */
import { expect, test } from 'vitest';
import type { SignedDocument } from '../../src/governance/document.js';
import { document } from '../governance/trust/signing.js';
import { type Books, checkTrust, trustChecks } from './trust-checker.mjs';

const value = { key: 'a', to: 7 };
const signed: SignedDocument = {
  ...document,
  risk: 'high',
  policy: { ...document.policy, quorum: 1 },
  scope: ['flag:a'],
  steps: [{ step_type: 'flag', target: 'flag:a', parameters: { value } }],
  pre_state: { 'flag:a': 1 },
};
const effect = {
  honest: true,
  op: 'apply' as const,
  tenant: 'acme',
  slot: 'flag:a',
  value,
  effectKey: 'one',
};
const books: Books = {
  quorum: { low: 1, medium: 1, high: 2, critical: 2 },
  signed: [{ tenant: 'acme', document: signed, persons: ['ada', 'bob'] }],
  effects: [effect, { ...effect, op: 'revert', value: 1 }],
  problems: [{ kind: 'value_differs', log: 'forced', message: '' }],
  forced: [
    { tenant: 'forced', what: 'a value', kinds: ['value_differs'] },
    { tenant: 'acme', what: 'an attempt', kinds: [] },
  ],
  displayed: [{ tenant: 'acme', slot: 'flag:a', value }],
};
const unapproved =
  'escaped: an honest applier had an effect without an approval by persons of the trust file';
const damages: [what: string, how: string, damage: Partial<Books>][] = [
  [unapproved, 'another value', { effects: [effect, { ...effect, value: { key: 'a', to: 666 } }] }],
  [unapproved, 'another tenant', { effects: [effect, { ...effect, tenant: 'other' }] }],
  [
    unapproved,
    'fewer persons than the file asks for',
    { signed: [{ tenant: 'acme', document: signed, persons: ['ada', 'ada'] }] },
  ],
  [
    'escaped: an honest applier restored a value that was not signed',
    'a planted one',
    { effects: [effect, { ...effect, op: 'revert', value: 666 }] },
  ],
  [
    'escaped: a contract was applied a second time, and verification does not name it',
    'by another job',
    { effects: [effect, { ...effect, effectKey: 'two' }] },
  ],
  ['escaped: verification does not name what a superuser forced', 'no finding', { problems: [] }],
  [
    'escaped: verification does not name what a superuser forced',
    'another finding',
    { problems: [{ kind: 'root', log: 'forced', message: '' }] },
  ],
  [
    'escaped: the effect is not what was displayed to the approver',
    'another value',
    { displayed: [{ tenant: 'acme', slot: 'flag:a', value: { key: 'a', to: '7' } }] },
  ],
  [
    'wrong: verification names what nobody has forced',
    'a finding of honest work',
    { problems: [...books.problems, { kind: 'unapproved', log: 'acme', message: '' }] },
  ],
];
const found = (damage: Partial<Books> = {}) =>
  checkTrust({ ...books, ...damage }).map(({ verdict, what }) => `${verdict}: ${what}`);

test('the checker finds nothing in work that was approved, undone and verified', () => {
  expect(found()).toEqual([]);
});

test.each(damages)('the checker finds %s: %s', (what, _, damage) => {
  expect(found(damage)).toEqual([what]);
});

test('a second application that verification names has not escaped', () => {
  const problems = [...books.problems, { kind: 'applied_twice', log: 'acme', message: '' }];
  const forced = [...books.forced, { tenant: 'acme', what: 'a replay', kinds: ['applied_twice'] }];
  expect(found({ effects: [effect, { ...effect, effectKey: 'two' }], problems, forced })).toEqual(
    [],
  );
});

test('what an applier did that believes the database is for verification to name', () => {
  expect(found({ effects: [effect, { ...effect, honest: false, tenant: 'other' }] })).toEqual([]);
});

test('every check has a damage that it finds', () => {
  expect(new Set(damages.map(([what]) => what))).toEqual(
    new Set(trustChecks.map(([verdict, what]) => `${verdict}: ${what}`)),
  );
});
