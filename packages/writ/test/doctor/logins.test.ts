/**
 * What the doctor says about logins and about a log that keeps keys, brought about on a real
 * server; and each statement that mends it, carried out.
 */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type LoginFacts,
  type LogSettings,
  loginChecks,
  judgeLogins as loginsJudge,
  judgeLog as logJudge,
  readLogins,
} from '../../src/doctor/logins.js';
import { defineJob, Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Advised, advises, examine, found } from './advised.js';

const judgeLog = advises(logJudge);
const judgeLogins = advises(loginsJudge);

let db: TestDatabase;
let app: Writ;
let suffix: string;

beforeEach(async () => {
  db = await testDatabase();
  app = await db.connect();
  suffix = randomBytes(4).toString('hex');
  await app.principals.add({ id: 'ops', kind: 'person', rights: ['propose', 'operate'] });
});
afterEach(async () => {
  for (const { name } of await db.query(
    `select rolname as name from pg_roles where rolname like '%${suffix}'`,
  )) {
    await db.query(`drop owned by "${name}"`);
    await db.query(`drop role "${name}"`);
  }
  await db.drop();
});

const named = (name: string) => `${name}_${suffix}`;
const login = async (name: string, roles = '') => {
  await db.query(
    `create role ${named(name)} login password 'test'${roles ? ` in role ${roles}` : ''}`,
  );
  return named(name);
};
const register = (name: string, definition: object) =>
  db.query('select writ.fn_login_put($1, $2::text::jsonb, $3)', [
    name,
    JSON.stringify(definition),
    'test',
  ]);
/** Other tests of this run make logins on the same server. */
const findings = async (): Promise<Advised[]> =>
  judgeLogins(
    (await examine(db.directConnectionString, readLogins)).filter(
      (facts) => facts.login.endsWith(suffix) || facts.used,
    ),
  );
const about = async (name: string) => (await findings()).filter(({ says }) => says.includes(name));

test('names roles that the registered use does not need, with the statement that revokes them', async () => {
  const name = await login('app', 'dot_executor, writ_admin');
  await register(name, { roles: ['dot_executor'] });
  const [finding, ...others] = await about(name);
  expect(others).toEqual([]);
  expect(finding).toMatchObject({
    level: 'warning',
    says: `${name} has writ_admin, which its registered use does not need`,
  });
  await db.query(String(finding?.remedy));
  expect(await about(name)).toEqual([]);
});

test('takes the parts of a composite for needed, and a composite for more than its parts', async () => {
  const parts = await login('parts', 'writ_worker');
  await register(parts, { roles: ['dot_executor'] });
  const whole = await login('whole', 'dot_executor');
  await register(whole, { roles: ['writ_worker'] });
  expect(await about(parts)).toMatchObject([
    { level: 'warning', says: expect.stringContaining('is registered for dot_executor') },
  ]);
  expect(await about(whole)).toMatchObject([
    { level: 'warning', says: expect.stringContaining('has dot_executor, which') },
  ]);
  for (const { remedy } of [...(await about(parts)), ...(await about(whole))])
    await db.query(String(remedy));
  expect(await about(parts)).toEqual([]);
});

test('calls a login of an agent that can do more than propose an error', async () => {
  await app.principals.add({ id: 'robo', kind: 'agent', onBehalfOf: 'ops' });
  const name = await login('robo', 'writ_principal, dot_executor');
  await register(name, { principal_id: 'robo', roles: ['writ_principal'] });
  const [finding] = await about(name);
  expect(finding).toMatchObject({
    level: 'error',
    says: `${name} has dot_executor, which its registered use for robo does not need`,
  });
  await db.query(String(finding?.remedy));
  expect(await about(name)).toEqual([]);
});

test('finds an agent that acts through a login of a process', async () => {
  const key = await app.principals.add({ id: 'robo', kind: 'agent', onBehalfOf: 'ops' });
  const ops = await app.principals.add({
    id: 'omar',
    kind: 'person',
    rights: ['operate'],
  });
  await app.capabilities.put([{ capability_name: 'checkout', domain: 'shop' }], { as: ops });
  const url = new URL(db.directConnectionString);
  url.username = await login('shared', 'dot_executor');
  url.password = 'test';
  const shared = await Writ.connect({ connectionString: url.href, key, max: 1 });
  await shared.contracts.propose({
    title: 'Open it',
    scope: ['checkout'],
    steps: [{ type: 'capability_enable', capability_name: 'checkout' }],
  });
  await shared.close();
  expect(await about(named('shared'))).toMatchObject([
    {
      level: 'error',
      says: `The agent robo acts through ${named('shared')}, which has dot_executor`,
      remedy: expect.stringContaining('writ logins add robo --principal robo'),
    },
    { level: 'hint', says: `${named('shared')} has dot_executor, but is not registered` },
  ]);
});

test('finds logins that nobody registered, once somebody registers logins', async () => {
  const stray = await login('stray', 'writ_worker');
  expect(await about(stray)).toEqual([]);
  await register(await login('app', 'writ_producer'), { roles: ['writ_producer'] });
  const [finding] = await about(stray);
  expect(finding).toMatchObject({
    level: 'warning',
    says: `${stray} has writ_worker, but is not registered`,
  });
  await db.query(/revoke .*;/.exec(String(finding?.remedy))?.[0] as string);
  expect(await about(stray)).toEqual([]);
});

