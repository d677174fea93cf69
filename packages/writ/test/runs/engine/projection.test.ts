/** The projector: snapshots follow the log, and a log in which something is missing is noticed. */
import { expect, test } from 'vitest';
import { defineJob, definePlan, emptySnapshot, reduce } from '../../../src/index.js';
import { projectRuns } from '../../../src/runs/projector.js';
import { onFaultPoint } from '../../../src/testing/index.js';
import { latch } from '../../queue/latch.js';
import { direct, session, until } from '../../races/sessions.js';
import { allEvents, scene } from './scene.js';

const s = scene();
const act = defineJob<unknown>('act');
const plan = definePlan<unknown>('row', { version: '1' }, (p) => {
  const a = p.step('a', act);
  const b = p.step('b', act, { after: a });
  p.step('c', act, { after: b });
});

const snapshots = (runId: string) =>
  s.db.query(
    'select last_event_seq, status, stale, missing_seq, snapshot from writ.run_snapshots where run_id = $1',
    [runId],
  );
const alerts = (runId: string) =>
  s.db.query(
    'select code, severity, subject, detail, cleared_at is not null as cleared from writ.alert where subject = $1',
    [`run/${runId}`],
  );
const project = (name = 'test') =>
  projectRuns(
    {
      query: (text: string, values?: unknown[]) =>
        s.db.query(text, values).then((rows) => ({ rows })),
    } as never,
    name,
  );
const fresh = async (runId: string) =>
  JSON.parse(
    JSON.stringify(reduce(emptySnapshot(runId, 'default'), await allEvents(s.writ, runId))),
  );
const facts = async (type: string) =>
  (
    await s.db.query(
      `select from writ.event_outbox where event_type = $1 and safe_payload ->> 'code' = 'PROJECTOR_GAP_DETECTED'`,
      [type],
    )
  ).length;

/**
 * A run that has ended, and whose worker has gone. What other databases of this server have open
 * holds projectors up: it is over.
 */
async function endedRun(): Promise<string> {
  const { runId } = await s.writ.start(plan, {});
  const worker = await s.work([act.handle(() => undefined)]);
  await s.ended(runId);
  await worker.stop();
  const open =
    'select from writ_data.event_batch where run_ids is not null and xid >= pg_snapshot_xmin(pg_current_snapshot()) limit 1';
  await until(async () => (await s.db.query(open)).length === 0, 20_000);
  return runId;
}

/** As the owner of the database, past every guard. Answers what undoes it. */
async function tamper(sql: string): Promise<Record<string, unknown>[]> {
  const owner = await session(direct(s.db));
  try {
    await owner.query('set session_replication_role = replica');
    return await owner.query(sql);
  } finally {
    await owner.end();
  }
}

const remove = async (runId: string, seq: number) => {
  const [row] = await tamper(
    `delete from writ_data.run_event where run_id = '${runId}' and run_seq = ${seq} returning to_jsonb(run_event) as event`,
  );
  return () =>
    tamper(
      `insert into writ_data.run_event select * from jsonb_populate_record(null::writ_data.run_event, '${JSON.stringify(row?.event).replaceAll("'", "''")}')`,
    );
};

/** The projector begins anew, as after a restore: every run is looked at again. */
const forget = () =>
  tamper(
    `with gone as (delete from writ_data.run_snapshot) update writ_data.run_projector set position = writ_data.position_of('beginning')`,
  );

test('a snapshot is what a fresh reduction of the whole log gives', async () => {
  const runId = await endedRun();
  await until(async () => {
    await project();
    return (await snapshots(runId))[0]?.status === 'COMPLETED';
  });
  expect(await snapshots(runId)).toEqual([
    {
      last_event_seq: 8,
      status: 'COMPLETED',
      stale: false,
      missing_seq: null,
      snapshot: await fresh(runId),
    },
  ]);
});

test.each([
  ['in the middle', 4],
  ['at the beginning', 1],
  ['at the end', 8],
])(
  'an event that is missing %s makes the run stale and raises an alert; others go on; when it is back, so does the run',
  async (_, seq) => {
    s.unchecked();
    const [broken, whole] = [await endedRun(), await endedRun()];
    await forget();
    const restore = await remove(broken, seq);
    await until(async () => {
      await project();
      return (await snapshots(whole))[0]?.status === 'COMPLETED';
    });
    expect(await snapshots(broken)).toMatchObject([
      { stale: true, missing_seq: seq, status: expect.not.stringMatching('COMPLETED') },
    ]);
    expect((await snapshots(whole))[0]?.snapshot).toEqual(await fresh(whole));
    const alert = {
      code: 'PROJECTOR_GAP_DETECTED',
      severity: 'P1',
      subject: `run/${broken}`,
      detail: { expected: seq },
    };
    expect(await alerts(broken)).toMatchObject([{ ...alert, cleared: false }]);
    await project();
    await project();
    expect([await facts('system.alert_raised'), await facts('system.alert_cleared')]).toEqual([
      1, 0,
    ]);

    await restore();
    await until(async () => {
      await project();
      return (await snapshots(broken))[0]?.stale === false;
    });
    expect(await snapshots(broken)).toMatchObject([
      { last_event_seq: 8, status: 'COMPLETED', missing_seq: null, snapshot: await fresh(broken) },
    ]);
    expect(await alerts(broken)).toMatchObject([{ ...alert, cleared: true }]);
    expect([await facts('system.alert_raised'), await facts('system.alert_cleared')]).toEqual([
      1, 1,
    ]);
  },
);

