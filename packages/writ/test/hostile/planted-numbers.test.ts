/**
 * Whoever could plant the next number of a stream would stop what writes it: seals, checkpoints,
 * denials, rollbacks.
 */
import { beforeEach, expect, test, vi } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { defineJob, enable, soak } from '../../src/index.js';
import { canonicalize } from '../../src/ledger/canonical.js';
import { scene } from '../governance/scene.js';
import { attackers } from './attackers.js';
import type { Login } from './logins.js';

const s = scene();
const enter = attackers(s);
const nothing = {
  governors: [],
  events: [],
  receipts: [],
  effects: [],
  wakes: [],
  settled: [],
  entries: [],
};
let engine: Login;
beforeEach(async () => {
  engine = await enter(['writ_engine']);
});

const turn = (more: object) =>
  engine
    .call('fn_governors_apply', { turn: JSON.stringify({ ...nothing, ...more }), actor: 'mallory' })
    .catch((error: Error) => error);
const receipts = async () =>
  (await s.sql<{ n: number }>('select count(*)::int as n from writ_data.receipt'))[0]?.n;

/**
 * Hands in a receipt with the next number of each stream, as e393453 took it and as drivers do now.
 */
async function plant(
  streams: readonly (readonly [log: string, stream: string, reason: string])[],
): Promise<void> {
  const before = await receipts();
  for (const [tenant_id, stream, reason] of streams) {
    const [row] = await s.sql<{ next: string }>(
      'select coalesce(max(stream_seq), 0) + 1 as next from writ_data.receipt where log_id = $1 and stream = $2',
      [tenant_id, stream],
    );
    const entry = canonicalize({
      receipt_id: uuidv7(),
      timestamp: new Date().toISOString(),
      sku_id: tenant_id === '_system' ? 'writ' : 'governance',
      tenant_id,
      status: reason === 'access_denied' ? 'refuse' : 'accept',
      reason,
      context: { stream, stream_seq: Number(row?.next) },
    });
    for (const planted of [
      { entries: [entry] },
      { receipts: [{ e: 1, r: entry }] },
      { receipts: [{ e: null, r: entry }] },
    ])
      await turn(planted);
  }
  expect(await receipts()).toBe(before);
}

test('a planted number stops neither sealing nor signing', async () => {
  await plant([
    ['_system', 'seal', 'events_sealed'],
    ['_system', 'checkpoint', 'log_checkpoint'],
  ]);
  const signer = await enter(['writ_signer']);
  // Open transactions of other databases on this server can hold sealing up for a while.
  await vi.waitFor(
    async () => {
      await s.db.clock.advance('2s');
      await engine.call('fn_ledger_tick', { actor: 'e' });
      expect(await s.sql('select from writ.event_seal')).not.toEqual([]);
    },
    { timeout: 25_000, interval: 50 },
  );
  const heads = (await signer.call('fn_ledger_heads', { actor: 's' })) as unknown as {
    log: string;
  }[];
  expect(heads.map(({ log }) => log)).toEqual(['default', '_system']);
});

test('a planted number does not stop the receipt of a denial', async () => {
  await plant([['default', 'access', 'access_denied']]);
  const agent = await enter(['writ_principal'], { principal_id: 'agent' });
  const denied = await agent.call('fn_freeze_put', { key: null, freeze: '{"reason": "x"}' });
  expect(denied).toMatchObject({ reason: 'agents_only_propose' });
  expect(
    await s.sql(`select from writ_data.receipt where entry::jsonb ->> 'reason' = 'access_denied'`),
  ).toHaveLength(1);
});

test('a planted number stops no rollback', async () => {
  const contract = await s.approved({ steps: [enable('checkout'), soak('30m')] });
  const job = await contract.activate({ as: s.keys.service });
  const applier = await enter(['writ_applier']);
  const take = async (kind: string) => {
    const claim = {
      kinds: [kind],
      executor: 'external_worker',
      lease_holder: 'a',
      limit: 1,
      start: 1,
    };
    const { lease_token, jobs } = (await applier.call('fn_job_claim_many', claim)) as {
      lease_token: string;
      jobs: [string][];
    };
    return { job_id: jobs[0]?.[0], lease_token };
  };
  const step = await take('governance.change');
  const items = JSON.stringify([{ job: step.job_id, token: step.lease_token }]);
  await applier.call('fn_changes_apply', { items, actor: 'a' });
  const failure = { error_code: 'burnt', error_message: 'it burns', actor: 'a' };
  await applier.call('fn_job_fail_permanent', { ...(await take('governance.soak')), ...failure });
  await plant([
    ['default', `contract:${contract.id}`, 'contract_moved'],
    ['default', `governance_job:${job.id}`, 'governance_job_moved'],
  ]);
  await s.work();
  expect(await job.finished({ timeoutMs: 30_000 })).toMatchObject({ status: 'ROLLED_BACK' });
  expect(await s.state()).toMatchObject({ checkout: 'DISABLED' });
});

test('an effect without an event of a locked governor cancels no job, spends no quota and raises no alert', async () => {
  const { jobId } = await s.writ.enqueue(defineJob('chore'), undefined, { tenant: 'globex' });
  const of = { g: uuidv7(), t: 'globex' };
  for (const effect of [
    { ...of, type: 'fence', job_id: jobId },
    { ...of, type: 'quota', month: '2026-01', limit: null },
    { ...of, type: 'escalate', alert: 'LEDGER_BEHIND', details: {} },
    { ...of, type: 'escalate', alert: 'GOVERNOR_CRASH', details: {} },
    { ...of, type: 'calm', alert: 'GOVERNOR_CRASH' },
    {
      ...of,
      type: 'attempt',
      kind: 'action',
      attempt: 1,
      job_kind: 'chore',
      job_id: uuidv7(),
      input: {},
    },
    { type: 'fence' },
  ])
    for (const e of [undefined, null, 0, 1])
      expect(await turn({ effects: [{ e, ...effect }] })).toMatchObject({
        message: 'invalid_turn',
      });
  expect(await s.sql('select job_id, status from writ.job_queue')).toEqual([
    { job_id: jobId, status: 'queued' },
  ]);
  expect(await s.sql('select from writ_data.governor_quota')).toEqual([]);
  expect(await s.alerts()).toEqual([]);
});
