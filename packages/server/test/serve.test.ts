/** `writ serve`, as a process: it answers requests with a key, and ends in order. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Writ } from 'writ';
import { testDatabase } from 'writ/testing';
import { login } from '../../writ/test/hostile/logins.js';

const bin = fileURLToPath(new URL('../../writ/bin/writ.js', import.meta.url));

function start(url: string, ...args: string[]) {
  const child = spawn(process.execPath, [bin, 'serve', '--port', '0', ...args], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  return { child, said: () => said };
}

test('serves requests of a key until it is stopped', async () => {
  const db = await testDatabase();
  const writ = await Writ.connect({ connectionString: db.connectionString });
  await writ.principals.add({ id: 'ada', kind: 'person', rights: ['view'] });
  const { key } = await writ.apiKeys.make({ principal: 'ada' });
  await writ.close();
  const one = await login(db, ['writ_server']);
  const { child, said } = start(one.connectionString);
  try {
    await expect.poll(said, { timeout: 60_000 }).toMatch(/Listening on (http:\S+)\/api\/v1\./);
    const [, address] = /Listening on (http:\S+)\/api/.exec(said()) ?? [];
    const answer = await fetch(`${address}/api/v1/caller`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(await answer.json()).toMatchObject({ principal: 'ada', rights: ['view'] });
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
    await one.end();
  }
});

test('sends no key in the clear beyond this machine', async () => {
  const db = await testDatabase();
  const { child, said } = start(db.connectionString, '--host', '0.0.0.0');
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).not.toBe(0);
  expect(said()).toContain('--behind-proxy');
});
