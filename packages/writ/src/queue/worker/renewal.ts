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

/** A lease this short could expire while a thread starts, so its thread is always there. */
const shortMs = 5_000;
/** A thread takes 18 MB. A worker that holds no lease for so long ends it. */
const idleMs = 60_000;

/**
 * The main thread's side of lease renewal; the thread itself is renewer.mjs. It starts with the
 * first lease. A thread that dies is replaced, and the new one gets the tokens to hold.
 */
export class Renewal {
  readonly #options: RenewalOptions;
  readonly #ticks = new SharedArrayBuffer(4);
  readonly #tokens = new Set<string>();
  readonly #pulse: NodeJS.Timeout;
  readonly #always: boolean;
  #thread: Thread | undefined;
  #stopped = false;
  #idle: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #soonAt = 0;
  #isReady: () => void = () => undefined;
  /** Resolves when the thread of short leases has its connection, or cannot have one yet. */
  readonly ready = new Promise<void>((ready) => {
    this.#isReady = ready;
  });

  constructor(options: RenewalOptions) {
    this.#options = options;
    const ticks = new Int32Array(this.#ticks);
    this.#pulse = setInterval(() => Atomics.add(ticks, 0, 1), Math.min(1000, options.stallMs / 3));
    this.#pulse.unref();
    this.#always = options.ttlMs < shortMs;
    if (this.#always) this.#thread = this.#start();
    else this.#isReady();
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
      if (this.#stopped || this.#thread !== thread) return;
      setTimeout(() => {
        if (!this.#stopped && this.#thread === thread) this.#thread = this.#start();
      }, 500).unref();
    });
    thread.unref();
    for (const token of this.#tokens) thread.postMessage({ type: 'hold', token });
    return thread;
  }

  hold(token: string): void {
    clearTimeout(this.#idle);
    this.#tokens.add(token);
    if (this.#thread) this.#thread.postMessage({ type: 'hold', token });
    else if (!this.#stopped) this.#thread = this.#start();
  }

  drop(token: string): void {
    this.#tokens.delete(token);
    this.#thread?.postMessage({ type: 'drop', token });
    if (this.#tokens.size > 0 || this.#always || this.#stopped) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#end(), idleMs);
    this.#idle.unref();
  }

  /** Ends the thread, and answers when it has gone. */
  async #end(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    if (!thread) return;
    const ended = new Promise((done) => thread.once('exit', done));
    thread.postMessage({ type: 'stop' });
    const late = setTimeout(() => void thread.terminate(), 2_000);
    await ended;
    clearTimeout(late);
  }

  /**
   * Renews without waiting for the next round, and answers what to stop; at most ten times a
   * second.
   */
  soon(): void {
    if (this.#soon || this.#stopped) return;
    this.#soon = setTimeout(
      () => {
        this.#soon = undefined;
        this.#soonAt = performance.now();
        this.#thread?.postMessage({ type: 'renew' });
      },
      Math.max(0, this.#soonAt + 100 - performance.now()),
    );
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#soon);
    clearTimeout(this.#idle);
    clearInterval(this.#pulse);
    await this.#end();
  }
}
