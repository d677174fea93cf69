/**
 * Bad input, each kind by name, through SQL and, where it can come that way, through the TypeScript
 * API. The promise is always the same: a coded refusal, or an error of the registry, and nothing
 * changed.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineJob, Writ, WritError, WritRefusal } from '../../src/index.js';
import { type Row, sharedGates } from './gates/harness.js';

const gates = sharedGates();
const chore = defineJob<unknown>('chore');
let writ: Writ;
let held: { id: string; token: string };

beforeAll(async () => {
  await gates.register('chore');
  held = await gates.held({ ttl: 3600 });
  writ = await gates.db.connect();
});
afterAll(() => writ?.close());

const enqueue = (change: Row) => ({
  kind: 'chore',
  idempotency_key: null,
  executor: null,
  source_ref: null,
  target_ref: null,
  payload_ref: null,
  safe_payload: null,
  priority: null,
  process_after: null,
  deadline_at: null,
  correlation_id: null,
  causation_event_id: null,
  actor: 'test',
  ...change,
});

/** The API throws this code, and nothing changed. */
async function apiRefuses(code: string, run: () => Promise<unknown>): Promise<void> {
  const error = await gates.unchanged(() =>
    run().then(
      () => undefined,
      (e: unknown) => e,
    ),
  );
  expect(error).toBeInstanceOf(WritError);
  expect(error).toMatchObject({ code });
}

describe('an unknown kind', () => {
  test('is refused by the gate', () =>
    gates.refuses('unknown_job_kind', 'fn_job_enqueue', enqueue({ kind: 'unheard' })));
  test('cannot have a name that is none, through the API', () =>
    apiRefuses('invalid_job_kind', () => writ.enqueue(defineJob('no such\nkind'))));
});

describe('executor MOT', () => {
  test('cannot be enqueued for', () =>
    gates.refuses('unknown_executor', 'fn_job_enqueue', enqueue({ executor: 'MOT' })));
  test('cannot have kinds', () =>
    gates.refuses('unknown_executor', 'fn_job_kind_register', {
      kind: 'mot',
      definition: { executor: 'MOT' },
      actor: 'test',
    }));
  test('cannot claim', () =>
    gates.refuses('executor_forbidden', 'fn_job_claim', {
      kind: 'chore',
      executor: 'MOT',
      lease_name: null,
      lease_holder: 'w1',
      lease_ttl_seconds: 30,
    }));
  test('cannot beat', () =>
    gates.refuses('executor_forbidden', 'fn_queue_heartbeat', {
      executor_id: 'm',
      executor_kind: 'MOT',
      domain_scope: ['dot'],
      cadence_seconds: 10,
    }));
});

describe('a forbidden key in safe_payload', () => {
  const keys = [
    'body',
    'content',
    'raw',
    'vector',
    'embedding',
    'secret',
    'token',
    'password',
    'ssn',
    'personal_data',
  ];
  test.each(keys)('%s is refused at the top', (key) =>
    gates.refuses(
      'forbidden_payload_key',
      'fn_job_enqueue',
      enqueue({ safe_payload: { [key]: 1 } }),
    ),
  );
  test.each<[string, unknown]>([
    ['in an object', { a: { b: { c: { password: 'x' } } } }],
    ['in an array', { list: [1, [2, [{ secret: 'x' }]]] }],
    ['with a value of null', { a: [{ token: null }] }],
    ['behind an escape', JSON.parse('{"a":{"pass\\u0077ord":1}}')],
    ['behind a hundred levels', JSON.parse(`${'{"a":'.repeat(100)}{"ssn":1}${'}'.repeat(100)}`)],
  ])('is refused at depth: %s', (_, safe_payload) =>
    gates.refuses(
      'forbidden_payload_key',
      'fn_job_enqueue',
      enqueue({ safe_payload: JSON.stringify(safe_payload) }),
    ),
  );
  test('is refused through the API', () =>
    apiRefuses('forbidden_payload_key', () =>
      writ.enqueue(chore, {}, { labels: { a: [{ password: 'x' }] } }),
    ));
  test('is an ordinary key in an input', async () => {
    const { jobId } = await writ.enqueue(chore, { body: 'hello', token: 1 });
    expect(await gates.statusOf(jobId)).toBe('queued');
  });
});

