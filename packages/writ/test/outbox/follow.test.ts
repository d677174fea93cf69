/** The stream in a process: whoever follows it and keeps positions misses nothing. */
import { expect, test } from 'vitest';
import type { Followed, FollowOptions } from '../../src/index.js';
import { session, until } from '../races/sessions.js';
import { scene } from './scene.js';

const s = scene();

async function upToNow(options: FollowOptions = {}): Promise<Followed[]> {
  await s.settled();
  const seen: Followed[] = [];
  for await (const one of s.writ.events({ untilNow: true, types: ['dot.run.*'], ...options }))
    seen.push(one);
  return seen;
}
const idsOf = (seen: readonly Followed[]) => seen.map(({ event }) => event.id);

/** Follows in the background. */
function following(options: FollowOptions = {}) {
  const stop = new AbortController();
  const seen: Followed[] = [];
  const ended = (async () => {
    for await (const one of s.writ.events({
      types: ['dot.run.*'],
      signal: stop.signal,
      ...options,
    }))
      seen.push(one);
  })();
  return { seen, ended, stop: () => stop.abort() };
}

test('from the beginning until now there is everything, in the order of each run', async () => {
  const runs = [await s.run(), await s.run()];
  for (let n = 0; n < 3; n++) for (const run of runs) await s.append(run);
  const seen = await upToNow({ after: 'beginning' });
  const [count] = await s.db.query('select count(*)::integer as n from writ_data.run_event');
  expect(seen).toHaveLength(Number(count?.n));
  expect(new Set(idsOf(seen)).size).toBe(seen.length);
  for (const run of runs) {
    const numbers = seen
      .filter(({ event }) => event.partitionkey === run)
      .map(({ event }) => Number(event.sequence));
    expect(numbers).toEqual(numbers.map((_, n) => n + 1));
  }
});

test('without a position it begins now', async () => {
  const run = await s.run();
  expect(await upToNow()).toEqual([]);
  const follower = following();
  await until(async () => {
    await s.append(run);
    return follower.seen.length > 0;
  });
  follower.stop();
  await follower.ended;
  expect(Number(follower.seen[0]?.event.sequence)).toBeGreaterThan(1);
});

test('whoever goes on from any position misses nothing, and what comes again has its id', async () => {
  const runs = [await s.run(), await s.run()];
  for (let n = 0; n < 4; n++) for (const run of runs) await s.append(run, 2);
  const all = await upToNow({ after: 'beginning' });
  for (const [n, { position }] of all.entries()) {
    const rest = idsOf(await upToNow({ after: position }));
    const missed = idsOf(all)
      .slice(n + 1)
      .filter((id) => !rest.includes(id));
    expect(missed).toEqual([]);
    expect(rest.every((id) => idsOf(all).includes(id))).toBe(true);
  }
  expect(await upToNow({ after: all.at(-1)?.position as string })).toEqual([]);
});

test('it waits for what comes, and an abort ends it, also while it waits', async () => {
  const run = await s.run();
  const follower = following({ after: 'beginning' });
  await until(async () => follower.seen.length > 0);
  const before = follower.seen.length;
  await s.append(run, 2);
  await until(async () => follower.seen.length === before + 2);
  follower.stop();
  await follower.ended;
  const aborted = following({ signal: AbortSignal.abort() });
  await aborted.ended;
  expect(aborted.seen).toEqual([]);
});

test('connections that are cut under it are made again, and nothing is missing', async () => {
  const run = await s.run();
  const follower = following({ after: 'beginning' });
  await until(async () => follower.seen.length > 0);
  const before = follower.seen.length;
  for (let n = 0; n < 3; n++) {
    await s.db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'writ%'`,
    );
    await s.append(run);
  }
  await until(async () => new Set(idsOf(follower.seen)).size === before + 3);
  follower.stop();
  await follower.ended;
});

test('a transaction that commits late is not skipped, and what is behind it waits', async () => {
  const [run, other] = [await s.run(), await s.run()];
  const { position } = (await upToNow({ after: 'beginning' })).at(-1) as Followed;
  const late = await session(s.db);
  await late.query('begin');
  await s.append(run, 1, late);
  await s.append(other);
  expect(await upToNow({ after: position })).toEqual([]);
  await late.query('commit');
  expect((await upToNow({ after: position })).map(({ event }) => event.partitionkey)).toEqual([
    run,
    other,
  ]);
  await late.end();
});

test('one tenant is not told of another', async () => {
  const [acme, globex] = [await s.run('acme'), await s.run('globex')];
  const subjects = (seen: readonly Followed[]) =>
    new Set(seen.map(({ event }) => event.partitionkey));
  expect(subjects(await upToNow({ after: 'beginning', tenant: 'acme' }))).toEqual(new Set([acme]));
  expect(subjects(await upToNow({ after: 'beginning' }))).toEqual(new Set([acme, globex]));
  const one = await session(s.db);
  await one.query('begin');
  await one.query(`set local writ.tenant = 'globex'`);
  const answer = await one.gate(`fn_outbox_read('beginning', '{dot.*}')`);
  const tenants = (answer.events as unknown[][]).map(([, , , tenant]) => tenant);
  expect(new Set(tenants)).toEqual(new Set(['globex']));
  expect(await one.gate(`fn_outbox_read('beginning', '{dot.*}', 'acme')`)).toMatchObject({
    refused: true,
    reason: 'TENANT_ACCESS_DENIED',
  });
  await one.query('rollback');
  await one.end();
});

test('a type is itself, and with a star the beginning of types; _ and % are letters like others', async () => {
  await s.run();
  const types = async (...wanted: string[]) =>
    new Set((await upToNow({ after: 'beginning', types: wanted })).map(({ event }) => event.type));
  expect(await types('dot.run.RunStarted')).toEqual(new Set(['dot.run.RunStarted']));
  expect(await types('dot.run.Run*')).toEqual(new Set(['dot.run.RunStarted']));
  expect((await types('dot.*')).size).toBeGreaterThan(1);
  for (const none of [
    'dot.run.RunStarte_',
    'dot_run.RunStarted',
    'dot.run.Run%',
    '%',
    'run.*',
    'dot.run.RunStarted.',
  ])
    expect(await types(none)).toEqual(new Set());
});

test('what is no position is said to be none', async () => {
  await expect(upToNow({ after: 'somewhere' })).rejects.toThrow('is not a position');
});
