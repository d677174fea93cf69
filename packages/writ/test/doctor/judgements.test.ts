/** What the doctor makes of facts, at and around each threshold. */
import { describe, expect, test } from 'vitest';
import { uuidFloor } from '../../src/database/uuid.js';
import {
  clockDifference,
  judgeClock as clockJudge,
  judgeGateClock as gateClockJudge,
} from '../../src/doctor/clock.js';
import {
  type ConnectionLimit,
  judgeConnections as connectionsJudge,
} from '../../src/doctor/connection.js';
import { worst } from '../../src/doctor/finding.js';
import { type PathFacts, judgePath as pathJudge } from '../../src/doctor/pooler.js';
import {
  judgeLeases as leasesJudge,
  type WorkerFacts,
  judgeWorkers as workersJudge,
} from '../../src/doctor/queue.js';
import { judgeSettings as settingsJudge } from '../../src/doctor/settings.js';
import { type Holder, judgeSnapshots as snapshotsJudge } from '../../src/doctor/snapshots.js';
import {
  judgeDeadRows as deadRowsJudge,
  judgePartitions as partitionsJudge,
  type TableFacts,
} from '../../src/doctor/tables.js';
import { type Advised, advises, advisesOne } from './advised.js';

const judgeClock = advisesOne(clockJudge);
const judgeConnections = advises(connectionsJudge);
const judgeDeadRows = advises(deadRowsJudge);
const judgeGateClock = advises(gateClockJudge);
const judgeLeases = advisesOne(leasesJudge);
const judgePartitions = advises(partitionsJudge);
const judgePath = advisesOne(pathJudge);
const judgeSettings = advises(settingsJudge);
const judgeSnapshots = advises(snapshotsJudge);
const judgeWorkers = advises(workersJudge);

const levels = (findings: readonly Advised[]) => findings.map(({ level }) => level);

test('the worst of several levels is the one that counts', () => {
  expect([worst(), worst('ok', 'hint'), worst('error', 'warning', 'ok')]).toEqual([
    'ok',
    'hint',
    'error',
  ]);
});

describe('snapshots', () => {
  const session: Holder = {
    kind: 'session',
    name: '4711',
    who: 'ada',
    application: 'report',
    state: 'active',
    database: 'shop',
    age_s: 10,
    behind: 5,
    active: true,
    catalogs_only: false,
  };
  const judge = (...holders: Partial<Holder>[]) =>
    judgeSnapshots({
      holders: holders.map((holder) => ({ ...session, ...holder })),
      user: 'ada',
      sees_all: true,
    });

  test('an old one is a warning from 5 minutes and an error from an hour', () => {
    expect([299, 300, 3_599, 3_600].map((age_s) => judge({ age_s })[0]?.level)).toEqual([
      'ok',
      'warning',
      'warning',
      'error',
    ]);
  });

  test('one whose age is not shown is judged by how far it is behind', () => {
    const behind = [999_999, 1_000_000, 49_999_999, 50_000_000];
    expect(behind.map((n) => judge({ age_s: null, behind: n })[0]?.level)).toEqual([
      'ok',
      'warning',
      'warning',
      'error',
    ]);
  });

  test('a session is named with all that is known of it, and with the command that ends it', () => {
    expect(judge({ age_s: 600, state: 'idle in transaction', behind: 1_234 })).toEqual([
      {
        check: 'snapshots',
        level: 'warning',
        says: 'Process 4711 of ada (report), idle in transaction, in shop, for 10 min, 1,234 transactions behind',
        means: expect.stringContaining('cannot clean up'),
        remedy: expect.stringContaining('select pg_terminate_backend(4711);'),
      },
    ]);
  });

  test('a transaction without a snapshot holds no cleaning back and is only a hint', () => {
    expect(judge({ age_s: 7_200, behind: null })).toMatchObject([
      { level: 'hint', means: expect.stringContaining('no snapshot') },
    ]);
    expect(levels(judge({ age_s: 299, behind: null }))).toEqual(['ok']);
  });

  test('a prepared transaction is ended by its identifier, whatever is in it', () => {
    const [finding] = judge({ kind: 'prepared', name: "it's", who: 'bob', age_s: 400 });
    expect(finding).toMatchObject({
      level: 'warning',
      remedy: expect.stringContaining("as bob in database shop: rollback prepared 'it''s';"),
    });
  });

  test('a slot that nobody is connected to is a warning at once, one that is read only when it is far behind', () => {
    const slot = {
      kind: 'slot',
      name: 'copy',
      who: null,
      application: 'pgoutput',
      age_s: null,
    } as const;
    expect(judge({ ...slot, active: false, behind: 1 })).toMatchObject([
      {
        level: 'warning',
        remedy: expect.stringContaining("select pg_drop_replication_slot('copy');"),
      },
    ]);
    expect(levels(judge({ ...slot, behind: 999_999 }))).toEqual(['ok']);
    expect(judge({ ...slot, behind: 1_000_000, catalogs_only: true })).toMatchObject([
      { level: 'warning', means: expect.stringContaining('catalogs') },
    ]);
  });

  test('a standby that reports its snapshot is looked for on the standby', () => {
    expect(judge({ kind: 'standby', application: 'replica-1', age_s: 4_000 })).toMatchObject([
      {
        level: 'error',
        says: expect.stringMatching(/^Standby replica-1/),
        remedy: expect.stringContaining('hot_standby_feedback'),
      },
    ]);
  });

  test('when all is well the oldest is named, and nothing when there is none', () => {
    expect(judge({ age_s: 2 }, { age_s: 20, name: '42' })[0]?.says).toContain('process 42');
    expect(judge()).toEqual([{ check: 'snapshots', level: 'ok', says: 'None is held' }]);
  });

  test('at most five are named, the oldest first, and the others are counted', () => {
    const findings = judge(
      ...Array.from({ length: 8 }, (_, i) => ({ name: `${i}`, age_s: 400 + i })),
    );
    expect(findings.map(({ says }) => says.split(' of ')[0])).toEqual([
      ...[7, 6, 5, 4, 3].map((i) => `Process ${i}`),
      '3 more, not as old',
    ]);
  });

  test('a user to whom ages are not shown is told which right is missing', () => {
    expect(judgeSnapshots({ holders: [], user: 'Ada L', sees_all: false })).toMatchObject([
      { level: 'ok' },
      { level: 'hint', remedy: expect.stringContaining('grant pg_monitor to "Ada L";') },
    ]);
  });
});

