/**
 * Snapshots of runs: the gate believes no position, tenant or status that the log does not have.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import {
  defineJob,
  definePlan,
  emptySnapshot,
  type RunSnapshot,
  reduce,
  type Writ,
} from '../../src/index.js';
import { projectRuns } from '../../src/runs/projector.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { until } from '../races/sessions.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let writ: Writ;
let engine: Login;
const plan = definePlan<unknown>('one', { version: '1' }, (p) =>
  p.step('act', defineJob<unknown>('act')),
);

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  engine = await login(db, ['writ_engine']);
});
afterEach(async () => {
  await engine.end();
  await db.drop();
});

const started = async (tenant: string) => (await writ.start(plan, {}, { tenant })).runId;

/** The turn that the attacker takes, once every run is in it. */
async function turnWith(runs: number): Promise<string> {
  let turn = '';
  await until(async () => {
    const changes = (await engine.call('fn_run_changes', { projector: 'mallory' })) as {
      turn?: string;
      runs: unknown[];
    };
    turn = changes.turn ?? '';
    return changes.runs.length >= runs;
  });
  return turn;
}
const project = (turn: string, snapshots: unknown) =>
  engine.call('fn_run_project', { turn, snapshots: JSON.stringify(snapshots) });
const honest = () =>
  projectRuns(
    {
      query: (text: string, values?: unknown[]) =>
        engine.query(text, values).then((rows) => ({ rows })),
    } as never,
    'honest',
  );
const stored = async (runId: string) =>
  (
    await db.query(
      'select last_event_seq, status, stale from writ.run_snapshots where run_id = $1',
      [runId],
    )
  )[0];
const truth = async (runId: string, tenant: string) =>
  reduce(emptySnapshot(runId, tenant), (await writ.runs.events(runId)).items);
const alerts = async () =>
  (
    await db.query('select code, subject from writ.alert where cleared_at is null order by 1, 2')
  ).map((a) => a.code);

test('fn_run_project stores no forged end with the largest position, and the run is projected from its log', async () => {
  const runId = await started('acme');
  const turn = await turnWith(1);
  const forged = {
    ...(await truth(runId, 'acme')),
    status: 'COMPLETED',
    lastEventSeq: 2_147_483_647,
  };
  expect(await project(turn, [forged])).toEqual({ projected: 0, skipped: 1 });
  expect(await alerts()).toEqual(['PROJECTOR_RUN_SKIPPED']);
  await honest();
  expect(await stored(runId)).toMatchObject({ last_event_seq: 1, status: 'RUNNING', stale: false });
  expect(await writ.runs.snapshot(runId)).toMatchObject({ status: 'RUNNING' });
  expect(await alerts()).toEqual([]);
});

test.each<[string, (is: RunSnapshot) => unknown]>([
  ['another status', (is) => ({ ...is, status: 'COMPLETED' })],
  ['another tenant', (is) => ({ ...is, tenantId: 'globex' })],
  ['a position ahead of the log', (is) => ({ ...is, lastEventSeq: 2 })],
  ['a position that is negative', (is) => ({ ...is, lastEventSeq: -1 })],
  ['a position that is no number', (is) => ({ ...is, lastEventSeq: 'all' })],
  ['a run that is not there', (is) => ({ ...is, runId: '6f1e2d3c-4b5a-4978-8675-94a3b2c1d0e9' })],
  ['a run that is no id', (is) => ({ ...is, runId: 'x' })],
  ['a NUL character in its id', (is) => ({ ...is, runId: '\u0000' })],
  ['half of a pair in a word', (is) => ({ ...is, steps: ['\ud800'] })],
  ['no object', () => 7],
  ['nothing', () => null],
])('a snapshot with %s is set aside, and those beside it are stored', async (_, forge) => {
  const [one, other] = [await started('acme'), await started('globex')];
  const turn = await turnWith(2);
  const snapshots = [forge(await truth(one, 'acme')), await truth(other, 'globex')];
  expect(await project(turn, snapshots)).toEqual({ projected: 1, skipped: 1 });
  expect(await stored(other)).toMatchObject({ status: 'RUNNING', stale: false });
  expect(await stored(one)).toMatchObject({ last_event_seq: 0, stale: true });
});

test('a run that a projector omits comes again with the next turn', async () => {
  const runId = await started('acme');
  expect(await project(await turnWith(1), [])).toEqual({ projected: 0, skipped: 1 });
  await honest();
  expect(await stored(runId)).toMatchObject({ last_event_seq: 1, status: 'RUNNING', stale: false });
});

