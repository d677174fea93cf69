/** Three clocks that should agree: this machine's, the database's, and the one that gates read. */
import type { Session } from '../connection.js';
import { span } from '../output.js';
import type { Finding } from './finding.js';

export interface Sample {
  /** What this machine's clock showed, in milliseconds, when the question was sent. */
  readonly sent: number;
  /** How long the answer took, by a clock that nobody sets. */
  readonly trip: number;
  /** What the database's clock showed somewhere between. */
  readonly answered: number;
}

export interface ClockDifference {
  /** Positive: the database is ahead. */
  readonly difference: number;
  readonly uncertainty: number;
}

const trips = 8;

/**
 * As NTP does: the answer was read within the trip, so its middle is the best guess and half of it
 * the uncertainty; of several trips the quickest says most. A millisecond is added because this
 * machine's clock counts whole ones.
 */
export function clockDifference(samples: readonly Sample[]): ClockDifference {
  const [best] = [...samples].sort((a, b) => a.trip - b.trip);
  if (!best) throw new Error('there is no sample');
  return {
    difference: best.answered - (best.sent + best.trip / 2),
    uncertainty: best.trip / 2 + 1,
  };
}

export async function clock(db: Session): Promise<Finding[]> {
  const samples: Sample[] = [];
  for (let trip = 0; trip < trips; trip++) {
    const sent = Date.now();
    const from = performance.now();
    const [row] = await db.rows<{ ms: number }>(
      'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
    );
    samples.push({ sent, trip: performance.now() - from, answered: row?.ms ?? 0 });
  }
  return [judgeClock(clockDifference(samples))];
}

export function judgeClock({ difference, uncertainty }: ClockDifference): Finding {
  const off = Math.max(0, Math.abs(difference) - uncertainty);
  const says = `The database is ${span(Math.abs(difference))} ${difference < 0 ? 'behind' : 'ahead of'} this machine (± ${span(uncertainty)})`;
  if (off < 1_000) return { check: 'clock', level: 'ok', says };
  return {
    check: 'clock',
    level: off < 30_000 ? 'warning' : 'error',
    says,
    means:
      'Leases follow the database alone, but a worker here judges deadlines by its own clock, and ids made here carry its time.',
    remedy: 'Synchronise both machines (NTP).',
  };
}

/** Tests move the clock of gates; in production nobody may. */
export async function gateClock(db: Session): Promise<Finding[]> {
  const [row] = await db.rows<{ ms: number }>(
    'select extract(epoch from writ.now() - clock_timestamp())::float8 * 1000 as ms',
  );
  return judgeGateClock(row?.ms ?? 0);
}

export function judgeGateClock(difference: number): Finding[] {
  if (Math.abs(difference) < 1_000) return [];
  return [
    {
      check: 'clock',
      level: 'warning',
      says: `writ.now() is ${span(Math.abs(difference))} ${difference < 0 ? 'behind' : 'ahead of'} the database’s own clock`,
      means:
        'Somebody has replaced the function. Gates go by it: leases, delays, retries and deadlines are early or late by as much.',
      remedy:
        "As the owner: create or replace function writ.now() returns timestamptz language sql volatile as 'select pg_catalog.clock_timestamp()';",
    },
  ];
}
