/**
 * What an auditor repeats of governance from an export alone: approvals, applications, bounds of
 * templates, and governed values.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  documentBytes,
  documentHash,
  type SignedDocument,
  type SignedStep,
  slotOf,
} from '../../../src/governance/document.js';
import { filled } from '../../../src/governance/filled.js';
import { signedBy, signedByAside } from '../../../src/governance/keys.js';
import {
  type Audited,
  type AuditOptions,
  GovernanceAudit,
  stateText,
} from '../../../src/governance/trust/audit.js';
import type { Trust } from '../../../src/governance/trust/file.js';
import { valueIn } from '../../../src/governance/trust/judge.js';
import { canonicalize } from '../../../src/ledger/canonical.js';
import { governedPath, valuesPath } from '../../../src/ledger/governed.js';
import { fromUtf8, toHex, utf8 } from '../../../src/ledger/text.js';
import { verifyExport } from '../../../src/ledger/verify.js';
import { keys, readerOf, sha256, TestLedger } from '../../ledger/exports.js';
import { document, keyOf, person, signature, trustFile } from './signing.js';

const log = document.tenant;
const hashOf = (slot: string, value: unknown) =>
  toHex(sha256(utf8(stateText(slot, value ?? null))));

/** A tenant's log, and what the export has of governance beside it. */
class Story extends TestLedger {
  readonly kept = new Map<
    string,
    { documents: string[]; params?: object; pre_state?: Record<string, string> }
  >();
  readonly values = new Map<string, unknown>();

  keep(of: SignedDocument): void {
    this.kept.set(of.contract, { documents: [documentBytes(of)] });
  }

  review(
    action: string,
    by: string,
    of: SignedDocument = document,
    signed = signature(by, of),
    more: object = {},
  ): void {
    const approval_hash = documentHash(documentBytes(of));
    const { scheme, signature: hex, public_key } = signed;
    const context = {
      contract_id: of.contract,
      action,
      by: signed.by,
      approval_hash,
      round: of.round,
    };
    this.append(
      log,
      'contract_reviewed',
      { ...context, scheme, signature: hex, public_key, ...more },
      `contract:${of.contract}`,
    );
  }

  moved(to: string, contract = document.contract, more: object = {}): void {
    const context = { contract_id: contract, to, ...more };
    this.append(log, 'contract_moved', context, `contract:${contract}`);
  }

  begin(job: string, contract = document.contract): void {
    this.append(
      log,
      'governance_job_moved',
      { job_id: job, contract_id: contract, from: 'PENDING', to: 'RUNNING' },
      `job:${job}`,
    );
  }

  /** Applies one step; `more` overrides what the receipt says. */
  step(
    job: string,
    no: number,
    of: { contract: string; steps: readonly SignedStep[]; before: object } = whole,
    more: object = {},
  ): void {
    const step = of.steps[no - 1]!;
    const slot = slotOf(step);
    const found = of.steps.slice(0, no - 1).findLast((one) => slotOf(one) === slot);
    const before = slot && (found ? valueIn(found) : (of.before as Record<string, unknown>)[slot]);
    const hashes = slot
      ? { slot, before_sha256: hashOf(slot, before), after_sha256: hashOf(slot, valueIn(step)) }
      : {};
    const context = {
      job_id: job,
      contract_id: of.contract,
      step: no,
      step_type: step.step_type,
      target: step.target,
    };
    this.append(log, 'change_applied', { ...context, ...hashes, ...more }, `job:${job}`);
    if (slot) this.values.set(slot, valueIn(step));
  }

  /** Makes a capability or a scope known, with its first values. */
  control(control: string, name: string, now: object | string, more: object = {}): void {
    const text = typeof now === 'string' ? now : JSON.stringify(now);
    this.append(
      log,
      'control_changed',
      { control, name, now: text, by: 'ops', ...more },
      'controls',
    );
  }

  /** Makes the job of a rollback, and begins it. */
  beginUndo(job: string, of = 'job-1'): void {
    const context = { job_id: job, contract_id: contract, of_job_id: of, to: 'PENDING' };
    this.append(log, 'governance_job_moved', context, `job:${job}`);
    this.begin(job);
  }

