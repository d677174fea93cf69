/** Three clocks that should agree: this machine's, the database's, and the one that gates read. */
import { readRows } from '../database/gate.js';
import { span } from '../errors/words.js';
import { type Checks, type Finding, type Patient, well } from './finding.js';

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

async function clock({ db }: Patient): Promise<Finding[]> {
  const samples: Sample[] = [];
  for (let trip = 0; trip < trips; trip++) {
    const sent = Date.now();
    const from = performance.now();
    const [row] = await readRows<{ ms: number }>(
      db,
      'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
    );
    samples.push({ sent, trip: performance.now() - from, answered: row?.ms ?? 0 });
  }
  return [judgeClock(clockDifference(samples))];
}

export function judgeClock({ difference, uncertainty }: ClockDifference): Finding {
  const off = Math.max(0, Math.abs(difference) - uncertainty);
  const direction = difference < 0 ? 'behind' : 'ahead of';
  const says = `The database is ${span(Math.abs(difference))} ${direction} this machine (± ${span(uncertainty)})`;
  const facts = { difference_ms: difference, uncertainty_ms: uncertainty };
  if (off < 1_000) return well('clock', says, facts);
  return {
    check: 'clock',
    level: off < 30_000 ? 'warning' : 'error',
    code: 'clock_differs',
    facts,
    says,
    means:
      'Leases follow the database alone, but a worker here judges deadlines by its own clock, and ids made here carry its time.',
  };
}

/** Tests move the clock of gates; in production nobody may. */
async function gateClock({ db }: Patient): Promise<Finding[]> {
  const [row] = await readRows<{ ms: number }>(
    db,
    'select extract(epoch from writ.now() - clock_timestamp())::float8 * 1000 as ms',
  );
  return judgeGateClock(row?.ms ?? 0);
}

export function judgeGateClock(difference: number): Finding[] {
  if (Math.abs(difference) < 1_000) return [];
  const direction = difference < 0 ? 'behind' : 'ahead of';
  return [
    {
      check: 'clock',
      level: 'warning',
      code: 'gate_clock_replaced',
      facts: { difference_ms: difference },
      says: `writ.now() is ${span(Math.abs(difference))} ${direction} the database’s own clock`,
      means:
        'Somebody has replaced the function. Gates go by it: leases, delays, retries and deadlines are early or late by as much.',
    },
  ];
}

export const clockChecks: Checks = { clock };
export const gateClockChecks: Checks = { 'clock of gates': gateClock };
