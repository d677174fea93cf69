/** How far long work is, in one line of standard error that is drawn over; on a terminal only. */
import { fit, oneLine, onScreen } from './output.js';

const everyMs = 100;

export class Progress {
  readonly #live: boolean;
  #drawnAt = 0;

  constructor(options: { json: boolean }) {
    this.#live = process.stderr.isTTY === true && process.env.TERM !== 'dumb' && !options.json;
  }

  show(text: string): void {
    const now = Date.now();
    if (!this.#live || now - this.#drawnAt < everyMs) return;
    this.#drawnAt = now;
    process.stderr.write(
      `\r\u001b[K${onScreen(fit(oneLine(text), (process.stderr.columns || 80) - 1))}`,
    );
  }

  /** Takes the line away. */
  end(): void {
    if (this.#live && this.#drawnAt > 0) process.stderr.write('\r\u001b[K');
  }
}
