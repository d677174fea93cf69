/** What people see when they use the commands of governors in another way than they are meant. */
import { beforeEach, describe, expect, test } from 'vitest';
import { writ } from '../run.js';
import { policy, scene } from './scene.js';

const s = scene();

/** Exit codes: 1 refused, 2 wrong usage. */
const cases: readonly [what: string, args: readonly string[], code: number, says: RegExp][] = [
  [
    'show: a governor that is not there, which is not made',
    ['show', 'acmee'],
    1,
    /There is no governor for this tenant and product\. \(acmee default\)/,
  ],
  [
    'watch: a time without a unit',
    ['watch', 'acme', '--for', '10'],
    2,
    /Write a number with a unit/,
  ],
  ['watch: another product', ['watch', 'acme', 'web'], 1, /There is no governor.*\(acme web\)/],
  [
    'signal: neither a type nor a number',
    ['signal', 'acme'],
    2,
    /Say what was observed, or generate signals/,
  ],
  [
    'signal: a value that is no number',
    ['signal', 'acme', '--type', 'a', '--value', 'high'],
    2,
    /It is a number, such as 82/,
  ],
  [
    'signal: a type that cannot be one',
    ['signal', 'acme', '--type', 'CPU load'],
    1,
    /A value of the signal cannot be taken\..*type has/,
  ],
  [
    'signal: generated ones have values of their own',
    ['signal', 'acme', '--generate', '1', '--value', '2'],
    2,
    /values of their own/,
  ],
  [
    'policy publish: a file that is not there',
    ['policy', 'publish', 'none.yaml', 'acme'],
    2,
    /There is no file at none\.yaml/,
  ],
  [
    'policy show: a version that is not there',
    ['policy', 'show', 'acme', '--policy-version', '9'],
    1,
    /policy/i,
  ],
  [
    'policy withdraw: of nobody',
    ['policy', 'withdraw', 'nobody', '--yes'],
    1,
    /There is no governor/,
  ],
  ['entitlement set: nothing', ['entitlement', 'set', 'acme'], 2, /Nothing is to be set/],
  [
    'entitlement set: a quota that is none',
    ['entitlement', 'set', 'acme', '--quota', '-5'],
    2,
    /a number of actions per month, or `unlimited`/,
  ],
  [
    'entitlement set: an end that is none',
    ['entitlement', 'set', 'acme', '--expires', 'soon'],
    2,
    /Write a time/,
  ],
  [
    'act: an action that the policy does not have',
    ['act', 'acme', 'reboot'],
    1,
    /does not allow this action\. \(the policy has no action reboot; it has disable_flag\)/,
  ],
  [
    'act: a parameter without a value',
    ['act', 'acme', 'disable_flag', '--param', 'percent'],
    2,
    /Write NAME=VALUE/,
  ],
  [
    'act: a parameter beyond its bounds',
    ['act', 'acme', 'disable_flag', '--param', 'percent=101'],
    1,
    /disable_flag with percent=101: the policy allows 0 to 100/,
  ],
  [
    'act: a parameter that it does not have',
    ['act', 'acme', 'disable_flag', '--param', 'size=1'],
    1,
    /the policy has no such parameter/,
  ],
  ['act: an id that is none', ['act', 'acme', 'disable_flag', '--id', '7'], 2, /is a UUID/],
  [
    'ack: a reason that says nothing',
    ['ack', 'acme', 'crash', '--reason', 'ok'],
    1,
    /ten characters/,
  ],
  [
    'ack: a cause that does not stand',
    ['ack', 'acme', 'crash', '--reason', 'the release was taken back'],
    1,
    /not degraded for this cause/,
  ],
];

describe('on a database with a governor', () => {
  beforeEach(async () => {
    await s.governed();
  });

  test('each says what is wrong and what to do, on standard error, with its exit code', {
    timeout: 180_000,
  }, async () => {
    for (const [what, args, code, says] of cases) {
      const ended = await s.run('governor', ...args);
      expect([what, ended.code, ended.stdout], `${what}: ${ended.stderr}`).toEqual([
        what,
        code,
        '',
      ]);
      expect(ended.stderr, what).toMatch(says);
    }
    expect(await s.json<unknown[]>('governor', 'list')).toHaveLength(1);
  });

  test('whoever has no key, or may not, is told so, and nothing is changed', {
    timeout: 60_000,
  }, async () => {
    const file = s.file('other.yaml', policy.replace('0.05', '0.5'));
    const robo = await s.app.principals.add({ id: 'robo', kind: 'service' });
    const without = { DATABASE_URL: s.db.connectionString };
    const nobody = await writ(['governor', 'policy', 'publish', file, 'acme', '--yes'], {
      env: without,
    });
    expect([nobody.code, nobody.stderr]).toEqual([2, expect.stringContaining('No key is given')]);
    const may = await writ(['governor', 'policy', 'publish', file, 'acme', '--yes'], {
      env: { ...without, WRIT_KEY: robo },
    });
    expect(may.code).toBe(1);
    const ack = await writ(['governor', 'ack', 'acme', 'crash', '--reason', 'ten characters'], {
      env: { ...without, WRIT_KEY: robo },
    });
    expect(ack.code).toBe(1);
    expect(await s.json('governor', 'policy', 'show', 'acme')).toMatchObject({ version: 1 });
  });
});

test('a policy is checked without a database, and what is wrong with it is named by its place', {
  timeout: 60_000,
}, async () => {
  const env = { DATABASE_URL: 'postgres://127.0.0.1:1/none' };
  const check = (file: string) => writ(['governor', 'policy', 'check', file], { env });
  const good = await check(s.file('good.yaml', policy));
  expect([good.code, good.stdout]).toEqual([
    0,
    expect.stringContaining('error-budget can be published. It needs flags:write.'),
  ]);
  const uninverted = await check(s.file('a.yaml', policy.replace('  inverse: enable_flag\n', '')));
  expect([uninverted.code, uninverted.stderr]).toEqual([
    1,
    expect.stringMatching(/then\.inverse: disable_flag names none/),
  ]);
  const misspelt = await check(s.file('b.yaml', policy.replace('cooldown', 'cooldwn')));
  expect([misspelt.code, misspelt.stderr]).toEqual([1, expect.stringContaining('cooldwn')]);
  const list = await check(s.file('c.yaml', '- 1'));
  expect([list.code, list.stderr]).toEqual([2, expect.stringContaining('holds no policy')]);
  const module = await check(s.file('d.mjs', 'export const policy = 1;'));
  expect([module.code, module.stderr]).toEqual([
    2,
    expect.stringContaining('has no default export'),
  ]);
  const yaml = await check(s.file('e.yaml', 'a: ['));
  expect([yaml.code, yaml.stderr]).toEqual([2, expect.stringContaining('is not YAML')]);
});