  revert(job: string, ofStep: number, value: unknown, reason = 'change_reverted'): void {
    const step = document.steps[ofStep - 1]!;
    const slot = slotOf(step)!;
    const context = {
      job_id: job,
      contract_id: document.contract,
      step: 1,
      of_step: ofStep,
      step_type: step.step_type,
      target: step.target,
    };
    this.append(log, reason, { ...context, slot, after_sha256: hashOf(slot, value) }, `job:${job}`);
    this.values.set(slot, value);
  }

  /** Everything as it should be. */
  apply(job = 'job-1'): void {
    this.begin(job);
    for (let no = 1; no <= document.steps.length; no++) this.step(job, no);
  }

  files() {
    const files = this.export();
    const ids = [...this.kept.keys()].sort();
    const lines = ids.map((contract) =>
      JSON.stringify({ contract, params: null, pre_state: {}, ...this.kept.get(contract) }),
    );
    files.set(governedPath(1), utf8(lines.map((line) => `${line}\n`).join('')));
    const values = [...this.values].map(([slot, value]) =>
      JSON.stringify({ tenant: log, slot, state: stateText(slot, value) }),
    );
    files.set(valuesPath, utf8(values.map((line) => `${line}\n`).join('')));
    const manifest = JSON.parse(new TextDecoder().decode(files.get('export.json')));
    return files.set(
      'export.json',
      utf8(JSON.stringify({ ...manifest, governance: { contracts: ids.slice(0, 1) } })),
    );
  }
}

const { contract } = document;
const whole = { contract, steps: document.steps, before: document.pre_state };

async function audit(
  story: Story,
  {
    trust = trustFile() as Trust | null,
    waive = [] as string[],
    outside = undefined as AuditOptions['outside'],
    change = (files: Map<string, Uint8Array>) => files,
  } = {},
) {
  story.record(log);
  const read = readerOf(change(story.files()));
  const governance = await GovernanceAudit.of(read, {
    trust: trust ?? undefined,
    outside,
    signedBy,
    signedByAside,
    sha256,
  });
  let audited: Audited | undefined;
  const verdict = await verifyExport(read, {
    ...{ keys, sha256, waive },
    onReceipt: (name, receipt, _, index) => governance.hear(name, receipt, index),
    beforeVerdict: async (findings) => {
      audited = await governance.close(findings);
    },
  });
  return { ...verdict, audited };
}

/** A contract that ada has approved, and what is done next. */
const approved = (then: (story: Story) => void = (story) => story.apply()) => {
  const story = new Story();
  story.keep(document);
  story.review('APPROVE', 'ada');
  then(story);
  return story;
};

test('an approved change that was applied once, and whose values stand, is no finding', async () => {
  const verdict = await audit(approved());
  expect(verdict).toMatchObject({
    ok: true,
    problems: [],
    audited: { contracts: 1, changes: 4, signatures: 1, values: 2 },
  });
});

