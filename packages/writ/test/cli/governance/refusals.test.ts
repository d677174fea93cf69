/**
 * What people see when it does not go as they meant: no key, a wrong file, somebody who may not,
 * something that has changed.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Preview } from '../../../src/index.js';
import { json, start, writ } from '../run.js';
import { launch, scene } from './scene.js';

// Many of these are a dozen processes, one after the other.
vi.setConfig({ testTimeout: 90_000 });

const s = scene();
beforeEach(() => s.people());

const nobody = '01999999-0000-7000-8000-000000000000';
const run = (...args: string[]) => writ(args, { env: s.env });

test('without a key nobody acts, and it says how to give one; a key is not an argument and is never printed', async () => {
  for (const args of [
    ['contracts', 'propose', s.file('launch.yaml', launch)],
    ['contracts', 'approve', nobody],
    ['changes', 'cancel', nobody, '--reason', 'x'],
    ['capabilities', 'put', 'x'],
  ]) {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(
      /No key is given.*\n.*--key-file PATH, or set WRIT_KEY; a key is never an argument/,
    );
  }
  expect(await run('contracts', 'approve', nobody, '--key', 'writ_key_ada_00')).toMatchObject({
    code: 2,
  });
  const wrong = `writ_key_ada_${'0'.repeat(64)}`;
  for (const flags of [[], ['--debug'], ['--json']]) {
    const refused = await writ(['contracts', 'propose', join(s.folder, 'launch.yaml'), ...flags], {
      env: { ...s.env, WRIT_KEY: wrong },
    });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('No principal is known by this key'),
    ]);
    expect(refused.stderr).not.toContain('0'.repeat(64));
  }
  const notOne = await writ(['contracts', 'preview', nobody], {
    env: { ...s.env, WRIT_KEY: 'hunter2' },
  });
  expect([notOne.code, notOne.stderr]).toEqual([
    1,
    expect.stringContaining('it begins with writ_key_'),
  ]);
  expect(
    (await run('contracts', 'preview', nobody, '--key-file', join(s.folder, 'gone'))).stderr,
  ).toContain('There is no key file at');
});

test('an agent that tries to approve, whoever asked for it, and one who has seen something else', async () => {
  const { id } = await s.proposed();
  const { hash } = await s.jsonAs<Preview>('ada', 'contracts', 'preview', id);
  const approve = (who: 'robo' | 'ops' | 'ada', seen = hash) =>
    s.as(who, 'contracts', 'approve', id, '--yes', '--hash', seen);
  const agent = await approve('robo');
  expect([agent.code, agent.stderr]).toEqual([
    1,
    expect.stringMatching(
      /^writ: An agent proposes and previews; it does nothing else\..*\n {6}Have a person approve/,
    ),
  ]);
  expect((await approve('ops')).stderr).toContain('Whoever wants a change does not approve it.');
  const other = await approve(
    'ada',
    hash.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
  );
  expect([other.code, other.stderr]).toEqual([
    1,
    expect.stringContaining('What was approved is not what would be done.'),
  ]);
  expect(await json(['contracts', 'show', id], { env: s.env })).toMatchObject({
    status: 'ELIGIBLE',
    approved_by: [],
    reviews: [],
  });
});

test('where nobody can be asked, nothing is approved or activated, and --yes alone is not enough', async () => {
  const { id } = await s.proposed();
  const asked = await s.as('ada', 'contracts', 'approve', id);
  expect([asked.code, asked.stdout, asked.stderr]).toEqual([
    1,
    expect.stringContaining('100 → 200'),
    expect.stringMatching(/nothing was done\.\n.*--yes --hash [0-9a-f]{64}\n$/),
  ]);
  const blind = await s.as('ada', 'contracts', 'approve', id, '--yes');
  expect([blind.code, blind.stdout, blind.stderr]).toEqual([
    2,
    '',
    expect.stringContaining('--yes needs --hash'),
  ]);
  const reason = ['--break-glass', 'the shop is down'];
  const glass = await s.as('ops', 'contracts', 'activate', id, '--yes', '--json', ...reason);
  expect([glass.code, glass.stderr]).toEqual([2, expect.stringContaining('--yes needs --hash')]);
  const early = await s.as('deployer', 'contracts', 'activate', id, '--yes');
  expect([early.code, early.stderr]).toEqual([
    1,
    expect.stringContaining('It is ELIGIBLE: not enough have approved it.'),
  ]);
  expect((await s.as('deployer', 'contracts', 'activate', id)).stderr).toContain(
    'nothing was done',
  );
});

describe('a file', () => {
  test.each([
    ['that is not there', undefined, 'There is no file at'],
    ['that is not YAML', 'title: [', 'is not YAML'],
    ['with a key twice', 'title: a\ntitle: b\n', 'is not YAML: Map keys must be unique'],
    ['without a contract', '- 1\n', 'holds no contract'],
    ['without a title', 'scope: []\nsteps: []\n', 'has no title'],
    ['without a scope', 'title: x\nsteps: []\n', 'has no scope'],
    ['with something misspelt', `${launch}riks: low\n`, 'says riks, which nobody reads'],
  ])('%s', async (_, text, words) => {
    const path = text === undefined ? join(s.folder, 'gone.yaml') : s.file('contract.yaml', text);
    const { code, stdout, stderr } = await s.as('robo', 'contracts', 'propose', path);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(words)]);
  });

  test('with a step that cannot be: the step is named, by whoever finds it', async () => {
    const propose = (step: string) =>
      s.as(
        'robo',
        'contracts',
        'propose',
        s.file('contract.yaml', `title: x\nscope: [limits]\nsteps: [${step}]\n`),
      );
    const misspelt = await propose(
      '{ type: configuration_update, scope: limits, key: max, new_vale: 1 }',
    );
    expect([misspelt.code, misspelt.stderr]).toEqual([
      1,
      expect.stringContaining('Change 1, configuration_update: it has no new_value'),
    ]);
    expect(
      (await propose('{ type: capability_enable, capability_name: search }')).stderr,
    ).toContain('A step goes beyond the scope');
    expect((await propose('{ type: flag, value: 1 }')).stderr).toContain(
      'has no type that is one: flag',
    );
    expect((await run('contracts', 'list')).stdout).toContain('No contracts yet.');
  });
});

test('a module without a proposal says what it should export', async () => {
  const path = s.file('empty.mjs', 'export const x = 1;\n');
  expect((await s.as('robo', 'contracts', 'propose', path)).stderr).toContain(
    'export default { title, scope, steps }',
  );
});

test('what hides itself in a title or a value is shown before somebody approves it', async () => {
  const title = 'Harmless\\u001b[8m hidden \\u202egnorts';
  const path = s.file(
    'hidden.json',
    `{"title": "${title}", "scope": ["limits"], "steps": [{"type": "configuration_update", "scope": "limits", "key": "max", "new_value": "1\\u200b0"}]}`,
  );
  const id = String((await s.jsonAs('robo', 'contracts', 'propose', path)).contract_id);
  const { stdout } = await writ(['contracts', 'preview', id, '--key-file', s.keyOf('ada')], {
    env: { ...s.env, FORCE_COLOR: '1' },
  });
  expect(stdout).toContain('Harmless\\u{1b}[8m hidden \\u{202e}gnorts');
  expect(stdout).toContain('"1\\u{200b}0"');
});

test('health, freezes, incidents and signals stand in the way, and say so', async () => {
  const { id } = await s.approved();
  const frozen = await s.as('ops', 'freeze', 'on', 'end of the year', '--until', '2h');
  expect(frozen.stdout).toMatch(/Nothing is activated from now on until .* UTC\. `writ freeze off/);
  const refused = await s.as('deployer', 'contracts', 'activate', id, '--yes');
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('Changes are frozen. (end of the year)'),
  ]);
  expect((await run('freeze', 'list')).stdout).toMatch(/frozen +ops +end of the year/);
  expect((await s.as('ops', 'freeze', 'off')).stdout).toBe('Lifted 1 freeze.\n');
  expect((await run('freeze', 'list')).stdout).toBe('Nothing is frozen.\n');

  await s.as('ops', 'signals', 'record', 'checkout', 'BLOCKED', '--reason', 'it burns');
  const sick = await run('health');
  expect([sick.code, sick.stdout]).toEqual([
    1,
    expect.stringMatching(/checkout +UNHEALTHY +blocked: it burns/),
  ]);
  const other = await s.as(
    'robo',
    'contracts',
    'propose',
    s.file('other.yaml', launch.replace('200', '300')),
  );
  expect([other.code, other.stdout]).toEqual([
    0,
    expect.stringMatching(/VALIDATED\.\n[\s\S]*! Not eligible: .*checkout is UNHEALTHY \(E-104\)/),
  ]);
  await s.as('ops', 'signals', 'record', 'checkout', 'CLEAN', '--reason', 'it is out');
  expect((await run('signals', 'list')).stdout).toMatch(/checkout +MANUAL +CLEAN +it is out/);

  const opened = await s.jsonAs(
    'ops',
    'incidents',
    'open',
    'slow since noon',
    '--capability',
    'checkout',
  );
  expect((await run('incidents', 'list')).stdout).toMatch(/P2 +checkout .*slow since noon/);
  const short = await s.as(
    'ops',
    'incidents',
    'resolve',
    String(opened.incidentId),
    '--resolution',
    'done',
  );
  expect([short.code, short.stderr]).toEqual([
    1,
    expect.stringContaining('more than ten characters'),
  ]);
  await s.as(
    'ops',
    'incidents',
    'resolve',
    String(opened.incidentId),
    '--resolution',
    'the index is back',
  );
  expect((await run('health')).code).toBe(0);
});

test('a job that has not begun is cancelled with a reason; after that it is over', async () => {
  const { id } = await s.approved();
  const { job_id: jobId } = await s.jsonAs('deployer', 'contracts', 'activate', id, '--yes');
  const watching = start(['changes', 'watch', String(jobId)], { env: s.env });
  await watching.saying(/PENDING/);
  expect(
    (await s.as('robo', 'changes', 'cancel', String(jobId), '--reason', 'stop')).stderr,
  ).toContain('An agent proposes and previews');
  expect(
    (await s.as('ada', 'changes', 'cancel', String(jobId), '--reason', 'not today')).code,
  ).toBe(0);
  const end = await watching.ended;
  expect([end.code, end.stdout]).toEqual([1, expect.stringContaining('✗ CANCELLED: not today')]);
  expect(
    (await s.as('ada', 'changes', 'cancel', String(jobId), '--reason', 'again')).stderr,
  ).toContain('It is CANCELLED.');
  expect((await s.as('ops', 'changes', 'retry-rollback', String(jobId))).stderr).toContain(
    'It is CANCELLED.',
  );
  expect(
    (await s.as('ops', 'changes', 'resolve', String(jobId), 'PASS', '--reason', 'looks fine to me'))
      .code,
  ).toBe(1);
});

test('probes: put, asked, listed, removed; and those who may not', async () => {
  const put = (...args: string[]) => ['probes', 'put', 'up', '--capability', 'checkout', ...args];
  expect((await s.as('ada', ...put('--type', 'sql', '--query', 'select true'))).stderr).toContain(
    'ada is not allowed to operate.',
  );
  expect((await s.as('ops', ...put('--type', 'http'))).stderr).toContain(
    'A probe of type http needs url.',
  );
  expect((await s.as('ops', ...put('--type', 'reported', '--url', 'x'))).stderr).toContain(
    'does not read url',
  );
  expect((await s.as('ops', ...put('--type', 'reported', '--every', '1h'))).code).toBe(0);
  expect((await run('health')).stdout).toMatch(/checkout +UNHEALTHY +probe up: has not answered/);
  expect((await run('probes', 'report', 'up')).stderr).toContain('No key is given');
  expect((await s.as('ada', 'probes', 'report', 'up')).stderr).toContain(
    'ada is not allowed to report.',
  );
  expect(
    (await s.as('deployer', 'probes', 'report', 'up', 'degraded', '--detail', 'slow')).stdout,
  ).toBe('up says DEGRADED.\n');
  expect((await run('probes', 'list')).stdout).toMatch(
    /up +checkout +reported +60 min +DEGRADED +slow/,
  );
  expect((await s.as('deployer', 'probes', 'report', 'down')).stderr).toContain(
    'There is no such probe. (down)',
  );
  await s.as('ops', 'probes', 'remove', 'up');
  expect((await run('probes', 'list')).stdout).toContain('No probes');
});

test('a principal is disabled, gets another key, and a key file is never overwritten', async () => {
  const { id } = await s.proposed();
  expect((await run('principals', 'disable', 'ada')).code).toBe(0);
  expect((await s.as('ada', 'contracts', 'preview', id)).stderr).toContain(
    'No principal is known by this key',
  );
  const kept = await run(
    'principals',
    'put',
    'ada',
    '--enable',
    '--new-key',
    '--key-file',
    s.keyOf('ada'),
  );
  expect([kept.code, kept.stderr]).toEqual([
    1,
    expect.stringContaining('a key is never overwritten'),
  ]);
  const path = join(s.folder, 'new.key');
  expect(
    (await run('principals', 'put', 'ada', '--enable', '--new-key', '--key-file', path)).code,
  ).toBe(0);
  expect((await run('contracts', 'preview', id, '--key-file', path)).code).toBe(0);
  expect((await run('principals', 'disable', 'nemo')).stderr).toContain(
    'There is no principal of this name. (nemo)',
  );
  expect((await run('principals', 'add', 'x', '--kind', 'agent')).stderr).toContain(
    '--on-behalf-of',
  );
  expect(
    (
      await run(
        'principals',
        'add',
        'x',
        '--kind',
        'agent',
        '--on-behalf-of',
        'ops',
        '--right',
        'approve',
      )
    ).stderr,
  ).toMatch(/The principal cannot be so/);
  writeFileSync(path, '');
  expect((await run('contracts', 'preview', nobody, '--key-file', path)).stderr).toContain(
    'holds no key',
  );
});
