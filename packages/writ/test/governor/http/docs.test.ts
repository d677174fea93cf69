/** What docs/signals.md tells senders to do works as it stands. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { routeOf } from '../../../src/governor/http/reading.js';
import { readSignal } from '../../../src/governor/http/signal.js';
import { listening, receipt } from './listening.js';
import { credentials, secret, signal, signed, token } from './sender.js';

const page = readFileSync(new URL('../../../../../docs/signals.md', import.meta.url), 'utf8');

function block(language: string, after: string): string {
  const found = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(
    page.slice(page.indexOf(after)),
  )?.[1];
  if (!found) throw new Error(`docs/signals.md has no ${language} after ${after}`);
  return found;
}

test('the commands of the page send a signal that is taken', async () => {
  const { port, took } = await listening();
  const env = {
    ...process.env,
    LISTENER: `http://127.0.0.1:${port}`,
    SIGNAL_SECRET: secret,
    SIGNAL_TOKEN: token,
  };
  const { stdout } = await promisify(execFile)('sh', ['-c', block('sh', '## From a shell')], {
    env,
  });
  expect(JSON.parse(stdout)).toEqual({ status: 'accept', receipt: receipt() });
  expect(took).toMatchObject([
    { governor: { tenant: 'acme', sku: 'web' }, signal: { type: 'cpu_utilization', value: 92.4 } },
  ]);
});

test('the address that Alertmanager is given is one of ours', () => {
  const { receivers } = parse(block('yaml', '## Alertmanager')) as {
    receivers: { webhook_configs: { url: string; max_alerts: number }[] }[];
  };
  const [webhook] = receivers[0]?.webhook_configs ?? [];
  expect(routeOf(new URL(webhook?.url ?? '').pathname)).toEqual({
    to: 'alerts',
    tenant: 'acme',
    sku: 'web',
  });
  expect(webhook?.max_alerts).toBe(500);
});

test('the names of sources and types on the page are those that are taken', () => {
  const row = (name: string) =>
    (new RegExp(`^\\| \`${name}\` \\| (.*) \\|$`, 'm').exec(page)?.[1] ?? '').replaceAll('`', '');
  const sources = row('source').match(/[a-z]+(?:-[a-z]+)*(?=[,;.]| or |$)/g) ?? [];
  expect(sources.length).toBe(13);
  for (const source of sources)
    expect(readSignal(signed({ ...signal, source }), credentials)).toHaveProperty('ok');
  for (const type of [
    'cpu_utilization',
    'memory_usage',
    'error_rate',
    'disk_usage',
    'billing_spend',
  ])
    expect(row('type')).toContain(type);
});
