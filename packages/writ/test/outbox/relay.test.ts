/**
 * What a relay promises: everything, in the order of each run, and more than once only where
 * something broke.
 */
import { expect, test } from 'vitest';
import { onFaultPoint } from '../../src/testing/index.js';
import { session, until } from '../races/sessions.js';
import { inOrder } from './events.js';
import { MemoryBus, scene } from './scene.js';

const s = scene();
const types = ['dot.run.*'];
// A new one begins where no transaction is open, in any database of the server: it may be told a
// little of what was before.
const put = async (
  name = 'd',
  more: { bus?: 'webhook' | 'nats'; types?: string[]; tenant?: string } = {},
) => {
  await s.settled();
  return s.writ.destinations.put(name, { bus: 'webhook', types, config: {}, ...more });
};
const numbersOf = (run: string, bus = s.bus) =>
  bus.accepted
    .filter(({ partitionkey }) => partitionkey === run)
    .map(({ sequence }) => Number(sequence));
const destination = async (name = 'd') =>
  (await s.writ.destinations.list()).items.find((one) => one.name === name);
const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, n) => first + n);
const firstOf = async (run: string) =>
  Number(
    (
      await s.db.query('select max(run_seq) as n from writ_data.run_event where run_id = $1', [run])
    )[0]?.n,
  ) + 1;

// Order and failures
// -------------------------------------------------------------------------------------------------

test('the events of a run arrive in their order, however often some of them fail, and all of them arrive', async () => {
  const runs = await Promise.all(range(1, 10).map(() => s.run()));
  await put();
  await s.setting('outbox.delivery.backoff_ms', 20);
  const first = await firstOf(runs[0] as string);
  for (const _ of range(1, 5)) for (const run of runs) await s.append(run, 2);
  const failed = new Map<string, number>();
  s.bus.answer = ({ id, sequence }) => {
    const before = failed.get(id) ?? 0;
    if (Number(sequence) % 3 !== 0 || before === 2) return 'ok';
    failed.set(id, before + 1);
    return 'fail';
  };
  const relay = await s.relay({ batch: 7 });
  await until(async () => s.bus.accepted.length === 100);
  await relay.stop();
  for (const run of runs) expect(numbersOf(run)).toEqual(range(first, first + 9));
  expect(await s.undelivered()).toEqual([]);
  expect(new Set(s.bus.accepted.map(({ id }) => id)).size).toBe(100);
});

test('one event that fails does not keep other runs waiting, and those of its own run wait behind it', async () => {
  const [bad, good] = [await s.run(), await s.run()];
  await put();
  await s.setting('outbox.delivery.backoff_ms', 60_000); // so that nothing becomes due by itself
  const first = await firstOf(bad);
  await s.append(bad, 3);
  await s.append(good, 3);
  s.bus.answer = ({ partitionkey, sequence }) =>
    partitionkey === bad && Number(sequence) === first ? 'fail' : 'ok';
  await s.drain();
  expect(numbersOf(good)).toHaveLength(3);
  expect(numbersOf(bad)).toEqual([]);
  await s.append(bad);
  await s.drain();
  expect(
    (await s.undelivered()).map(({ run_seq, attempts, due_ms }) => [
      run_seq,
      attempts,
      due_ms === null,
    ]),
  ).toEqual([
    [first, 1, false],
    [first + 1, 0, true],
    [first + 2, 0, true],
    [first + 3, 0, true],
  ]);
  s.bus.answer = () => 'ok';
  await s.db.clock.advance('2m');
  await s.drain();
  expect(numbersOf(bad)).toEqual(range(first, first + 3));
  expect(await s.undelivered()).toEqual([]);
});

