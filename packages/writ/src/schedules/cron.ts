/**
 * When a cron expression is due in a time zone. The library knows which wall times the expression
 * names; what becomes of them on the days when clocks are moved is decided here, from one change of
 * the clocks to the next:
 *   An expression that names every hour follows time as it passes: it is due whenever the clocks
 *   show a minute that it names, so a repeated hour counts twice and a skipped hour not at all. Any
 *   other follows the wall clock: what it names in a skipped hour is due once, at the first minute
 *   after it; what it names in a repeated hour is due the first time only.
 */
import { Cron as Pattern } from 'croner';
import { WritRefusal } from '../errors/index.js';
import { Zone } from './zone.js';

const nicknames = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const value = String.raw`(?:\d{1,2}|[A-Za-z]{3})`;
const part = String.raw`(?:\*|${value}(?:-${value})?)(?:/\d{1,2})?`;
const field = new RegExp(`^${part}(?:,${part})*$`);
const everyHour = /^(?:\*|0-23)(?:\/1)?$/;
/** Longer than clocks have ever been moved by. */
const longestChange = 48 * 3_600_000;
/** How far changes of the clocks are looked for at a time. */
const ahead = 28 * 24 * 3_600_000;

export class Cron {
  /** As it is stored: blanks between the fields are single ones, a nickname is in small letters. */
  readonly text: string;
  readonly zone: Zone;
  readonly #pattern: Pattern;
  readonly #everyHour: boolean;

  /**
   * Refuses what is no expression of five fields, one that is never due, and a zone that is none.
   */
  constructor(text: string, timeZone: string) {
    this.text = checked(text);
    this.zone = new Zone(timeZone);
    this.#everyHour = this.text === '@hourly' || everyHour.test(this.text.split(' ')[1] ?? '');
    try {
      // In UTC no clock is ever moved: so asked, the library answers wall times.
      this.#pattern = new Pattern(this.text, { utcOffset: 0, paused: true });
    } catch (error) {
      throw new WritRefusal(
        'invalid_cron',
        `${this.text}: ${(error as Error).message.replace(/^\w+: /, '')}`,
        { cause: error },
      );
    }
    if (this.#wallAfter(Date.UTC(2000, 0)) === undefined)
      throw new WritRefusal('invalid_cron', `${this.text} names a day that no month has`);
  }

  /** The first tick after an instant. */
  next(after: Date): Date {
    for (const tick of this.ticks(after)) return tick;
    throw new WritRefusal('invalid_cron', `${this.text} has no tick after ${after.toISOString()}`);
  }

  /** The ticks after an instant, one by one. */
  *ticks(after: Date): Generator<Date, void, undefined> {
    const { zone } = this;
    const from = after.getTime();
    let offset = zone.offset(from);
    let wall = Math.max(from + offset, this.#everyHour ? 0 : this.#shownBefore(from, offset));
    // The next change of the clocks, if there is one up to the instant that has been looked ahead
    // to.
    let change: number | undefined;
    let seen = from;
    for (;;) {
      const named = this.#wallAfter(wall);
      if (named === undefined) return;
      const at = named - offset;
      if (change === undefined && at > seen) {
        change = zone.change(seen, at + ahead);
        seen = at + ahead;
      }
      if (change === undefined || at < change) {
        wall = named;
        yield new Date(at);
        continue;
      }
      const shown = change + offset;
      offset = zone.offset(change);
      const shows = change + offset;
      const skipped = !this.#everyHour && named < shows;
      // One millisecond earlier, because the minute in which the clocks are moved may be named
      // itself.
      wall = skipped ? shows : (this.#everyHour ? shows : Math.max(shown, shows)) - 1;
      seen = change;
      change = undefined;
      if (skipped) yield new Date(seen);
    }
  }

  /**
   * The latest wall time that the clocks had shown when they were last moved back, if that is not
   * long ago.
   */
  #shownBefore(at: number, offset: number): number {
    const change = this.zone.change(at - longestChange, at);
    if (change === undefined) return 0;
    const before = change + this.zone.offset(change - 1);
    return before > change + offset ? before - 1 : 0;
  }

  #wallAfter(wall: number): number | undefined {
    return this.#pattern.nextRun(new Date(wall))?.getTime();
  }
}

function checked(given: string): string {
  const text = String(given).trim().replace(/\s+/g, ' ');
  if (text.startsWith('@')) {
    if (nicknames.includes(text.toLowerCase())) return text.toLowerCase();
    throw new WritRefusal('invalid_cron', `${text}: the nicknames are ${nicknames.join(', ')}`);
  }
  const fields = text.split(' ');
  if (fields.length === 6) throw new WritRefusal('cron_seconds_unsupported', text);
  if (fields.length !== 5)
    throw new WritRefusal('invalid_cron', `"${text}" has ${text ? fields.length : 0} fields`);
  const wrong = fields.find((each) => !field.test(each));
  if (wrong !== undefined) throw new WritRefusal('invalid_cron', `"${wrong}" in ${text}`);
  return text;
}
