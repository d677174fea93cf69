/**
 * `writ jobs watch`: a governance job until it rests. It is looked at as often as something happens, at least once a second; on a terminal a picture is drawn over the
 * last one, elsewhere each move and each step is a line.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { contextOf } from '../../command.js';
import type { Session } from '../../connection.js';
import { exitCodes } from '../../failure.js';
import {
  endOf,
  eventsOf,
  type Happened,
  type Look,
  linesOf,
  lookAt,
  rests,
} from '../../governance/picture.js';
import { governanceJobId, governanceOf } from '../../governance/session.js';
import { plain } from '../../governance/words.js';
import type { Output } from '../../output.js';
import { LivePicture } from '../../redraw.js';
import { clockTime } from '../../runs/words.js';
import { interruption } from '../../signals.js';

const pauses = { first: 250, longest: 1_000, frame: 100 };

export function addWatch(jobs: Command): void {
  jobs
    .command('watch')
    .description(
      'a governance job live, until it rests, with its rollback; exit code 0 if it completed; Ctrl-C ends the watch, not the job',
    )
    .argument('<job>', 'id of the governance job', governanceJobId)
    .action(async (id: string, _options: unknown, command: Command) => {
      const { output, session } = contextOf(command);
      await session((db) => watch(db, output, id));
    });
}

/** The exit code says how it ended. */
export async function watch(db: Session, output: Output, id: string): Promise<void> {
  const { first, release } = interruption();
  const stop = new AbortController();
  void first.then(() => stop.abort());
  try {
    const end = await follow(db, output, id, stop.signal);
    if (end?.job.status !== 'COMPLETED') process.exitCode = exitCodes.failed;
  } finally {
    release();
  }
}

async function follow(
  db: Session,
  output: Output,
  id: string,
  stop: AbortSignal,
): Promise<Look | undefined> {
  const governance = governanceOf(db);
  const picture = output.live ? new LivePicture(output, linesOf) : undefined;
  const said = new Set<string>();
  let pause = pauses.first;
  for (;;) {
    const look = await lookAt(db, governance, id);
    const news = eventsOf(look).filter(({ key }) => !said.has(key));
    for (const each of news) {
      said.add(each.key);
      if (!picture) say(output, each);
    }
    if (rests(look)) {
      if (picture) picture.draw(look, { last: true });
      else if (!output.json) for (const line of endOf(look)) output.line(line);
      return look;
    }
    pause = news.length > 0 ? pauses.first : Math.min(pause * 1.25, pauses.longest);
    if (!(await rest(pause, stop, picture, look))) return undefined;
  }
}

/** Waits, with the picture drawn meanwhile; false if somebody has had enough. */
async function rest(
  ms: number,
  stop: AbortSignal,
  picture: LivePicture<Look> | undefined,
  look: Look,
): Promise<boolean> {
  const from = performance.now();
  for (let passed = 0; passed < ms; passed = performance.now() - from) {
    picture?.draw({ ...look, now: look.now + passed });
    try {
      await sleep(Math.min(ms - passed, picture ? pauses.frame : ms), undefined, { signal: stop });
    } catch {
      return false; // the signal is the only thing that ends a sleep
    }
  }
  return true;
}

function say(output: Output, { key: _, ...happened }: Happened): void {
  if (output.json) output.data(happened, { line: true });
  else
    output.line(
      plain(`${clockTime(happened.at)}  ${happened.rollback ? '↩ ' : ''}${happened.says}`),
    );
}
