/** How commands speak: tables and sentences for people, JSON for programs. Data goes to standard output, everything else to standard error. */
import { styleText } from 'node:util';
import { redact } from './secrets.js';

export type Style = Parameters<typeof styleText>[0];

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

export type Cell = string | number | null | undefined;

export class Output {
  readonly json: boolean;
  readonly colours: boolean;
  readonly live: boolean;
  readonly width: number;

  constructor(options: { json?: boolean }) {
    const { isTTY = false, columns } = process.stdout;
    const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
    this.json = options.json === true;
    this.colours = !NO_COLOR && (FORCE_COLOR ? FORCE_COLOR !== '0' : isTTY && TERM !== 'dumb');
    /** Whether lines can be drawn over. */
    this.live = isTTY && TERM !== 'dumb' && !this.json;
    this.width = columns || 80;
  }

  style(style: Style, text: string): string {
    // The decision is made above, once; newer versions of Node would otherwise look at the stream again.
    return this.colours ? styleText(style, text, { validateStream: false }) : text;
  }

  /** One value as JSON, on a line of its own when `line` is given, for streams of values. */
  data(value: unknown, options: { line?: boolean } = {}): void {
    process.stdout.write(`${options.line ? JSON.stringify(value) : JSON.stringify(value, null, 2)}\n`);
  }

  line(text = ''): void {
    process.stdout.write(`${text}\n`);
  }

  /** What is said beside the data, and so must not be in it. */
  note(text: string): void {
    process.stderr.write(`${redact(text)}\n`);
  }

  heading(text: string): void {
    this.line(this.style('bold', text));
  }

  table(columns: readonly Column[], rows: readonly (readonly Cell[])[]): void {
    const cells = rows.map((row) => row.map((cell) => oneLine(cell === null || cell === undefined ? '–' : String(cell))));
    const widths = columns.map(({ title }, i) => Math.max(title.length, ...cells.map((row) => visible(row[i] ?? '').length)));
    const draw = (row: readonly string[], style?: Style) => {
      const text = row.map((cell, i) => pad(cell, widths[i] as number, columns[i]?.align)).join('  ');
      // Somebody who reads on a terminal gets one line per row; a pipe gets everything.
      const fits = this.live ? fit(text.trimEnd(), this.width) : text.trimEnd();
      this.line(style ? this.style(style, fits) : fits);
    };
    draw(
      columns.map((column) => column.title),
      'dim',
    );
    for (const row of cells) draw(row);
  }

  /** Names and values, one pair per line. */
  pairs(pairs: readonly (readonly [name: string, value: Cell])[]): void {
    const shown = pairs.filter(([, value]) => value !== null && value !== undefined);
    const width = Math.max(...shown.map(([name]) => name.length));
    for (const [name, value] of shown) this.line(`${this.style('dim', name.padEnd(width))}  ${value}`);
  }

  status(status: string): string {
    const styles: Record<string, Style> = {
      succeeded: 'green',
      dead_letter: 'red',
      retry_waiting: 'yellow',
      in_progress: 'cyan',
      leased: 'cyan',
    };
    const style = styles[status];
    return style ? this.style(style, status) : status;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what colours are made of.
const escapes = /(\u001b\[[0-9;]*m)/g;

export const visible = (text: string): string => text.replace(escapes, '');

/** Text from the database has no say over the terminal: line breaks and control characters are shown, not obeyed. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for; escape sequences of ours stay.
  return text.replace(/\r?\n|\t/g, ' ').replace(/\u001b(?!\[[0-9;]*m)|[\u0000-\u0008\u000b-\u001a\u007f-\u009f]/g, '�');
}

export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - visible(text).length));
  return align === 'right' ? space + text : text + space;
}

/** The beginning of a text that is wider than `width`, with its colours. */
export function fit(text: string, width: number): string {
  if (visible(text).length <= width) return text;
  let seen = 0;
  let out = '';
  for (const part of text.split(escapes)) {
    if (part.startsWith('\u001b[')) out += part;
    else {
      out += part.slice(0, Math.max(0, width - 1 - seen));
      seen += part.length;
    }
  }
  return `${out}…`;
}

/** The size of a terminal. One that has none, as some that programs make, says 0. */
export const sizeOf = ({ rows, columns }: { rows?: number; columns?: number }): { rows: number; columns: number } => ({
  rows: rows || 24,
  columns: columns || 80,
});

/** Breaks a sentence into lines of at most `width`. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && visible(last).length + 1 + visible(word).length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

export const count = (n: number): string => n.toLocaleString('en-US');

export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

/** A span of time in the two largest fitting words: 850 ms, 12.4 s, 5 min, 3 h, 9 d. */
export function span(ms: number): string {
  const size = Math.abs(ms);
  if (size < 1) return `${ms.toFixed(1)} ms`;
  if (size < 1_000) return `${Math.round(ms)} ms`;
  if (size < 90_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (size < 5_400_000) return `${Math.round(ms / 60_000)} min`;
  if (size < 172_800_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

export const ago = (at: Date, now: Date): string => `${span(Math.max(0, now.getTime() - at.getTime()))} ago`;
