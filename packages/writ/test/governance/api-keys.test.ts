/** API keys: who a request comes from, and what it may do. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Login, login } from '../hostile/logins.js';

let db: TestDatabase;
let writ: Writ;
let server: Writ;
let serverLogin: Login;

beforeAll(async () => {
  db = await testDatabase();
  writ = await Writ.connect({ connectionString: db.connectionString });
  serverLogin = await login(db, ['writ_server']);
  server = await Writ.connect({ connectionString: serverLogin.connectionString });
  const add = writ.principals.add.bind(writ.principals);
  await add({ id: 'ada', kind: 'person', rights: ['view', 'propose', 'operate'] });
  await add({ id: 'acme-bot', kind: 'service', rights: ['view', 'produce'], tenant: 'acme' });
  await add({ id: 'root', kind: 'person', rights: ['view', 'administer'] });
  await add({ id: 'acme-root', kind: 'person', rights: ['administer'], tenant: 'acme' });
  await add({ id: 'agent', kind: 'agent', onBehalfOf: 'ada', rights: ['view', 'propose'] });
});

afterAll(async () => {
  await server.close();
  await writ.close();
  await serverLogin.end();
});

const code = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error) => error.code,
  );

describe('a key', () => {
  test('admits its principal to what the principal may do', async () => {
    const { key, keyId } = await writ.apiKeys.make({ principal: 'ada', label: 'laptop' });
    expect(key).toMatch(/^writ_[0-9a-f]{16}_[0-9a-f]{64}$/);
    expect(await server.apiKeys.admit({ apiKey: key }, { right: 'view' })).toEqual({
      principal: 'ada',
      kind: 'person',
      tenant: 'default',
      rights: ['view', 'propose', 'operate'],
    });
    expect(await code(server.apiKeys.admit({ apiKey: key }, { right: 'report' }))).toBe('done');
    expect(await code(server.apiKeys.admit({ apiKey: key }, { right: 'administer' }))).toBe(
      'not_authorized',
    );
    expect(
      await server.apiKeys.admit({ apiKey: key }, { right: 'view', tenant: 'acme' }),
    ).toMatchObject({ tenant: 'acme' });
    const { items } = await writ.apiKeys.list({ principal: 'ada' });
    expect(items).toMatchObject([{ keyId, label: 'laptop', tenant: null, addedBy: 'app' }]);
    expect(items[0]?.lastUsedAt).not.toBeNull();
    expect(JSON.stringify(items)).not.toContain(key.slice(-64));
  });

  test('can be narrowed to some rights and one tenant', async () => {
    const { key } = await writ.apiKeys.make({
      principal: 'ada',
      rights: ['view'],
      tenant: 'acme',
    });
    const admit = (right: 'view' | 'propose' | 'report', tenant?: string) =>
      server.apiKeys.admit({ apiKey: key }, { right, ...(tenant && { tenant }) });
    expect(await admit('view')).toMatchObject({ tenant: 'acme', rights: ['view'] });
    expect(await code(admit('propose'))).toBe('not_authorized');
    expect(await code(admit('report'))).toBe('not_authorized');
    expect(await code(admit('view', 'globex'))).toBe('TENANT_ACCESS_DENIED');
    expect(await code(writ.apiKeys.make({ principal: 'ada', rights: ['administer'] }))).toBe(
      'invalid_api_key',
    );
    expect(await code(writ.apiKeys.make({ principal: 'acme-bot', tenant: 'globex' }))).toBe(
      'invalid_api_key',
    );
  });

  test.each(['propose', 7, true, {}, { propose: true }])(
    'is not made with %j for its rights, which would give it all of them',
    async (rights) => {
      const put = {
        key_id: 'half',
        principal_id: 'ada',
        rights,
        secret_sha256: 'ab'.repeat(32),
        expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      };
      const [row] = await db.query(
        `select writ.fn_api_key_put(null, $1::jsonb, 'x') ->> 'reason' as reason`,
        [JSON.stringify(put)],
      );
      expect(row?.reason).toBe('invalid_api_key');
      expect(await db.query(`select from writ_data.api_key where key_id = 'half'`)).toEqual([]);
    },
  );

  test('is refused when it is wrong, revoked or over, or its principal is disabled', async () => {
    const { key, keyId } = await writ.apiKeys.make({ principal: 'ada' });
    const admit = (apiKey: string) => code(server.apiKeys.admit({ apiKey }));
    expect(await admit(key)).toBe('done');
    expect(await admit(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`)).toBe(
      'not_authenticated',
    );
    expect(await admit('writ_key_ada_0')).toBe('not_authenticated');
    await writ.apiKeys.revoke(keyId);
    expect(await admit(key)).toBe('not_authenticated');
    const short = await writ.apiKeys.make({ principal: 'ada', expiresIn: '1h' });
    await db.query(
      `update writ_data.api_key set added_at = added_at - interval '1 day', expires_at = expires_at - interval '2 hours' where key_id = $1`,
      [short.keyId],
    );
    expect(await admit(short.key)).toBe('not_authenticated');
    await writ.principals.add({ id: 'gone', kind: 'service', rights: ['view'] });
    const gone = await writ.apiKeys.make({ principal: 'gone' });
    await writ.principals.change('gone', { disabled: true });
    expect(await admit(gone.key)).toBe('not_authenticated');
  });

  test('leaves a receipt when it is made and revoked, and for each denial', async () => {
    const { key, keyId } = await writ.apiKeys.make({ principal: 'acme-bot' });
    await writ.apiKeys.revoke(keyId);
    const receipts = await db.query(
      `select entry from writ_data.receipt where entry like $1 order by receipt_no`,
      [`%${keyId}%`],
    );
    expect(receipts).toHaveLength(2);
    expect(JSON.stringify(receipts)).not.toContain(key.slice(-64));
    const denied = async () =>
      Number(
        (
          await db.query(
            `select count(*) as n from writ_data.receipt where entry like '%access_denied%'`,
          )
        )[0]?.n,
      );
    const before = await denied();
    await code(server.apiKeys.admit({ principal: 'acme-bot' }, { right: 'operate' }));
    expect(await denied()).toBe(before + 1);
  });

  test('is made by an administrator, of its own tenant if it has one', async () => {
    const as = (principalId: string) => server.with({ as: { principalId }, actor: principalId });
    expect(await code(as('ada').apiKeys.make({ principal: 'ada' }))).toBe('not_authorized');
    expect(await code(as('agent').apiKeys.make({ principal: 'ada' }))).toBe('agents_only_propose');
    expect(await code(as('acme-root').apiKeys.make({ principal: 'ada' }))).toMatch(
      /TENANT_ACCESS_DENIED/,
    );
    expect(await code(as('acme-root').apiKeys.make({ principal: 'acme-bot' }))).toBe('done');
    expect(await code(as('root').apiKeys.make({ principal: 'acme-bot' }))).toBe('done');
    expect(await code(server.apiKeys.make({ principal: 'ada' }))).toBe('not_authenticated');
  });

  test('is shown once, also to a caller that repeats the call', async () => {
    const make = () => writ.apiKeys.make({ principal: 'ada', label: 'ci' }, { once: 'key-1' });
    await make();
    expect(await code(make())).toBe('api_key_exists');
    expect((await writ.apiKeys.list({ principal: 'ada' })).items[0]).toMatchObject({ label: 'ci' });
  });
});

test('the server names a principal, and signs nothing for it', async () => {
  const named = server.with({ as: { principalId: 'ada' } });
  const id = await named.freezes.put({ reason: 'a quiet week for everybody' });
  expect(id).toBeTruthy();
  const stranger = writ.with({ as: { principalId: 'nobody' } });
  expect(await code(stranger.freezes.put({ reason: 'a quiet week for everybody' }))).toBe(
    'not_authenticated',
  );
});
