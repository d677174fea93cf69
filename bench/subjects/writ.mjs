// @ts-check
// Ours, from the repository's own build, in one configuration for every case: a pool of 16 and 24
// handlers at once. `verify` is what makes a drain count: the complete trail must be in the database.

import { readFileSync } from 'node:fs';
import { build, built } from '../build.mjs';
import { stepNames } from './subject.mjs';

const { Writ, defineJob, definePlan } = await built();
const noop = defineJob('noop');
/**
 * The same work under a limit per key, high enough that it never holds anything back: what is
 * measured is its price.
 */
const limited = defineJob('limited', { limit: { concurrency: 1000 } });
const SPREAD = 50;
/**
 * Ways of using a queue, by the variant of a participant: the kind of its jobs, and what an enqueue
 * says besides the input.
 */
const usages = {
  fair: {
    job: noop,
    options: (/** @type {any} */ input) => ({ tenant: `tenant-${input.i % SPREAD}` }),
  },
  limited: {
    job: limited,
    options: (/** @type {any} */ input) => ({ limitKey: `key-${input.i % SPREAD}` }),
  },
  plain: { job: noop, options: () => ({}) },
};
/** @param {string | undefined} variant */
const usageOf = (variant) =>
  variant === 'fair' || variant === 'limited' ? usages[variant] : usages.plain;

/** Each of them exactly once per job that ran without failing. */
const facts = ['enqueued', 'leased', 'started', 'committed', 'succeeded'].map(
  (fact) => `dot.job.${fact}`,
);

/** @param {string} url */
const connect = (url) => Writ.connect({ connectionString: url, max: 16 });

/** @type {import('./subject.mjs').Subject} */
export const subject = {
  name: 'writ',
  version: () => JSON.parse(readFileSync(new URL('../package.json', build), 'utf8')).version,
  async setup(url) {
    const writ = await connect(url);
    await writ.migrate({ enable: true });
    await writ.close();
  },
  async producer(url, { connections, variant }) {
    // Uncoalesced, a job is a statement and a commit of its own, on as many connections as the
    // peers have.
    const writ = await (variant === 'uncoalesced'
      ? Writ.connect({ connectionString: url, max: connections })
      : connect(url));
    const { job, options } = usageOf(variant);
    const alone = variant === 'singly' || variant === 'uncoalesced' ? { coalesce: false } : {};
    return {
      enqueue: (input) => writ.enqueue(job, input, { ...options(input), ...alone }),
      enqueueMany: (inputs) =>
        writ.enqueueMany(
          job,
          inputs.map((input) => ({ input, ...options(input) })),
        ),
      close: () => writ.close(),
    };
  },
  async worker(url, { variant }, onJob) {
    const writ = await connect(url);
    const { job } = usageOf(variant);
    const worker = await writ.work(
      [job.handle(async (/** @type {any} */ { input }) => onJob(input))],
      { concurrency: 24 },
    );
    return {
      async close() {
        await worker.stop();
        await writ.close();
      },
    };
  },
  // One handler serves all ten steps, as one function of the peer's does; each step is a job of its
  // own.
  async runs(url, onStep) {
    const step = defineJob('step');
    const plan = definePlan('ten-steps', { version: '1.0.0' }, (/** @type {any} */ p) => {
      let before;
      for (const name of stepNames) before = p.step(name, step, before ? { after: before } : {});
    });
    const writ = await connect(url);
    const handler = step.handle((/** @type {any} */ job) => onStep(job.step.stepId, job.input));
    const worker = await writ.work([handler], { concurrency: 100 });
    return {
      async run(input) {
        const started = await writ.start(plan, input, { requestId: String(input.i) });
        const { status } = await started.finished();
        if (status !== 'COMPLETED') throw new Error(`run ${started.runId} is ${status}`);
      },
      async close() {
        await worker.stop();
        await writ.close();
      },
    };
  },
  // The log is what counts: dense, with the start and the end of the run and of each of its steps,
  // once each.
  async verifyRuns(query, runs) {
    const [found] = await query(`
      select count(*)::int as runs, count(*) filter (where ok)::int as complete
        from (select count(distinct step_id) filter (where event_type = 'StepStarted') = ${stepNames.length}
                 and count(distinct step_id) filter (where event_type = 'StepCompleted') = ${stepNames.length}
                 and count(*) filter (where event_type like 'Step%') = ${2 * stepNames.length}
                 and count(*) filter (where event_type = 'RunStarted') = 1 and count(*) filter (where event_type = 'RunCompleted') = 1
                 and min(run_seq) = 1 and max(run_seq) = count(*) as ok
                from writ.run_events group by run_id) each_run`);
    return found.runs === runs && found.complete === runs
      ? null
      : `${found.complete} complete logs of ${found.runs} instead of ${runs}`;
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
