/** Destinations: what is taken and refused, whose they are, and what is kept for them. */
import { expect, test } from 'vitest';
import { session } from '../races/sessions.js';
import { scene } from './scene.js';

const s = scene();
// A new one begins where no transaction is open, in any database of the server: it may be told a
// little of what was before.
const put = async (
  name: string,
  more: { types?: string[]; tenant?: string; since?: Date; config?: Record<string, unknown> } = {},
) => {
  await s.settled();
  return s.writ.destinations.put(name, {
    bus: 'webhook',
    types: ['dot.run.*'],
    config: {},
    ...more,
  });
};
const codeOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );
/** Calls as whoever is bound to one tenant. */
async function as(tenant: string, sql: string): Promise<Record<string, unknown>[]> {
  const one = await session(s.db);
  try {
    await one.query('begin');
    await one.query(`select set_config('writ.tenant', $1, true)`, [tenant]);
    const rows = await one.query(sql);
    await one.query('commit');
    return rows;
  } finally {
    await one.end();
  }
}
const runs = () => new Set(s.bus.accepted.map(({ partitionkey }) => partitionkey));

test('where nothing is to be told, no relay is told to look again soon', async () => {
  expect(await s.take()).toEqual({ idle: true, next_ms: null });
});

test('one that is made is told what happens from then on, and one that is changed goes on where it was', async () => {
  const run = await s.run();
  expect(await put('d')).toEqual({ created: true });
  await s.append(run, 2);
  expect(await put('d', { config: { url: 'https://elsewhere.example' } })).toEqual({
    created: false,
  });
  await s.drain();
  expect(s.bus.accepted).toHaveLength(2);
});

test('with a moment it is told what has happened since, and never less than it would have been', async () => {
  const run = await s.run();
  const began = new Date();
  await put('d');
  await s.append(run, 2);
  await put('d', { since: new Date(Date.now() + 60_000) });
  await s.drain();
  expect(s.bus.accepted).toHaveLength(2);
  await put('d', { since: new Date(began.getTime() - 60_000) });
  await s.drain();
  expect(s.bus.accepted.length).toBeGreaterThanOrEqual(5);
  expect(new Set(s.bus.accepted.map(({ id }) => id)).size).toBe(s.bus.accepted.length - 2);
});

test.each([
  ['a name with a blank', { name: 'a b' }],
  ['a name that is too long', { name: 'a'.repeat(101) }],
  ['no name', { name: '' }],
  ['no types', { types: [] }],
  ['too many types', { types: Array.from({ length: 101 }, (_, n) => `dot.run.T${n}`) }],
  ['a type with a star in the middle', { types: ['dot.*.RunStarted'] }],
  ['an empty type', { types: [''] }],
  ['a config that is too long', { config: { url: 'x'.repeat(17_000) } }],
])(
  '%s is refused',
  async (_, {
    name = 'd',
    ...more
  }: { name?: string; types?: string[]; config?: Record<string, unknown> }) => {
    expect(await codeOf(put(name, more))).toBe('invalid_argument');
    expect((await s.writ.destinations.list()).items).toEqual([]);
  },
);

test.each(['secret', 'token', 'password'])(
  'a config with a %s in it, however deep, is refused; the names of secrets are not',
  async (key) => {
    expect(await codeOf(put('d', { config: { auth: [{ [key]: 'x' }] } }))).toBe(
      'forbidden_payload_key',
    );
    expect(
      await put('d', { config: { url: 'https://hooks.example', secrets: ['first'] } }),
    ).toEqual({ created: true });
  },
);

test('a bus that nobody knows, and a destination that is not there, are refused', async () => {
  expect(await codeOf(s.writ.destinations.put('d', { bus: 'pigeon' as 'nats', config: {} }))).toBe(
    'invalid_argument',
  );
  const { destinations } = s.writ;
  for (const attempt of [
    () => destinations.pause('d'),
    () => destinations.redeliver('d'),
    () => destinations.remove('d'),
  ])
    expect(await codeOf(attempt())).toBe('destination_not_found');
});

test('the destination of a tenant is told of nobody else', async () => {
  await put('d', { tenant: 'acme', types: ['*'] });
  const [mine, theirs] = [await s.run('acme'), await s.run('globex')];
  for (const run of [mine, theirs]) await s.append(run, 2);
  await s.drain();
  expect(new Set(s.bus.accepted.map(({ tenantid }) => tenantid))).toEqual(new Set(['acme']));
  expect(runs().has(mine)).toBe(true);
  expect(runs().has(theirs)).toBe(false);
});

