/**
 * What every command shares: how its options are read, and how an argument is checked before
 * anything is asked of the database.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { isUuid } from '../database/uuid.js';
import { type Duration, milliseconds } from '../queue/duration.js';
import { wrongUsage } from './failure.js';
import { textOf } from './files.js';

export function jobId(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('A job id is a UUID; `writ queue list` shows them.');
}

export function runId(text: string): string {
  return uuid('A run id is a UUID; `writ runs list` shows them.')(text);
}

export function uuid(words: string): (text: string) => string {
  return (text) => {
    if (isUuid(text)) return text.toLowerCase();
    throw new InvalidArgumentError(words);
  };
}

/** What an option holds as JSON: the text itself, or the file behind an @. */
export function jsonOf(text: string, option: string): unknown {
  const file = text.startsWith('@') ? text.slice(1) : undefined;
  try {
    return JSON.parse(file === undefined ? text : textOf(file, 'file')) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const remedy =
      file === undefined
        ? `Quote it for the shell: ${option} '{"id": 1}', or give a file: ${option} @input.json.`
        : 'Mend the file.';
    throw wrongUsage(`${file ?? option} is not JSON: ${error.message}`, remedy, { cause: error });
  }
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It is a whole number from ${min} to ${max}.`);
  };
}

export function priority(text: string): number {
  const value = Number(text);
  if (/^-?\d+$/.test(text) && value >= -32_768 && value <= 32_767) return value;
  throw new InvalidArgumentError('A priority is a whole number from -32768 to 32767.');
}

export function duration(text: string): Duration {
  try {
    milliseconds(text as Duration);
    return text as Duration;
  } catch {
    throw new InvalidArgumentError('Write a number with a unit: 500ms, 10s, 5m, 2h.');
  }
}

/** A moment, given as such or by how far it is from now: its function gets the database's time. */
export type Moment = (nowMs: number) => Date;

export function moment(text: string): Moment {
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text))) return () => new Date(text);
  try {
    const ms = milliseconds(text as Duration);
    return (nowMs) => new Date(nowMs - ms);
  } catch {
    throw new InvalidArgumentError(
      'Write a time, such as 2026-03-01T10:00Z, or how long ago it was: 30m, 2h.',
    );
  }
}

/** A moment to come, given as such or as how long it is until then. */
export function later(text: string): Moment {
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text))) return () => new Date(text);
  try {
    const ms = milliseconds(text as Duration);
    return (nowMs) => new Date(nowMs + ms);
  } catch {
    throw new InvalidArgumentError(
      'Write a time, such as 2026-12-24T10:00Z, or in how long: 30m, 2h, 7d.',
    );
  }
}

/** For options that may be given several times. */
export const repeated = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  text,
];

export const withActor = (command: Command): Command =>
  command.option('--actor <name>', 'who does it, for the record; otherwise the system user');

export function notBlank(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('It cannot be empty.');
}
