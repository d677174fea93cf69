/**
 * `writ ledger verify --trust`: an auditor with a trust file repeats every judgement of the
 * appliers, from an export.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PermanentFailure } from '../../../src/errors/index.js';
import { configure, param } from '../../../src/governance/steps.js';
import { keyOfSeed, privateKeyText, publicKeyText } from '../../../src/ledger/note.js';
import { outside } from '../../governance/outside.js';
import { scene } from '../../governance/scene.js';
import { writ } from '../run.js';

const signer = keyOfSeed('acme.example/test', new Uint8Array(32).fill(7));
const s = scene();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-trust-cli-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const nowhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' };
const verify = (args: readonly string[], env: Record<string, string> = nowhere) =>
  writ(['ledger', 'verify', ...args], { env, cwd: folder });

/** The trust file of a team that has these persons. */
async function trust(file: string, names: readonly string[], more: object = {}): Promise<void> {
  const [own] = await s.sql<{ deployment_id: string }>('select deployment_id from writ.deployment');
  const people = await s.sql<{ id: string; key: string }>(
    `select principal_id as id, encode(public_key, 'hex') as key from writ_data.principal where principal_id = any ($1)`,
    [names],
  );
  const personOf = (key: string) => ({
    ...{ tenants: ['*'], rights: ['approve', 'break_glass'] },
    keys: [{ scheme: 'ed25519', public_key: key, since: '2026-01-01T00:00:00Z' }],
  });
  const document = {
    ...{
      writ: 'trust 1',
      deployment: own?.deployment_id,
      quorum: { low: 1, medium: 1, high: 2, critical: 2 },
    },
    persons: Object.fromEntries(people.map(({ id, key }) => [id, personOf(key)])),
    ...{ risk_floors: [], ledger_keys: [publicKeyText(signer)] },
    ...more,
  };
  writeFileSync(join(folder, file), JSON.stringify(document));
}
const sign = async () => {
  await s.sql(`select writ.fn_ledger_tick('test')`);
  await s.writ.ledger.checkpoint({ key: privateKeyText(signer), places: [] });
};

