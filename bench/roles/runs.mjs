// @ts-check
// The roles of the runs suite. A runner starts runs of ten steps and works on them in the same process, a given number in flight: each of
// so many loops starts a run, waits for its end and starts the next. Inputs and outputs differ from run to run. The others are ours alone: one run that fans out over a
// list on several workers, and the calls that append to logs, each timed.

import pg from 'pg';
import { built } from '../build.mjs';
import { monotonicMs, percentile, sleep } from '../harness/figures.mjs';
import { stepNames } from '../subjects/subject.mjs';

/** @typedef {import('../subjects/subject.mjs').Subject} Subject */
/** @typedef {{ url: string, runs: number, inFlight: number }} Options */

/** Runs before the clock: connections open, and Node compiles what it runs. */
const WARM_UP = 100;

/** @param {Subject} subject @param {Options} options */
export async function tenSteps(subject, { url, runs, inFlight }) {
  if (!subject.runs) throw new Error(`${subject.name} has no runs`);
  let handled = 0;
  const runner = await subject.runs(url, async (step, input) => {
    handled += 1;
    return { step, i: input.i };
  });
  /** @param {number} from @param {number} count */
  const inLoops = async (from, count) => {
    let next = from;
    const loop = async () => {
      while (next < from + count) {
        next += 1;
        await runner.run({ i: next });
      }
    };
    const start = monotonicMs();
    await Promise.all(Array.from({ length: inFlight }, loop));
    return monotonicMs() - start;
  };
  await inLoops(0, WARM_UP);
  const ms = await inLoops(WARM_UP, runs);
  await runner.close();
  const jobs = WARM_UP + runs;
  const missing =
    handled === jobs * stepNames.length
      ? null
      : `${handled} steps were handled instead of ${jobs * stepNames.length}`;
  return { rate: (runs / ms) * 1000, jobs, ...(missing ? { void: missing } : {}) };
}

/**
 * Whether the database holds every step of these runs. @param {Subject} subject @param {{ url:
 * string, runs: number }} options
 */
export async function verifyRuns(subject, { url, runs }) {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return {
      missing:
        (await subject.verifyRuns?.(async (text) => (await client.query(text)).rows, runs)) ?? null,
    };
  } finally {
    await client.end();
  }
}

// The build is imported through variables so that type checks of this folder do not need it.

/** A plan of ten steps in a row. @param {any} product */
function tenStepsPlan({ defineJob, definePlan }) {
  const step = defineJob('step');
  return definePlan('ten-steps', { version: '1.0.0' }, (/** @type {any} */ p) => {
    let before;
    for (const name of stepNames) before = p.step(name, step, before ? { after: before } : {});
  });
}

/** A plan that goes over a list. @param {any} product */
function fanOutPlan({ defineJob, definePlan }) {
  const item = defineJob('item');
  const plan = definePlan('fan-out', { version: '1.0.0' }, (/** @type {any} */ p) => {
    p.each('item', item, { over: p.input.items, parallel: 100 });
  });
  return { item, plan };
}

/**
 * Works on the elements of lists until the run has ended. @param {Subject} _ @param {{ url: string,
 * runId: string }} options @param {(value: unknown) => Promise<unknown>} report
 */
export async function fanOutWorker(_, { url, runId }, report) {
  const product = await built('index.js');
  const { item } = fanOutPlan(product);
  const writ = await product.Writ.connect({ connectionString: url, max: 16 });
  let handled = 0;
  const worker = await writ.work(
    [item.handle(async (/** @type {any} */ { input }) => ({ item: input, handled: ++handled }))],
    {
      concurrency: 24,
    },
  );
  await report({ ready: true });
  const client = new pg.Client(url);
  await client.connect();
  for (;;) {
    const { rows } = await client.query(
      `select from writ.run where run_id = $1 and ended_at is not null`,
      [runId],
    );
    if (rows.length > 0) break;
    await sleep(50);
  }
  await client.end();
  await worker.stop();
  await writ.close();
  return { handled };
}

/**
 * Starts the run that fans out and waits for its end. The time is that between its first and its
 * last event. @param {Subject} _ @param {{ url: string, runId: string, items: number }} options
 */
export async function fanOut(_, { url, runId, items }) {
  const product = await built('index.js');
  const { plan } = fanOutPlan(product);
  const writ = await product.Writ.connect({ connectionString: url, max: 4 });
  const run = await writ.start(
    plan,
    { items: Array.from({ length: items }, (_, n) => n) },
    { runId },
  );
  const { status, totalDurationMs } = await run.finished();
  await writ.close();
  return {
    durationMs: totalDurationMs,
    rate: (items / totalDurationMs) * 1000,
    jobs: items,
    ...(status === 'COMPLETED' ? {} : { void: `the run is ${status}` }),
  };
}

