/**
 * Values outside the database: only an applier has step types and their secrets. It reads in a
 * queue job; previews, approvals and activations use what it has stored.
 */
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { documentBytes, documentHash } from '../../src/governance/document.js';
import { principal } from '../../src/governance/keys.js';
import { configure, defineStep, param, Writ, WritRefusal } from '../../src/index.js';
import { attackers, claimed } from '../hostile/attackers.js';
import { until } from '../races/sessions.js';
import { codeOf } from '../runs/engine/scene.js';
import { outside } from './outside.js';
import { scene } from './scene.js';

const s = scene();
const enter = attackers(s);

/** A step type that a connection without it can propose: its kind is registered. */
const known = async (values: Record<string, unknown>) => {
  const out = outside(values);
  const writ = await s.db.connect();
  const step = (key: string, percent = 50) => ({ ...out.flag({ key, percent }) });
  await (await writ.work([], { governance: [out.flag] })).stop();
  return { ...out, step, applier: () => writ.work([], { governance: [out.flag], poll: '200ms' }) };
};

const propose = (steps: readonly object[], scope: readonly string[]) =>
  s.propose({ title: 'Flags', steps: steps as never, scope, risk: 'low' });

describe('a contract with steps of a user’s type', () => {
  test('is previewed and approved by logins that have no step types', async () => {
    const { step, applier, values } = await known({ a: 10 });
    const contract = await propose([step('a')], ['flag:a']);
    const before = await contract.preview({ as: s.keys.ada });
    expect(before).toMatchObject({
      hash: '',
      status: 'ELIGIBLE',
      document: { pre_state: {}, not_after: null },
      outside: [
        {
          slot: 'flag:a',
          step_type: 'flag',
          read_at: null,
          code: null,
          open: true,
          applier: false,
        },
      ],
    });
    expect(before.steps[0]).not.toHaveProperty('before');

    await applier();
    const bound = await enter(['writ_principal'], { principal_id: 'ada' });
    const person = await Writ.connect({ connectionString: bound.connectionString });
    onTestFinished(() => person.close());
    const seen = person.contracts.handle(contract.id);
    await until(async () => (await seen.preview()).hash !== '');
    const { hash, outside: reads, steps } = await seen.preview();
    expect(steps).toMatchObject([{ slot: 'flag:a', before: 10, after: { key: 'a', percent: 50 } }]);
    expect(reads).toMatchObject([{ slot: 'flag:a', code: null }]);
    expect(Number.isNaN(Date.parse(String(reads[0]?.read_at)))).toBe(false);

    expect(await seen.approve({ as: s.keys.ada, hash })).toMatchObject({ status: 'APPROVED' });
    const job = await contract.activate({ as: s.keys.service });
    expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
    expect(values).toEqual({ a: 50 });
  });

  test('is neither approved nor activated while a value was not read', async () => {
    const { step } = await known({ a: 10 });
    const contract = await propose([step('a')], ['flag:a']);
    const { document } = await contract.preview({ as: s.keys.ada });
    const signable = { ...document, not_after: new Date(Date.now() + 60_000).toISOString() };
    const bytes = documentBytes(signable);
    const signed = {
      document: bytes,
      signature: principal(s.keys.ada).sign(documentHash(bytes)),
      scheme: 'ed25519' as const,
    };
    expect(await codeOf(contract.approve({ as: s.keys.ada, signed }))).toBe('target_not_read');
    expect(await codeOf(contract.approve({ as: s.keys.ada, hash: '' }))).toBe('target_not_read');
    expect(await codeOf(contract.approve({ as: s.keys.ada, hash: 'a'.repeat(64) }))).toBe(
      'target_not_read',
    );
    const breakGlass = 'the house is on fire';
    const { hash } = await contract.breakingGlass(
      await contract.preview({ as: s.keys.ops }),
      breakGlass,
    );
    const glass = contract.activate({ as: s.keys.ops, breakGlass, hash });
    expect(await codeOf(glass)).toBe('target_not_read');
    expect(await contract.get()).toMatchObject({ status: 'ELIGIBLE', glass_broken: null });
  });

  test('shows why a place could not be read, and the others as they are', async () => {
    const flag = defineStep<string>('flag', {
      target: (key) => `flag:${key}`,
      read: async (key) => {
        if (key === 'broken') throw new WritRefusal('invalid_argument', 'no such flag');
        if (key === 'huge') return 'x'.repeat(70_000);
        return key === 'nothing' ? null : 7;
      },
      apply: async () => undefined,
      revert: async () => undefined,
    });
    await s.use(flag);
    const keys = ['broken', 'fine', 'huge', 'nothing'];
    const contract = await propose(
      keys.map((key) => flag(key)),
      keys.map((key) => `flag:${key}`),
    );
    const { hash, document, outside: reads } = await contract.preview({ as: s.keys.ada });
    expect(reads).toMatchObject([
      {
        slot: 'flag:broken',
        code: 'invalid_argument',
        detail: expect.stringContaining('no such flag'),
      },
      { slot: 'flag:fine', code: null },
      { slot: 'flag:huge', code: 'payload_too_large' },
      { slot: 'flag:nothing', code: null },
    ]);
    expect(document.pre_state).toEqual({ 'flag:fine': 7, 'flag:nothing': null });
    expect(hash).toBe('');
  });

  test('stores no secret that a read answers or throws', async () => {
    const writ = await s.db.connect({
      secrets: { resolve: async () => ({ door: 'open sesame please' }) },
    });
    const vault = defineStep<'shows' | 'throws'>('vault', {
      target: (how) => `vault:${how}`,
      read: async (how, { secret }) => {
        const value = await secret('door');
        if (how === 'throws') throw new Error(`cannot open with ${value}`);
        return { value };
      },
      apply: async () => undefined,
      revert: async () => undefined,
    });
    await writ.work([], { governance: [vault] });
    const contract = await propose(
      [vault('shows'), vault('throws')],
      ['vault:shows', 'vault:throws'],
    );
    const { outside: reads } = await contract.preview({ as: s.keys.ada });
    expect(reads).toMatchObject([
      { slot: 'vault:shows', code: 'secret_inside' },
      { slot: 'vault:throws', code: 'handler_error', detail: 'cannot open with «secret door»' },
    ]);
    const stored = await s.sql('select to_jsonb(v)::text as row from writ_data.contract_value v');
    expect(JSON.stringify(stored)).not.toContain('sesame');
  });
});

