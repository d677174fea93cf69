/**
 * The shapes of a command. A command declares its options, one call of the library, and how
 * the answer is shown; `--json` prints the answer itself.
 *   list   rows, page by page up to --limit, as a table
 *   show   one object
 *   act    one change, in a sentence; asks first where it cannot be taken back
 *   stream  lines as things happen, until Ctrl-C
 */
import type { Command } from 'commander';
import type { Page, PageOptions } from '../database/listing.js';
import type { Writ } from '../writ.js';
import { wholeNumber } from './command.js';
import { answersYes } from './confirm.js';
import { exitCodes, Failure } from './failure.js';
import { takesKey } from './governance/session.js';
import { type Cell, type Column, Output } from './output.js';
import { interruption } from './signals.js';
import { withWrit } from './writ.js';

type Options = Record<string, unknown>;
interface Globals {
  readonly json?: boolean;
}

export interface Call<Given extends Options = Options> {
  readonly options: Given;
  /** The arguments of the command, in order. */
  readonly args: readonly string[];
  readonly output: Output;
  /** The command takes a key, which says who acts. */
  readonly acts: boolean;
}

/** What commander hands to an action: arguments, options, the command. */
export function callOf<Given extends Options>(given: readonly unknown[]): Call<Given> {
  const command = given.at(-1) as Command;
  const options = command.optsWithGlobals<Given & Globals>();
  const args = given
    .slice(0, -2)
    .flat()
    .filter((one) => one !== undefined) as string[];
  const acts = takesKey(command);
  return { options, args, acts, output: new Output({ json: options.json === true }) };
}

/** For the part of a command that needs no database. */
export const outputOf = (command: Command): Output =>
  new Output({ json: command.optsWithGlobals<Globals>().json === true });

/**
 * Runs a command's action with a connection. `check` throws on wrong usage, before there is one,
 * and answers what the options are made into.
 */
export const action =
  <Given extends Options, Ready = void>(
    run: (writ: Writ, call: Call<Given>, ready: Ready) => Promise<void>,
    check?: (call: Call<Given>) => Ready | Promise<Ready>,
  ) =>
  async (...given: unknown[]): Promise<void> => {
    const call = callOf<Given>(given);
    const ready = (await check?.(call)) as Ready;
    await withWrit(call.options, (writ) => run(writ, call, ready), call);
  };

export interface ListedColumn<Row> extends Column {
  readonly of: (row: Row, now: Date) => Cell;
  /** Left out where no row needs it. */
  readonly when?: (rows: readonly Row[]) => boolean;
}

export interface ListShape<Row, Given extends Options> {
  readonly read: (
    writ: Writ,
    page: PageOptions,
    call: Call<Given>,
  ) => Promise<Page<Row> | readonly Row[]>;
  readonly columns: readonly ListedColumn<Row>[] | ((call: Call<Given>) => ListedColumn<Row>[]);
  /** Beside the table: what to do next. */
  readonly note?: (rows: readonly Row[], call: Call<Given>) => string | undefined;
  /** What is said where there is nothing. */
  readonly none: string | ((call: Call<Given>) => string);
  readonly limit?: number;
}

export function list<Row, Given extends Options = Options>(
  command: Command,
  { read, columns, note, none, limit = 20 }: ListShape<Row, Given>,
): Command {
  return command.option('--limit <n>', 'how many at most', wholeNumber(1, 10_000), limit).action(
    action<Given & { readonly limit: number }>(async (writ, call) => {
      const { output, options } = call;
      const { rows, more } = await collect((page) => read(writ, page, call), options.limit);
      if (output.json) return output.data(rows);
      if (rows.length === 0) return output.line(typeof none === 'string' ? none : none(call));
      const now = await writ.now();
      const shown = (typeof columns === 'function' ? columns(call) : columns).filter(
        ({ when }) => when?.(rows) ?? true,
      );
      output.table(
        shown,
        rows.map((row) => shown.map(({ of }) => of(row, now))),
      );
      if (more) output.note(`The first ${options.limit}; --limit shows more.`);
      const next = note?.(rows, call);
      if (next !== undefined) output.note(next);
    }),
  );
}

/** Reads pages until there are enough rows. A list that is no page is complete. */
export async function collect<Row>(
  read: (page: PageOptions) => Promise<Page<Row> | readonly Row[]>,
  limit: number,
): Promise<{ rows: readonly Row[]; more: boolean }> {
  const rows: Row[] = [];
  let after: string | null = null;
  do {
    const size = Math.min(1_000, limit - rows.length);
    const page = await read({ limit: size, ...(after !== null && { after }) });
    if (!('items' in page)) return { rows: page.slice(0, limit), more: page.length > limit };
    rows.push(...page.items);
    after = page.next;
  } while (after !== null && rows.length < limit);
  return { rows, more: after !== null };
}

