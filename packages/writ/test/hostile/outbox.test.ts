/**
 * The outbox against a relay that lies: it moves no position past the record, and plants no event
 * of another tenant.
 */
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

test('fn_outbox_done refuses a relay without the turn, even under the name of the relay that has it', async () => {
  await writ.start(plan, {}, { tenant: 'acme' });
  await taken();
  for (const turn of [null, uuidv7()])
    expect(await done(turn)).toMatchObject({ refused: true, reason: 'not_the_relay' });
});

test('a turn ends where fn_outbox_take ended it, and the next turn delivers later events', async () => {
  await writ.start(plan, {}, { tenant: 'acme' });
  const { turn } = await taken();
  expect(await done(turn)).toMatchObject({ delivered: 0 });
  expect(await done(turn)).toMatchObject({ reason: 'not_the_relay' });
  const { runId } = await writ.start(plan, {}, { tenant: 'acme' });
  expect((await taken()).events.map(([, , subject]) => subject)).toContain(runId);
});

test('a relay cannot plant an event of another tenant among the retries of a destination', async () => {
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

const put = (as: Pick<Login, 'call'>, name: string, more: Record<string, unknown> = {}) =>
  as.call('fn_destination_put', {
    name,
    bus: 'webhook',
    types: ['dot.run.*'],
    tenant_id: 'acme',
    config: '{}',
    since: null,
    actor: 'ada',
    ...more,
  });

async function withAdmin<T>(
  tenant: string | undefined,
  act: (admin: Login) => Promise<T>,
): Promise<T> {
  const admin = await login(
    db,
    ['writ_admin'],
    tenant === undefined ? undefined : { tenant_id: tenant },
  );
  try {
    return await act(admin);
  } finally {
    await admin.end();
  }
}

test('a destination whose events cannot be read is paused with an alert, and the others receive theirs', async () => {
  await db.query(
    `select writ.fn_destination_put('bad', 'webhook', '{system.*}', null, '{}', null, 'test')`,
  );
  // its turn is first
  await db.query(`update writ_data.destination set moved_at = '-infinity' where name = 'bad'`);
  await db.query(
    `insert into writ_data.event_batch (batch_id, at, command, actor, types, first, last, subjects)
     values ((left(writ_data.uuidv7()::text, 30) || '000000')::uuid, 'infinity', 'x', 'x', '{system.broken}', '{1}', '{1}', array[gen_random_uuid()])`,
  );
  const { runId } = await writ.start(plan, {}, { tenant: 'acme' });
  expect((await taken()).events.map(([, , subject]) => subject)).toContain(runId);
  await until(async () => {
    await engine.call('fn_outbox_take', { relay: 'another', buses: ['webhook'] });
    return (
      (await db.query(`select from writ.destination where name = 'bad' and state = 'paused'`))
        .length === 1
    );
  });
  expect(
    await db.query(`select subject from writ.alert where code = 'DESTINATION_PAUSED'`),
  ).toEqual([{ subject: 'destination/bad' }]);
});

test.each<[string, Record<string, unknown>]>([
  [
    'a secret in its config',
    {
      config: JSON.stringify({
        url: 'https://x.example',
        note: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      }),
    },
  ],
  ['a password in its address', { config: JSON.stringify({ url: 'https://ada:pw@x.example/' }) }],
  [
    'a password in the address of a server',
    { bus: 'nats', config: JSON.stringify({ servers: ['nats://a:b@x'], stream: 's' }) },
  ],
  ['a tenant of a megabyte', { tenant_id: 'x'.repeat(1_000_000) }],
  ['a tenant that is blank', { tenant_id: '' }],
  ['a time that never comes', { since: 'infinity' }],
  ['a time that never was', { since: '-infinity' }],
])('a destination with %s is refused', async (_, more) => {
  await withAdmin(undefined, async (admin) => {
    expect(await put(admin, 'new', more)).toMatchObject({ refused: true });
    expect(await db.query(`select from writ.destination where name = 'new'`)).toHaveLength(0);
  });
});

test('an administrator of a tenant can neither use another tenant’s secret nor reach the message bus', async () => {
  const config = (...secrets: string[]) => JSON.stringify({ url: 'https://x.example', secrets });
  await withAdmin(undefined, (admin) =>
    put(admin, 'theirs', { tenant_id: 'globex', config: config('globex-key') }),
  );
  await withAdmin('acme', async (admin) => {
    expect(await put(admin, 'mine', { config: config('globex-key') })).toMatchObject({
      refused: true,
      reason: 'TENANT_ACCESS_DENIED',
    });
    // A relay gives its own credentials to whatever server the config names.
    const nats = {
      bus: 'nats',
      config: JSON.stringify({ servers: ['nats://mallory.example'], stream: 's' }),
    };
    expect(await put(admin, 'mine', nats)).toMatchObject({
      refused: true,
      reason: 'TENANT_ACCESS_DENIED',
    });
    expect(await put(admin, 'mine', { config: config('acme-key') })).toEqual({
      name: 'mine',
      new: true,
    });
  });
});

test('a tenant may have a thousand destinations at most', async () => {
  await db.query(
    `insert into writ_data.destination (name, bus, tenant_id, types, config, position, put_by, put_at, moved_at)
     select 'many-' || n, 'webhook', 'acme', '{x}', '{}', writ_data.position_of('beginning'), 'test', now(), now() from generate_series(1, 999) n`,
  );
  await withAdmin('acme', async (admin) => {
    expect(await put(admin, 'one-more')).toMatchObject({
      refused: true,
      reason: 'invalid_argument',
    });
    expect(await put(admin, 'hook')).toEqual({ name: 'hook', new: false });
  });
});

test('a replay refuses an infinite time, accepts one before 1970, and is recorded with its login', async () => {
  await writ.start(plan, {}, { tenant: 'acme' });
  await done((await taken()).turn);
  await withAdmin('acme', async (admin) => {
    const replay = (since: string | null) =>
      admin.call('fn_outbox_replay', { name: 'hook', events: null, since, actor: 'ada' });
    for (const since of ['infinity', '-infinity'])
      expect(await replay(since)).toMatchObject({ reason: 'invalid_argument' });
    expect(await replay('1900-01-01')).toEqual({ replayed: 0 });
    expect((await taken()).events.length).toBeGreaterThan(0);
    expect(
      await db.query(
        `select actor, login from writ_data.event_batch where command = 'fn_outbox_replay'`,
      ),
    ).toEqual([{ actor: 'ada', login: admin.name }]);
  });
});

test('a tenant that takes over the name of a removed destination does not read its deliveries', async () => {
  await writ.start(plan, {}, { tenant: 'acme' });
  const { turn, events } = await taken();
  await done(turn, [[events[0]?.[0], null, null, 'ok', 1, 200]]);
  expect(
    await withAdmin('acme', (admin) => admin.query('select event_id from writ.delivery')),
  ).toHaveLength(1);
  await db.query(`select writ.fn_destination_set('hook', 'removed', null, 'test')`);
  await withAdmin('globex', async (admin) => {
    expect(await put(admin, 'hook', { tenant_id: 'globex' })).toEqual({ name: 'hook', new: true });
    expect(await admin.query('select event_id from writ.delivery')).toEqual([]);
  });
});

test('a relay cannot report more outcomes than a turn can have', async () => {
  await writ.start(plan, {}, { tenant: 'acme' });
  const { turn } = await taken();
  const many = Array.from({ length: 100_001 }, () => [uuidv7(), null, null, 'ok']);
  expect(await done(turn, many)).toMatchObject({ refused: true, reason: 'invalid_argument' });
});
