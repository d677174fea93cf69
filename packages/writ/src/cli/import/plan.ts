/** What an import would do, from one look at the source: what is copied as which kind, and what stays where it is, and why. */
import type { Session } from '../connection.js';
import { count, type Output, plural } from '../output.js';
import { type Reason, reasons, type Source } from './source.js';

export interface Copied {
  readonly name: string;
  readonly kind: string;
  readonly ready: number;
  readonly delayed: number;
  readonly retrying: number;
}

export interface Left {
  readonly name: string;
  readonly reason: Reason;
  readonly jobs: number;
}

export interface Plan {
  readonly jobs: number;
  readonly copied: readonly Copied[];
  readonly left: readonly Left[];
  /** Recurring schedules of the source; they are defined anew, not copied. */
  readonly schedules: number;
  /** Names in the map that no job has. */
  readonly unused: readonly string[];
}

/** As the gate wants it; a kind that slips through is refused there, before anything is copied. */
const kindName = /^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$/;

interface Counted {
  readonly name: string;
  readonly reason: Reason | null;
  readonly ready: number;
  readonly delayed: number;
  readonly retrying: number;
}

export async function readPlan(
  db: Session,
  source: Source,
  kinds: ReadonlyMap<string, string>,
): Promise<Plan> {
  const rows = await db.rows<Counted>(
    `select ${source.name} as name, ${source.left} as reason,
       count(*) filter (where not (${source.retrying}) and ${source.dueAt} <= now())::integer as ready,
       count(*) filter (where not (${source.retrying}) and ${source.dueAt} > now())::integer as delayed,
       count(*) filter (where ${source.retrying})::integer as retrying
     from ${source.from} where ${source.unfinished} group by 1, 2 order by 1, 2`,
  );
  const [schedules] = await db.rows<{ n: number }>(source.schedules);
  const copied: Copied[] = [];
  const left: Left[] = [];
  for (const { name, reason, ready, delayed, retrying } of rows) {
    const kind = kinds.get(name) ?? name;
    if (reason !== null) left.push({ name, reason, jobs: ready + delayed + retrying });
    else if (kindName.test(kind)) copied.push({ name, kind, ready, delayed, retrying });
    else left.push({ name, reason: 'name', jobs: ready + delayed + retrying });
  }
  const names = new Set(rows.map((row) => row.name));
  return {
    jobs: copied.reduce((sum, { ready, delayed, retrying }) => sum + ready + delayed + retrying, 0),
    copied,
    left,
    schedules: schedules?.n ?? 0,
    unused: [...kinds.keys()].filter((name) => !names.has(name)),
  };
}

export function showPlan(
  output: Output,
  plan: Plan,
  { system, from, to }: { system: string; from: string; to: string },
): void {
  output.line(
    from === to ? `From ${system} to Writ in ${to}` : `From ${system} in ${from} to Writ in ${to}`,
  );
  output.line();
  const right = { align: 'right' } as const;
  if (plan.copied.length > 0) {
    output.table(
      [
        { title: 'COPIED' },
        { title: 'AS KIND' },
        { title: 'READY', ...right },
        { title: 'DELAYED', ...right },
        { title: 'RETRYING', ...right },
      ],
      plan.copied.map((row) => [
        row.name,
        row.kind,
        count(row.ready),
        count(row.delayed),
        count(row.retrying),
      ]),
    );
  } else output.line('No job waits there that can be copied.');
  if (plan.left.length > 0) {
    output.line();
    output.table(
      [{ title: 'LEFT' }, { title: 'JOBS', ...right }, { title: 'WHY' }],
      plan.left.map((row) => [row.name, count(row.jobs), reasons[row.reason]]),
    );
  }
  output.line();
  if (plan.schedules > 0) {
    output.line(
      `${plural(plan.schedules, 'recurring schedule')} of ${system} cannot be copied: define what recurs anew.`,
    );
  }
  for (const name of plan.unused)
    output.note(`--kind-map names ${name}, and no job there has that name.`);
}
