/**
 * The short way into the queue and the long one answer the same, and leave the same behind,
 * whatever they are given.
 */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { call, newIds, register } from './bulk.js';

let db: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  db = await testDatabase();
  await register(db, 'chore', { max_attempts: 7 });
  await register(db, 'errand');
  await db.query(
    `update writ_data.dot_config set value = '1000' where key = 'queue.payload.max_bytes'`,
  );
  client = new pg.Client({ connectionString: db.connectionString });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await db.drop();
});

interface Call {
  readonly kind: string | null;
  readonly ids: readonly (string | null)[];
  readonly inputs: readonly unknown[] | null;
  readonly actor: string | null;
  readonly tenant: string | null;
  readonly priority: number | null;
  readonly atomic: boolean;
}

const asks = {
  query: async (sql: string, params?: unknown[]) => (await client.query(sql, params)).rows,
};

const short = ({ kind, ids, inputs, actor, tenant, priority, atomic }: Call) =>
  call(asks, 'writ.fn_job_enqueue_alike', {
    kind,
    ids,
    inputs: inputs && JSON.stringify(inputs),
    actor,
    tenant_id: tenant,
    priority,
    atomic,
  });

const long = ({ kind, ids, inputs, actor, tenant, priority, atomic }: Call) => {
  const jobs = ids.map((id, index) => ({
    id,
    kind,
    tenant,
    priority,
    ...(inputs && { input: inputs[index] }),
  }));
  return call(asks, 'writ.fn_job_enqueue_many', {
    jobs: JSON.stringify(jobs),
    actor,
    tenant_id: tenant,
    atomic,
  });
};

/** What is there to see afterwards, but for times and where in the queue it stands. */
const seen = async () => [
  await asks.query(
    `select q.job_id, q.tenant_id, q.job_kind, q.event_domain, q.idempotency_key, q.safe_payload, q.payload_classification, q.executor, q.status, q.max_attempts, q.priority,
       q.source_system, q.enqueued_by, q.limit_key, j.input::jsonb as input
     from writ.job_queue q join writ_data.job j using (job_id) order by 1`,
  ),
  await asks.query(
    `select l.job_kind, l.tenant_id, l.priority, array_agg(u.id order by r.seq, r.part, u.n) as ids
     from writ_data.job_ready r join writ_data.lane l using (lane_id) cross join lateral unnest(r.job_ids) with ordinality u(id, n) group by 1, 2, 3 order by 1, 2, 3`,
  ),
  await asks.query(
    'select command, actor, types, first, last, subjects from writ_data.event_batch order by command, subjects',
  ),
];

/**
 * Runs one way in a transaction that is taken back: its answer, or the code of its error, and what
 * it left.
 */
async function tried(
  way: (given: Call) => Promise<unknown>,
  given: Call,
  before: readonly Call[] = [],
  setUp = '',
): Promise<unknown> {
  await client.query('begin');
  try {
    for (const earlier of before) await short(earlier);
    await client.query(setUp);
    const answer = await way(given);
    return { answer, seen: await seen() };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return { code, message: code === 'WR001' ? message : undefined };
  } finally {
    await client.query('rollback');
  }
}

