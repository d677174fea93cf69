/**
 * What every worker does for the ledger at each look: the record of the queue is sealed, and
 * receipts that have been committed are put into their logs. One worker at a time does it, in one
 * call and one transaction; a crash leaves the segment unsealed and the receipts unsequenced, for
 * whoever looks next.
 */
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { count } from '../telemetry/meter.js';

const againMs = 5;

/** Answers in how many milliseconds to look again, when there is more than one call takes. */
export async function turnLedger(db: Queryable, actor: string): Promise<number | undefined> {
  const { more, sealed, sequenced } = await gate<{
    more: boolean;
    sealed: number;
    sequenced: number;
  }>(db, 'fn_ledger_tick($1)', [actor]);
  count('writ.ledger.sealed', sealed);
  count('writ.ledger.receipts', sequenced);
  return more ? againMs : undefined;
}
