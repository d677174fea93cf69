/**
 * The code of docs/telemetry.md runs as it stands, in two processes that share nothing but a
 * database: one trace, and metrics.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../src/testing/index.js';
import { until } from '../races/sessions.js';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const page = readFileSync(join(root, 'docs/telemetry.md'), 'utf8');
const run = promisify(execFile);

function block(language: string, after: string): string {
  const found = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(
    page.slice(page.indexOf(after)),
  )?.[1];
  if (!found) throw new Error(`docs/telemetry.md has no ${language} after ${after}`);
  return found;
}

test('the five minutes: what is enqueued in one process is done in another, in one trace, and metrics are told', async () => {
  const db = await testDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'writ-telemetry-'));
  onTestFinished(async () => {
    await db.drop();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const name of ['node_modules', 'bin']) mkdirSync(join(folder, name));
  symlinkSync(join(root, 'packages/writ'), join(folder, 'node_modules', 'writ'));
  symlinkSync(
    join(root, 'node_modules', '@opentelemetry'),
    join(folder, 'node_modules', '@opentelemetry'),
  );
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  // `npx writ` is the command that was built, as in a project that has installed it.
  writeFileSync(
    join(folder, 'bin', 'npx'),
    `#!/bin/sh\nshift\nexec "${process.execPath}" "${join(root, 'packages/writ/bin/writ.js')}" "$@"\n`,
    {
      mode: 0o755,
    },
  );
  for (const file of ['telemetry.js', 'jobs.js', 'enqueue.js'])
    writeFileSync(join(folder, file), block('js', `\`${file}\``));
  const [exported, enqueue, work] = block('sh', 'Register the SDK before').trim().split('\n');
  const env = {
    ...process.env,
    DATABASE_URL: db.connectionString,
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
  };
  const { stdout } = await run('sh', ['-ec', `${exported}\n${enqueue}`], { cwd: folder, env });
  const traceOf = (text: string, name: string) =>
    new RegExp(`traceId: '(\\w+)'(?:(?!traceId)[\\s\\S])*?name: '${name}'`).exec(text)?.[1];
  const trace = traceOf(stdout, 'POST /orders');
  expect(trace).toMatch(/^[0-9a-f]{32}$/);
  expect(traceOf(stdout, 'enqueue greet')).toBe(trace);

  const worker = spawn('sh', ['-ec', `${exported}\nexec ${work}`], { cwd: folder, env });
  let printed = '';
  worker.stdout.on('data', (data) => {
    printed += data;
  });
  worker.stderr.on('data', (data) => {
    printed += data;
  });
  try {
    await until(
      async () => /name: 'commit'/.test(printed) && /name: 'writ.queue.ready'/.test(printed),
      20_000,
    );
  } catch (error) {
    throw new Error(`the worker said ${printed}`, { cause: error });
  } finally {
    const ended = once(worker, 'exit');
    worker.kill('SIGTERM');
    await ended;
  }
  expect(printed).toContain('hello Ada');
  expect(traceOf(printed, 'process greet')).toBe(trace);
  expect(traceOf(printed, 'commit')).toBe(trace);
  expect(printed).toContain('writ.jobs.finished');
}, 60_000);
