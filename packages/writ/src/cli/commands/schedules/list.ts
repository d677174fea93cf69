/** `writ schedules list`: when each schedule fires next, in its own time zone. */
import type { Command } from 'commander';
import type { Schedule } from '../../../schedules/schedules.js';
import { contextOf } from '../../command.js';
import { ago, type Output, span } from '../../output.js';
import { schedulesOf, tenantOf } from './session.js';

export function addList(schedules: Command): void {
  schedules
    .command('list')
    .description('every schedule, with its next and last tick in its own time zone')
    .option('--tenant <tenant>', 'only those of this tenant')
    .action(async (options: { tenant?: string }, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const of = schedulesOf(db, options);
        const all = await of.list(tenantOf(options));
        if (output.json) output.data(all);
        else show(output, all, await of.now());
      });
    });
}

function show(output: Output, all: readonly Schedule[], now: Date): void {
  if (all.length === 0) {
    output.line('No schedules. `writ schedules put NAME --cron … --kind …` defines one.');
    return;
  }
  const tenants = all.some(({ tenant }) => tenant !== 'default');
  const columns = [
    'SCHEDULE',
    ...(tenants ? ['TENANT'] : []),
    'CRON',
    'ZONE',
    'KIND',
    'NEXT TICK',
    'IN',
    'LAST TICK',
    'PAUSED',
  ];
  output.table(
    columns.map((title) => ({ title })),
    all.map((each) => [
      each.name,
      ...(tenants ? [each.tenant] : []),
      each.cron,
      each.timeZone,
      each.kind,
      wallTime(each.nextTick, each.timeZone),
      each.pausedAt ? null : until(each.nextTick, now),
      each.lastTick && wallTime(each.lastTick, each.timeZone),
      each.pausedAt
        ? output.style('yellow', `${ago(each.pausedAt, now)} by ${each.pausedBy}`)
        : null,
    ]),
  );
}

const until = (tick: Date, now: Date) =>
  tick <= now ? 'due' : span(tick.getTime() - now.getTime());

/** As a clock on the wall there shows it; as UTC where this Node does not know the zone. */
export function wallTime(at: Date, timeZone: string): string {
  // Sweden writes dates as ISO 8601 does.
  try {
    return new Intl.DateTimeFormat('sv-SE', {
      timeZone,
      dateStyle: 'short',
      timeStyle: 'short',
    }).format(at);
  } catch {
    return at.toISOString();
  }
}