describe('a read that is requested again', () => {
  test('replaces the values, and voids a signature of the older ones', async () => {
    const { flag, values } = outside({ a: 10 });
    await s.work([flag]);
    const contract = await s.approved({
      title: 'Flag',
      scope: ['flag:a'],
      steps: [flag({ key: 'a', percent: 50 })],
      risk: 'low',
    });
    values.a = 11;
    const again = await contract.read({ as: s.keys.ada });
    // What was signed stays what it was.
    expect(again.document.pre_state).toEqual({ 'flag:a': 10 });
    expect(await codeOf(contract.activate({ as: s.keys.service }))).toBe('stale_pre_value');
    expect(values).toEqual({ a: 11 });
  });

  test('begins another round of signatures while the contract is in review', async () => {
    const { flag, values } = outside({ a: 10 });
    await s.work([flag]);
    const contract = await propose([flag({ key: 'a', percent: 50 })], ['flag:a']);
    const first = await contract.preview({ as: s.keys.ada });
    values.a = 11;
    const second = await contract.read({ as: s.keys.bob });
    expect(second.document.pre_state).toEqual({ 'flag:a': 11 });
    expect(await codeOf(contract.approve({ as: s.keys.ada, hash: first.hash }))).toBe(
      'approval_void',
    );
  });

  test('is one read while one is open, and waits between two', async () => {
    const { step } = await known({ a: 10 });
    const contract = await propose([step('a')], ['flag:a']);
    await s.setting('governance.read.interval_ms', 60_000);
    const ada = await enter(['writ_principal'], { principal_id: 'ada' });
    const request = async () => {
      const { outside: places } = await ada.call('fn_contract_read_request', {
        key: null,
        contract_id: contract.id,
      });
      return (places as Record<string, unknown>[])[0] as Record<string, unknown>;
    };
    const first = await request();
    expect(await request()).toEqual(first);
    expect(first).toMatchObject({ applier: false, due_at: first.requested_at });
    const reads = () =>
      s.sql(`select job_id from writ_data.job where job_kind like 'governance.read%'`);
    expect(await reads()).toEqual([{ job_id: first.job_id }]);

    const applier = await enter(['writ_applier']);
    const { job, token } = await claimed(applier, 'governance.read.flag');
    await applier.call('fn_contract_read_done', {
      job_id: job,
      lease_token: token,
      values: '[{"slot": "flag:a", "value": 10}]',
      actor: 'test',
    });
    const next = await request();
    expect(next.job_id).not.toBe(first.job_id);
    expect(Date.parse(String(next.due_at)) - Date.parse(String(first.due_at))).toBeGreaterThan(
      59_000,
    );
    expect(await reads()).toHaveLength(2);
  });

  test('is refused for a contract that has ended, and for one of another tenant', async () => {
    const { step } = await known({ a: 10 });
    const contract = await propose([step('a')], ['flag:a']);
    const request = async (login: Promise<Awaited<ReturnType<typeof enter>>>) =>
      (await login).call('fn_contract_read_request', { key: null, contract_id: contract.id });
    await s.writ.principals.add({ id: 'eve', kind: 'person', tenant: 'acme' });
    expect(await request(enter(['writ_principal'], { principal_id: 'eve' }))).toMatchObject({
      reason: 'contract_not_found',
    });
    expect(await request(enter(['writ_principal']))).toMatchObject({ reason: 'not_authenticated' });
    await contract.reject({ as: s.keys.ada, reason: 'not this year, sorry' });
    expect(await request(enter(['writ_principal'], { principal_id: 'ada' }))).toMatchObject({
      reason: 'contract_terminal',
    });
  });
});

