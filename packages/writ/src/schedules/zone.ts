/**
 * What the clocks on the wall show in a time zone, and when they are moved. A wall time is written
 * as the milliseconds that a clock in UTC would need to show the same: wall = instant + offset.
 */
import { WritRefusal } from '../errors/index.js';

const minute = 60_000;
const week = 7 * 24 * 60 * minute;

export class Zone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;

  constructor(name: string) {
    this.name = name;
    // Some versions of Node take an offset for a zone, and others do not; an offset has no rules
    // for summer time, so it is none here.
    if (!/^[A-Za-z]/.test(name)) throw new WritRefusal('invalid_time_zone', name);
    try {
      this.#format = new Intl.DateTimeFormat('en-US', {
        timeZone: name,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      });
    } catch (error) {
      throw new WritRefusal('invalid_time_zone', name, { cause: error });
    }
  }

  /** How far the clocks are ahead of UTC at an instant, in milliseconds. */
  offset(instant: number): number {
    const whole = Math.floor(instant / 1000) * 1000;
    const part: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of this.#format.formatToParts(whole)) part[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute: minutes = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minutes, second) - whole;
  }

  /**
   * The first instant in (from, to] at which the clocks are moved. Nobody moves them twice within a
   * week.
   */
  change(from: number, to: number): number | undefined {
    const before = this.offset(from);
    for (let low = from; low < to; low += week) {
      const high = Math.min(low + week, to);
      if (this.offset(high) !== before) return this.#narrow(low, high, before);
    }
    return undefined;
  }

  /** Clocks are moved on a whole minute. */
  #narrow(from: number, to: number, before: number): number {
    let low = Math.floor(from / minute);
    let high = Math.ceil(to / minute);
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.offset(middle * minute) === before) low = middle;
      else high = middle;
    }
    return high * minute;
  }
}
