/**
 * The checker of the hostile run counts nothing in honest work, and each kind of damage as what it
 * is.
 */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
// The work is that of the fault run, and so of the build, as its processes use it.
import { Writ } from '../../dist/index.js';
import { uuidv7 } from '../../src/database/uuid.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { calm, Estate, mallory, people, prepareCalm } from '../hostile/estate.mjs';
import { checkHostile, hostileChecks, prepareHostile, rememberCalm } from './hostile-checker.mjs';
import {
  governance,
  governor,
  Honest,
  handlers,
  keepBooks,
  Told,
  tenants,
} from './suites/hostile/honest.mjs';
import { rest } from './suites/hostile/rest.mjs';

let db: TestDatabase;
let client: pg.Client;
const login = `hostile_damage_${process.pid}`;
const logins = [
  { login, role: 'writ_producer', bound: true },
  { login: 'hostile_reader', role: 'writ_auditor', bound: true },
  { login: 'hostile_free', role: 'writ_worker', bound: false },
  { login: 'hostile_relay', role: 'writ_engine', bound: false },
];

/**
 * Two tenants with jobs, runs, contracts and signals, one contract rolled back, as a hostile run
 * would leave them.
 */
beforeAll(async () => {
  db = await testDatabase();
  client = new pg.Client({ connectionString: db.connectionString });
  await client.connect();
  const admin = new pg.Pool({ connectionString: db.connectionString, max: 2 });
  const writ = await Writ.connect({
    connectionString: db.connectionString,
    listenConnectionString: db.directConnectionString,
  });
  const keys: Record<string, Record<string, string>> = {};
  for (const tenant of [...tenants, calm]) keys[tenant] = await people(writ, tenant);
  const failed: string[] = [];
  const honest = new Honest(writ, admin, keys, (what) => void failed.push(what));
  const estate = new Estate(writ, admin, await people(writ, mallory, 'm'));
  await honest.prepare();
  const told = new Told(writ);
  await told.start();
  await estate.prepare();
  await prepareCalm(writ, keys[calm] ?? {}, admin);
  await prepareHostile(admin);
  const worker = await writ.work(
    handlers(writ, () => undefined),
    { governance: governance as never, governor, poll: '20ms', onError: () => undefined } as never,
  );
  for (let n = 0; n < 4; n++) honest.place(true);
  expect(await rest(admin, () => undefined, 120_000, honest, tenants)).toBe(true);
  await rememberCalm(admin);
  await worker.stop();
  await told.stop();
  await writ.close();
  await keepBooks(admin, honest.books, told.arrivals, honest.restedAt);
  await admin.end();
  expect(failed).toEqual([]);
}, 300_000);
afterAll(async () => {
  await client.end();
  await db.drop();
});

// Each test does its damage in a transaction of its own, which is undone afterwards.
beforeEach(() => client.query('begin'));
afterEach(() => client.query('rollback'));

const found = async () =>
  (await checkHostile(client, logins)).map(({ verdict, what }) => `${verdict}: ${what}`);
/** Past every trigger, as only an administrator can. */
const behindTheGates = (sql: string) =>
  client.query(`set local session_replication_role = replica; ${sql}`);
const one = (what: string, column = 'id', n = 0) =>
  `(select ${column} from fault.owed where what = '${what}' order by n offset ${n} limit 1)`;
const job = `(select job_id from writ_data.governance_job where contract_id::text = ${one('contract')})`;
const receipt = (reason: string, stream: string, context: object, log = 'alpha') =>
  `insert into writ_data.receipt (at, log_id, stream, stream_seq, receipt_id, entry, leaf_hash)
   select now(), '${log}', x.stream, coalesce(max(r.stream_seq), 0) + 1, gen_random_uuid(),
     jsonb_build_object('reason', '${reason}', 'tenant_id', '${log}', 'sku_id', 'governance', 'context', '${JSON.stringify(context)}'::jsonb)::text, sha256('x')
   from (select ${stream} as stream) x left join writ_data.receipt r on r.stream = x.stream and r.log_id = '${log}' group by x.stream`;

test('the checker finds nothing in honest work', async () => {
  expect(await found()).toEqual([]);
});

