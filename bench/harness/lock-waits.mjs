// @ts-check
// How long sessions of one database waited for locks, from the server's own log: samples of pg_stat_activity miss short waits and cut
// long ones. The server writes a line when a lock was got after a wait longer than deadlock_timeout, with the time it took. Both settings are of
// the measured database alone. The check for deadlocks that comes with each such wait makes waiting slower, never faster.

/** Shorter waits are not told; they count as none. */
export const SHORTEST_MS = 1;

/**
 * What a database needs for its waits to be told, in the words that are looked for. @param {string}
 * database
 */
const settings = (database) =>
  ['log_lock_waits = on', `deadlock_timeout = '${SHORTEST_MS}ms'`, "lc_messages = 'C'"].map(
    (one) => `alter database ${database} set ${one}`,
  );

/**
 * The waits, in ms, that a text of the server's log tells of.
 * @param {string} log
 * @returns {number[]}
 */
export const lockWaitsIn = (log) =>
  [...log.matchAll(/process \d+ acquired \w+ on .* after ([\d.]+) ms$/gm)].map(([, ms]) =>
    Number(ms),
  );

/**
 * What so many transactions waited for locks. A transaction of which no wait was told waited for
 * nothing that lasted SHORTEST_MS; those that have little to do with each other can hide a few that
 * do, so the waits are also looked at by themselves.
 * @param {number[]} waits
 * @param {number} transactions
 */
export function lockFigures(waits, transactions) {
  const longestFirst = [...waits].sort((a, b) => b - a);
  /** @param {number} of */
  const p99 = (of) => longestFirst[Math.floor(of / 100)] ?? 0;
  return {
    lockP99: p99(Math.max(transactions, waits.length)),
    lockWaits: waits.length,
    waitP99: p99(waits.length),
    waitMax: p99(0),
  };
}

/**
 * Runs `body`, which connects to the database only from here on and leaves it before its end, and
 * adds what it waited for locks.
 * @template {object} T
 * @param {import('./databases.mjs').Databases} databases
 * @param {string} url
 * @param {() => Promise<T>} body
 */
export async function withLockWaits(databases, url, body) {
  const name = new URL(url).pathname.slice(1);
  for (const text of settings(name)) await databases.admin.query(text);
  const before = await databases.counters(name);
  let log = '';
  const deaf = databases.server.listen((text) => {
    log += text;
  });
  try {
    const figures = await body();
    await databases.quiet(name);
    const { commits } = await databases.counters(name);
    return { ...figures, ...lockFigures(lockWaitsIn(log), commits - before.commits) };
  } finally {
    deaf();
  }
}
