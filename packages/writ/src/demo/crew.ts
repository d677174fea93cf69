/** The worker processes of the demo, from the story's side. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { exitCodes, Failure } from '../cli/failure.js';

export interface CrewMember {
  readonly name: string;
  readonly pid: number;
  /** Resolves when it works. */
  readonly ready: Promise<void>;
  /** Resolves when the process is gone. */
  readonly gone: Promise<Death>;
}

export interface Death {
  readonly signal: NodeJS.Signals | null;
  /** Where in its work it was, by its own last word. */
  readonly point: string | undefined;
}

export class Crew {
  readonly #connectionString: string;
  readonly #key: string;
  readonly #processes = new Set<ChildProcess>();

  /** `key`: whose rights they have. */
  constructor(connectionString: string, key: string) {
    this.#connectionString = connectionString;
    this.#key = key;
  }

  start(name: string, options: { dies?: boolean } = {}): CrewMember {
    const { dies } = options;
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL('./worker.js', import.meta.url))],
      {
        env: {
          ...process.env,
          DATABASE_URL: this.#connectionString,
          WRIT_DEMO_NAME: name,
          WRIT_DEMO_KEY: this.#key,
          ...(dies && { WRIT_DEMO_DIES: 'yes' }),
        },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      },
    );
    this.#processes.add(child);
    let said = '';
    let complained = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      complained += chunk.toString();
    });
    const gone = new Promise<Death>((resolve) => {
      child.once('close', (_code, signal) => {
        this.#processes.delete(child);
        resolve({ signal, point: /^died (.+)$/m.exec(said)?.[1] });
      });
    });
    const ready = new Promise<void>((resolve, reject) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (said.includes('ready\n')) resolve();
      });
      child.once('close', () =>
        reject(
          new Failure(
            exitCodes.failed,
            'demo_failed',
            `${name} did not start: ${complained}`,
            'Run it again with --debug.',
          ),
        ),
      );
    });
    ready.catch(() => undefined); // whoever waits for it hears of it
    return { name, pid: child.pid ?? 0, ready, gone };
  }

  /** Ends everybody: in order, or, when the story was broken off, at once. */
  async stop(how: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const ended = [...this.#processes].map(
      (child) => new Promise((resolve) => child.once('close', resolve)),
    );
    for (const child of this.#processes) child.kill(how);
    await Promise.all(ended);
  }
}
