/** An approval counts when an applier has verified its signature. */
import { expect, test } from 'vitest';
import { enable } from '../../src/index.js';
import { until } from '../races/sessions.js';
import { scene } from './scene.js';
import { verifying } from './verifying.js';

const s = scene();
const approve = async () => {
  const contract = await s.propose({ steps: [enable('checkout')] });
  const { hash } = await contract.preview({ as: s.keys.ada });
  return { contract, reviewed: await contract.approve({ as: s.keys.ada, hash }) };
};

test('approve says so when no applier runs, and the approval counts when one has begun', async () => {
  const { contract, reviewed } = await approve();
  expect(reviewed).toMatchObject({
    status: 'ELIGIBLE',
    approved_by: [],
    approvals_needed: 1,
    unverified: 'no_applier',
  });
  expect(await contract.preview({ as: s.keys.bob })).toMatchObject({
    approved_by: [],
    unverified: ['ada'],
  });
  await verifying(s.writ);
  await until(async () => (await contract.get()).status === 'APPROVED');
  expect(await s.sql('select verdict, trust from writ.contract_review')).toEqual([
    { verdict: 'valid', trust: 'database' },
  ]);
});

test('a signature that waits for a minute is alerted, until an applier has looked at it', async () => {
  const { contract } = await approve();
  await s.db.clock.advance('61s');
  await s.sql(`select writ.fn_governance_tick('test')`);
  expect(await s.alerts()).toContain('SIGNATURES_WAITING');
  await verifying(s.writ);
  await until(async () => (await contract.get()).status === 'APPROVED');
  await s.sql(`select writ.fn_governance_tick('test')`);
  expect(await s.alerts()).not.toContain('SIGNATURES_WAITING');
});

test('a worker without a trust source says how to begin, and claims no change and no verification', async () => {
  const told: string[] = [];
  const saved = process.env.WRIT_TRUST;
  delete process.env.WRIT_TRUST;
  try {
    await s.writ.work([], {
      governance: true,
      onError: (error) => void told.push(String((error as { code?: string }).code)),
    });
  } finally {
    process.env.WRIT_TRUST = saved;
  }
  expect(told).toEqual(['trust_missing']);
  const [worker] = await s.sql<{ kinds: string[] }>('select kinds from writ.v_queue_heartbeat');
  expect(worker?.kinds.filter((kind) => kind.startsWith('governance.')).sort()).toEqual([
    'governance.audit',
    'governance.ended',
  ]);
});

test('a verdict is given once, and only for a signature of the contract that was asked about', async () => {
  const { contract } = await approve();
  const claim = `select writ.fn_job_claim_many('{governance.verify}', 'external_worker', 'test', 30, 1, 1, null, false, gen_random_uuid(), false, '') as answer`;
  const [claimed] = await s.sql<{ answer: { lease_token: string; jobs: [string][] } }>(claim);
  const item = {
    job: claimed?.answer.jobs[0]?.[0],
    token: claimed?.answer.lease_token,
    trust: 'database',
    quorum: 1,
    verdicts: [
      { review_no: 'one', verdict: 'valid' },
      7,
      { review_no: 1e300, verdict: 'valid' },
      { review_no: 1, verdict: 'wrong', why: 'wrong_signature' },
      { review_no: 2, verdict: 'valid' },
    ],
  };
  const verdict = (more: object) =>
    s.sql(`select writ.fn_signatures_verified($1::jsonb, 'test') as answer`, [
      JSON.stringify([{ ...item, ...more }]),
    ]);
  expect(await verdict({ token: '01900000-0000-7000-8000-00000000dead' })).toMatchObject([
    { answer: [{ reason: 'lease_lost' }] },
  ]);
  expect(await verdict({})).toMatchObject([
    { answer: [{ contract_id: contract.id, status: 'ELIGIBLE' }] },
  ]);
  expect(await verdict({ verdicts: [{ review_no: 1, verdict: 'valid' }] })).toMatchObject([
    { answer: [{ status: 'ELIGIBLE' }] },
  ]);
  expect(await s.sql('select review_no, verdict from writ_data.contract_verdict')).toEqual([
    { review_no: 1, verdict: 'wrong' },
  ]);
});
