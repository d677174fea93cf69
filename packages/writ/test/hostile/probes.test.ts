/**
 * Probes of one tenant's operator reach neither other tenants nor the network of the process, and
 * keep nothing.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { scene } from '../governance/scene.js';
import { until } from '../races/sessions.js';
import { codeOf } from '../runs/engine/scene.js';
import { attackers } from './attackers.js';

const s = scene();
const enter = attackers(s);
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const put = (probe: object, as = s.keys.ops) =>
  s.writ.probes.put({ capability: 'checkout', ...probe } as never, { as });
const answered = async () => {
  await until(
    async () => (await s.sql('select from writ.probe where checked_at is not null')).length > 0,
    20_000,
  );
  return (
    await s.sql<{ status: string; detail: string }>(
      'select status, detail from writ.probe where checked_at is not null',
    )
  )[0];
};

describe('a SQL probe', () => {
  test('can only be put by a principal without a tenant', async () => {
    const key = await s.writ.principals.add({
      id: 'gil',
      kind: 'person',
      tenant: 'default',
      rights: ['operate'],
    });
    expect(
      await codeOf(put({ name: 'sly', type: 'sql', config: { query: 'select true' } }, key)),
    ).toBe('not_authorized');
    const operator = await enter(['writ_principal'], { principal_id: 'ops', tenant_id: 'default' });
    const probe = JSON.stringify({
      name: 'sly',
      capability: 'checkout',
      type: 'sql',
      config: { query: 'select true' },
    });
    expect(await operator.call('fn_probe_put', { key: null, probe })).toMatchObject({
      reason: 'not_authorized',
    });
    expect(await s.sql('select from writ.probe')).toEqual([]);
  });

  test('does not run without its own login, and reports that', async () => {
    await put({ name: 'sly', type: 'sql', config: { query: 'select true' } });
    await s.work();
    expect(await answered()).toMatchObject({
      status: 'UNHEALTHY',
      detail: expect.stringContaining('WRIT_PROBE_URL'),
    });
  });

  test('does not run with a login that has a role of Writ', async () => {
    const powerful = await enter(['writ_worker']);
    await put({ name: 'sly', type: 'sql', config: { query: 'select true' } });
    await s.writ.work([], {
      governance: true,
      probes: { connectionString: powerful.connectionString },
    });
    expect(await answered()).toMatchObject({
      status: 'UNHEALTHY',
      detail: expect.stringContaining('roles'),
    });
  });

  test('does not run with a login that belongs to the owner of the schemas, whatever the owner is called', async () => {
    const [before] = await s.sql<{ name: string }>(
      `select nspowner::regrole::text as name from pg_namespace where nspname = 'writ_data'`,
    );
    const installer = await enter([]);
    const member = await enter([]);
    await s.sql(`grant ${installer.name} to ${before?.name}, ${member.name}`);
    await s.sql(`alter schema writ_data owner to ${installer.name}`);
    ends.push(() => s.sql(`alter schema writ_data owner to ${before?.name}`));
    await put({ name: 'sly', type: 'sql', config: { query: 'select true' } });
    await s.writ.work([], {
      governance: true,
      probes: { connectionString: member.connectionString },
    });
    expect(await answered()).toMatchObject({
      status: 'UNHEALTHY',
      detail: expect.stringContaining('owns its schemas'),
    });
  });

  test.each([
    ['answers', 'select true', 'HEALTHY'],
    ['reads no table of ours', 'select count(*) > 0 from writ_data.principal', 'UNHEALTHY'],
    [
      'writes nothing',
      `with w as (delete from writ_data.probe returning 1) select count(*) from w`,
      'UNHEALTHY',
    ],
    ['has one statement', 'select true; select true', 'UNHEALTHY'],
    [
      'stays in its parentheses',
      `select true) x(v) union all select repeat('x', 1000) from (select true`,
      'UNHEALTHY',
    ],
    [
      'fills no memory with rows',
      'select true from pg_class a, pg_class b, pg_class c, pg_class d',
      'HEALTHY',
    ],
    ['takes its time and no more', 'select pg_sleep(60) is not null', 'UNHEALTHY'],
  ])('%s', async (_, query, status) => {
    const reader = await enter([]);
    await put({ name: 'sly', type: 'sql', config: { query }, timeout_ms: 4_000 });
    await s.writ.work([], {
      governance: true,
      probes: { connectionString: reader.connectionString },
    });
    expect(await answered()).toMatchObject({ status });
  });

  test('returns only the first characters of a huge value', async () => {
    const reader = await enter([]);
    await put({
      name: 'sly',
      type: 'sql',
      config: { query: `select 1 || repeat(' ', 10000000) || 'x'` },
      timeout_ms: 10_000,
    });
    await s.writ.work([], {
      governance: true,
      probes: { connectionString: reader.connectionString },
    });
    // The whole of it ends with a letter, and is no number.
    expect(await answered()).toEqual({ status: 'HEALTHY', detail: 'the value is 1' });
  });

  test('leaves no advisory lock behind', async () => {
    const reader = await enter([]);
    await put({
      name: 'sly',
      type: 'sql',
      config: { query: 'select pg_advisory_lock(42) is not null' },
    });
    await s.writ.work([], {
      governance: true,
      probes: { connectionString: reader.connectionString },
    });
    expect(await answered()).toMatchObject({ status: 'HEALTHY' });
    await until(
      async () =>
        (await s.sql(`select from pg_locks where locktype = 'advisory' and objid = 42`)).length ===
        0,
      20_000,
    );
  });
});

describe('an HTTP probe', () => {
  async function inside(): Promise<{ url: string; calls: () => number }> {
    let calls = 0;
    const server = createServer((_, response) => {
      calls++;
      response.end('{}');
    });
    ends.push(() => new Promise((closed) => server.close(closed).closeAllConnections()));
    await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      calls: () => calls,
    };
  }

  test('does not reach loopback, by address or by name', async () => {
    const { url, calls } = await inside();
    await put({ name: 'a', type: 'http', config: { url } });
    await put({ name: 'b', type: 'http', config: { url: url.replace('127.0.0.1', 'localhost') } });
    await s.writ.work([], { governance: true });
    await until(
      async () => (await s.sql(`select from writ.probe where status = 'UNHEALTHY'`)).length === 2,
      20_000,
    );
    expect(calls()).toBe(0);
  });

  test('reaches a private address that the process allows', async () => {
    const { url, calls } = await inside();
    await put({ name: 'a', type: 'http', config: { url } });
    await s.writ.work([], { governance: true, probes: { allowPrivate: ['127.0.0.0/8'] } });
    expect(await answered()).toMatchObject({ status: 'HEALTHY' });
    expect(calls()).toBeGreaterThan(0);
  });
});

test('many probes of one tenant do not delay the probes of another', async () => {
  await s.writ.capabilities.put([{ capability_name: 'checkout' }], {
    as: s.keys.ops,
    tenant: 'globex',
  });
  const config = { url: 'http://192.0.2.1/' };
  for (let n = 0; n < 30; n++) await put({ name: `p${n}`, type: 'http', config });
  await s.writ.probes.put({ name: 'up', capability: 'checkout', type: 'http', config } as never, {
    as: s.keys.ops,
    tenant: 'globex',
  });
  const engine = await enter(['writ_engine']);
  const taken = (await engine.call('fn_probes_take', { limit: 5 })) as {
    probes: { tenant: string }[];
  };
  expect(taken.probes.map(({ tenant }) => tenant)).toContain('globex');
  expect(taken.probes).toHaveLength(5);
});

test('a login of one tenant gets no probe of another', async () => {
  await put({ name: 'up', type: 'http', config: { url: 'http://192.0.2.1/' } });
  const engine = await enter(['writ_engine', 'writ_applier'], { tenant_id: 'globex' });
  expect(await engine.call('fn_probes_take', { limit: 5 })).toMatchObject({ probes: [] });
  expect(
    await engine.call('fn_probes_take', { limit: 0, tenant_id: 'default', targets: '{checkout}' }),
  ).toMatchObject({
    reason: 'TENANT_ACCESS_DENIED',
  });
});
