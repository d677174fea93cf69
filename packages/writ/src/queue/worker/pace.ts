/**
 * How far ahead of its handlers a worker works, decided from how fast they have been while they had something to do. Slow handlers: nothing is
 * started that does not run at once, so a crash charges exactly the jobs that ran. Fast handlers: twenty milliseconds of work are started, and a few tens are
 * claimed, per round trip, because there the round trips are what costs.
 */
export class Pace {
  /** Jobs finished per millisecond of work, smoothed. */
  #rate = 0;
  #finished = 0;
  #since = 0;
  readonly #maxBatch: number;

  constructor(maxBatch: number) {
    this.#maxBatch = maxBatch;
  }

  /** A handler begins, beside so many others. */
  began(others: number): void {
    if (others === 0) this.#since = performance.now();
  }

  /** A handler has ended; so many others still run. */
  ended(others: number): void {
    this.#finished++;
    if (others > 0 && this.#finished < 100) return;
    const now = performance.now();
    const rate = this.#finished / Math.max(now - this.#since, 0.1);
    // Up quickly, down slowly: one slow job does not make the worker slow.
    const weight = this.#rate === 0 ? 1 : rate > this.#rate ? 0.5 : 0.2;
    this.#rate += (rate - this.#rate) * weight;
    this.#finished = 0;
    this.#since = now;
  }

  /** Whether outcomes come so fast that waiting a millisecond for more of them saves a call. */
  get hurried(): boolean {
    return this.#rate > 5;
  }

  /** How many jobs may be marked as started beyond those that free handlers take at once. */
  get startAhead(): number {
    return Math.min(2 * this.#maxBatch, Math.floor(this.#rate * 20));
  }

  /** How many jobs to have on hand beyond those that free handlers take at once. */
  get prefetch(): number {
    return Math.min(2 * this.#maxBatch, Math.ceil(this.#rate * 50));
  }
}
