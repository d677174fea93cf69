import { Worker as Thread } from 'node:worker_threads';
import type pg from 'pg';

export interface RenewalAnswer {
  readonly renewed: string[];
  readonly lost: string[];
  /** Jobs that somebody wants stopped. */
  readonly cancel: string[];
}

export interface RenewalOptions {
  readonly connection: pg.ClientConfig;
  readonly ttlMs: number;
  readonly stallMs: number;
  readonly workerId: string;
  readonly onAnswer: (answer: RenewalAnswer) => void;
  readonly onError: (error: Error) => void;
}

/** The main thread's side of lease renewal; the thread itself is renewer.mjs. */
export class Renewal {
  readonly #ticks = new SharedArrayBuffer(4);
  readonly #thread: Thread;
  readonly #pulse: NodeJS.Timeout;

  constructor(options: RenewalOptions) {
    const { ttlMs, stallMs, workerId, connection } = options;
    this.#thread = new Thread(new URL('./renewer.mjs', import.meta.url), {
      workerData: {
        connection: { ...connection, query_timeout: ttlMs, connectionTimeoutMillis: ttlMs },
        ttlMs,
        everyMs: Math.max(50, Math.floor(ttlMs / 3)),
        stallMs,
        workerId,
        ticks: this.#ticks,
      },
    });
    this.#thread.on('message', (message: { type: string; message?: string } & RenewalAnswer) => {
      if (message.type === 'renewed') options.onAnswer(message);
      else options.onError(new Error(`leases could not be renewed: ${message.message}`));
    });
    this.#thread.on('error', options.onError);
    const ticks = new Int32Array(this.#ticks);
    this.#pulse = setInterval(() => Atomics.add(ticks, 0, 1), Math.min(1000, stallMs / 3));
    this.#pulse.unref();
    this.#thread.unref();
  }

  hold(token: string): void {
    this.#thread.postMessage({ type: 'hold', token });
  }

  drop(token: string): void {
    this.#thread.postMessage({ type: 'drop', token });
  }

  async stop(): Promise<void> {
    clearInterval(this.#pulse);
    const ended = new Promise((done) => this.#thread.once('exit', done));
    this.#thread.postMessage({ type: 'stop' });
    const late = setTimeout(() => void this.#thread.terminate(), 2_000);
    await ended;
    clearTimeout(late);
  }
}
