/**
 * Who breaks the glass does so in one transaction or not at all, for a quarter of an hour, and
 * answers for it to a second person.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { documentBytes, documentHash, glassDomain } from '../../src/governance/document.js';
import { enable, principal } from '../../src/index.js';
import { scene } from '../governance/scene.js';
import { codeOf } from '../runs/engine/scene.js';

const s = scene();
const breakGlass = 'the shop is down';
const propose = () => s.propose({ steps: [enable('checkout')] }, s.keys.ada);
const traces = async () => [
  await s.sql(
    'select status, glass_broken, approval_hash, round, approved_at, job_id from writ_data.contract',
  ),
  await s.sql('select from writ_data.contract_review'),
  await s.sql('select from writ_data.contract_document'),
  await s.sql('select from writ_data.incident'),
  await s.alerts(),
];

test('a refused activation leaves nothing of the glass, whatever refuses it', async () => {
  const contract = await propose();
  const before = await traces();
  // What the contract names is gone: the activation refuses it after the glass is broken.
  await s.sql(`begin; set local session_replication_role = replica;
    update writ_data.contract set constraints = '{"max_duration_ms": 1, "step_timeout_ms": 2}'; commit`);
  await s.sql(`create function writ_data.wrong() returns trigger language plpgsql as $$ begin
      delete from writ_data.capability where capability_name = 'nothing';
      update writ_data.contract set pre_state = '{"checkout": "PREVIEW"}' where glass_broken is not null; return null; end $$;
    create trigger wrong after insert on writ_data.incident for each row execute function writ_data.wrong()`);
  expect(await codeOf(s.breakGlass(contract, breakGlass))).toMatch(
    /^(approval_void|stale_pre_value)$/,
  );
  expect(await traces()).toEqual(before);
  expect(await s.sql('select from writ_data.contract')).toHaveLength(1);
});

test('nobody breaks the glass for what nobody was shown', async () => {
  const contract = await propose();
  const before = await traces();
  expect(await codeOf(contract.activate({ as: s.keys.ops, breakGlass }))).toBe('invalid_argument');
  expect(await traces()).toEqual(before);

  // Signed elsewhere, by the same person.
  const preview = await contract.preview({ as: s.keys.ops });
  const { document, hash } = await contract.breakingGlass(preview, breakGlass);
  const signature = principal(s.keys.ops).sign(hash);
  const signed = { document: documentBytes(document), signature, scheme: 'ed25519' as const };
  await contract.activate({ as: s.keys.ops, breakGlass, signed });
  expect(await contract.get()).toMatchObject({ status: 'ACTIVE', glass_broken: breakGlass });
});

test('who has a trust file signs for its deployment only', async () => {
  const contract = await propose();
  const folder = mkdtempSync(join(tmpdir(), 'writ-trust-'));
  try {
    const trust = join(folder, 'writ.trust.json');
    const [own] = await s.sql<{ id: string }>('select writ_data.deployment_id() as id');
    const write = (deployment: unknown) =>
      writeFileSync(
        trust,
        JSON.stringify({
          ...{ writ: 'trust 1', deployment, persons: {}, risk_floors: [], ledger_keys: [] },
          quorum: { low: 1, medium: 1, high: 2, critical: 2 },
        }),
      );
    write('11111111-0c3d-4b59-9d7f-0f6f4c1f9a10');
    const preview = await contract.preview({ as: s.keys.ops });
    const { hash } = await contract.breakingGlass(preview, breakGlass);
    const glass = { as: s.keys.ops, breakGlass, hash, trust };
    expect(await codeOf(contract.activate(glass))).toBe('deployment_mismatch');
    const approval = { as: s.keys.ops, hash: preview.hash, trust };
    expect(await codeOf(contract.approve(approval))).toBe('deployment_mismatch');
    expect(await s.sql('select from writ_data.contract_review')).toEqual([]);
    write(own?.id);
    await contract.activate(glass);
    expect(await contract.get()).toMatchObject({ status: 'ACTIVE' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a signature for more than 15 minutes, or for an earlier time, breaks no glass', async () => {
  const contract = await propose();
  const { document } = await contract.preview({ as: s.keys.ops });
  for (const ms of [16 * 60_000, -1]) {
    const not_after = new Date(Date.now() + ms).toISOString();
    const bytes = documentBytes({ ...document, writ: glassDomain, reason: breakGlass, not_after });
    const signature = principal(s.keys.ops).sign(documentHash(bytes));
    const item = {
      contract: contract.id,
      break_glass: breakGlass,
      document: bytes,
      signature,
      scheme: 'ed25519',
    };
    const answer = await s.sql('select writ.fn_contracts_activate($1, $2::jsonb) as answer', [
      principal(s.keys.ops).credential,
      JSON.stringify([item]),
    ]);
    expect(answer).toMatchObject([{ answer: [{ refused: true, reason: 'invalid_document' }] }]);
  }
  expect(await contract.get()).toMatchObject({ status: 'ELIGIBLE', glass_broken: null });
});

test('an approval is no signature for a broken glass', async () => {
  const contract = await propose();
  const { document } = await contract.preview({ as: s.keys.ops });
  const bytes = documentBytes(document);
  const signature = principal(s.keys.ops).sign(documentHash(bytes));
  const item = {
    contract: contract.id,
    break_glass: breakGlass,
    document: bytes,
    signature,
  };
  const answer = await s.sql('select writ.fn_contracts_activate($1, $2::jsonb) as answer', [
    principal(s.keys.ops).credential,
    JSON.stringify([item]),
  ]);
  expect(answer).toMatchObject([{ answer: [{ refused: true }] }]);
  expect(await s.sql('select from writ_data.contract_review')).toEqual([]);
});

test('the incident of a broken glass degrades nothing, and a second person resolves it', async () => {
  await s.writ.principals.change('bob', { rights: ['approve', 'operate'] });
  await s.work();
  const contract = await propose();
  const job = await s.breakGlass(contract, breakGlass);
  expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
  const [incident, ...others] = (await s.writ.incidents.list()).items;
  expect(others).toEqual([]);
  expect(incident).toMatchObject({
    capability: null,
    severity: 'P1',
    subject: `contract/${contract.id}`,
    openedBy: 'ops',
  });
  expect((await s.writ.health.get()).system).toBe('HEALTHY');
  const resolve = (as: string) =>
    s.writ.incidents.resolve(String(incident?.incidentId), {
      as,
      resolution: 'looked at together',
    });
  expect(await codeOf(resolve(s.keys.ops))).toBe('own_contract');
  await resolve(s.keys.bob);
  expect((await s.writ.incidents.list()).items).toEqual([]);
});
