/**
 * How commands speak: tables and sentences for people, JSON for programs. Data goes to standard
 * output, everything else to standard error. Most of what is printed was written by somebody else:
 * kinds, tenants, titles, messages of errors. `onScreen` is the one place through which it reaches
 * a terminal, and lets nothing through that a terminal would obey but the colours that `style` has
 * put there.
 */
import { randomBytes } from 'node:crypto';
import { styleText } from 'node:util';
import { printable, printableJson } from '../errors/printable.js';
import { span } from '../errors/words.js';
import { redact } from '../secrets/passwords.js';

export { count, plural, span } from '../errors/words.js';

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
    if (!this.colours) return text;
    // The decision is made above, once; newer versions of Node would otherwise look at the stream
    // again.
    const [before = '', behind = ''] = styleText(style, '|', { validateStream: false }).split('|');
    return before.replaceAll('\u001b', ours) + text + behind.replaceAll('\u001b', ours);
  }

  /** One value as JSON, on a line of its own when `line` is given, for streams of values. */
  data(value: unknown, options: { line?: boolean } = {}): void {
    process.stdout.write(
      `${printableJson(options.line ? JSON.stringify(value) : JSON.stringify(value, null, 2))}\n`,
    );
  }

  line(text = ''): void {
    process.stdout.write(`${onScreen(text)}\n`);
  }

  /**
   * What is said beside the data, and so must not be in it; what to do about it goes on a line of
   * its own.
   */
  note(text: string, remedy?: string): void {
    for (const line of remedy === undefined ? [text] : [text, `      ${remedy}`])
      process.stderr.write(`${onScreen(redact(line))}\n`);
  }

  heading(text: string): void {
    this.line(this.style('bold', text));
  }

  table(columns: readonly Column[], rows: readonly (readonly Cell[])[]): void {
    const cells = rows.map((row) =>
      row.map((cell) => oneLine(cell === null || cell === undefined ? '–' : String(cell))),
    );
    const widths = columns.map(({ title }, i) =>
      Math.max(title.length, ...cells.map((row) => visible(row[i] ?? '').length)),
    );
    const draw = (row: readonly string[], style?: Style) => {
      const text = row
        .map((cell, i) => pad(cell, widths[i] as number, columns[i]?.align))
        .join('  ');
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
    for (const [name, value] of shown)
      this.line(`${this.style('dim', name.padEnd(width))}  ${value}`);
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

/**
 * The beginning of our own escape sequences until they are printed. Random, so that no text from a
 * database can hold it.
 */
const ours = `\u001b${randomBytes(12).toString('hex')}`;
const escapes = new RegExp(`(${ours}\\[[0-9;]*m)`, 'g');

export const visible = (text: string): string => text.replace(escapes, '');

/**
 * One line of text from anywhere: control characters are shown, not obeyed, and colours of ours
 * stay.
 */
export const oneLine = (text: string): string =>
  text
    .split(escapes)
    .map((part, i) => (i % 2 === 1 ? part : printable(part)))
    .join('');

/** One line as it is written to a terminal. */
export const onScreen = (text: string): string => oneLine(text).replaceAll(ours, '\u001b');

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
    if (part.startsWith(ours)) out += part;
    else {
      out += part.slice(0, Math.max(0, width - 1 - seen));
      seen += part.length;
    }
  }
  return `${out}…`;
}

/** The size of a terminal. One that has none, as some that programs make, says 0. */
export const sizeOf = ({
  rows,
  columns,
}: {
  rows?: number;
  columns?: number;
}): { rows: number; columns: number } => ({
  rows: rows || 24,
  columns: columns || 80,
});

/** Breaks a sentence into lines of at most `width`. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && visible(last).length + 1 + visible(word).length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

export const ago = (at: Date, now: Date): string =>
  `${span(Math.max(0, now.getTime() - at.getTime()))} ago`;