test('waits between tries grow, are never the same, and end at a dead letter with an alert, after which the run goes on', async () => {
  const [bad, good] = [await s.run(), await s.run()];
  await put();
  await s.setting('outbox.delivery.backoff_ms', 60_000);
  await s.setting('outbox.delivery.backoff_max_ms', 36_000_000);
  await s.setting('outbox.delivery.attempts', 6);
  const first = await firstOf(bad);
  await s.append(bad, 2);
  s.bus.answer = ({ partitionkey, sequence }) =>
    partitionkey === bad && Number(sequence) === first ? 'fail' : 'ok';
  const waits: number[] = [];
  for (let tries = 1; tries <= 6; tries++) {
    await s.append(good); // something else is accepted, so it is about this event
    await s.drain();
    const [head] = await s.undelivered();
    if (tries === 6) break;
    expect(head).toMatchObject({ run_seq: first, attempts: tries, dead: false });
    waits.push(head?.due_ms ?? 0);
    await s.db.clock.advance(`${Math.max(1, head?.due_ms ?? 0) + 5}ms`);
  }
  for (const [n, wait] of waits.entries()) {
    expect(wait).toBeGreaterThan(60_000 * 2 ** n * 0.5 - 5_000);
    expect(wait).toBeLessThanOrEqual(60_000 * 2 ** n);
  }
  expect(numbersOf(bad)).toEqual([first + 1]);
  expect((await s.writ.destinations.deadLetters('d')).items).toMatchObject([
    { runSeq: first, stream: bad, attempts: 6, status: 500 },
  ]);
  expect(await s.alerts()).toContain('DELIVERY_DEAD');
  expect(await destination()).toMatchObject({ state: 'active', dead: 1, undelivered: 0 });

  s.bus.answer = () => 'ok';
  expect(await s.writ.destinations.redeliver('d')).toEqual({ redelivered: 1 });
  await s.drain();
  expect(numbersOf(bad)).toEqual([first + 1, first]);
  expect((await s.writ.destinations.deadLetters('d')).items).toEqual([]);
  expect(await s.alerts()).not.toContain('DELIVERY_DEAD');
});

test('where one try is allowed there is no second', async () => {
  const [bad, good] = [await s.run(), await s.run()];
  await put();
  await s.setting('outbox.delivery.attempts', 1);
  await s.append(bad);
  await s.append(good);
  s.bus.answer = ({ partitionkey }) => (partitionkey === bad ? 'fail' : 'ok');
  await s.drain();
  expect((await s.undelivered()).map(({ dead }) => dead)).toEqual([true]);
  expect(s.bus.arrived.filter(({ partitionkey }) => partitionkey === bad)).toHaveLength(1);
});

test('what is refused for good is a dead letter at once', async () => {
  const [bad, good] = [await s.run(), await s.run()];
  await put();
  const first = await firstOf(bad);
  await s.append(bad, 3);
  await s.append(good);
  s.bus.answer = ({ partitionkey, sequence }) =>
    partitionkey === bad && Number(sequence) === first ? 'refuse' : 'ok';
  await s.drain();
  expect(numbersOf(bad)).toEqual([first + 1, first + 2]);
  expect((await s.writ.destinations.deadLetters('d')).items).toMatchObject([
    { runSeq: first, attempts: 1, status: 400 },
  ]);
});

test('an event that nobody wants does not keep a quiet destination from what comes later', async () => {
  const [bad, good] = [await s.run(), await s.run()];
  await put();
  await s.setting('outbox.delivery.backoff_ms', 60_000); // so that nothing becomes due by itself
  await s.append(bad);
  s.bus.answer = ({ partitionkey }) => (partitionkey === bad ? 'fail' : 'ok');
  await s.drain(); // alone: as far as anybody can tell, the destination accepts nothing
  expect(await destination()).toMatchObject({ failures: 1 });
  await s.append(good, 3);
  await s.db.clock.advance('2m');
  await s.drain();
  expect(numbersOf(good)).toHaveLength(3);
  expect(await destination()).toMatchObject({ failures: 0 });
});

// Down and paused
// ----------------------------------------------------------------------------------------------------

