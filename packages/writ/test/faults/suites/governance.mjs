// @ts-check
// Governance under faults: workers are killed at every boundary of steps, forward and backward, in the database and outside of it; health falls and flaps; changes are refused, half done, stopped,
// cancelled, meddled with; verdicts are withheld, rollbacks stuck; PostgreSQL is stopped at once and started again. At the end everything has to be at rest, and what stands at each target is what
// the end of its job says; nothing else has changed; and the ledger verifies.
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { Writ } from '../../../dist/index.js';
import { keyOfSeed, privateKeyText, publicKeyText } from '../../../dist/ledger/note.js';
import { tallied } from '../checker.mjs';
import {
  checkGovernance,
  keepGovernanceBooks,
  prepareGovernance,
  rememberBystanders,
} from '../governance-checker.mjs';
import { paced } from '../paced.mjs';
import { generator, planOf } from '../plan.mjs';
import { standstill } from '../standstill.mjs';
import { WorkerSlots } from '../worker-slots.mjs';
import { orderOf } from './governance/orders.mjs';
import { OutsideWorld } from './governance/outside.mjs';
import { Proposer } from './governance/proposer.mjs';
import { settle, verified } from './ledger/verified.mjs';
import { OutsideFaults } from './queue/outside.mjs';

/**
 * Which points see one passage per batch and which one per step decides how many passages to wait
 * for; rollbacks are fewer than steps.
 */
const points = /** @type {[string, upTo: number, full: number][]} */ ([
  ['claimed', 4, 12],
  ['started', 12, 20],
  ['change_begun', 4, 20],
  ['change_made', 4, 20],
  ['change_sent', 8, 20],
  ['after_commit', 10, 20],
  ['finish_sent', 10, 12],
  ['audited', 4, 12],
  ['undo_begun', 2, 10],
  ['undo_made', 2, 10],
  ['undo_sent', 3, 12],
  ['undone', 3, 12],
]);

/** @param {boolean} quick @returns {import('../plan.mjs').Shape} */
function shape(quick) {
  const count = (/** @type {number} */ full, /** @type {number} */ short) => (quick ? short : full);
  return {
    jobs: count(520, 40),
    kills: points.map(([point, upTo, full]) => [
      point,
      count(full, 1),
      quick ? Math.ceil(upTo / 3) : upTo,
    ]),
    stops: [],
    leaves: [['started', count(6, 1), 10]],
    duplicates: [['started', count(12, 1), 10]],
    outside: [
      ['crash', count(6, 1)],
      ['disconnect', count(10, 1)],
    ],
  };
}

const pause = (/** @type {number} */ ms) => new Promise((resume) => setTimeout(resume, ms));

/**
 * Audits of the contracts that are called so find no health to compare with: they cannot come to a
 * verdict.
 */
export const withholding = `
  create function fault.withhold() returns trigger language plpgsql security definer as $$ begin
    if (select c.title like 'withheld %' from writ_data.contract c where c.contract_id = new.contract_id) then new.health_before := null; end if;
    return new;
  end $$;
  create trigger withhold before update on writ_data.governance_job for each row when (new.status = 'AUDIT_PENDING' and old.status = 'RUNNING' and new.kind = 'forward') execute function fault.withhold()`;