const damages: [what: string, sql: string][] = [
  ['lost: a job has no effect', `delete from fault.effect where n = ${one('job', 'n')}`],
  [
    'lost: a run does not have both of its effects',
    `delete from fault.effect where ctid = (select ctid from fault.effect where n > 1000000 limit 1)`,
  ],
  ['lost: a signal was not settled', 'delete from writ_data.governor_settled'],
  [
    'repeated: an effect is there more than once',
    'insert into fault.effect select * from fault.effect limit 1',
  ],
  [
    'repeated: a contract has more than one forward job',
    `drop index writ_data.one_forward_job_per_contract; insert into writ_data.governance_job
     select (jsonb_populate_record(g, jsonb_build_object('job_id', gen_random_uuid(), 'run_id', gen_random_uuid()))).* from writ_data.governance_job g where g.job_id = ${job}`,
  ],
  [
    'repeated: a signal was taken twice',
    `update writ_data.governor_mail set signal_id = 'honest-2' where signal_id = 'honest-3'`,
  ],
  [
    'unreceipted: a completed step has no receipt of its completion',
    `update writ_data.governance_step set receipt_no = null where job_id = ${job} and step_no = 1`,
  ],
  [
    'unreceipted: the ledger does not have a review as its reviewer gave it',
    `update writ_data.contract_review set signature = sha256('x') || sha256('y') where contract_id::text = ${one('contract')} and action = 'APPROVE'`,
  ],
  [
    'unreceipted: a move of a governance job has no receipt',
    `delete from writ_data.receipt where entry::jsonb #>> '{context,to}' = 'AUDIT_PENDING' and stream = 'governance_job:' || ${job}`,
  ],
  [
    'stuck: honest work has not come to rest',
    `update writ_data.run set status = 'RUNNING' where run_id::text = ${one('run')}`,
  ],
  [
    'stuck: a lease of an honest tenant never ended',
    `insert into writ_data.job_lease (lease_token, holder, claimed_at, leased_until, ttl_s, timeout_s, job_ids, attempts, execution_nos, open_jobs, start_upto, start_at)
     select gen_random_uuid(), 'x', now(), now() - interval '1 hour', 1, 1, array[j.job_id], '{0}', '{1}', 1, '{1}', array[now()] from writ_data.job j where j.tenant_id = 'alpha' limit 1`,
  ],
  [
    'wrong: honest work ended as it may not',
    `update fault.owed set ends = 'CANCELLED' where what = 'contract'`,
  ],
  [
    'wrong: a target does not have the value that its contract left',
    `update writ_data.configuration set value = '77' where scope like 'alpha-conf-%'`,
  ],
  [
    'wrong: an honest tenant has a job that it did not enqueue',
    `update writ_data.job set input = '{"n": 4711}' where job_kind = 'honest.effect' and tenant_id = 'alpha'`,
  ],
  [
    'escaped: a governed value changed without a step of an approved contract',
    `insert into fault.written values ('alpha', 'alpha-conf-2#max', 'UPDATE', '99', 99999, 'x', false)`,
  ],
  [
    'escaped: a receipt of a change has no step',
    receipt('change_applied', `'governance_job:' || ${job}`, { step: 1 }),
  ],
  [
    'escaped: a receipt of a review has no review',
    receipt('contract_reviewed', `'contract:' || ${one('contract')}`, {
      by: 'alpha-ada',
      signature: '00',
    }),
  ],
  [
    'escaped: a receipt of a move has no move',
    receipt('governance_job_moved', `'governance_job:' || ${job}`, { to: 'NOWHERE' }),
  ],
  [
    'escaped: a receipt of an audit has no audit',
    receipt('audit_verdict', `'governance_job:' || gen_random_uuid()`, { verdict: 'PASS' }),
  ],
  [
    'escaped: a receipt is in the log of another tenant than its subject',
    receipt('contract_moved', `'contract:' || ${one('contract', 'id', 1)}`, {}, 'calm'),
  ],
  [
    'escaped: a stream of receipts is not dense',
    `update writ_data.receipt set stream_seq = stream_seq + 100 where stream = 'governance_job:' || ${job} and stream_seq = 2`,
  ],
  [
    'escaped: a subject has more or fewer receipts than it counted',
    `update writ_data.contract set receipts = receipts + 1 where contract_id::text = ${one('contract')}`,
  ],
  [
    'escaped: an ended run has a governance job that has not ended',
    `update writ_data.governance_job set status = 'RUNNING' where job_id = ${job}`,
  ],
  [
    'escaped: a login of a tenant changed rows of another tenant',
    `insert into fault.touched values ('${login}', 'job', 'INSERT', 'alpha', 'fn_job_enqueue', 1)`,
  ],
  ['lost: a destination never received a fact', 'delete from fault.arrival where place = 3'],
  [
    'wrong: a destination received the events of a run out of order',
    `update fault.arrival set place = -place where run = (select run from fault.arrival group by 1 having count(*) > 2 limit 1)`,
  ],
  [
    'wrong: a destination was told of what is not in the log',
    `update fault.arrival set seq = seq + 1000 where place = 2`,
  ],
  [
    'wrong: the position of a destination is past a fact that it did not receive',
    `delete from fault.arrival where destination = 'honest-beta'`,
  ],
  [
    'stuck: a relay has stopped',
    `update writ_data.destination set state = 'paused' where name = 'honest-alpha'`,
  ],
  [
    'lost: a tick of a schedule did not fire',
    `delete from writ_data.schedule_tick where ctid = (select min(ctid) from writ_data.schedule_tick)`,
  ],
  [
    'repeated: a tick of a schedule fired twice',
    `insert into writ_data.job select (jsonb_populate_record(j, jsonb_build_object('job_id', writ_data.uuidv7()))).*
     from writ_data.job j where j.safe_payload ? 'tick' limit 1`,
  ],
  [
    'stuck: a schedule has stopped',
    `update writ_data.schedule set next_tick = '2999-01-01' where schedule = ${one('schedule')}`,
  ],
  [
    'wrong: a schedule is not as it was put',
    `update writ_data.schedule set catch_up = 'none' where schedule = ${one('schedule')}`,
  ],
  [
    'escaped: a login of a tenant moved the position of a destination of another tenant',
    `insert into fault.moved select 'honest-alpha', '${login}', '1', (d.position).fact, (d.position).xid, (d.position).fact from writ_data.destination d limit 1`,
  ],
  [
    'escaped: a login of a tenant held or made a job of another tenant',
    `insert into fault.handled values ('${login}', 'held', ${one('job')})`,
  ],
  [
    'escaped: a worker or a producer held or made a job of a reserved kind',
    `insert into fault.handled select 'hostile_free', 'held', job_id from writ_data.job where job_kind = 'governance.change' limit 1`,
  ],
  [
    'escaped: a login wrote where its role never writes',
    `insert into fault.touched values ('hostile_free', 'receipt', 'INSERT', 'mallory', 'fn_job_succeed', 1)`,
  ],
  [
    'escaped: a read-only login changed a row',
    `insert into fault.touched values ('hostile_reader', 'job', 'INSERT', 'mallory', 'fn_flags', 1)`,
  ],
  [
    'escaped: a login of a tenant changed a row that all tenants share',
    `insert into fault.touched values ('${login}', 'dot_config', 'UPDATE', null, 'fn_setting_set', 1)`,
  ],
];
/** Found outside of SQL. */
const others: [what: string, sql: string][] = [
  [
    'escaped: a calm row has changed',
    `update writ_data.capability set domain = 'x' where tenant_id = 'calm'`,
  ],
  [
    'escaped: a change ran without the signatures that its policy asks for',
    `update writ_data.contract_review set signature = sha256('x') || sha256('y') where contract_id::text = ${one('contract')} and action = 'APPROVE'`,
  ],
  [
    'escaped: a snapshot differs from its reduced log',
    `update writ_data.run_snapshot set status = 'FAILED' where run_id::text = ${one('run')}`,
  ],
];

