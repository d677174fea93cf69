/**
 * The runs checker's own checks: runs without damage count nothing, and each kind of damage, done
 * by hand behind the gates, is counted as what it is.
 */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
// The plans are those of the fault run, and so of the build, as its processes use it.
import { Writ } from '../../dist/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { until } from '../races/sessions.js';
import { checkRuns, prepareRuns, runChecks } from './runs-checker.mjs';
import { handlers, items, plans, writing } from './suites/runs/plans.mjs';

let db: TestDatabase;
let client: pg.Client;

/**
 * A run of each of some plans, as a fault run would leave them: one ends well, one is undone, one
 * is cancelled, one stopped; two have lists.
 */
beforeAll(async () => {
  db = await testDatabase();
  client = new pg.Client({ connectionString: db.connectionString });
  await client.connect();
  await prepareRuns(client);
  const writ = await Writ.connect({
    connectionString: db.connectionString,
    listenConnectionString: db.directConnectionString,
  });
  const outside: string[][] = [];
  const worker = await writ.work(
    handlers(writ, (line) => void outside.push(line.split(' ').slice(1))),
    { poll: '20ms', onError: () => undefined },
  );
  for (const [name, signal] of [
    ['row'],
    ['list'],
    ['saga'],
    ['broken'],
    ['waiting', 'CANCEL'],
    ['diamond', 'EMERGENCY_STOP'],
  ] as const) {
    const { plan, ends, sum, last } = plans[name] as (typeof plans)[string];
    const input = { n: 1, items };
    const run = await writ.runs.start(plan, input);
    if (signal) await writ.runs.signal(run.runId, { type: signal, reason: 'test' });
    await run.finished({ timeoutMs: 20_000 });
    await client.query('insert into fault.owed values ($1, $2, $3, $4, $5, $6, $7, false)', [
      run.runId,
      name,
      'one',
      signal ? 'CANCELLED' : ends,
      signal === 'EMERGENCY_STOP',
      sum?.(input) ?? null,
      last ?? null,
    ]);
  }
  await until(async () => {
    const left =
      await db.query(`select from writ_data.run r where not exists (select from writ_data.run_snapshot s where s.run_id = r.run_id and s.status = r.status)
      union all select from writ_data.job_ready union all select from writ_data.job_lease union all select from writ_data.job_wait`);
    return left.length === 0;
  });
  await worker.stop();
  await writ.close();
  for (const row of outside)
    await client.query('insert into fault.outside values ($1, $2, $3)', row);
});
afterAll(async () => {
  await client.end();
  await db.drop();
});

// Each test does its damage in a transaction of its own, which is undone afterwards.
beforeEach(() => client.query('begin'));
afterEach(() => client.query('rollback'));

const found = async () =>
  (await checkRuns(client, writing)).map(({ verdict, what }) => `${verdict}: ${what}`);
/** Past every trigger, as only an administrator can. */
const behindTheGates = (sql: string) =>
  client.query(`set local session_replication_role = replica; ${sql}`);
const run = (plan: string) => `(select run_id from fault.owed where plan = '${plan}')`;
const jobOf = (plan: string, step: number) =>
  `(select job_id from writ_data.job where run_id = ${run(plan)} and step_no = ${step} and undo is null)`;

test('runs without damage count nothing', async () => {
  expect(await found()).toEqual([]);
});

