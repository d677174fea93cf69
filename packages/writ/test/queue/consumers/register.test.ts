import { expect, test } from 'vitest';
import { type Row, rolledBackGates } from '../gates/harness.js';

const gates = rolledBackGates();
const gate = 'fn_consumer_register';
const plain: Row = {
  consumer: 'alarm',
  event_type: 'dot.job.dead_letter',
  job_kind: 'alert',
  options: {},
  actor: 'test',
};
const prepare = async () => {
  await gates.register('alert');
  await gates.register('chore');
};
const registered = () => gates.db.query('select * from writ.consumer_registry order by consumer');

test('a consumer is registered with what the call says, and it is on the record', async () => {
  await prepare();
  const options = {
    subject_kind: 'chore',
    subject_domain: 'dot',
    priority: 7,
    delay_ms: 1500,
    max_attempts: 2,
  };
  expect(await gates.call(gate, { ...plain, options })).toEqual({ registered: 'alarm' });
  expect(await registered()).toMatchObject([
    {
      consumer: 'alarm',
      event_type: 'dot.job.dead_letter',
      job_kind: 'alert',
      subject_kind: 'chore',
      subject_domain: 'dot',
      priority: 7,
      delay_ms: '1500',
      max_attempts: 2,
      registered_by: 'test',
      refused: null,
    },
  ]);
  expect(
    await gates.db.query(
      `select actor from writ.command_run where command = 'fn_consumer_register'`,
    ),
  ).toEqual([{ actor: 'test' }]);
});

test('registering the same again changes nothing; another definition changes the consumer and not its position', async () => {
  await prepare();
  await gates.call(gate, plain);
  const [before] = await registered();
  await gates.unchanged(() => gates.call(gate, plain));
  await gates.call(gate, { ...plain, event_type: 'dot.job.cancelled', actor: 'ada' });
  const [after] = await registered();
  expect(after).toMatchObject({
    event_type: 'dot.job.cancelled',
    registered_by: 'ada',
    position_xid: before?.position_xid,
  });
});

test('a consumer that is removed is gone, and removing it again is refused', async () => {
  await prepare();
  await gates.call(gate, plain);
  expect(await gates.call('fn_consumer_remove', { consumer: 'alarm', actor: 'test' })).toEqual({
    removed: 'alarm',
  });
  expect(await registered()).toEqual([]);
  await gates.refuses('consumer_not_found', 'fn_consumer_remove', {
    consumer: 'alarm',
    actor: 'test',
  });
  await gates.refuses('actor_required', 'fn_consumer_remove', { consumer: 'alarm', actor: ' ' });
});

test('a consumer that would feed itself is refused, and the table would not hold it either', async () => {
  await prepare();
  await gates.refuses('consumer_loop', gate, { ...plain, options: { subject_kind: 'alert' } });
  await gates.call(gate, plain);
  await gates.raises('23514', /consumer_does_not_feed_itself/, () =>
    gates.db.query(`update writ_data.consumer_registry set subject_kind = 'alert'`),
  );
});

test.each([
  ['actor_required', { actor: ' ' }],
  ['invalid_consumer', { consumer: '' }],
  ['invalid_consumer', { consumer: null }],
  ['invalid_consumer', { consumer: 'a b' }],
  ['invalid_consumer', { consumer: 'x'.repeat(201) }],
  ['invalid_consumer', { options: '[]' }],
  ['invalid_consumer', { options: { colour: 'red' } }],
  ['invalid_consumer', { options: { priority: 'high' } }],
  ['invalid_consumer', { options: { priority: 40_000 } }],
  ['invalid_consumer', { options: { delay_ms: -1 } }],
  ['invalid_consumer', { options: { max_attempts: 0 } }],
  ['invalid_consumer', { options: { subject_domain: 'nowhere' } }],
  [
    'invalid_consumer',
    { event_type: 'system.queue_worker_silent', options: { subject_kind: 'chore' } },
  ],
  ['unknown_event_type', { event_type: 'dot.job.vanished' }],
  ['unknown_event_type', { event_type: null }],
  ['unknown_job_kind', { job_kind: 'nothing' }],
  ['unknown_job_kind', { options: { subject_kind: 'nothing' } }],
])('%s: %j', async (reason, change) => {
  await prepare();
  await gates.refuses(reason, gate, { ...plain, ...change });
});
