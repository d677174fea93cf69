/**
 * How the story looks: acts, lines with a mark, a bar while something is awaited. Fits 80 columns.
 */
import { count, type Output, onScreen, span, visible, wrap } from '../cli/output.js';

const width = 78;

export class Stage {
  readonly #output: Output;
  #bar = false;
  #saidAt = 0;
  #closed = false;

  constructor(output: Output) {
    this.#output = output;
  }

  #write(text: string): void {
    if (this.#output.json || this.#closed) return;
    this.#clearBar();
    this.#output.line(text);
  }

  title(text: string, under: string): void {
    this.#write('');
    this.#write(this.#output.style('bold', text));
    for (const line of wrap(under, width)) this.#write(this.#output.style('dim', line));
  }

  act(number: number, text: string): void {
    this.#write('');
    this.#write(this.#output.style(['bold', 'cyan'], `${number}  ${text}`));
  }

  /** What is about to be shown. */
  say(text: string): void {
    for (const line of wrap(text, width - 3)) this.#write(`   ${line}`);
  }

  /** Something that was seen to be so, and how long it took. */
  seen(text: string, ms?: number): void {
    this.#marked(this.#output.style('green', '✓'), text, ms);
  }

  /** Something bad that belongs to the story. */
  harm(text: string): void {
    this.#marked(this.#output.style('red', '✗'), text);
  }

  #marked(mark: string, text: string, ms?: number): void {
    const time = ms === undefined ? '' : span(ms);
    const lines = wrap(text, width - 5 - (time ? time.length + 2 : 0));
    lines.forEach((line, i) => {
      const space =
        time && i === 0
          ? ' '.repeat(Math.max(2, width - 5 - visible(line).length - time.length)) +
            this.#output.style('dim', time)
          : '';
      this.#write(`   ${i === 0 ? mark : ' '} ${line}${space}`);
    });
  }

  quote(text: string): void {
    for (const line of wrap(text, width - 5))
      this.#write(`     ${this.#output.style('yellow', line)}`);
  }

  /** Rows whose cells stand below each other; the last cell of each stands freely. */
  columns(rows: readonly (readonly string[])[]): void {
    const widths = rows.reduce<number[]>((most, row) => {
      row.slice(0, -1).forEach((cell, i) => {
        most[i] = Math.max(most[i] ?? 0, cell.length);
      });
      return most;
    }, []);
    for (const row of rows) {
      const cells = row.map((cell, i) =>
        i < row.length - 1 ? cell.padEnd(widths[i] ?? 0) : this.#output.style('dim', cell),
      );
      this.#write(`     ${cells.join('  ')}`);
    }
  }

  pairs(pairs: readonly (readonly [string, string, string?])[]): void {
    const names = Math.max(...pairs.map(([name]) => name.length));
    const values = Math.max(...pairs.map(([, value]) => visible(value).length));
    for (const [name, value, remark] of pairs) {
      const right = ' '.repeat(values - visible(value).length) + value;
      this.#write(
        `     ${name.padEnd(names)}  ${right}${remark ? `  ${this.#output.style('dim', remark)}` : ''}`,
      );
    }
  }

  /** What takes a moment, until the next line takes its place; on a terminal only. */
  awaiting(what: string): void {
    if (!this.#output.live || this.#closed) return;
    process.stdout.write(`\r${onScreen(`     ${this.#output.style('dim', `${what} …`)}`)}\u001b[K`);
    this.#bar = true;
  }

  /** Nothing more is said: the story was broken off. */
  close(): void {
    this.#clearBar();
    this.#closed = true;
  }

  /** Drawn over itself on a terminal; elsewhere a line a second. */
  progress(done: number, total: number, what: string): void {
    if (this.#output.json || this.#closed) return;
    const size = 30;
    const full = total > 0 ? Math.floor((done / total) * size) : size;
    const text = `     ${this.#output.style('green', '━'.repeat(full))}${this.#output.style('dim', '─'.repeat(size - full))}  ${count(done)} / ${count(total)} ${what}`;
    if (this.#output.live) {
      process.stdout.write(`\r${onScreen(text)}\u001b[K`);
      this.#bar = true;
    } else if (Date.now() - this.#saidAt >= 1_000) {
      this.#saidAt = Date.now();
      this.#output.line(text);
    }
  }

  #clearBar(): void {
    if (!this.#bar) return;
    this.#bar = false;
    process.stdout.write('\r\u001b[K');
  }
}
