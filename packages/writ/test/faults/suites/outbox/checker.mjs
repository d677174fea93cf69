// @ts-check
// Holds what arrived at a destination against the logs of the runs, read without the outbox: everything there, in the order of each run by first arrivals, and what came twice with the id that it had.

/** @typedef {import('./places.mjs').Arrival} Arrival */
/** @typedef {{ id: string, run: string, seq: number, type: string }} Owed */
/**
 * @typedef {{ verdict: import('../../checker.mjs').Verdict, what: string, times: number, rows:
 * unknown[] }} Finding
 */

/**
 * @param {string} name @param {readonly Owed[]} owed @param {readonly Arrival[]} arrivals @returns
 * {{ findings: Finding[], twice: number }}
 */
export function checkArrivals(name, owed, arrivals) {
  const key = (/** @type {{ run: string, seq: number }} */ { run, seq }) => `${run}/${seq}`;
  const byKey = new Map(owed.map((one) => [key(one), one]));
  const accepted = new Set(arrivals.flatMap((one) => (one.accepted ? [one.id] : [])));
  /** @type {Map<string, unknown[]>} */
  const bad = new Map();
  const note = (/** @type {string} */ what, /** @type {unknown} */ row) =>
    bad.set(what, [...(bad.get(what) ?? []), row]);
  const seen = new Set();
  const last = new Map();
  for (const arrival of arrivals) {
    const one = byKey.get(key(arrival));
    if (!one) note('wrong: told of something that is not in the log', arrival);
    else if (one.id !== arrival.id) note('repeated: told under another id', { arrival, one });
    else if (one.type !== arrival.type) note('wrong: told as another type', { arrival, one });
    if (!arrival.verified) note('wrong: the signature is not right', arrival);
    if (seen.has(arrival.id)) continue;
    seen.add(arrival.id);
    const before = last.get(arrival.run) ?? 0;
    if (arrival.seq <= before) note('wrong: out of the order of its run', { arrival, before });
    last.set(arrival.run, Math.max(before, arrival.seq));
  }
  for (const one of owed) if (!accepted.has(one.id)) note('lost: never accepted', one);
  const findings = [...bad].map(([what, rows]) => ({
    verdict: /** @type {Finding['verdict']} */ (what.slice(0, what.indexOf(':'))),
    what: `${name}: ${what.slice(what.indexOf(':') + 2)}`,
    times: rows.length,
    rows: rows.slice(0, 5),
  }));
  return { findings, twice: arrivals.filter((one) => one.accepted).length - accepted.size };
}
