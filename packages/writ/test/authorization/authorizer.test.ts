/** What a principal was given is what it may do: asked of the database, many at once. */
import { readdirSync } from 'node:fs';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { grantedPermissions, type PermissionQuestion } from '../../src/authorization/authorizer.js';
import type { Queryable } from '../../src/database/connection.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';

const question = (more: Partial<PermissionQuestion> = {}): PermissionQuestion => ({
  tenant: 'default',
  principal: 'governor',
  permission: 'flags:write',
  action_type: 'disable_checkout',
  target: 'checkout',
  ...more,
});

const gates = readdirSync(new URL('../../sql/', import.meta.url), {
  recursive: true,
  encoding: 'utf8',
});
const isThere = gates.some((file) => /(?:^|[\\/])fn_permissions\.sql$/.test(file));
if (!isThere)
  console.error(
    'NOT TESTED: permissions in the database, because writ.fn_permissions is not there yet.',
  );

describe.skipIf(!isThere)('permissions in the database', () => {
  let db: TestDatabase;
  let pool: pg.Pool;
  beforeEach(async () => {
    db = await testDatabase();
    const writ = await db.connect();
    await writ.principals.add({ id: 'governor', kind: 'service' });
    await writ.principals.add({ id: 'bound', kind: 'service', tenant: 'acme' });
    await writ.principals.add({ id: 'nobody', kind: 'service' });
    await db.query(
      `update writ_data.principal set permissions = '{flags:write,run.services.update}' where principal_id in ('governor', 'bound')`,
    );
    pool = new pg.Pool({ connectionString: db.connectionString, max: 2 });
  });
  afterEach(async () => {
    await pool.end();
    await db.drop();
  });

  test.each<[string, Partial<PermissionQuestion>, boolean]>([
    ['what it was given', {}, true],
    ['something else that it was given', { permission: 'run.services.update' }, true],
    ['what it was not given', { permission: 'billing.budgets.update' }, false],
    ['the beginning of what it was given', { permission: 'flags' }, false],
    ['more than it was given', { permission: 'flags:write:all' }, false],
    ['everything', { permission: '*' }, false],
    ['what only others were given', { principal: 'nobody' }, false],
    ['anything, if nobody knows it', { principal: 'stranger' }, false],
    ['what it was given in its own tenant', { principal: 'bound', tenant: 'acme' }, true],
    ['the same in another tenant', { principal: 'bound', tenant: 'other' }, false],
  ])('a principal may do %s: %j, %s', async (_, more, allowed) => {
    const answer = await grantedPermissions(pool).permits(question(more));
    expect(answer).toEqual({ allowed, policy_set_hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test('one that was disabled may do nothing', async () => {
    await db.query(
      `update writ_data.principal set disabled_at = now() where principal_id = 'governor'`,
    );
    expect(await grantedPermissions(pool).permits(question())).toMatchObject({ allowed: false });
  });

  test('the hash is that of what was given: the same while nothing changes, another when something does', async () => {
    const authorizer = grantedPermissions(pool);
    const hash = async () => (await authorizer.permits(question())).policy_set_hash;
    const first = await hash();
    expect(await hash()).toBe(first);
    await db.query(
      `update writ_data.principal set permissions = '{flags:write}' where principal_id = 'governor'`,
    );
    expect(await hash()).not.toBe(first);
  });

  test('many questions at once are few calls, and each has its own answer', async () => {
    let calls = 0;
    const counted: Queryable = {
      query: (sql, params) => {
        calls += 1;
        return pool.query(sql, params);
      },
    };
    const authorizer = grantedPermissions(counted);
    const asked = Array.from({ length: 500 }, (_, n) => (n % 2 === 0 ? 'governor' : 'nobody'));
    const answers = await Promise.all(
      asked.map((principal) => authorizer.permits(question({ principal }))),
    );
    expect(answers.map(({ allowed }) => allowed)).toEqual(
      asked.map((principal) => principal === 'governor'),
    );
    expect(calls).toBeLessThanOrEqual(3);
  });
});

describe('whoever cannot be asked', () => {
  test('has not said no: the question fails', async () => {
    const away = grantedPermissions({
      query: () => Promise.reject(new Error('there is no such thing as a database')),
    });
    await expect(away.permits(question())).rejects.toThrow('no such thing');
  });

  test('or has not answered for everybody, is a fault and not a no', async () => {
    const forgetful = grantedPermissions({ query: async () => ({ rows: [{ answer: '[]' }] }) });
    await expect(forgetful.permits(question())).rejects.toThrow('did not answer for governor');
  });

  test('about one tenant is no trouble of another', async () => {
    const query: Queryable['query'] = async (_, [tenant] = []) => {
      if (tenant === 'a') throw new Error('not this one');
      return {
        rows: [
          {
            answer: JSON.stringify([
              { principal: 'governor', permissions: ['flags:write'], hash: 'h' },
            ]),
          },
        ],
      };
    };
    const authorizer = grantedPermissions({ query });
    const [a, b] = await Promise.allSettled([
      authorizer.permits(question({ tenant: 'a' })),
      authorizer.permits(question({ tenant: 'b' })),
    ]);
    expect(a.status).toBe('rejected');
    expect(b).toEqual({ status: 'fulfilled', value: { allowed: true, policy_set_hash: 'h' } });
  });
});
