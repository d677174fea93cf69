// @ts-check
// The roles of the growth case: a client that fills the tables through the gates, in statements of 5,000, and one that claims 100 jobs
// again and again and takes the time. Between two claims it finishes what it has and enqueues as much again for the same tenants, so
// that every claim meets the same state. Ids come from the server's own uuidv7(), which PostgreSQL 18 has.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { median, monotonicMs } from '../harness/figures.mjs';

const BATCH = 5_000;
const CONNECTIONS = 2;
const CLAIM = 100;
const WARM_UP = 40;
const EXPLAINED = 15;
/** The queue of the tenant whom the claims serve besides the crowd. */
const OWN = 10_000;

/** @typedef {import('../subjects/subject.mjs').Subject} Subject */

/** @param {string} url @param {string} text */
async function once(url, text) {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(text);
  await client.end();
}

/** @param {string} tenant @param {string} further keys of each job, as SQL */
const enqueueBatch = (tenant, further = '') => `
  perform writ.fn_job_enqueue_many((select jsonb_agg(jsonb_build_object('id', uuidv7(), 'kind', 'noop', 'tenant', '${tenant}',
    'input', jsonb_build_object('i', v_from + (i - 1) * ${BATCH} + n)${further})) from generate_series(1, ${BATCH}) n), 'bench');
  commit;`;

const finishBatch = `
  v_answer := writ.fn_job_claim_many(array['noop'], 'external_worker', 'bench', 600, ${BATCH}, ${BATCH});
  if json_array_length(v_answer -> 'jobs') > 0 then
    perform writ.fn_job_succeed_many((v_answer ->> 'lease_token')::uuid,
      array(select generate_series(1, json_array_length(v_answer -> 'jobs'))));
  end if;
  commit;`;

/**
 * Batches of one kind from several connections at once. @param {string} url @param {number} batches
 * @param {string} each
 */
async function inBatches(url, batches, each) {
  await Promise.all(
    Array.from({ length: CONNECTIONS }, (_, k) => {
      const mine = Math.floor(batches / CONNECTIONS) + (k < batches % CONNECTIONS ? 1 : 0);
      return once(
        url,
        `do $$ declare v_answer json; v_from integer := ${k * 100_000_000}; begin for i in 1..${mine} loop ${each} end loop; end $$`,
      );
    }),
  );
}

/**
 * So many finished, future and queued jobs of others, and a queue of our own. @param {Subject} _
 * @param {{ url: string, rows: number }} options
 */
export async function fill(_, { url, rows }) {
  const batches = rows / BATCH;
  await once(url, `select writ.fn_job_kind_register('noop', '{}', 'bench')`);
  await inBatches(url, batches, enqueueBatch('done') + finishBatch);
  await inBatches(url, 2, finishBatch); // what one connection left to the other
  await inBatches(url, batches, enqueueBatch('later', `, 'delay_ms', 2592000000`));
  await inBatches(url, batches, enqueueBatch('crowd'));
  await inBatches(url, OWN / BATCH, enqueueBatch('default'));
  return { jobs: rows * 3 };
}

/** @param {Subject} _ @param {{ url: string, samples: number }} options */
export async function claimAgain(_, { url, samples }) {
  const client = new pg.Client(url);
  await client.connect();
  const claim = `select writ.fn_job_claim_many(array['noop'], 'external_worker', 'bench', 600, ${CLAIM}, ${CLAIM}, null, false, $1)`;
  const places = Array.from({ length: CLAIM }, (_none, k) => k + 1);
  /**
   * What was claimed ends, and as many jobs of the same tenants take its place. @param {string}
   * token @param {string[]} tenants
   */
  const replace = async (token, tenants) => {
    const { rows } = await client.query('select writ.fn_job_succeed_many($1, $2) as answer', [
      token,
      places,
    ]);
    if (rows[0].answer.done !== CLAIM)
      throw new Error(`only ${rows[0].answer.done} of ${CLAIM} jobs were claimed`);
    for (const tenant of new Set(tenants))
      await enqueue(tenant, tenants.filter((one) => one === tenant).length);
  };
  let next = 500_000_000;
  /** @param {string} tenant @param {number} jobs */
  const enqueue = async (tenant, jobs) => {
    await client.query(
      `select writ.fn_job_enqueue_many((select jsonb_agg(jsonb_build_object('id', uuidv7(), 'kind', 'noop', 'tenant', $1::text,
         'input', jsonb_build_object('i', $2::int + n))) from generate_series(1, $3::int) n), 'bench')`,
      [tenant, next, jobs],
    );
    next += jobs;
  };
  /** @type {number[]} */
  const times = [];
  for (let i = 0; i < WARM_UP + samples; i += 1) {
    const token = randomUUID();
    const start = monotonicMs();
    const { rows } = await client.query(claim, [token]);
    if (i >= WARM_UP) times.push(monotonicMs() - start);
    const { jobs } = rows[0].fn_job_claim_many;
    await replace(
      token,
      jobs.map((/** @type {string[]} */ [, , tenant]) => tenant),
    );
  }
  /** @type {number[]} */
  const buffers = [];
  /** @type {number[]} */
  const read = [];
  for (let i = 0; i < EXPLAINED; i += 1) {
    // An explained claim does not tell what it claimed; it is undone.
    await client.query('begin');
    const { rows } = await client.query(
      `explain (analyze, buffers, format json) ${claim.replace('$1', `'${randomUUID()}'`)}`,
    );
    await client.query('rollback');
    const plan = rows[0]['QUERY PLAN'][0].Plan;
    buffers.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
    read.push(plan['Shared Read Blocks']);
  }
  await client.end();
  const claims = WARM_UP + samples;
  return {
    claimMs: median(times),
    buffers: median(buffers),
    read: median(read),
    jobs: claims * CLAIM,
  };
}
