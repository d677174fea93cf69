/** A row of the record as it is sealed: one gate call, and the facts that it made. */
import { isCount, isObject, isUuid } from './container.js';

export interface EventRow {
  readonly actor: string;
  readonly at: string;
  readonly batch_id: string;
  readonly command: string;
  readonly details: string | null;
  readonly facts: readonly (readonly [type: string, first: number, last: number])[];
  /** The database login of the call, which PostgreSQL has authenticated; `actor` is its word. */
  readonly login: string;
  readonly note: string | null;
  /** The request that the call was made for, as its caller said. */
  readonly request_id?: string;
  /**
   * Events of runs that the same call appended, each by run, number and hash: they are sealed with
   * the row.
   */
  readonly run_events?: readonly (readonly [run: string, seq: number, hash: string])[];
  readonly subjects: readonly string[];
}

/** One fact of a row, as writ.event_outbox shows it. */
export interface SealedEvent {
  readonly event_id: string;
  readonly type: string;
  readonly subject: string;
}

const keys = [
  ...['actor', 'at', 'batch_id', 'command', 'details', 'facts', 'login', 'note'],
  ...['request_id', 'run_events', 'subjects'],
];
const optional = ['request_id', 'run_events'];
const atShape = /^\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** Why a value, read from canonical JSON, is no row of the record; undefined if it is one. */
export function faultOfEventRow(value: unknown): string | undefined {
  if (!isObject(value)) return 'it is not an object';
  let place = 0;
  for (const key in value) {
    while (key !== keys[place] && optional.includes(keys[place] ?? '')) place++;
    if (key !== keys[place++])
      return `it has the key “${key}” where “${keys[place - 1] ?? 'no more'}” belongs`;
  }
  if (place !== keys.length) return `it has no “${keys[place]}”`;
  const { actor, at, batch_id, command, details, facts, login, note, subjects } = value;
  if (value.request_id !== undefined && typeof value.request_id !== 'string')
    return 'its request_id is not a text';
  if (!isUuid(batch_id)) return 'its batch_id is not a UUID';
  if (![actor, command, login].every((text) => typeof text === 'string'))
    return 'its actor, command or login is not a text';
  if (typeof at !== 'string' || !atShape.test(at))
    return 'its time is not YYYY-MM-DDTHH:MM:SS.uuuuuuZ';
  if (![details, note].every((text) => text === null || typeof text === 'string'))
    return 'its details or note is neither text nor null';
  if (!Array.isArray(subjects) || !subjects.every(isUuid)) return 'its subjects are not UUIDs';
  if (!Array.isArray(facts) || !facts.every(isFact))
    return 'its facts are not type, first and last';
  if (facts.some(([, first, last]) => last >= first && (first < 1 || last > subjects.length)))
    return 'a fact is about a subject that it does not have';
  if (
    value.run_events !== undefined &&
    !(Array.isArray(value.run_events) && value.run_events.every(isRunEvent))
  )
    return 'its events of runs are not run, number and hash';
  return undefined;
}

const isRunEvent = (event: unknown) =>
  Array.isArray(event) &&
  event.length === 3 &&
  isUuid(event[0]) &&
  isCount(event[1]) &&
  typeof event[2] === 'string' &&
  /^[0-9a-f]{64}$/.test(event[2]);

const isFact = (fact: unknown) =>
  Array.isArray(fact) &&
  fact.length === 3 &&
  typeof fact[0] === 'string' &&
  isCount(fact[1]) &&
  isCount(fact[2]);

/** How many events a row stands for. */
export function eventsIn({ facts }: EventRow): number {
  return facts.reduce((sum, [, first, last]) => sum + Math.max(0, last - first + 1), 0);
}

/** Event n of a row, from 1; undefined if it has fewer. */
export function eventOf(row: EventRow, ordinal: number): SealedEvent | undefined {
  if (!isCount(ordinal) || ordinal < 1) return undefined;
  let before = 0;
  for (const [type, first, last] of row.facts) {
    const count = Math.max(0, last - first + 1);
    if (ordinal <= before + count) {
      return {
        event_id: eventId(row.batch_id, ordinal),
        type,
        subject: row.subjects[first - 1 + (ordinal - before - 1)]!,
      };
    }
    before += count;
  }
  return undefined;
}

/** The batch's id with the ordinal in its low 24 bits. */
export function eventId(batchId: string, ordinal: number): string {
  return batchId.slice(0, -6) + ordinal.toString(16).padStart(6, '0');
}
