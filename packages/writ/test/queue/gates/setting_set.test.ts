import { expect, test } from 'vitest';
import { rolledBackGates } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_setting_set';

test('a setting is changed, and who changed it from what is on record', async () => {
  expect(
    await gates.call(gate, { key: 'queue.retry.backoff_base_sec', value: '20', actor: 'ada' }),
  ).toEqual({
    key: 'queue.retry.backoff_base_sec',
    value: 20,
    was: 10,
  });
  expect(
    await gates.db.query(
      `select value, updated_by from writ.dot_config where key = 'queue.retry.backoff_base_sec'`,
    ),
  ).toEqual([{ value: 20, updated_by: 'ada' }]);
  expect(
    await gates.db.query(
      `select actor, note from writ.command_run where command = 'fn_setting_set' order by at desc limit 1`,
    ),
  ).toEqual([{ actor: 'ada', note: 'queue.retry.backoff_base_sec: 10 → 20' }]);
});