test('of two projectors at once one has the turn, and the other does nothing', async () => {
  const runId = await endedRun();
  await forget();
  const [reached, go] = [latch(), latch()];
  onFaultPoint((point) => {
    if (point !== 'projecting') return;
    reached.open();
    return go.opened;
  });
  const first = project('first');
  await reached.opened;
  await project('second');
  expect(await snapshots(runId)).toEqual([]);
  go.open();
  await first;
  expect((await snapshots(runId))[0]?.snapshot).toEqual(await fresh(runId));
});

test('a projector that dies in its turn is followed by another, which begins where it did', async () => {
  const runId = await endedRun();
  await forget();
  onFaultPoint((point) => {
    if (point === 'projecting') throw new Error('killed');
  });
  await expect(project('first')).rejects.toThrow('killed');
  onFaultPoint(undefined);
  await project('second');
  expect(await snapshots(runId)).toEqual([]);
  await s.db.clock.advance('11s');
  await project('second');
  expect((await snapshots(runId))[0]?.snapshot).toEqual(await fresh(runId));
});

test('a projector that lost its turn is not heard', async () => {
  const runId = await endedRun();
  await forget();
  const [reached, go] = [latch(), latch()];
  let turns = 0;
  onFaultPoint((point) => {
    if (point !== 'projecting' || turns++ > 0) return;
    reached.open();
    return go.opened;
  });
  const slow = project('slow');
  await reached.opened;
  await s.db.clock.advance('11s');
  await project('quick');
  const after = await snapshots(runId);
  go.open();
  await slow;
  expect(await snapshots(runId)).toEqual(after);
  expect(after[0]?.snapshot).toEqual(await fresh(runId));
});

test('a projector that is far behind raises an alert, which is over when it has caught up', async () => {
  await endedRun();
  await forget();
  await s.db.clock.advance('1m');
  await project();
  const standing = () =>
    s.db.query(
      `select code, severity from writ.alert where subject = 'projector' and cleared_at is null`,
    );
  expect(await standing()).toEqual([{ code: 'PROJECTOR_LAG_HIGH', severity: 'P2' }]);
  await s.writ.start(plan, {});
  await until(async () => {
    await project();
    return (await standing()).length === 0;
  });
});

test('whoever asks gets the newest state, even where no projector has been', async () => {
  const { runId } = await s.writ.start(plan, {});
  expect(await snapshots(runId)).toEqual([]);
  expect(await s.writ.runs.snapshot(runId)).toMatchObject({ status: 'RUNNING', lastEventSeq: 1 });
});

test('a lag raises the alert while no projector runs at all, and the clockwork clears it', async () => {
  const standing = () =>
    s.db.query(`select code from writ.alert where subject = 'projector' and cleared_at is null`);
  const tick = () => s.db.query(`select writ.fn_job_tick('test')`);
  await endedRun();
  await forget();
  await tick();
  expect(await standing()).toEqual([]);
  await s.db.clock.advance('6s');
  await tick();
  expect(await standing()).toEqual([{ code: 'PROJECTOR_LAG_HIGH' }]);
  // It is over when the projector has caught up, at once.
  await until(async () => {
    await project();
    return (await standing()).length === 0;
  });
});

test('a lag raises the alert while an open transaction hides what is new from the projector', async () => {
  const holder = await session(s.db);
  try {
    await holder.query('begin');
    await holder.query('select pg_current_xact_id()');
    const { runId } = await s.writ.start(plan, {});
    await s.db.clock.advance('6s');
    await project();
    expect(await snapshots(runId)).toEqual([]);
    expect(await s.db.query(`select code from writ.alert where cleared_at is null`)).toEqual([
      { code: 'PROJECTOR_LAG_HIGH' },
    ]);
  } finally {
    await holder.end();
  }
});

test('an event that no rule allows is ignored, counted and raises an alert once', async () => {
  s.unchecked();
  const { runId } = await s.writ.start(plan, {});
  const append = (type: string) =>
    s.db.query(
      `select writ_data.append_events(array[$1::uuid], array[$2], array['a'], array['1'], array[null::integer], array['{}'::jsonb], null, null, 'test', 'test', writ.now())`,
      [runId, type],
    );
  const inconsistent = () =>
    s.db.query(
      `select severity, detail from writ.alert where code = 'RUN_INCONSISTENT' and cleared_at is null`,
    );
  const projected = async (seq: number) =>
    until(async () => {
      await project();
      return (await snapshots(runId))[0]?.last_event_seq === seq;
    }, 20_000);
  await append('StepCompleted');
  await append('StepSkipped');
  await projected(3);
  expect(await inconsistent()).toEqual([{ severity: 'P2', detail: { events: 1 } }]);
  await s.db.query(`update writ_data.alert set cleared_at = now(), cleared_by = 'test'`);
  await s.writ.runs.signal(runId, { type: 'PAUSE' });
  await projected(5);
  expect(await inconsistent()).toEqual([]);
});