describe('dead rows', () => {
  const table: TableFacts = {
    name: 'writ_data.job_ready',
    live: 0,
    dead: 0,
    vacuumed_s: 900,
    autovacuum: true,
  };
  const judge = (facts: Partial<TableFacts>) => judgeDeadRows([{ ...table, ...facts }]);

  test('they count from 50,000 on, and from a fifth of the table', () => {
    expect(levels(judge({ dead: 49_999 }))).toEqual(['ok']);
    expect(levels(judge({ dead: 50_000 }))).toEqual(['warning']);
    expect(levels(judge({ dead: 100_000, live: 400_001 }))).toEqual(['ok']);
    expect(levels(judge({ dead: 100_000, live: 400_000 }))).toEqual(['warning']);
  });

  test('five million that outnumber the live ones are an error', () => {
    expect(levels(judge({ dead: 5_000_000, live: 4_999_999 }))).toEqual(['error']);
    expect(levels(judge({ dead: 5_000_000, live: 5_000_000 }))).toEqual(['warning']);
  });

  test('what a vacuum has just left behind is held by a snapshot; what none has come for needs one', () => {
    expect(judge({ dead: 60_000, vacuumed_s: 299 })[0]?.remedy).toContain('snapshots');
    expect(judge({ dead: 60_000, vacuumed_s: 300 })[0]?.remedy).toContain(
      'vacuum (verbose) writ_data.job_ready;',
    );
    expect(judge({ dead: 60_000, vacuumed_s: null })[0]?.says).toContain('never vacuumed');
  });

  test('a table that autovacuum may not touch is a warning before anything is dead', () => {
    expect(judge({ autovacuum: false })).toMatchObject([
      { level: 'warning', remedy: 'alter table writ_data.job_ready reset (autovacuum_enabled);' },
    ]);
  });
});

