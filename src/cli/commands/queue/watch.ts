/**
 * `writ queue watch`: the queue as it lives. Once a second it reads the figures and what has finished since the reading before, and draws them
 * over the last picture; without a terminal each reading is a line. Windows end 200 ms in the past, so that a transaction which took its time
 * to commit is still counted in the right one, and none is counted twice.
 */
import type { Command } from 'commander';
import { type Duration, milliseconds } from '../../../queue/duration.js';
import { contextOf, duration } from '../../command.js';
import type { Session } from '../../connection.js';
import { count, type Output, span } from '../../output.js';
import { interruption } from '../../signals.js';
import { type Health, readHealth } from './stats.js';

interface Reading extends Health {
  readonly at: string;
  readonly succeeded_per_s: number;
  readonly failed_per_s: number;
  /** Milliseconds from when a job could begin to when it began, of jobs whose first execution ended in this window. */
  readonly wait_p50_ms: number | null;
  readonly wait_p99_ms: number | null;
}

interface Window {
  readonly upto: string;
  readonly seconds: number;
  readonly succeeded: number;
  readonly failed: number;
}

const ended = `
  select e.status, e.job_id, e.execution_no, e.started_at from writ.job_execution e
  where e.finished_at > $1::timestamptz and e.finished_at <= $2::timestamptz`;

const figures = `
  select $2 as upto, extract(epoch from $2::timestamptz - $1::timestamptz)::float8 as seconds,
    count(*) filter (where status = 'DONE')::float8 as succeeded, count(*) filter (where status = 'ABORTED')::float8 as failed
  from (${ended}) e`;

// Of the newest thousand: looking up every job of a busy second would load the database that is being watched.
const waits = `
  select percentile_cont(array[0.5, 0.99]) within group
    (order by extract(epoch from e.started_at - greatest(q.enqueued_at, q.process_after))::float8 * 1000) as p
  from (${ended} and e.execution_no = 1 and e.started_at is not null order by e.job_id desc limit 1000) e
  cross join lateral (select j.enqueued_at, j.process_after from writ.job_queue j where j.job_id = e.job_id offset 0) q`;

export function addWatch(queue: Command): void {
  queue
    .command('watch')
    .description('the queue live: backlog, throughput, waiting time; Ctrl-C ends')
    .option('--for <duration>', 'end by itself after this long', duration)
    .action(async (options: { for?: Duration }, command: Command) => {
      const { output, session } = contextOf(command);
      await session((db) => watch(db, output, options.for === undefined ? undefined : milliseconds(options.for)));
    });
}

async function watch(db: Session, output: Output, forMs: number | undefined): Promise<void> {
  const { first, release } = interruption();
  const endsAt = forMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + forMs;
  const picture = new Picture(output);
  let stopped = false;
  void first.then(() => {
    stopped = true;
  });
  let since = await readClock(db);
  try {
    for (;;) {
      await Promise.race([first, new Promise((resume) => setTimeout(resume, Math.min(1_000, Math.max(0, endsAt - Date.now()))))]);
      if (stopped) return;
      const { reading, upto } = await read(db, since);
      since = upto;
      picture.draw(reading);
      if (Date.now() >= endsAt) return;
    }
  } finally {
    release();
  }
}

async function readClock(db: Session): Promise<string> {
  const [row] = await db.rows<{ at: string }>(`select (writ.now() - interval '200 ms')::text as at`);
  return (row as { at: string }).at;
}

async function read(db: Session, since: string): Promise<{ reading: Reading; upto: string }> {
  const health = await readHealth(db);
  const upto = await readClock(db);
  const [window] = await db.rows<Window>(figures, [since, upto]);
  const [wait] = await db.rows<{ p: [number, number] | null }>(waits, [since, upto]);
  const { seconds, succeeded, failed } = window as Window;
  const perSecond = (n: number) => (seconds > 0 ? Math.round((n / seconds) * 10) / 10 : 0);
  const reading: Reading = {
    at: new Date().toISOString(),
    ...health,
    succeeded_per_s: perSecond(succeeded),
    failed_per_s: perSecond(failed),
    wait_p50_ms: wait?.p?.[0] ?? null,
    wait_p99_ms: wait?.p?.[1] ?? null,
  };
  return { reading, upto };
}

class Picture {
  readonly #output: Output;
  readonly #rates: number[] = [];
  #lines = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  draw(reading: Reading): void {
    const output = this.#output;
    if (output.json) {
      output.data(reading, { line: true });
      return;
    }
    const wait = reading.wait_p50_ms === null ? '–' : `${span(reading.wait_p50_ms)} / ${span(reading.wait_p99_ms as number)}`;
    const rate = `${count(Math.round(reading.succeeded_per_s))}/s`;
    if (!output.live) {
      output.line(
        `${reading.at.slice(11, 19)}  backlog ${reading.backlog}  waiting ${reading.waiting}  in progress ${reading.in_progress}  done ${rate}  failed ${reading.failed_per_s}/s  dead letters ${reading.dead_letter_open}  wait p50/p99 ${wait}`,
      );
      return;
    }
    this.#rates.push(reading.succeeded_per_s);
    if (this.#rates.length > 40) this.#rates.shift();
    const dim = (text: string) => output.style('dim', text);
    const lines = [
      `${output.style('bold', 'queue')}  ${reading.enabled ? output.style('green', 'on') : output.style('red', 'off')}   ${dim(reading.at.slice(11, 19))}   ${dim('Ctrl-C ends')}`,
      `${dim('backlog      ')} ${count(reading.backlog)}${reading.backlog > 0 && reading.oldest_queued_age_s !== null ? dim(`  oldest ${span(reading.oldest_queued_age_s * 1000)}`) : ''}`,
      `${dim('waiting      ')} ${count(reading.waiting)}`,
      `${dim('in progress  ')} ${count(reading.in_progress)}${dim(`  workers ${reading.workers}`)}`,
      `${dim('dead letters ')} ${reading.dead_letter_open > 0 ? output.style('red', count(reading.dead_letter_open)) : '0'}`,
      `${dim('done         ')} ${rate.padEnd(10)} ${output.style('green', sparkline(this.#rates))}`,
      `${dim('failed       ')} ${reading.failed_per_s}/s`,
      `${dim('wait p50/p99 ')} ${wait}`,
    ];
    if (this.#lines > 0) process.stdout.write(`\u001b[${this.#lines}A`);
    for (const line of lines) process.stdout.write(`${line}\u001b[K\n`);
    this.#lines = lines.length;
  }
}

export function sparkline(values: readonly number[]): string {
  const bars = '▁▂▃▄▅▆▇█';
  const top = Math.max(...values, 1);
  return values.map((value) => bars[Math.min(bars.length - 1, Math.floor((value / top) * bars.length))]).join('');
}
