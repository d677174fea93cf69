/**
 * The real packages that jobs are imported from. They are installed for the benchmark only (`npm ci` in bench/), with a Node of their own that is
 * newer than the one we support: each call is a process on that Node. Where they are not installed the tests are left out, and say so.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const bench = fileURLToPath(new URL('../../../bench/', import.meta.url));
const node = `${bench}node_modules/node/bin/node`;

export type System = 'pg-boss' | 'graphile-worker';
export const systems: readonly System[] = ['pg-boss', 'graphile-worker'];

export const missing = [
  node,
  ...systems.map((system) => `${bench}node_modules/${system}/package.json`),
].some((path) => !existsSync(path));
if (missing) {
  process.stderr.write(
    '\nSKIPPED: pg-boss and graphile-worker are not installed, so no import from them was tested. Run `npm ci` in bench/.\n\n',
  );
}

function call(system: System, url: string, action: 'add' | 'work', asked: object) {
  const child = spawn(
    node,
    [`${bench}import-source.mjs`, system, url, action, JSON.stringify(asked)],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  let said = '';
  let trouble = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    trouble += chunk.toString();
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${system} ${action}: exit ${code}: ${trouble}`)),
    );
  });
  ended.catch(() => undefined);
  const saying = (word: string) =>
    Promise.race([
      new Promise<void>((resolve) => {
        const look = () => {
          if (said.includes(word)) resolve();
        };
        look();
        child.stdout.on('data', look);
      }),
      ended.then(() =>
        Promise.reject(new Error(`${system} ended without saying ${word}: ${trouble}`)),
      ),
    ]);
  return { child, ended, saying };
}

export interface Job {
  readonly name: string;
  readonly data: Record<string, unknown> | null;
  readonly [option: string]: unknown;
}

export interface Added {
  readonly schema?: string;
  /** Of pg-boss, where a queue is made before its jobs. */
  readonly queues?: readonly { readonly name: string; readonly [option: string]: unknown }[];
  readonly jobs?: readonly Job[];
  readonly bulk?: readonly {
    readonly name: string;
    readonly jobs: readonly { readonly data: object }[];
  }[];
  readonly flow?: readonly {
    readonly ref: string;
    readonly name: string;
    readonly data: object;
    readonly dependsOn?: readonly string[];
  }[];
  readonly schedule?: string;
}

/** Installs the schema, and adds jobs with the package's own functions. */
export const add = (system: System, url: string, asked: Added): Promise<void> =>
  call(system, url, 'add', asked).ended;

/** Starts a worker of the package on these names. */
export async function work(
  system: System,
  url: string,
  asked: { names: readonly string[]; batch?: number; crontab?: string },
) {
  const { child, ended, saying } = call(system, url, 'work', asked);
  await saying('working');
  return {
    saying,
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
