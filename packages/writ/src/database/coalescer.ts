/**
 * Calls that come at the same time travel together, in one round trip and one commit. Two batches
 * are on their way at most; what comes meanwhile waits for the next. Whoever sends has fixed the
 * ids of what it sends, so a batch whose answer was lost is sent again.
 */
import { fromDatabase, isConnectionLoss } from '../errors/index.js';

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly done: (answer: Answer) => void;
  readonly failed: (error: unknown) => void;
}

const limits = { batch: 1000, bytes: 4_000_000, inFlight: 2, tries: 8 };

export class Coalescer<Item, Answer> {
  readonly #send: (items: Item[]) => Promise<Answer[]>;
  readonly #bytes: (item: Item) => number;
  #waiting: Waiting<Item, Answer>[] = [];
  #inFlight = 0;
  #scheduled = false;
  #whenIdle: (() => void)[] = [];

  /** `send` answers one by one, in order; `bytes` is roughly the size of an item. */
  constructor(send: (items: Item[]) => Promise<Answer[]>, bytes: (item: Item) => number) {
    this.#send = send;
    this.#bytes = bytes;
  }

  /** Resolves when nothing is waiting or on its way. */
  async idle(): Promise<void> {
    while (this.#waiting.length > 0 || this.#inFlight > 0)
      await new Promise<void>((idle) => this.#whenIdle.push(idle));
  }

  add(item: Item): Promise<Answer> {
    return new Promise((done, failed) => {
      this.#waiting.push({ item, done, failed });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#inFlight >= limits.inFlight || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#sendBatch();
      this.#schedule();
    });
  }

  async #sendBatch(): Promise<void> {
    const batch = this.#takeBatch();
    if (batch.length === 0) return;
    this.#inFlight++;
    try {
      const answers = await this.#sendWithRetry(batch.map((waiting) => waiting.item));
      batch.forEach((waiting, index) => {
        waiting.done(answers[index] as Answer);
      });
    } catch (error) {
      for (const waiting of batch) waiting.failed(error);
    } finally {
      this.#inFlight--;
      this.#schedule();
      if (this.#inFlight === 0 && this.#waiting.length === 0)
        for (const idle of this.#whenIdle.splice(0)) idle();
    }
  }

  #takeBatch(): Waiting<Item, Answer>[] {
    let bytes = 0;
    const end = this.#waiting.findIndex(({ item }, index) => {
      bytes += this.#bytes(item);
      return index > 0 && (index >= limits.batch || bytes > limits.bytes);
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  async #sendWithRetry(items: Item[]): Promise<Answer[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#send(items);
      } catch (error) {
        const { code } = error as { code?: string };
        const worthwhile = isConnectionLoss(error) || code === '40001' || code === '40P01';
        if (!worthwhile || attempt >= limits.tries) throw fromDatabase(error);
        await new Promise((resume) =>
          setTimeout(resume, Math.min(50 * 2 ** attempt, 2_000) * Math.random()),
        );
      }
    }
  }
}
