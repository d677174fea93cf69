/**
 * Every number has bounds, at the gate and before it: one that nobody can work with is refused and
 * stops nobody.
 */
import { describe, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { defineJob, type WorkerOptions } from '../../src/index.js';
import { testDatabase } from '../../src/testing/index.js';
import { type Row, sharedGates } from './gates/harness.js';

const gates = sharedGates((shared) => shared.register());
const numbers: unknown[] = [
  1e300,
  -1e300,
  Number.MAX_VALUE,
  -1,
  'NaN',
  'Infinity',
  '-Infinity',
  1e19,
];

describe('a definition of a kind', () => {
  const fields = [
    ...['max_attempts', 'backoff_base_s', 'backoff_cap_s', 'timeout_s'],
    ...['limit_concurrency', 'limit_rate', 'limit_burst'],
  ];
  const cases = fields.flatMap((field) => numbers.map((value) => [field, value] as const));
  test.each(cases)('with %s of %s is refused', async (field, value) => {
    const definition = { limit_rate: 1, [field]: value };
    await gates.refuses('invalid_job_definition', 'fn_job_kind_register', {
      kind: 'other',
      definition,
      actor: 'ada',
    });
  });

  const options: [string, Parameters<typeof defineJob>[1]][] = [
    ['attempts', { retry: { attempts: Number.NaN } }],
    ['attempts', { retry: { attempts: Number.POSITIVE_INFINITY } }],
    ['base', { retry: { base: 1e300 } }],
    ['cap', { retry: { cap: 1e300 } }],
    ['timeout', { timeout: Number.MAX_VALUE }],
    ['concurrency', { limit: { concurrency: Number.NaN } }],
    ['rate', { limit: { rate: { starts: Number.POSITIVE_INFINITY, per: '1s' } } }],
    ['rate', { limit: { rate: { starts: 1, per: 0 } } }],
    ['burst', { limit: { rate: { starts: 1, per: '1s', burst: Number.NaN } } }],
  ];
  test.each(options)(
    'with a %s out of bounds cannot be used through the API',
    async (_, definition) => {
      const writ = await gates.db.connect();
      const job = defineJob('wide', definition);
      await expect(writ.enqueue(job)).rejects.toMatchObject({ code: 'invalid_job_definition' });
      await expect(writ.work([job.handle(() => 1)])).rejects.toMatchObject({
        code: 'invalid_job_definition',
      });
      await writ.close();
    },
  );
});

describe('a job', () => {
  const numeric = ['priority', 'delay_ms', 'deadline_ms', 'max_attempts'];
  const wrong: [string, unknown][] = [
    ...numeric.flatMap((field) =>
      [1e300, 'NaN', 'Infinity', '-Infinity', 1e19].map((value): [string, unknown] => [
        field,
        value,
      ]),
    ),
    ['max_attempts', 0],
    ...['process_after', 'deadline_at'].flatMap((field) =>
      ['infinity', '-infinity', '4714-11-24 BC', '1999-12-31Z', '294276-12-31'].map(
        (value): [string, unknown] => [field, value],
      ),
    ),
  ];
  test.each(wrong)('with %s of %s is refused', async (field, value) => {
    const jobs = JSON.stringify([{ id: uuidv7(), kind: 'chore', [field]: value }]);
    const answer = await gates.unchanged(() =>
      gates.call('fn_job_enqueue_many', { jobs, actor: 'ada' }),
    );
    expect(answer.refused).toMatchObject([
      { reason: expect.stringMatching(/^invalid_(job|max_attempts)$/) },
    ]);
  });

  test('with a number that JSON cannot hold is refused through the API', async () => {
    const writ = await gates.db.connect();
    const job = defineJob('chore');
    for (const options of [
      { attempts: Number.NaN },
      { attempts: Number.POSITIVE_INFINITY },
      { priority: Number.POSITIVE_INFINITY },
      { priority: Number.NaN },
    ]) {
      await expect(writ.enqueue(job, undefined, options)).rejects.toMatchObject({
        code: 'invalid_job',
      });
    }
    const delay = `${'9'.repeat(400)}d` as const;
    await expect(writ.enqueue(job, undefined, { delay: delay as '9d' })).rejects.toMatchObject({
      code: 'invalid_duration',
    });
    await writ.close();
  });
});

describe('a schedule', () => {
  test.each(['infinity', '-infinity', '4714-11-24 BC'])(
    'with a next tick of %s is refused',
    async (next_tick) => {
      const definition = { cron: '* * * * *', kind: 'chore', job: {} };
      await gates.refuses('invalid_ticks', 'fn_schedule_put', {
        schedule: 's',
        definition,
        next_tick,
        actor: 'ada',
      });
    },
  );
});

describe('other gates', () => {
  const beat = {
    executor_id: 'w',
    executor_kind: 'external_worker',
    domain_scope: '{}',
    cadence_seconds: 10,
  };
  const calls: [string, string, Row][] = [
    ...['NaN', 'Infinity', '-1', '1e300', '0'].map((weight): [string, string, Row] => [
      'invalid_weight',
      'fn_tenant_weight_set',
      { tenant_id: 'acme', weight, actor: 'ada' },
    ]),
    ...['NaN', 'Infinity', '-1', '1e300'].map((idle_seconds): [string, string, Row] => [
      'invalid_heartbeat',
      'fn_queue_heartbeat',
      { ...beat, idle_seconds },
    ]),
    ...[0, -1, 2147483647].map((cadence_seconds): [string, string, Row] => [
      'invalid_heartbeat',
      'fn_queue_heartbeat',
      { ...beat, cadence_seconds },
    ]),
    ...[-1, 1e300, 316224000001].map((delay_ms): [string, string, Row] => [
      'invalid_consumer',
      'fn_consumer_register',
      {
        consumer: 'c',
        event_type: 'dot.job.succeeded',
        job_kind: 'chore',
        options: { delay_ms },
        actor: 'ada',
      },
    ]),
    ...[-32769, 32768].map((priority_floor): [string, string, Row] => [
      'invalid_subscription',
      'fn_job_subscription_put',
      { executor_id: 'w', job_kind: null, event_domain: null, priority_floor, actor: 'ada' },
    ]),
  ];
  test.each(calls)('answers %s to %s of %j', async (reason, gate, parameters) => {
    await gates.refuses(reason, gate, parameters);
  });

  test.each(['NaN', 'Infinity', '1e300'])(
    'a lease of %s seconds lasts a day, also when it is renewed',
    async (ttl) => {
      await gates.enqueue();
      const { token } = await gates.claim({ lease_ttl_seconds: ttl });
      expect(
        await gates.call('fn_job_renew_many', { lease_tokens: [token], lease_ttl_seconds: ttl }),
      ).toMatchObject({ renewed: [token] });
      const [lease] = await gates.db.query(
        'select leased_until < writ.now() + $1::interval as soon from writ_data.job_lease',
        ['25h'],
      );
      expect(lease).toEqual({ soon: true });
      await gates.call('fn_lease_release', { lease_token: token });
      await gates.db.query('delete from writ_data.job_ready');
    },
  );
});

const workers: WorkerOptions[] = [
  ...[Number.NaN, 0, -1, 1.5, Number.POSITIVE_INFINITY, 1e9].flatMap((n) => [
    { concurrency: n },
    { batch: n },
  ]),
  ...(['lease', 'stall', 'poll', 'grace'] as const).map((name) => ({ [name]: Number.MAX_VALUE })),
  { lease: 30 },
  { poll: '30d' },
];
test.each(workers)('a worker with the options %j is refused', async (options) => {
  const writ = await gates.db.connect();
  await expect(writ.work([defineJob('chore').handle(() => 1)], options)).rejects.toMatchObject({
    code: 'invalid_argument',
  });
  await writ.close();
});

test('a worker that polls once an hour is still heard', async () => {
  const db = await testDatabase();
  const writ = await db.connect();
  const errors: unknown[] = [];
  const worker = await writ.work([defineJob('chore').handle(() => 1)], {
    poll: '1h',
    onError: (error) => void errors.push(error),
  });
  await expect
    .poll(() => db.query('select idle_until > writ.now() as idle from writ.v_queue_heartbeat'))
    .toEqual([{ idle: true }]);
  await worker.stop();
  expect(errors).toEqual([]);
  await db.drop();
});