test.each(['down', 'fail'] as const)(
  'a destination that is %s for an hour costs few rows and few calls, and nothing is dead or missing',
  async (answer) => {
    const runs = await Promise.all(range(1, 20).map(() => s.run()));
    await put('d', { bus: 'nats' }); // which is not paused
    const first = await firstOf(runs[0] as string);
    s.bus.answer = () => answer;
    for (let minute = 0; minute < 60; minute++) {
      for (const run of runs.slice(minute % 10, (minute % 10) + 2)) await s.append(run, 2);
      await s.drain({ batch: 10 });
      await s.db.clock.advance('1m');
    }
    expect(s.bus.calls).toBeLessThan(80);
    expect((await s.undelivered()).length).toBeLessThanOrEqual(answer === 'down' ? 0 : 40);
    expect((await s.writ.destinations.deadLetters('d')).items).toEqual([]);
    expect(s.bus.accepted).toEqual([]);
    s.bus.answer = () => 'ok';
    await s.db.clock.advance('10m');
    await s.drain({ batch: 10 });
    await s.db.clock.advance('10m');
    await s.drain({ batch: 10 });
    expect(new Set(s.bus.told).size).toBe(240);
    expect(s.bus.told).toHaveLength(240);
    for (const run of runs)
      expect(numbersOf(run)).toEqual(range(first, first + numbersOf(run).length - 1));
  },
);

test('a webhook that accepts nothing in so many calls is paused with an alert, told nothing, and resumed without loss', async () => {
  const runs = [await s.run(), await s.run()];
  await put();
  await s.setting('outbox.delivery.backoff_ms', 60_000); // so that nothing becomes due by itself
  await s.setting('outbox.pause_after', 4);
  for (const run of runs) await s.append(run, 3);
  s.bus.answer = () => 'down';
  for (let call = 1; call <= 4; call++) {
    expect(await destination()).toMatchObject({ state: 'active', failures: call - 1 });
    await s.drain();
    await s.db.clock.advance('10m');
  }
  expect(await destination()).toMatchObject({
    state: 'paused',
    note: 'It accepted nothing in 4 calls. The last time: refused',
  });
  expect(await s.alerts()).toContain('DESTINATION_PAUSED');
  s.bus.answer = () => 'ok';
  await s.db.clock.advance('1h');
  await s.append(runs[0] as string);
  await s.drain();
  expect(s.bus.accepted).toEqual([]);
  await s.writ.destinations.resume('d');
  expect(await s.alerts()).not.toContain('DESTINATION_PAUSED');
  await s.drain();
  expect(s.bus.told).toHaveLength(7);
  expect(inOrder(s.bus.accepted)).toBe(true);
});

test.each([
  ['throws what is no error', () => Promise.reject(Object.create(null)), 'Error'],
  ['does not answer for each event', () => Promise.resolve([]), 'TypeError'],
])(
  'a bus that %s accepts nothing, and keeps no other destination waiting',
  async (_, publish, name) => {
    const run = await s.run();
    await put('bad');
    await put('good');
    const first = await firstOf(run);
    await s.append(run, 3);
    const broken = Object.assign(new MemoryBus(), { publish });
    const buses = { webhook: (to: { name: string }) => (to.name === 'bad' ? broken : s.bus) };
    for (const failures of [1, 2]) {
      await s.drain({ buses, concurrency: 1 });
      expect(await destination('bad')).toMatchObject({ failures, note: `the bus failed: ${name}` });
      await s.db.clock.advance('10m');
    }
    expect(numbersOf(run)).toEqual(range(first, first + 2));
    await s.drain();
    expect(numbersOf(run)).toHaveLength(6);
    expect(await s.undelivered()).toEqual([]);
  },
);

test('a webhook that says it is gone is paused at once', async () => {
  await put();
  await s.append(await s.run());
  s.bus.answer = () => 'gone';
  await s.drain();
  expect(await destination()).toMatchObject({
    state: 'paused',
    note: 'It answered that it is gone.',
  });
});

test('a destination that waits is not looked at before its time', async () => {
  const run = await s.run();
  await put();
  await s.append(run);
  await s.append(await s.run());
  s.bus.answer = () => 'fail';
  await s.drain();
  await s.db.query(`update writ_data.undelivered set due_at = writ.now() - interval '1 hour'`);
  await s.db.query(`update writ_data.destination set retry_at = writ.now() + interval '1 minute'`);
  const { idle, next_ms } = await s.take();
  expect(idle).toBe(true);
  expect(next_ms).toBeGreaterThan(50_000);
});

