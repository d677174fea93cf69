/**
 * What the compiler promises about the public API. Nothing here runs: `npm run typecheck` compiles
 * it, and every line marked with
 * @ts-expect-error must fail to compile, or the check fails.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { Kysely, Transaction as KyselyTransaction } from 'kysely';
import type pg from 'pg';
import type postgres from 'postgres';
import { z } from 'zod';
import {
  type ClaimedJob,
  defineJob,
  type Enqueued,
  type EventReference,
  type Transaction,
  Writ,
  type WritRefusal,
} from '../../src/index.js';

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles only when both types are the same. */
function same<A, B>(_yes: Same<A, B>): void {}

declare const writ: Writ;

// A job with a type alone.
const greet = defineJob<{ name: string }>('greet');
writ.enqueue(greet, { name: 'Ada' });
writ.enqueue(
  greet,
  { name: 'Ada' },
  { key: 'ada', delay: '5m', priority: 1, deadline: new Date(), tenant: 'acme' },
);
// @ts-expect-error the input is required
writ.enqueue(greet);
// @ts-expect-error it has a name
writ.enqueue(greet, {});
// @ts-expect-error which is a text
writ.enqueue(greet, { name: 7 });
// @ts-expect-error options are known
writ.enqueue(greet, { name: 'Ada' }, { colour: 'red' });
// @ts-expect-error a delay has a unit
writ.enqueue(greet, { name: 'Ada' }, { delay: '5 minutes' });
greet.handle(({ input }) => same<typeof input, { name: string }>(true));

// A job without an input.
const nightly = defineJob('nightly', {
  retry: { attempts: 3, base: '1s', cap: '1m' },
  timeout: '10m',
});
writ.enqueue(nightly);
writ.enqueue(nightly, undefined, { key: '2026-07-26' });
// @ts-expect-error it takes none
writ.enqueue(nightly, { name: 'Ada' });
nightly.handle(({ input }) => same<typeof input, undefined>(true));

// A schedule takes what its job takes.
writ.schedules.put('a', greet, {
  cron: '@daily',
  input: { name: 'Ada' },
  timeZone: 'Europe/Berlin',
  catchUp: 'all',
  priority: 1,
  deadline: '1h',
});
writ.schedules.put('a', nightly, { cron: '@daily' });
// @ts-expect-error the input is required
writ.schedules.put('a', greet, { cron: '@daily' });
// @ts-expect-error which has a name
writ.schedules.put('a', greet, { cron: '@daily', input: {} });
// @ts-expect-error without an expression there is nothing to wait for
writ.schedules.put('a', nightly, { timeZone: 'UTC' });
// @ts-expect-error the rules are known
writ.schedules.put('a', nightly, { cron: '@daily', catchUp: 'some' });
// @ts-expect-error a tick has a key of its own
writ.schedules.put('a', nightly, { cron: '@daily', key: 'k' });
// @ts-expect-error and a deadline that is the same for every tick is none
writ.schedules.put('a', nightly, { cron: '@daily', deadline: new Date() });

// A schema that transforms: producers send one type, handlers receive the other.
const onDay = defineJob('on-day', {
  input: z.object({
    day: z.string().transform((day) => new Date(day)),
    note: z.string().default(''),
  }),
});
writ.enqueue(onDay, { day: '2026-07-26' });
// @ts-expect-error what is sent is the text, not the date
writ.enqueue(onDay, { day: new Date() });
onDay.handle(({ input }) => same<typeof input, { day: Date; note: string }>(true));

// Any Standard Schema.
declare const even: StandardSchemaV1<number, { half: number }>;
const halve = defineJob('halve', { input: even });
writ.enqueue(halve, 8);
// @ts-expect-error a number is sent
writ.enqueue(halve, '8');
halve.handle(({ input }) => same<typeof input, { half: number }>(true));

// Bulk.
writ.enqueueMany(greet, [{ input: { name: 'Ada' }, key: 'ada' }]);
writ.enqueueMany(nightly, [{}, { key: '2026-07-26' }]);
// @ts-expect-error each input is checked
writ.enqueueMany(greet, [{ input: { name: 7 } }]);
// @ts-expect-error each input is required
writ.enqueueMany(greet, [{ key: 'ada' }]);

// Answers.
const enqueued = writ.enqueue(greet, { name: 'Ada' });
same<typeof enqueued, Promise<Enqueued>>(true);
const tried = writ.tryEnqueue(greet, { name: 'Ada' });
same<typeof tried, Promise<Enqueued | WritRefusal>>(true);

// What a handler is given.
greet.handle(async ({ job, commit, effectKey, signal, progress }) => {
  same<typeof job, ClaimedJob>(true);
  same<typeof effectKey, string>(true);
  same<typeof signal, AbortSignal>(true);
  const paid = await commit(async (tx) => {
    same<typeof tx, Transaction>(true);
    await tx.query('select $1', [1]);
    await writ.enqueue(nightly, undefined, { db: tx });
    return 42;
  });
  same<typeof paid, number>(true);
  const { cancelRequested } = await progress('half way');
  same<typeof cancelRequested, boolean>(true);
  // @ts-expect-error what a handler is given is not to be changed
  job.attempt = 2;
});

// Transactions of the libraries that are understood.
declare const client: pg.Client;
declare const pool: pg.Pool;
declare const poolClient: pg.PoolClient;
declare const sql: postgres.Sql;
declare const sqlTransaction: postgres.TransactionSql;
declare const kysely: Kysely<{ orders: { id: string } }>;
declare const kyselyTransaction: KyselyTransaction<{ orders: { id: string } }>;
const drizzled = drizzle({ client: pool });
for (const db of [
  client,
  pool,
  poolClient,
  sql,
  sqlTransaction,
  kysely,
  kyselyTransaction,
  drizzled,
]) {
  writ.enqueue(nightly, undefined, { db });
  Writ.connect({ db });
}
drizzled.transaction((tx) => writ.enqueue(nightly, undefined, { db: tx }));
// @ts-expect-error a connection string is not a connection
writ.enqueue(nightly, undefined, { db: 'postgres://localhost' });

// A graph holds jobs of several kinds, each with its own input.
const welcome = defineJob('welcome', { input: z.object({ to: z.string() }) });
writ.emitGraph({ kind: 'join', generator: 'signup', key: 'ada' }, [
  { job: greet, input: { name: 'Ada' } },
  { job: welcome, input: { to: 'ada@example.org' }, key: 'ada', priority: 1 },
  { job: nightly },
]);
writ.emitGraph(
  { kind: 'join', generator: 'signup' },
  ['Ada', 'Grace'].map((name) => ({ job: greet, input: { name } })),
);
// @ts-expect-error the input is of its own job's type
writ.emitGraph({ kind: 'join', generator: 'signup' }, [{ job: greet, input: { name: 7 } }]);
// @ts-expect-error and it is required
writ.emitGraph({ kind: 'join', generator: 'signup' }, [{ job: greet }]);
// @ts-expect-error somebody generates it
writ.emitGraph({ kind: 'join' }, [{ job: nightly }]);

// A consumer's job takes a reference to an event.
writ.consumers.put('alarm', { on: 'dot.job.dead_letter', job: defineJob<EventReference>('alert') });
// @ts-expect-error which a greeting is not
writ.consumers.put('alarm', { on: 'dot.job.dead_letter', job: greet });