const stranger = () => ({ ...signature('ada/stranger'), by: 'ada' });
describe.each<[string, string, () => Story, RegExp, Trust?]>([
  [
    'without a signature',
    `unapproved:${contract}`,
    () => unsigned((story) => story.apply()),
    /nobody had signed it/,
  ],
  [
    'under a key that the trust file does not have',
    `unapproved:${contract}`,
    () =>
      unsigned((story) => {
        story.review('APPROVE', 'ada', document, stranger());
        story.apply();
      }),
    /no such key of ada/,
  ],
  [
    'with a signature of its proposer only',
    `unapproved:${contract}`,
    () =>
      unsigned((story) => {
        story.review('APPROVE', 'alice');
        story.apply();
      }),
    /alice wants this change/,
  ],
  [
    'that was signed after it was applied',
    `unapproved:${contract}`,
    () =>
      unsigned((story) => {
        story.apply();
        story.review('APPROVE', 'ada');
      }),
    /nobody had signed it/,
  ],
  [
    'whose approval was revoked',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        story.review('REVOKE', 'ada');
        story.apply();
      }),
    /nobody had signed it/,
  ],
  [
    'whose revoked approval came back',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        story.review('REVOKE', 'ada');
        story.review('APPROVE', 'ada');
        story.apply();
      }),
    /nobody had signed it/,
  ],
  [
    'whose revoked approval came back under the number of the next round',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        story.review('REVOKE', 'ada');
        story.review('APPROVE', 'ada', document, signature('ada'), { round: 2 });
        story.apply();
      }),
    /says round 2, and round 1 was signed/,
  ],
  [
    'whose approval was void after a clarification',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        const context = { contract_id: contract, action: 'CLARIFY', by: 'alice' };
        story.append(log, 'contract_reviewed', context, `contract:${contract}`);
        story.review('APPROVE', 'ada');
        story.apply();
      }),
    /nobody had signed it/,
  ],
  [
    'whose approval of an earlier round replaced a later one',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        const second = {
          ...document,
          round: 2,
          pre_state: { 'limits#max': 1, checkout: 'PREVIEW' },
        };
        story.kept.get(contract)!.documents.push(documentBytes(second));
        story.review('APPROVE', 'ada', second);
        story.review('APPROVE', 'ada');
        story.apply();
      }),
    /found another value at limits#max/,
  ],
  [
    'whose contract had been rejected',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        story.moved('REJECTED');
        story.apply();
      }),
    /it was REJECTED before step 1/,
  ],
  [
    'without one of its steps',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        story.begin('job-1');
        for (const no of [1, 3, 4]) story.step('job-1', no);
      }),
    /step 3 was done without step 2/,
  ],
  [
    'by its last step alone',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        story.begin('job-1');
        story.step('job-1', 4);
      }),
    /step 4 was done without step 3/,
  ],
  [
    'that was undone after it was completed',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        story.apply();
        story.moved('COMPLETED');
        story.beginUndo('job-2');
        story.revert('job-2', 4, 200);
      }),
    /the undo of step 4, after the contract was COMPLETED/,
  ],
  [
    'that was undone after it had ended, though no rollback had failed',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        story.apply();
        story.moved('FAILED');
        story.moved('ACTIVE');
        story.beginUndo('job-2');
        story.revert('job-2', 4, 200);
      }),
    /the undo of step 4, after the contract was FAILED/,
  ],
  [
    'that was undone twice',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        story.apply();
        for (const job of ['job-2', 'job-3']) {
          story.beginUndo(job);
          story.revert(job, 4, 200);
        }
      }),
    /the undo of step 4, which was undone before/,
  ],
  [
    'that was undone before it began',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        story.beginUndo('job-2');
        story.revert('job-2', 1, 100);
      }),
    /the undo of step 1, though no job had begun to apply it/,
  ],
  [
    'of which a step was undone that had not begun',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        story.begin('job-1');
        story.step('job-1', 1);
        story.beginUndo('job-2');
        story.revert('job-2', 3, 'DISABLED');
      }),
    /the undo of step 3, which had not begun/,
  ],
  [
    'with one signature where the file demands two',
    `unapproved:${contract}`,
    () => approved(),
    /1 of 2 persons/,
    trustFile({
      risk_floors: [{ target: 'limits', risk: 'critical' }],
    }),
  ],
  [
    'under a key that had ended',
    `unapproved:${contract}`,
    () => approved(),
    /The key of ada ended/,
    trustFile({
      persons: {
        ada: {
          ...person('ada'),
          keys: [
            {
              scheme: 'ed25519',
              public_key: keyOf('ada').publicKey,
              since: '2025-01-01T00:00:00Z',
              until: '2025-12-31T00:00:00Z',
            },
          ],
        },
      },
    }),
  ],
  [
    'of another target',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        story.begin('job-1');
        story.step('job-1', 1, whole, {
          target: 'payments',
          slot: 'payments#max',
          after_sha256: hashOf('payments#max', 200),
        });
        story.values.delete('limits#max');
        story.values.set('payments#max', 200);
      }),
    /step 1 changed payments by config_update/,
  ],
  [
    'to another value',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        story.begin('job-1');
        story.step('job-1', 1, whole, { after_sha256: hashOf('limits#max', 9_999) });
        story.values.set('limits#max', 9_999);
      }),
    /step 1 put another value at limits#max/,
  ],
  [
    'from another value',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        story.begin('job-1');
        story.step('job-1', 1, whole, { before_sha256: hashOf('limits#max', 50) });
      }),
    /found another value at limits#max/,
  ],
  [
    'with an undo to a value that was not signed',
    `unapproved:${contract}`,
    () =>
      approved((story) => {
        story.apply();
        story.revert('job-2', 1, 31_337);
      }),
    /undo of step 1 put a value/,
  ],
  [
    'by a second job',
    `applied_twice:${contract}`,
    () =>
      approved((story) => {
        story.apply();
        story.begin('job-2');
        story.step('job-2', 2);
      }),
    /step 2 of job job-2, after job job-1/,
  ],
  [
    'whose value was changed by another hand',
    `value_differs:${log}:limits#max`,
    () =>
      approved((story) => {
        story.apply();
        story.values.set('limits#max', 301);
      }),
    /is \{"limits#max": 301\}, which is not what its last receipt says \(entry 5/,
  ],
  [
    'whose value was removed',
    `value_differs:${log}:limits#max`,
    () =>
      approved((story) => {
        story.apply();
        story.values.delete('limits#max');
      }),
    /null/,
  ],
  [
    'whose document is not in the export',
    `governance_missing:${contract}`,
    () =>
      approved((story) => {
        story.apply();
        story.kept.get(contract)!.documents.length = 0;
      }),
    /The document that was signed/,
  ],
])('a change %s', (_, finding, make, message, trust = trustFile()) => {
  test('is a finding', async () => {
    const [kind] = finding.split(':');
    expect((await audit(make(), { trust })).problems).toMatchObject([
      {
        kind,
        subject: finding.slice(String(kind).length + 1),
        message: expect.stringMatching(message),
      },
    ]);
  });
  test('passes if the auditor waives exactly that', async () => {
    expect(await audit(make(), { trust, waive: [finding] })).toMatchObject({
      ok: true,
      waived: [{}],
    });
  });
});

