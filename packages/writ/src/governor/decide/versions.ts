/**
 * Everything that has ever decided, by its version: an event is replayed by the one that decided
 * it. Version 2 keeps levels while it is degraded and looks again at what is over. Version 3 keeps
 * levels that no policy in force compares with anything, and judges them when one does. The table
 * tells them apart by the version that the event names.
 */
import { decide } from '../decide.js';
import type { Decide } from '../machine.js';

export const decides: ReadonlyMap<number, Decide> = new Map([
  [1, decide],
  [2, decide],
  [3, decide],
]);