test('whoever is bound to a tenant sees and changes its destinations only', async () => {
  await put('ours', { tenant: 'acme' });
  await put('theirs', { tenant: 'globex' });
  await put('everybody');
  const run = await s.run('globex');
  await s.append(run);
  await s.drain();
  expect(await as('acme', 'select name from writ.destination')).toEqual([{ name: 'ours' }]);
  expect(
    await as('acme', `select destination from writ.delivery where destination <> 'ours'`),
  ).toEqual([]);
  expect(await as('acme', 'select * from writ.undelivered')).toEqual([]);
  const refused = async (call: string) =>
    (await as('acme', `select writ.${call} as answer`))[0]?.answer;
  for (const name of ['theirs', 'everybody']) {
    const puts = await refused(
      `fn_destination_put('${name}', 'webhook', '{dot.*}', 'acme', '{}', null, 'mallory')`,
    );
    expect(puts).toMatchObject({ refused: true, reason: 'TENANT_ACCESS_DENIED' });
    for (const call of [
      `fn_destination_set('${name}', 'removed', null, 'mallory')`,
      `fn_outbox_replay('${name}', null, null, 'mallory')`,
    ])
      expect(await refused(call)).toMatchObject({ refused: true, reason: 'destination_not_found' });
  }
  expect(
    await refused(`fn_destination_put('more', 'webhook', '{dot.*}', null, '{}', null, 'mallory')`),
  ).toMatchObject({
    reason: 'TENANT_ACCESS_DENIED',
  });
  expect(await refused(`fn_outbox_take('mallory', '{webhook}')`)).toMatchObject({
    refused: true,
    reason: 'tenant_forbidden',
  });
  expect(
    (await s.writ.destinations.list()).items.map(({ name, tenant }) => [name, tenant]),
  ).toEqual([
    ['everybody', null],
    ['ours', 'acme'],
    ['theirs', 'globex'],
  ]);
});

test('a destination does not change hands: what waits for it is of its tenant', async () => {
  await put('d', { tenant: 'acme' });
  expect(await codeOf(put('d', { tenant: 'globex' }))).toBe('invalid_argument');
  expect(await codeOf(put('d'))).toBe('invalid_argument');
});

test('paused it is told nothing, and removed it takes its alerts with it', async () => {
  const [bad, good] = [await s.run(), await s.run()];
  await put('d');
  await s.writ.destinations.pause('d', { note: 'maintenance' });
  await s.append(bad);
  await s.append(good);
  await s.drain();
  expect(s.bus.arrived).toEqual([]);
  expect((await s.writ.destinations.list()).items).toMatchObject([
    { state: 'paused', note: 'maintenance' },
  ]);
  await s.writ.destinations.resume('d');
  s.bus.answer = ({ partitionkey }) => (partitionkey === bad ? 'refuse' : 'ok');
  await s.drain();
  expect(await s.alerts()).toContain('DELIVERY_DEAD');
  await s.writ.destinations.remove('d');
  expect(await s.alerts()).toEqual([]);
  expect(await s.undelivered()).toEqual([]);
});

test('what was sent is written down, and found', async () => {
  const [bad, good] = [await s.run(), await s.run()];
  await put('d');
  await s.append(bad);
  await s.append(good);
  s.bus.answer = ({ partitionkey }) => (partitionkey === bad ? 'fail' : 'ok');
  await s.drain();
  expect((await s.writ.destinations.deliveries('d', { failed: true })).items).toMatchObject([
    { ok: false, status: 500, attempt: 1 },
  ]);
  expect((await s.writ.destinations.deliveries('d')).items).toHaveLength(2);
});

// What is kept
// -------------------------------------------------------------------------------------------------------

/** A day of the record, forty days old, with one call in it. */
async function oldDay(): Promise<string> {
  const [row] = await s.db.query(
    `select writ_data.make_partition(t, (clock_timestamp() at time zone 'UTC')::date - 40), to_char((clock_timestamp() at time zone 'UTC')::date - 40, '_YYYYMMDD') as day from unnest('{event_batch,delivery}'::text[]) t`,
  );
  const day = String(row?.day);
  await s.db.query(
    `insert into writ_data.event_batch (batch_id, at, command, actor, types, first, last, subjects) select (left(writ_data.uuid_floor(t)::text, 30) || '000000')::uuid, t, 'test', 'test', '{dot.job.enqueued}', '{1}', '{1}', array[gen_random_uuid()]
     from (select clock_timestamp() - interval '40 days' as t) x`,
  );
  return day;
}
const retire = async () => {
  while (
    Number((await s.db.query(`select writ_data.retire_days('test', writ.now()) as n`))[0]?.n) > 0
  );
};
const exists = async (table: string) =>
  (await s.db.query(`select to_regclass($1) is not null as yes`, [`writ_data.${table}`]))[0]?.yes;

test('a day that a destination has not been told of is kept for it, and dropped when it has; days of the log of deliveries are dropped', async () => {
  await put('d', { types: ['*'] });
  await s.writ.destinations.pause('d');
  const day = await oldDay();
  await s.setting('queue.retention.record_sec', 86_400);
  await retire();
  expect([await exists(`event_batch${day}`), await exists(`delivery${day}`)]).toEqual([
    true,
    false,
  ]);
  await s.writ.destinations.resume('d');
  await s.drain();
  await retire();
  expect(await exists(`event_batch${day}`)).toBe(false);
});

test('a day of which an event is undelivered is kept', async () => {
  await put('d', { types: ['*'] });
  const day = await oldDay();
  s.bus.answer = ({ type }) => (type === 'dot.job.enqueued' ? 'fail' : 'ok');
  await s.append(await s.run());
  await s.drain();
  expect(await s.undelivered()).not.toEqual([]);
  await s.setting('queue.retention.record_sec', 86_400);
  await retire();
  expect(await exists(`event_batch${day}`)).toBe(true);
  await s.writ.destinations.remove('d');
  await retire();
  expect(await exists(`event_batch${day}`)).toBe(false);
});