const damages: [what: string, sql: string][] = [
  ['lost: an answered start left no run', `delete from writ_data.run where run_id = ${run('row')}`],
  [
    'lost: a step that completed has no effect',
    `delete from fault.effect where run_id = ${run('row')} and step_id = 's1'`,
  ],
  [
    'lost: a step that completed was never done outside',
    `delete from fault.outside where run_id = ${run('row')} and step_id = 's2'`,
  ],
  [
    'lost: what was done is not undone',
    `delete from writ_data.run_event where run_id = ${run('saga')} and step_id = 'undo:hold1'`,
  ],
  [
    'lost: what was done is not undone',
    `delete from writ_data.run_event where run_id = ${run('broken')} and step_id = 'undo:held[0]'`,
  ],
  [
    'repeated: an effect is there more than once',
    `insert into fault.effect select * from fault.effect where run_id = ${run('row')} and step_id = 's1'`,
  ],
  [
    'repeated: a step is done by several jobs or executions',
    `drop index writ_data.a_job_has_one_effect_or_one_end; insert into writ_data.job_execution (job_id, execution_no, attempt, status, committed_at, finished_at)
     select job_id, 2, 2, status, committed_at, finished_at from writ_data.job_execution where job_id = ${jobOf('row', 1)}`,
  ],
  [
    'repeated: an event is in its log more than once',
    `drop index writ_data.an_event_happens_once; insert into writ_data.run_event (run_id, run_seq, event_type, step_id, logical_attempt, data, at, batch_id)
     select run_id, 1000, event_type, step_id, logical_attempt, data, at, batch_id from writ_data.run_event where run_id = ${run('row')} and run_seq = 2`,
  ],
  [
    'unreceipted: an event is not in the record once, as it is',
    `update writ_data.run_event set data = data || '{"more": 1}' where run_id = ${run('row')} and run_seq = 3`,
  ],
  [
    'unreceipted: an event is not in the record once, as it is',
    `delete from writ_data.event_batch where ${run('list')} = any (run_ids) and 2 = any (run_seqs)`,
  ],
  [
    'unreceipted: the record names an event that is not there',
    `delete from writ_data.run_event where run_id = ${run('row')} and run_seq = 5`,
  ],
  [
    'unreceipted: facts of a job that was done do not match',
    `delete from writ_data.event_batch where 'dot.job.succeeded' = any (types) and ${jobOf('row', 1)} = any (subjects)`,
  ],
  [
    'unreceipted: a job that was not done has facts of one that was',
    `delete from writ_data.job_execution where job_id = ${jobOf('row', 3)}`,
  ],
  [
    'stuck: a run has not ended',
    `update writ_data.run set status = 'RUNNING' where run_id = ${run('row')}`,
  ],
  [
    'stuck: a ready row is left',
    `insert into writ_data.job_ready (lane_id, seq, part, job_ids, attempts, execution_no, moved)
     values (writ_data.open_lane('fault.write', 'default', null, 0::smallint, false), 1, 0, array[${jobOf('row', 1)}], 0, 2, true)`,
  ],
  [
    'stuck: a waiting row is left',
    `insert into writ_data.job_wait (due_at, job_kind, tenant_id, priority, job_id, attempts, execution_no, reason)
     values (now(), 'fault.write', 'default', 0, ${jobOf('row', 1)}, 0, 2, 'delay')`,
  ],
  [
    'stuck: a lease is left',
    `insert into writ_data.job_lease (lease_token, holder, claimed_at, leased_until, ttl_s, timeout_s, job_ids, attempts, execution_nos, open_jobs, start_upto, start_at)
     values (gen_random_uuid(), 'w', now(), now(), 1, 1, array[${jobOf('row', 1)}], '{0}', '{1}', 1, '{}', '{}')`,
  ],
  [
    'stuck: a commit was not finished',
    `update writ_data.job_execution set status = 'COMMITTED', finished_at = null where job_id = ${jobOf('row', 1)}`,
  ],
  [
    'stuck: a snapshot is behind its log, or stale',
    `update writ_data.run_snapshot set last_seq = last_seq - 1 where run_id = ${run('row')}`,
  ],
  [
    'stuck: a snapshot is behind its log, or stale',
    `delete from writ_data.run_snapshot where run_id = ${run('list')}`,
  ],
  [
    'stuck: an alert stands',
    `insert into writ_data.alert values (gen_random_uuid(), 'PROJECTOR_LAG_HIGH', 'P2', null, 'projector', '{}', now())`,
  ],
  ['wrong: a run that nobody asked for', `delete from fault.owed where plan = 'row'`],
  [
    'wrong: a run did not end as its plan and its signals say',
    `update fault.owed set ends = 'COMPLETED' where plan = 'waiting'`,
  ],
  [
    'wrong: a run and the transaction that started it are not one',
    `update fault.owed set transaction = true where plan = 'row'`,
  ],
  [
    'wrong: an effect of a step that has not completed',
    `insert into fault.effect select run_id, 'never', 1, job_id, 1, 0 from fault.effect where run_id = ${run('broken')} limit 1`,
  ],
  [
    'wrong: an effect is not of the execution that committed',
    `update fault.effect set execution_no = 9 where run_id = ${run('row')} and step_id = 's1'`,
  ],
  [
    'wrong: something is undone in a run that goes well',
    `update writ_data.run set status = 'COMPLETED' where run_id = ${run('saga')}`,
  ],
  [
    'wrong: an undo began after its run was stopped at once',
    `update writ_data.run_event set event_type = 'SignalAccepted', step_id = 'RUN',
       data = '{"type": "EMERGENCY_STOP"}'
     where run_id = ${run('saga')} and run_seq = 3`,
  ],
  [
    'wrong: something is undone that was not done',
    `delete from writ_data.run_event where run_id = ${run('saga')} and step_id = 'hold2' and event_type = 'StepCompleted'`,
  ],
  [
    'wrong: a log is not dense',
    `delete from writ_data.run_event where run_id = ${run('row')} and run_seq = 5`,
  ],
  ['wrong: a run without a log', `delete from writ_data.run_event where run_id = ${run('row')}`],
  [
    'wrong: the row of a run does not say what its log says',
    `update writ_data.run set status = 'CANCELLED' where run_id = ${run('row')}`,
  ],
  [
    'wrong: something happened after the end of a run',
    `insert into writ_data.run_event (run_id, run_seq, event_type, step_id, logical_attempt, data, at, batch_id)
     select run_id, max(run_seq) + 1, 'StepStarted', 's1', '2', '{}', now(), gen_random_uuid() from writ_data.run_event where run_id = ${run('row')} group by 1`,
  ],
  [
    'wrong: a log does not name the output that is kept',
    `update writ_data.job_execution set result = '{"sum": 0}' where job_id = ${jobOf('row', 2)}`,
  ],
  [
    'wrong: the last step was not given what the others gave',
    `update fault.owed set sum = sum + 1 where plan = 'list'`,
  ],
  [
    'wrong: a gap was seen, or an undoing failed',
    `insert into writ_data.alert values (gen_random_uuid(), 'PROJECTOR_GAP_DETECTED', 'P1', null, 'run', '{}', now(), now(), 'test')`,
  ],
  [
    'wrong: a log is not what the rules of its plan allow',
    `drop index writ_data.an_event_happens_once; update writ_data.run_event set step_id = case step_id when 's1' then 's2' else 's1' end where run_id = ${run('row')} and step_id in ('s1', 's2')`,
  ],
  [
    'wrong: a snapshot is not what its log reduces to',
    `update writ_data.run_snapshot set snapshot = (snapshot::jsonb || '{"artifacts": []}')::json where run_id = ${run('row')}`,
  ],
];

test.each(damages)('%s', async (what, sql) => {
  await behindTheGates(sql);
  expect(await found()).toContain(what);
});

test('every check has been seen to find something', () => {
  const shown = new Set(damages.map(([what]) => what));
  expect(
    runChecks.map(([verdict, what]) => `${verdict}: ${what}`).filter((check) => !shown.has(check)),
  ).toEqual([]);
});
