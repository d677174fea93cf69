/**
 * The numbers of the specification are those that a new installation goes by, and those that the
 * code repeats are the same.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { takenAnswer } from '../../src/governor/http/answers.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { usualBounds } from '../../src/testing/simulation.js';
import { Governed } from './governed.js';

let db: TestDatabase;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** What every governor goes by. */
const ofGovernors = {
  boot_ms: 30 * second,
  action_ms: 500,
  // Nobody has specified it.
  rollback_ms: 30 * second,
  attempts: 3,
  recheck_ms: 30 * second,
  recovery_ms: 2 * minute,
  recovery_max_ms: hour,
  backoff_ms: [10 * second, 30 * second, 60 * second, 5 * minute],
  storm_limit: 100,
  storm_window_ms: 60 * second,
  storm_every_ms: 10 * second,
  storm_retry_ms: 30 * second,
  capacity: 1_000,
};

/** What whoever drives goes by. */
const ofHosts = {
  receipt_slo_ms: 50,
  transition_ms: 50,
  entitlement_ms: 200,
  policy_ms: 300,
  ping_ms: second,
  ping_every_ms: 60 * second,
  crashes: 10,
};

const settings = async () =>
  Object.fromEntries(
    (await db.query("select key, value from writ_data.dot_config where key like 'governor.%'")).map(
      ({ key, value }) => [String(key).replace('governor.', ''), value],
    ),
  );

test('a new installation goes by the numbers of the specification, and has no others', async () => {
  expect(await settings()).toEqual({ ...ofGovernors, ...ofHosts, 'retention.events_days': 365 });
});

test('a new governor is given all of its numbers', async () => {
  const writ = await db.connect();
  await writ.governor({ tenant: 'acme' });
  expect(
    await db.query("select content -> 'bounds' as bounds from writ_data.governor_mail"),
  ).toEqual([{ bounds: ofGovernors }]);
});

test('a governor in memory goes by the same, and so do those of the tests but for the time that undoing has', () => {
  expect(usualBounds).toEqual(ofGovernors);
  expect(Governed.create().data?.bounds).toEqual({ ...ofGovernors, rollback_ms: 5_000 });
});

test('a sender is asked to send again when the receipt of the storm says so', () => {
  const { status, headers, body } = takenAnswer('request', {
    status: 'buffered',
    arrival_seq: 101,
  });
  const retry_after = ofGovernors.storm_retry_ms / second;
  expect([status, headers, body]).toMatchObject([
    429,
    { 'retry-after': String(retry_after) },
    { status: 'buffered', retry_after },
  ]);
});
