import { test } from 'vitest';
import { type Row, sharedGates } from './harness.js';

/** What fn_job_kind_register turns away. */
const gates = sharedGates();
const gate = 'fn_job_kind_register';

test.each(['', ' ', '-dash', '.dot', 'sp ace', 'new\nline', 'ünïcode', 'x'.repeat(201), null])(
  'a name that is none (%j): invalid_job_kind',
  async (kind) => {
    await gates.refuses('invalid_job_kind', gate, { kind, definition: {}, actor: 'ada' });
  },
);

test.each(['MOT', 'dot', ''])(
  'an executor that is not on the list (%j): unknown_executor',
  async (executor) => {
    await gates.refuses('unknown_executor', gate, {
      kind: 'chore',
      definition: { executor },
      actor: 'ada',
    });
  },
);

test.each<[string, Row]>([
  ['no attempts', { max_attempts: 0 }],
  ['negative attempts', { max_attempts: -1 }],
  ['attempts beyond a smallint', { max_attempts: 100_000 }],
  ['half an attempt', { max_attempts: 1.5 }],
  ['attempts that are text', { max_attempts: 'many' }],
  ['a negative backoff', { backoff_base_s: -1 }],
  ['a timeout of nothing', { timeout_s: 0 }],
  ['a domain that is not on the list', { event_domain: 'moon' }],
  ['a blank source system', { source_system: ' ' }],
])('a definition with %s is refused', async (_, definition) => {
  await gates.refusesCoded(gate, { kind: 'chore', definition, actor: 'ada' });
});

test.each(['[]', '"text"', '1', 'null', null])(
  'a definition that is not an object (%j) is refused',
  async (definition) => {
    await gates.refusesCoded(gate, { kind: 'chore', definition, actor: 'ada' });
  },
);

test('without an actor: actor_required', async () => {
  for (const actor of [null, '', ' '])
    await gates.refuses('actor_required', gate, { kind: 'chore', definition: {}, actor });
});
