/** What a genuine signature counts for, and what it never does, whoever owns the database. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type Previewed, previewOf, showPreview } from '../../src/cli/governance/preview.js';
import { Output } from '../../src/cli/output.js';
import {
  documentBytes,
  documentHash,
  glassDomain,
  type SignedDocument,
} from '../../src/governance/document.js';
import { signedBy } from '../../src/governance/keys.js';
import {
  configure,
  defineStep,
  enable,
  newKey,
  param,
  principal,
  recordSignal,
  soak,
} from '../../src/index.js';
import { outside } from '../governance/outside.js';
import { scene } from '../governance/scene.js';
import { verifying } from '../governance/verifying.js';
import { until } from '../races/sessions.js';
import { codeOf } from '../runs/engine/scene.js';
import { attackers } from './attackers.js';

const s = scene();
const enter = attackers(s);
const before = { checkout: 'DISABLED', search: 'LAUNCHED', 'limits#max': 100 };

/** As a superuser, past every guard. */
const tamper = (sql: string) =>
  s.sql(`begin; set local session_replication_role = replica; ${sql}; commit`);
const status = async (contract: { get(): Promise<{ readonly status: string }> }) =>
  (await contract.get()).status;
const files: string[] = [];
afterEach(() => {
  for (const folder of files.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A trust file that knows these persons by the keys that they have now. */
async function trustFile(...persons: ('ada' | 'bob' | 'ops')[]): Promise<string> {
  const [row] = await s.sql<{ id: string }>('select writ_data.deployment_id() as id');
  const known = persons.map((id) => [
    id,
    {
      tenants: ['*'],
      rights: ['approve', 'break_glass'],
      keys: [
        {
          scheme: 'ed25519',
          public_key: principal(s.keys[id]).publicKey,
          since: '2020-01-01T00:00:00Z',
        },
      ],
    },
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'writ-trust-'));
  files.push(folder);
  const path = join(folder, 'writ.trust.json');
  const quorum = { low: 1, medium: 1, high: 2, critical: 2 };
  const trust = {
    writ: 'trust 1',
    deployment: row?.id,
    persons: Object.fromEntries(known),
    quorum,
    risk_floors: [],
    ledger_keys: [],
  };
  writeFileSync(path, JSON.stringify(trust));
  return path;
}

test('a signature lands on the contract that its owner saw, though the preview was replaced', async () => {
  const seen = await s.propose({
    title: 'Harmless',
    scope: ['search'],
    steps: [enable('search', 'DEPRECATED')],
  });
  const other = await s.propose({
    title: 'Everything',
    scope: ['limits'],
    steps: [configure('limits', 'max', 9_000)],
  });
  // It shows the harmless contract, and answers the hash of the other one.
  const { hash } = await other.preview({ as: s.keys.ada });
  await s.sql(`alter function writ.fn_contract_preview(text, uuid) rename to fn_honest;
    create function writ.fn_contract_preview(p_key text, p_id uuid) returns jsonb language sql security definer as $$
      select writ.fn_honest(p_key, p_id) || '{"hash": "${hash}"}' $$`);
  await verifying(s.writ);
  const shown = await seen.preview({ as: s.keys.ada });
  await seen.approve({ as: s.keys.ada, hash: shown.hash }).catch(() => undefined);
  const [signed] = await s.sql<{ hash: string; signature: string }>(
    'select hash, signature from writ.contract_review',
  );
  expect(signed?.hash).toBe(documentHash(documentBytes(shown.document)));
  expect(signedBy(principal(s.keys.ada).publicKey, hash, String(signed?.signature))).toBe(false);
  expect(await status(other)).toBe('ELIGIBLE');
  expect(shown.document).toMatchObject({ contract: seen.id, title: 'Harmless' });
});

test('a preview of another contract than the one that was asked for is refused', async () => {
  const [one, other] = [await s.propose(), await s.propose({ title: 'Another' })];
  await s.sql(`alter function writ.fn_contract_preview(text, uuid) rename to fn_honest;
    create function writ.fn_contract_preview(p_key text, p_id uuid) returns jsonb language sql security definer as $$
      select writ.fn_honest(p_key, '${other.id}') $$`);
  expect(await codeOf(one.preview({ as: s.keys.ada }))).toBe('approval_void');
});

describe('a preview hides nothing that is signed', () => {
  class Lines extends Output {
    readonly lines: string[] = [];
    override line(text = ''): void {
      this.lines.push(text);
    }
  }
  /**
   * Every value in a document, without the names of its fields. Types of steps and SYSTEM have
   * words of their own.
   */
  const leaves = (value: unknown): unknown[] => {
    if (value === null || typeof value !== 'object') return value === 'SYSTEM' ? [] : [value];
    const { step_type: _, ...rest } = value as { step_type?: unknown };
    return Object.values(rest).flatMap(leaves);
  };
  const shows = (previewed: Previewed) => {
    const output = new Lines({});
    showPreview(output, previewed);
    const text = output.lines.join('\n');
    const hidden = leaves(previewed.preview.document).filter(
      (leaf) => leaf !== null && leaf !== '' && !text.includes(String(leaf)),
    );
    expect(hidden.filter((leaf) => leaf !== 'approval 1' && leaf !== glassDomain)).toEqual([]);
    return text;
  };

  test('of a change of every type', async () => {
    const steps = [
      enable('checkout', 'PREVIEW'),
      configure('limits', 'max', { per: { minute: 7 } }, { old: 100 }),
      soak('90s'),
      {
        ...recordSignal('release', 'as planned'),
        parameters: { signal_type: 'release', decision: 'EXECUTING', reason: 'as planned' },
      },
    ];
    const contract = await s.propose({
      description: 'for the sale',
      steps,
      maxDuration: '2h',
      stepTimeout: '3m',
    });
    shows(await previewOf(contract, { as: s.keys.ada }));
  });

  test('of a template: bounds, activations, expiry, and that it is one', async () => {
    const template = {
      params: { to: { min: 3, max: 471 } },
      pre: { 'limits#max': { in: [100, 'none', null] } },
      activations: 17,
      cooldown: '83s',
      expiresIn: '12345s',
    } as const;
    const contract = await s.propose({
      scope: ['limits'],
      steps: [configure('limits', 'max', param('to'))],
      template,
    });
    const text = shows(await previewOf(contract, { as: s.keys.ada }));
    expect(text).toMatch(/A template/);
    // Nobody knows yet what an instance finds, so nothing is shown as found or restored.
    expect(text).toMatch(/set limits#max +→ {"\$param":"to"}$/m);
  });

  test('of a database that puts values where the words of a step do not look', async () => {
    const contract = await s.propose();
    const { document } = await contract.preview({ as: s.keys.ada });
    let marks = 0;
    const mark = () => `mark${1_000 + marks++}`;
    const step = (step_type: string, target: string, ...names: string[]) => ({
      step_type,
      target,
      parameters: Object.fromEntries(names.map((name) => [name, { [mark()]: [mark()] }])),
    });
    const lie = {
      ...document,
      constraints: { max_duration_ms: { [mark()]: mark() } },
      steps: [
        step('capability_enable', mark(), 'target_lifecycle', 'reason', 'value'),
        step('capability_disable', mark(), 'reason', 'new_value'),
        step('config_update', mark(), 'key', 'new_value', 'old_value', 'value'),
        step('soak', mark(), 'duration_ms', 'reason', 'value'),
        step('signal_record', mark(), 'signal_type', 'decision', 'reason', 'scope', 'value'),
        step('flag', mark(), 'value', 'key', 'reason', 'new_value'),
      ],
      pre_state: { [mark()]: { [mark()]: mark() } },
    };
    await s.sql(`alter function writ.fn_contract_preview(text, uuid) rename to fn_honest;
      create function writ.fn_contract_preview(p_key text, p_id uuid) returns jsonb language sql security definer as $$
        select writ.fn_honest(p_key, p_id) || jsonb_build_object('document', '${JSON.stringify(lie)}'::jsonb) $$`);
    const text = shows(await previewOf(contract, { as: s.keys.ada }));
    const all = Array.from({ length: marks }, (_, n) => `mark${1_000 + n}`);
    expect(all.filter((each) => !text.includes(each))).toEqual([]);
  });

  test('of a broken glass: its reason, its end and the hash of the bytes that are signed', async () => {
    const contract = await s.propose({ steps: [enable('checkout')] }, s.keys.ada);
    const { preview, row } = await previewOf(contract, { as: s.keys.ops });
    const shown = await contract.breakingGlass(preview, ' the shop is down ');
    const text = shows({ preview: shown, row });
    expect(shown.document).toMatchObject({ writ: glassDomain, reason: 'the shop is down' });
    expect(text).toContain(shown.hash);
    const refused = contract.activate({
      ...{ as: s.keys.ops, breakGlass: 'another reason' },
      hash: shown.hash,
    });
    expect(await codeOf(refused)).toBe('approval_void');
    await contract.activate({
      ...{ as: s.keys.ops, breakGlass: 'the shop is down' },
      hash: shown.hash,
    });
    expect(await s.sql('select document from writ.contract_document')).toEqual([
      { document: documentBytes(shown.document) },
    ]);
  });
});

describe('a signature', () => {
  test('of zero bytes counts for nothing, is refused with a receipt, and takes nobody’s place', async () => {
    const contract = await s.propose();
    const ada = await enter(['writ_principal'], { principal_id: 'ada' });
    const { document, hash } = await contract.preview({ as: s.keys.ada });
    const signed = {
      key: null,
      contract_id: contract.id,
      action: 'APPROVE',
      document: documentBytes(document),
      signature: '00'.repeat(64),
    };
    expect(await ada.call('fn_contract_review', signed)).toMatchObject({
      status: 'ELIGIBLE',
      approvals: [],
    });
    await verifying(s.writ);
    await until(
      async () =>
        (await s.sql(`select from writ.contract_review where verdict = 'wrong'`)).length === 1,
    );
    expect(
      await s.sql(
        `select receipt #>> '{context,by}' as by from writ.receipt where receipt ->> 'reason' = 'signature_refused'`,
      ),
    ).toEqual([{ by: 'ada' }]);
    expect(await status(contract)).toBe('ELIGIBLE');
    expect(await contract.approve({ as: s.keys.ada, hash })).toMatchObject({
      status: 'APPROVED',
      approved_by: ['ada'],
    });
  });

  test.each<[string, (document: SignedDocument) => SignedDocument]>([
    [
      'deployment',
      (document) => ({ ...document, deployment: '3f2a6f0e-0c3d-4b59-9d7f-0f6f4c1f9a10' }),
    ],
    ['tenant', (document) => ({ ...document, tenant: 'acme' })],
    ['round', (document) => ({ ...document, round: 2 })],
    ['proposed_by', (document) => ({ ...document, proposed_by: ['bob'] })],
    ['risk', (document) => ({ ...document, risk: 'low' })],
    ['not_after', (document) => ({ ...document, not_after: '2036-01-01T00:00:00.000Z' })],
    ['constraints', (document) => ({ ...document, constraints: { max_duration_ms: 1 } })],
    ['title', (document) => ({ ...document, title: 'Nothing' })],
    [
      'pre_state',
      (document) => ({ ...document, pre_state: { ...document.pre_state, 'limits#max': 1 } }),
    ],
  ])('of another %s is refused', async (field, other) => {
    const contract = await s.propose();
    const { document } = await contract.preview({ as: s.keys.ada });
    const bytes = documentBytes(other(document));
    const ada = await enter(['writ_principal'], { principal_id: 'ada' });
    const signature = principal(s.keys.ada).sign(documentHash(bytes));
    const answer = await ada.call('fn_contract_review', {
      key: null,
      contract_id: contract.id,
      action: 'APPROVE',
      document: bytes,
      signature,
    });
    expect(answer).toMatchObject({
      reason: 'approval_void',
      detail: expect.stringMatching(new RegExp(`Different: ${field}$`)),
    });
    expect(await s.sql('select from writ_data.contract_review')).toEqual([]);
  });

  test('of bytes that no applier can read leaves the round to others', async () => {
    const contract = await s.propose({ risk: 'high' });
    const ada = await enter(['writ_principal'], { principal_id: 'ada' });
    const { document } = await contract.preview({ as: s.keys.ada });
    await verifying(s.writ);
    // Whoever has only what authenticates ada. The database reads the same document out of these.
    const texts = [
      ` ${documentBytes(document)}`,
      `${documentBytes(document).slice(0, -1)}, "risk": "high"}`,
      documentBytes(document).replace('{', '{"title":"Another",'),
    ];
    for (const [n, text] of texts.entries()) {
      expect(
        await ada.call('fn_contract_review', {
          key: null,
          contract_id: contract.id,
          action: 'APPROVE',
          document: text,
          signature: '00'.repeat(64),
        }),
      ).toMatchObject({ status: 'ELIGIBLE', approvals: [] });
      await until(
        async () =>
          (await s.sql(`select from writ.contract_review where verdict = 'wrong'`)).length ===
          n + 1,
      );
    }
    for (const as of [s.keys.bob, s.keys.ada]) {
      const { hash } = await contract.preview({ as });
      await contract.approve({ as, hash });
    }
    expect(await status(contract)).toBe('APPROVED');
  });

  test('of an earlier round never counts again', async () => {
    const contract = await s.propose({ risk: 'high' });
    await verifying(s.writ);
    const { document, hash } = await contract.preview({ as: s.keys.ada });
    await contract.approve({ as: s.keys.ada, hash });
    expect(await contract.revoke({ as: s.keys.ada })).toMatchObject({
      status: 'ELIGIBLE',
      approved_by: [],
    });
    const bytes = documentBytes(document);
    const ada = await enter(['writ_principal'], { principal_id: 'ada' });
    const replayed = {
      document: bytes,
      signature: principal(s.keys.ada).sign(documentHash(bytes)),
    };
    expect(
      await ada.call('fn_contract_review', {
        key: null,
        contract_id: contract.id,
        action: 'APPROVE',
        ...replayed,
      }),
    ).toMatchObject({
      reason: 'approval_void',
    });
    expect(await contract.preview({ as: s.keys.bob })).toMatchObject({
      document: { round: 2 },
      approved_by: [],
    });
  });
});

describe('an approval', () => {
  test('that was revoked before the activation activates nothing', async () => {
    const contract = await s.approved();
    expect(await contract.revoke({ as: s.keys.ada, reason: 'not before the sale' })).toMatchObject({
      status: 'ELIGIBLE',
    });
    expect(await codeOf(contract.activate({ as: s.keys.service }))).toBe('invalid_transition');
    expect(await codeOf(contract.revoke({ as: s.keys.bob }))).toBe('approval_missing');
    await s.approve(contract);
    expect(await status(contract)).toBe('APPROVED');
  });

  test('of a template that was revoked stops an instance, and what that has done is undone', async () => {
    await s.work();
    const template = {
      pre: { 'limits#max': { in: [100] } },
      activations: 3,
      expiresIn: '1d',
    } as const;
    const steps = [configure('limits', 'max', 7), soak('10m')];
    const contract = await s.approved({ scope: ['limits'], steps, template });
    const job = await contract.instantiate({}, { as: s.keys.service });
    await until(
      async () =>
        (await s.sql(`select from writ_data.governance_step where step_type = 'soak'`)).length ===
        1,
    );
    expect(await s.state()).toMatchObject({ 'limits#max': 7 });
    expect(await contract.revoke({ as: s.keys.ada })).toMatchObject({ status: 'ELIGIBLE' });
    expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'ROLLED_BACK' });
    expect(await s.state()).toEqual(before);
    expect(await codeOf(contract.instantiate({}, { as: s.keys.service }))).toBe(
      'invalid_transition',
    );
  });

  test('of a person for whom an agent’s agent has proposed is denied with a receipt', async () => {
    const deputy = await s.writ.principals.add({
      ...{ id: 'deputy', kind: 'agent', onBehalfOf: 'agent' },
    });
    const contract = await s.propose({}, deputy);
    const { document, hash } = await contract.preview({ as: s.keys.ops });
    expect(document.proposed_by).toEqual(['deputy', 'agent', 'ops']);
    expect(await codeOf(contract.approve({ as: s.keys.ops, hash }))).toBe('own_contract');
    expect(
      await s.sql(
        `select receipt #>> '{context,principal}' as by from writ.receipt where receipt ->> 'reason' = 'access_denied'`,
      ),
    ).toEqual([{ by: 'ops' }]);
    expect(await s.sql('select from writ.contract_review')).toEqual([]);
  });

  test('of a person who was disabled since counts no longer', async () => {
    const contract = await s.approved();
    await s.writ.principals.change('ada', { disabled: true });
    expect(await codeOf(contract.activate({ as: s.keys.service }))).toBe('approval_missing');
    expect(await s.state()).toEqual(before);
  });

  test('of a risk that somebody lowered in the database needs as many persons as it was signed for', async () => {
    const contract = await s.propose({ risk: 'high', steps: [enable('checkout')] });
    await verifying(s.writ);
    const { hash } = await contract.preview({ as: s.keys.ada });
    expect(await contract.approve({ as: s.keys.ada, hash })).toMatchObject({
      status: 'ELIGIBLE',
      approvals_needed: 2,
    });
    await tamper(`update writ_data.contract set risk_level = 'low', status = 'APPROVED', approved_by = '{ada}', approved_at = writ.now(),
      window_start = writ.now(), window_end = writ.now() + interval '1 day'`);
    expect(await codeOf(contract.activate({ as: s.keys.service }))).toMatch(
      /^approval_(void|missing)$/,
    );
    expect(await s.state()).toEqual(before);
  });
});

describe('an applier with a trust file', () => {
  test('applies nothing that a key outside of its file has approved', async () => {
    const trust = await trustFile('ada', 'bob');
    const contract = await s.propose({ risk: 'high', steps: [enable('checkout')] });
    await verifying(s.writ);
    const { document, hash } = await contract.preview({ as: s.keys.ada });
    await contract.approve({ as: s.keys.ada, hash });
    // A superuser takes the place of bob, with a key of its own.
    const forged = principal(newKey('bob'));
    await tamper(`insert into writ_data.contract_review (contract_id, review_no, action, by, hash, scheme, signature, public_key, at)
        select contract_id, 2, 'APPROVE', 'bob', hash, 'ed25519', decode('${forged.sign(documentHash(documentBytes(document)))}', 'hex'),
          decode('${forged.publicKey}', 'hex'), at from writ_data.contract_review;
      insert into writ_data.contract_verdict select contract_id, 2, 'valid', login, trust, at from writ_data.contract_verdict`);
    await s.sql(
      `select writ_data.approve_verified(contract_id, 1, 'database', 'mallory', writ.now()) from writ_data.contract`,
    );
    await contract.activate({ as: s.keys.service });
    const worker = await s.writ.work([], { governance: true, trust, onError: () => undefined });
    // The key may be on its way: the job waits, and no attempt is charged.
    await until(
      async () =>
        (
          await s.sql(
            `select from writ_data.job_execution where abort_kind = 'delayed' and attempt = 0`,
          )
        ).length > 0,
    );
    await worker.stop();
    expect(await s.state()).toEqual(before);
    await s.db.clock.advance('61s');
    await s.sql(`select writ.fn_governance_tick('test')`);
    expect(await s.alerts()).toContain('GOVERNANCE_JOB_SLOW');
  });

  test('names the hash of its file in the receipts of what it applies and undoes', async () => {
    const trust = await trustFile('ada', 'ops');
    const file = createHash('sha256').update(readFileSync(trust)).digest('hex');
    await s.writ.work([], { governance: true, trust });
    // Nobody has looked at the signature of a broken glass before it is applied.
    const glass = await s.propose({ steps: [enable('checkout')] }, s.keys.ada);
    const job = await s.breakGlass(glass, 'the shop is down');
    expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
    const stopped = await s.propose({ steps: [configure('limits', 'max', 7), soak('10m')] });
    const { hash } = await stopped.preview({ as: s.keys.ada });
    await stopped.approve({ as: s.keys.ada, hash });
    const undone = await stopped.activate({ as: s.keys.service });
    await until(async () => (await undone.get()).completed_steps === 1);
    await s.writ.contracts.stop([stopped.id], { reason: 'enough of it', as: s.keys.ops });
    expect(await undone.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'ROLLED_BACK' });
    const receipts = await s.sql(`select receipt ->> 'reason' as reason,
        receipt #>> '{context,trust}' as trust from writ.receipt
      where receipt ->> 'reason' in ('change_applied', 'change_reverted') order by reason`);
    expect(receipts).toEqual([
      { reason: 'change_applied', trust: file },
      { reason: 'change_applied', trust: file },
      { reason: 'change_reverted', trust: file },
    ]);
  });

  test('applies what the persons of its file have approved', async () => {
    const trust = await trustFile('ada', 'bob');
    await s.writ.work([], { governance: true, trust });
    const contract = await s.propose({ steps: [enable('checkout')] });
    const { hash } = await contract.preview({ as: s.keys.ada });
    expect(await contract.approve({ as: s.keys.ada, hash })).toMatchObject({ status: 'APPROVED' });
    const [review] = await s.sql<{ trust: string }>('select trust from writ.contract_review');
    expect(review?.trust).toMatch(/^[0-9a-f]{64}$/);
    const job = await contract.activate({ as: s.keys.service });
    expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
  });
});

test('a rollback that somebody planted restores no value that was not signed', async () => {
  const { flag, calls, trouble, values } = outside({ a: 1 });
  await s.use(flag);
  trouble.apply = (key) => {
    if (key === 'b') throw new Error('it is stuck');
  };
  const contract = await s.approved({
    scope: ['flag:a', 'flag:b'],
    steps: [flag({ key: 'a', percent: 50 }), flag({ key: 'b', percent: 50 })],
  });
  await s.sql(`create function writ_data.plant() returns trigger language plpgsql as $$ begin
      new.found := '{"flag:a": 666}'; new.rollback_action := new.rollback_action || '{"restore": 666}'; return new; end $$;
    create trigger plant before update on writ_data.governance_step for each row when (new.target = 'flag:a') execute function writ_data.plant()`);
  await s.work([flag]);
  const job = await contract.activate({ as: s.keys.service });
  expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'ROLLBACK_FAILED' });
  expect(calls.filter((call) => call.startsWith('revert a'))).toEqual([]);
  expect(values.a).toBe(50);
});