test('what persons of the file approved verifies offline; what they did not, and values of another hand, are findings', {
  timeout: 90_000,
}, async () => {
  const rollout = outside({ a: 1, b: 1 });
  const worker = await s.work([rollout.flag]);
  const { contract } = await s.done();
  const template = await s.approved({
    ...{ title: 'Limits', scope: ['limits'], steps: [configure('limits', 'max', param('max'))] },
    template: {
      params: { max: { min: 1, max: 500 } },
      pre: { 'limits#max': { min: 0, max: 1_000 } },
      activations: 3,
      expiresIn: '1d',
    },
  });
  const instance = await template.instantiate({ max: 400 }, { as: s.keys.service });
  await instance.finished({ timeoutMs: 20_000 });
  // Its third step fails, and the first two are undone.
  rollout.trouble.apply = (key) => {
    if (key === 'b') throw new PermanentFailure('not now');
  };
  const steps = [
    rollout.flag({ key: 'a', percent: 10 }),
    configure('limits', 'max', 150),
    rollout.flag({ key: 'b', percent: 10 }),
  ];
  const undone = await s.done({ scope: ['limits', 'flag:a', 'flag:b'], steps });
  expect(undone.end).toMatchObject({ status: 'ROLLED_BACK' });
  await worker.stop();
  await sign();
  await s.writ.ledger.export(join(folder, 'export'));
  await trust('writ.trust.json', ['ada', 'bob']);
  await trust('other.trust.json', ['bob']);

  const known = await verify(['export', '--trust', 'writ.trust.json']);
  expect([known.stderr, known.stdout]).toEqual([
    '',
    expect.stringMatching(
      /^ {2}governance: 8 changes of 3 contracts, judged again by 3 signatures; 4 values compared$/m,
    ),
  ]);
  expect(known.code).toBe(0);
  const other = await verify(['export', '--trust', 'other.trust.json']);
  expect([other.code, other.stdout]).toEqual([
    1,
    expect.stringContaining(`(unapproved:${contract.id})`),
  ]);
  expect((await verify(['export', '--trust', 'database'])).code).toBe(2);

  // A change behind the checkpoint is no finding; one that no receipt is about is.
  const database = { DATABASE_URL: s.db.connectionString };
  // Values outside are compared by whoever can read them. The undo has restored this one to 1.
  const types = ['--steps', fileURLToPath(new URL('../governance/flag.mjs', import.meta.url))];
  expect((await verify(['export', ...types])).code).toBe(2);
  for (const [value, found] of [
    ['1', undefined],
    ['7', '(value_differs:default:flag:a)'],
  ] as const) {
    writeFileSync(join(folder, 'a'), value);
    writeFileSync(join(folder, 'b'), '1');
    const online = await verify(['--trust', 'writ.trust.json', ...types], {
      ...database,
      FLAGS: folder,
    });
    expect([online.code, online.stdout]).toEqual([
      found === undefined ? 0 : 1,
      expect.stringContaining(found ?? 'values compared'),
    ]);
  }
  await s.sql(`update writ_data.configuration set value = '31337' where key = 'burst'`);
  // No contract has ever changed this one; it was put.
  await s.sql(
    `update writ_data.capability set lifecycle = 'PREVIEW' where capability_name = 'search'`,
  );
  await s.sql(`insert into writ_data.configuration (tenant_id, scope, key, value, version, updated_by, updated_at)
    values ('default', 'limits', 'planted', '1', 99, 'mallory', now())`);
  await s.writ.capabilities.put(
    [{ scope: 'fresh', owner_capability: 'checkout', values: { a: 1 } }],
    { as: s.keys.ops },
  );
  const changed = await verify(['--trust', 'writ.trust.json'], database);
  expect([changed.code, changed.stdout]).toEqual([
    1,
    expect.stringMatching(/\(value_differs:default:limits#burst\)/),
  ]);
  expect(changed.stdout).toContain('(value_differs:default:search)');
  expect(changed.stdout).toContain('(value_differs:default:limits#planted)');
  expect(changed.stdout.match(/✗/g)).toHaveLength(4);
});

test('a copy with an id of its own verifies with a trust file that knows the former one', {
  timeout: 90_000,
}, async () => {
  const worker = await s.work();
  const { contract } = await s.done();
  await worker.stop();
  const { deployment_id: former } = await s.writ.deployment.get();
  const reason = 'staging, a copy of production';
  await s.writ.deployment.renew({ reason, replaces: former });
  const { since } = await s.writ.deployment.get();
  await sign();
  await s.writ.ledger.export(join(folder, 'export'));
  const until = new Date(since).toISOString();
  const persons = ['ada', 'bob'];
  await trust('now.json', persons);
  await trust('both.json', persons, { former_deployments: [{ deployment: former, until }] });
  const early = { deployment: former, until: '2026-01-01T00:00:00Z' };
  await trust('early.json', persons, { former_deployments: [early] });

  const both = await verify(['export', '--trust', 'both.json']);
  expect([both.code, both.stdout]).toEqual([0, expect.stringContaining('of 1 contract, judged')]);
  for (const file of ['now.json', 'early.json']) {
    const { code, stdout } = await verify(['export', '--trust', file]);
    expect([code, stdout]).toEqual([1, expect.stringContaining(`(unapproved:${contract.id})`)]);
  }

  // Without a key the export vouches for itself.
  const former_deployments = [{ deployment: former, until }];
  await trust('bare.json', persons, { former_deployments, ledger_keys: [] });
  const bare = await verify(['export', '--trust', 'bare.json']);
  expect([bare.code, bare.stdout]).toEqual([1, expect.stringContaining('(keys_missing)')]);
  const given = [
    ['--waive', 'keys_missing'],
    ['--key', publicKeyText(signer)],
  ];
  for (const args of given)
    expect(await verify(['export', '--trust', 'bare.json', ...args])).toMatchObject({ code: 0 });
});
