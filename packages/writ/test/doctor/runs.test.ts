/** What the doctor finds of runs: alerts that stand, snapshots that wait for an event. */
import { afterEach, expect, test } from 'vitest';
import {
  judgeAlerts as alertsJudge,
  runChecks,
  type StandingAlert,
  judgeStale as staleJudge,
} from '../../src/doctor/runs.js';
import { defineJob, definePlan } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { eventually } from '../cli/run.js';
import { advises, advisesOne, found } from './advised.js';

const judgeAlerts = advises(alertsJudge);
const judgeStale = advisesOne(staleJudge);

let db: TestDatabase | undefined;
afterEach(async () => {
  await db?.drop();
  db = undefined;
});

test('an alert is as bad as its severity, and says what to do', () => {
  const alert: StandingAlert = {
    alert_id: 'a-1',
    code: 'COMPENSATION_FAILED',
    severity: 'P1',
    subject: 'run/r-1',
    age_s: 60,
  };
  expect(judgeAlerts({ alerts: [], standing: 0 })).toEqual([
    { check: 'alerts', level: 'ok', says: 'None stands' },
  ]);
  expect(judgeAlerts({ alerts: [alert], standing: 1 })).toEqual([
    {
      check: 'alerts',
      level: 'error',
      says: 'P1 COMPENSATION_FAILED of run r-1, for 60.0 s',
      means: expect.stringContaining('could not be undone'),
      remedy: expect.stringContaining('writ alerts clear a-1 --reason'),
    },
  ]);
  const severities = ['P2', 'P3'] as const;
  expect(
    severities.map(
      (severity) => judgeAlerts({ alerts: [{ ...alert, severity }], standing: 1 })[0]?.level,
    ),
  ).toEqual(['warning', 'hint']);
  expect(judgeAlerts({ alerts: [alert], standing: 3 })[1]).toMatchObject({
    says: '2 more stand',
    level: 'error',
  });
  expect(
    judgeAlerts({ alerts: [{ ...alert, code: 'NEW_ONE' }], standing: 1 })[0]?.remedy,
  ).toContain('alerts clear a-1');
});

test('a snapshot behind a gap is an error that names the run and the event', () => {
  expect(judgeStale({ stale: 0, run_id: null, missing_seq: null, age_s: null }).level).toBe('ok');
  expect(judgeStale({ stale: 2, run_id: 'r-1', missing_seq: 7, age_s: 90 })).toMatchObject({
    level: 'error',
    says: expect.stringContaining('that of run r-1, whose event 7 is missing'),
    remedy: expect.stringContaining('writ runs verify r-1'),
  });
});

test('an event that was taken out of a log is found: the projector stops there, raises an alert, and both are said', async () => {
  const made = await testDatabase();
  db = made;
  const look = (name: string) => found(made.connectionString, runChecks[name]);
  const writ = await made.connect();
  const step = defineJob('step');
  const plan = definePlan('two', { version: '1' }, (p) => {
    p.step('b', step, { after: p.step('a', step) });
  });
  expect((await look('alerts'))[0]?.level).toBe('ok');
  expect((await look('runs'))[0]?.level).toBe('ok');
  const { runId } = await writ.start(plan);
  await made.query(
    `create function drop_third() returns trigger language plpgsql as $$ begin if new.run_seq = 3 then return null; end if; return new; end $$`,
  );
  const [day] = await made.query(
    `select tableoid::regclass::text as name from writ_data.run_event where run_id = $1 limit 1`,
    [runId],
  );
  await made.query(
    `create trigger loses before insert on ${day?.name} for each row execute function drop_third()`,
  );
  await writ.work([step.handle(() => undefined)], { poll: '20ms', onError: () => undefined });
  await eventually(
    async () => (await made.query('select from writ.run_snapshots where stale')).length === 1,
  );
  expect((await look('runs'))[0]).toMatchObject({
    level: 'error',
    says: expect.stringContaining(runId),
  });
  expect((await look('alerts'))[0]).toMatchObject({
    level: 'error',
    says: expect.stringContaining(`PROJECTOR_GAP_DETECTED of run ${runId}`),
  });
});
