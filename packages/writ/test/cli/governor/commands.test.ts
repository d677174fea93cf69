/** The commands of governors, by processes alone, as people and scripts run them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Receipt } from '../../../src/ledger/receipt.js';
import { eventually, fixture, json, start, writ } from '../run.js';
import { policy, scene } from './scene.js';

const s = scene();

/** Each is a dozen processes or more, one after the other. */
const longest = 120_000;

test(
  'from nothing to an action that a signal has brought about, and a person who asks for another',
  async () => {
    const file = s.file('policy.yaml', policy);
    expect((await s.run('governor', 'list')).stdout).toContain('No governors yet.');

    // A policy is shown as what it changes before it is published; a script says --yes.
    const seen = await s.run('governor', 'policy', 'publish', file, 'acme');
    expect([seen.code, seen.stdout]).toEqual([
      1,
      expect.stringContaining('+ when error_rate: above 0.05'),
    ]);
    expect(seen.stdout).toContain('There is no principal governor that could have flags:write');
    expect(seen.stderr).toContain('nothing was done');
    expect(await s.json<unknown[]>('governor', 'list')).toEqual([]);
    await s.run(
      'principals',
      'add',
      'governor',
      '--kind',
      'service',
      '--permission',
      'flags:write',
      '--key-file',
      join(s.folder, 'g.key'),
    );
    expect(await s.json('governor', 'policy', 'publish', file, 'acme', '--yes')).toMatchObject({
      published: true,
      version: 1,
      missing_permissions: [],
    });
    expect(await s.json('governor', 'policy', 'publish', file, 'acme', '--yes')).toMatchObject({
      published: false,
      version: 1,
      changes: [],
    });

    // Nobody drives it yet, and the tenant is entitled to nothing.
    const none = await s.run('governor', 'entitlement', 'show', 'acme');
    expect([none.code, none.stderr]).toEqual([
      1,
      expect.stringMatching(/no entitlement[\s\S]*\(acme\)[\s\S]*entitlement set TENANT/),
    ]);
    const set = await s.run(
      'governor',
      'entitlement',
      'set',
      'acme',
      '--tier',
      'starter',
      '--expires',
      '30d',
    );
    expect([set.code, set.stdout]).toEqual([
      0,
      expect.stringMatching(/status +ACTIVE\ntier +starter\nquota +0 of 500 used/),
    ]);
    expect(
      (await s.run('governor', 'signal', 'acme', '--type', 'error_rate', '--value', '0')).stdout,
    ).toMatch(/^Signal 1 is taken; nothing is decided yet\./);

    // A worker with its actions.
    const worker = start(['worker', fixture('governor/actions.mjs'), '--no-governance'], {
      env: { ...s.env, FLAGS: s.folder },
    });
    try {
      await worker.saying(/Working on governors \(disable_flag, enable_flag among them\) as/);
      const governor = await s.app.governors.find({ tenant: 'acme', sku: 'default' });
      await eventually(async () => (await governor.get()).state === 'stable');
      const watch = s.start('governor', 'watch', 'acme', '--after', '0');
      await watch.saying(/boot_start +begins, driven by/);
      const over = () =>
        s.run(
          'governor',
          'signal',
          'acme',
          '--type',
          'error_rate',
          '--value',
          '0.2',
          '--severity',
          'HIGH',
          '--id',
          'one',
        );
      // On a slow machine it is only taken at first, and whoever sends it again hears what was
      // decided.
      let said = await over();
      while (said.code === 0 && /^Signal 2 is taken; nothing is decided yet\./m.test(said.stdout))
        said = await over();
      expect([said.code, said.stdout]).toEqual([
        0,
        expect.stringMatching(/signal_received +error_rate 0\.2 is past 0\.05 \(HIGH, custom\)\n$/),
      ]);
      const again = await s.json(
        'governor',
        'signal',
        'acme',
        '--type',
        'error_rate',
        '--value',
        '0.2',
        '--id',
        'one',
      );
      expect(again).toMatchObject({ status: 'decided', duplicate: true, arrival_seq: 2 });
      await watch.saying(/action_attempted +disable_flag of checkout with percent=50, attempt 1/);
      await watch.saying(/action_succeeded +disable_flag is done/);
      expect(readFileSync(join(s.folder, 'checkout'), 'utf8')).toBe('50');

      const asked = await s.json(
        'governor',
        'act',
        'acme',
        'disable_flag',
        '--param',
        'percent=80',
      );
      expect(asked).toMatchObject({
        action_type: 'disable_flag',
        action_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      await watch.saying(/with percent=80, attempt 1, within 5\.0 s, asked for by olga/);
      watch.kill('SIGINT');
      expect((await watch.ended).code).toBe(0);

      const shown = await s.run('governor', 'show', 'acme');
      expect(shown.stdout).toMatch(
        /^acme {2}\w+ for .*\n[\s\S]*policy +error-budget v1\nsignals +2\n[\s\S]*actions +498 of 500 left\n/,
      );
      expect(shown.stdout).toMatch(/Last receipts\n[\s\S]*action_attempted/);
      expect(await s.json('governor', 'show', 'acme', '--receipts', '2')).toMatchObject({
        tenant_id: 'acme',
        policy: { version: 1 },
        last_receipts: [{}, {}],
      });
    } finally {
      worker.kill('SIGTERM');
      expect((await worker.ended).code).toBe(0);
    }
  },
  longest,
);

test(
  'policies change version by version, are tried out in shadow, and are withdrawn',
  async () => {
    const governor = await s.governed();
    const file = s.file(
      'next.json',
      JSON.stringify({ policy_id: 'error-budget', when: { error_rate: { above: 0.1 } } }),
    );
    const published = await s.run(
      'governor',
      'policy',
      'publish',
      file,
      'acme',
      '--shadow',
      '--yes',
    );
    expect(published.stdout).toMatch(/^error-budget for acme, against version 1:\n/);
    expect(published.stdout).toMatch(
      /~ when error_rate\n +was +above 0\.05[\s\S]*will be above 0\.1: only observed\n/,
    );
    expect(published.stdout).toMatch(/- undo of disable_flag: enable_flag of checkout/);
    expect(published.stdout).toMatch(/Published as version 2, in shadow\./);
    const module = s.file(
      'policy.mjs',
      `export default { id: 'Error-Budget.2', when: { error_rate: { above: 0.1 } } };`,
    );
    expect((await s.run('governor', 'policy', 'publish', module, 'acme', '--yes')).stdout).toMatch(
      /it will act, and not only be tried out\n.*version 3\./,
    );
    expect(
      (await s.run('governor', 'policy', 'show', 'acme', '--policy-version', '1')).stdout,
    ).toMatch(/^error-budget v1, published by olga at .*\n[\s\S]*action disable_flag/);
    const kept = await s.run('governor', 'policy', 'withdraw', 'acme');
    expect([kept.code, kept.stderr]).toEqual([1, expect.stringContaining('nothing was done')]);
    expect((await s.run('governor', 'policy', 'withdraw', 'acme', '--yes')).stdout).toContain(
      'Withdrawn. acme acts on nothing',
    );
    expect((await s.run('governor', 'policy', 'show', 'acme')).stdout).toMatch(
      /^Error-Budget\.2 v4, withdrawn by olga/,
    );
    await eventually(async () => (await governor.get()).policy_version === null);
    expect((await s.run('governor', 'list')).stdout).toMatch(
      /acme +default +stable +\S+ \S+ +none /,
    );
  },
  longest,
);

test(
  'a watch gives JSON, a receipt per line, and ends by itself; generated signals are the same for the same number',
  async () => {
    const governor = await s.governed();
    const before = Number((await governor.get()).receipts);
    const sent = await s.json<{
      sent: number;
      duplicates: number;
      answers: Record<string, number>;
    }>('governor', 'signal', 'acme', '--generate', '7', '--n', '60');
    expect(sent).toMatchObject({ sent: 60, duplicates: 0 });
    expect(Object.values(sent.answers).reduce((sum, n) => sum + n)).toBe(60);
    expect(
      await s.json('governor', 'signal', 'acme', '--generate', '7', '--n', '60'),
    ).toMatchObject({ sent: 60, duplicates: 60 });
    await eventually(async () => Number((await governor.get()).in_mailbox) === 0);
    const { code, stdout } = await s.run(
      'governor',
      'watch',
      'acme',
      '--json',
      '--after',
      String(before),
      '--for',
      '2s',
    );
    expect(code).toBe(0);
    const receipts = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Receipt);
    expect(receipts.map(({ context }) => context.stream_seq)).toEqual(
      receipts.map((_, n) => before + 1 + n),
    );
    expect(receipts.some(({ reason }) => reason === 'threshold_exceeded')).toBe(true);
  },
  longest,
);

test(
  'a cause that needs a person is shown with what to do, and gone when somebody has seen to it',
  async () => {
    const governor = await s.governed();
    const crash = {
      kind: 'crash',
      event: 'signal',
      crashes: 10,
      window_ms: 60_000,
      error_message: 'broken',
    };
    await s.db.query(
      'select writ_data.put_mail(array[$1]::uuid[], array[$2]::jsonb[], writ.now())',
      [governor.id, JSON.stringify(crash)],
    );
    await eventually(async () => (await governor.get()).state === 'degraded');
    const shown = await s.run('governor', 'show', 'acme');
    expect(shown.stdout).toMatch(
      /✗ crash: an event crashed it too often, and was set aside\n +→ Put right .*`writ governor ack acme crash --reason TEXT`/,
    );
    expect((await s.run('governor', 'list')).stdout).toMatch(/acme +default +degraded \(crash\) /);
    const { findings } = JSON.parse((await writ(['doctor', '--json'], { env: s.env })).stdout) as {
      findings: { check: string; level: string; remedy?: string }[];
    };
    expect(findings.find(({ check }) => check === 'governors')).toMatchObject({
      level: 'error',
      remedy: expect.stringContaining('writ governor ack acme crash'),
    });
    expect(findings.find(({ check }) => check === 'driving')).toMatchObject({ level: 'ok' });
    const acked = await s.run(
      'governor',
      'ack',
      'acme',
      'crash',
      '--reason',
      'the release was taken back',
    );
    expect([acked.code, acked.stdout]).toEqual([0, expect.stringContaining('crash is seen to')]);
    await eventually(async () => ((await governor.get()).causes as string[]).length === 0);
  },
  longest,
);

test('what somebody may have done by governors is added, changed, taken away and listed', async () => {
  const put = (...args: string[]) => writ(['principals', ...args], { env: s.env });
  await put(
    'add',
    'governor',
    '--kind',
    'service',
    '--permission',
    'flags:write',
    '--permission',
    'run.services.update',
  );
  const of = async () =>
    (
      await json<{ principal_id: string; permissions: string[]; rights: string[] }[]>(
        ['principals', 'list'],
        { env: s.env },
      )
    ).find(({ principal_id }) => principal_id === 'governor');
  expect(await of()).toMatchObject({
    permissions: ['flags:write', 'run.services.update'],
    rights: ['propose', 'activate', 'report'],
  });
  expect((await put('list')).stdout).toMatch(
    /PERMISSIONS[\s\S]*governor +service .*flags:write, run\.services\.update/,
  );
  await put('put', 'governor', '--right', 'report');
  expect(await of()).toMatchObject({
    permissions: ['flags:write', 'run.services.update'],
    rights: ['report'],
  });
  await put('put', 'governor', '--permission', 'flags:read');
  expect(await of()).toMatchObject({ permissions: ['flags:read'] });
  await put('put', 'governor', '--no-permission');
  expect(await of()).toMatchObject({ permissions: [] });
  const wrong = await put('put', 'governor', '--permission', 'two words');
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('permissions_are_names')]);
});