describe('an instance of a template', () => {
  test('is activated on what an applier reads now', async () => {
    const { flag, values } = outside({ a: 10 });
    const template = {
      params: { to: { min: 0, max: 100 } },
      pre: { 'flag:a': { min: 0, max: 100 } },
      activations: 5,
      expiresIn: '1h' as const,
    };
    const step = {
      step_type: 'flag',
      target: 'flag:a',
      parameters: { value: { key: 'a', percent: param('to') } },
    };
    await s.use(flag);
    await s.work([flag]);
    const contract = await s.approved({ scope: ['flag:a'], steps: [step], risk: 'low', template });
    const server = await s.db.connect(); // without step types
    for (const to of [20, 30]) {
      const job = await server.contracts
        .handle(contract.id)
        .instantiate({ to }, { as: s.keys.service });
      expect(await job.finished({ timeoutMs: 20_000 })).toMatchObject({ status: 'COMPLETED' });
      expect(values).toEqual({ a: to });
    }
    values.a = 1000;
    const outOfRange = server.contracts
      .handle(contract.id)
      .instantiate({ to: 40 }, { as: s.keys.service });
    expect(await codeOf(outOfRange)).toBe('stale_pre_value');
  });
});

describe('appliers with different step types', () => {
  test('read what each of them has the type for', async () => {
    const types = ['flag', 'note'].map((name) =>
      defineStep<string>(name, {
        target: (key) => `${name}:${key}`,
        read: async () => name,
        apply: async () => undefined,
        revert: async () => undefined,
      }),
    );
    for (const type of types) {
      const writ = await s.db.connect();
      await writ.work([], { governance: [type], poll: '200ms' });
    }
    const contract = await propose(
      types.map((type) => type('a')),
      ['flag:a', 'note:a'],
    );
    const { document } = await contract.preview({ as: s.keys.ada, timeoutMs: 30_000 });
    expect(document.pre_state).toEqual({ 'flag:a': 'flag', 'note:a': 'note' });
  });
});