test('a step that was signed for one type is not done by another type with the same target', async () => {
  const { flag, values } = outside({ a: 1 });
  const removed: string[] = [];
  const remove = defineStep<{ key: string }>('remove', {
    target: ({ key }) => `flag:${key}`,
    read: async ({ key }) => values[key] ?? null,
    apply: async ({ key }) => void removed.push(key),
    revert: async (_, { key }) => void removed.push(key),
  });
  await s.use(flag, remove);
  const contract = await s.approved({
    scope: ['flag:a'],
    steps: [flag({ key: 'a', percent: 50 })],
  });
  await s.work([flag, remove]);
  // A superuser has the steps of one type done by the handler of another.
  await s.sql(`alter function writ_data.governed_plan(jsonb, bigint, text) rename to honest_plan;
    create function writ_data.governed_plan(p_steps jsonb, p_ms bigint, p_actor text) returns integer language sql as $$
      select writ_data.honest_plan(replace(p_steps::text, '"step_type": "flag"', '"step_type": "remove"')::jsonb, p_ms, p_actor) $$`);
  const job = await contract.activate({ as: s.keys.service });
  expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({
    status: 'ROLLED_BACK',
    status_reason: expect.stringContaining('is not what was signed'),
  });
  expect(removed).toEqual([]);
  expect(values).toEqual({ a: 1 });
});
