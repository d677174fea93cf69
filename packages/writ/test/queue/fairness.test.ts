/**
 * Tenants share a worker's claims by weight, whatever the size of a claim, the number of tenants
 * and what each of them keeps waiting.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Session, session } from '../races/sessions.js';
import {
  bulk,
  bulkOf,
  type ClaimAnswer,
  call,
  claim,
  register,
  succeed,
  tenantsOf,
} from './bulk.js';

let db: TestDatabase;
let s: Session;

beforeEach(async () => {
  db = await testDatabase();
  s = await session(db);
  await register(db, 'chore');
});
afterEach(async () => {
  await s.end();
  await db.drop();
});

const name = (n: number) => `t${String(n).padStart(5, '0')}`;

/** As many tenants, each with as many jobs, in one statement. */
async function fill(
  tenants: number,
  jobs: number,
  more: Record<string, unknown> = {},
): Promise<void> {
  const items = Array.from({ length: tenants * jobs }, (_, n) => ({
    tenant: name(n % tenants),
    ...more,
  }));
  for (let at = 0; at < items.length; at += 5000) await bulkOf(s, items.slice(at, at + 5000));
}

const weigh = (tenant: string, weight: number) =>
  call(s, 'writ.fn_tenant_weight_set', { tenant_id: tenant, weight, actor: 'test' });

/**
 * Claims one after the other, each beginning where the last one said, and how many jobs each tenant
 * got.
 */
async function shares(
  claims: number,
  limit: number,
  more: Record<string, unknown> = {},
): Promise<Record<string, number>> {
  const got: Record<string, number> = {};
  let after = '';
  for (let n = 0; n < claims; n++) {
    const answer: ClaimAnswer = await claim(s, limit, { after, ...more });
    after = answer.after ?? '';
    for (const tenant of tenantsOf(answer)) got[tenant] = (got[tenant] ?? 0) + 1;
    if (answer.jobs.length > 0 && more.start) await succeed(s, answer);
  }
  return got;
}

test.each([
  { tenants: 2, limit: 1 },
  { tenants: 3, limit: 1 },
  { tenants: 3, limit: 4 },
  { tenants: 3, limit: 5 },
  { tenants: 5, limit: 7 },
  { tenants: 7, limit: 100 },
  { tenants: 64, limit: 100 },
  { tenants: 70, limit: 100 },
  { tenants: 100, limit: 30 },
])(
  '$tenants tenants with work have equal shares of claims of $limit',
  async ({ tenants, limit }) => {
    const claims = Math.ceil((tenants * 20) / limit);
    await fill(tenants, 45);
    const got = await shares(claims, limit);
    const fair = (claims * limit) / tenants;
    expect(Object.keys(got)).toHaveLength(tenants);
    // Whoever is last in line may be one turn behind whoever is first.
    const turn = Math.ceil(limit / Math.min(tenants, 64));
    expect(Math.min(...Object.values(got))).toBeGreaterThanOrEqual(fair - 2 * turn);
    expect(Math.max(...Object.values(got))).toBeLessThanOrEqual(fair + 2 * turn);
  },
);

test('what one tenant does not need is shared among the others', async () => {
  await fill(3, 100);
  await bulk(s, 5, { tenant: 'a' });
  const answer = await claim(s, 100);
  const got = tenantsOf(answer);
  expect(got).toHaveLength(100);
  expect(got.filter((tenant) => tenant === 'a')).toHaveLength(5);
  for (const n of [0, 1, 2])
    expect(
      Math.abs(got.filter((tenant) => tenant === name(n)).length - 95 / 3),
    ).toBeLessThanOrEqual(2);
});

test('one tenant alone gets everything', async () => {
  await bulk(s, 300, { tenant: 'a' });
  expect((await claim(s, 300)).jobs).toHaveLength(300);
});

test.each([
  { limit: 100, claims: 20 },
  { limit: 7, claims: 200 },
  { limit: 3, claims: 300 },
  { limit: 1, claims: 800 },
])('with claims of $limit, twice the weight is twice the jobs', async ({ limit, claims }) => {
  await fill(3, Math.ceil(limit * claims * 0.8));
  await weigh(name(0), 0.5);
  await weigh(name(2), 2);
  const got = await shares(claims, limit);
  const total = limit * claims;
  // Shares of 1 : 2 : 4. Chance decides where a claim is too small to be divided: four standard
  // deviations.
  for (const [tenant, share] of [1, 2, 4].map((weight, n) => [name(n), weight / 7] as const)) {
    const deviation = 4 * Math.sqrt((share * (1 - share)) / (limit >= 12 ? total : claims)) + 0.01;
    expect(
      Math.abs((got[tenant] ?? 0) / total - share),
      `${tenant} got ${got[tenant]} of ${total}`,
    ).toBeLessThan(deviation);
  }
});

