/** Runs the built command as a process, as a person would. */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
export const fixture = (name: string): string =>
  fileURLToPath(new URL(`./${name}`, import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
}

export interface Running {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves when standard output matches; fails when the process ends without that. */
  saying(pattern: RegExp): Promise<RegExpExecArray>;
  /** The same of standard error. */
  warning(pattern: RegExp): Promise<RegExpExecArray>;
}

/** The environment of the test run, without what would lead the command elsewhere. */
function cleanEnv(): Record<string, string | undefined> {
  const {
    DATABASE_URL,
    NO_COLOR,
    FORCE_COLOR,
    WRIT_LEDGER_KEY,
    WRIT_LEDGER_PLACES,
    WRIT_LEDGER_PUBLIC_KEYS,
    WRIT_WEBHOOK_SECRETS_DIR,
    WRIT_KEY,
    ...rest
  } = process.env;
  return rest;
}

export function start(args: readonly string[], { env = {}, cwd }: RunOptions = {}): Running {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...cleanEnv(), ...env },
    ...(cwd ? { cwd } : {}),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  const hearing = (stream: Readable, said: () => string) => (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(said());
        if (match) resolve(match);
      };
      look();
      stream.on('data', look);
      void ended.then((end) =>
        reject(new Error(`it ended without saying ${pattern}: ${JSON.stringify(end)}`)),
      );
    });
  return {
    pid: child.pid as number,
    ended,
    kill: (signal) => void child.kill(signal),
    saying: hearing(child.stdout, () => stdout),
    warning: hearing(child.stderr, () => stderr),
  };
}

export const writ = (args: readonly string[], options?: RunOptions): Promise<Ended> =>
  start(args, options).ended;

/** Runs a command that has to end well, and parses its JSON. */
export async function json<T = Record<string, unknown>>(
  args: readonly string[],
  options?: RunOptions,
): Promise<T> {
  const { code, stdout, stderr } = await writ([...args, '--json'], options);
  if (code !== 0) throw new Error(`exit ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

export async function eventually(holds: () => Promise<boolean>, withinMs = 25_000): Promise<void> {
  for (const giveUpAt = Date.now() + withinMs; !(await holds()); ) {
    if (Date.now() > giveUpAt) throw new Error('it did not come to that');
    await new Promise((resume) => setTimeout(resume, 25));
  }
}
