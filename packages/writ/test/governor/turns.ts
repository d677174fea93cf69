/**
 * One turn as a driver makes it, up to the point where it is written: for tests that write it
 * themselves, as it is or changed.
 */
import { decide, decideVersion } from '../../src/governor/decide.js';
import type { Decide } from '../../src/governor/machine.js';
import type { PolicyVersion } from '../../src/governor/policy-document.js';
import { takenFrom } from '../../src/governor/stored.js';
import { rowsOf, type TurnRows, turn } from '../../src/governor/turn.js';

/** A client of pg, or one that answers rows. */
export interface Querying {
  query(
    sql: string,
    params?: unknown[],
  ): Promise<{ rows: Record<string, unknown>[] } | Record<string, unknown>[]>;
}

/** Takes the governors that are due, or these, in the transaction of the caller, and decides. */
export async function decidedTurn(
  db: Querying,
  {
    ids,
    policy = null,
    with: deciding = decide,
  }: { ids?: readonly string[]; policy?: PolicyVersion | null; with?: Decide } = {},
): Promise<TurnRows> {
  const named = ids ? `{${ids.join(',')}}` : null;
  const answer = await db.query(
    "select * from writ.fn_governors_take(200, 64, '-infinity', $1::text::uuid[])",
    [named],
  );
  const { governors, now } = takenFrom(Array.isArray(answer) ? answer : answer.rows);
  const options = {
    decide: deciding,
    decideVersion,
    processId: 'test',
    now,
    twice: false,
    limit: 256,
    mails: 64,
    crashLimit: 10,
  };
  return rowsOf(
    governors.map((one) => turn(one, policy, undefined, undefined, options)),
    [],
  );
}

export const apply = 'select writ.fn_governors_apply($1::text::jsonb, $2) as answer';
