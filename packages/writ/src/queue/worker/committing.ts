/**
 * A commit that a handler asked for. The handler may forget to await it: then the worker does, so
 * that a job never succeeds without its effect, and no rejection ends the process.
 */
export class Committing<T> extends Promise<T> {
  /** Somebody awaits it, or handles its failure. */
  #observed = false;
  #settled = false;

  static override get [Symbol.species]() {
    return Promise;
  }

  /** Begins to watch it. It has no other owner yet. */
  watch(): this {
    const settle = () => {
      this.#settled = true;
    };
    super.then(settle, settle);
    return this;
  }

  override then<A = T, B = never>(
    fulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#observed = true;
    return super.then(fulfilled, rejected);
  }

  /**
   * After the handler has returned: waits for it. Its failure counts, unless the handler saw it.
   */
  async finish(): Promise<void> {
    const seen = this.#settled && this.#observed;
    await super.then(undefined, (error) => {
      if (!seen) throw error;
    });
  }
}

/**
 * Waits for every commit that a handler asked for, and throws the first failure that it did not
 * see.
 */
export async function finish(commits: readonly Committing<unknown>[]): Promise<void> {
  const ends = await Promise.allSettled(commits.map((commit) => commit.finish()));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
