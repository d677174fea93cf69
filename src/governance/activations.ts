/** Contracts that are activated at the same time by the same principal travel together. */
import { Coalescer } from '../database/coalescer.js';
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { uuidv7 } from '../database/uuid.js';
import { refusalIn } from '../errors/index.js';

export interface Activation {
  readonly contract: string;
  /** What stands at targets outside the database. */
  readonly read: Readonly<Record<string, unknown>>;
  readonly break_glass?: string | undefined;
  /** Theirs who break the glass. */
  readonly signature?: string | undefined;
}

/** Answers the id of the governance job. */
export type Activate = (key: string, activation: Activation) => Promise<string>;

export function activations(db: Queryable): Activate {
  const coalescer = new Coalescer<{ readonly key: string; readonly json: string }, unknown>(
    async (items) => {
      const answers: unknown[] = [];
      for (const key of new Set(items.map((item) => item.key))) {
        const own = items.flatMap((item, place) => (item.key === key ? [{ place, json: item.json }] : []));
        const made = await gate<unknown[]>(db, 'fn_contracts_activate($1, $2::text::jsonb)', [
          key,
          `[${own.map(({ json }) => json).join(',')}]`,
        ]);
        own.forEach(({ place }, n) => {
          answers[place] = made[n];
        });
      }
      return answers;
    },
    ({ json }) => json.length,
  );
  return async (key, activation) => {
    // The id of the job is chosen here: a call whose answer was lost is made again, and nothing happens twice.
    const answer = await coalescer.add({ key, json: JSON.stringify({ ...activation, job: uuidv7() }) });
    const refusal = refusalIn(answer);
    if (refusal) throw refusal;
    return (answer as { job_id: string }).job_id;
  };
}
