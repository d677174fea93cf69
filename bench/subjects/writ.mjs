// @ts-check
// Ours, from the repository's own build, in one configuration for every case: a pool of 16 and 24
// handlers at once. `verify` is what makes a drain count: the complete trail must be in the database.
import { readFileSync } from 'node:fs';
import pg from 'pg';

// The build is imported through a variable so that type checks of this folder do not need it.
const build = new URL('../../dist/index.js', import.meta.url).href;
const { Writ, defineJob } = await import(build);
const noop = defineJob('noop');
/** The same work under a limit per key, high enough that it never holds anything back: what is measured is its price. */
const limited = defineJob('limited', { limit: { concurrency: 1000 } });
const SPREAD = 50;
/** Ways of using a queue, by the variant of a participant: the kind of its jobs, and what an enqueue says besides the input. */
const usages = {
  fair: { job: noop, options: (/** @type {any} */ input) => ({ tenant: `tenant-${input.i % SPREAD}` }) },
  limited: { job: limited, options: (/** @type {any} */ input) => ({ limitKey: `key-${input.i % SPREAD}` }) },
  plain: { job: noop, options: () => ({}) },
};
/** @param {string | undefined} variant */
const usageOf = (variant) => (variant === 'fair' || variant === 'limited' ? usages[variant] : usages.plain);

/** Each of them exactly once per job that ran without failing. */
const facts = ['enqueued', 'leased', 'started', 'committed', 'succeeded'].map((fact) => `dot.job.${fact}`);

/** @param {string} url */
const connect = (url) => Writ.connect({ connectionString: url, max: 16 });

/** @type {import('./subject.mjs').Subject} */
export const subject = {
  name: 'writ',
  version: () => JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version,
  async setup(url) {
    const writ = await connect(url);
    await writ.migrate({ enable: true });
    await writ.close();
  },
  async producer(url, { connections, variant }) {
    const writ = await connect(url);
    // With a connection of the caller's own, a job is a statement and a commit of its own.
    const pool = variant === 'uncoalesced' ? new pg.Pool({ connectionString: url, max: connections }) : null;
    const { job, options } = usageOf(variant);
    const alone = variant === 'singly' ? { coalesce: false } : {};
    return {
      enqueue: (input) => writ.enqueue(job, input, { ...options(input), ...(pool ? { db: pool } : alone) }),
      enqueueMany: (inputs) =>
        writ.enqueueMany(
          job,
          inputs.map((input) => ({ input, ...options(input) })),
        ),
      async close() {
        await pool?.end();
        await writ.close();
      },
    };
  },
  async worker(url, { variant }, onJob) {
    const writ = await connect(url);
    const { job } = usageOf(variant);
    const worker = await writ.work([job.handle(async (/** @type {any} */ { input }) => onJob(input))], { concurrency: 24 });
    return {
      async close() {
        await worker.stop();
        await writ.close();
      },
    };
  },
  // The cheapest truth about the backlog; `verify` reads the views in full, outside the clock.
  unfinished: `select (h ->> 'backlog')::int + (h ->> 'waiting')::int + (h ->> 'in_progress')::int as n
    from writ.fn_job_queue_health() h`,
  async verify(query, jobs) {
    const [done] = await query(`
      select (select count(*)::int from writ.job_queue where status = 'succeeded') as succeeded,
             count(*) filter (where status = 'DONE')::int as done,
             count(distinct job_id) filter (where status = 'DONE')::int as done_jobs
        from writ.job_execution`);
    if (done.succeeded !== jobs) return `${done.succeeded} of ${jobs} jobs are succeeded`;
    if (done.done !== jobs || done.done_jobs !== jobs) {
      return `${done.done} DONE executions of ${done.done_jobs} jobs instead of ${jobs}`;
    }
    const found = await query(`
      select event_type, count(*)::int as facts, count(distinct event_subject_ref)::int as jobs
        from writ.event_outbox group by event_type`);
    for (const fact of facts) {
      const row = found.find((one) => one.event_type === fact) ?? { facts: 0, jobs: 0 };
      if (row.facts !== jobs || row.jobs !== jobs) {
        return `${fact}: ${row.facts} facts about ${row.jobs} jobs instead of ${jobs}`;
      }
    }
    return null;
  },
};