test('a claim begins where the one before it said, and after the last tenant again with the first', async () => {
  await fill(5, 10);
  const first = await claim(s, 2);
  expect(tenantsOf(first)).toEqual([name(0), name(1)]);
  const second = await claim(s, 2, { after: first.after });
  expect(tenantsOf(second)).toEqual([name(2), name(3)]);
  const third = await claim(s, 2, { after: second.after });
  expect(tenantsOf(third)).toEqual([name(4), name(0)]);
});

test('ten thousand tenants with one job each: every one is served once, by large claims and by single ones', async () => {
  await fill(10_000, 1);
  const single = await shares(100, 1);
  expect(Object.values(single).every((jobs) => jobs === 1)).toBe(true);
  expect(Object.keys(single)).toHaveLength(100);
  const rest = await shares(Math.ceil(9900 / 64) + 20, 500);
  expect({ ...single, ...rest }).toMatchObject(
    Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [name(n), 1])),
  );
});

test('a tenant with jobs of many priorities does not keep others waiting', async () => {
  await bulkOf(
    s,
    Array.from({ length: 600 }, (_, n) => ({ tenant: 'a', priority: n % 300 })),
  );
  await bulk(s, 5, { tenant: 'b' });
  expect((await shares(20, 2)).b).toBe(5);
});

test('many tenants with jobs of many priorities are all served', async () => {
  await bulkOf(
    s,
    Array.from({ length: 40 * 20 }, (_, n) => ({
      tenant: name(n % 40),
      priority: Math.floor(n / 40),
    })),
  );
  const got = await shares(20, 40);
  expect(Object.keys(got)).toHaveLength(40);
  expect(Math.min(...Object.values(got))).toBeGreaterThanOrEqual(10);
});

// Limits beside shares
// -----------------------------------------------------------------------------------------------

const limited = { kinds: ['call'] };

test('a tenant with thousands of limit keys at their limits keeps neither another tenant nor its own other keys waiting', async () => {
  await register(s, 'call', { limit_concurrency: 1 });
  const keys = Array.from({ length: 1500 }, (_, n) => `customer-${String(n).padStart(4, '0')}`);
  await bulkOf(
    s,
    keys.flatMap((limit_key) => [0, 1].map(() => ({ kind: 'call', tenant: 'a', limit_key }))),
  );
  // One job of each key but the last hundred is held by somebody.
  await s.query(
    `insert into writ_data.limit_hold (lease_token, job_kind, limit_key, open_jobs) select gen_random_uuid(), 'call', k, 1 from unnest($1::text[]) k`,
    [keys.slice(0, -100)],
  );
  await bulkOf(
    s,
    Array.from({ length: 20 }, (_, n) => ({ kind: 'call', tenant: 'b', limit_key: `b${n}` })),
  );
  const got = await shares(10, 10, limited);
  expect(got.b).toBe(20);
  const more = await shares(500, 10, limited);
  expect((got.a ?? 0) + (more.a ?? 0)).toBe(100);
});

test('lanes without work, and tenants at their limit, do not hide those behind them', async () => {
  await register(s, 'call', { limit_concurrency: 1 });
  await bulkOf(
    s,
    Array.from({ length: 200 }, (_, n) => ({ kind: 'call', tenant: name(n), limit_key: name(n) })),
  );
  let after = '';
  // all of them are empty now
  for (let n = 0; n < 10; n++) after = (await claim(s, 64, { ...limited, after })).after ?? '';
  await bulkOf(s, [{ kind: 'call', tenant: 'z', limit_key: 'z' }]);
  expect(tenantsOf(await claim(s, 1, limited))).toEqual(['z']);
  await bulkOf(
    s,
    Array.from({ length: 150 }, (_, n) => ({ kind: 'call', tenant: name(n), limit_key: name(n) })),
  );
  await bulkOf(s, [{ kind: 'call', tenant: 'zz', limit_key: 'zz' }]);
  // The others are held by the claims above. A worker asks again where the answer says, and has to
  // find it within a round.
  expect((await shares(5, 1, limited)).zz).toBe(1);
});
