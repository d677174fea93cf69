/** Bounds that stand in the tables themselves, whichever gate or hand writes a row. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineJob } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  await db.query(`select writ.fn_job_kind_register('chore', '{}', 'test')`);
});
afterAll(() => db?.drop());

/** Writes a job past the gates, and answers the constraint that it violates. */
async function violated(columns: Record<string, unknown>): Promise<string | undefined> {
  const row = {
    ...{ tenant_id: 'acme', job_kind: 'chore', event_domain: 'dot', executor: 'external_worker' },
    ...{ payload_classification: 'safe_metadata', max_attempts: 1, priority: 0 },
    ...{ enqueued_by: 'test', source_system: 'writ' },
    ...columns,
  };
  try {
    await db.query(
      `insert into writ_data.job select (jsonb_populate_record(null::writ_data.job, $1::jsonb
         || jsonb_build_object('job_id', writ_data.uuidv7(), 'process_after', now(), 'enqueued_at', now()))).*`,
      [JSON.stringify(row)],
    );
    return undefined;
  } catch (error) {
    return (error as { constraint?: string }).constraint;
  }
}

describe('a job', () => {
  test.each([
    ['no safe_payload', {}],
    ['an empty one', { safe_payload: {} }],
    ['labels', { safe_payload: { order: 7, tags: ['a', { tokens: 1 }], body_of: 'x' } }],
  ])('is stored with %s', async (_, columns) => {
    expect(await violated(columns)).toBeUndefined();
  });

  test.each([
    ['a list', { safe_payload: [1] }, 'safe_payload_is_a_short_object'],
    ['a text', { safe_payload: 'text' }, 'safe_payload_is_a_short_object'],
    [
      'a megabyte',
      { safe_payload: { a: 'x'.repeat(1_100_000) } },
      'safe_payload_is_a_short_object',
    ],
    ['a secret', { safe_payload: { secret: 1 } }, 'safe_payload_has_no_forbidden_key'],
    [
      'a deep token',
      { safe_payload: { a: [{ b: [[{ token: null }]] }] } },
      'safe_payload_has_no_forbidden_key',
    ],
    ['an unknown domain', { event_domain: 'elsewhere' }, 'event_domain_is_known'],
  ])('is not stored with %s', async (_, columns, constraint) => {
    expect(await violated(columns)).toBe(constraint);
  });

  test('keys that the gate forbids are those that the table forbids', async () => {
    const keys = [
      ...['body', 'content', 'raw', 'vector', 'embedding', 'secret', 'token', 'password', 'ssn'],
      ...['personal_data', 'Body', 'tokens', 'a'],
    ];
    for (const key of keys) {
      const document = { a: [{ [key]: 1 }] };
      const [row] = await db.query('select writ_data.forbidden_key($1) is not null as yes', [
        JSON.stringify(document),
      ]);
      expect([key, (await violated({ safe_payload: document })) !== undefined]).toEqual([
        key,
        row?.yes,
      ]);
    }
  });
});

test('a job can have more executions than a smallint counts', async () => {
  const writ = await db.connect();
  await writ.enqueue(defineJob('chore'));
  await db.query('update writ_data.job_ready set execution_no = 40000, attempts = 1');
  await db.query(`select writ.fn_job_claim_many('{chore}', 'external_worker', 'me', 60, 1, 1)`);
  expect(await db.query('select execution_nos from writ_data.job_lease')).toEqual([
    { execution_nos: [40_000] },
  ]);
  expect(await db.query('select execution_no from writ.job_execution')).toEqual([
    { execution_no: 40_000 },
  ]);
});

test.each([
  ['delay_ms', '1e12', 'delay_is_at_most_ten_years'],
  ['delay_ms', '-1', 'delay_is_at_most_ten_years'],
])('a consumer is not stored with %s %s', async (column, value, constraint) => {
  await expect(
    db.query(
      `insert into writ_data.consumer_registry (consumer, event_type, job_kind, ${column}, registered_by, registered_at)
       values ('c', 'system.alert_raised', 'chore', ${value}, 'test', now())`,
    ),
  ).rejects.toMatchObject({ constraint });
});

test.each([
  ['timeout_s', `'NaN'`],
  ['timeout_s', `'infinity'`],
  ['timeout_s', '0'],
  ['backoff_base_s', `'NaN'`],
  ['backoff_cap_s', `'infinity'`],
  ['backoff_cap_s', '-1'],
  ['max_attempts', '0'],
  ['limit_concurrency', '0'],
])('a kind is not stored with %s %s', async (column, value) => {
  await expect(
    db.query(`update writ_data.job_kind set ${column} = ${value} where job_kind = 'chore'`),
  ).rejects.toMatchObject({
    code: '23514',
  });
});

test.each([`'NaN'`, `'infinity'`, '0', '1e300'])(
  'a kind is not stored with a rate of %s',
  async (rate) => {
    await expect(
      db.query(
        `update writ_data.job_kind set limit_rate = ${rate}, limit_burst = 1 where job_kind = 'chore'`,
      ),
    ).rejects.toMatchObject({ code: '23514' });
  },
);
