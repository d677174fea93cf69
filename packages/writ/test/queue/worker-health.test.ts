/** What a worker answers to the probes of an orchestrator. */
import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';

let db: TestDatabase;
let writ: Writ;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
});
afterEach(() => db.drop());

const patient = { timeout: 20_000, interval: 20 };

test('a worker whose look stands still is not live, and is live again when the look goes on', async () => {
  const worker = await writ.work([], { stall: '300ms', poll: '50ms' });
  await vi.waitFor(() => expect(worker.health()).toEqual({ live: true, ready: true }), patient);

  const blocker = new pg.Client({ connectionString: db.connectionString });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query('lock table writ_data.dot_config in access exclusive mode');
  await vi.waitFor(() => expect(worker.health().live).toBe(false), patient);
  await blocker.query('rollback');
  await blocker.end();
  await vi.waitFor(() => expect(worker.health()).toEqual({ live: true, ready: true }), patient);

  await worker.stop();
  expect(worker.health().ready).toBe(false);
});