function unsigned(then: (story: Story) => void): Story {
  const story = new Story();
  story.keep(document);
  then(story);
  return story;
}

test('an undo to the signed values is no finding', async () => {
  const story = approved((one) => {
    one.apply();
    one.beginUndo('job-2');
    one.revert('job-2', 4, 200);
    one.revert('job-2', 3, 'DISABLED');
    one.revert('job-2', 1, 100);
    one.moved('FAILED');
  });
  expect((await audit(story)).problems).toEqual([]);
});

test('an undo that a person had tried again after its rollback failed is no finding', async () => {
  const story = approved((one) => {
    one.apply();
    one.beginUndo('job-2');
    one.revert('job-2', 4, 666, 'rollback_conflict');
    one.values.set('limits#max', 300);
    one.revert('job-2', 3, 'DISABLED');
    const failed = { job_id: 'job-2', contract_id: contract, to: 'ROLLBACK_FAILED' };
    one.append(log, 'governance_job_moved', failed, 'job:job-2');
    one.moved('FAILED');
    one.beginUndo('job-3');
    one.revert('job-3', 4, 200);
    one.revert('job-3', 1, 100);
  });
  expect((await audit(story)).problems).toEqual([]);
});

test('an approval of the next round, after a revocation or of another state, is no finding', async () => {
  const second = { ...document, round: 2 };
  const story = (then: (one: Story) => void) => {
    const first = { ...document, pre_state: { 'limits#max': 1, checkout: 'DISABLED' } };
    const one = new Story();
    one.keep(first);
    one.kept.get(contract)!.documents.push(documentBytes(second));
    one.review('APPROVE', 'ada', first);
    then(one);
    one.review('APPROVE', 'ada', second);
    one.apply();
    return one;
  };
  const revoke = (one: Story) => one.review('REVOKE', 'ada');
  expect((await audit(story(revoke))).problems).toEqual([]);
  expect((await audit(story(() => undefined))).problems).toEqual([]);
});

describe('a change whose receipts are dated before earlier entries of their log', () => {
  const day = 86_400_000;
  /** A superuser appends it ten days later, with the clock set back. */
  const backdated = (later: number) =>
    approved((story) => {
      story.later = later;
      story.control('capability', 'search', { lifecycle: 'LAUNCHED' });
      story.values.set('search', 'LAUNCHED');
      story.later = 0;
      story.apply();
    });
  const compromised = trustFile({
    persons: {
      ada: {
        ...person('ada'),
        keys: person('ada').keys.map((key) => ({
          ...key,
          compromised_since: '2026-01-05T00:00:00Z',
        })),
      },
    },
  });

  test('is a finding if its key had ended in between', async () => {
    expect((await audit(backdated(10 * day), { trust: compromised })).problems).toMatchObject([
      {
        kind: 'unapproved',
        message: expect.stringMatching(/stands behind one of 2026-01-11.*The key of ada ended/),
      },
    ]);
  });

  test('is a finding about its log if its window was over by then', async () => {
    expect((await audit(backdated(200 * day))).problems).toMatchObject([
      {
        kind: 'dated_back',
        subject: log,
        message: expect.stringMatching(
          /after its window, or a clock was set back.*of 2026-07-20.*approved until 2026-03-02/,
        ),
      },
    ]);
    const waive = [`dated_back:${log}`];
    expect(await audit(backdated(200 * day), { waive })).toMatchObject({ ok: true, waived: [{}] });
  });

  test('is no finding if its key counted all the time, or had not ended yet', async () => {
    expect((await audit(backdated(10 * day))).problems).toEqual([]);
    expect((await audit(backdated(3 * day), { trust: compromised })).problems).toEqual([]);
  });
});

