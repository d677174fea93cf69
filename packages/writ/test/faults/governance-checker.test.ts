/**
 * The governance checker's own checks: jobs without damage count nothing, and each kind of damage,
 * done by hand behind the gates, is counted as what it is.
 */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
// The orders are those of the fault run, and so of the build, as its processes use it.
import { Writ } from '../../dist/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { until } from '../races/sessions.js';
import {
  checkGovernance,
  governanceChecks,
  keepGovernanceBooks,
  prepareGovernance,
  rememberBystanders,
} from './governance-checker.mjs';
import { generator } from './plan.mjs';
import { orderOf } from './suites/governance/orders.mjs';
import { OutsideWorld } from './suites/governance/outside.mjs';
import { Proposer } from './suites/governance/proposer.mjs';
import { governance } from './suites/governance/steps.mjs';
import { withholding } from './suites/governance.mjs';

let db: TestDatabase;
let client: pg.Client;
let world: OutsideWorld;

/** Where the orders begin with each kind: those that the damage is done to. */
const places = {
  plain: 1,
  signalled: 3,
  outside: 5,
  refused: 11,
  withheld: 29,
  stuck: 31,
  parted: 33,
};

/**
 * A job of each of some kinds, as a fault run would leave them: four end well, one is rolled back,
 * one waits for a verdict, one could not be rolled back until a person had it tried again.
 */
beforeAll(async () => {
  db = await testDatabase();
  client = new pg.Client({ connectionString: db.connectionString });
  await client.connect();
  await prepareGovernance(client);
  await client.query(withholding);
  world = await OutsideWorld.open(1);
  process.env.WRIT_FAULTS_OUTSIDE = world.url;
  const writ = await Writ.connect({
    connectionString: db.connectionString,
    listenConnectionString: db.directConnectionString,
  });
  const admin = new pg.Pool({ connectionString: db.connectionString, max: 2 });
  const proposer = new Proposer(writ, admin, world);
  await proposer.prepare();
  await writ.capabilities.put(
    [
      { capability_name: 'bystander-1' },
      { scope: 'bystander-1', owner_capability: 'bystander-1', values: { max: 1 } },
    ],
    {
      as: String(proposer.keys.ops),
    },
  );
  world.flags.set('bystander-1', 1);
  await rememberBystanders(client, world.flags);
  const worker = await writ.work([], {
    governance: governance as never,
    poll: '20ms',
    onError: () => undefined,
  });
  const random = generator(1);
  for (const [name, n] of Object.entries(places)) {
    const order = orderOf(random, n);
    expect(order.name).toBe(name);
    await proposer.place(
      { ...order, resolve: name === 'stuck' ? 'PASS' : undefined },
      () => undefined,
    );
  }
  await until(async () => {
    const open =
      await db.query(`select from writ_data.governance_job where status in ('PENDING', 'RUNNING', 'ROLLBACK_PENDING') or status = 'AUDIT_PENDING' and audits < 2
      union all select from writ_data.job_ready union all select from writ_data.job_lease`);
    return open.length === 0;
  });
  await worker.stop();
  await writ.close();
  await admin.end();
  await keepGovernanceBooks(client, proposer.books, world.puts, world.flags);
}, 60_000);
afterAll(async () => {
  world.close();
  await client.end();
  await db.drop();
});

// Each test does its damage in a transaction of its own, which is undone afterwards.
beforeEach(() => client.query('begin'));
afterEach(() => client.query('rollback'));

const found = async () =>
  (await checkGovernance(client)).map(({ verdict, what }) => `${verdict}: ${what}`);
/** Past every trigger, as only an administrator can. */
const behindTheGates = (sql: string) =>
  client.query(`set local session_replication_role = replica; ${sql}`);
const job = (name: string) => `(select job_id from fault.owed where name = '${name}')`;
const contract = (name: string) => `(select contract_id from fault.owed where name = '${name}')`;
const runOf = (name: string) =>
  `(select run_id from writ_data.governance_job where job_id = ${job(name)})`;
const rollback = (name: string) =>
  `(select rollback_job_id from writ_data.governance_job where job_id = ${job(name)})`;

test('jobs without damage count nothing', async () => {
  expect(await found()).toEqual([]);
});