describe('partitions', () => {
  const now_ms = Date.parse('2026-03-01T12:00:00Z');
  const day = 86_400_000;
  const bound = (from: number, to: number) =>
    `FOR VALUES FROM ('${uuidFloor(now_ms + from * day)}') TO ('${uuidFloor(now_ms + to * day)}')`;
  const judge = (...bounds: string[]) =>
    judgePartitions({ now_ms, tables: [{ name: 'writ_data.job', bounds }] });

  test('fewer than three days ahead are a warning, less than one an error', () => {
    expect([14, 3, 2.99, 1, 0.99].map((days) => judge(bound(-1, days))[0]?.level)).toEqual([
      'ok',
      'ok',
      'warning',
      'warning',
      'error',
    ]);
    expect(judge(bound(-1, 1), bound(1, 14.5))).toEqual([
      { check: 'partitions', level: 'ok', says: 'Made for the next 14 days' },
    ]);
  });

  test('none for now is an error, whatever comes later', () => {
    expect(judge(bound(-3, -1), bound(1, 14))).toMatchObject([
      { level: 'error', says: 'writ_data.job has no partition for now' },
    ]);
    expect(judge()).toMatchObject([{ level: 'error' }]);
  });

  test('a gap ends what is covered', () => {
    expect(judge(bound(3, 14), bound(-1, 2))).toMatchObject([
      { level: 'warning', says: expect.stringContaining('2 d only') },
    ]);
  });

  test('a partition without an upper bound covers everything, the default one nothing', () => {
    expect(judge(`FOR VALUES FROM (MINVALUE) TO (MAXVALUE)`)[0]?.level).toBe('ok');
    expect(judge('DEFAULT')[0]?.level).toBe('error');
  });

  test('without partitioned tables there is nothing to say', () => {
    expect(judgePartitions({ now_ms, tables: [] })).toEqual([]);
  });
});

describe('clock', () => {
  test('the quickest of the trips says how far the clocks are apart', () => {
    const samples = [
      { sent: 1_000, trip: 400, answered: 1_500 },
      { sent: 2_000, trip: 10, answered: 2_105 },
      { sent: 3_000, trip: 90, answered: 3_000 },
    ];
    expect(clockDifference(samples)).toEqual({ difference: 100, uncertainty: 6 });
  });

  test('it is judged by what the trip cannot explain: a warning from a second, an error from thirty', () => {
    const judge = (difference: number, uncertainty: number) =>
      judgeClock({ difference, uncertainty }).level;
    expect([judge(1_004, 5), judge(-1_500, 900), judge(1_005, 5), judge(-1_500, 5)]).toEqual([
      'ok',
      'ok',
      'warning',
      'warning',
    ]);
    expect([judge(30_004, 5), judge(-30_005, 5)]).toEqual(['warning', 'error']);
  });

  test('a clock of gates that differs from the database’s by a second has been replaced', () => {
    expect([judgeGateClock(999), judgeGateClock(-999)]).toEqual([[], []]);
    expect(judgeGateClock(-3_600_000)).toMatchObject([
      { level: 'warning', says: expect.stringContaining('60 min behind') },
    ]);
  });
});

describe('connections', () => {
  const server: ConnectionLimit = { of: 'server', name: '', used: 10, most: 100 };

  test('they are a warning from 80 % and an error from 95 %', () => {
    expect(
      [79, 80, 94, 95].map((used) => judgeConnections([{ ...server, used }])[0]?.level),
    ).toEqual(['ok', 'warning', 'warning', 'error']);
  });

  test('the tightest limit counts, be it the server’s, the user’s or the database’s', () => {
    expect(
      judgeConnections([server, { of: 'user', name: 'ada', used: 9, most: 10 }]),
    ).toMatchObject([
      {
        level: 'warning',
        says: '9 of 10 in use, which is the limit of user ada',
        remedy: expect.stringContaining('alter role "ada"'),
      },
    ]);
    expect(
      judgeConnections([server, { of: 'database', name: 'shop', used: 10, most: 10 }])[0]?.remedy,
    ).toContain('alter database "shop"');
  });
});

