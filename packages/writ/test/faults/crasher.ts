/** A worker process whose deadly jobs kill it with SIGKILL. It ends with the test. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'vitest';

const script = fileURLToPath(new URL('./crasher.mjs', import.meta.url));

export function crasher({ onTestFinished }: TestContext, url: string): ChildProcess {
  const child = fork(script, { env: { ...process.env, WRIT_CRASHER: url }, execArgv: [] });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  return child;
}
