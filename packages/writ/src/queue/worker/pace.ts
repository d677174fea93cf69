/** A process may stand still for so long, and its handlers are none the slower. */
const hiccupMs = 50;
/** So much work is claimed ahead. Handlers that finish less than one job in this time are slow. */
const claimedMs = 50;
/** So many jobs in a row must have been quick before a worker relies on it. */
const longStreak = 500;

/**
 * How far ahead of its handlers a worker works, decided from how fast they have been while they had
 * something to do. Slow handlers: the worker claims and starts only what runs at once, so a crash
 * charges exactly the jobs that ran. Fast handlers: it starts twenty milliseconds of work and
 * claims fifty per round trip, because there the round trips are the cost.
 *
 * A worker whose handlers turned out slow gives back what it claimed ahead. It claims at most fifty
 * jobs ahead until 500 in a row were quick, and then at most as many as were quick in a row. Once
 * it gave jobs back, it claims nothing ahead until it has begun as many again, and never so many
 * that it could give back more than a hundredth of the jobs that it began.
 */
export class Pace {
  /** Jobs finished per millisecond of work, smoothed. */
  #rate = 0;
  #finished = 0;
  #since = 0;
  #busy = false;
  /** Handlers begun, jobs given back, and how many must have begun before it claims ahead again. */
  #begun = 0;
  #givenBack = 0;
  #aheadFrom = 0;
  /** How many had begun when the handlers were last slow. */
  #slowAt = 0;
  readonly #maxBatch: number;

  constructor(maxBatch: number) {
    this.#maxBatch = maxBatch;
  }

  /** A handler begins, beside so many others. */
  began(others: number): void {
    if (others === 0) this.#since = performance.now();
    this.#busy = true;
    this.#begun++;
  }

  /** A handler has ended; so many others still run. */
  ended(others: number): void {
    this.#finished++;
    this.#busy = others > 0;
    if (others > 0 && this.#finished < 100) return;
    const now = performance.now();
    const rate = this.#finished / Math.max(now - this.#since, 0.1);
    // Up quickly, down slowly: one slow job does not make the worker slow.
    const weight = this.#rate === 0 ? 1 : rate > this.#rate ? 0.5 : 0.2;
    this.#rate += (rate - this.#rate) * weight;
    if (rate * claimedMs < 1) this.#slowAt = this.#begun;
    this.#finished = 0;
    this.#since = now;
  }

  /** So many jobs that were claimed ahead went back unrun. */
  gaveBack(jobs: number): void {
    this.#givenBack += jobs;
    this.#aheadFrom = this.#begun + jobs;
    this.#rate = this.#rateNow; // what was quick before says nothing of what comes
  }

  /** No faster than this window shows: handlers that have become slow count before they end. */
  get #rateNow(): number {
    if (!this.#busy || this.#rate === 0) return this.#rate;
    const overdue = performance.now() - this.#since - hiccupMs;
    return overdue <= 0 ? this.#rate : Math.min(this.#rate, (this.#finished + 1) / overdue);
  }

  /** Whether outcomes come so fast that waiting a millisecond for more of them saves a call. */
  get hurried(): boolean {
    return this.#rate > 5;
  }

  /** How many jobs may be marked as started beyond those that free handlers take at once. */
  get startAhead(): number {
    return this.#begun < this.#aheadFrom
      ? 0
      : Math.floor(Math.min(2 * this.#maxBatch, this.#rateNow * 20));
  }

  /** How many jobs to have on hand beyond those that free handlers take at once. */
  get prefetch(): number {
    if (this.#begun < this.#aheadFrom) return 0;
    const streak = this.#begun - this.#slowAt;
    const trusted = streak < longStreak ? 50 : streak;
    const allowed = this.#givenBack === 0 ? trusted : this.#begun / 100 - this.#givenBack;
    return Math.max(
      0,
      Math.floor(Math.min(2 * this.#maxBatch, this.#rateNow * claimedMs, allowed)),
    );
  }
}
