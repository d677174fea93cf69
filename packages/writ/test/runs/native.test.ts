/** The engine of the database, held against what every engine promises. */
import pg from 'pg';
import { defineJob, definePlan, NativeEngine } from '../../src/index.js';
import { testDatabase } from '../../src/testing/index.js';
import { latch } from '../queue/latch.js';
import { conformance } from './conformance.js';

const act = defineJob<unknown>('act', { retry: { attempts: 1 } });
const plan = definePlan<unknown>('conformance', { version: '1.0.0' }, (p) => {
  const first = p.step('first', act);
  p.step('second', act, { after: first });
});

conformance('native', async () => {
  const db = await testDatabase();
  const writ = await db.connect();
  const pool = new pg.Pool({ connectionString: db.connectionString, max: 2 });
  const finish = latch();
  await writ.runs.register(plan as never);
  const working = act.handle(({ step, signal }) =>
    step?.stepId === 'first'
      ? Promise.race([
          finish.opened,
          new Promise((_, stop) => signal.addEventListener('abort', () => stop(signal.reason))),
        ])
      : undefined,
  );
  await writ.work([working], { poll: '20ms', onError: () => undefined });
  return {
    engine: new NativeEngine(pool, writ.runs, 'test'),
    writ,
    plan,
    finish: () => finish.open(),
    close: async () => {
      await pool.end();
      await db.drop();
    },
  };
});
