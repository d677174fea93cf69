/** A look of a worker has parts: one that fails stops no other. */
import { afterEach, expect, test } from 'vitest';
import type { PreparedPool } from '../../src/database/prepared.js';
import { defineJob, type Writ } from '../../src/index.js';
import type { EventReference } from '../../src/queue/consumers.js';
import { Clockwork } from '../../src/queue/worker/clockwork.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';

let db: TestDatabase | undefined;
afterEach(async () => {
  await db?.drop();
  db = undefined;
});

/** A clockwork whose gates answer nothing special, except that some calls fail. */
async function lookWith(fails: (call: string) => Error | undefined, unheard: string[] = []) {
  const calls: string[] = [];
  const errors: unknown[] = [];
  const gates = {
    query: async (text: string, values: unknown[] = []) => {
      const name = /writ\.(fn_\w+)/.exec(text)?.[1] ?? text;
      const call = name === 'fn_lease_release' ? `${name} ${values[0]}` : name;
      calls.push(call);
      const error = fails(call);
      if (error) throw error;
      return { rows: [{ answer: {} }] };
    },
  } as unknown as PreparedPool;
  const clockwork = new Clockwork({
    gates,
    workerId: 'w',
    kinds: ['chore'],
    pollMs: 3_600_000,
    engine: true,
    looks: [async () => void calls.push('above')],
    details: () => ({}),
    onLook: () => calls.push('claim'),
    onError: (error) => errors.push(error),
  });
  for (const token of unheard) clockwork.unheard(token);
  await clockwork.look();
  await clockwork.stop(0);
  return { calls, errors, answered: clockwork.answered };
}

test('a tick that raises stops neither lost claims, nor layers above, nor the heartbeat, nor consumers', async () => {
  const bad = new Error('integer out of range');
  const { calls, errors, answered } = await lookWith(
    (call) => (call === 'fn_job_tick' ? bad : undefined),
    ['a'],
  );
  expect(calls).toEqual([
    'fn_job_tick',
    'fn_lease_release a',
    'above',
    'fn_queue_heartbeat',
    'claim',
    'fn_consumer_dispatch_many',
  ]);
  expect(errors).toEqual([bad]);
  expect(answered).toBe(false);
});

test('a lost claim that cannot be given back stops no other and is not tried again', async () => {
  const bad = new Error('this row is damaged');
  const { calls, errors, answered } = await lookWith(
    (call) => (call === 'fn_lease_release a' ? bad : undefined),
    ['a', 'b'],
  );
  expect(calls).toEqual([
    'fn_job_tick',
    'fn_lease_release a',
    'fn_lease_release b',
    'above',
    'fn_queue_heartbeat',
    'claim',
    'fn_consumer_dispatch_many',
  ]);
  expect(errors).toEqual([bad]);
  expect(answered).toBe(true);
});

test('a lost connection ends the look', async () => {
  const lost = Object.assign(new Error('Connection terminated unexpectedly'), { code: '57P01' });
  const { calls, answered } = await lookWith((call) => (call === 'fn_job_tick' ? lost : undefined));
  expect({ calls, answered }).toEqual({ calls: ['fn_job_tick'], answered: false });
});

test('a clockwork that raises at every turn keeps no job and no consumer waiting, and is told once', async () => {
  db = await testDatabase();
  const writ: Writ = await db.connect();
  const chore = defineJob('chore');
  const after = defineJob<EventReference>('after');
  await db.query(`create or replace function writ_data.watch_ready() returns void
    language plpgsql as $$ begin raise exception 'the clock is broken'; end $$`);
  const told: unknown[] = [];
  let done = (): void => undefined;
  const followed = new Promise<void>((resolve) => {
    done = resolve;
  });
  const worker = await writ.work([chore.handle(() => undefined), after.handle(() => done())], {
    poll: '20ms',
    onError: (error) => told.push(error),
  });
  await writ.consumers.put('after-chores', {
    on: 'dot.job.succeeded',
    job: after,
    subjectKind: 'chore',
  });
  await writ.enqueue(chore);
  await followed;
  await worker.stop();
  expect(told.map(String)).toEqual([expect.stringContaining('the clock is broken')]);
});
