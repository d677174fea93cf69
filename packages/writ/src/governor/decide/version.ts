/** Of what decides: events that were decided by another version are replayed by that one. */
export const decideVersion = 3;