describe('a value outside the database', () => {
  const flag = {
    ...document,
    scope: ['flag:a'],
    steps: [{ step_type: 'flag', target: 'flag:a', parameters: { value: 50 } }],
    pre_state: { 'flag:a': 1 },
  };
  const applied = () => {
    const story = new Story();
    story.keep(flag);
    story.review('APPROVE', 'ada', flag);
    story.begin('job-1');
    story.step('job-1', 1, { contract, steps: flag.steps, before: flag.pre_state });
    story.values.clear();
    return story;
  };
  const stands = (value: unknown) => async (tenant: string, step: SignedStep) => {
    expect([tenant, step]).toEqual([log, flag.steps[0]]);
    if (value instanceof Error) throw value;
    return value;
  };

  test('that stands as its last receipt says is no finding', async () => {
    const verdict = await audit(applied(), { outside: stands(50) });
    expect(verdict).toMatchObject({ ok: true, audited: { values: 1 } });
    expect(verdict.notes.join()).not.toMatch(/outside the database/);
  });

  test.each<[string, unknown, string, RegExp]>([
    ['that another hand has changed', 7, 'value_differs', /{"flag:a": 7}, which is not what/],
    ['that nobody can read', new Error('it is away'), 'governance_missing', /it is away/],
  ])('%s is a finding, which the auditor may waive', async (_, value, kind, message) => {
    const outside = stands(value);
    expect((await audit(applied(), { outside })).problems).toMatchObject([
      { kind, subject: `${log}:flag:a`, message: expect.stringMatching(message) },
    ]);
    const waive = [`${kind}:${log}:flag:a`];
    expect(await audit(applied(), { outside, waive })).toMatchObject({ ok: true, waived: [{}] });
  });

  test('is not compared without its step type, and the verdict says so', async () => {
    const { ok, notes } = await audit(applied());
    expect([ok, notes.join()]).toEqual([
      true,
      expect.stringMatching(/1 value outside.*: default:flag:a\./),
    ]);
  });
});

describe('an undo of what nobody applied', () => {
  test('is no finding if the step was signed and has only begun', async () => {
    const story = approved((one) => {
      one.begin('job-1');
      one.revert('job-2', 1, 100);
    });
    expect((await audit(story)).problems).toEqual([]);
  });

  const ended = trustFile({
    persons: {
      ada: {
        ...person('ada'),
        keys: person('ada').keys.map((key) => ({ ...key, compromised_since: key.since })),
      },
    },
  });
  test.each<[string, () => Story, RegExp, Trust?]>([
    [
      'of a contract that nobody has signed',
      () =>
        unsigned((one) => {
          one.begin('job-1');
          one.revert('job-2', 1, 100);
        }),
      /nobody had signed it/,
    ],
    [
      'to a value that was not signed',
      () =>
        approved((one) => {
          one.begin('job-1');
          one.revert('job-2', 1, 7);
        }),
      /undo of step 1 put a value/,
    ],
    [
      'under a key that had ended',
      () =>
        approved((one) => {
          one.begin('job-1');
          one.revert('job-2', 1, 100);
        }),
      /The key of ada ended/,
      ended,
    ],
  ])('%s is a finding', async (_, make, message, trust = trustFile()) => {
    expect((await audit(make(), { trust })).problems).toMatchObject([
      { kind: 'unapproved', message: expect.stringMatching(message) },
    ]);
  });

  test('says nothing about what is applied after it', async () => {
    const later = trustFile({
      persons: {
        ada: {
          ...person('ada'),
          keys: person('ada').keys.map((key) => ({ ...key, until: '2026-01-01T00:00:00.004Z' })),
        },
      },
    });
    const story = approved((one) => {
      one.begin('job-2');
      one.revert('job-2', 1, 100);
      one.apply();
    });
    expect((await audit(story, { trust: later })).problems).toMatchObject([
      { kind: 'unapproved', message: expect.stringMatching(/The key of ada ended/) },
    ]);
  });
});

