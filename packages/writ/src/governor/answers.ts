/**
 * Who waits to hear what became of a signal. A driver of this process tells at once; what others
 * have decided is asked for, all that is waited for in one question, before the time is over.
 */
import { Coalescer } from '../database/coalescer.js';
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import type { Receipt } from '../ledger/receipt.js';
import type { Put } from './turn.js';

export type Heard = { readonly receipt: Receipt } | { readonly as: Put['as'] };

interface Place {
  readonly g: string;
  readonly n: number;
}

/** When to ask, counted from the arrival: where this process drives, once before giving up. */
const asks = { driven: [90], elsewhere: [15, 40, 90] };
const giveUpMs = 100;

export class SignalAnswers {
  readonly #waiting = new Map<string, (heard: Heard) => void>();
  readonly #asking: Coalescer<Place, Heard | undefined>;
  readonly #driven: () => boolean;

  constructor(db: Queryable, driven: () => boolean) {
    this.#driven = driven;
    this.#asking = new Coalescer(
      async (places) => {
        const known = await gate<(Place & Heard)[]>(db, 'fn_signals_settled($1::text::jsonb)', [
          JSON.stringify(places),
        ]);
        const found = new Map<string, Heard>(known.map((one) => [keyOf(one), one]));
        return places.map((place) => found.get(keyOf(place)));
      },
      () => 60,
    );
  }

  hear(
    governorId: string,
    settled: readonly (readonly [number, Receipt])[],
    put: readonly Put[],
  ): void {
    if (this.#waiting.size === 0) return;
    for (const [n, receipt] of settled)
      this.#waiting.get(keyOf({ g: governorId, n }))?.({ receipt });
    for (const { arrivalSeq, as } of put)
      this.#waiting.get(keyOf({ g: governorId, n: arrivalSeq }))?.({ as });
  }

  /**
   * Its receipt, or that it is buffered, if that is so by now. Whoever asks has a signal that was
   * taken: what cannot be asked now is not known yet.
   */
  known(place: Place): Promise<Heard | undefined> {
    return this.#asking.add(place).catch(() => undefined);
  }

  /** What is known within a tenth of a second; undefined: nothing yet. */
  within(place: Place): Promise<Heard | undefined> {
    const key = keyOf(place);
    return new Promise((resolve) => {
      const timers: NodeJS.Timeout[] = [];
      const done = (heard: Heard | undefined) => {
        for (const timer of timers) clearTimeout(timer);
        if (this.#waiting.get(key) === done) this.#waiting.delete(key);
        resolve(heard);
      };
      this.#waiting.set(key, done);
      for (const ms of this.#driven() ? asks.driven : asks.elsewhere)
        timers.push(
          setTimeout(() => {
            void this.known(place).then((heard) => heard && done(heard));
          }, ms),
        );
      timers.push(setTimeout(() => done(undefined), giveUpMs));
    });
  }
}

const keyOf = ({ g, n }: Place) => `${g}/${n}`;
