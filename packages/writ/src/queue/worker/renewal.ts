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

/** The main thread's side of lease renewal; the thread itself is renewer.mjs. A thread that dies is replaced and told what to hold. */
export class Renewal {
  readonly #options: RenewalOptions;
  readonly #ticks = new SharedArrayBuffer(4);
  readonly #tokens = new Set<string>();
  readonly #pulse: NodeJS.Timeout;
  #thread: Thread;
  #stopped = false;
  #soon: NodeJS.Timeout | undefined;
  #soonAt = 0;
  #isReady: () => void = () => undefined;
  /** Resolves when the thread has its connection, or cannot have one yet: a short lease must not expire while it connects. */
  readonly ready = new Promise<void>((ready) => {
    this.#isReady = ready;
  });

  constructor(options: RenewalOptions) {
    this.#options = options;
    const ticks = new Int32Array(this.#ticks);
    this.#pulse = setInterval(() => Atomics.add(ticks, 0, 1), Math.min(1000, options.stallMs / 3));
    this.#pulse.unref();
    this.#thread = this.#start();
  }

  #start(): Thread {
    const { ttlMs, stallMs, workerId, connection, onAnswer, onError } = this.#options;
    const thread = new Thread(new URL('./renewer.mjs', import.meta.url), {
      workerData: {
        connection: { ...connection, query_timeout: ttlMs, connectionTimeoutMillis: ttlMs },
        ttlMs,
        everyMs: Math.max(50, Math.floor(ttlMs / 3)),
        stallMs,
        workerId,
        ticks: this.#ticks,
      },
    });
    thread.on('message', (message: { type: string; message?: string } & RenewalAnswer) => {
      this.#isReady();
      if (message.type === 'renewed') onAnswer(message);
      else if (message.type === 'failed')
        onError(new Error(`leases could not be renewed: ${message.message}`));
    });
    thread.on('error', onError);
    thread.on('exit', () => {
      this.#isReady();
      if (this.#stopped) return;
      setTimeout(() => {
        if (!this.#stopped) this.#thread = this.#start();
      }, 500).unref();
    });
    thread.unref();
    for (const token of this.#tokens) thread.postMessage({ type: 'hold', token });
    return thread;
  }

  hold(token: string): void {
    this.#tokens.add(token);
    this.#thread.postMessage({ type: 'hold', token });
  }

  drop(token: string): void {
    this.#tokens.delete(token);
    this.#thread.postMessage({ type: 'drop', token });
  }

  /** Renews without waiting for the next round, and answers what to stop; at most ten times a second. */
  soon(): void {
    if (this.#soon || this.#stopped) return;
    this.#soon = setTimeout(
      () => {
        this.#soon = undefined;
        this.#soonAt = Date.now();
        this.#thread.postMessage({ type: 'renew' });
      },
      Math.max(0, this.#soonAt + 100 - Date.now()),
    );
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#soon);
    clearInterval(this.#pulse);
    const ended = new Promise((done) => this.#thread.once('exit', done));
    this.#thread.postMessage({ type: 'stop' });
    const late = setTimeout(() => void this.#thread.terminate(), 2_000);
    await ended;
    clearTimeout(late);
  }
}
