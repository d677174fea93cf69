import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseTrustFile, type TrustDocument } from '../../../src/governance/trust/file.js';
import { trustOf } from '../../../src/governance/trust/source.js';
import { keyOfSeed, publicKeyText } from '../../../src/ledger/note.js';
import { keyOf, trustFile } from './signing.js';

const { source: _, sha256: __, ...file } = trustFile();
const key = file.persons.ada!.keys[0]!;

describe('a trust file', () => {
  test('reads as it was written', () => {
    const full: TrustDocument = {
      ...file,
      former_deployments: [{ deployment: file.deployment, until: '2026-01-01T00:00:00.123Z' }],
      risk_floors: [
        { target: 'flag:payments*', risk: 'high' },
        { target: '*', risk: 'low' },
      ],
      ledger_keys: [publicKeyText(keyOfSeed('ledger', new Uint8Array(32).fill(7)))],
    };
    expect(parseTrustFile(JSON.stringify(full, null, 2))).toEqual(full);
  });

  /** The text of the file with the value at a path replaced; undefined removes it. */
  const withValue = (path: string, value: unknown) => {
    const copy = structuredClone(file) as unknown as Record<string, unknown>;
    const parts = path.split('/');
    const parent = parts
      .slice(0, -1)
      .reduce((at, part) => at[part] as Record<string, unknown>, copy);
    parent[parts.at(-1)!] = value;
    return JSON.stringify(copy);
  };
  test.each<[string, unknown, string]>([
    ['writ', 'trust 2', 'writ'],
    ['deployment', undefined, 'deployment'],
    ['deployment', 'production', 'deployment'],
    ['owner', 'ada', 'owner'],
    ['persons', [], 'persons'],
    ['persons/a person', file.persons.ada, 'persons/a person'],
    ['persons/ada', {}, 'persons/ada/tenants'],
    ['persons/ada/tenants', 'default', 'persons/ada/tenants'],
    ['persons/ada/tenants', ['*', 'default'], 'persons/ada/tenants'],
    ['persons/ada/tenants', [''], 'persons/ada/tenants/0'],
    ['persons/ada/rights', ['propose'], 'persons/ada/rights/0'],
    ['persons/ada/right', ['approve'], 'persons/ada/right'],
    ['persons/ada/keys/0/scheme', 'rsa', 'persons/ada/keys/0/scheme'],
    [
      'persons/ada/keys/0/public_key',
      key.public_key.toUpperCase(),
      'persons/ada/keys/0/public_key',
    ],
    ['persons/ada/keys/0/public_key', '00'.repeat(32), 'persons/ada/keys/0/public_key'],
    ['persons/ada/keys/0/public_key', `01${'00'.repeat(31)}`, 'persons/ada/keys/0/public_key'],
    ['persons/ada/keys/0/public_key', 'ff'.repeat(32), 'persons/ada/keys/0/public_key'],
    ['persons/ada/keys/0/since', undefined, 'persons/ada/keys/0/since'],
    ['persons/ada/keys/0/since', '2026-02-30T00:00:00Z', 'persons/ada/keys/0/since'],
    ['persons/ada/keys/0/since', '2026-01-01T00:00:00+02:00', 'persons/ada/keys/0/since'],
    ['persons/ada/keys/0/until', '2025-01-01T00:00:00Z', 'persons/ada/keys/0/until'],
    ['persons/ada/keys/0/compromised_since', 'yesterday', 'persons/ada/keys/0/compromised_since'],
    ['persons/ada/keys/0/compromised', true, 'persons/ada/keys/0/compromised'],
    ['persons/bob/keys/0', key, 'persons/bob/keys/0/public_key'],
    ['persons/ada/keys', [key, key], 'persons/ada/keys/1/public_key'],
    ['quorum/high', 0, 'quorum/high'],
    ['quorum/high', 1.5, 'quorum/high'],
    ['quorum/high', undefined, 'quorum/high'],
    ['quorum/critical', 1, 'quorum/critical'],
    ['quorum/low', 2, 'quorum/medium'],
    ['former_deployments', {}, 'former_deployments'],
    ['former_deployments', [{ deployment: 'production' }], 'former_deployments/0/until'],
    [
      'former_deployments',
      [{ deployment: 'production', until: '2026-01-01T00:00:00Z' }],
      'former_deployments/0/deployment',
    ],
    [
      'former_deployments',
      [{ deployment: file.deployment, until: 'yesterday' }],
      'former_deployments/0/until',
    ],
    ['quorum/extreme', 3, 'quorum/extreme'],
    ['risk_floors', [{ target: 'a*b', risk: 'high' }], 'risk_floors/0/target'],
    ['risk_floors', [{ target: 'a', risk: 'none' }], 'risk_floors/0/risk'],
    ['risk_floors', [{ target: 'cafe\u0301', risk: 'high' }], 'risk_floors/0/target'],
    ['persons/ada/tenants', ['cafe\u0301'], 'persons/ada/tenants/0'],
    ['ledger_keys', ['x'], 'ledger_keys/0'],
  ])('with %s = %j is refused, and the refusal names the field', (path, value, field) => {
    const words = expect.stringMatching(new RegExp(`^${field.replaceAll('/', '\\/')}: `));
    expect(() => parseTrustFile(withValue(path, value))).toThrow(
      expect.objectContaining({ code: 'invalid_trust_file', detail: words }),
    );
  });

  test.each([
    ['is not JSON', '{'],
    ['is a list', '[]'],
    [
      'has a field twice',
      JSON.stringify(file).replace('"critical":2', '"critical":2,"critical":1'),
    ],
    [
      'has a person twice',
      JSON.stringify(file).replace(
        '"persons":{',
        `"persons":{"ada":${JSON.stringify(file.persons.bob)},`,
      ),
    ],
    [
      'has a field twice, once in another spelling',
      JSON.stringify(file).replace('"critical":2', '"critical":2,"\\u0063ritical":1'),
    ],
  ])('that %s is refused', (_, text) => {
    expect(() => parseTrustFile(text)).toThrow(
      expect.objectContaining({ code: 'invalid_trust_file' }),
    );
  });
});

