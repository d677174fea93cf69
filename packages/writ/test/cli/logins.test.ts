/**
 * `writ logins`: makes a login for one purpose, all of it or nothing, without telling the server
 * its password.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { scramVerifier } from '../../src/governance/logins.js';
import { Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Ended, json, main, writ } from './run.js';

let db: TestDatabase;
let app: Writ;
let env: Record<string, string>;
let suffix: string;

beforeEach(async () => {
  db = await testDatabase();
  app = await db.connect();
  // Logins belong to the whole server: a name of this test's own.
  suffix = randomBytes(4).toString('hex');
  env = { DATABASE_URL: db.directConnectionString };
  await app.principals.add({ id: 'ops', kind: 'person', rights: ['propose', 'operate'] });
  await app.principals.add({ id: 'agent-1', kind: 'agent', onBehalfOf: 'ops' });
});
afterEach(async () => {
  const made = await db.query(
    `select rolname as name from pg_roles where rolname like '%${suffix}'`,
  );
  for (const { name } of made) {
    await db.query(`drop owned by "${name}"`);
    await db.query(`drop role "${name}"`);
  }
  await db.drop();
});

const named = (name: string) => `${name}-${suffix}`;
const connectionOf = ({ stdout }: Ended): string => /^postgres:\S+$/m.exec(stdout)?.[0] as string;
const agent = () => ['logins', 'add', named('agent'), '--principal', 'agent-1'];
const rolesOf = async (login: string) =>
  (
    await db.query(
      `select pg_get_userbyid(roleid) as role from pg_auth_members where pg_get_userbyid(member) = $1 order by 1`,
      [login],
    )
  ).map(({ role }) => role);

async function as<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

test('shows what it would do, and does nothing without a yes', async () => {
  const { code, stdout, stderr } = await writ(agent(), { env });
  expect(code).toBe(1);
  expect(stdout).toContain(`create role "${named('agent')}" login password 'SCRAM-SHA-256$…';`);
  expect(stdout).toContain(`grant writ_principal to "${named('agent')}";`);
  expect(stdout).toContain('select writ.fn_login_put(');
  expect(stderr).toMatch(/nothing was done\.\n.*Add --yes to do it\./);
  expect(await db.query('select from pg_roles where rolname = $1', [named('agent')])).toEqual([]);
  expect(await db.query('select * from writ.login')).toEqual([]);
});

test('makes a login for an agent that acts for its principal without a key, and for nobody else', async () => {
  const made = await writ([...agent(), '--yes', '--actor', 'ada'], { env });
  expect([made.code, made.stderr]).toEqual([
    0,
    expect.stringMatching(/acts for agent-1, and needs no key.*shown this once/),
  ]);
  const url = connectionOf(made);
  expect(
    await db.query('select login, principal_id, tenant_id, roles, put_by from writ.login'),
  ).toEqual([
    {
      login: named('agent'),
      principal_id: 'agent-1',
      tenant_id: null,
      roles: ['writ_principal'],
      put_by: 'ada',
    },
  ]);
  const [{ answer } = {}] = await as(
    url,
    async (client) => (await client.query('select writ.fn_login() as answer')).rows,
  );
  expect(answer).toEqual({
    login: named('agent'),
    principal_id: 'agent-1',
    tenant_id: null,
    roles: ['writ_principal'],
  });

  // The second time there is nothing to do, and the password stays.
  const again = await writ([...agent(), '--yes'], { env });
  expect([again.code, again.stdout, again.stderr]).toEqual([
    0,
    '',
    `${named('agent')} already has these roles and this registration.\n`,
  ]);
  await as(url, (client) => client.query('select 1'));

  const fresh = connectionOf(await writ([...agent(), '--new-password', '--yes'], { env }));
  await as(fresh, (client) => client.query('select 1'));
  await expect(as(url, (client) => client.query('select 1'))).rejects.toMatchObject({
    code: '28P01',
  });
});

test('sends the server a verifier and never the password', async () => {
  const made = await writ([...agent(), '--yes'], { env });
  const { password } = new URL(connectionOf(made));
  const [{ stored } = {}] = await db.query(
    'select rolpassword as stored from pg_authid where rolname = $1',
    [named('agent')],
  );
  expect(stored).toMatch(/^SCRAM-SHA-256\$4096:/);
  // The very verifier that PostgreSQL would have computed from this password and this salt.
  const [, salt = ''] = /:([^$]+)\$/.exec(String(stored)) ?? [];
  expect(scramVerifier(password, Buffer.from(salt, 'base64'))).toBe(stored);
});

test('takes a password from standard input, and prints none then', async () => {
  const run = (typed: string) =>
    new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
      const child = spawn(process.execPath, [main, ...agent(), '--password-stdin', '--yes'], {
        env: { ...process.env, ...env },
      });
      let [stdout, stderr] = ['', ''];
      child.stdout.on('data', (chunk) => (stdout += String(chunk)));
      child.stderr.on('data', (chunk) => (stderr += String(chunk)));
      child.on('close', (code) => resolve({ code, stdout, stderr }));
      child.stdin.end(typed);
    });
  for (const wrong of ['', 'short\n', 'pässwörter-0815\n', 'two lines\nof a password\n']) {
    expect(await run(wrong)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('12 to 200 printable ASCII'),
    });
  }
  const ended = await run('correct horse battery\n');
  expect(ended.code).toBe(0);
  expect(ended.stdout + ended.stderr).not.toContain('correct horse');
  const url = new URL(db.directConnectionString);
  url.username = named('agent');
  url.password = 'correct horse battery';
  await as(url.href, (client) => client.query('select writ.fn_login()'));
});

test('makes the roles of a login exactly those that it is registered for', async () => {
  const login = named('app');
  await db.query(`create role "${login}" login in role dot_executor, workflow_admin`);
  const { stdout } = await writ(
    ['logins', 'add', login, '--role', 'dot_executor', '--tenant', 'acme', '--yes'],
    { env },
  );
  expect(stdout).toMatch(new RegExp(`revoke workflow_admin from "${login}"`));
  expect(await rolesOf(login)).toEqual(['dot_executor']);
  expect(await db.query('select tenant_id, roles from writ.login')).toEqual([
    { tenant_id: 'acme', roles: ['dot_executor'] },
  ]);
});

test.each([
  [['--role', 'dot_executor', '--principal', 'agent-1'], 2, 'needs the role writ_principal'],
  [
    ['--role', 'dot_executor', '--role', 'writ_principal', '--principal', 'agent-1'],
    2,
    'agent-1 is an agent',
  ],
  [['--principal', 'nobody'], 1, 'nobody'],
  [[], 2, 'No option says what this login is for'],
  [['--role', 'pg_read_all_data'], 2, 'not a role of Writ'],
])('refuses a login with %j', async (options, code, words) => {
  const ended = await writ(['logins', 'add', named('x'), ...options, '--yes'], { env });
  expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(words)]);
  expect(await db.query('select from pg_roles where rolname = $1', [named('x')])).toEqual([]);
});

test.each(['postgres', 'writ_owner', 'writ_worker', 'a"b', 'pg_monitor', "x'; drop table"])(
  'refuses the name %j for a login',
  async (name) => {
    expect(
      (await writ(['logins', 'add', name, '--role', 'writ_worker', '--yes'], { env })).code,
    ).toBe(2);
  },
);

test('leaves nothing behind when its last statement fails', async () => {
  await db.query(
    `create function public.fail() returns trigger language plpgsql as $$ begin raise 'no'; end $$`,
  );
  await db.query(
    'create trigger fail before insert on writ_data.login for each row execute function public.fail()',
  );
  expect((await writ([...agent(), '--yes'], { env })).code).toBe(1);
  expect(await db.query('select from pg_roles where rolname = $1', [named('agent')])).toEqual([]);
});

test('says what an administrator has to run when the own login may not', async () => {
  const login = named('reader');
  await db.query(`create role "${login}" login password 'reading-is-fine' in role writ_admin`);
  const url = new URL(db.directConnectionString);
  url.username = login;
  url.password = 'reading-is-fine';
  const ended = await writ([...agent(), '--yes', '--actor', 'ada'], {
    env: { DATABASE_URL: url.href },
  });
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain('nothing was changed');
  expect(ended.stderr).toMatch(/administrator with CREATEROLE/);
  expect(ended.stderr).toContain(
    `grant writ_principal to "${named('agent')}"; select writ.fn_login_put(`,
  );
  expect(ended.stderr).not.toMatch(/SCRAM-SHA-256\$4096/);
});

test('lists logins, and those that are not registered', async () => {
  await writ([...agent(), '--yes'], { env });
  await db.query(`create role "${named('stray')}" login in role writ_worker`);
  const all = await json<{ login: string; registered: boolean; has: string[] }[]>(
    ['logins', 'list'],
    { env },
  );
  expect(all.filter(({ login }) => login.endsWith(suffix))).toMatchObject([
    { login: named('agent'), registered: true, principal_id: 'agent-1', has: ['writ_principal'] },
    { login: named('stray'), registered: false, has: ['writ_worker'] },
  ]);
  const { stdout } = await writ(['logins', 'list'], { env });
  expect(stdout).toMatch(new RegExp(`${named('agent')} +agent-1 +all +writ_principal +.* by `));
  expect(stdout).toMatch(new RegExp(`${named('stray')} +writ_worker +no`));
});

test('removes a login’s roles and registration, and the login itself when asked', async () => {
  const url = connectionOf(await writ([...agent(), '--yes'], { env }));
  const shown = await writ(['logins', 'remove', named('agent')], { env });
  expect(shown.stderr).toContain('nothing was done');
  const ended = await writ(['logins', 'remove', named('agent'), '--yes'], { env });
  expect([ended.code, ended.stdout]).toEqual([
    0,
    expect.stringContaining('still exists, without a role of Writ'),
  ]);
  expect(await db.query('select * from writ.login')).toEqual([]);
  expect(await rolesOf(named('agent'))).toEqual([]);
  await expect(as(url, (client) => client.query('select writ.fn_login()'))).rejects.toMatchObject({
    code: '42501',
  });

  expect(
    (await writ(['logins', 'remove', named('agent'), '--drop-role', '--yes'], { env })).code,
  ).toBe(0);
  expect(await db.query('select from pg_roles where rolname = $1', [named('agent')])).toEqual([]);
  const gone = await writ(['logins', 'remove', named('agent'), '--yes'], { env });
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining(named('agent'))]);
});

test('keeps a login whole that cannot be dropped', async () => {
  await writ([...agent(), '--yes'], { env });
  await db.query(`create schema "${named('s')}" authorization "${named('agent')}"`);
  const ended = await writ(['logins', 'remove', named('agent'), '--drop-role', '--yes'], { env });
  expect(ended.code).toBe(1);
  expect(await rolesOf(named('agent'))).toEqual(['writ_principal']);
  expect(await db.query('select login from writ.login')).toEqual([{ login: named('agent') }]);
});

test('proposes from the command line with the bound login alone', async () => {
  const url = connectionOf(await writ([...agent(), '--yes'], { env }));
  const owner = await app.principals.add({
    id: 'owner',
    kind: 'person',
    rights: ['operate'],
  });
  await app.capabilities.put([{ capability_name: 'checkout', domain: 'shop' }], { as: owner });
  const file = join(mkdtempSync(join(tmpdir(), 'writ-logins-')), 'change.json');
  const steps = [{ type: 'capability_enable', capability_name: 'checkout' }];
  writeFileSync(file, JSON.stringify({ title: 'Open the checkout', scope: ['checkout'], steps }));
  const bound = { DATABASE_URL: url };
  const { contract_id: contractId } = await json(['contracts', 'propose', file], { env: bound });
  expect((await writ(['contracts', 'preview', String(contractId)], { env: bound })).code).toBe(0);
  // It cannot approve, with a key or without.
  expect(
    (await writ(['contracts', 'approve', String(contractId)], { env: bound })).stderr,
  ).toContain('No key is given');
  expect(
    (
      await writ(['contracts', 'reject', String(contractId), '--reason', 'I do not want it'], {
        env: bound,
      })
    ).code,
  ).toBe(1);
  rmSync(dirname(file), { recursive: true });
});

test('connects a program with the bound login alone', async () => {
  const url = connectionOf(await writ([...agent(), '--yes'], { env }));
  await app.capabilities.put([{ capability_name: 'checkout', domain: 'shop' }], {
    as: await opsKey(),
  });
  const bound = await Writ.connect({ connectionString: url, max: 1 });
  try {
    const contract = await bound.contracts.propose({
      title: 'Open the checkout',
      scope: ['checkout'],
      steps: [{ type: 'capability_enable', capability_name: 'checkout' }],
    });
    expect(
      await db.query(
        'select created_by, on_behalf_of from writ.system_contracts where contract_id = $1',
        [contract.id],
      ),
    ).toEqual([{ created_by: 'agent-1', on_behalf_of: 'ops' }]);
  } finally {
    await bound.close();
  }

  async function opsKey(): Promise<string> {
    return app.principals.add({ id: 'owner', kind: 'person', rights: ['operate'] });
  }
});