const damages: [what: string, sql: string][] = [
  [
    'lost: an activation that was answered left no job',
    `update fault.owed set job_id = gen_random_uuid() where name = 'plain'`,
  ],
  [
    'lost: a step that is done was not written',
    `delete from fault.written where slot = 'conf-1#burst'`,
  ],
  [
    'lost: a change outside that is done was never made',
    `delete from fault.outside where key = 'plain-5' and value = '10'`,
  ],
  [
    'repeated: a contract has more than one forward job',
    `drop index writ_data.one_forward_job_per_contract; update writ_data.governance_job set kind = 'forward', of_job_id = null where job_id = ${rollback('refused')}`,
  ],
  [
    'repeated: a version was written more than once',
    `insert into fault.written (slot, value, version, by) select slot, value, version, by from fault.written where slot = 'conf-1#burst'`,
  ],
  [
    'repeated: a target was written as often as no job says',
    `insert into fault.written (slot, value, version, by) values ('conf-1#max', '1', 100000, 'faults')`,
  ],
  [
    'repeated: a step of a run is done by several executions',
    `drop index writ_data.a_job_has_one_effect_or_one_end; insert into writ_data.job_execution (job_id, execution_no, attempt, status, committed_at, finished_at)
     select x.job_id, 2, 2, x.status, x.committed_at, x.finished_at from writ_data.job_execution x join writ_data.job j on j.job_id = x.job_id where j.run_id = ${runOf('plain')} and j.step_no = 1`,
  ],
  [
    'repeated: one effect outside put different values',
    `insert into fault.outside select at, key, effect, '77', undo from fault.outside where key = 'plain-5'`,
  ],
  [
    'repeated: a step was undone more than once',
    `insert into writ_data.governance_step select job_id, 99, step_type, target, parameters, found, applied, found_version, written_version, rollback_action, evidence, of_step_no, receipt_no, began_at, done_at from writ_data.governance_step where job_id = ${rollback('refused')} and step_no = 3`,
  ],
  [
    'unreceipted: a step that is done has no receipt that says so',
    `update writ_data.governance_step set receipt_no = null where job_id = ${job('plain')} and step_no = 2`,
  ],
  [
    'unreceipted: a receipt of a change has no step',
    `delete from writ_data.governance_step where job_id = ${job('plain')} and step_no = 2`,
  ],
  [
    'unreceipted: a target that was not restored has no receipt that says so, or the reverse',
    `update writ_data.governance_step set error = 'x', done_at = null where job_id = ${rollback('refused')} and step_no = 3`,
  ],
  [
    'wrong: a rollback that did not restore a target has not failed',
    `update writ_data.governance_step set error = 'x', done_at = null where job_id = ${rollback('refused')} and step_no = 3`,
  ],
  [
    'unreceipted: a move of a job has no receipt',
    `delete from writ_data.receipt where entry::jsonb #>> '{context,to}' = 'AUDIT_PENDING' and stream = 'governance_job:' || ${job('plain')}`,
  ],
  [
    'unreceipted: a stream of receipts is not dense',
    `delete from writ_data.receipt where stream_seq = 2 and stream = 'governance_job:' || ${job('plain')}`,
  ],
  [
    'unreceipted: a job has more or fewer receipts than it counted',
    `update writ_data.governance_job set receipts = receipts + 1 where job_id = ${job('plain')}`,
  ],
  [
    'unreceipted: an approval is not in the ledger as it was signed',
    `update writ_data.contract_review set signature = sha256('x') || sha256('y') where contract_id = ${contract('plain')} and action = 'APPROVE'`,
  ],
  [
    'stuck: a job has not come to rest',
    `update writ_data.governance_job set status = 'RUNNING' where job_id = ${job('plain')}`,
  ],
  [
    'stuck: a person is waited for without having been needed',
    `update fault.owed set person = false where name = 'withheld'`,
  ],
  [
    'stuck: a rollback that a person had tried again has not restored what could be',
    `update writ_data.governance_job set status = 'ROLLBACK_FAILED' where of_job_id = ${job('stuck')}`,
  ],
  [
    'stuck: a job of the queue is left',
    `insert into writ_data.job_lease (lease_token, holder, claimed_at, leased_until, ttl_s, timeout_s, job_ids, attempts, execution_nos, open_jobs, start_upto, start_at)
     select gen_random_uuid(), 'x', now(), now(), 1, 1, array[j.job_id], '{0}', '{1}', 1, '{1}', array[now()] from writ_data.job j where j.run_id = ${runOf('plain')} and j.step_no = 1`,
  ],
  [
    'stuck: a hold is left',
    `insert into writ_data.target_hold values ('default', 'cap-1', ${contract('plain')}, now())`,
  ],
  [
    'wrong: a job has ended as its kind may not',
    `update fault.owed set ends = '{ROLLED_BACK}' where name = 'plain'`,
  ],
  [
    'wrong: what stands at a target is not what its job left',
    `update writ_data.configuration set value = '9' where scope = 'conf-1' and key = 'burst'`,
  ],
  [
    'wrong: what stands at a target is not what its job left',
    `delete from fault.flag where slot = 'flag:plain-5'`,
  ],
  [
    'wrong: a target that no contract named has changed',
    `update writ_data.configuration set version = version + 1 where scope = 'bystander-1'`,
  ],
  [
    'wrong: a target that no contract named has changed',
    `delete from fault.flag where slot = 'flag:bystander-1'`,
  ],
  [
    'wrong: something was written outside of a scope',
    `insert into fault.written (slot, value, version, by) values ('elsewhere', '1', 100000, 'faults')`,
  ],
  [
    'wrong: something was changed outside of the database that no contract names',
    `insert into fault.outside values (1, 'elsewhere', 'x', '1', false)`,
  ],
  [
    'wrong: a job was rolled back and its state hash is another',
    `update writ_data.governance_job set state_after = sha256('x') where job_id = ${job('refused')}`,
  ],
  [
    'wrong: a job was rolled back without a rollback that was audited',
    `update writ_data.governance_job set audit_verdict = null, status = 'CANCELLED' where job_id = ${rollback('refused')}`,
  ],
  [
    'wrong: a job is COMPLETED without PASS',
    `update writ_data.governance_audit set verdict = 'INCONCLUSIVE' where job_id = ${job('plain')}`,
  ],
  [
    'wrong: a job is COMPLETED without all of its steps',
    `update writ_data.governance_step set done_at = null where job_id = ${job('plain')} and step_no = 5`,
  ],
  [
    'wrong: steps are not what the log of the run says',
    `delete from writ_data.run_event where run_id = ${runOf('parted')} and step_id = 's2' and event_type = 'StepCompleted'`,
  ],
  [
    'wrong: the count of steps is not what the log of the run says',
    `update writ_data.governance_job set done_steps = 4 where job_id = ${job('plain')}`,
  ],
  [
    'wrong: steps did not happen one after the other',
    `update writ_data.run_event set run_seq = 1000 where run_id = ${runOf('parted')} and step_id = 's2' and event_type = 'StepCompleted'`,
  ],
  [
    'wrong: a move is not in the table',
    `update writ_data.governance_job_history set event = 'verdict_fail' where job_id = ${job('plain')} and event = 'verdict_pass'`,
  ],
  [
    'wrong: a history is not a chain',
    `delete from writ_data.governance_job_history where job_id = ${job('plain')} and version = 2`,
  ],
  [
    'wrong: a history does not end where its job is',
    `update writ_data.governance_job set status = 'CANCELLED' where job_id = ${job('plain')}`,
  ],
  [
    'wrong: a contract is not where its job is',
    `update writ_data.contract set status = 'ACTIVE' where contract_id = ${contract('plain')}`,
  ],
  [
    'wrong: fewer than half of the jobs are COMPLETED',
    `update writ_data.governance_job set status = 'ROLLED_BACK' where job_id = ${job('outside')}`,
  ],
];

test.each(damages)('%s', async (what, sql) => {
  await behindTheGates(sql);
  expect(await found()).toContain(what);
});

test('every check has a damage that shows it', () => {
  expect(new Set(damages.map(([what]) => what))).toEqual(
    new Set(governanceChecks.map(([verdict, what]) => `${verdict}: ${what}`)),
  );
});