test('a slow destination has no more written down for it than one turn gives it', async () => {
  const runs = await Promise.all(range(1, 8).map(() => s.run()));
  await put();
  for (const run of runs) for (const _ of range(1, 4)) await s.append(run);
  // It takes one event in a turn, and the rest of the turn has to wait.
  let room = 0;
  s.bus.answer = () => (room-- > 0 ? 'ok' : 'down');
  for (let turn = 0; turn < 6; turn++) {
    room = 1;
    await s.db.clock.advance('10m');
    await s.drain({ batch: 4 });
    expect((await s.undelivered()).length).toBeLessThanOrEqual(8);
  }
  room = 1000;
  await s.db.clock.advance('10m');
  await s.drain({ batch: 4 });
  expect(s.bus.told).toHaveLength(32);
  expect(inOrder(s.bus.accepted)).toBe(true);
});

test('a relay that is stopped before anything was accepted writes nothing down', async () => {
  await put();
  for (const _ of range(1, 5)) await s.append(await s.run());
  s.bus.answer = () => 'hang';
  const relay = await s.relay({ concurrency: 1 });
  await until(async () => s.bus.arrived.length > 0);
  await relay.stop();
  expect(await s.undelivered()).toEqual([]);
  s.bus.answer = () => 'ok';
  await s.drain();
  expect(s.bus.told.length).toBeGreaterThanOrEqual(5);
});

test('a destination that does not answer within the turn does not keep the turn', async () => {
  await put();
  await s.setting('outbox.turn_sec', 1);
  await s.append(await s.run());
  s.bus.answer = () => 'hang';
  const relay = await s.relay({ concurrency: 1 });
  await until(async () => ((await destination())?.failures ?? 0) > 0);
  s.bus.answer = () => 'ok';
  await until(async () => s.bus.accepted.length > 0);
  await relay.stop();
  expect(await destination()).toMatchObject({ failures: 0, undelivered: 0 });
});

// Replays
// ------------------------------------------------------------------------------------------------------------

test('a replay since a moment tells it all once more with the same ids, also while events fail and while a relay has the turn', async () => {
  const [bad, good] = [await s.run(), await s.run()];
  await put();
  await s.setting('outbox.delivery.backoff_ms', 60_000); // so that nothing becomes due by itself
  const began = new Date();
  const first = await firstOf(bad);
  for (const _ of range(1, 3)) {
    await s.append(bad);
    await s.append(good);
  }
  s.bus.answer = ({ partitionkey, sequence }) =>
    partitionkey === bad && Number(sequence) === first + 1 ? 'fail' : 'ok';
  await s.drain();
  expect(numbersOf(bad)).toEqual([first]);
  // While what fails is not due: it keeps its turn.
  await s.writ.destinations.redeliver('d', { since: new Date(began.getTime() - 1000) });
  await s.drain();
  expect(
    (await s.undelivered()).filter(({ due_ms }) => due_ms !== null).map(({ run_seq }) => run_seq),
  ).toEqual([first + 1]);
  // While it is due at the same time.
  await s.writ.destinations.redeliver('d', { since: new Date(began.getTime() - 1000) });
  await s.db.clock.advance('2m');
  s.bus.answer = () => 'ok';
  let replays = 0;
  onFaultPoint(async (point) => {
    if (point === 'relay_sent' && replays++ === 0)
      await s.writ.destinations.redeliver('d', { since: new Date(began.getTime() - 1000) });
  });
  await s.drain();
  expect(await s.undelivered()).toEqual([]);
  const ids = new Map(
    s.bus.accepted.map(({ id, partitionkey, sequence }) => [
      `${partitionkey}/${Number(sequence)}`,
      id,
    ]),
  );
  expect(new Set(s.bus.accepted.map(({ id }) => id)).size).toBe(ids.size);
  for (const seq of range(first, first + 2)) {
    // Once at first, once by each replay in which nothing of its run was in the way.
    expect(numbersOf(good).filter((one) => one === seq).length).toBeGreaterThanOrEqual(4);
    expect(numbersOf(bad)).toContain(seq);
  }
});

