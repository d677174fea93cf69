/** Snapshots of runs: the gate believes no position, tenant or status that the log does not have. */
import { afterEach, beforeEach, expect, test } from 'vitest';
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
  reduce(emptySnapshot(runId, tenant), await writ.runs.events(runId));
const alerts = async () =>
  (
    await db.query('select code, subject from writ.alert where cleared_at is null order by 1, 2')
  ).map((a) => a.code);

test('a forged end with the largest position is not stored, and the run is projected as it is', async () => {
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
  expect(await writ.runs.get(runId)).toMatchObject({ status: 'RUNNING' });
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

test('a projector that keeps quiet about a run hides nothing: the run comes again', async () => {
  const runId = await started('acme');
  expect(await project(await turnWith(1), [])).toEqual({ projected: 0, skipped: 1 });
  await honest();
  expect(await stored(runId)).toMatchObject({ last_event_seq: 1, status: 'RUNNING', stale: false });
});

test('a turn that was not given is not taken', async () => {
  const runId = await started('acme');
  await turnWith(1);
  for (const turn of [null, '6f1e2d3c-4b5a-4978-8675-94a3b2c1d0e9'])
    expect(await engine.call('fn_run_project', { turn, snapshots: '[]' })).toMatchObject({
      refused: true,
      reason: 'not_the_projector',
    });
  expect(await stored(runId)).toBeUndefined();
});

test('a log that cannot be reduced does not keep the others waiting', async () => {
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

test('a snapshot with wrong words is made anew from the log when an administrator asks', async () => {
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