test.each([...damages, ...others])('the checker finds %s', async (what, sql) => {
  await behindTheGates(sql);
  expect(await found()).toContain(what);
});

test('the checker does not count a job as lost if a worker of all tenants held it', async () => {
  await behindTheGates(`delete from fault.effect where n = ${one('job', 'n')}`);
  const lost = 'lost: a job has no effect';
  await client.query(`insert into fault.handled values ('${login}', 'held', ${one('job')})`);
  expect(await found()).toContain(lost);
  await client.query(`insert into fault.handled values ('hostile_free', 'held', ${one('job')})`);
  expect(await found()).not.toContain(lost);
});

test('the checker counts a fact as lost if a relay of a tenant skipped it, and not if a relay of all tenants did', async () => {
  const lost = 'lost: a destination never received a fact';
  const passed = (by: string) =>
    client.query(`insert into fault.moved select d.name, '${by}', '0', (d.position).fact, (d.position).xid, (d.position).fact
    from writ_data.destination d where d.name like 'honest-%'`);
  await behindTheGates('delete from fault.arrival');
  await passed(login);
  expect(await found()).toContain(lost);
  await passed('hostile_relay');
  expect(await found()).not.toContain(lost);
});

test('every check of the checker has a damage that it finds', () => {
  expect(new Set(damages.map(([what]) => what))).toEqual(
    new Set(hostileChecks.map(([verdict, what]) => `${verdict}: ${what}`)),
  );
});

test('the witness records each row that a hostile login changes, with its tenant and gate', async () => {
  await client.query(`create role ${login} login; grant writ_producer to ${login}`);
  await client.query(`set local session authorization ${login}`);
  await client.query(`select writ.fn_job_enqueue_many($1, 'x', 'alpha')`, [
    JSON.stringify([{ id: uuidv7(), kind: 'm.work' }]),
  ]);
  await client.query('reset session authorization');
  const { rows } = await client.query(
    `select tenant, gate, op from fault.touched where login = $1 and place = 'job'`,
    [login],
  );
  expect(rows).toEqual([{ tenant: 'alpha', gate: 'fn_job_enqueue_many', op: 'INSERT' }]);
});