/**
 * Whether the log holds every element once. @param {Subject} _ @param {{ url: string, items: number
 * }} options
 */
export async function verifyFanOut(_, { url, items }) {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(`
    select count(*) filter (where step_id like 'item[%' and event_type = 'StepCompleted')::int as done, count(*)::int as events, max(run_seq) as last
      from writ.run_events`);
  await client.end();
  const { done, events, last } = rows[0];
  // The start and the end of the run, of the step and of each element.
  return {
    missing:
      done === items && events === 4 + 2 * items && last === events
        ? null
        : `${done} elements are done, in a log of ${events}`,
  };
}

const AT_ONCE = 16;

/**
 * Runs of ten steps by so many clients at once, each with a connection of its own, in the words
 * that a worker uses: start a run, claim a step, report it and go on with the next. Each call that
 * appends to a log is timed as the client sees it. A worker beside them has nothing to do but its
 * clockwork, and so projects.
 * @param {Subject} _ @param {{ url: string, runs: number }} options
 */
export async function appendEvents(_, { url, runs }) {
  const product = await built('index.js');
  const { uuidv7 } = await built('database/uuid.js');
  const plan = tenStepsPlan(product);
  const writ = await product.Writ.connect({ connectionString: url, max: 4 });
  await writ.runs.register(plan);
  const worker = await writ.work([product.defineJob('nothing').handle(() => null)]);
  /** @type {number[]} */
  let starts = [];
  /** @type {number[]} */
  let steps = [];
  let left = 0;
  /** @param {pg.Client} client @param {string} holder */
  const loop = async (client, holder) => {
    const timed = async (
      /** @type {number[]} */ times,
      /** @type {string} */ name,
      /** @type {string} */ text,
      /** @type {unknown[]} */ values,
    ) => {
      const start = monotonicMs();
      const { rows } = await client.query({ name, text, values });
      times.push(monotonicMs() - start);
      return rows[0].answer;
    };
    while (left-- > 0) {
      const run = {
        run_id: uuidv7(),
        plan_id: plan.id,
        plan_version: plan.version,
        sha256: plan.sha256,
        input: { i: left },
      };
      await timed(starts, 'start', 'select writ.fn_run_start_many($1::text::jsonb, $2) as answer', [
        JSON.stringify([run]),
        holder,
      ]);
      let lease = { jobs: /** @type {any[][]} */ ([]), lease_token: '' };
      // The run of another loop may be claimed instead: it is as good.
      for (let tries = 0; lease.jobs.length === 0 && tries < 1000; tries += 1)
        lease = await timed(
          [],
          'claim',
          `select writ.fn_job_claim_many('{step}', 'external_worker', $1, 30, 1, 1) as answer`,
          [holder],
        );
      while (lease?.jobs.length > 0) {
        const answer = await timed(
          steps,
          'report',
          `select writ.fn_run_steps_succeed($1::uuid[], '{1}', array[$2::uuid], array[$3::uuid], array[$4], '{t}', '{step}', $5, 30, $6) as answer`,
          [
            [lease.lease_token],
            lease.jobs[0]?.[0],
            lease.jobs[0]?.[15][0],
            JSON.stringify({ i: left }),
            uuidv7(),
            holder,
          ],
        );
        if (answer.unusual) throw new Error('a report was unusual');
        lease = answer.next;
      }
    }
  };
  const clients = await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const client = new pg.Client(url);
      await client.connect();
      return client;
    }),
  );
  const inLoops = async (/** @type {number} */ count) => {
    left = count;
    starts = [];
    steps = [];
    await Promise.all(clients.map((client, n) => loop(client, `client-${n}`)));
  };
  await inLoops(WARM_UP);
  await inLoops(runs);
  const lagMs = await projected(/** @type {pg.Client} */ (clients[0]), WARM_UP + runs);
  await Promise.all(clients.map((client) => client.end()));
  await worker.stop();
  await writ.close();
  return {
    appendP99: percentile([...starts, ...steps], 99),
    appendP50: percentile([...starts, ...steps], 50),
    startP99: percentile(starts, 99),
    stepP99: percentile(steps, 99),
    lagMs,
    jobs: WARM_UP + runs,
  };
}

/**
 * Waits until every run has its last snapshot. Answers by how much the latest of them came after
 * the event that it holds. @param {pg.Client} client @param {number} runs
 */
async function projected(client, runs) {
  for (;;) {
    const { rows } = await client.query(`
      select count(*)::int as runs, max(extract(epoch from s.updated_at - e.persisted_at) * 1000)::float8 as lag
        from writ.run_snapshots s join writ.run_events e on e.run_id = s.run_id and e.run_seq = s.last_event_seq where s.status = 'COMPLETED'`);
    if (rows[0].runs === runs) return rows[0].lag;
    await sleep(200);
  }
}
