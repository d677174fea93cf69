/**
 * How far ahead of its handlers a worker works, decided from how fast they have been. Slow handlers: nothing is started that does not run at
 * once, so a crash charges exactly the jobs that ran. Fast handlers: ten milliseconds of work are started, and a few tens are claimed, per
 * round trip, because there the round trips are what costs.
 */
export class Pace {
  /** Jobs finished per millisecond, smoothed. */
  #rate = 0;
  #finished = 0;
  #since = performance.now();
  readonly #maxBatch: number;

  constructor(maxBatch: number) {
    this.#maxBatch = maxBatch;
  }

  finished(jobs: number): void {
    this.#finished += jobs;
    const elapsed = performance.now() - this.#since;
    if (elapsed < 5) return;
    const rate = this.#finished / elapsed;
    // Up quickly, but not by one burst alone; down slowly, for an idle worker must not look like a slow one when work comes.
    const weight = rate > this.#rate ? 0.5 : 0.2;
    this.#rate += (rate - this.#rate) * weight;
    this.#finished = 0;
    this.#since = performance.now();
  }

  /** How many jobs may be marked as started beyond those that free handlers take at once. */
  get startAhead(): number {
    return Math.min(this.#maxBatch, Math.floor(this.#rate * 10));
  }

  /** How many jobs to have on hand beyond those that free handlers take at once. */
  get prefetch(): number {
    return Math.min(2 * this.#maxBatch, Math.ceil(this.#rate * 50));
  }
}
