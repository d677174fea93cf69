// @ts-check
// Judges limits by what the database shows of executions, their times, and by nothing that the program under test counted. Times are whole
// microseconds, as PostgreSQL keeps them, so that nothing is decided by rounding.

/**
 * @typedef {{ query(sql: string, params?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
 * }} Client
 */
/**
 * An execution that has started; `end` is null while it is open. @typedef {{ jobId: string, key:
 * string, owner: string, start: bigint, end: bigint | null, abortKind: string | null }} Started
 */
/** @typedef {{ most: number, at: bigint, jobs: string[] }} Overlap */

/**
 * Every execution that has started, by start. The group of a job is what its key says before the
 * slash: the run gives keys like `a/17`. An execution that has committed and not ended is open.
 * @param {Client} client
 * @param {string} kind
 * @returns {Promise<Started[]>}
 */
export async function startedOf(client, kind) {
  const { rows } = await client.query(
    `select q.job_id, split_part(q.idempotency_key, '/', 1) as key, x.lease_owner as owner, x.abort_kind,
       (extract(epoch from x.started_at) * 1000000)::bigint::text as start, (extract(epoch from x.finished_at) * 1000000)::bigint::text as end
     from writ.job_execution x join writ.job_queue q on q.job_id = x.job_id
     where q.job_kind = $1 and x.started_at is not null order by x.started_at, q.job_id`,
    [kind],
  );
  return rows.map((row) => ({
    jobId: String(row.job_id),
    key: String(row.key),
    owner: String(row.owner),
    start: BigInt(String(row.start)),
    end: row.end === null ? null : BigInt(String(row.end)),
    abortKind: row.abort_kind === null ? null : String(row.abort_kind),
  }));
}

/** @template T @param {T[]} rows @param {(row: T) => string} keyOf @returns {Map<string, T[]>} */
export function grouped(rows, keyOf) {
  /** @type {Map<string, T[]>} */
  const groups = new Map();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}

/**
 * The most executions that were under way at once, when, and which jobs' they were. A sweep over
 * starts and ends; an end at the moment of a start comes first. One that starts and ends in the
 * same moment was still under way in it.
 * @param {Started[]} rows
 * @returns {Overlap}
 */
export function mostAtOnce(rows) {
  const moments = rows.flatMap((row) => [
    { at: row.start, row, begins: true },
    ...(row.end === null ? [] : [{ at: row.end, row, begins: false }]),
  ]);
  /**
   * Ends of what began earlier, then starts, then ends of what began in this very moment. @param
   * {(typeof moments)[number]} moment
   */
  const rank = ({ begins, row }) => (begins ? 1 : row.start === row.end ? 2 : 0);
  moments.sort((a, b) => (a.at === b.at ? rank(a) - rank(b) : a.at < b.at ? -1 : 1));
  /** @type {Set<Started>} */
  const under = new Set();
  /** @type {Overlap} */
  let worst = { most: 0, at: 0n, jobs: [] };
  for (const { at, row, begins } of moments) {
    if (!begins) under.delete(row);
    else if (under.add(row).size > worst.most)
      worst = { most: under.size, at, jobs: [...under].map(({ jobId }) => jobId) };
  }
  return worst;
}

/**
 * Whether starts keep a rate: of every two of them, i before j, there are no more from i to j than
 * the burst and what the time between them allows. Answers the most by which a pair comes to its
 * burst (`used`: at most `burst` where the rate is kept) and the pair. It is enough to compare each
 * start with the earlier one that leaves the least room.
 * @param {bigint[]} starts in order, microseconds
 * @param {{ starts: number, perMs: number }} rate
 */
export function burstUsed(starts, { starts: allowed, perMs }) {
  const per = BigInt(perMs) * 1000n;
  /**
   * Starts so far, less what the time has allowed, in parts of a start: multiplied by the period.
   * @param {number} i
   */
  const debt = (i) => BigInt(i) * per - BigInt(allowed) * (starts[i] ?? 0n);
  let least = 0;
  let worst = { used: 0, from: 0, to: 0 };
  for (let j = 0; j < starts.length; j++) {
    if (debt(j) < debt(least)) least = j;
    const used = Number(debt(j) - debt(least) + per) / Number(per);
    if (used > worst.used) worst = { used, from: least, to: j };
  }
  return worst;
}

/**
 * Crashes of a job: executions that began and whose worker died. @param {Started[]} rows @param
 * {string} jobId
 */
export const crashesOf = (rows, jobId) =>
  rows.filter((row) => row.jobId === jobId && row.abortKind === 'lease_expired');

/**
 * Whether no other execution was under way in the same process. @param {Started[]} rows @param
 * {Started} one
 */
export const alone = (rows, one) =>
  !rows.some(
    (row) =>
      row !== one &&
      row.owner === one.owner &&
      (one.end === null || row.start < one.end) &&
      (row.end === null || row.end > one.start),
  );