describe('the trust of a process', () => {
  let folder: string;
  let path: string;
  const write = (content: object | string, at?: Date) => {
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    if (at) utimesSync(path, at, at);
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'writ-trust-'));
    path = join(folder, 'writ.trust.json');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('is what the option says, or else WRIT_TRUST, or nothing', async () => {
    expect([trustOf(undefined, {}), trustOf(undefined, { WRIT_TRUST: '' })]).toEqual([
      undefined,
      undefined,
    ]);
    expect(await trustOf('database', { WRIT_TRUST: path })?.read()).toEqual({ source: 'database' });
    write(file);
    const trust = await trustOf(undefined, { WRIT_TRUST: path })?.read();
    expect(trust).toEqual({
      ...file,
      source: 'file',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test('is read again when the file has changed, also to one of the same size and time', async () => {
    const trust = trustOf(path, {})!;
    const old = new Date('2026-01-01T00:00:00Z');
    write(file, old);
    const first = await trust.read();
    expect(await trust.read()).toBe(first);
    const other = { ...file, quorum: { ...file.quorum, high: 3, critical: 3 } };
    write(other, old);
    expect(await trust.read()).toMatchObject({ quorum: { high: 3 } });
    write(JSON.stringify(file), old);
    expect(await trust.read()).toEqual(first);
  });

  test('throws while the file is missing or wrong, and does not go on with an older version', async () => {
    const trust = trustOf(path, {})!;
    const refusal = expect.objectContaining({
      code: 'invalid_trust_file',
      detail: expect.stringContaining(path),
    });
    await expect(trust.read()).rejects.toThrow(refusal);
    write(file);
    await trust.read();
    write(`${readFileSync(path, 'utf8')}}`);
    await expect(trust.read()).rejects.toThrow(refusal);
    write({
      ...file,
      persons: {
        ...file.persons,
        cleo: { ...file.persons.ada, keys: [{ ...key, public_key: keyOf('cleo').publicKey }] },
      },
    });
    expect(await trust.read()).toMatchObject({ persons: { cleo: {} } });
  });
});
