/** Everything that has ever decided, by its version: an event is replayed by the one that decided it. */
import { decide } from '../decide.js';
import type { Decide } from '../machine.js';

export const decides: ReadonlyMap<number, Decide> = new Map([[1, decide]]);
