import { test } from 'vitest';
import { sharedGates } from './harness.js';

/** What fn_setting_set turns away. */
const gates = sharedGates();
const gate = 'fn_setting_set';

test('a setting that nothing reads does not exist: unknown_setting', async () => {
  for (const key of ['queue.color', '', null])
    await gates.refuses('unknown_setting', gate, { key, value: '1', actor: 'ada' });
});

test('a value of another type: invalid_setting', async () => {
  for (const value of ['"yes"', 'true', 'null', '[1]', '{}']) {
    await gates.refuses('invalid_setting', gate, {
      key: 'queue.retry.backoff_base_sec',
      value,
      actor: 'ada',
    });
  }
  await gates.refuses('invalid_setting', gate, {
    key: 'queue.job_substrate.enabled',
    value: '1',
    actor: 'ada',
  });
});

test('no value at all: invalid_setting', async () => {
  await gates.refuses('invalid_setting', gate, {
    key: 'queue.retry.backoff_base_sec',
    value: null,
    actor: 'ada',
  });
});

test('a negative number: invalid_setting', async () => {
  await gates.refuses('invalid_setting', gate, {
    key: 'queue.retry.backoff_base_sec',
    value: '-1',
    actor: 'ada',
  });
});

test('without an actor: actor_required', async () => {
  for (const actor of [null, '', ' '])
    await gates.refuses('actor_required', gate, {
      key: 'queue.notify.enabled',
      value: 'false',
      actor,
    });
});

test.each([
  ['queue.retry.max_attempts_default', '1e9'],
  ['queue.retry.max_attempts_default', '0'],
  ['queue.retry.max_attempts_default', '2.5'],
  ['queue.payload.max_bytes', '1e20'],
  ['queue.lease.reaper_batch', '1e20'],
  ['queue.lease.duration_sec', '1e300'],
  ['queue.retention.finished_sec', '1e300'],
])(
  'a value that the gates cannot work with is refused when it is set, not found out by every call after: %s = %s',
  async (key, value) => {
    await gates.refuses('invalid_setting', gate, { key, value, actor: 'ada' });
  },
);
