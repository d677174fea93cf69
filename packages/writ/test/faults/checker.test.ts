/**
 * The checker's own checks: a clean history counts nothing, and each kind of damage, done by hand
 * behind the gates, is counted as what it is.
 */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { defineJob, PermanentFailure } from '../../src/index.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { check, prepare, tallied, verdicts } from './checker.mjs';

const steady = defineJob<{ n: number }>('fault.steady');
const plain = defineJob<{ n: number }>('fault.plain');
const doomed = defineJob<{ n: number }>('fault.doomed');

let db: TestDatabase;
let client: pg.Client;

/** Jobs 1 to 4 as a fault run would leave them: two effects, a return, a dead letter. */
beforeAll(async () => {
  db = await testDatabase();
  client = new pg.Client({ connectionString: db.connectionString });
  await client.connect();
  await prepare(client);
  const writ = await db.connect();
  for (const [n, job, owed] of [
    [1, steady, 'one'],
    [2, steady, 'one'],
    [3, plain, 'one'],
    [4, doomed, 'none'],
  ] as const) {
    const { jobId } = await writ.enqueue(job, { n });
    await client.query('insert into fault.owed values ($1, $2, $3, $4, false)', [
      n,
      job.kind,
      owed,
      jobId,
    ]);
    await client.query('insert into fault.begun values ($1)', [jobId]);
  }
  await runUntilIdle(writ, [
    steady.handle(({ input, job, commit }) =>
      commit((tx) =>
        tx.query('insert into fault.effect values ($1, $2, $3, 0)', [
          input.n,
          job.id,
          job.executionNo,
        ]),
      ),
    ),
    plain.handle(() => 'done'),
    doomed.handle(() => {
      throw new PermanentFailure('nothing helps');
    }),
  ]);
});
afterAll(async () => {
  await client.end();
  await db.drop();
});

// Each test does its damage in a transaction of its own, which is undone afterwards.
beforeEach(() => client.query('begin'));
afterEach(() => client.query('rollback'));

const counted = async () => {
  const result = await check(client);
  return {
    ...Object.fromEntries(verdicts.map((verdict) => [verdict, result[verdict]])),
    what: result.details.map(({ what }) => what),
  };
};
const idOf = (n: number) => `(select job_id from fault.owed where n = ${n})`;
/** Past every trigger, as only an administrator can. */
const behindTheGates = (sql: string) =>
  client.query(`set local session_replication_role = replica; ${sql}`);

test('a history without damage counts nothing', async () => {
  expect(await counted()).toEqual({
    lost: 0,
    repeated: 0,
    unreceipted: 0,
    stuck: 0,
    wrong: 0,
    what: [],
  });
});

const damages: [verdict: string, what: string, sql: string][] = [
  ['lost', 'an owed effect is missing', 'delete from fault.effect where n = 1'],
  [
    'lost',
    'an owed return is missing',
    `delete from writ_data.job_execution where job_id = ${idOf(3)}`,
  ],
  [
    'repeated',
    'an effect is there more than once',
    'insert into fault.effect select * from fault.effect where n = 1',
  ],
  [
    'repeated',
    'a job is done more than once',
    `drop index writ_data.a_job_has_one_effect_or_one_end; insert into writ_data.job_execution (job_id, execution_no, attempt, status, committed_at, finished_at)
     select job_id, 2, 2, status, committed_at, finished_at from writ_data.job_execution where job_id = ${idOf(1)}`,
  ],
  [
    'unreceipted',
    'facts of a succeeded job do not match',
    `delete from writ_data.event_batch where 'dot.job.succeeded' = any (types) and ${idOf(1)} = any (subjects)`,
  ],
  [
    'unreceipted',
    'there are not as many leased facts as executions',
    `delete from writ_data.event_batch where 'dot.job.leased' = any (types) and ${idOf(1)} = any (subjects)`,
  ],
  [
    'stuck',
    'a ready row is left',
    `insert into writ_data.job_ready (lane_id, seq, part, job_ids, attempts, execution_no, moved)
     values (writ_data.open_lane('fault.steady', 'default', null, 0::smallint, false), 1, 0, array[${idOf(1)}], 0, 2, true)`,
  ],
  [
    'stuck',
    'a job is not at rest',
    `delete from writ_data.job_execution where job_id = ${idOf(2)}`,
  ],
  [
    'wrong',
    'a dead letter was never begun by a handler',
    `delete from fault.begun where job_id = ${idOf(4)}`,
  ],
  ['wrong', 'an effect that nobody owes', `insert into fault.effect values (4, ${idOf(4)}, 1, 0)`],
  [
    'wrong',
    'execution numbers have holes',
    `update writ_data.job_execution set execution_no = 3 where job_id = ${idOf(1)}`,
  ],
  [
    'wrong',
    'an effect is not of the execution that committed',
    'update fault.effect set execution_no = 5 where n = 2',
  ],
  [
    'wrong',
    'a job and the transaction that enqueued it are not one',
    'update fault.owed set transaction = true where n = 1',
  ],
  [
    'wrong',
    'an attempt was charged that did not start, or not charged that did',
    `update writ_data.job_execution set attempt = 3 where job_id = ${idOf(2)}`,
  ],
];

test.each(damages)('%s: %s', async (verdict, what, sql) => {
  await behindTheGates(sql);
  const result = await counted();
  expect(result.what).toContain(what);
  expect(result[verdict as keyof typeof result]).toBeGreaterThan(0);
});

test('the sums of a suite are of all findings of a verdict, and of all that happened', () => {
  const found = [
    { verdict: 'lost', times: 2 },
    { verdict: 'wrong', times: 1 },
    { verdict: 'lost', times: 3 },
  ] as const;
  const happened = { 'kill at claimed': 4, 'kill at any_time': 1, crash: 2 };
  expect(tallied(found, happened)).toEqual({
    faults: 7,
    lost: 5,
    repeated: 0,
    unreceipted: 0,
    stuck: 0,
    wrong: 1,
    kills: 5,
    happened,
  });
});
