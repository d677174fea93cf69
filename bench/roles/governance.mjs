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

/**
 * Answers the key of whoever may activate them, and the public keys of who has approved them: ada,
 * and for high risk bob too.
 * @param {Subject} _ @param {{ url: string, contracts: number, risk?: 'low' | 'high' }} options
 */
export async function approve(_, { url, contracts, risk = 'low' }) {
  const { Writ, configure, enable, principal } = await built();
  const writ = await Writ.connect({ connectionString: url, max: 16 });
  const add = (
    /** @type {string} */ id,
    /** @type {string} */ kind,
    /** @type {object} */ more = {},
  ) => writ.principals.add({ id, kind, ...more });
  const ops = await add('ops', 'person', { rights: ['propose', 'operate'] });
  const approvers = [await add('ada', 'person')];
  if (risk === 'high') approvers.push(await add('bob', 'person'));
  // With all of governance: older builds, beside which this one is measured, do not only verify.
  await writ.work([], { governance: true, trust: 'database', concurrency: 100 });
  await inLoops(
    contracts,
    async (n) => {
      const capability = `capability-${n}`;
      const scope = `scope-${n}`;
      await writ.capabilities.put(
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
        { title: `Change ${n}`, risk, scope: [capability, scope], steps },
        { as: ops },
      );
      for (const as of approvers) {
        const { hash } = await contract.preview({ as });
        await contract.approve({ as, hash });
      }
    },
    16,
  );
  const key = await add('deployer', 'service');
  await writ.close();
  const persons = approvers
    .map((one) => principal(one))
    .map(({ id, publicKey }) => [id, publicKey]);
  return { key, persons: Object.fromEntries(persons) };
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
  const worker = await writ.work([], { governance: true, trust: 'database', concurrency: 100 });
  /** @type {number[]} */
  const took = [];
  const each = async (/** @type {number} */ n) => {
    const start = monotonicMs();
    const job = await writ.contracts.handle(String(ids[n])).activate();
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

/**
 * Whether each of these jobs was audited, left a receipt per step, and stands. @param {Subject} _
 * @param {{ url: string, jobs: number }} options
 */
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

const signer = async () => {
  const { keyOfSeed, privateKeyText, publicKeyText } = await built('ledger/note.js');
  const pair = keyOfSeed('bench', new Uint8Array(32).fill(1));
  return { secret: privateKeyText(pair), known: publicKeyText(pair) };
};

/**
 * All of them activated and audited, signed, and exported into a folder. Answers the deployment.
 * @param {Subject} _ @param {Options & { folder: string }} options
 */
export async function exportChanges(_, { folder, ...options }) {
  await activations({ ...options, atOnce: 64 });
  const { Writ } = await built();
  const writ = await Writ.connect({ connectionString: options.url, actor: 'bench' });
  await writ.ledger.checkpoint({ key: (await signer()).secret, places: [] });
  await writ.ledger.export(folder);
  await writ.close();
  const client = new pg.Client(options.url);
  await client.connect();
  const { rows } = await client.query('select deployment_id from writ.deployment');
  await client.end();
  return { deployment: rows[0].deployment_id };
}

/**
 * What \`writ ledger verify FOLDER --trust FILE\` does, in a process that has done nothing else.
 * @param {Subject} _
 * @param {{ folder: string, deployment: string, persons: Record<string, string>, contracts: number
 * }} options
 */
export async function verifyApprovals(_, { folder, deployment, persons, contracts }) {
  const { signedBy, signedByAside } = await built('governance/keys.js');
  const { GovernanceAudit } = await built('governance/trust/audit.js');
  const { folderReader } = await built('ledger/exports.js');
  const { nodeSha256: sha256 } = await built('ledger/sha256.js');
  const { verifyExport } = await built('ledger/verify.js');
  const personOf = (/** @type {string} */ public_key) => ({
    tenants: ['*'],
    rights: ['approve'],
    keys: [{ scheme: 'ed25519', public_key, since: '2020-01-01T00:00:00Z' }],
  });
  const trust = {
    ...{ source: 'file', sha256: '00'.repeat(32), writ: 'trust 1', deployment },
    persons: Object.fromEntries(Object.entries(persons).map(([id, key]) => [id, personOf(key)])),
    quorum: { low: 1, medium: 1, high: 2, critical: 2 },
    ...{ risk_floors: [], ledger_keys: [] },
  };
  const { known } = await signer();
  let judging = 0;
  /** @param {() => Promise<any> | undefined} act */
  const timed = (act) => {
    const began = monotonicMs();
    const waiting = act();
    judging += monotonicMs() - began;
    if (!waiting) return undefined;
    const waited = monotonicMs();
    return waiting.finally(() => {
      judging += monotonicMs() - waited;
    });
  };
  const start = monotonicMs();
  const read = folderReader(folder);
  const governance = await GovernanceAudit.of(read, {
    ...{ trust, signedBy, signedByAside, sha256 },
  });
  /** @type {{ contracts: number, signatures: number } | undefined} */
  let audited;
  const verdict = await verifyExport(read, {
    ...{ keys: [known], sha256 },
    onReceipt: (
      /** @type {string} */ log,
      /** @type {object} */ receipt,
      /** @type {Uint8Array} */ _entry,
      /** @type {number} */ index,
    ) => timed(() => governance.hear(log, receipt, index)),
    beforeVerdict: async (/** @type {unknown} */ findings) => {
      audited = await timed(() => governance.close(findings));
    },
  });
  const ms = monotonicMs() - start;
  const { signatures = 0, contracts: judged = 0 } = audited ?? {};
  const wanted = contracts * Object.keys(persons).length;
  const missing = !verdict.ok
    ? `it does not verify: ${verdict.problems[0]?.message}`
    : judged !== contracts || signatures !== wanted
      ? `${signatures} signatures of ${judged} contracts, instead of ${wanted} of ${contracts}`
      : null;
  const entries = verdict.logs.reduce(
    (/** @type {number} */ sum, /** @type {{ size: number }} */ { size }) => sum + size,
    0,
  );
  return {
    rate: (signatures / judging) * 1000,
    wholeRate: (signatures / ms) * 1000,
    entryRate: (entries / ms) * 1000,
    jobs: signatures,
    ...(missing ? { void: missing } : {}),
  };
}