/** @param {import('./queue.mjs').Run} run */
export async function run({ seed, quick, server, progress, onEnd }) {
  const form = shape(quick);
  const plan = planOf(seed, form);
  const random = generator(seed + 1);
  const url = server.url('postgres');
  const admin = new pg.Pool({ connectionString: url, max: 4 });
  admin.on('error', () => undefined); // the server is stopped under it on purpose
  const writ = await Writ.connect({ connectionString: url, max: 8, actor: 'proposer' });
  await writ.migrate({ enable: true });
  await prepareGovernance(admin);
  await admin.query(withholding);
  // Here the harness kills, not the jobs: a job that was hit by chance must not be taken for
  // poison, however often.
  await admin.query(`select writ.fn_setting_set('queue.poison.crashes', '10000', 'faults')`);
  for (const limit of ['proposals_per_hour', 'open_contracts'])
    await admin.query(
      `select writ.fn_setting_set('governance.agent.${limit}', '100000', 'faults')`,
    );

  const world = await OutsideWorld.open(seed + 2);
  onEnd(() => world.close());
  process.env.WRIT_FAULTS_OUTSIDE = world.url;
  const proposer = new Proposer(writ, admin, world);
  await proposer.prepare();
  const bystanders = Array.from({ length: 20 }, (_, n) => `bystander-${n}`);
  await writ.capabilities.put(
    bystanders.flatMap((name, n) => [
      { capability_name: name, domain: `d${n % 7}`, lifecycle: n % 2 ? 'LAUNCHED' : 'PREVIEW' },
      { scope: name, owner_capability: name, values: { max: n, min: -n } },
    ]),
    { as: String(proposer.keys.ops) },
  );
  for (const name of bystanders) world.flags.set(name, 1);
  await rememberBystanders(admin, world.flags);

  /** @type {string[]} */
  const said = [];
  const onFinding = (/** @type {string} */ what) => void said.push(what);
  // Whoever proposes lives in this process: what Writ throws outside of every call would end a
  // user's program, and is a finding here.
  const stray = (/** @type {Error} */ error) =>
    onFinding(`thrown outside of every call: ${error?.stack ?? error}`);
  process.on('uncaughtException', stray);
  process.on('unhandledRejection', stray);
  /** @type {Record<string, number>} */
  const happened = {};
  const count = (/** @type {import('../plan.mjs').Fault} */ { action, point }) => {
    happened[`${action} ${point}`] = (happened[`${action} ${point}`] ?? 0) + 1;
  };
  const slots = new WorkerSlots({
    url,
    folder: server.folder,
    module: new URL('./governance/steps.mjs', import.meta.url).href,
    count: 3,
    options: { concurrency: 5, lease: '1500ms', poll: '200ms', batch: 20, grace: '5s' },
    faults: plan.workers,
    leasesOf: async () => 0, // nobody is stopped here
    onFault: count,
    onFinding,
  });
  onEnd(() => slots.kill());
  const outside = new OutsideFaults({
    faults: plan.outside,
    server,
    admin,
    onFault: count,
    onFinding,
  });
  slots.start();
  const operations = await start({
    jobs: form.jobs,
    random,
    proposer,
    slots,
    outside,
    progress,
    onFinding,
  });
  await rest(admin, progress, 120_000);
  await slots.stop();

  progress('the last turn and the last checkpoint');
  const rested = await settle(admin, 60_000);
  const signer = keyOfSeed('faults.example/governance', new Uint8Array(32).fill(seed % 256));
  const kept = join(server.folder, 'outside');
  mkdirSync(kept);
  await writ.ledger.checkpoint({ key: privateKeyText(signer), places: [join(kept, 'checkpoint')] });
  await writ.ledger.export(join(server.folder, 'export'));
  progress('counting');
  const client = await admin.connect();
  await keepGovernanceBooks(client, proposer.books, world.puts, world.flags);
  /** @type {import('../governance-checker.mjs').Finding[]} */
  const findings = await checkGovernance(client);
  findings.push(
    ...(await verified(writ, join(server.folder, 'export'), {
      keys: [publicKeyText(signer)],
      checkpoint: await readFile(join(kept, 'checkpoint'), 'utf8'),
    })),
  );
  if (!rested)
    findings.push({
      verdict: 'stuck',
      what: 'the ledger did not come to rest',
      times: 1,
      rows: [],
    });
  if (said.length > 0)
    findings.push({
      verdict: 'wrong',
      what: 'the run itself found',
      times: said.length,
      rows: said.slice(0, 10),
    });
  const figures = await figuresOf(client);
  client.release();
  await writ.close();
  await admin.end();
  world.close();
  process.off('uncaughtException', stray);
  process.off('unhandledRejection', stray);
  const tally = tallied(findings, happened);
  return {
    operations,
    ...tally,
    faults:
      tally.faults + Object.values(proposer.injected).reduce((total, times) => total + times, 0),
    injected: proposer.injected,
    outside_answered: world.answered,
    worker_lives: slots.lives,
    calls_thrown: proposer.thrown,
    ...figures,
    details: findings,
  };
}

/**
 * Has the changes made in step with the faults. Answers how many were asked for.
 * @param {{ jobs: number, random: ReturnType<typeof generator>, proposer: Proposer, slots:
 * WorkerSlots, outside: OutsideFaults, progress: (line: string) => void,
 *   onFinding: (what: string) => void }} run
 */
function start({ jobs, random, proposer, slots, outside, progress, onFinding }) {
  let n = 0;
  const place = () => {
    const order = orderOf(random, ++n);
    proposer
      .place(order, () => outside.passed(proposer.answered, null))
      .catch((error) =>
        onFinding(
          `${order.name} ${order.n}: a call failed in a way that is not an outage: ${error?.stack ?? error} ${error?.detail ?? ''}`,
        ),
      );
  };
  return paced({
    amount: jobs,
    atFirst: 0.3,
    atOnce: 25,
    what: 'changes',
    left: () => slots.faults.length + slots.armed + outside.left,
    open: () => proposer.open,
    answered: () => proposer.answered,
    place,
    last: () => outside.last,
    progress,
    onFinding,
  });
}

/**
 * Waits until every job rests, or waits for a person, or until that stands still.
 * @param {pg.Pool} admin @param {(line: string) => void} progress @param {number} patienceMs
 */
async function rest(admin, progress, patienceMs) {
  for (const still = standstill(patienceMs); ; await pause(200)) {
    const { rows } =
      await admin.query(`select (select count(*)::integer from writ_data.job_ready) + (select count(*)::integer from writ_data.job_lease) as queue,
      (select count(*)::integer from writ_data.governance_job where status in ('PENDING', 'RUNNING', 'ROLLBACK_PENDING', 'FAILED') or status = 'AUDIT_PENDING' and audits < 2) as jobs`);
    const { queue, jobs } = rows[0];
    if (queue + jobs === 0 || still(queue + jobs)) return;
    progress(`waiting for the last: ${jobs} governance jobs, ${queue} rows of the queue`);
  }
}

/** What else is worth knowing about the run. @param {pg.PoolClient} client */
async function figuresOf(client) {
  const { rows } = await client.query(`
    select (select jsonb_object_agg(k, n) from (select o.name || ' ' || g.status as k, count(*) as n from writ_data.governance_job g join fault.owed o on o.contract_id = g.contract_id where g.kind = 'forward' group by 1 order by 1) x) as ends,
      (select count(*)::integer from writ_data.governance_job) as governance_jobs, (select count(*)::integer from writ_data.governance_job where kind = 'forward' and status = 'COMPLETED') as completed,
      (select count(*)::integer from writ_data.governance_job where status = 'ROLLED_BACK') as rolled_back, (select count(*)::integer from writ_data.governance_step where done_at is not null) as steps_done,
      (select count(*)::integer from writ_data.governance_step where of_step_no is not null) as undone, (select count(*)::integer from fault.written) as writes, (select count(*)::integer from fault.outside) as puts_outside,
      (select count(*)::integer from writ_data.receipt) as receipts, (select count(*)::integer from writ_data.job_execution where abort_kind = 'lease_expired') as leases_expired`);
  return rows[0];
}