describe('settings', () => {
  const right = {
    autovacuum: 'on',
    track_counts: 'on',
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    default_transaction_isolation: 'read committed',
    transaction_read_only: 'off',
    statement_timeout: '0',
    idle_in_transaction_session_timeout: '5min',
  };

  test('as they should be they are ok', () => {
    expect(judgeSettings(right)).toEqual([
      { check: 'settings', level: 'ok', says: 'As they should be' },
    ]);
    for (const other of [
      { synchronous_commit: 'remote_apply' },
      { statement_timeout: '30s' },
      { statement_timeout: '1min' },
      { statement_timeout: '1h' },
    ]) {
      expect(levels(judgeSettings({ ...right, ...other }))).toEqual(['ok']);
    }
  });

  test.each([
    ['autovacuum', 'off', 'error'],
    ['track_counts', 'off', 'error'],
    ['fsync', 'off', 'warning'],
    ['full_page_writes', 'off', 'warning'],
    ['synchronous_commit', 'off', 'warning'],
    ['default_transaction_isolation', 'repeatable read', 'warning'],
    ['transaction_read_only', 'on', 'error'],
    ['statement_timeout', '1500ms', 'warning'],
    ['statement_timeout', '29s', 'warning'],
    ['idle_in_transaction_session_timeout', '0', 'hint'],
  ])('%s = %s is a finding of level %s that says what to do', (name, value, level) => {
    expect(judgeSettings({ ...right, [name]: value })).toEqual([
      {
        check: 'settings',
        level,
        says: expect.stringContaining(name),
        means: expect.any(String),
        remedy: expect.any(String),
      },
    ]);
  });
});

describe('pooler', () => {
  const direct: PathFacts = {
    direct: true,
    shared: false,
    remembers: true,
    heard: true,
    listensElsewhere: false,
    product: null,
  };

  test('a direct connection that hears is ok, one that does not is a warning', () => {
    expect(judgePath(direct)).toEqual({
      check: 'pooler',
      level: 'ok',
      says: 'None in between; a NOTIFY arrives',
    });
    expect(judgePath({ ...direct, heard: false })).toMatchObject({
      level: 'warning',
      remedy: expect.stringContaining('--listen-url'),
    });
  });

  test('a pooler in session mode is ok', () => {
    expect(judgePath({ ...direct, direct: false })).toMatchObject({
      level: 'ok',
      says: expect.stringContaining('session mode'),
    });
  });

  test('processes that change hands, or forget a SET, mean transaction mode, and a hint to listen elsewhere', () => {
    for (const sign of [{ shared: true }, { remembers: false }]) {
      expect(
        judgePath({ ...direct, direct: false, heard: null, product: 'PgBouncer 1.2', ...sign }),
      ).toMatchObject({
        level: 'hint',
        says: 'Through PgBouncer 1.2 in transaction mode',
        remedy: expect.stringMatching(/listenConnectionString.*--listen-url/),
      });
    }
  });

  test('an address to listen on makes transaction mode ok if it hears, and is a warning if not', () => {
    const pooled = { ...direct, direct: false, shared: true, listensElsewhere: true };
    expect(judgePath(pooled)).toMatchObject({
      level: 'ok',
      says: expect.stringContaining('address to listen on'),
    });
    expect(judgePath({ ...pooled, heard: false }).level).toBe('warning');
  });
});

describe('workers', () => {
  const fresh = { executor_id: 'w1', freshness: 'fresh', silent_s: 1 } as const;
  const judge = (facts: Partial<WorkerFacts>) =>
    judgeWorkers({ workers: [fresh], backlog: 0, unserved: [], ...facts });

  test('none is a warning, and an error when something waits', () => {
    expect(levels(judge({ workers: [] }))).toEqual(['warning']);
    expect(
      levels(judge({ workers: [], backlog: 1, unserved: [{ kind: 'k', backlog: 1 }] })),
    ).toEqual(['error']);
  });

  test('late and silent ones are named beside the fresh', () => {
    const late = { executor_id: 'w2', freshness: 'warning', silent_s: 400 } as const;
    expect(judge({ workers: [fresh, late] })).toMatchObject([
      { level: 'ok', says: '1 fresh, 1 late, 0 silent' },
      { level: 'warning', says: 'Not heard: w2 for 7 min' },
    ]);
  });

  test('kinds that no fresh worker serves are named, five of them at most', () => {
    const unserved = Array.from({ length: 6 }, (_, i) => ({ kind: `k${i}`, backlog: i + 1 }));
    expect(judge({ backlog: 21, unserved })).toMatchObject([
      { level: 'ok' },
      {
        level: 'warning',
        says: 'None serves k0 (1 job), k1 (2 jobs), k2 (3 jobs), k3 (4 jobs), k4 (5 jobs), …',
      },
    ]);
  });

  test('an expired lease is a warning, and after a minute an error', () => {
    expect([0, 1].map((leases) => judgeLeases({ leases, jobs: 3, age_s: 60 }).level)).toEqual([
      'ok',
      'warning',
    ]);
    expect(judgeLeases({ leases: 1, jobs: 3, age_s: 60.1 }).level).toBe('error');
  });
});