describe('an oversized payload', () => {
  const big = 'x'.repeat(1_048_577);
  test('is refused as input', () =>
    gates.refuses('payload_too_large', 'fn_job_enqueue', enqueue({ input: JSON.stringify(big) })));
  test('is refused as input, counted in bytes, not characters', () =>
    gates.refuses(
      'payload_too_large',
      'fn_job_enqueue',
      enqueue({ input: JSON.stringify('☃'.repeat(400_000)) }),
    ));
  test('is refused as safe_payload', () =>
    gates.refuses(
      'payload_too_large',
      'fn_job_enqueue',
      enqueue({ safe_payload: { a: 'x'.repeat(8192) } }),
    ));
  test('is refused as a reference', () =>
    gates.refuses(
      'payload_too_large',
      'fn_job_enqueue',
      enqueue({ payload_ref: 'x'.repeat(8193) }),
    ));
  test('is refused through the API', () =>
    apiRefuses('payload_too_large', () => writ.enqueue(chore, big)));
  test('is refused through the API as labels', () =>
    apiRefuses('payload_too_large', () =>
      writ.enqueue(chore, {}, { labels: { a: 'x'.repeat(8192) } }),
    ));
  test('refuses alone: its neighbours in a coalesced batch are taken', async () => {
    const outcomes = await Promise.all([
      writ.tryEnqueue(chore, 1),
      writ.tryEnqueue(chore, big),
      writ.tryEnqueue(chore, 2),
    ]);
    expect(outcomes.map((outcome) => outcome instanceof WritRefusal)).toEqual([false, true, false]);
  });
});

describe('NUL and lone surrogates', () => {
  const texts = {
    NUL: 'a\u0000b',
    'a high surrogate': 'a\ud800',
    'a low surrogate': '\udc00b',
    'a reversed pair': '\udc00\ud800',
  };
  for (const [name, text] of Object.entries(texts)) {
    test(`${name} in an input is invalid_text`, () =>
      apiRefuses('invalid_text', () => writ.enqueue(chore, { deep: [{ text }] })));
    test(`${name} in a name of an input is invalid_text`, () =>
      apiRefuses('invalid_text', () => writ.enqueue(chore, { [text]: 1 })));
    test(`${name} in a key is invalid_text`, () =>
      apiRefuses('invalid_text', () => writ.enqueue(chore, {}, { key: text })));
    test(`${name} in labels is invalid_text`, () =>
      apiRefuses('invalid_text', () => writ.enqueue(chore, {}, { labels: { text } })));
    test(`${name} in a tenant is invalid_text`, () =>
      apiRefuses('invalid_text', () => writ.enqueue(chore, {}, { tenant: text })));
  }
  test('NUL in the reason of a cancel is invalid_text', () =>
    apiRefuses('invalid_text', () => writ.jobs.cancel(held.id, { reason: texts.NUL })));
  test('NUL in the triage of a replay is invalid_text', () =>
    apiRefuses('invalid_text', () => writ.jobs.requeue(held.id, { reason: texts.NUL })));
  test('a proper pair and an escaped backslash before u0000 are ordinary text', async () => {
    const input = { face: '😀', path: '\\u0000 \\ud800' };
    const { jobId } = await writ.enqueue(chore, input);
    expect(await gates.call('fn_job_payload', { job_id: jobId })).toEqual({ input });
  });
  test('NUL in JSON that comes through SQL is an error of PostgreSQL before the gate is reached, and nothing changed', () =>
    gates.raises('22P05', /unicode|Unicode/, () =>
      gates.call('fn_job_enqueue_many', { jobs: '[{"input":"a\\u0000b"}]', actor: 'test' }),
    ));
  test('a lone surrogate in JSON that comes through SQL is an error of PostgreSQL before the gate is reached, and nothing changed', () =>
    gates.raises('22P02', /invalid input syntax/, () =>
      gates.call('fn_job_enqueue_many', { jobs: '[{"input":"\\ud800"}]', actor: 'test' }),
    ));
});

describe('a lease token of somebody else', () => {
  let other: string;
  beforeAll(async () => {
    await gates.enqueue({ priority: 100 });
    other = (await gates.claim({ start: 1, lease_holder: 'w2', lease_ttl_seconds: 3600 })).token;
  });
  test('does not succeed the job', () =>
    gates.refuses('lease_lost', 'fn_job_succeed', {
      job_id: held.id,
      lease_token: other,
      result_ref: null,
      actor: 'w2',
    }));
  test('does not fail the job', () =>
    gates.refuses('lease_lost', 'fn_job_fail_transient', {
      job_id: held.id,
      lease_token: other,
      error_code: 'e',
      error_message: 'm',
      actor: 'w2',
    }));
  test('does not release the job', () =>
    gates.refuses('lease_lost', 'fn_job_release', {
      job_id: held.id,
      lease_token: other,
      actor: 'w2',
    }));
  test('does not renew the job', () =>
    gates.refuses('lease_lost', 'fn_job_progress', {
      job_id: held.id,
      status_signal_only: null,
      lease_token: other,
      actor: 'w2',
    }));
  test('does not commit the job', () =>
    gates.raises('WR001', /^lease_lost$/, () =>
      gates.call('fn_job_commit', { job_id: held.id, lease_token: other }),
    ));
});