test('a replay tells also of a transaction that was open at that moment', async () => {
  const run = await s.run();
  await put();
  const late = await session(s.db);
  await late.query('begin');
  await late.query('select pg_current_xact_id()');
  await s.append(run);
  await new Promise((resume) => setTimeout(resume, 5));
  const since = new Date();
  await new Promise((resume) => setTimeout(resume, 5));
  const other = await s.run();
  await s.append(other, 1, late);
  await late.query('commit');
  await late.end();
  await s.drain();
  const told = s.bus.told.length;
  await s.writ.destinations.redeliver('d', { since: since });
  await s.drain();
  expect(s.bus.accepted.slice(told).map(({ partitionkey }) => partitionkey)).toContain(other);
});

// Several relays, and relays that die
// -------------------------------------------------------------------------------

test('two relays of four loops share the destinations, and nothing is told twice', async () => {
  const runs = await Promise.all(range(1, 12).map(() => s.run()));
  for (const name of ['a', 'b', 'c']) await put(name);
  const first = await firstOf(runs[0] as string);
  const buses = new Map(['a', 'b', 'c'].map((name) => [name, new MemoryBus()]));
  const other = await s.db.connect();
  const options = {
    buses: { webhook: ({ name }: { name: string }) => buses.get(name) as MemoryBus },
    concurrency: 4,
    batch: 5,
  };
  const relays = [
    await s.relay(options),
    await other.relay({ ...options, onError: () => undefined }),
  ];
  for (const _ of range(1, 10)) await Promise.all(runs.map((run) => s.append(run, 2)));
  await until(async () => [...buses.values()].every((bus) => bus.accepted.length >= 240));
  await Promise.all(relays.map((relay) => relay.stop()));
  for (const bus of buses.values()) {
    expect(bus.told).toHaveLength(240);
    for (const run of runs) expect(numbersOf(run, bus)).toEqual(range(first, first + 19));
  }
});

test.each(['relay_taken', 'relay_sent', 'relay_told'] as const)(
  'a relay that dies at %s leaves a turn that ends, and repeats with the same ids only',
  async (point) => {
    const runs = [await s.run(), await s.run()];
    await put();
    for (const run of runs) await s.append(run, 3);
    const doomed = await s.db.connect();
    let bury: (error: Error) => void = () => undefined;
    const buried = new Promise<void>((_, reject) => {
      bury = reject;
    });
    const reached = new Promise<void>((resolve) =>
      onFaultPoint((at) => {
        if (at !== point) return;
        resolve();
        return buried; // it does not go on, as one that was killed
      }),
    );
    const dead = await doomed.relay({
      buses: { webhook: () => s.bus },
      concurrency: 1,
      onError: () => undefined,
    });
    await reached;
    if (point === 'relay_told')
      await until(async () => (await s.db.query(`select from writ_data.delivery`)).length === 6);
    onFaultPoint(undefined);
    const before = s.bus.told.length;
    await s.append(runs[0] as string);
    const relay = await s.relay({ concurrency: 1 });
    if (point !== 'relay_told') {
      expect((await s.take()).idle).toBe(true);
      expect(s.bus.told.length).toBe(before);
      await s.db.clock.advance('61s');
    }
    await until(
      async () => new Set(s.bus.told).size === 7 && (await destination())?.relay === null,
    );
    await relay.stop();
    const ended = dead.stop();
    bury(new Error('it is dead'));
    await ended;
    expect(s.bus.told).toHaveLength(point === 'relay_sent' ? 13 : 7);
    expect(new Set(s.bus.accepted.map(({ id }) => id)).size).toBe(7);
    expect(await s.undelivered()).toEqual([]);
  },
);

test('one whose turn is over is not heard', async () => {
  const run = await s.run();
  await put();
  await s.append(run);
  const work = await s.take('first');
  await s.db.clock.advance('61s');
  expect((await s.take('second')).destination).toBe('d');
  const [row] = await s.db.query(`select writ.fn_outbox_done('d', $1, true, '[]') as answer`, [
    work.turn,
  ]);
  expect(row?.answer).toMatchObject({ refused: true, reason: 'not_the_relay' });
});
