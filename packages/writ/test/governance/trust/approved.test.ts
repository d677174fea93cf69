/**
 * What an applier holds on to while a database plays its jobs in another order, or under other
 * names.
 */
import { describe, expect, test } from 'vitest';
import {
  Approved,
  type Doing,
  type UndoStep,
  verdictsOn,
} from '../../../src/governance/approvals.js';
import {
  documentBytes,
  glassDomain,
  type SignedDocument,
} from '../../../src/governance/document.js';
import { canonicalize } from '../../../src/ledger/canonical.js';
import {
  document as base,
  deployment,
  now,
  person,
  signature,
  since,
  trustFile,
} from './signing.js';

const minutes = (n: number) => new Date(now.getTime() + n * 60_000);
const flag = (key: string, value: unknown) => ({
  step_type: 'flag',
  target: `flag:${key}`,
  parameters: { value },
});
const document: SignedDocument = {
  ...base,
  scope: ['flag:a', 'flag:b'],
  steps: [flag('a', 50), flag('b', 60)],
  pre_state: { 'flag:a': 1, 'flag:b': 2 },
};
const trust = trustFile({
  persons: { ada: person('ada', { rights: ['approve', 'break_glass'] }) },
});

/** What a database says of the contract; `more` is what it has changed of that. */
const approved = (of: SignedDocument = document, more: object = {}) =>
  new Approved({
    contract_id: of.contract,
    content: canonicalize({ scope: of.scope, steps: of.steps }),
    pre_state: of.pre_state,
    document: documentBytes(of),
    glass: of.writ === glassDomain ? of.reason : null,
    instance: null,
    undo: null,
    deployment,
    risk: of.risk,
    quorum: { low: 1, medium: 1, high: 1, critical: 1 },
    signatures: [signature('ada', of)],
    ...more,
  });

const doing = (more: Partial<Doing> = {}): Doing => ({
  runId: 'run',
  kind: 'governance.flag',
  databaseTime: now.getTime(),
  tenant: document.tenant,
  undoing: false,
  first: 0,
  steps: [document.steps[0] as UndoStep],
  ...more,
});
const undoing = (stepNo: number) =>
  doing({
    undoing: true,
    steps: [{ ...(document.steps[stepNo - 1] as UndoStep), undo_of: stepNo }],
  });
const rolledBack = { undo: { 1: { 'flag:a': 1 } } };
const thrown = (act: () => void): unknown => {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
};

test('a step that was signed is done', () => {
  const approvals = approved();
  approvals.check(doing(), trust, now);
  approvals.check(doing({ first: 1, steps: [document.steps[1] as UndoStep] }), trust, now);
});

describe('a step that was signed is not done', () => {
  test('by the handler of another type', () => {
    for (const kind of ['governance.switch', 'governance.change', 'governance.soak'])
      expect(thrown(() => approved().check(doing({ kind }), trust, now))).toMatchObject({
        code: 'approval_void',
      });
    expect(
      thrown(() =>
        approved(document, rolledBack).check(
          { ...undoing(1), kind: 'governance.switch' },
          trust,
          now,
        ),
      ),
    ).toMatchObject({ code: 'approval_void' });
  });

  test('in the place of another, though it is named as what is undone', () => {
    const step = { ...(document.steps[0] as UndoStep), undo_of: 2 };
    expect(thrown(() => approved().check(doing({ steps: [step] }), trust, now))).toMatchObject({
      code: 'approval_void',
    });
  });

  test('in another tenant, after another job was looked at', () => {
    const approvals = approved();
    approvals.check(doing(), trust, now);
    expect(thrown(() => approvals.check(doing({ tenant: 'other' }), trust, now))).toMatchObject({
      code: 'approval_void',
    });
  });

  test('after its window, or with an ended key, because an undo of the same run came first', () => {
    const late = approved(document, rolledBack);
    late.check(undoing(1), trust, minutes(60 * 24 * 2));
    expect(thrown(() => late.check(doing(), trust, minutes(60 * 24 * 2)))).toMatchObject({
      code: 'window_elapsed',
    });
    const [key] = person('ada').keys;
    const ended = trustFile({
      persons: { ada: { ...person('ada'), keys: [{ ...key!, since, compromised_since: since }] } },
    });
    const stolen = approved(document, rolledBack);
    stolen.check(undoing(1), ended, now);
    expect(thrown(() => stolen.check(doing(), ended, now))).toMatchObject({
      code: 'approval_void',
    });
  });
});

describe('a broken glass', () => {
  const glass: SignedDocument = {
    ...document,
    writ: glassDomain,
    reason: 'the shop is down',
    constraints: { max_duration_ms: 30 * 60_000 },
    not_after: minutes(14).toISOString(),
  };
  const second = doing({ first: 1, steps: [glass.steps[1] as UndoStep] });

  test('is compared before the first step, whichever was asked about before', () => {
    const approvals = approved(glass);
    approvals.check(second, trust, minutes(20));
    expect(thrown(() => approvals.check(doing(), trust, minutes(20)))).toMatchObject({
      code: 'window_elapsed',
    });
  });

  test('allows later steps for as long as the job may take, and no longer', () => {
    approved(glass).check(second, trust, minutes(44));
    expect(thrown(() => approved(glass).check(second, trust, minutes(46)))).toMatchObject({
      code: 'window_elapsed',
    });
  });
});

describe('what stands before a step', () => {
  test('has to be what was signed', () => {
    const approvals = approved();
    approvals.check(doing(), trust, now);
    approvals.mayFind(1, 1);
    expect(thrown(() => approvals.mayFind(1, 3))).toMatchObject({ code: 'pre_value_conflict' });
  });

  test('has to be in the range that a template was signed with', () => {
    const template: SignedDocument = {
      ...document,
      steps: [flag('a', { $param: 'to' })],
      scope: ['flag:a'],
      pre_state: {},
      template: {
        params: { to: { min: 1, max: 100 } },
        pre: { 'flag:a': { min: 0, max: 10 } },
        activations: 1,
        expires_in_sec: 60,
      },
    };
    const approvals = approved(template, {
      content: canonicalize({ scope: ['flag:a'], steps: [flag('a', 50)] }),
      instance: { to: 50 },
      pre_state: { 'flag:a': 5 },
    });
    approvals.check(doing({ steps: [flag('a', 50)] }), trust, now);
    approvals.mayFind(1, 5);
    expect(thrown(() => approvals.mayFind(1, 11))).toMatchObject({ code: 'pre_value_conflict' });
  });

  test('is not signed after an earlier step on the same slot', () => {
    const twice = { ...document, steps: [flag('a', 50), flag('a', 60)], scope: ['flag:a'] };
    const approvals = approved({ ...twice, pre_state: { 'flag:a': 1 } });
    approvals.check(doing(), trust, now);
    approvals.mayFind(2, 'anything');
  });
});

test('no more signatures are judged at once than the gate takes verdicts of', () => {
  const wrong = { ...signature('ada', document), signature: '00'.repeat(64), verdict: null };
  const waiting = {
    ...{ contract_id: document.contract, document: documentBytes(document), deployment },
    ...{ risk: document.risk, quorum: { low: 1, medium: 1, high: 1, critical: 1 } },
    signatures: Array.from({ length: 1_500 }, (_, n) => ({ ...wrong, review_no: n + 1 })),
  };
  const { verdicts, open } = verdictsOn(waiting, trust, now);
  expect([verdicts.length, verdicts[0]?.verdict, open]).toEqual([1_000, 'wrong', false]);
});
