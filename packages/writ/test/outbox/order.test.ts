/** The order of a run is kept whatever order its transactions came in. */
import { expect, test } from 'vitest';
import { session, until } from '../races/sessions.js';
import { asIfRestored, transactionsAhead } from '../restored.js';
import { scene } from './scene.js';

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
const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, n) => first + n);
const firstOf = async (run: string) =>
  Number(
    (
      await s.db.query('select max(run_seq) as n from writ_data.run_event where run_id = $1', [run])
    )[0]?.n,
  ) + 1;

test.each([1, 2, 3, 200])(
  'two transactions that get to a run in another order than to their numbers are told in the order of the run, %i calls at a time',
  async (batch) => {
    const [run, other] = [await s.run(), await s.run()];
    await put();
    const first = await firstOf(run);
    const [early, early2] = [await session(s.db), await session(s.db)];
    for (const one of [early, early2]) {
      await one.query('begin');
      await one.query('select pg_current_xact_id()'); // it has its number, as after any write
    }
    await s.append(run); // first, by a later number
    await s.append(other);
    await s.append(run);
    await s.append(run, 1, early);
    await early.query('commit');
    await s.append(run); // between them
    await s.append(run, 1, early2);
    const holder = await session(s.db); // what is behind this one is hidden while it is open
    await holder.query('begin');
    await holder.query('select pg_current_xact_id()');
    await early2.query('commit');
    await s.append(run);
    await s.drain({ batch });
    await holder.query('rollback');
    await s.drain({ batch });
    const seen: number[] = [];
    for (const seq of numbersOf(run)) if (!seen.includes(seq)) seen.push(seq);
    expect(seen).toEqual(range(first, first + 5));
    await Promise.all([early.end(), early2.end(), holder.end()]);
  },
);

test('the order of a run holds also for a destination that wants some of its events only', async () => {
  const run = await s.run();
  await put('d', { types: ['dot.run.StepCompleted'] });
  const first = await firstOf(run);
  const [a, b] = [await session(s.db), await session(s.db)];
  for (const one of [a, b]) {
    await one.query('begin');
    await one.query('select pg_current_xact_id()');
  }
  await s.append(run);
  await s.append(run, 1, a, 'StepStarted'); // not wanted, and between them
  await a.query('commit');
  await s.append(run, 1, b);
  await b.query('commit');
  await s.drain({ batch: 1 });
  const seen: number[] = [];
  for (const seq of numbersOf(run)) if (!seen.includes(seq)) seen.push(seq);
  expect(seen).toEqual([first, first + 2]);
  await Promise.all([a.end(), b.end()]);
});

test('a transaction that commits late is not skipped', async () => {
  const [run, other] = [await s.run(), await s.run()];
  await put();
  const late = await session(s.db);
  await late.query('begin');
  await s.append(run, 1, late);
  await s.append(other);
  const relay = await s.relay();
  await s.append(other);
  await new Promise((resume) => setTimeout(resume, 100));
  await late.query('commit');
  await until(async () => s.bus.accepted.length === 3);
  await relay.stop();
  expect(numbersOf(run)).toHaveLength(1);
  expect(s.bus.told).toHaveLength(3);
  await late.end();
});

const restored = () => asIfRestored((sql) => s.db.query(sql));

test('after a dump was restored into another server, what was not told is, and what happens there', async () => {
  const run = await s.run();
  await put();
  const first = await firstOf(run);
  await s.append(run, 2);
  await s.settled();
  await s.drain();
  await s.append(run); // recorded before the dump, and not told
  await restored();
  await s.append(run, 2);
  const relay = await s.relay({ concurrency: 1 });
  await until(() => numbersOf(run).includes(first + 4));
  await s.append(run);
  await until(() => numbersOf(run).includes(first + 5));
  await relay.stop();
  expect([...new Set(numbersOf(run))]).toEqual(range(first, first + 5));
});

test('a stream that is followed from before such a restore goes on too', async () => {
  const run = await s.run();
  await s.append(run, 2);
  const upToNow = async (after: string) => {
    await s.settled();
    const seen: { id: string; number: number; position: string }[] = [];
    for await (const { event, position } of s.writ.events({ types, after, untilNow: true }))
      seen.push({ id: event.id, number: Number(event.sequence), position });
    return seen;
  };
  const before = await upToNow('beginning');
  const [xid, batch] = String(before.at(-1)?.position).split('/');
  await restored();
  await s.append(run, 2);
  const after = await upToNow(`${BigInt(String(xid)) + transactionsAhead}/${batch}`);
  expect(after.map(({ number }) => number)).toEqual(range(before.length + 1, before.length + 2));
});