describe('a value is stored by the applier that holds the lease, and by nobody else', () => {
  const done = (job: string, token: string, values = '[{"slot": "flag:a", "value": 99}]') => ({
    job_id: job,
    lease_token: token,
    values,
    actor: 'mallory',
  });
  const nowhere = '01900000-0000-7000-8000-000000000001';
  const stored = () =>
    s.sql('select slot, value, code from writ_data.contract_value order by slot');

  test('workers, principals, the server and producers may not call the gate', async () => {
    const { step } = await known({ a: 10 });
    await propose([step('a')], ['flag:a']);
    for (const role of ['writ_worker', 'writ_producer', 'writ_server', 'writ_engine']) {
      const login = await enter([role]);
      await expect(
        login.call('fn_contract_read_done', done(nowhere, nowhere)),
        role,
      ).rejects.toMatchObject({ code: '42501' });
    }
    const agent = await enter(['writ_principal'], { principal_id: 'agent' });
    await expect(agent.call('fn_contract_read_done', done(nowhere, nowhere))).rejects.toMatchObject(
      { code: '42501' },
    );
    expect(await stored()).toEqual([]);
  });

  test('an applier needs the lease of a read, of the contract of that read', async () => {
    const { step } = await known({ a: 10 });
    const first = await propose([step('a')], ['flag:a']);
    const applier = await enter(['writ_applier']);
    const [waiting] = await s.sql<{ job_id: string }>('select job_id from writ.contract_read');
    expect(
      await applier.call('fn_contract_read_done', done(String(waiting?.job_id), nowhere)),
    ).toMatchObject({ reason: 'lease_lost' });
    expect(await applier.call('fn_contract_read_done', done(nowhere, nowhere))).toMatchObject({
      reason: 'job_not_found',
    });

    const { job, token } = await claimed(applier, 'governance.read.flag');
    const other = await propose([step('b')], ['flag:b']);
    const [rival] = await s.sql<{ job_id: string }>(
      'select job_id from writ.contract_read where contract_id = $1',
      [other.id],
    );
    expect(
      await applier.call('fn_contract_read_done', done(String(rival?.job_id), token)),
    ).toMatchObject({ reason: 'lease_lost' });
    const values = JSON.stringify([
      { slot: 'flag:b', value: 1 },
      { slot: 'limits#max', value: 1 },
      { slot: 'flag:a', value: 'x'.repeat(70_000) },
    ]);
    expect(await applier.call('fn_contract_read_done', done(job, token, values))).toMatchObject({
      contract_id: first.id,
      stored: 1,
    });
    expect(await stored()).toEqual([{ slot: 'flag:a', value: null, code: 'payload_too_large' }]);
    expect(await applier.call('fn_contract_read_done', done(job, token))).toMatchObject({
      stored: 0,
    });
  });

  test('an applier of one tenant stores nothing for a contract of another', async () => {
    const { step } = await known({ a: 10 });
    await propose([step('a')], ['flag:a']);
    const applier = await enter(['writ_applier'], { tenant_id: 'acme' });
    const [waiting] = await s.sql<{ job_id: string }>('select job_id from writ_data.contract_read');
    const { token } = await claimed(await enter(['writ_applier']), 'governance.read.flag');
    expect(
      await applier.call('fn_contract_read_done', done(String(waiting?.job_id), token)),
    ).toMatchObject({ reason: 'job_not_found' });
    expect(await stored()).toEqual([]);
  });

  test('refuses more values than a contract can have, and more than 4 MB', async () => {
    const applier = await enter(['writ_applier']);
    for (const values of [
      JSON.stringify(Array.from({ length: 1001 }, () => ({ slot: 'a', value: 1 }))),
      JSON.stringify([{ slot: 'a', value: 'x'.repeat(4_200_000) }]),
      '7',
    ])
      expect(
        await applier.call('fn_contract_read_done', done(nowhere, nowhere, values)),
      ).toMatchObject({ reason: 'invalid_argument' });
  });

  test('nobody plants a read: its kind is reserved', async () => {
    const contract = await s.propose({ steps: [configure('limits', 'max', 7)] });
    const producer = await enter(['writ_producer']);
    const jobs = JSON.stringify([
      { id: nowhere, kind: 'governance.read.flag', input: { contract: contract.id } },
    ]);
    expect(await producer.call('fn_job_enqueue_many', { jobs, actor: 'mallory' })).toMatchObject({
      enqueued: 0,
      refused: [{ index: 0 }],
    });
    expect(
      await s.sql(`select from writ_data.job where job_kind like 'governance.read%'`),
    ).toHaveLength(0);
  });
});

test('a preview takes no lock and writes nothing while another session holds the contract', async () => {
  const { step } = await known({ a: 10 });
  const contract = await propose([step('a')], ['flag:a']);
  const holder = new pg.Client({ connectionString: s.db.directConnectionString });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select from writ_data.contract for update');
    await holder.query('select from writ_data.contract_read for update');
    expect(await contract.preview({ as: s.keys.ada })).toMatchObject({ hash: '' });
  } finally {
    await holder.end();
  }
});
