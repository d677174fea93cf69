/**
 * `writ runs watch`: a run as it lives, until it ends. It reads what the log has had since the last look and draws the steps over the last picture; without a
 * terminal each event is a line. It looks four times a second while something happens, and less often the longer nothing does; the spinner turns in between.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { RunEvent } from '../../../runs/events.js';
import { emptySnapshot, isTerminal, type RunSnapshot, reduce } from '../../../runs/snapshot.js';
import { contextOf, runId } from '../../command.js';
import type { Session } from '../../connection.js';
import { exitCodes } from '../../failure.js';
import type { Output } from '../../output.js';
import { LivePicture } from '../../redraw.js';
import { type Look, linesOf } from '../../runs/picture.js';
import { clockTime, detailOf, endOf } from '../../runs/words.js';
import { interruption } from '../../signals.js';
import { lookAt, planOf, runsOf } from './session.js';

const pauses = { first: 250, longest: 1_000, frame: 100 };
const page = 5_000;

export function addWatch(runs: Command): void {
  runs
    .command('watch')
    .description(
      'a run live, until it ends; exit code 0 if it completed; Ctrl-C ends the watch, not the run',
    )
    .argument('<run>', 'id of the run', runId)
    .option('--tenant <tenant>', 'only when it is a run of this tenant')
    .action(async (id: string, { tenant }: { tenant?: string }, command: Command) => {
      const { output, session } = contextOf(command);
      await session((db) => watch(db, output, id, tenant));
    });
}

/** Resolves with the run's end, or with undefined when somebody stopped watching. The exit code says how it ended. */
export async function watch(
  db: Session,
  output: Output,
  id: string,
  tenant?: string,
): Promise<RunSnapshot | undefined> {
  const { first, release } = interruption();
  const stop = new AbortController();
  void first.then(() => stop.abort());
  try {
    const end = await follow(db, output, id, tenant, stop.signal);
    if (end?.status !== 'COMPLETED') process.exitCode = exitCodes.failed;
    return end;
  } finally {
    release();
  }
}

async function follow(
  db: Session,
  output: Output,
  id: string,
  tenant: string | undefined,
  stop: AbortSignal,
): Promise<RunSnapshot | undefined> {
  const runs = runsOf(db);
  const of = tenant === undefined ? {} : { tenant };
  // Whoever reads lines reads all of them; a picture needs the last state only.
  let snapshot = output.live ? await runs.get(id, of) : emptySnapshot(id);
  const picture = output.live ? new LivePicture(output, linesOf) : undefined;
  const plan = picture && (await planOf(db, snapshot));
  let pause = pauses.first;
  let look: Look | undefined;
  for (;;) {
    const events = await runs.events(id, { afterSeq: snapshot.lastEventSeq, limit: page, ...of });
    snapshot = reduce(snapshot, events);
    if (!picture) for (const event of events) say(output, event);
    if (events.length === page) continue;
    if (isTerminal(snapshot)) break;
    if (picture) look = await lookAt(db, snapshot, plan);
    pause = events.length > 0 ? pauses.first : Math.min(pause * 1.25, pauses.longest);
    if (!(await rest(pause, stop, picture, look))) return undefined;
  }
  if (picture) picture.draw(await lookAt(db, snapshot, plan), { last: true });
  else if (!output.json) output.line(endOf(snapshot));
  return snapshot;
}

/** Waits, with the picture drawn meanwhile; false if somebody has had enough. */
async function rest(
  ms: number,
  stop: AbortSignal,
  picture: LivePicture<Look> | undefined,
  look: Look | undefined,
): Promise<boolean> {
  const from = performance.now();
  for (let passed = 0; passed < ms; passed = performance.now() - from) {
    if (picture && look) picture.draw({ ...look, now: look.now + passed });
    try {
      await sleep(Math.min(ms - passed, picture ? pauses.frame : ms), undefined, { signal: stop });
    } catch {
      return false; // the signal is the only thing that ends a sleep
    }
  }
  return true;
}

/** One event for people, on a line. */
export function lineOf(event: RunEvent): string {
  const attempt =
    event.stepId !== 'RUN' && event.logicalAttemptId !== '1'
      ? ` (attempt ${event.logicalAttemptId})`
      : '';
  const subject = event.stepId === 'RUN' ? '' : `  ${event.stepId}${attempt}`;
  const detail = detailOf(event);
  return `${clockTime(event.emittedAt)}  ${String(event.runSeq).padStart(4)}  ${event.eventType}${subject}${detail ? `  ${detail}` : ''}`;
}

function say(output: Output, event: RunEvent): void {
  if (output.json) output.data(event, { line: true });
  else output.line(lineOf(event));
}
