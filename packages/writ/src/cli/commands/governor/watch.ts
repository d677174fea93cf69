/**
 * `writ governor watch`: a governor as it lives, until somebody has had enough. It reads the receipts that have come since the last look, four times a second while there are any and less
 * often the longer there are none; on a terminal a picture is drawn over the last one, elsewhere each receipt is a line.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Governor } from '../../../governor/governors.js';
import type { Receipt } from '../../../ledger/receipt.js';
import { type Duration, milliseconds } from '../../../queue/duration.js';
import { contextOf, duration, wholeNumber } from '../../command.js';
import type { Session } from '../../connection.js';
import { type GovernorRow, type Look, lastReceipts, lookAt } from '../../governor/look.js';
import { headingOf, kept, linesOf } from '../../governor/picture.js';
import { governorAt, governorOf, withGovernor } from '../../governor/session.js';
import { receiptLine } from '../../governor/words.js';
import { type Output, sizeOf } from '../../output.js';
import { LivePicture } from '../../redraw.js';
import { interruption } from '../../signals.js';

interface Options {
  readonly for?: Duration;
  readonly after?: number;
}

const pauses = { first: 250, longest: 1_000, frame: 100 };
const page = 1_000;
/** As many as the largest window could show. */
const remembered = 200;

export function addWatch(group: Command): void {
  withGovernor(group.command('watch'))
    .description(
      'a governor live: its state, timers and counts, and each receipt as it comes; Ctrl-C ends the watch, not the governor',
    )
    .option('--for <duration>', 'end by itself after so long', duration)
    .option(
      '--after <n>',
      'show receipts behind this number; otherwise the last ten on a terminal, and elsewhere those to come',
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
    )
    .action(async (tenant: string, sku: string | undefined, options: Options, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const governor = await governorOf(db, governorAt(tenant, sku));
        const { first, release } = interruption();
        const stop = new AbortController();
        void first.then(() => stop.abort());
        const over =
          options.for === undefined
            ? undefined
            : setTimeout(() => stop.abort(), milliseconds(options.for));
        try {
          await follow(db, output, governor, stop.signal, options.after);
        } finally {
          clearTimeout(over);
          release();
        }
      });
    });
}

async function follow(
  db: Session,
  output: Output,
  governor: Governor,
  stop: AbortSignal,
  after: number | undefined,
): Promise<void> {
  const picture = output.live
    ? new LivePicture<Look>(output, (look, paint, { rows }) => {
        const size = sizeOf(process.stdout);
        return linesOf(look, paint, { columns: size.columns, rows: rows ?? size.rows - 1 });
      })
    : undefined;
  const { receipts: written } = (await governor.get()) as unknown as GovernorRow;
  let last = after ?? written;
  let seen: readonly Receipt[] =
    picture && after === undefined ? await lastReceipts(governor, written, 10) : [];
  if (!picture && !output.json)
    output.line(
      `${headingOf(await lookAt(db, governor, []), (_, text) => text)}. Receipts behind number ${last}:`,
    );
  for (let pause = pauses.first; ; ) {
    const news = await governor.receipts({ after: last, limit: page });
    last = news.at(-1)?.context.stream_seq ?? last;
    if (picture) seen = kept([...seen, ...news], remembered);
    else for (const receipt of news) say(output, receipt);
    if (news.length === page && !stop.aborted) continue;
    const look = picture && (await lookAt(db, governor, seen));
    pause = news.length > 0 ? pauses.first : Math.min(pause * 1.25, pauses.longest);
    if (await rest(pause, stop, picture, look)) continue;
    if (picture && look) picture.draw(look, { last: true });
    return;
  }
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
    if (look) picture?.draw({ ...look, now: look.now + passed });
    try {
      await sleep(Math.min(ms - passed, picture ? pauses.frame : ms), undefined, { signal: stop });
    } catch {
      return false; // the signal is the only thing that ends a sleep
    }
  }
  return true;
}

function say(output: Output, receipt: Receipt): void {
  if (output.json) output.data(receipt, { line: true });
  else output.line(receiptLine(receipt, (style, text) => output.style(style, text)));
}
