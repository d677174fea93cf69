// @ts-check
// Whether a transaction that stays open elsewhere slows the queue down. Many jobs pass through the queue beside it, so that whatever
// cannot be cleaned up while it lasts is there; then a fresh worker drains a full queue, several times, and its rate is compared with the
// same without a holder. The end of a drain is the last finish by the database's own clock: asking whether anything is left takes
// longer when there is more rubbish to look through, and that is not the worker's rate.
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { median } from '../harness/figures.mjs';

/** @typedef {import('../harness/bench.mjs').Bench} Bench */

const churnFile = fileURLToPath(new URL('../roles/held.mjs', import.meta.url));
const roleFile = fileURLToPath(new URL('../roles/queue.mjs', import.meta.url));
const subject = 'writ';
/**
 * A queue that needs longer than this for its jobs has come to a standstill, which is a result as
 * well.
 */
const LIMIT_S = 1200;

/**
 * What each holder does before it falls asleep. @type {Record<string, (client: pg.Client) =>
 * Promise<unknown>>}
 */
const holders = {
  async reader(client) {
    await client.query('begin isolation level repeatable read, read only');
    await client.query('select 1 from pg_class limit 1');
  },
  async dump(client) {
    const { rows } =
      await client.query(`select format('%I.%I', n.nspname, c.relname) as name from pg_class c
      join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'writ_data' and c.relkind in ('r', 'p') order by 1`);
    await client.query('begin isolation level repeatable read, read only');
    await client.query(
      `lock table ${rows.map(({ name }) => name).join(', ')} in access share mode`,
    );
    await client.query('select 1 from pg_class limit 1');
  },
  async writer(client) {
    await client.query('create table public.holder (n integer)');
    await client.query('begin');
    await client.query('insert into public.holder values (1)');
  },
  async none() {},
};

export const noHolder = { label: 'no holder', subject, variant: 'none' };
/** @param {string} variant */
const participant = (variant) => ({ label: `beside a ${variant}`, subject, variant });
export const beside = {
  reader: participant('reader'),
  dump: participant('dump'),
  writer: participant('writer'),
};

/**
 * @param {{ full: number, quick: number, enqueue: 'batches' | 'singly' }} way @returns
 * {import('../harness/bench.mjs').Measurement}
 */
export const held = ({ enqueue, ...sizes }) => ({
  participants: [beside.reader, noHolder, beside.dump, beside.writer],
  async measure(bench, { variant = 'none' }) {
    const jobs = bench.size(sizes);
    const drained = bench.size({ full: 50_000, quick: 10_000 });
    const drains = bench.size({ full: 3, quick: 2 });
    const schema = `${subject} throughput`;
    const template = await bench.template(schema, null, (url) =>
      play(bench, roleFile, 'setup', { url }),
    );
    return bench.onCopy(template, async ({ url }) => {
      const holder = await connected(url);
      const looker = await connected(url);
      try {
        await holders[variant]?.(holder);
        const churned = await play(bench, churnFile, 'churn', { url, jobs, variant: enqueue });
        const rates = [];
        for (let k = 0; k < drains; k += 1) {
          await play(bench, roleFile, 'seed', { url, jobs: drained, from: jobs + k * drained });
          const since = await now(looker);
          await play(bench, roleFile, 'drain', { url, jobs: drained });
          rates.push(await rateSince(looker, since, drained));
        }
        const outbox = await outboxDelay(looker);
        return {
          rate: median(rates),
          jobs: jobs + drains * drained,
          rssMb: churned.rssMb,
          version: churned.version,
          ...outbox,
        };
      } finally {
        await holder.end();
        await looker.end();
      }
    });
  },
});

/** @param {Bench} bench @param {string} file @param {string} role @param {object} options */
const play = (bench, file, role, options) =>
  bench.start({
    subject,
    roleFile: file,
    role,
    options: { mode: 'throughput', ...options },
    seconds: LIMIT_S,
  }).finished;

/** @param {string} url */
async function connected(url) {
  const client = new pg.Client(url);
  // An interrupted run stops the server under a holder that waits for nothing: that must not end
  // the process before it has cleaned up.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** @param {pg.Client} client @returns {Promise<string>} */
const now = async (client) =>
  (await client.query('select clock_timestamp()::text as at')).rows[0].at;

/**
 * Jobs per second from the first start to the last finish since then. @param {pg.Client} client
 * @param {string} since @param {number} jobs
 */
async function rateSince(client, since, jobs) {
  const { rows } = await client.query(
    `select count(*)::int as jobs, extract(epoch from max(finished_at) - min(started_at))::float8 as seconds
     from writ.job_execution where status = 'DONE' and started_at >= $1::timestamptz`,
    [since],
  );
  if (rows[0].jobs !== jobs)
    throw new Error(`${rows[0].jobs} executions are DONE instead of ${jobs}`);
  return jobs / rows[0].seconds;
}

/**
 * How far readers of the outbox are behind: they take no row of a transaction that is not older
 * than every open one. @param {pg.Client} client
 */
async function outboxDelay(client) {
  const { rows } =
    await client.query(`select count(*)::int as batches, coalesce(extract(epoch from clock_timestamp() - min(at)), 0)::float8 as seconds
    from writ_data.event_batch where xid >= pg_snapshot_xmin(pg_current_snapshot())`);
  return { outboxBatches: rows[0].batches, outboxSeconds: rows[0].seconds };
}
