/** What the doctor finds of destinations, and when it is worth a word. */
import { afterEach, expect, test } from 'vitest';
import {
  type DestinationFacts,
  judgeDestinations as destinationsJudge,
  outboxChecks,
} from '../../src/doctor/outbox.js';
import { judgeAlerts as alertsJudge } from '../../src/doctor/runs.js';
import { defineJob } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { advises, found } from './advised.js';

const judgeAlerts = advises(alertsJudge);
const judgeDestinations = advises(destinationsJudge);

let db: TestDatabase | undefined;
afterEach(async () => {
  await db?.drop();
  db = undefined;
});

const well: DestinationFacts = {
  name: 'shop',
  bus: 'webhook',
  state: 'active',
  note: null,
  failures: 0,
  held: false,
  waits: false,
  dead: 0,
  behind_s: null,
  bound_s: 60,
};

test('a destination is worth a word when it is paused, behind, or has dead letters, and only then', () => {
  const judged = (facts: Partial<DestinationFacts>) =>
    judgeDestinations([{ ...well, ...facts }]).map(({ level, says }) => [level, says]);
  expect(judgeDestinations([])).toEqual([
    {
      check: 'destinations',
      level: 'ok',
      says: 'No destinations: nobody outside is told of events',
    },
  ]);
  expect(judged({})).toEqual([['ok', '1 destination, told of everything']]);
  expect(judged({ behind_s: 60 })).toEqual([['ok', expect.anything()]]);
  expect(judged({ behind_s: 61 })).toEqual([
    ['error', 'Nobody is telling shop anything, 61.0 s behind'],
  ]);
  expect(judged({ behind_s: 61, held: true })).toEqual([
    ['warning', 'shop is told of events more slowly than they happen, 61.0 s behind'],
  ]);
  expect(judged({ behind_s: 61, failures: 3, waits: true })).toEqual([
    ['warning', 'shop accepts nothing, in 3 calls, 61.0 s behind'],
  ]);
  expect(judged({ state: 'paused', note: 'It answered\nthat it is gone.', dead: 2 })).toEqual([
    ['warning', 'shop is paused: It answered that it is gone.'],
    ['warning', 'shop has 2 dead letters: it was not told of them'],
  ]);
  expect(judgeDestinations([{ ...well, bus: 'nats', behind_s: 61 }])[0]?.remedy).toContain(
    'writ relay --nats',
  );
});

test.each([
  ['DELIVERY_DEAD', 'writ events redeliver shop --all-dead'],
  ['DESTINATION_PAUSED', 'writ webhooks resume shop'],
  ['OUTBOX_LAG_HIGH', 'writ webhooks show shop'],
])('the alert %s says what to do about the destination', (code, remedy) => {
  const alert = {
    alert_id: 'a-1',
    code,
    severity: 'P2',
    subject: 'destination/shop',
    age_s: 1,
  } as const;
  expect(judgeAlerts({ alerts: [alert], standing: 1 })[0]).toMatchObject({
    level: 'warning',
    remedy: expect.stringContaining(remedy),
  });
});

test('with events to tell and no relay, the database gives the facts that this is judged by', async () => {
  db = await testDatabase();
  const made = db;
  const look = () => found(made.connectionString, outboxChecks.destinations);
  const writ = await made.connect();
  expect((await look())[0]).toMatchObject({
    level: 'ok',
    says: expect.stringContaining('No destinations'),
  });
  await writ.destinations.put('shop', {
    bus: 'webhook',
    config: { url: 'https://example.com', secrets: ['s'] },
  });
  await writ.enqueue(defineJob('greet'));
  expect((await look())[0]).toMatchObject({
    level: 'ok',
    says: '1 destination, told of everything',
  });
  await made.clock.advance('61s');
  expect(await look()).toMatchObject([
    {
      level: 'error',
      says: expect.stringMatching(/^Nobody is telling shop anything, 6\d\.\d s behind$/),
    },
  ]);
  await writ.destinations.pause('shop', { note: 'they move house' });
  expect(await look()).toMatchObject([
    { level: 'warning', says: expect.stringContaining('they move house') },
  ]);
});
