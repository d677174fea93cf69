import { expect, test } from 'vitest';
import { judgeIncidents, judgeProbes, judgeWaiting } from '../../../src/cli/doctor/governance.js';
import { testDatabase } from '../../../src/testing/index.js';
import { writ } from '../run.js';

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
    remedy: expect.stringContaining(`jobs resolve ${id} PASS`),
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

test('on a real database', async () => {
  const db = await testDatabase();
  try {
    const connection = await db.connect();
    const key = await connection.governance.addPrincipal({
      id: 'ops',
      kind: 'person',
      rights: ['operate'],
    });
    await connection.governance.put([{ capability_name: 'checkout' }], { as: key });
    await connection.governance.putProbe(
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