test('finds roles that came through another role, and a registration whose login is gone', async () => {
  const group = named('group');
  await db.query(`create role ${group} in role workflow_admin`);
  const name = await login('app', `${group}, writ_worker`);
  await register(name, { roles: ['writ_worker'] });
  expect(await about(name)).toMatchObject([
    { level: 'warning', says: expect.stringContaining('workflow_admin through another role') },
  ]);
  await db.query(`drop role ${name}`);
  expect(await about(name)).toMatchObject([
    { says: `${name} is registered, but PostgreSQL has no such login` },
  ]);
});

test('finds a worker that logs in as a superuser', async () => {
  const job = defineJob('mail');
  await app.enqueue(job);
  const done = new Promise<void>((resolve) => {
    void app.work([job.handle(async () => resolve())]);
  });
  await done;
  expect(await findings()).toContainEqual(
    expect.objectContaining({
      level: 'warning',
      says: expect.stringMatching(/^A worker logs in as \S+, a superuser$/),
      remedy: expect.stringContaining('writ logins add NAME --role dot_executor'),
    }),
  );
});

test('says who may see registrations to a login that may not', async () => {
  const url = new URL(db.directConnectionString);
  url.username = await login('worker', 'writ_worker');
  url.password = 'test';
  expect(await found(url.href, loginChecks.logins)).toMatchObject([
    { level: 'ok', says: expect.stringContaining('writ_admin and writ_auditor may') },
  ]);
});

const facts: LoginFacts = {
  login: 'app',
  there: true,
  superuser: false,
  owner: false,
  granted: ['writ_worker'],
  grantors: {},
  inherited: [],
  registered: { principal_id: null, roles: ['writ_worker'] },
  agent: false,
  used: true,
  worked: true,
  agents: [],
};

test('a registered superuser is an error, and so is a member of the owner', () => {
  expect(judgeLogins([{ ...facts, superuser: true, worked: false }])).toMatchObject([
    { level: 'error', remedy: 'alter role "app" nosuperuser;' },
  ]);
  expect(judgeLogins([{ ...facts, owner: true, worked: false }])).toMatchObject([
    { level: 'error', remedy: 'revoke writ_owner from "app";' },
  ]);
  expect(judgeLogins([facts])).toMatchObject([
    { level: 'ok', says: '1 login registered, with only the roles that the registered use needs' },
  ]);
});

const usual: LogSettings = {
  log_statement: 'none',
  log_min_duration_statement: '-1',
  log_min_duration_sample: '-1',
  log_statement_sample_rate: '1',
  log_transaction_sample_rate: '0',
  log_parameter_max_length: '-1',
  log_parameter_max_length_on_error: '0',
};

test.each<[LogSettings, string | undefined]>([
  [{}, undefined],
  [{ log_statement: 'ddl' }, undefined],
  [{ log_statement: 'all' }, 'log_parameter_max_length = 0'],
  [{ log_statement: 'all', log_parameter_max_length: '0' }, undefined],
  [{ log_statement: 'all', log_parameter_max_length: '64B' }, 'log_parameter_max_length = 0'],
  [{ log_min_duration_statement: '250ms' }, 'log_parameter_max_length = 0'],
  [{ log_min_duration_statement: '0' }, 'log_parameter_max_length = 0'],
  [{ log_min_duration_sample: '100ms' }, 'log_parameter_max_length = 0'],
  [{ log_min_duration_sample: '100ms', log_statement_sample_rate: '0' }, undefined],
  [{ log_transaction_sample_rate: '0.1' }, 'log_parameter_max_length = 0'],
  [{ log_parameter_max_length_on_error: '-1' }, 'log_parameter_max_length_on_error = 0'],
  [
    { 'auto_explain.log_min_duration': '1s', 'auto_explain.log_parameter_max_length': '-1' },
    'auto_explain.log_parameter_max_length = 0',
  ],
  [
    { 'auto_explain.log_min_duration': '-1', 'auto_explain.log_parameter_max_length': '-1' },
    undefined,
  ],
  [{ 'pgaudit.log': 'read', 'pgaudit.log_parameter': 'on' }, 'pgaudit.log_parameter = off'],
  [{ 'pgaudit.log': 'none', 'pgaudit.log_parameter': 'on' }, undefined],
])('with %j the log needs %j', (settings, remedy) => {
  const [finding] = judgeLog([{ of: '', settings: { ...usual, ...settings } }]);
  if (remedy === undefined) expect(finding?.level).toBe('ok');
  else
    expect(finding).toMatchObject({
      level: 'warning',
      remedy: expect.stringContaining(`alter system set ${remedy};`),
    });
});

test('finds a setting of one role that logs its parameters', async () => {
  const name = await login('chatty', 'writ_principal');
  const [{ database } = {}] = await db.query('select current_database() as database');
  await db.query(`alter role ${name} in database ${database} set log_min_duration_statement = 0`);
  const log = async () =>
    (await found(db.directConnectionString, loginChecks.log)).filter(({ says }) =>
      says.includes(name),
    );
  const [finding] = await log();
  expect(finding).toMatchObject({
    level: 'warning',
    remedy: `alter role ${name} in database ${database} set log_parameter_max_length = 0;`,
  });
  await db.query(String(finding?.remedy));
  expect(await log()).toEqual([]);
});
