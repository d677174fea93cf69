/**
 * A real Alertmanager, as Debian has it: what it sends is what we take, and a governor decides
 * about it.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { HttpListener } from '../../../src/governor/http/listener.js';
import { definePolicy } from '../../../src/index.js';
import { until } from '../../races/sessions.js';
import { governorScene } from '../scene.js';

const s = governorScene();
const program = ['prometheus-alertmanager', 'alertmanager'].find((name) => {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});
if (!program)
  console.warn(
    'SKIPPED: Alertmanager is not installed, so nothing was tested with a real one. On Debian: apt-get install prometheus-alertmanager',
  );

const ends: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

/** Answers its address. */
async function alertmanager(url: string, token: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-alertmanager-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(
    join(folder, 'alertmanager.yml'),
    `route: { receiver: writ, group_wait: 50ms, group_interval: 100ms, repeat_interval: 1h }
receivers:
  - name: writ
    webhook_configs:
      - { url: '${url}', send_resolved: true, http_config: { authorization: { credentials: '${token}' } } }
`,
  );
  const port = await freePort();
  const args = [
    `--config.file=${folder}/alertmanager.yml`,
    `--storage.path=${folder}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--cluster.listen-address=',
  ];
  const child: ChildProcess = spawn(program as string, args, { stdio: 'ignore' });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  ends.push(() => child.kill('SIGTERM') && gone);
  const address = `http://127.0.0.1:${port}`;
  await until(
    async () => (await fetch(`${address}/-/ready`).catch(() => undefined))?.ok ?? false,
    20_000,
  );
  return address;
}

const post = async (address: string, endsAt?: Date) => {
  const alert = {
    labels: { alertname: 'HighErrorRate', signal_type: 'error_rate', severity: 'critical' },
    annotations: { value: '0.07' },
    startsAt: '2026-01-25T14:32:15Z',
    ...(endsAt && { endsAt: endsAt.toISOString() }),
  };
  const answer = await fetch(`${address}/api/v2/alerts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify([alert]),
  });
  expect(answer.status).toBe(200);
};

test.skipIf(!program)(
  'an alert that fires is over its threshold, and one that is resolved is not',
  async () => {
    await s.work();
    const governor = await s.stable(
      definePolicy('errors', { when: { error_rate: { above: 0.02 } } }),
    );
    const token = 'a-token-for-alertmanager';
    const listener = new HttpListener({
      intake: s.writ.governors.intake(),
      secretsOf: async () => [],
      tokensOf: async () => [token],
      onOutage: async () => undefined,
      port: 0,
    });
    const { port } = await listener.listen();
    ends.push(() => listener.close());
    const address = await alertmanager(
      `http://127.0.0.1:${port}/v1/governors/acme/default/alerts`,
      token,
    );
    await post(address);
    expect((await s.receipt(governor, 'threshold_exceeded')).context).toMatchObject({
      signal_type: 'error_rate',
      current_value: 0.07,
    });
    expect((await s.receipt(governor, 'signal_received')).context).toMatchObject({
      source: 'monitoring',
      severity: 'CRITICAL',
    });
    await s.inState(governor, 'warning');
    await post(address, new Date(Date.now() - 1_000));
    await s.inState(governor, 'stable');
    expect((await s.receipt(governor, 'signal_cleared')).context).toMatchObject({
      signal_type: 'error_rate',
    });
  },
  60_000,
);
