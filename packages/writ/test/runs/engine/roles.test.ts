/**
 * Which role may do what with runs. That each may call what its files say, and nothing else, is
 * tried for every gate in test/database/roles.test.ts.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { defineJob, definePlan, Writ } from '../../../src/index.js';
import { codeOf, scene } from './scene.js';

const s = scene();
const act = defineJob<unknown>('act');
const plan = definePlan<unknown>('row', { version: '1' }, (p) => {
  p.step('a', act);
});

/** A connection of a user that holds one role and nothing else. */
async function as<T>(role: string, use: (writ: Writ) => Promise<T>): Promise<T> {
  const user = `test_${role}_${randomBytes(4).toString('hex')}`;
  await s.db.query(`create role ${user} login password 'test' in role ${role}`);
  const url = new URL(s.db.connectionString);
  url.username = user;
  url.password = 'test';
  const writ = await Writ.connect({ connectionString: url.toString() });
  try {
    return await use(writ);
  } finally {
    await writ.close();
    await s.db.query(`drop owned by ${user}`);
    await s.db.query(`drop role ${user}`);
  }
}

test('an executor starts runs, does their steps and projects them, and may not signal', async () => {
  await as('dot_executor', async (writ) => {
    const { runId } = await writ.start(plan, {});
    const before = await s.log(runId);
    expect(await codeOf(writ.runs.signal(runId, { type: 'CANCEL' }))).toBe('permission_denied');
    expect(await s.log(runId)).toEqual(before);
    await writ.work([act.handle(() => undefined)], { poll: '20ms' });
    expect((await writ.runs.finished(runId, { timeoutMs: 15_000 })).status).toBe('COMPLETED');
  });
});

test('an administrator signals', async () => {
  await as('workflow_admin', async (writ) => {
    const { runId } = await writ.start(plan, {});
    expect(await writ.runs.signal(runId, { type: 'PAUSE' })).toMatchObject({ status: 'PAUSED' });
  });
});

test('an auditor reads runs, logs and snapshots, and changes nothing', async () => {
  const { runId } = await s.writ.start(plan, {});
  await as('writ_auditor', async (writ) => {
    expect(await writ.runs.snapshot(runId)).toMatchObject({ status: 'RUNNING' });
    expect((await writ.runs.events(runId)).items).toHaveLength(1);
    expect((await writ.runs.list()).items).toHaveLength(1);
    expect(await codeOf(writ.runs.signal(runId, { type: 'CANCEL', signalId: randomUUID() }))).toBe(
      'permission_denied',
    );
    expect(await codeOf(writ.runs.deliver(runId, 'word'))).toBe('permission_denied');
    expect(await codeOf(writ.start(plan, {}))).toBe('permission_denied');
  });
  expect(await s.log(runId)).toEqual(['RunStarted']);
});
