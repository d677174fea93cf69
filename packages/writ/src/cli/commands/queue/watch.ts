/**
 * `writ queue watch`: the queue as it lives. Once a second it takes a reading and draws it over the last picture; without a terminal each reading is a
 * line. Counting a large backlog takes a while: the pause between readings is then longer, so that watching costs the database a third of one
 * process at most.
 */
import type { Command } from 'commander';
import { type Duration, milliseconds } from '../../../queue/duration.js';
import { contextOf, duration } from '../../command.js';
import type { Session } from '../../connection.js';
import type { Output } from '../../output.js';
import { interruption } from '../../signals.js';
import { Picture } from '../../watch/picture.js';
import { firstMark, read } from '../../watch/reading.js';

export function addWatch(queue: Command): void {
  queue
    .command('watch')
    .description('the queue live: backlog, throughput, waiting time, kinds, workers; Ctrl-C ends')
    .option('--for <duration>', 'end by itself after this long', duration)
    .action(async (options: { for?: Duration }, command: Command) => {
      const { output, session } = contextOf(command);
      await session((db) =>
        watch(db, output, options.for === undefined ? undefined : milliseconds(options.for)),
      );
    });
}

/** How long to wait after a reading that took so long. */
export const pause = (tookMs: number): number => Math.max(1_000 - tookMs, 2 * tookMs);

async function watch(db: Session, output: Output, forMs: number | undefined): Promise<void> {
  const { first, release } = interruption();
  const endsAt = forMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + forMs;
  const picture = new Picture(output);
  let stopped = false;
  void first.then(() => {
    stopped = true;
  });
  try {
    let mark = await firstMark(db);
    let wait = 1_000;
    for (;;) {
      const sleep = Math.min(wait, Math.max(0, endsAt - Date.now()));
      await Promise.race([first, new Promise((resume) => setTimeout(resume, sleep))]);
      if (stopped) return;
      const from = performance.now();
      const next = await read(db, mark);
      wait = pause(performance.now() - from);
      mark = next.mark;
      picture.draw(next.reading);
      if (Date.now() >= endsAt) return;
    }
  } finally {
    release();
  }
}
