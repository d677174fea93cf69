/** The outbox against a relay that lies: it moves no position past the record, and plants no event of another tenant. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { defineJob, definePlan, type Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { until } from '../races/sessions.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let writ: Writ;
let engine: Login;
const plan = definePlan<unknown>('one', { version: '1' }, (p) =>
  p.step('act', defineJob<unknown>('act')),
);
beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  engine = await login(db, ['writ_engine']);
  await db.query(
    `select writ.fn_destination_put('hook', 'webhook', '{dot.run.*}', 'acme', '{}', null, 'test')`,
  );
});
afterEach(async () => {
  await engine.end();
  await db.drop();
});

interface Work {
  readonly turn?: string;
  readonly events: [id: string, type: string, subject: string][];
}
async function taken(): Promise<Work> {
  let work: Work | undefined;
  await until(async () => {
    const answer = (await engine.call('fn_outbox_take', {
      relay: 'mallory',
      buses: ['webhook'],
    })) as unknown as Work;
    work = answer;
    return answer.turn !== undefined && answer.events.length > 0;
  });
  return work as Work;
}
const done = (turn: unknown, outcomes: unknown[] = [], moves = true) =>
  engine.call('fn_outbox_done', {
    destination: 'hook',
    turn,
    moves,
    outcomes: JSON.stringify(outcomes),
  });

test('a relay that has not the turn is not heard, though it knows the name of the one that has', async () => {
  await writ.start(plan, {}, { tenant: 'acme' });
  await taken();
  for (const turn of [null, uuidv7()])
    expect(await done(turn)).toMatchObject({ refused: true, reason: 'not_the_relay' });
});

test('a turn ends where the record gave it, and what comes after it is told', async () => {
  await writ.start(plan, {}, { tenant: 'acme' });
  const { turn } = await taken();
  expect(await done(turn)).toMatchObject({ delivered: 0 });
  expect(await done(turn)).toMatchObject({ reason: 'not_the_relay' });
  const { runId } = await writ.start(plan, {}, { tenant: 'acme' });
  expect((await taken()).events.map(([, , subject]) => subject)).toContain(runId);
});

test('an event of another tenant cannot be planted among those that are told again', async () => {
  const other = await writ.start(plan, {}, { tenant: 'globex' });
  await writ.start(plan, {}, { tenant: 'acme' });
  const { turn, events } = await taken();
  const [foreign] = await db.query(
    `select id from writ.event_outbox where event_type = 'dot.run.RunStarted' and event_subject_ref = $1`,
    [other.runId],
  );
  expect(foreign).toBeDefined();
  const planted = [foreign?.id, uuidv7()];
  await done(turn, [
    ...planted.map((id) => [id, uuidv7(), 1, 'failed', 1, 500, 'no', true, 1e300]),
    [events[0]?.[0], uuidv7(), 9, 'failed', -5, 99999, 'no', true, 1e300],
  ]);
  const kept = await db.query(
    'select event_id, stream, due_at < writ.now() + interval $$2 days$$ as soon from writ_data.undelivered',
  );
  expect(kept).toEqual([{ event_id: events[0]?.[0], stream: events[0]?.[2], soon: true }]);
});
