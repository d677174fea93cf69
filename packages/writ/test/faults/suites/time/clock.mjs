// @ts-check
// The clocks of a time run: the database's, which is moved as writ/testing moves it, and that of the
// worker processes, which Debian's faketime moves. And what follows from where they have been.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setClock } from '../governor/outside.mjs';

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

/** @typedef {{ at: number, by: number }} Jump by the clock of this process, which nobody moves */

export class DatabaseClock {
  aheadMs = 0;
  mostMs = 0;
  /** @type {Jump[]} */
  jumps = [];

  /** @param {readonly import('pg').Pool[]} databases */
  constructor(databases) {
    this.databases = databases;
  }

  /** @param {number} by */
  async jump(by) {
    this.aheadMs += by;
    this.mostMs = Math.max(this.mostMs, this.aheadMs);
    this.jumps.push({ at: Date.now(), by });
    await Promise.all(this.databases.map((admin) => setClock(admin, this.aheadMs)));
  }

  /** What the gates take the time for. */
  now() {
    return Date.now() + this.aheadMs;
  }

  /**
   * How much was jumped over, forward, between two moments, with some to spare at both ends. @param
   * {number} from @param {number} to
   */
  forward(from, to) {
    return this.jumps.reduce(
      (sum, { at, by }) => sum + (by > 0 && at > from - 2_000 && at < to + 2_000 ? by : 0),
      0,
    );
  }
}

/** The library of Debian's package faketime. */
function library() {
  for (const folder of readdirSync('/usr/lib', { withFileTypes: true })) {
    const file = join('/usr/lib', folder.name, 'faketime', 'libfaketimeMT.so.1');
    if (folder.isDirectory() && existsSync(file)) return file;
  }
  return undefined;
}

export class ProcessClock {
  #file;

  /** @param {string} preload @param {string} folder */
  constructor(preload, folder) {
    this.#file = join(folder, 'faketime');
    this.set(0);
    /**
     * What processes need in their environment to go by this clock. Their timers go on as before.
     */
    this.env = {
      LD_PRELOAD: preload,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** None where the package is not installed. @param {string} folder */
  static in(folder) {
    const preload = process.platform === 'linux' ? library() : undefined;
    return preload === undefined ? undefined : new ProcessClock(preload, folder);
  }

  /** @param {number} aheadMs */
  set(aheadMs) {
    const seconds = Math.round(aheadMs / 1_000);
    writeFileSync(this.#file, `${seconds < 0 ? '' : '+'}${seconds}`);
  }
}

const zone = 'Europe/Berlin';
const shown = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
const offsetAt = (/** @type {number} */ at) =>
  shown.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value;

/** When the clocks of Berlin are moved next. @param {number} from */
export function nextChange(from) {
  let at = Math.ceil(from / hour) * hour;
  while (offsetAt(at) === offsetAt(at - hour)) at += hour;
  return at;
}

/** When the next month begins. @param {number} from */
export function nextMonth(from) {
  const date = new Date(from);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}
