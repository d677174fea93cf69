/**
 * Starts the receiver of webhooks in a process of its own, tells it how to answer, and reads what
 * it got. It ends with the test.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newWebhookSecret } from '../../src/outbox/webhooks.js';

const script = fileURLToPath(new URL('./receiver.mjs', import.meta.url));

export interface Rule {
  readonly mode: 'status' | 'hang' | 'reset' | 'break' | 'slow' | 'huge' | 'redirect';
  readonly status?: number;
  readonly retryAfter?: string;
  readonly ms?: number;
  /** How often; left out: always. */
  readonly times?: number;
  readonly partitionkey?: string;
  readonly id?: string;
}

export interface Delivery {
  readonly url: string;
  readonly contentType: string;
  readonly id: string;
  readonly type: string;
  readonly partitionkey: string;
  readonly sequence?: string;
  readonly verified: boolean;
  readonly rule: string;
  readonly status?: number;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly secret: string;
  /** How it answers from now on; no rules: 204 to all. */
  answer(...rules: Rule[]): Promise<void>;
  /** The most deliveries that were under way at once since it was last asked. */
  most(): Promise<number>;
  deliveries(): Delivery[];
  kill(): Promise<void>;
}

export async function startReceiver({
  port = 0,
  secret = newWebhookSecret(),
} = {}): Promise<Receiver & AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-receiver-'));
  const file = join(folder, 'log');
  const child = spawn(process.execPath, [script, file, String(port), secret], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [printed] = await once(child.stdout, 'data');
  const listening = Number(String(printed).trim());
  const control = `http://127.0.0.1:${listening}/control`;
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url: `http://127.0.0.1:${listening}/hooks?for=writ`,
    port: listening,
    secret,
    answer: async (...rules) => {
      await (await fetch(control, { method: 'PUT', body: JSON.stringify(rules) })).text();
    },
    most: async () => ((await (await fetch(control)).json()) as { most: number }).most,
    deliveries: () =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Delivery),
    kill,
    [Symbol.asyncDispose]: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
