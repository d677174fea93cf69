/**
 * Everything that has ever decided, by its version: an event is replayed by the one that decided
 * it. Version 2 keeps levels while it is degraded and looks again at what is over; the table tells
 * the two apart by the version that the event names.
 */
import { decide } from '../decide.js';
import type { Decide } from '../machine.js';

export const decides: ReadonlyMap<number, Decide> = new Map([
  [1, decide],
  [2, decide],
]);
