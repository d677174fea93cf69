/** `writ queue stats`: the queue in figures, as a whole and by kind. */
import type { Command } from 'commander';
import { contextOf } from '../../command.js';
import type { Session } from '../../connection.js';
import { jobsInStatus } from '../../jobs.js';
import { count, type Output, plural, span } from '../../output.js';

/** The answer of fn_job_queue_health. */
export interface Health {
  readonly backlog: number;
  readonly waiting: number;
  readonly in_progress: number;
  readonly dead_letter_open: number;
  readonly oldest_queued_age_s: number | null;
  readonly lease_active: number;
  readonly workers: number;
  readonly enabled: boolean;
}

interface Kind {
  readonly kind: string;
  readonly backlog: number;
  readonly in_progress: number;
  readonly dead_letter: number;
}

/** Dead letters are looked up one by one to find their kinds, so only so many of them are, the newest. */
const lookedUp = 10_000;

const byKind = `
  select job_kind as kind, coalesce(b.backlog, 0)::float8 as backlog, coalesce(p.in_progress, 0)::float8 as in_progress,
    coalesce(d.dead_letter, 0)::float8 as dead_letter
  from (select * from writ.job_kind where job_kind not like 'writ.%') k -- timers and waits of runs are no work that waits for somebody
  left join writ.v_job_queue_backlog b using (job_kind)
  left join writ.v_job_queue_in_progress p using (job_kind)
  left join (select job_kind, count(*) as dead_letter from (
    select q.job_kind from ${jobsInStatus('dead_letter')} order by e.job_id desc limit ${lookedUp}) q group by job_kind) d using (job_kind)
  where k.registered_by <> 'migration' or b.backlog > 0 or p.in_progress > 0 or d.dead_letter > 0 -- of what is built in, only what there is
  order by backlog desc, job_kind`;

export const readHealth = (db: Session): Promise<Health> =>
  db.gate<Health>('fn_job_queue_health()');

export function addStats(queue: Command): void {
  queue
    .command('stats')
    .description('backlog, work in progress, dead letters and workers')
    .action(async (_options: unknown, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const health = await readHealth(db);
        const kinds = await db.rows<Kind>(byKind);
        if (output.json) output.data({ ...health, kinds });
        else show(output, health, kinds);
        if (health.dead_letter_open > lookedUp)
          output.note(`Dead letters by kind are those of the newest ${count(lookedUp)}.`);
      });
    });
}

function show(output: Output, health: Health, kinds: readonly Kind[]): void {
  const oldest =
    health.oldest_queued_age_s === null || health.backlog === 0
      ? ''
      : `, the oldest for ${span(health.oldest_queued_age_s * 1000)}`;
  output.pairs([
    ['queue', health.enabled ? output.style('green', 'on') : output.style('red', 'off')],
    ['backlog', `${count(health.backlog)}${oldest}`],
    ['waiting', `${count(health.waiting)} (delays and retries)`],
    ['in progress', `${count(health.in_progress)} in ${plural(health.lease_active, 'lease')}`],
    [
      'dead letters',
      health.dead_letter_open > 0 ? output.style('red', count(health.dead_letter_open)) : '0',
    ],
    ['workers', count(health.workers)],
  ]);
  if (kinds.length === 0) return;
  output.line();
  const right = { align: 'right' } as const;
  output.table(
    [
      { title: 'KIND' },
      { title: 'BACKLOG', ...right },
      { title: 'IN PROGRESS', ...right },
      { title: 'DEAD LETTERS', ...right },
    ],
    kinds.map((kind) => [
      kind.kind,
      count(kind.backlog),
      count(kind.in_progress),
      count(kind.dead_letter),
    ]),
  );
}
