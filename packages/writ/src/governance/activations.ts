/** Contracts that are activated at the same time by the same principal travel together. */
import { Coalescer } from '../database/coalescer.js';
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { uuidv7 } from '../database/uuid.js';
import { refusalIn } from '../errors/index.js';

export interface Activation {
  readonly contract: string;
  readonly break_glass?: string | undefined;
  /** Theirs who break the glass: what they signed, and how. */
  readonly document?: string | undefined;
  readonly signature?: string | undefined;
  readonly scheme?: string | undefined;
}

/** Answers the id of the governance job. */
export type Activate = (key: string | null, activation: Activation) => Promise<string>;

export function activations(db: Queryable): Activate {
  /**
   * Of those who wait for an answer: what happens to the call of one principal is nothing to
   * another.
   */
  const byKey = new Map<
    string | null,
    { readonly coalescer: Coalescer<string, unknown>; open: number }
  >();
  const begun = (key: string | null) => ({
    coalescer: new Coalescer<string, unknown>(
      (items) =>
        gate<unknown[]>(db, 'fn_contracts_activate($1, $2::text::jsonb)', [
          key,
          `[${items.join(',')}]`,
        ]),
      (item) => item.length,
    ),
    open: 0,
  });
  return async (key, activation) => {
    const own = byKey.get(key) ?? begun(key);
    byKey.set(key, own);
    own.open += 1;
    try {
      // The id of the job is chosen here: a call whose answer was lost is made again, and nothing
      // happens twice.
      const answer = await own.coalescer.add(JSON.stringify({ ...activation, job: uuidv7() }));
      const refusal = refusalIn(answer);
      if (refusal) throw refusal;
      return (answer as { job_id: string }).job_id;
    } finally {
      own.open -= 1;
      if (own.open === 0) byKey.delete(key);
    }
  };
}
