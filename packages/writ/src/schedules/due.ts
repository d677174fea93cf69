/**
 * Which ticks of a schedule to fire now, and which one to wait for: a function of the schedule and
 * the time alone.
 */
import type { Cron } from './cron.js';

/**
 * What happens to ticks that nobody was there to fire: nothing, the last one fires, or all of them
 * do.
 */
export type CatchUp = 'none' | 'last' | 'all';
export const catchUps: readonly CatchUp[] = ['none', 'last', 'all'];

export interface Waiting {
  readonly cron: Cron;
  readonly catchUp: CatchUp;
  /** The first tick that has not been fired. */
  readonly nextTick: Date;
}

export interface Due {
  readonly fire: Date[];
  /**
   * The tick to wait for; one that has come already means that there are more than one call fires.
   */
  readonly next: Date;
}

/** Ticks that one call fires at most. */
export const mostTicks = 1000;
/** With catch-up `none`: a tick that is later than this has been missed. */
export const lateMs = 60_000;

export function dueTicks({ cron, catchUp, nextTick }: Waiting, now: Date): Due {
  if (nextTick > now) return { fire: [], next: nextTick };
  if (catchUp === 'all') return allDue(cron, nextTick, now);
  const last = lastDue(cron, nextTick, now);
  const missed = catchUp === 'none' && now.getTime() - last.getTime() >= lateMs;
  return { fire: missed ? [] : [last], next: cron.next(now) };
}

function allDue(cron: Cron, first: Date, now: Date): Due {
  const fire = [first];
  for (const tick of cron.ticks(first)) {
    if (tick > now || fire.length === mostTicks) return { fire, next: tick };
    fire.push(tick);
  }
  return { fire, next: cron.next(now) };
}

/**
 * The last tick from `first` to `now`. It is looked for in a span before now that doubles until it
 * holds one, so that a year of minutes is not counted.
 */
function lastDue(cron: Cron, first: Date, now: Date): Date {
  for (let span = 3_600_000; now.getTime() - span > first.getTime(); span *= 2) {
    const last = lastAfter(cron, new Date(now.getTime() - span), now);
    if (last) return last;
  }
  return lastAfter(cron, first, now) ?? first;
}

function lastAfter(cron: Cron, from: Date, now: Date): Date | undefined {
  let last: Date | undefined;
  for (const tick of cron.ticks(from)) {
    if (tick > now) break;
    last = tick;
  }
  return last;
}