const plain: Call = {
  kind: 'chore',
  ids: [],
  inputs: null,
  actor: 'test',
  tenant: 'default',
  priority: 0,
  atomic: false,
};
const at = (ms: number) => {
  const hex = Math.floor(Date.now() + ms)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-${uuidv7().slice(14)}`;
};

const id = fc.oneof(
  { weight: 12, arbitrary: fc.constant('good') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'old',
      'future',
      'v4',
      'variant',
      'missing',
      'again',
      'taken',
      'taken by another',
    ),
  },
);
// The long way measures a number as it writes it out: 5e-324 is three hundred digits there.
const isShortEitherWay = (value: unknown) =>
  JSON.stringify(value).length < 300 && !/\de[+-]?\d/.test(JSON.stringify(value));
const input = fc.oneof(
  { weight: 8, arbitrary: fc.jsonValue({ maxDepth: 2 }).filter(isShortEitherWay) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'x'.repeat(2000),
      { big: 'y'.repeat(3000) },
      '\\u0000 as text',
      'ünïcödé 🜚',
    ),
  },
);
const given = fc.record({
  kind: fc.oneof(
    { weight: 8, arbitrary: fc.constant('chore') },
    { weight: 1, arbitrary: fc.constantFrom('nobody', null) },
  ),
  ids: fc.oneof(
    fc.array(id, { maxLength: 8 }),
    fc.array(fc.constant('good'), { minLength: 95, maxLength: 205 }),
  ),
  input: fc.option(input),
  actor: fc.oneof(
    { weight: 9, arbitrary: fc.constant('test') },
    { weight: 1, arbitrary: fc.constantFrom('', ' ', null) },
  ),
  tenant: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('default', 'acme', "o'brien \\ 🜚") },
    { weight: 1, arbitrary: fc.constantFrom('', 'x'.repeat(201), null) },
  ),
  priority: fc.constantFrom(0, 5, -1, 32767, -32768, null),
  atomic: fc.boolean(),
  shuffled: fc.boolean(),
  setUp: fc.oneof(
    { weight: 10, arbitrary: fc.constant('') },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        `set local writ.tenant = 'acme'`,
        `update writ_data.dot_config set value = 'false' where key = 'queue.job_substrate.enabled'`,
      ),
    },
  ),
});

test('both ways answer and leave the same, for ids, sizes, tenants, priorities and duplicates of every kind', async () => {
  await fc.assert(
    fc.asyncProperty(
      given,
      fc.array(input, { minLength: 1, maxLength: 4 }),
      async (call, inputs) => {
        const taken: Call = { ...plain, ids: [uuidv7()], tenant: call.tenant || 'default' };
        const takenByAnother: Call = { ...plain, kind: 'errand', ids: [uuidv7()] };
        const ids: (string | null)[] = [];
        for (const how of call.ids) {
          if (how === 'good') ids.push(uuidv7());
          else if (how === 'old') ids.push(at(-3_700_000));
          else if (how === 'future') ids.push(at(310_000));
          else if (how === 'v4') ids.push(uuidv7().replace(/^(.{14})7/, '$14'));
          else if (how === 'variant') ids.push(uuidv7().replace(/^(.{19})./, '$1c'));
          else if (how === 'missing') ids.push(null);
          else if (how === 'again') ids.push(ids[0] ?? uuidv7());
          else ids.push((how === 'taken' ? taken : takenByAnother).ids[0] ?? null);
        }
        if (call.shuffled) ids.reverse();
        const same: Call = {
          ...call,
          ids,
          inputs: call.input === null ? null : ids.map((_, index) => inputs[index % inputs.length]),
        };
        const before =
          taken.tenant && taken.tenant.length <= 200 ? [taken, takenByAnother] : [takenByAnother];
        expect(await tried(short, same, before, call.setUp)).toEqual(
          await tried(long, same, before, call.setUp),
        );
      },
    ),
    { numRuns: 50 },
  );
}, 60_000);

test('inputs that are not as many as the jobs, or none at all, are refused: invalid_jobs', async () => {
  for (const inputs of [[], [1], [1, 2, 3]]) {
    expect(await tried(short, { ...plain, ids: newIds(2), inputs })).toMatchObject({
      answer: { refused: true, reason: 'invalid_jobs' },
    });
  }
});

test.each([
  ['an unpaired surrogate', '["\\ud800"]'],
  ['NUL', '["\\u0000"]'],
])('what could not be read back, %s, is not taken in', async (_, inputs) => {
  await client.query('begin');
  const ids = newIds(1);
  const taken = await call(asks, 'writ.fn_job_enqueue_alike', {
    kind: 'chore',
    ids,
    inputs,
    actor: 'test',
  }).then(
    (answer) => answer.enqueued,
    () => 0,
  );
  await client.query('rollback');
  expect(taken).toBe(0);
});

test('a call that is sent again after a lost answer finds what it wrote, and adds what was missing', async () => {
  const ids = newIds(150);
  const inputs = ids.map((_, n) => ({ n }));
  const all: Call = { ...plain, ids, inputs };
  const first: Call = { ...plain, ids: ids.slice(0, 100), inputs: inputs.slice(0, 100) };
  await client.query('begin');
  expect(await short(first)).toEqual({ enqueued: 100, duplicates: [], refused: [] });
  const again = await short(first);
  expect(again).toMatchObject({ enqueued: 0, refused: [] });
  expect(again.duplicates).toEqual(
    first.ids.map((job_id, index) => ({ index, job_id, same_payload: true })),
  );
  expect(await short(all)).toMatchObject({ enqueued: 50 });
  expect(
    await asks.query(
      'select count(*)::int as n, count(distinct job_id)::int as jobs from writ.job_queue',
    ),
  ).toEqual([{ n: 150, jobs: 150 }]);
  expect(
    await asks.query('select sum(cardinality(job_ids))::int as n from writ_data.job_ready'),
  ).toEqual([{ n: 150 }]);
  const other = await short({ ...first, inputs: inputs.slice(1, 101) });
  expect(
    (other.duplicates as { same_payload: boolean }[]).every(({ same_payload }) => !same_payload),
  ).toBe(true);
  await client.query('rollback');
});
