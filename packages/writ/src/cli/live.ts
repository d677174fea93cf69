/**
 * Live output. One loop reads news through the library until the subject ends or a person stops it.
 * A terminal gets a picture, drawn over the last one, where there is a picture; else each piece of
 * news is a line, with --json a line of JSON.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Writ } from '../writ.js';
import { fit, type Output, oneLine, onScreen, type Style, sizeOf } from './output.js';
import { action, type Call } from './shapes.js';
import { interruption } from './signals.js';

export type Paint = (style: Style, text: string) => string;

export interface Reading<News> {
  readonly news: readonly News[];
  /** More is there already: the next reading follows at once. */
  readonly more?: boolean;
  /** The subject has ended, and so does the watch. */
  readonly ended?: boolean;
}

/** What a picture is made of; `now` moves on between two readings. */
interface Seen {
  /** By the database's clock, in milliseconds. */
  readonly now: number;
}

export interface Watched<News, Look extends Seen = Seen> {
  /** Reads what has happened since it was called last. */
  readonly read: () => Promise<Reading<News>>;
  readonly line: (news: News) => string;
  /** Printed before the first reading, where lines are printed. */
  readonly head?: () => Promise<string>;
  /** Printed at the end, where lines are printed. */
  readonly end?: () => readonly string[];
  readonly picture?: {
    readonly look: () => Promise<Look>;
    readonly lines: (
      look: Look,
      paint: Paint,
      room: { readonly frame: number; readonly rows?: number; readonly columns: number },
    ) => readonly string[];
  };
  /** How long to wait after a reading; otherwise longer the longer nothing happens. */
  readonly pause?: (tookMs: number) => number;
  /** Ends the watch after this long. */
  readonly forMs?: number | undefined;
}

const pauses = { first: 250, longest: 1_000, frame: 100 };

/** Answers whether the subject ended; false if somebody stopped watching. */
export async function follow<News, Look extends Seen>(
  output: Output,
  watched: Watched<News, Look>,
): Promise<boolean> {
  const { read, line, head, end, forMs } = watched;
  const { first, release } = interruption();
  const stop = new AbortController();
  void first.then(() => stop.abort());
  let expired = false;
  const expire = () => {
    expired = true;
    stop.abort();
  };
  const over = forMs === undefined ? undefined : setTimeout(expire, forMs);
  const picture = output.live ? watched.picture : undefined;
  const canvas = new Canvas(output);
  let rest = pauses.first;
  try {
    if (head && !picture && !output.json) output.line(await head());
    for (let last = false; ; ) {
      const from = performance.now();
      const { news, more, ended } = await read();
      if (!picture)
        for (const one of news)
          if (output.json) output.data(one, { line: true });
          else output.line(line(one));
      if (more && !stop.signal.aborted) continue;
      const look = picture && (await picture.look());
      const draw = (passed: number, whole = false) =>
        picture && look && canvas.draw(picture.lines, { ...look, now: look.now + passed }, whole);
      rest = news.length > 0 ? pauses.first : Math.min(rest * 1.25, pauses.longest);
      const ms = watched.pause?.(performance.now() - from) ?? rest;
      if (!ended && !last) {
        last = !(await passes(ms, stop.signal, picture && draw));
        if (!last || expired) continue; // whoever sets a time gets a reading at its end
      }
      draw(0, true);
      if (ended && !picture && !output.json) for (const text of end?.() ?? []) output.line(text);
      return ended === true;
    }
  } finally {
    clearTimeout(over);
    release();
  }
}

/** Waits, and draws meanwhile; false if somebody has had enough. */
async function passes(
  ms: number,
  signal: AbortSignal,
  draw: ((passed: number) => void) | undefined,
): Promise<boolean> {
  const from = performance.now();
  for (let passed = 0; passed < ms; passed = performance.now() - from) {
    draw?.(passed);
    try {
      await sleep(Math.min(ms - passed, draw ? pauses.frame : ms), undefined, { signal });
    } catch {
      return false; // the signal is the only thing that ends a sleep
    }
  }
  return !signal.aborted;
}

class Canvas {
  readonly #output: Output;
  #drawn = 0;
  #frame = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  /** The window is measured each time. A `whole` picture is the last: it stays. */
  draw<Look extends Seen>(
    linesOf: NonNullable<Watched<never, Look>['picture']>['lines'],
    look: Look,
    whole: boolean,
  ): void {
    const { rows, columns } = sizeOf(process.stdout);
    const paint: Paint = (style, text) => this.#output.style(style, text);
    const room = { frame: this.#frame++, columns, ...(!whole && { rows: rows - 1 }) };
    const lines = linesOf(look, paint, room);
    const up = this.#drawn > 0 ? `\u001b[${Math.min(this.#drawn, rows - 1)}A` : '';
    process.stdout.write(
      `${up}\r${lines.map((text) => `${onScreen(fit(oneLine(text), columns))}\u001b[K\n`).join('')}\u001b[J`,
    );
    this.#drawn = lines.length;
  }
}

/** A command that watches, until its subject ends, or --for has passed, or Ctrl-C. */
export function watch<News, Look extends Seen, Given extends Record<string, unknown>>(
  command: Command,
  open: (writ: Writ, call: Call<Given>) => Promise<Watched<News, Look>>,
): Command {
  return command.action(
    action<Given>(async (writ, call) => {
      await follow(call.output, await open(writ, call));
    }),
  );
}
