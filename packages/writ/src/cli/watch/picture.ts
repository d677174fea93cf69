/** How readings look: a picture that is drawn over the last one on a terminal, a line each without one, a line of JSON each for programs. */
import { count, fit, type Output, oneLine, pad, plural, span, visible } from '../output.js';
import { Redraw } from '../redraw.js';
import type { Reading } from './reading.js';

const kept = 200;

export class Picture {
  readonly #output: Output;
  readonly #seen: Reading[] = [];
  readonly #redraw = new Redraw();

  constructor(output: Output) {
    this.#output = output;
  }

  draw(reading: Reading): void {
    this.#seen.push(reading);
    if (this.#seen.length > kept) this.#seen.shift();
    if (this.#output.json) this.#output.data(reading, { line: true });
    else if (!this.#output.live) this.#output.line(inOneLine(reading));
    else
      this.#redraw.draw(({ rows, columns }) =>
        [...this.#figures(reading, columns), ...this.#kinds(reading)].slice(0, rows - 1),
      );
  }

  #figures(reading: Reading, columns: number): string[] {
    const { style, dim } = this.#styles();
    const lines: [name: string, text: string, history?: string][] = [
      [
        'backlog',
        `${count(reading.backlog)}${oldest(reading, '  ')}`,
        this.#history('yellow', (each) => each.backlog, columns, 'least'),
      ],
      [
        'in',
        `${perSecond(reading.enqueued_per_s)}`,
        this.#history('cyan', (each) => each.enqueued_per_s, columns),
      ],
      [
        'done',
        `${perSecond(reading.succeeded_per_s)}`,
        this.#history('green', (each) => each.succeeded_per_s, columns),
      ],
      ['failed', reading.failed_per_s > 0 ? style('red', perSecond(reading.failed_per_s)) : '0/s'],
      [
        'wait',
        reading.wait_p50_ms === null
          ? dim('nothing started')
          : `p50 ${span(reading.wait_p50_ms)}  p99 ${span(reading.wait_p99_ms as number)}`,
      ],
      ['running', `${count(reading.in_progress)} in ${plural(reading.lease_active, 'lease')}`],
      ['not due yet', count(reading.waiting)],
      [
        'dead letters',
        reading.dead_letter_open > 0 ? style('red', count(reading.dead_letter_open)) : '0',
      ],
      ['workers', workers(reading, style)],
    ];
    return [
      `${style('bold', 'queue')} ${reading.enabled ? style('green', 'on') : style('red', 'off')}  ${dim(`${reading.at.slice(11, 19)} UTC  Ctrl-C ends`)}`,
      ...lines.map(
        ([name, text, history]) =>
          `${dim(name.padEnd(13))}${history === undefined ? text : pad(text, 24) + history}`,
      ),
    ];
  }

  #kinds({ kinds, kinds_in_all }: Reading): string[] {
    if (kinds.length === 0) return [];
    const { dim } = this.#styles();
    const rows = kinds.map(({ kind, backlog, change_per_s, running }) => [
      fit(oneLine(kind), 40),
      count(backlog),
      change_per_s === null ? '' : `${change_per_s > 0 ? '+' : ''}${perSecond(change_per_s)}`,
      count(running),
    ]);
    const all = [['KIND', 'BACKLOG', 'CHANGE', 'RUNNING'], ...rows];
    const widths = [0, 1, 2, 3].map((i) =>
      Math.max(i === 2 ? 9 : 0, ...all.map((row) => visible(row[i] as string).length)),
    );
    const [head, ...body] = all.map((row) =>
      row.map((cell, i) => pad(cell, widths[i] as number, i === 0 ? 'left' : 'right')).join('  '),
    );
    const more = kinds_in_all - kinds.length;
    return [
      '',
      dim(head as string),
      ...body,
      ...(more > 0 ? [dim(`and ${plural(more, 'kind')} more`)] : []),
    ];
  }

  /** What a figure was in the last readings, as far as there is room, and between which bounds. */
  #history(
    colour: 'yellow' | 'cyan' | 'green',
    of: (reading: Reading) => number,
    columns: number,
    floor: Floor = 'zero',
  ): string {
    const { style, dim } = this.#styles();
    const room = Math.max(0, columns - 13 - 24 - 22);
    if (room === 0) return '';
    const values = this.#seen.slice(-room).map(of);
    const [least, most] = [Math.min(...values), Math.max(...values)].map((value) =>
      count(Math.round(value)),
    );
    return `${style(colour, sparkline(values, floor))} ${dim(least === most ? String(most) : `${least}–${most}`)}`;
  }

  #styles() {
    const style: Output['style'] = (name, text) => this.#output.style(name, text);
    return { style, dim: (text: string) => style('dim', text) };
  }
}

function inOneLine(reading: Reading): string {
  const wait =
    reading.wait_p50_ms === null
      ? '–'
      : `${span(reading.wait_p50_ms)} / ${span(reading.wait_p99_ms as number)}`;
  return [
    reading.at.slice(11, 19),
    `backlog ${reading.backlog}${oldest(reading, ' ')}`,
    `waiting ${reading.waiting}`,
    `in progress ${reading.in_progress}`,
    `in ${perSecond(reading.enqueued_per_s)}`,
    `done ${perSecond(reading.succeeded_per_s)}`,
    `failed ${perSecond(reading.failed_per_s)}`,
    `dead letters ${reading.dead_letter_open}`,
    `workers ${reading.workers}`,
    `wait p50/p99 ${wait}`,
  ].join('  ');
}

const oldest = ({ backlog, oldest_queued_age_s: age }: Reading, space: string): string =>
  backlog > 0 && age !== null ? `${space}oldest ${span(age * 1000)}` : '';

/** A tenth counts while there are few. */
const perSecond = (rate: number): string =>
  `${count(Math.abs(rate) < 10 ? rate : Math.round(rate))}/s`;

function workers(
  { workers, workers_late, workers_silent, backlog }: Reading,
  style: Output['style'],
): string {
  const fresh = workers === 0 && backlog > 0 ? style('red', 'none') : `${count(workers)} fresh`;
  const late = workers_late > 0 ? `, ${count(workers_late)} late` : '';
  return `${fresh}${late}${workers_silent > 0 ? `, ${style('red', `${count(workers_silent)} silent`)}` : ''}`;
}

/** Where the bars of a row begin: rates are compared with nothing, a level with what it was. */
type Floor = 'zero' | 'least';

export function sparkline(values: readonly number[], floor: Floor = 'zero'): string {
  const bars = '▁▂▃▄▅▆▇█';
  const most = Math.max(...values, 1);
  const base = floor === 'zero' ? 0 : Math.min(...values);
  // A level that hardly moves is drawn as one that hardly moves.
  const height = Math.max(most - base, most * 0.05);
  return values
    .map(
      (value) =>
        bars[Math.min(bars.length - 1, Math.floor(((value - base) / height) * bars.length))],
    )
    .join('');
}
