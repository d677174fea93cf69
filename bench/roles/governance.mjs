// @ts-check
// The roles of the governance suite: one has changes of five steps proposed and approved, each on targets of its own; the others activate them and wait until they are audited and at rest, in the
// process that also does them.

import pg from 'pg';
import { built } from '../build.mjs';
import { monotonicMs, percentile } from '../harness/figures.mjs';

/** @typedef {import('../subjects/subject.mjs').Subject} Subject */
/** @typedef {{ url: string, key: string, jobs: number }} Options */

/** @param {number} jobs @param {(n: number) => Promise<unknown>} each @param {number} atOnce */
async function inLoops(jobs, each, atOnce) {
  let next = 0;
  const loop = async () => {
    while (next < jobs) await each(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
}

/** Answers the key of whoever may activate them. @param {Subject} _ @param {{ url: string, contracts: number }} options */
export async function approve(_, { url, contracts }) {
  const { Writ, configure, enable } = await built();
  const writ = await Writ.connect({ connectionString: url, max: 16 });
  const add = (
    /** @type {string} */ id,
    /** @type {string} */ kind,
    /** @type {object} */ more = {},
  ) => writ.governance.addPrincipal({ id, kind, ...more });
  const ops = await add('ops', 'person', { rights: ['propose', 'operate'] });
  const ada = await add('ada', 'person');
  await inLoops(
    contracts,
    async (n) => {
      const capability = `capability-${n}`;
      const scope = `scope-${n}`;
      await writ.governance.put(
        [
          { capability_name: capability, domain: `domain-${n % 10}` },
          { scope, owner_capability: capability, values: { max: 100 } },
        ],
        { as: ops },
      );
      const steps = [
        enable(capability, 'PREVIEW'),
        configure(scope, 'max', 200),
        configure(scope, 'burst', 5),
        configure(scope, 'max', 300),
        enable(capability),
      ];
      const contract = await writ.contracts.propose(
        { title: `Change ${n}`, risk: 'low', scope: [capability, scope], steps },
        { as: ops },
      );
      const { hash } = await contract.preview({ as: ada });
      await contract.approve({ as: ada, hash });
    },
    16,
  );
  const key = await add('deployer', 'service');
  await writ.close();
  return { key };
}

/** The approved contracts, by their ids. @param {string} url @returns {Promise<string[]>} */
async function approved(url) {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(
    `select contract_id from writ.system_contracts where status = 'APPROVED' order by contract_id`,
  );
  await client.end();
  return rows.map(({ contract_id }) => contract_id);
}

/** Connections open, and Node compiles what it runs. */
const WARM_UP = 50;

/** @param {Options & { atOnce: number }} options */
async function activations({ url, key, jobs, atOnce }) {
  const { Writ } = await built();
  const ids = await approved(url);
  if (ids.length < jobs + WARM_UP)
    throw new Error(`${ids.length} contracts are approved, and ${jobs + WARM_UP} are wanted`);
  const writ = await Writ.connect({ connectionString: url, max: 16, key });
  const worker = await writ.work([], { governance: true, concurrency: 100 });
  /** @type {number[]} */
  const took = [];
  const each = async (/** @type {number} */ n) => {
    const start = monotonicMs();
    const job = await writ.contracts.get(String(ids[n])).activate();
    const { status, reason } = await job.finished();
    if (status !== 'COMPLETED') throw new Error(`governance job ${job.id} is ${status}: ${reason}`);
    took.push(monotonicMs() - start);
  };
  await inLoops(WARM_UP, each, atOnce);
  took.length = 0;
  const start = monotonicMs();
  await inLoops(jobs, (n) => each(WARM_UP + n), atOnce);
  const ms = monotonicMs() - start;
  await worker.stop();
  await writ.close();
  return {
    p50: percentile(took, 50),
    p99: percentile(took, 99),
    rate: (jobs / ms) * 1000,
    jobs: WARM_UP + jobs,
  };
}

/** One after the other on an idle system. @param {Subject} _ @param {Options} options */
export const oneByOne = (_, options) => activations({ ...options, atOnce: 1 });

/** @param {Subject} _ @param {Options & { atOnce: number }} options */
export const inParallel = (_, options) => activations(options);

/** Whether each of these jobs was audited, left a receipt per step, and stands. @param {Subject} _ @param {{ url: string, jobs: number }} options */
export async function verifyJobs(_, { url, jobs }) {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(`
    select (select count(*)::int from writ.governance_jobs where status = 'COMPLETED' and audit_verdict = 'PASS' and completed_steps = 5) as completed,
      (select count(*)::int from writ_data.receipt where entry::jsonb ->> 'reason' = 'change_applied') as receipts,
      (select count(*)::int from writ.governance_audits where verdict = 'PASS') as audits, (select count(*)::int from writ.capability where lifecycle = 'LAUNCHED') as launched`);
  await client.end();
  const { completed, receipts, audits, launched } = rows[0];
  const complete =
    completed === jobs && receipts === 5 * jobs && audits === jobs && launched === jobs;
  return {
    missing: complete
      ? null
      : `${completed} jobs are audited, with ${receipts} receipts of steps and ${launched} targets changed, instead of ${jobs}`,
  };
}
