import { expect, test } from 'vitest';
import {
  judgeIncidents as incidentsJudge,
  judgeProbes as probesJudge,
  judgeTrust as trustJudge,
  judgeWaiting as waitingJudge,
} from '../../src/doctor/governance.js';
import { enable } from '../../src/index.js';
import { testDatabase } from '../../src/testing/index.js';
import { writ } from '../cli/run.js';
import { verifying } from '../governance/verifying.js';
import { advises, advisesOne } from './advised.js';

const judgeIncidents = advises(incidentsJudge);
const judgeProbes = advisesOne(probesJudge);
const judgeTrust = advises(trustJudge);
const judgeWaiting = advises(waitingJudge);

const id = '01999999-0000-7000-8000-000000000000';

test('a failed rollback is an error, an audit that waits for a person a warning; each says what to do', () => {
  expect(judgeWaiting([])).toMatchObject([{ level: 'ok' }]);
  const [failed, waits] = judgeWaiting([
    { job_id: id, title: 'Flags', status: 'ROLLBACK_FAILED', age_s: 60, incident_id: 'i-1' },
    { job_id: id, title: 'Flags\n', status: 'AUDIT_PENDING', age_s: 60, incident_id: null },
  ]);
  expect(failed).toMatchObject({
    level: 'error',
    remedy: expect.stringMatching(new RegExp(`retry-rollback ${id}.*resolve i-1`)),
  });
  expect(waits).toMatchObject({
    level: 'warning',
    says: expect.not.stringContaining('\n'),
    remedy: expect.stringContaining(`changes resolve ${id} PASS`),
  });
});

test('incidents count by their severity, and those that are not named are counted', () => {
  expect(judgeIncidents([])).toMatchObject([{ level: 'ok' }]);
  const one = (severity: 'P1' | 'P3') => ({
    incident_id: id,
    severity,
    summary: 'slow',
    age_s: 1,
    open: 3,
  });
  expect(judgeIncidents([one('P1'), one('P3')]).map(({ level, says }) => [level, says])).toEqual([
    ['error', 'P1 open for 1.0 s: slow'],
    ['hint', 'P3 open for 1.0 s: slow'],
    ['hint', '1 more are open'],
  ]);
});

test('probes that nobody asks are named', () => {
  const none = { name: null, capability: null, late_s: null };
  expect(judgeProbes({ asked: 0, late: 0, ...none })).toMatchObject({
    level: 'ok',
    says: 'None that workers ask',
  });
  expect(judgeProbes({ asked: 2, late: 0, ...none })).toMatchObject({
    level: 'ok',
    says: '2 probes, asked in time',
  });
  expect(
    judgeProbes({ asked: 2, late: 1, name: 'up', capability: 'checkout', late_s: 300 }),
  ).toMatchObject({
    level: 'warning',
    says: 'Nobody asks 1 probe; up of checkout is due for 5 min',
  });
});

test('workers that verify with the keys of the database are a warning that names their login', () => {
  expect(judgeTrust([])).toMatchObject([{ level: 'ok' }]);
  const file = { login: 'safe', trust: 'ab'.repeat(32), age_s: 5 };
  expect(judgeTrust([file])).toMatchObject([
    { level: 'ok', says: 'Workers verify approvals with a trust file' },
  ]);
  expect(judgeTrust([file, { login: 'open', trust: 'database', age_s: 60 }])).toMatchObject([
    {
      level: 'warning',
      says: 'Workers of login open verify approvals with WRIT_TRUST=database, the last 60.0 s ago',
      remedy: expect.stringMatching(/writ trust init.*docs\/trust\.md/),
    },
  ]);
});

test('doctor warns of approvals that a worker verified with the keys of the database', async () => {
  const db = await testDatabase();
  try {
    const connection = await db.connect();
    const { principals, capabilities, contracts } = connection;
    const ops = await principals.add({
      id: 'ops',
      kind: 'person',
      rights: ['propose', 'operate'],
    });
    const ada = await principals.add({ id: 'ada', kind: 'person' });
    await capabilities.put([{ capability_name: 'checkout' }], { as: ops });
    const contract = await contracts.propose(
      { title: 'Open', scope: ['checkout'], steps: [enable('checkout')] },
      { as: ops },
    );
    const trust = async () => {
      const { stdout } = await writ(['doctor', '--json'], {
        env: { DATABASE_URL: db.connectionString },
      });
      const { findings } = JSON.parse(stdout) as { findings: { check: string }[] };
      return findings.filter(({ check }) => check === 'trust');
    };
    expect(await trust()).toMatchObject([{ level: 'ok' }]);
    await verifying(connection);
    const { hash } = await contract.preview({ as: ada });
    expect(await contract.approve({ as: ada, hash })).toMatchObject({ status: 'APPROVED' });
    const [row] = await db.query('select session_user as login');
    expect(await trust()).toMatchObject([
      { level: 'warning', says: expect.stringContaining(`login ${row?.login} verify`) },
    ]);
  } finally {
    await db.drop();
  }
});

test('on a real database', async () => {
  const db = await testDatabase();
  try {
    const connection = await db.connect();
    const key = await connection.principals.add({
      id: 'ops',
      kind: 'person',
      rights: ['operate'],
    });
    await connection.capabilities.put([{ capability_name: 'checkout' }], { as: key });
    await connection.probes.put(
      { name: 'up', capability: 'checkout', type: 'sql', config: { query: 'select true' } },
      { as: key },
    );
    const env = { DATABASE_URL: db.connectionString };
    await writ(['incidents', 'open', 'slow since noon'], { env: { ...env, WRIT_KEY: key } });
    await db.query(`update writ_data.probe set put_at = put_at - interval '1 hour'`);
    const { findings } = JSON.parse((await writ(['doctor', '--json'], { env })).stdout) as {
      findings: { check: string; says: string }[];
    };
    const of = (check: string) =>
      findings.filter((finding) => finding.check === check).map(({ says }) => says);
    expect(of('changes')).toEqual(['None waits for a person']);
    expect(of('incidents')).toEqual([expect.stringMatching(/^P2 open for .*: slow since noon$/)]);
    expect(of('probes')).toEqual([
      expect.stringMatching(/^Nobody asks 1 probe; up of checkout is due for 60 min$/),
    ]);
  } finally {
    await db.drop();
  }
});
