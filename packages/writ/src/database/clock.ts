/** The clock of the database, which takes ids of about its own time, and the clock of ids. */
import type { Queryable } from './connection.js';
import { followClock, uuidTime } from './uuid.js';

/** Within this the database takes an id: it may be five minutes ahead. */
const tolerableMs = 240_000;

/**
 * Lets new ids follow the database's clock, if this machine's clock is the reason why the database
 * refused an id. Answers whether it is.
 */
export async function followDatabase(db: Queryable, refused: string): Promise<boolean> {
  const { rows } = await db.query(
    'select floor(extract(epoch from clock_timestamp()) * 1000)::text as ms',
  );
  const ms = Number(rows[0]?.ms);
  if (Math.abs(ms - uuidTime(refused)) < tolerableMs) return false;
  followClock(ms);
  return true;
}

/** The time of the database. Gates measure by it, and not by the clock of this machine. */
export async function databaseTime(db: Queryable): Promise<Date> {
  const { rows } = await db.query(
    'select (extract(epoch from writ.now()) * 1000)::bigint::text as ms',
  );
  return new Date(Number(rows[0]?.ms));
}
