/**
 * Fires what is due. Every worker looks, so there is no process that must not die: the database
 * answers which schedules are due, the ticks are worked out here, and fn_schedule_fire writes them
 * down, enqueues their jobs and moves the schedules on in one transaction. Of two that look at once
 * one fires. A crash between the two calls leaves a schedule that is due, for whoever looks next.
 */
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { asRefusal, WritRefusal } from '../errors/index.js';
import { Cron } from './cron.js';
import { type CatchUp, dueTicks, mostTicks } from './due.js';

interface DueSchedule {
  readonly tenant: string;
  readonly schedule: string;
  readonly cron: string;
  readonly time_zone: string;
  readonly catch_up: CatchUp;
  readonly version: number;
  readonly next_tick: string;
}

interface DueAnswer {
  readonly now: string;
  readonly due: DueSchedule[];
  readonly next_due: string | null;
}

interface FireAnswer {
  readonly fired: number;
  readonly moved: number;
  readonly refused: { tenant: string; schedule: string; reason: string; detail: string | null }[];
}

/** What fn_schedule_fire takes for one schedule. */
interface Firing extends Pick<DueSchedule, 'tenant' | 'schedule' | 'version' | 'next_tick'> {
  readonly ticks: Date[];
  readonly move_to: Date;
}

const page = 200;

export class Scheduler {
  readonly #db: Queryable;
  readonly #actor: string;

  constructor(db: Queryable, actor: string) {
    this.#db = db;
    this.#actor = actor;
  }

  /**
   * Fires what is due, and answers in how many milliseconds the next tick is; undefined when
   * nothing waits. A schedule that cannot fire keeps none of the others from firing: what is wrong
   * with it is thrown when they have.
   */
  async look(): Promise<number | undefined> {
    const wrong: Error[] = [];
    const upcoming: number[] = [];
    let after: DueSchedule | undefined;
    let now = 0;
    do {
      const answer = await this.#due(after);
      now = Date.parse(answer.now);
      if (answer.next_due !== null) upcoming.push(Date.parse(answer.next_due));
      for (const firings of batches(answer.due, new Date(answer.now), wrong)) {
        const { moved, refused } = await this.#fire(firings);
        for (const each of refused) wrong.push(asRefusal(each.reason, about(each, each.detail)));
        // What did not move is somebody else's at the moment; the next look, which comes anyhow,
        // sees it again.
        if (moved === firings.length)
          upcoming.push(...firings.map((firing) => firing.move_to.getTime()));
      }
      after = answer.due.length === page ? answer.due.at(-1) : undefined;
    } while (after);
    if (wrong.length > 1)
      throw new AggregateError(wrong, wrong.map((each) => each.message).join('\n'));
    if (wrong[0]) throw wrong[0];
    return upcoming.length === 0 ? undefined : Math.max(0, Math.min(...upcoming) - now);
  }

  #due(after: DueSchedule | undefined): Promise<DueAnswer> {
    return after
      ? gate(this.#db, 'fn_schedule_due($1, $2, $3, $4)', [
          page,
          after.next_tick,
          after.tenant,
          after.schedule,
        ])
      : gate(this.#db, 'fn_schedule_due($1)', [page]);
  }

  #fire(firings: readonly Firing[]): Promise<FireAnswer> {
    return gate(this.#db, 'fn_schedule_fire($1::text::jsonb, $2)', [
      JSON.stringify(firings),
      this.#actor,
    ]);
  }
}

/** Works out the ticks, a call's worth at a time. */
function* batches(
  due: readonly DueSchedule[],
  now: Date,
  wrong: Error[],
): Generator<Firing[], void, undefined> {
  let batch: Firing[] = [];
  let ticks = 0;
  for (const each of due) {
    const firing = firingOf(each, now, wrong);
    if (!firing) continue;
    if (ticks > 0 && ticks + firing.ticks.length > mostTicks) {
      yield batch;
      batch = [];
      ticks = 0;
    }
    batch.push(firing);
    ticks += firing.ticks.length;
  }
  if (batch.length > 0) yield batch;
}

/**
 * A definition that was written past this library, or with other rules for zones, may not be
 * readable here: it stops no other.
 */
function firingOf(due: DueSchedule, now: Date, wrong: Error[]): Firing | undefined {
  const { tenant, schedule, version, next_tick } = due;
  try {
    const cron = new Cron(due.cron, due.time_zone);
    const { fire, next } = dueTicks(
      { cron, catchUp: due.catch_up, nextTick: new Date(next_tick) },
      now,
    );
    return { tenant, schedule, version, next_tick, ticks: fire, move_to: next };
  } catch (error) {
    const refusal = error instanceof WritRefusal;
    wrong.push(
      refusal
        ? new WritRefusal(error.code, about(due, error.detail), { cause: error })
        : new Error(about(due, (error as Error).message), { cause: error }),
    );
    return undefined;
  }
}

const about = (
  { tenant, schedule }: { tenant: string; schedule: string },
  detail?: string | null,
): string => `schedule ${schedule} of tenant ${tenant}${detail ? `: ${detail}` : ''}`;
