// @ts-check
// A worker process of a fault run. The parent arms one fault at a time; at its passage this process kills itself, stops itself until the
// parent wakes it, leaves in the orderly way, or has its job delivered twice. It keeps a record in a file of its own, written before anything is done, so that what
// it began is known even when it dies at once: `begun <job>` when a handler takes a job, `fenced <job>` when a commit was refused.
import { openSync, writeSync } from 'node:fs';
import pg from 'pg';
import { Writ } from '../../dist/index.js';
import { onFaultPoint } from '../../dist/testing/index.js';

const { url, record, module, options } = JSON.parse(String(process.env.WRIT_FAULTS_WORKER));
const file = openSync(record, 'a');
const note = (/** @type {string} */ line) => writeSync(file, `${line}\n`);
const say = (/** @type {object} */ message) =>
  new Promise((done) => process.send?.(message, undefined, undefined, done));

/** @type {(import('./plan.mjs').Fault & { passages: number }) | undefined} */
let armed;
/**
 * The jobs that handlers hold, newest last: points without a job of their own take one of them.
 * @type {Set<string>}
 */
const begun = new Set();

/** @param {string} jobId */
async function deliverAgain(jobId) {
  const client = new pg.Client(url);
  await client.connect();
  // A copy of the row that its claim deleted: the same job, the same number of execution.
  await client.query(
    `with twice as (
       insert into writ_data.job_ready (lane_id, seq, part, job_ids, attempts, execution_no, deadline_at, moved)
       select writ_data.open_lane(j.job_kind, j.tenant_id, j.limit_key, j.priority, l.alone), nextval('writ_data.job_ready_seq'), 0, array[j.job_id],
         l.attempts[p], l.execution_nos[p], j.deadline_at, true
       from writ_data.job_lease l cross join lateral array_position(l.job_ids, $1) p join writ_data.job j on j.job_id = $1
       where p is not null limit 1 returning job_ids[1] as job_id)
     insert into fault.duplicated (job_id) select job_id from twice`,
    [jobId],
  );
  await client.end();
}

onFaultPoint(async (point, jobId) => {
  if (point === 'started' && jobId) {
    note(`begun ${jobId}`);
    begun.add(jobId);
  }
  if (armed?.point !== point || ++armed.passages !== armed.nth) return;
  const { action, holdMs } = armed;
  armed = undefined;
  if (action === 'kill') {
    // Blocks the whole thread: what comes in meanwhile stays unread.
    if (holdMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, holdMs);
    process.kill(process.pid, 'SIGKILL');
  } else if (action === 'stop') {
    await say({ type: 'stopping', jobId });
    process.kill(process.pid, 'SIGSTOP');
    await say({ type: 'woken' });
  } else if (action === 'leave') {
    void stop(); // not awaited: this passage is part of what the stop waits for
  } else if (action === 'duplicate') {
    const twice = jobId ?? [...begun].at(-1);
    // the server may be down: then it was delivered once
    if (twice) await deliverAgain(twice).catch(() => undefined);
    await say({ type: 'done' });
  }
});

/** The server may be down at this moment; a worker that cannot begin tries again. */
async function begin() {
  const { handlers, governance, governor } = await import(module);
  for (;;) {
    let writ;
    try {
      writ = await Writ.connect({ connectionString: url, max: 8, actor: 'faults' });
      return {
        writ,
        worker: await writ.work(handlers(writ, note), {
          ...options,
          ...(governance && { governance, trust: 'database', probes: { allowPrivate: true } }),
          ...(governor && { governor }),
        }),
      };
    } catch (error) {
      await writ?.close().catch(() => undefined);
      if (/** @type {{ code?: string }} */ (error).code !== 'database_unreachable') throw error;
      await new Promise((resume) => setTimeout(resume, 100));
    }
  }
}

process.on(
  'message',
  (/** @type {{ type: string, fault: import('./plan.mjs').Fault }} */ order) => {
    if (order.type === 'arm') armed = { ...order.fault, passages: 0 };
    if (order.type === 'stop') void stop();
  },
);
// A worker without its parent has nobody to stop it; the parent may have gone while this process
// was starting.
process.on('disconnect', () => process.exit(3));
if (!process.connected) process.exit(3);

const running = begin();
let stopping = false;
async function stop() {
  if (stopping) return;
  stopping = true;
  armed = undefined;
  const { writ, worker } = await running;
  await worker.stop();
  await writ.close();
  process.exit(0);
}
const { worker } = await running;
await say({ type: 'ready', workerId: worker.id });
