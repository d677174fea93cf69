/** Figures that are read while other sessions move jobs. */
import { expect, test } from 'vitest';
import { defineJob } from '../../src/index.js';
import { testDatabase } from '../../src/testing/index.js';
import { direct, session, untilBlocked } from './sessions.js';

test('health counts a job that is claimed during the call', async () => {
  const db = await testDatabase();
  const claimer = await session(direct(db));
  const reader = await session(direct(db));
  try {
    const writ = await db.connect();
    await writ.enqueue(defineJob('mail'));
    await claimer.query('begin');
    await claimer.query('lock table writ_data.job_ready in access exclusive mode');
    const figures = reader.gate('fn_job_queue_health()');
    await untilBlocked(db, reader); // it has counted the leases, and waits for the places
    const claimed = await claimer.gate(
      `fn_job_claim_many(array['mail'], 'external_worker', 'test', 30, 1, 1)`,
    );
    await claimer.query('commit');
    expect(claimed.jobs).toHaveLength(1);
    const { backlog, in_progress } = await figures;
    expect(Number(backlog) + Number(in_progress)).toBe(1);
  } finally {
    await reader.end();
    await claimer.end();
    await db.drop();
  }
});