export interface ShowShape<Shown, Given extends Options> {
  readonly read: (writ: Writ, call: Call<Given>) => Promise<Shown>;
  readonly print: (shown: Shown, call: Call<Given> & { readonly now: Date }) => void;
  /** What it is as JSON; `read`'s own answer unless given. */
  readonly data?: (shown: Shown) => unknown;
}

export function show<Shown, Given extends Options = Options>(
  command: Command,
  { read, print, data }: ShowShape<Shown, Given>,
): Command {
  return command.action(
    action<Given>(async (writ, call) => {
      const shown = await read(writ, call);
      if (call.output.json) call.output.data(data ? data(shown) : shown);
      else print(shown, { ...call, now: await writ.now() });
    }),
  );
}

export interface ActShape<Done, Given extends Options, Plan = undefined> {
  /** Throws for wrong usage, before anything is asked of the database. */
  readonly checks?: (call: Call<Given>) => void;
  /** What has to be read before the change. */
  readonly plans?: (writ: Writ, call: Call<Given>) => Promise<Plan>;
  /** The plan, as a person sees it before the question. */
  readonly shows?: (plan: Plan, call: Call<Given>) => readonly string[];
  readonly do: (writ: Writ, call: Call<Given>, plan: Plan) => Promise<Done>;
  /** One sentence, or several lines. */
  readonly says: (done: Done, call: Call<Given>, plan: Plan) => string | readonly string[];
  /** The answer as JSON; `do`'s own unless given. */
  readonly data?: (done: Done, call: Call<Given>, plan: Plan) => unknown;
  /**
   * Throws on wrong usage, and answers what the options are made into, where there are no `plans`.
   */
  readonly check?: (call: Call<Given>) => Plan | Promise<Plan>;
  /**
   * The question before the change; adds the option --yes. Nothing is asked if it answers
   * undefined.
   */
  readonly asks?: (
    writ: Writ,
    call: Call<Given>,
    plan: Plan,
  ) => string | undefined | Promise<string | undefined>;
}

export function act<Done, Given extends Options = Options, Plan = undefined>(
  command: Command,
  shape: ActShape<Done, Given, Plan>,
): Command {
  if (shape.asks) command.option('--yes', 'do not ask');
  return command.action(async (...given: unknown[]) => {
    shape.checks?.(callOf<Given>(given));
    await action<Given & { readonly yes?: boolean }, Plan>(async (writ, call, ready) => {
      const { output, options } = call;
      const plan = shape.plans ? await shape.plans(writ, call) : ready;
      if (!output.json) for (const line of shape.shows?.(plan, call) ?? []) output.line(line);
      if (shape.asks && !options.yes) await confirmed(await shape.asks(writ, call, plan));
      const done = await shape.do(writ, call, plan);
      if (output.json) return output.data(shape.data ? shape.data(done, call, plan) : done);
      for (const line of [shape.says(done, call, plan)].flat()) output.line(line);
    }, shape.check as never)(...given);
  });
}

export interface StreamShape<Item, Given extends Options> {
  /** Ends when `signal` is aborted, or before. */
  readonly read: (
    writ: Writ,
    call: Call<Given> & { readonly signal: AbortSignal },
  ) => AsyncIterable<Item>;
  readonly line: (item: Item, call: Call<Given>) => string;
  readonly checks?: (call: Call<Given>) => void;
  /** Told of each item before it is printed. */
  readonly seen?: (item: Item) => void;
  /** What is said in the end, with --json too. */
  readonly end?: (call: Call<Given>) => void;
}

export function stream<Item, Given extends Options = Options>(
  command: Command,
  { read, line, checks, seen, end }: StreamShape<Item, Given>,
): Command {
  return command.action(
    action<Given>(async (writ, call) => {
      const { first, release } = interruption();
      const stop = new AbortController();
      void first.then(() => stop.abort());
      try {
        for await (const item of read(writ, { ...call, signal: stop.signal })) {
          seen?.(item);
          if (call.output.json) call.output.data(item, { line: true });
          else call.output.line(line(item, call));
        }
      } finally {
        release();
      }
      end?.(call);
    }, checks),
  );
}

/** Throws unless a person says yes. Without a person, --yes has to be given. */
export async function confirmed(question: string | undefined, remedy = 'Add --yes to do it.') {
  if (question === undefined) return;
  if (!process.stdin.isTTY)
    throw new Failure(
      exitCodes.failed,
      'not_confirmed',
      `${question} Nobody is at the terminal to say yes, so nothing was done.`,
      remedy,
    );
  if (!(await answersYes(question, process.stdin, process.stderr)))
    throw new Failure(exitCodes.failed, 'not_confirmed', 'Nothing was done.', 'Answer y to do it.');
}
