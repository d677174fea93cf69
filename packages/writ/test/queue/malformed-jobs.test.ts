/**
 * Calls of fn_job_enqueue_many that no client of ours would make. Each ends in a coded refusal, and
 * nothing changed.
 */
import { expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { isErrorCode } from '../../src/errors/index.js';
import { type DatabaseError, type Row, sharedGates } from './gates/harness.js';

const gates = sharedGates((fresh) => fresh.register());
const idAt = (ms: number) =>
  `${ms
    .toString(16)
    .padStart(12, '0')
    .replace(/(.{8})(.{4})/, '$1-$2')}-7abc-8abc-0123456789ab`;

/**
 * The whole call is refused, or every job of it, with a code of the registry; raising WR001 with
 * such a code counts too.
 */
async function refused(jobs: string | null, parameters: Row = {}): Promise<string> {
  const answer = await gates.unchanged(() =>
    gates
      .call('fn_job_enqueue_many', { jobs, actor: 'test', ...parameters })
      .catch((error: DatabaseError) => error),
  );
  const reasons: string[] =
    answer.code === 'WR001'
      ? [answer.message]
      : answer.refused === true
        ? [answer.reason]
        : (answer.refused ?? []).map((r: Row) => r.reason);
  expect(reasons, String(answer.message ?? JSON.stringify(answer))).not.toHaveLength(0);
  for (const reason of reasons) expect(isErrorCode(reason)).toBe(true);
  return reasons[0] as string;
}

test.each(['{}', '"text"', '1', 'null', 'true'])(
  'p_jobs that is no array (%s): invalid_jobs',
  async (jobs) => {
    expect(await refused(jobs)).toBe('invalid_jobs');
  },
);
test('p_jobs of NULL: invalid_jobs', async () => {
  expect(await refused(null)).toBe('invalid_jobs');
});

test.each(['[1]', '["text"]', '[null]', '[[]]', '[[{"kind":"chore"}]]', '[true]'])(
  'an element that is no object (%s) is refused',
  async (jobs) => {
    await refused(jobs);
  },
);

test.each<[string, Row]>([
  ['id', { id: 'not-a-uuid' }],
  ['id', { id: 7 }],
  ['priority', { priority: 'high' }],
  ['priority', { priority: 40_000 }],
  ['priority', { priority: 1.5 }],
  ['delay_ms', { delay_ms: 'soon' }],
  ['delay_ms', { delay_ms: 1e18 }],
  ['delay_ms', { delay_ms: 9e18 }],
  ['deadline_ms', { deadline_ms: 1e18 }],
  ['process_after', { process_after: 'tomorrow-ish' }],
  ['process_after', { process_after: '999999-01-01' }],
  ['deadline_at', { deadline_at: {} }],
  ['max_attempts', { max_attempts: 1e9 }],
  ['max_attempts', { max_attempts: 'many' }],
  ['max_attempts', { max_attempts: -3 }],
  ['parent_job_id', { parent_job_id: 'x' }],
  ['workflow_id', { workflow_id: 'x' }],
  ['causation_event_id', { causation_event_id: [] }],
])('a %s of the wrong type or range is refused: %j', async (_, change) => {
  await refused(JSON.stringify([{ id: uuidv7(), kind: 'chore', ...change }]));
});

test('one element of the wrong type does not take its neighbours with it', async () => {
  const answer = await gates
    .enqueueMany([
      { id: uuidv7(), kind: 'chore' },
      { id: uuidv7(), kind: 'chore', priority: 'high' },
    ])
    .catch((error: DatabaseError) => error);
  expect(answer).toMatchObject({ enqueued: 1, refused: [{ index: 1 }] });
});

test('an array in the place of a text is refused or kept as its text, not an error of PostgreSQL', async () => {
  const answer = await gates.enqueueMany([
    { id: uuidv7(), kind: 'chore', correlation_id: ['a'], source_ref: { b: 1 } },
  ]);
  expect(answer.enqueued + answer.refused.length).toBe(1);
});

test('deep nesting is refused or taken, not an error of PostgreSQL', async () => {
  const input = '['.repeat(2000) + ']'.repeat(2000);
  const answer = await gates.call('fn_job_enqueue_many', {
    jobs: `[{"id":"${uuidv7()}","kind":"chore","input":${input}}]`,
    actor: 'test',
  });
  expect(answer.enqueued + answer.refused.length).toBe(1);
});

test.each([
  ['of version 4', '6f1e2d3c-4b5a-4978-8675-94a3b2c1d0e9'],
  ['of version 1', '2f1e2d3c-4b5a-1978-8675-94a3b2c1d0e9'],
  ['of two hours ago', idAt(Date.now() - 7_200_000)],
  ['of next year', idAt(Date.now() + 31_536_000_000)],
  ['of 1970', idAt(0)],
  ['of the end of time', idAt(2 ** 48 - 1)],
  ['of zeros', '00000000-0000-0000-0000-000000000000'],
])('an id %s: invalid_job_id', async (_, id) => {
  expect(await refused(JSON.stringify([{ id, kind: 'chore' }]))).toBe('invalid_job_id');
});
test('no id at all: invalid_job_id', async () => {
  expect(await refused(JSON.stringify([{ kind: 'chore' }]))).toBe('invalid_job_id');
});
test('an id of this moment in another variant is not a UUID of RFC 9562: invalid_job_id', async () => {
  const id = uuidv7();
  expect(
    await refused(JSON.stringify([{ id: `${id.slice(0, 19)}c${id.slice(20)}`, kind: 'chore' }])),
  ).toBe('invalid_job_id');
});

test.each<[string, Row]>([
  ['an empty key', { key: '' }],
  ['a key of 1,001 bytes', { key: 'k'.repeat(1001) }],
  ['a key of 501 two-byte characters', { key: 'ü'.repeat(501) }],
])('%s: invalid_idempotency_key', async (_, change) => {
  expect(await refused(JSON.stringify([{ id: uuidv7(), kind: 'chore', ...change }]))).toBe(
    'invalid_idempotency_key',
  );
});

test.each([
  ['of 1,000 bytes', 'k'.repeat(1000)],
  [
    'of 1,000 bytes that do not compress',
    Array.from({ length: 500 }, (_, n) => String.fromCharCode(0xa1 + ((n * 7919) % 94))).join(''),
  ],
  ['of the widest characters', '😀'.repeat(250)],
  ['of spaces', '   '],
  ['in two normal forms', 'é'],
])('a key %s is a key', async (_, key) => {
  const jobs = [{ id: uuidv7(), kind: 'chore', key }];
  expect(await gates.enqueueMany(jobs)).toMatchObject({ enqueued: 1 });
  expect(await gates.job(String(jobs[0]?.id))).toMatchObject({ idempotency_key: key });
  expect(await gates.enqueueMany([{ id: uuidv7(), kind: 'chore', key }])).toMatchObject({
    enqueued: 0,
    duplicates: [{ job_id: jobs[0]?.id }],
  });
});
test('keys are compared as bytes: another normal form is another key', async () => {
  expect(await gates.enqueueMany([{ id: uuidv7(), kind: 'chore', key: 'e\u0301' }])).toMatchObject({
    enqueued: 1,
  });
});

test('NULL everywhere is refused', async () => {
  expect(await refused(null, { actor: null, tenant_id: null })).toBe('actor_required');
  const empty = Object.fromEntries(
    [
      'id',
      'kind',
      'key',
      'tenant',
      'input',
      'priority',
      'delay_ms',
      'executor',
      'max_attempts',
    ].map((name) => [name, null]),
  );
  await refused(JSON.stringify([empty]));
  await refused('[{}]');
});
test('no tenant at all: invalid_tenant', async () => {
  expect(
    await refused(JSON.stringify([{ id: uuidv7(), kind: 'chore' }]), { tenant_id: null }),
  ).toBe('invalid_tenant');
});
test('two thousand fields that nobody asked for are ignored', async () => {
  const extra = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`field_${n}`, n]));
  expect(await gates.enqueueMany([{ ...extra, id: uuidv7(), kind: 'chore' }])).toMatchObject({
    enqueued: 1,
  });
});