test('fn_run_project refuses a turn that was not given', async () => {
  const runId = await started('acme');
  await turnWith(1);
  for (const turn of [null, '6f1e2d3c-4b5a-4978-8675-94a3b2c1d0e9'])
    expect(await engine.call('fn_run_project', { turn, snapshots: '[]' })).toMatchObject({
      refused: true,
      reason: 'not_the_projector',
    });
  expect(await stored(runId)).toBeUndefined();
});

test('a log that cannot be reduced does not delay the others', async () => {
  const [one, other] = [await started('acme'), await started('globex')];
  await db.query(
    `insert into writ_data.run_snapshot (run_id, last_seq, status, snapshot, updated_at) values ($1, 0, 'PENDING', '{"steps": 7}', now())`,
    [one],
  );
  await until(async () => {
    await honest();
    return (await stored(other))?.status === 'RUNNING';
  });
  expect(await stored(one)).toMatchObject({ stale: true });
});

test('an administrator can rebuild a false snapshot from the log', async () => {
  const runId = await started('acme');
  const lie = { ...(await truth(runId, 'acme')), steps: [{ stepId: 'act', status: 'SUCCESS' }] };
  expect(await project(await turnWith(1), [lie])).toEqual({ projected: 1, skipped: 0 });
  expect(await writ.runs.rebuild([runId])).toBe(1);
  await honest();
  const [row] = await db.query('select snapshot, stale from writ.run_snapshots where run_id = $1', [
    runId,
  ]);
  expect(row).toEqual({
    snapshot: JSON.parse(JSON.stringify(await truth(runId, 'acme'))),
    stale: false,
  });
});

/** A superuser's shortcut to a long log: `n` attempts at the step, each begun and failed. */
const lengthen = (runId: string, n: number, bytes: number) =>
  db.query(
    `insert into writ_data.run_event (run_id, run_seq, event_type, step_id, logical_attempt, data, at, batch_id)
     select $1, 1 + a * 2 + b, case b when 0 then 'StepStarted' else 'StepFailed' end, 'act', (a + 1)::text,
       case b when 0 then '{}' else jsonb_build_object('error', jsonb_build_object('errorCode', 'X', 'errorMessage', repeat('x', $3))) end,
       writ.now(), gen_random_uuid()
     from generate_series(0, $2 - 1) a cross join generate_series(1, 2) c cross join lateral (select c - 1 as b) d
     where 1 + a * 2 + b > 1`,
    [runId, n, bytes],
  );

test('a run with a very long log is projected in parts, and stops no other', async () => {
  const [long, other] = [await started('acme'), await started('globex')];
  await until(
    async () => (await honest()) === undefined || (await stored(other))?.status === 'RUNNING',
  );
  await lengthen(long, 4_000, 4_000);
  const [last] = await db.query(
    'select max(run_seq) as seq from writ_data.run_event where run_id = $1',
    [long],
  );
  expect(await writ.runs.rebuild([long])).toBe(1);
  const first = (await engine.call('fn_run_changes', { projector: 'honest' })) as {
    runs: { events: unknown[] }[];
  };
  expect(Buffer.byteLength(JSON.stringify(first.runs))).toBeLessThan(5_000_000);
  await until(async () => {
    await honest();
    return (await stored(long))?.stale === false;
  });
  expect(await stored(long)).toMatchObject({ last_event_seq: last?.seq, stale: false });
  expect(await alerts()).toEqual([]);
});

test('a turn of the projector ends with the call that fills it', async () => {
  await writ.runs.register(plan);
  const [known] = await db.query(`select sha256 from writ.plan where plan_id = 'one'`);
  for (let call = 0; call < 3; call++) {
    const runs = Array.from({ length: 3_000 }, () => ({
      run_id: uuidv7(),
      plan_id: 'one',
      plan_version: '1',
      sha256: known?.sha256,
    }));
    await db.query('select writ.fn_run_start_many($1, $2)', [JSON.stringify(runs), 'test']);
  }
  let changes: { runs: unknown[]; more?: boolean } = { runs: [] };
  await until(async () => {
    changes = (await engine.call('fn_run_changes', { projector: 'mallory' })) as never;
    return changes.more === true;
  });
  expect(changes.runs).toHaveLength(6_000);
});

test('rebuilding a run without an event leaves nothing for the projector to wait for', async () => {
  const runId = uuidv7();
  await writ.runs.register(plan);
  const run = {
    run_id: runId,
    plan_id: 'one',
    plan_version: '1',
    sha256: plan.sha256,
    engine: 'external',
    input: {},
  };
  await db.query(`select writ.fn_run_start_many($1, 'test')`, [JSON.stringify([run])]);
  expect(await db.query('select engine from writ_data.run where run_id = $1', [runId])).toEqual([
    { engine: 'external' },
  ]);
  expect(await writ.runs.rebuild([runId])).toBe(0);
  await honest();
  expect(await stored(runId)).toBeUndefined();
});
