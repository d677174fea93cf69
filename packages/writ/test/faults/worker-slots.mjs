// @ts-check
// Keeps a number of processes alive, workers unless a script says otherwise. Each is armed with the next fault of the plan as soon as it works; one that dies or leaves of its fault is
// replaced; one that stops itself is woken when its leases have been taken back from it. A process that ends in any other way is a finding.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @typedef {import('./plan.mjs').Fault} Fault */
/**
 * @typedef {{ url: string, folder: string, module: string, count: number, options: object, faults:
 * Fault[],
 *   leasesOf: (workerId: string) => Promise<number>, onFault: (fault: Fault) => void, onFinding:
 *   (what: string) => void, onKilled?: () => void, script?: string, name?: string, env?:
 *   Record<string, string> }} SlotOptions `onKilled`: jobs of this run kill their process; such an
 *   end is no finding. `script`: what the processes run, and `name`: what their records are called,
 *   where they are not workers. `env`: what is added to their environment
 */

const worker = fileURLToPath(new URL('./worker-process.mjs', import.meta.url));

export class WorkerSlots {
  /** @param {SlotOptions} options */
  constructor(options) {
    this.options = options;
    this.faults = [...options.faults];
    /** Faults armed and not yet happened. */
    this.armed = 0;
    this.ending = false;
    this.lives = 0;
    /** @type {Set<import('node:child_process').ChildProcess>} */
    this.children = new Set();
  }

  start() {
    for (let i = 0; i < this.options.count; i++) this.#spawn();
  }

  /** Nothing is left of the plan, neither to arm nor to happen. */
  get done() {
    return this.faults.length === 0 && this.armed === 0;
  }

  #spawn() {
    const { url, folder, module, options, script = worker, name = 'worker', env } = this.options;
    const record = join(folder, `${name}-${++this.lives}.log`);
    const settings = JSON.stringify({ url, record, module, options });
    const child = fork(script, {
      env: { ...process.env, ...env, WRIT_FAULTS_WORKER: settings },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.children.add(child);
    /** @type {Fault | undefined} */
    let fault;
    let workerId = '';
    let said = '';
    child.stderr?.on('data', (chunk) => {
      said = (said + chunk).slice(-2000);
    });
    const arm = () => {
      fault = this.faults.shift();
      if (!fault) return;
      this.armed++;
      child.send({ type: 'arm', fault });
    };
    const happened = () => {
      if (!fault) return;
      this.armed--;
      this.options.onFault(fault);
      fault = undefined;
    };
    child.on('message', async (/** @type {{ type: string, workerId: string }} */ message) => {
      if (message.type === 'ready') {
        workerId = message.workerId;
        arm();
      } else if (message.type === 'stopping') {
        await this.#leasesTaken(workerId);
        child.kill('SIGCONT');
      } else {
        happened();
        arm();
      }
    });
    // A message may meet a process that has just died: its exit is told. One that never began has
    // none.
    child.on('error', (error) => {
      if (child.pid !== undefined) return;
      this.children.delete(child);
      this.options.onFinding(`a ${name} process could not be started: ${error.message}`);
    });
    child.on('exit', (code, signal) => {
      this.children.delete(child);
      if (signal === 'SIGKILL' && fault?.action === 'kill') happened();
      else if (code === 0 && fault?.action === 'leave') happened();
      else if (signal === 'SIGKILL' && this.options.onKilled) this.options.onKilled();
      else if (!this.ending)
        this.options.onFinding(
          `a ${name} process ended by itself (${signal ?? code}): ${said.trim()}`,
        );
      if (fault) this.faults.push(fault); // it died of something else; the fault is still owed
      if (fault) this.armed--;
      if (!this.ending) this.#spawn();
    });
  }

  /**
   * Waits until the stopped worker holds no lease. One stopped inside its commit keeps its own, and
   * is woken with it. @param {string} workerId
   */
  async #leasesTaken(workerId) {
    const giveUpAt = Date.now() + 6_000;
    while (Date.now() < giveUpAt) {
      // the server may be down: look again
      const held = await this.options.leasesOf(workerId).catch(() => 1);
      if (held === 0) return;
      await new Promise((resume) => setTimeout(resume, 50));
    }
  }

  /** Stops every worker in the orderly way; one that does not is ended and is a finding. */
  async stop() {
    this.ending = true;
    await Promise.all(
      [...this.children].map(async (child) => {
        const late = setTimeout(() => {
          this.options.onFinding(
            `a ${this.options.name ?? 'worker'} process did not stop within 60 s`,
          );
          child.kill('SIGKILL');
        }, 60_000);
        const ended = once(child, 'exit');
        child.send({ type: 'stop' });
        await ended;
        clearTimeout(late);
      }),
    );
  }

  /** Ends every worker without ceremony, for a run that is broken off. */
  kill() {
    this.ending = true;
    for (const child of this.children) child.kill('SIGKILL');
  }
}
