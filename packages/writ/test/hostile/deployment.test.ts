/** A copy of a deployment, once it is renewed, does nothing that was approved for the original. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterEach, expect, test, vi } from 'vitest';
import { configure, enable, soak, Writ } from '../../src/index.js';
import { outside } from '../governance/outside.js';
import { scene } from '../governance/scene.js';
import { verifying } from '../governance/verifying.js';
import { codeOf } from '../runs/engine/scene.js';
import { attackers } from './attackers.js';

const s = scene();
const enter = attackers(s);
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const why = 'staging, restored from the backup of 2 May';
const idOf = async (query: (sql: string) => Promise<Record<string, unknown>[]>) =>
  String((await query('select deployment_id from writ.deployment'))[0]?.deployment_id);

/** Copies the database as a backup would, with everything that is open in it. */
async function copy(): Promise<{
  url: string;
  query: (sql: string, params?: unknown[]) => Promise<Record<string, unknown>[]>;
}> {
  const url = new URL(s.db.directConnectionString);
  const original = url.pathname.slice(1);
  const name = `writ_copy_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client({
    connectionString: Object.assign(new URL(url), { pathname: '/postgres' }).toString(),
  });
  await admin.connect();
  cleanups.push(() => admin.end());
  await vi.waitFor(
    async () => {
      await admin.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
        [original],
      );
      await admin.query(`create database ${name} template ${original}`);
    },
    { timeout: 20_000, interval: 50 },
  );
  cleanups.push(() => admin.query(`drop database ${name} with (force)`));
  const copied = Object.assign(new URL(url), { pathname: `/${name}` }).toString();
  const pool = new pg.Pool({ connectionString: copied, max: 2 });
  // a connection that is ending hears that its database is dropped
  pool.on('error', () => undefined);
  cleanups.push(() => pool.end());
  return { url: copied, query: async (sql, params) => (await pool.query(sql, params)).rows };
}

test('a renewed copy voids approvals and ends open jobs, and touches nothing', async () => {
  const { flag, values } = outside({ a: 1 });
  await s.use(flag);
  const worker = await s.work([flag]);
  const open = await s.approved({
    scope: ['flag:a', 'checkout'],
    steps: [flag({ key: 'a', percent: 2 }), soak('10m'), enable('checkout')],
  });
  await open.activate({ as: s.keys.service });
  await vi.waitFor(() => expect(values).toEqual({ a: 2 }), { timeout: 20_000 });
  await vi.waitFor(
    async () =>
      expect(await s.sql('select status, done_steps from writ_data.governance_job')).toEqual([
        { status: 'RUNNING', done_steps: 1 },
      ]),
    { timeout: 20_000 },
  );
  await worker.stop();
  const approved = await s.approved({
    scope: ['limits'],
    steps: [configure('limits', 'max', 300)],
    risk: 'low',
  });
  const before = await idOf(s.sql);
  await s.writ.close();
  const there = await copy();
  expect(await idOf(there.query)).toBe(before);

  const renewed = await there.query(`select writ.fn_deployment_renew($1, $2, 'ops') as answer`, [
    before,
    why,
  ]);
  const id = await idOf(there.query);
  expect(renewed[0]?.answer).toEqual({
    deployment_id: id,
    replaces: before,
    contracts: 1,
    in_review: 0,
    jobs: 1,
  });
  expect(id).not.toBe(before);
  expect(
    await there.query(
      `select receipt -> 'context' as context from writ.receipt where receipt ->> 'reason' = 'deployment_named' order by stream_seq desc limit 1`,
    ),
  ).toEqual([
    {
      context: expect.objectContaining({
        deployment: id,
        replaces: before,
        actor: 'ops',
        reason: why,
        stream_seq: 2,
      }),
    },
  ]);

  // An honest applier of the copy finds nothing to do.
  const writ = await Writ.connect({ connectionString: there.url });
  cleanups.push(() => writ.close());
  writ.contracts.use(flag);
  await writ.work([], { governance: [flag], concurrency: 10 });
  await vi.waitFor(
    async () =>
      expect(
        await there.query(
          'select distinct status from writ_data.run where governed_by is not null',
        ),
      ).toEqual([{ status: 'CANCELLED' }]),
    { timeout: 20_000 },
  );
  expect(await there.query('select kind, status from writ.governance_jobs')).toEqual([
    { kind: 'forward', status: 'CANCELLED' },
  ]);
  expect(
    await there.query(
      'select status, count(*)::int as n from writ_data.contract group by 1 order by 1',
    ),
  ).toEqual([
    { status: 'DRAFT', n: 1 },
    { status: 'FAILED', n: 2 },
  ]);
  expect(await there.query('select from writ_data.target_hold')).toEqual([]);
  expect(await codeOf(writ.contracts.handle(approved.id).activate({ as: s.keys.service }))).toBe(
    'contract_terminal',
  );
  expect(values).toEqual({ a: 2 });

  // The original goes on as it was.
  expect(await idOf(s.sql)).toBe(before);
  expect(await s.sql('select status from writ.governance_jobs')).toEqual([{ status: 'RUNNING' }]);
  expect(
    await s.sql('select status from writ_data.contract where contract_id = $1', [approved.id]),
  ).toEqual([{ status: 'APPROVED' }]);
});

test('a template that was approved in the original is a draft in the renewed copy, and still a template', async () => {
  const template = {
    activations: 5,
    expiresIn: '1h',
    params: { to: { min: 0, max: 1 } },
    pre: { 'limits#max': { min: 0, max: 1000 } },
  } as const;
  await s.approved({
    scope: ['limits'],
    steps: [configure('limits', 'max', 1)],
    risk: 'low',
    template,
  });
  await s.sql(`select writ.fn_deployment_renew($1, $2, 'ops')`, [await idOf(s.sql), why]);
  expect(
    await s.sql(
      `select template -> 'activations' as n from writ_data.contract where status = 'DRAFT'`,
    ),
  ).toEqual([{ n: 5 }]);
});

test('only an administrator of all tenants renews, and names the deployment that it means', async () => {
  const before = await idOf(s.sql);
  const admin = await enter(['writ_admin']);
  const ask = { deployment: before, reason: why, actor: 'mallory' };
  expect(await admin.call('fn_deployment_renew', { ...ask, reason: 'because' })).toMatchObject({
    reason: 'reason_required',
  });
  expect(
    await admin.call('fn_deployment_renew', {
      ...ask,
      deployment: '00000000-0000-4000-8000-000000000000',
    }),
  ).toMatchObject({
    reason: 'deployment_mismatch',
  });
  const bound = await enter(['writ_admin'], { tenant_id: 'acme' });
  expect(await bound.call('fn_deployment_renew', ask)).toMatchObject({
    reason: 'tenant_forbidden',
  });
  for (const role of [
    'writ_principal',
    'writ_applier',
    'writ_engine',
    'writ_server',
    'writ_signer',
    'writ_auditor',
  ]) {
    const other = await enter([role]);
    expect(
      await other.attempt(`select writ.fn_deployment_renew('${before}', '${why}', 'x')`),
      role,
    ).toBe('42501');
    expect(await other.query('select deployment_id from writ.deployment'), role).toEqual([
      { deployment_id: before },
    ]);
  }
  expect(await idOf(s.sql)).toBe(before);
  expect(await admin.call('fn_deployment_renew', ask)).toMatchObject({ replaces: before, jobs: 0 });
  expect(await admin.call('fn_deployment_renew', ask)).toMatchObject({
    reason: 'deployment_mismatch',
  });
});

test('a contract in review loses its signatures, and persons can sign it anew', async () => {
  const contract = await s.propose({
    scope: ['limits'],
    steps: [configure('limits', 'max', 300)],
    risk: 'high',
  });
  await verifying(s.writ);
  const { hash } = await contract.preview({ as: s.keys.ada });
  expect(await contract.approve({ as: s.keys.ada, hash })).toMatchObject({
    status: 'ELIGIBLE',
    approved_by: ['ada'],
  });
  const [row] = await s.sql(`select writ.fn_deployment_renew($1, $2, 'ops') as answer`, [
    await idOf(s.sql),
    why,
  ]);
  expect(row?.answer).toMatchObject({ in_review: 1 });
  expect(await contract.preview({ as: s.keys.bob })).toMatchObject({ approved_by: [] });
  expect(await codeOf(contract.approve({ as: s.keys.bob, hash }))).not.toBeUndefined();
  await s.approve(contract);
  expect(await contract.get()).toMatchObject({ status: 'APPROVED' });
});
