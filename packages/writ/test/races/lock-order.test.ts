/**
 * The documented order of locks, tried: eight sessions call every gate at random on the same few
 * jobs, within transactions that hold several of their locks where users may do so. No call may end
 * in a deadlock, and afterwards what each job's status says must be what its executions say.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, type Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { disagreements, inTransaction, type Session, session } from './sessions.js';

const kinds = ['race', 'race.two'].map((name) =>
  defineJob<{ n: number }>(name, { retry: { attempts: 3, base: '10ms', cap: '20ms' } }),
);

let db: TestDatabase;
let writ: Writ;
let sessions: Session[];

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  for (const kind of kinds) await writ.enqueue(kind, { n: 0 });
  sessions = await Promise.all(Array.from({ length: 8 }, () => session(db)));
});
afterEach(async () => {
  await Promise.all(sessions.map((s) => s.end()));
  await db.drop();
});

interface Held {
  token: string;
  jobs: string[];
}

const pick = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)] as T;

/** What any session may do to what all of them know. Each names the gates it calls. */
function moves(s: Session, leases: Held[], known: string[]) {
  const held = () => pick(leases) ?? { token: '00000000-0000-0000-0000-000000000000', jobs: known };
  const remember = <T>(list: T[], entry: T) => {
    list.push(entry);
    if (list.length > 12) list.shift();
  };
  const positions = (lease: Held) =>
    lease.jobs.map((_, index) => index + 1).filter(() => Math.random() < 0.6);
  return [
    async () => {
      const n = Math.floor(Math.random() * 30);
      const items = Array.from({ length: 4 }, () => ({
        input: { n },
        key: `key ${Math.floor(Math.random() * 40)}`,
      }));
      const enqueued = await inTransaction(s, () =>
        writ.enqueueMany(pick(kinds), items, { db: s }),
      );
      for (const { jobId } of enqueued) remember(known, jobId);
    },
    async () => {
      const answer = await s.gate(
        `fn_job_claim_many(array['race', 'race.two'], 'external_worker', $1, 0.05, 5, 3)`,
        [s.name],
      );
      const jobs = (answer.jobs as string[][]).map(([id]) => String(id));
      if (jobs.length > 0) remember(leases, { token: String(answer.lease_token), jobs });
    },
    () => s.gate('fn_job_start_many($1, 5)', [held().token]),
    () =>
      s.gate('fn_job_renew_many($1::uuid[], 0.05)', [leases.map(({ token }) => token).reverse()]),
    async () => {
      const lease = held();
      return s.gate('fn_job_progress($1, $2, $3, $4)', [
        pick(lease.jobs),
        'half',
        lease.token,
        'worker',
      ]);
    },
    async () => {
      const lease = held();
      const chosen = positions(lease);
      return s.gate('fn_job_succeed_many($1, $2::int[], $3::text[])', [
        lease.token,
        chosen,
        chosen.map((p) => `{"p":${p}}`),
      ]);
    },
    async () => {
      const lease = held();
      const chosen = positions(lease);
      const kindsOfAbort = chosen.map(() => pick(['transient', 'permanent', 'released']));
      return s.gate('fn_job_abort_many($1, $2::int[], $3::text[], $4::text[], $5::text[])', [
        lease.token,
        chosen,
        kindsOfAbort,
        chosen.map(() => 'x'),
        chosen.map(() => 'no'),
      ]);
    },
    async () => {
      // A handler's commit: its own statement, the mark, and a follow-up job, in one transaction.
      const lease = held();
      const jobId = pick(lease.jobs);
      await s.query('begin');
      await s.gate('fn_job_commit($1, $2)', [jobId, lease.token]);
      await writ.enqueue(
        pick(kinds),
        { n: 1 },
        { db: s, key: `key ${Math.floor(Math.random() * 40)}` },
      );
      await s.query(Math.random() < 0.8 ? 'commit' : 'rollback');
    },
    () => s.gate('fn_job_cancel($1, $2, $3)', [pick(known), 'why not', 'tester']),
    async () => {
      const [dead] = await s.query(
        'select job_id from writ.v_job_queue_dead_letter_open order by random() limit 1',
      );
      if (dead)
        await s.gate('fn_job_dead_letter_replay($1, $2, $3)', [dead.job_id, 'again', 'tester']);
    },
    () => s.gate('fn_job_tick($1)', ['tick']),
    () => s.gate('fn_job_lease_reaper()'),
    () => s.gate('fn_job_cleanup_sweep(5)'),
    () =>
      s.gate(`fn_queue_heartbeat($1, 'external_worker', array['dot'], 10, array['race'], 1)`, [
        s.name,
      ]),
    () => s.gate('fn_job_queue_health()'),
  ];
}

test('every gate at random from eight sessions: no deadlock, and status agrees with executions', async () => {
  await db.query(
    `update writ_data.dot_config set value = '1' where key = 'queue.retention.finished_sec'`,
  );
  const leases: Held[] = [];
  const known: string[] = [];
  const failures: unknown[] = [];
  let calls = 0;
  await Promise.all(
    sessions.map(async (s) => {
      const all = moves(s, leases, known);
      while (calls++ < 3_000 && failures.length === 0) {
        try {
          await pick(all)();
        } catch (error) {
          const { code } = error as { code?: string };
          await s.query('rollback');
          // WR001 is the commit's way to refuse; refusals of the rest are values, or WritRefusal.
          const refused = code === 'WR001' || (error as Error).name === 'WritRefusal';
          if (!refused) failures.push(error);
        }
      }
    }),
  );
  expect(failures).toEqual([]);
  expect(await disagreements(db)).toEqual([]);
  const twice = await db.query(
    `select job_id from writ.job_execution where status in ('COMMITTED', 'DONE') group by job_id having count(*) > 1`,
  );
  expect(twice).toEqual([]);
  // Nobody is lost: what has not ended is somewhere.
  const nowhere =
    await db.query(`select job_id from writ.job_queue q where status in ('leased', 'in_progress')
    and not exists (select from writ_data.job_lease l where q.job_id = any (l.job_ids))`);
  expect(nowhere).toEqual([]);
});