describe('after the commit', () => {
  let committed: { id: string; token: string };
  beforeAll(async () => {
    const id = await gates.enqueue({ priority: 101 });
    const { token } = await gates.claim({ start: 1, lease_ttl_seconds: 3600 });
    await gates.call('fn_job_commit', { job_id: id, lease_token: token });
    committed = { id, token };
  });
  test('a second commit raises already_committed', () =>
    gates.raises('WR001', /^already_committed$/, () =>
      gates.call('fn_job_commit', { job_id: committed.id, lease_token: committed.token }),
    ));
  test('a cancel is refused', () =>
    gates.refuses('committed_cannot_cancel', 'fn_job_cancel', {
      job_id: committed.id,
      reason: 'r',
      actor: 'ada',
    }));
  test('a cancel is refused through the API', () =>
    apiRefuses('committed_cannot_cancel', () => writ.jobs.cancel(committed.id)));
  test('an illegal direct UPDATE is rejected, even for a superuser', () =>
    gates.raises('WR002', /illegal_transition/, () =>
      gates.db.query(`update writ_data.job_execution set status = 'ABORTED' where job_id = $1`, [
        committed.id,
      ]),
    ));
});

describe('a role without the right', () => {
  const nobody = `test_nobody_${randomBytes(4).toString('hex')}`;
  let connectionString: string;
  afterAll(() => gates.db.query(`drop role if exists ${nobody}`));
  beforeAll(async () => {
    await gates.db.query(`create role ${nobody} login password 'nobody'`);
    const url = new URL(gates.db.connectionString);
    url.username = nobody;
    url.password = 'nobody';
    connectionString = url.toString();
  });
  test('is told permission_denied by the API', async () => {
    const unprivileged = await Writ.connect({ connectionString });
    try {
      await apiRefuses('permission_denied', () => unprivileged.enqueue(chore, {}));
      await apiRefuses('permission_denied', () => unprivileged.jobs.cancel(held.id));
    } finally {
      await unprivileged.close();
    }
  });
  test('gets 42501 from SQL', async () => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      for (const sql of [
        'select * from writ_data.job',
        'select * from writ.job_queue',
        'select writ.fn_job_queue_health()',
      ]) {
        await gates.raises('42501', /permission denied/, () => client.query(sql));
      }
    } finally {
      await client.end();
    }
  });
});

describe("another tenant's job", () => {
  let id: string;
  beforeAll(async () => {
    id = await gates.enqueue({ tenant: 'acme' });
  });
  test('cannot be cancelled', () =>
    apiRefuses('job_not_found', () => writ.jobs.cancel(id, { tenant: 'globex' })));
  test('cannot be replayed', () =>
    apiRefuses('dead_letter_not_found', () =>
      writ.jobs.requeue(id, { tenant: 'globex', reason: 't' }),
    ));
});

test('something that is no UUID is refused by the API with a code', async () => {
  expect(
    await gates.unchanged(() => writ.jobs.cancel('not-a-uuid').catch((e: unknown) => e)),
  ).toBeInstanceOf(WritError);
});
test('a circular input is refused by the API', () => {
  const loop: Row = {};
  loop.self = loop;
  return apiRefuses('invalid_input', () => writ.enqueue(chore, loop));
});
test('an input with a BigInt is refused by the API', () =>
  apiRefuses('invalid_input', () => writ.enqueue(chore, { n: 1n })));
test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, '5 minutes', '', '-5s'] as never[])(
  'a delay of %s is invalid_duration',
  (delay) => apiRefuses('invalid_duration', () => writ.enqueue(chore, {}, { delay })),
);
test.each([40_000, -40_000, 1.5, Number.NaN, 'high'] as never[])(
  'a priority of %s is refused by the API',
  async (priority) => {
    const error = await gates.unchanged(() =>
      writ.enqueue(chore, {}, { priority }).catch((e: unknown) => e),
    );
    expect(error).toBeInstanceOf(WritError);
  },
);
test.each([0, -1, 1.5, 1e9] as never[])('%s attempts are refused by the API', async (attempts) => {
  const error = await gates.unchanged(() =>
    writ.enqueue(chore, {}, { attempts }).catch((e: unknown) => e),
  );
  expect(error).toBeInstanceOf(WritError);
});
test('an invalid Date is refused by the API', async () => {
  const error = await gates.unchanged(() =>
    writ.enqueue(chore, {}, { delay: new Date(Number.NaN) }).catch((e: unknown) => e),
  );
  expect(error).toBeInstanceOf(WritError);
});
test('a bad item refuses alone: an unrelated enqueue at the same moment is taken', async () => {
  const outcomes = await Promise.allSettled([
    writ.enqueue(chore, 'good'),
    writ.enqueue(chore, 'bad', { priority: 99_999 }),
    writ.enqueue(chore, 'bad', { parentJobId: 'not-a-uuid' }),
    writ.enqueue(chore, 'good'),
  ]);
  expect(outcomes.map((outcome) => outcome.status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ]);
});