describe('a governed value', () => {
  const known = (then: (story: Story) => void = () => undefined) => {
    const story = new Story();
    story.control('capability', 'checkout', { capability_name: 'checkout', lifecycle: 'DISABLED' });
    story.control('configuration_scope', 'limits', {
      owner_capability: null,
      values: { max: 100, burst: 1.5 },
    });
    story.values.set('checkout', 'DISABLED').set('limits#max', 100).set('limits#burst', 1.5);
    then(story);
    return story;
  };
  const differing = async (story: Story) =>
    (await audit(story)).problems.map(({ kind, subject }) => `${kind}:${subject}`);

  test('that stands as it was put is no finding', async () => {
    expect(await audit(known())).toMatchObject({ ok: true, problems: [], audited: { values: 3 } });
    const later = known((story) => {
      story.control(
        'capability',
        'checkout',
        { lifecycle: 'DISABLED', monitored: true },
        { was: '{}' },
      );
      story.keep(document);
      story.review('APPROVE', 'ada');
      story.apply();
    });
    expect((await audit(later)).problems).toEqual([]);
  });

  test('that no contract has changed is compared with the receipt that put it', async () => {
    expect(
      await differing(known((story) => story.values.set('limits#burst', 9).delete('checkout'))),
    ).toEqual([`value_differs:${log}:checkout`, `value_differs:${log}:limits#burst`]);
  });

  test('that no receipt is about is a finding', async () => {
    expect(await differing(known((story) => story.values.set('limits#kill-switch', true)))).toEqual(
      [`value_differs:${log}:limits#kill-switch`],
    );
  });

  const written = [
    `value_differs:${log}:checkout:6`,
    `value_differs:${log}:checkout`,
    `value_differs:${log}:limits#max`,
  ];
  test('that a second receipt of first values is about stays what it was', async () => {
    const story = known((one) => {
      one.keep(document);
      one.review('APPROVE', 'ada');
      one.begin('job-1');
      one.step('job-1', 1);
      one.control('configuration_scope', 'limits', { values: { max: 666 } });
      one.control('capability', 'checkout', { lifecycle: 'LAUNCHED' });
      one.values.set('limits#max', 666).set('checkout', 'LAUNCHED');
    });
    expect(await differing(story)).toEqual([`value_differs:${log}:limits:5`, ...written]);
    // Of another name, about the same slot.
    const other = known((one) => {
      one.control('capability', 'limits#max', { lifecycle: 666 });
      one.values.set('limits#max', 666);
    });
    expect(await differing(other)).toEqual([
      `value_differs:${log}:limits#max:2`,
      `value_differs:${log}:limits#max`,
    ]);
  });

  test('that another hand has changed is a finding after the next approved change, too', async () => {
    const next: SignedDocument = {
      ...document,
      contract: randomUUID(),
      scope: ['limits'],
      steps: [
        { step_type: 'config_update', target: 'limits', parameters: { key: 'max', new_value: 5 } },
      ],
      pre_state: { 'limits#max': 666 },
    };
    const story = (then: (one: Story) => void) =>
      known((one) => {
        one.keep(document);
        one.review('APPROVE', 'ada');
        one.keep(next);
        one.review('APPROVE', 'ada', next);
        then(one);
        one.begin('job-9', next.contract);
        one.step('job-9', 1, {
          contract: next.contract,
          steps: next.steps,
          before: next.pre_state,
        });
      });
    const { problems } = await audit(story((one) => one.apply()));
    expect(problems).toMatchObject([
      {
        kind: 'value_differs',
        subject: `${log}:limits#max:10`,
        message: expect.stringMatching(/last receipt says \(entry 8 of .* changed it \(entry 10\)/),
      },
    ]);
    expect(await differing(story(() => undefined))).toEqual([`value_differs:${log}:limits#max:5`]);
  });

  test('that was put as 100.0 is the one that a change finds and the export has', async () => {
    const state = '{"limits#rates": {"a": 100.0, "b\\"": [1.50, "2.0"]}}';
    const story = new Story();
    const put = '{"values": {"max": 100.0, "rates": {"a": 100.0, "b\\"": [1.50, "2.0"]}}}';
    story.control('configuration_scope', 'limits', put);
    story.keep(document);
    story.review('APPROVE', 'ada');
    story.begin('job-1');
    story.step('job-1', 1, whole, { before_sha256: toHex(sha256(utf8('{"limits#max": 100.0}'))) });
    story.kept.get(contract)!.pre_state = { 'limits#max': '100.0' };
    const change = (files: Map<string, Uint8Array>) => {
      const lines = fromUtf8(files.get(valuesPath)!)!;
      const line = JSON.stringify({ tenant: log, slot: 'limits#rates', state });
      return files.set(valuesPath, utf8(`${lines}${line}\n`));
    };
    expect(await audit(story, { change })).toMatchObject({ problems: [], audited: { values: 2 } });
  });

  test('does not become right because a rollback has found it', async () => {
    const story = known((one) => {
      one.keep(document);
      one.review('APPROVE', 'ada');
      one.apply();
      one.revert('job-2', 4, 666, 'rollback_conflict');
    });
    expect(await differing(story)).toEqual([`value_differs:${log}:limits#max`]);
  });

  test('whose receipts cannot be read is not compared, and the verdict says so', async () => {
    const cut = new Story();
    cut.control('configuration_scope', 'limits', '{"values": {"max": "aaaa … sha256 00');
    cut.values.set('limits#max', 'a'.repeat(9_000));
    const verdict = await audit(cut);
    expect(verdict.problems).toEqual([]);
    expect(verdict.notes.join()).toMatch(/1 governed value not compared.*: default:limits#max\./);
  });
});

test('without a trust file approvals are not judged, and the verdict says so; the rest is', async () => {
  const story = unsigned((one) => {
    one.apply();
    one.begin('job-2');
    one.step('job-2', 2);
  });
  const verdict = await audit(story, { trust: null });
  expect(verdict.problems).toMatchObject([{ kind: 'applied_twice' }]);
  expect(verdict.notes).toContain(
    'The approvals of 1 contract were not judged: no trust file was given.',
  );
});

test('an export without governed values cannot be compared', async () => {
  const change = (files: Map<string, Uint8Array>) => {
    files.delete(valuesPath);
    return files;
  };
  expect((await audit(approved(), { change })).problems).toMatchObject([
    { kind: 'governance_missing', subject: 'values' },
  ]);
});

test('a value that changed after the checkpoint is not compared, and the verdict says so', async () => {
  const line = JSON.stringify({
    tenant: log,
    slot: 'limits#max',
    state: '{"limits#max": 1}',
    later: true,
  });
  const change = (files: Map<string, Uint8Array>) => {
    const text = new TextDecoder().decode(files.get(valuesPath)).replace(/^.*limits#max.*$/m, line);
    return files.set(valuesPath, utf8(text));
  };
  const verdict = await audit(approved(), { change });
  expect(verdict).toMatchObject({ ok: true, audited: { values: 1 } });
  expect(verdict.notes.join()).toMatch(
    /1 governed value changed after the newest checkpoint.*: default:limits#max\./,
  );
});

test('a value before the change counts in the form in which the database printed it', async () => {
  const story = approved((one) => {
    one.begin('job-1');
    const before_sha256 = toHex(sha256(utf8('{"limits#max": 100.0}')));
    one.step('job-1', 1, whole, { before_sha256 });
    one.kept.get(contract)!.pre_state = { 'limits#max': '100.0' };
  });
  expect((await audit(story)).problems).toEqual([]);
});

describe('a broken glass', () => {
  const glass = (not_after: string): SignedDocument => ({
    ...document,
    writ: 'break glass 1',
    reason: 'the shop is down',
    not_after,
  });
  const broken = (of: SignedDocument) => {
    const story = new Story();
    story.keep(of);
    story.review('BREAK_GLASS', 'ada', of);
    story.apply();
    return story;
  };
  const trust = trustFile({
    persons: { ada: person('ada', { rights: ['break_glass'] }) },
    quorum: { low: 2, medium: 2, high: 2, critical: 2 },
  });

  test('needs one person with the right to it', async () => {
    const story = () => broken(glass('2026-01-01T00:10:00.000Z'));
    expect((await audit(story(), { trust })).problems).toEqual([]);
    expect((await audit(story())).problems).toMatchObject([
      { kind: 'unapproved', message: expect.stringMatching(/no right to break_glass/) },
    ]);
  });

  test.each([
    ['had ended', '2025-12-31T23:59:59.000Z', /The glass was broken until/],
    ['lasts too long', '2026-01-01T01:00:00.000Z', /lasts 15 minutes/],
  ])('whose signature %s is a finding', async (_, until, message) => {
    expect((await audit(broken(glass(until)), { trust })).problems).toMatchObject([
      { kind: 'unapproved', message: expect.stringMatching(message) },
    ]);
  });
});

describe('a template', () => {
  const template: SignedDocument = {
    ...document,
    scope: ['limits'],
    steps: [
      {
        step_type: 'config_update',
        target: 'limits',
        parameters: { key: 'max', new_value: { $param: 'max' } },
      },
    ],
    template: {
      ...{ params: { max: { min: 1, max: 500 } }, pre: { 'limits#max': { min: 0, max: 1_000 } } },
      ...{ activations: 2, cooldown_sec: 0, expires_in_sec: 86_400 },
    },
    pre_state: {},
  };
  const story = (
    of: SignedDocument,
    values: readonly number[],
    /** What the receipt of each instance has the hash of, if that is not its parameters. */
    sealed?: number,
    /** Statuses that the receipts of an instance tell. */
    told: readonly string[] = ['DRAFT', 'ACTIVE'],
  ) => {
    const made = new Story();
    made.keep(of);
    made.review('APPROVE', 'ada', of);
    let before = 100;
    for (const max of values) {
      const id = randomUUID();
      const steps = of.steps.map((step) => filled(step, { max }));
      made.kept.set(id, {
        documents: [],
        params: { max },
        pre_state: { 'limits#max': String(before) },
      });
      const content = { scope: of.scope, steps: of.steps };
      if (of.template !== null)
        content.steps = of.steps.map((step) => filled(step, { max: sealed ?? max }));
      const scope_hash = toHex(sha256(utf8(canonicalize(content))));
      for (const to of told)
        made.moved(to, id, {
          why: to === 'DRAFT' ? `instance of ${of.contract}` : 'activated',
          scope_hash,
        });
      made.begin(`job of ${id}`);
      made.step(`job of ${id}`, 1, { contract: id, steps, before: { 'limits#max': before } });
      before = max;
    }
    return made;
  };

  test('whose instance has other parameters than those that were sealed is a finding', async () => {
    expect((await audit(story(template, [200], 499))).problems).toMatchObject([
      { kind: 'unapproved', message: expect.stringMatching(/that its receipt has the hash of/) },
    ]);
  });

  test('whose instances were applied without an activation counts them', async () => {
    const { problems } = await audit(story(template, [200, 300, 400], undefined, ['DRAFT']));
    expect(problems).toMatchObject([
      {
        kind: 'template_exceeded',
        message: expect.stringMatching(/activated 3 times, and 2 were signed/),
      },
    ]);
  });

  test('that was activated within its bounds is no finding', async () => {
    expect(await audit(story(template, [200, 300]))).toMatchObject({
      ok: true,
      audited: { contracts: 2 },
    });
  });

  test.each<[string, SignedDocument, number[], string, RegExp]>([
    [
      'more often than was signed',
      template,
      [200, 300, 400],
      'template_exceeded',
      /activated 3 times, and 2 were signed/,
    ],
    [
      'again before its cooldown was over',
      { ...template, template: { ...template.template!, cooldown_sec: 3_600 } },
      [200, 300],
      'template_exceeded',
      /a cooldown of 3600 s was signed/,
    ],
    [
      'with a parameter out of bounds',
      template,
      [501],
      'unapproved',
      /parameter max is out of the bounds/,
    ],
    [
      'from a value out of bounds',
      {
        ...template,
        template: { ...template.template!, pre: { 'limits#max': { min: 0, max: 50 } } },
      },
      [60],
      'unapproved',
      /not in the range that was signed/,
    ],
  ])('that was activated %s is a finding', async (_, of, values, kind, message) => {
    expect((await audit(story(of, values))).problems).toMatchObject([
      { kind, message: expect.stringMatching(message) },
    ]);
  });
});

test('a state is printed as PostgreSQL prints it', () => {
  expect(stateText('a#b', { longer: [1, 'x', null], b: true, a: 1e-7, é: 1e21, c: 'ä"\n' })).toBe(
    '{"a#b": {"a": 0.0000001, "b": true, "c": "ä\\"\\n", "é": 1000000000000000000000, "longer": [1, "x", null]}}',
  );
});
