/** `writ trust` makes, changes and checks the file of the persons whose approvals count. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TrustDocument } from '../../src/governance/trust/file.js';
import { newKey, principal } from '../../src/index.js';
import { scene } from './governance/scene.js';
import { json, writ } from './run.js';

const s = scene();
const path = () => join(s.folder, 'writ.trust.json');
const run = (...args: string[]) => writ(['trust', ...args], { env: s.env, cwd: s.folder });
const jsonOf = <T>(...args: string[]) => json<T>(['trust', ...args], { env: s.env, cwd: s.folder });
const read = () => JSON.parse(readFileSync(path(), 'utf8')) as TrustDocument;
const publicKeyOf = (who: 'ops' | 'ada' | 'bob') =>
  principal(readFileSync(s.keyOf(who), 'utf8').trim()).publicKey;
const differences = async () => {
  const { code, stdout } = await run('check', '--json');
  return [
    code,
    JSON.parse(stdout).differences.map(
      ({ level, about }: Record<string, string>) => `${level} ${about}`,
    ),
  ];
};

async function begun(): Promise<void> {
  await s.people();
  expect(await run('init')).toMatchObject({ code: 0, stderr: '' });
}

test('init writes the persons that the database knows with their keys, and prints what to commit', async () => {
  await s.people();
  const { code, stdout } = await run('init');
  expect(code).toBe(0);
  expect(stdout).toContain('git add writ.trust.json && git commit');
  expect(stdout).toContain('WRIT_TRUST=writ.trust.json');
  for (const who of ['ops', 'ada', 'bob'] as const) expect(stdout).toContain(publicKeyOf(who));
  const [{ id } = {}] = await s.db.query('select deployment_id as id from writ.deployment');
  const file = read();
  expect(file).toMatchObject({
    writ: 'trust 1',
    deployment: id,
    quorum: { low: 1, medium: 1, high: 2, critical: 2 },
    risk_floors: [],
    ledger_keys: [],
  });
  expect(Object.keys(file.persons)).toEqual(['ada', 'bob', 'ops']);
  expect(file.persons.ops).toMatchObject({ tenants: ['*'], rights: ['approve', 'break_glass'] });
  expect(file.persons.ada).toEqual({
    tenants: ['*'],
    rights: ['approve'],
    keys: [
      {
        scheme: 'ed25519',
        public_key: publicKeyOf('ada'),
        since: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      },
    ],
  });
  expect(await differences()).toEqual([0, []]);
});

test('init takes only the persons that it is given, and says which risk they cannot approve', async () => {
  await s.people();
  const { stdout } = await run('init', '--person', 'ada');
  expect(Object.keys(read().persons)).toEqual(['ada']);
  expect(stdout).toContain('quorum/critical: It needs 2 persons, and 1 may approve');
});

test('init does not overwrite a file, and makes none without persons', async () => {
  expect(await run('init')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no person who may approve'),
  });
  expect(existsSync(path())).toBe(false);
  await begun();
  const before = readFileSync(path(), 'utf8');
  expect(await run('init')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('writ.trust.json exists'),
  });
  expect(await run('init', '--person', 'robo', '--file', 'other.json')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no person robo'),
  });
  expect(readFileSync(path(), 'utf8')).toBe(before);
});

test('the file is the one that --file or else WRIT_TRUST names', async () => {
  await s.people();
  const env = { ...s.env, WRIT_TRUST: 'named.json' };
  await writ(['trust', 'init'], { env, cwd: s.folder });
  await writ(['trust', 'init', '--file', 'given.json'], { env, cwd: s.folder });
  await writ(['trust', 'init'], { env: { ...s.env, WRIT_TRUST: 'database' }, cwd: s.folder });
  expect(
    ['named.json', 'given.json', 'writ.trust.json'].map((name) => existsSync(join(s.folder, name))),
  ).toEqual([true, true, true]);
});

test('add takes a person’s key from the database, from an argument, or from the person’s own key file', async () => {
  await begun();
  const { keys } = read().persons.ada!;
  await jsonOf('add', 'ada', '--right', 'approve', '--right', 'break_glass', '--tenant', 'default');
  expect(read().persons.ada).toEqual({
    tenants: ['default'],
    rights: ['approve', 'break_glass'],
    keys,
  });

  const next = newKey('ada');
  await jsonOf('add', 'ada', '--key-file', s.file('next.key', next));
  const cleo = principal(newKey('cleo')).publicKey;
  await jsonOf('add', 'cleo', '--public-key', cleo);
  expect(read().persons.ada?.keys.map(({ public_key }) => public_key)).toEqual([
    publicKeyOf('ada'),
    principal(next).publicKey,
  ]);
  expect(read().persons.cleo).toMatchObject({
    tenants: ['*'],
    rights: ['approve'],
    keys: [{ public_key: cleo }],
  });

  expect(await jsonOf('add', 'cleo', '--public-key', cleo)).toMatchObject({ changed: false });
  expect(readFileSync(path(), 'utf8')).not.toContain('writ_key_');
});

test.each<[string, string[], RegExp]>([
  [
    'a key that is no point',
    ['cleo', '--public-key', 'ff'.repeat(32)],
    /not an Ed25519 public key/,
  ],
  [
    'a key that anybody can sign with',
    ['cleo', '--public-key', `01${'00'.repeat(31)}`],
    /not an Ed25519 public key/,
  ],
  ['a person whom the database does not know', ['cleo'], /no person cleo/],
  ['an agent', ['robo'], /no person robo/],
  [
    'a right that the file does not have',
    ['ada', '--right', 'propose'],
    /Rights are approve and break_glass/,
  ],
])('add refuses %s', async (_, args, words) => {
  await begun();
  const before = readFileSync(path(), 'utf8');
  expect(await run('add', ...args)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(words),
  });
  expect(readFileSync(path(), 'utf8')).toBe(before);
});

test('add refuses the key of another person', async () => {
  await begun();
  expect(await run('add', 'bob', '--key-file', s.keyOf('ada'))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('key of ada, not of bob'),
  });
  expect(await run('add', 'bob', '--public-key', publicKeyOf('ada'))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('persons/ada/keys/0'),
  });
});

test('revoke ends the keys of a person and keeps them in the file', async () => {
  await begun();
  await jsonOf('add', 'ada', '--public-key', principal(newKey('ada')).publicKey);
  const [first, second] = read().persons.ada!.keys;
  await jsonOf(
    'revoke',
    'ada',
    '--key',
    second!.public_key.slice(0, 12),
    '--until',
    '2100-01-01T00:00Z',
  );
  expect(read().persons.ada?.keys).toEqual([first, { ...second, until: '2100-01-01T00:00:00Z' }]);
  await jsonOf('revoke', 'ada', '--compromised-since', '2099-01-01T00:00:00Z');
  expect(read().persons.ada?.keys).toEqual([
    { ...first, compromised_since: '2099-01-01T00:00:00Z' },
    { ...second, until: '2100-01-01T00:00:00Z' },
  ]);
  const { ended } = await jsonOf<{ ended: string[] }>('revoke', 'bob');
  expect(ended).toEqual([publicKeyOf('bob')]);
  expect(Date.parse(read().persons.bob?.keys[0]?.until as string)).toBeLessThanOrEqual(Date.now());

  expect(await run('revoke', 'bob')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has ended already'),
  });
  expect(await run('revoke', 'cleo')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no person cleo'),
  });
  expect(await run('revoke', 'ops', '--key', '0000000000')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no key that begins'),
  });
});

test('revoke lists the open approvals that lose their quorum', async () => {
  await s.people();
  const contract = await s.approved();
  await jsonOf('init');
  const { losses } = await jsonOf<{ losses: object[] }>('revoke', 'ops');
  expect(losses).toEqual([]);
  const { stdout } = await run('revoke', 'ada');
  expect(stdout).toMatch(new RegExp(`${contract.id} +APPROVED +Launch checkout +ada +1 of 2`));
  expect(await jsonOf('revoke', 'bob', '--offline')).toMatchObject({ losses: null });
});

test('check finds what the database knows otherwise', async () => {
  await begun();
  await s.db.query(`update writ_data.principal set disabled_at = now() where principal_id = 'bob'`);
  await s.db.query(
    `update writ_data.principal set public_key = sha256('planted') where principal_id = 'ada'`,
  );
  await s.db.query(
    `update writ_data.principal set rights = '{propose}' where principal_id = 'ops'`,
  );
  expect(await differences()).toEqual([1, ['problem ada', 'problem bob', 'note ops']]);
  const file = read();
  writeFileSync(
    path(),
    JSON.stringify({ ...file, deployment: '00000000-0c3d-4b59-9d7f-0f6f4c1f9a10' }),
  );
  const { code, stdout } = await run('check');
  expect([code, stdout]).toEqual([
    1,
    expect.stringContaining('problem  deployment: The database is deployment'),
  ]);
  expect(await run('check', '--offline')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('It was not compared with a database'),
  });
});

test('renew takes the id of a renewed database, and keeps the former one for verification', async () => {
  await begun();
  const before = read();
  expect(await jsonOf('renew')).toMatchObject({ changed: false, deployment: before.deployment });
  const reason = ['--reason', 'staging, a copy of production'];
  const copy = await writ(['deployment', 'renew', '--yes', ...reason], { env: s.env });
  expect([copy.stderr, copy.stdout]).toEqual(['', expect.stringContaining('`writ trust renew`')]);
  expect(await run('check')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('`writ trust renew` takes the new id'),
  });
  const renewed = await run('renew');
  expect([renewed.stderr, renewed.stdout]).toEqual([
    '',
    expect.stringContaining(`approved for ${before.deployment} counts for verification only`),
  ]);
  const [{ id, since } = {}] = await s.db.query(
    'select deployment_id as id, since from writ.deployment',
  );
  expect(read()).toEqual({
    ...before,
    deployment: id,
    former_deployments: [{ deployment: before.deployment, until: (since as Date).toISOString() }],
  });
  expect(await jsonOf('renew')).toMatchObject({ changed: false, deployment: id });
});

test('check names the field that is wrong', async () => {
  await begun();
  writeFileSync(path(), JSON.stringify({ ...read(), quorum: { low: 1, medium: 1, high: 2 } }));
  expect(await run('check')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('writ.trust.json: quorum/critical: It is missing.'),
  });
  expect(await run('check', '--file', 'none.json')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no trust file at none.json'),
  });
});
