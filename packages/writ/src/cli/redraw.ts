/** A picture on a terminal that is drawn over the last one. */
import { fit, type Output, oneLine, onScreen, type Style, sizeOf } from './output.js';

interface Size {
  readonly rows: number;
  readonly columns: number;
}

export class Redraw {
  #drawn = 0;

  /** The lines are made for the size of the window, asked each time: somebody may have made it larger or smaller. */
  draw(linesFor: (size: Size) => readonly string[]): void {
    const size = sizeOf(process.stdout);
    const lines = linesFor(size);
    const up = this.#drawn > 0 ? `\u001b[${Math.min(this.#drawn, size.rows - 1)}A` : '';
    process.stdout.write(
      `${up}\r${lines.map((text) => `${onScreen(fit(oneLine(text), size.columns))}\u001b[K\n`).join('')}\u001b[J`,
    );
    this.#drawn = lines.length;
  }
}

type LinesOf<Look> = (
  look: Look,
  paint: (style: Style, text: string) => string,
  options: { readonly frame: number; readonly rows?: number },
) => readonly string[];

/** Of something that goes on: what it looks like is `linesOf`, with a number that counts the pictures, for what turns. */
export class LivePicture<Look> {
  readonly #redraw = new Redraw();
  readonly #output: Output;
  readonly #linesOf: LinesOf<Look>;
  #frame = 0;

  constructor(output: Output, linesOf: LinesOf<Look>) {
    this.#output = output;
    this.#linesOf = linesOf;
  }

  /** The last picture is drawn whole: it stays. */
  draw(look: Look, options: { readonly last?: boolean } = {}): void {
    this.#redraw.draw(({ rows }) =>
      this.#linesOf(look, (style, text) => this.#output.style(style, text), {
        frame: this.#frame++,
        ...(!options.last && { rows: rows - 1 }),
      }),
    );
  }
}
