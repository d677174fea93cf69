/**
 * What is a plan and what is not, and that people are told so in words: the step, the field, and
 * what would be right.
 */
import { describe, expect, test } from 'vitest';
import { WritRefusal } from '../../../src/errors/index.js';
import { planSchema } from '../../../src/runs/plans/schema.js';
import { validatePlan } from '../../../src/runs/plans/validate.js';

const plan = (steps: unknown, more: object = {}) => ({
  schemaVersion: 1,
  planId: 'fulfil',
  planVersion: '1.2.0',
  ...more,
  steps,
});
const job = (id: string, more: object = {}) => ({ id, type: 'job', kind: 'do', ...more });
const each = (more: object = {}) => ({
  id: 'all',
  type: 'each',
  kind: 'do',
  over: { $ref: 'input.list' },
  parallel: 8,
  ...more,
});

function refusalOf(value: unknown): WritRefusal {
  try {
    validatePlan(value);
  } catch (error) {
    if (error instanceof WritRefusal) return error;
    throw error;
  }
  throw new Error('it was taken for a plan');
}

describe('a plan', () => {
  test('that is right is taken as it is', () => {
    const right = plan(
      [
        job('reserve', {
          input: { order: { $ref: 'input.id' } },
          retry: { attempts: 3 },
          timeoutMs: 1,
          compensate: { kind: 'undo', input: { id: { $ref: 'steps.reserve.output.id' } } },
        }),
        {
          id: 'approval',
          type: 'wait',
          event: 'approved',
          timeoutMs: 5,
          onTimeout: 'skip',
          after: ['reserve'],
        },
        { id: 'rest', type: 'timer', ms: 600_000, after: ['approval'], optional: true },
        each({
          after: ['rest'],
          input: { url: { $ref: 'item.url' }, run: { $ref: 'run.id' } },
          compensate: { kind: 'undo', input: [{ $ref: 'item' }, { $ref: 'steps.all.output' }] },
        }),
        job('ship', {
          after: ['all'],
          when: {
            all: [
              { ref: 'steps.reserve.output.available', is: true },
              {
                any: [
                  { ref: 'input.total', above: 5 },
                  { not: { ref: 'input.note', exists: true } },
                ],
              },
            ],
          },
        }),
      ],
      { onFailure: 'pause' },
    );
    expect(validatePlan(right)).toEqual(right);
  });

  test('is copied: what was given can change, and the plan does not', () => {
    const given = plan([job('a', { input: { list: [1] } })]);
    const document = validatePlan(given);
    (
      (given.steps as { input: { list: number[] } }[])[0] as { input: { list: number[] } }
    ).input.list.push(2);
    expect(document.steps[0]).toMatchObject({ input: { list: [1] } });
  });

  test('may have dots in the ids of its steps, and references find them', () => {
    const dotted = plan([
      job('model.orders'),
      job('next', { after: ['model.orders'], input: { $ref: 'steps.model.orders.output.rows.0' } }),
    ]);
    expect(validatePlan(dotted)).toEqual(dotted);
  });

  test('may refer to any step that has surely ended, not only to those that it names', () => {
    const steps = [
      job('a'),
      job('b', { after: ['a'] }),
      job('c', { after: ['b'], input: { $ref: 'steps.a.output' } }),
    ];
    expect(validatePlan(plan(steps)).steps).toEqual(steps);
  });

  test('may hold objects with a $ref beside other keys: they stand for themselves', () => {
    const schema = plan([job('a', { input: { $ref: '#/definitions/x', title: 'a JSON schema' } })]);
    expect(validatePlan(schema)).toEqual(schema);
  });

  test('has up to 1,000 steps, in a row or all before one', () => {
    const row = Array.from({ length: 1_000 }, (_, n) =>
      job(`s${n}`, n > 0 ? { after: [`s${n - 1}`] } : {}),
    );
    expect(validatePlan(plan(row)).steps).toHaveLength(1_000);
    expect(validatePlan(plan([...row].reverse())).steps.map(({ id }) => id)).toEqual(
      row.map(({ id }) => id),
    );
  });
});

const circle = {
  get self() {
    return this;
  },
};
const id = (length: number) => 'x'.repeat(length);
const pyramid = (depth: number): object =>
  depth === 0 ? { ref: 'input', exists: true } : { not: pyramid(depth - 1) };

// What is given, and the whole of what is said about it.
const wrongPlans: [unknown, string | RegExp][] = [
  // Around the steps.
  [null, 'the plan must be an object with schemaVersion, planId, planVersion, steps, onFailure'],
  ['plan', 'the plan must be an object with schemaVersion, planId, planVersion, steps, onFailure'],
  [undefined, 'the plan is not JSON: the value: undefined is not JSON'],
  [
    plan([job('a')], { schemaVersion: 2 }),
    'the plan: schemaVersion must be 1: this version of Writ knows no other',
  ],
  [
    plan([job('a')], { planId: '' }),
    'the plan: planId must be 1 to 100 letters, digits and _ . - beginning with a letter or digit',
  ],
  [
    plan([job('a')], { planId: 'a/b' }),
    'the plan: planId must be 1 to 100 letters, digits and _ . - beginning with a letter or digit',
  ],
  [
    plan([job('a')], { planVersion: 1 }),
    'the plan: planVersion must be 1 to 40 letters, digits and _ . + - such as 1.2.0',
  ],
  [
    plan([job('a')], { onFailure: 'fail' }),
    'the plan: onFailure can be nothing but "pause"; leave it out otherwise',
  ],
  [
    plan([job('a')], { colour: 'red' }),
    'the plan: colour is not a field of a plan; those are schemaVersion, planId, planVersion, steps, onFailure',
  ],
  [{ schemaVersion: 1, planId: 'p', steps: [job('a')] }, 'the plan: planVersion is missing'],
  [plan([]), 'the plan: steps must be a list of steps, of one at least'],
  [plan({ a: job('a') }), 'the plan: steps must be a list of steps, of one at least'],
  [
    plan(Array.from({ length: 1_001 }, (_, n) => job(`s${n}`))),
    'the plan: steps has 1001 steps; a plan has at most 1000',
  ],
  [
    plan([job('a', { input: 'x'.repeat(262_144) })]),
    'the plan has 262260 bytes; 262144 are allowed: put what is large into the input',
  ],
  [
    plan([job('a', { input: 'a\u0000b' })]),
    'the plan has a NUL character in a text, which a database cannot hold',
  ],
  [
    plan([job('a', { input: { n: 2 ** 53 } })]),
    'the plan is not JSON: /steps/0/input/n: a whole number beyond 2^53 - 1',
  ],
  [
    plan([job('a', { input: new Date(0) })]),
    'the plan is not JSON: /steps/0/input: Date is not JSON',
  ],
  [
    plan([job('a', { input: circle })]),
    /^the plan is not JSON: .*nested deeper than 200, or in a circle$/,
  ],

  // A step's fields.
  [plan([7]), 'the 1st step must be an object'],
  [plan([job('a'), { type: 'job', kind: 'do' }]), 'the 2nd step: id is missing'],
  [
    plan([job('a b')]),
    'the 1st step: id must be 1 to 100 letters, digits and _ . - beginning with a letter or digit',
  ],
  [
    plan([job(id(101))]),
    'the 1st step: id must be 1 to 100 letters, digits and _ . - beginning with a letter or digit',
  ],
  [plan([job('RUN')]), 'step RUN: id is taken: in the log RUN stands for the run itself'],
  [
    plan([job('a.output')]),
    'step a.output: id has output behind a dot, which would make references to it unclear',
  ],
  [plan([{ id: 'a' }]), 'step a: type must be one of job, each, wait, timer'],
  [plan([{ id: 'a', type: 'toString' }]), 'step a: type must be one of job, each, wait, timer'],
  [plan([{ id: 'a', type: 'job' }]), 'step a: kind is missing'],
  [
    plan([{ id: 'a', type: 'timer', ms: 1, kind: 'do' }]),
    'step a: kind is not a field of a step of type timer; those are id, type, ms, after, when, optional',
  ],
  [
    plan([job('a', { dependsOn: ['b'] })]),
    'step a: dependsOn is not a field of a step of type job; those are id, type, kind, after, when, optional, input, retry, timeoutMs, compensate',
  ],
  [plan([job('a', { constructor: 1 })]), /^step a: constructor is not a field/],
  [plan([job('a', { ['x'.repeat(80)]: 1 })]), /^step a: "x{60}…" is not a field/],
  [
    plan([job('a', { kind: 'two words' })]),
    'step a: kind must be the name of a kind of job: 1 to 200 letters, digits and _ . : / - beginning with a letter or digit',
  ],
  [
    plan([job('a', { optional: false })]),
    'step a: optional can be nothing but true; leave it out otherwise',
  ],
  [
    plan([job('a', { timeoutMs: '30s' })]),
    'step a: timeoutMs must be a whole number from 1 to 316224000000',
  ],
  [
    plan([job('a', { timeoutMs: 0 })]),
    'step a: timeoutMs must be a whole number from 1 to 316224000000',
  ],
  [plan([job('a', { retry: 3 })]), 'step a: retry must be an object with attempts'],
  [
    plan([job('a', { retry: { attempts: 0 } })]),
    'step a: retry.attempts must be a whole number from 1 to 32767',
  ],
  [
    plan([job('a', { retry: { attempts: 1.5 } })]),
    'step a: retry.attempts must be a whole number from 1 to 32767',
  ],
  [
    plan([job('a', { retry: { delay: 1 } })]),
    'step a: retry.delay is not a field of a retry; those are attempts',
  ],
  [
    plan([job('a', { compensate: 'undo' })]),
    'step a: compensate must be an object with kind, input, retry',
  ],
  [plan([job('a', { compensate: { input: 1 } })]), 'step a: compensate.kind is missing'],
  [plan([each({ parallel: 0 })]), 'step all: parallel must be a whole number from 1 to 1000'],
  [plan([each({ parallel: 1_001 })]), 'step all: parallel must be a whole number from 1 to 1000'],
  [plan([each({ over: [1, 2] })]), 'step all: over must be a reference: { "$ref": "input.items" }'],
  [
    plan([each({ over: { $ref: 'input', more: 1 } })]),
    'step all: over must be a reference: { "$ref": "input.items" }',
  ],
  [plan([{ id: 'w', type: 'wait' }]), 'step w: event is missing'],
  [
    plan([{ id: 'w', type: 'wait', event: 'e', onTimeout: 'fail' }]),
    'step w: onTimeout can be nothing but "skip"; leave it out otherwise',
  ],
  [
    plan([{ id: 't', type: 'timer', ms: -1 }]),
    'step t: ms must be a whole number from 1 to 316224000000',
  ],

  // Order.
  [plan([job('a', { after: 'b' })]), 'step a: after must be a list of ids of steps'],
  [plan([job('a', { after: [1] })]), 'step a: after must be a list of ids of steps'],
  [plan([job('a'), job('b', { after: ['a', 'a'] })]), 'step b: after names a twice'],
  [plan([job('a', { after: ['b'] })]), 'step a: after names b, and the plan has no such step'],
  [plan([job('a'), job('b'), job('a')]), 'step a is there twice; every step has an id of its own'],
  [
    plan([job('a', { after: ['a'] })]),
    'steps wait for each other in a circle: a → a, where each waits for the next',
  ],
  [
    plan([
      job('start'),
      job('a', { after: ['start', 'c'] }),
      job('b', { after: ['a'] }),
      job('c', { after: ['b'] }),
    ]),
    'steps wait for each other in a circle: a → c → b → a, where each waits for the next',
  ],
  [
    plan(Array.from({ length: 30 }, (_, n) => job(`s${n}`, { after: [`s${(n + 1) % 30}`] }))),
    'steps wait for each other in a circle: s0 → s1 → s2 → s3 → s4 → s5 → s6 → s7 → s8 → s9 → s10 → … → s0, where each waits for the next',
  ],

  // References.
  [
    plan([job('a', { input: { $ref: 'output.id' } })]),
    'step a: input refers to output.id, but references begin with input, item, run.id or steps.ID.output, and have a name between dots',
  ],
  [
    plan([job('a', { input: { deep: [{ $ref: 'inputs' }] } })]),
    /^step a: input\.deep\.0 refers to inputs, but references begin with/,
  ],
  [plan([job('a', { input: { $ref: 'input..id' } })]), /^step a: input refers to input\.\.id, but/],
  [
    plan([job('a', { input: { $ref: 'run.tenant' } })]),
    /^step a: input refers to run\.tenant, but/,
  ],
  [plan([job('a', { input: { $ref: 'run.id.x' } })]), /^step a: input refers to run\.id\.x, but/],
  [plan([job('a', { input: { $ref: 'steps.a' } })]), /^step a: input refers to steps\.a, but/],
  [
    plan([job('a', { input: { $ref: 7 } })]),
    'step a: input must be the text of a reference, such as input.id',
  ],
  [
    plan([job('a', { input: { $ref: `input.${id(500)}` } })]),
    'step a: input is longer than 500 characters',
  ],
  [
    plan([job('a', { input: { $ref: 'steps.b.output' } })]),
    'step a: input refers to steps.b.output, and the plan has no step b',
  ],
  [
    plan([job('a', { input: { $ref: 'steps.a.output' } })]),
    'step a: input refers to steps.a.output, its own output, which is not there yet',
  ],
  [
    plan([job('a'), job('b', { input: { $ref: 'steps.a.output.id' } })]),
    'step b: input refers to steps.a.output.id, which may not have ended by then: add a to its after',
  ],
  [
    plan([job('a', { when: { ref: 'steps.b.output', exists: true } }), job('b', { after: ['a'] })]),
    'step a: when refers to steps.b.output, which may not have ended by then: add b to its after',
  ],
  [
    plan([job('a'), each({ over: { $ref: 'steps.a.output' } })]),
    'step all: over refers to steps.a.output, which may not have ended by then: add a to its after',
  ],
  [
    plan([job('a'), job('b', { compensate: { kind: 'undo', input: { $ref: 'steps.a.output' } } })]),
    'step b: compensate.input refers to steps.a.output, which may not have ended by then: add a to its after',
  ],
  [
    plan([job('a', { input: { $ref: 'item' } })]),
    'step a: input refers to item, but there is an item only in the input of a step of type each',
  ],
  [
    plan([each({ over: { $ref: 'item' } })]),
    'step all: over refers to item, but there is an item only in the input of a step of type each',
  ],
  [
    plan([each({ when: { ref: 'item', is: 1 } })]),
    'step all: when refers to item, but there is an item only in the input of a step of type each',
  ],
  [
    plan([
      { id: 't', type: 'timer', ms: 1 },
      job('a', { after: ['t'], input: { $ref: 'steps.t.output' } }),
    ]),
    'step a: input refers to steps.t.output, but a step of type timer has no output',
  ],
  [
    plan([job('a', { input: { $secret: 'two words' } })]),
    'step a: input.$secret must be the name of a secret',
  ],

  // Conditions.
  [
    plan([job('a', { when: true })]),
    'step a: when must be one condition: ref with one of is, isNot, above, below, exists; or one of all, any, not',
  ],
  [plan([job('a', { when: { ref: 'input' } })]), /^step a: when must be one condition/],
  [
    plan([job('a', { when: { ref: 'input', is: 1, isNot: 2 } })]),
    /^step a: when must be one condition/,
  ],
  [
    plan([job('a', { when: { all: [{ ref: 'input', equals: 1 }] } })]),
    /^step a: when\.all must be one condition/,
  ],
  [
    plan([job('a', { when: { any: [] } })]),
    'step a: when.any must be a list of conditions, of one at least',
  ],
  [
    plan([job('a', { when: { ref: 'input.n', above: '3' } })]),
    'step a: when.above must be a number',
  ],
  [
    plan([job('a', { when: { ref: 'input.n', exists: 1 } })]),
    'step a: when.exists must be true or false',
  ],
  [
    plan([job('a', { when: { ref: 'order.id', is: 1 } })]),
    /^step a: when\.ref refers to order\.id, but references begin/,
  ],
  [
    plan([job('a', { when: { ref: 'input.a', is: { $ref: 'input.b' } } })]),
    'step a: when.is is compared with a reference; it can be compared with a plain value only',
  ],
  [plan([job('a', { when: pyramid(21) })]), /has conditions more than 20 deep$/],
  [
    plan([job('a', { input: Array.from({ length: 101 }, () => ({ $ref: 'input.a' })) })]),
    'step a: input has 101 references; 100 are allowed',
  ],
];

test.each(wrongPlans.map(([value, words]) => [words, value] as const))(
  'it is said that %s',
  (words, value) => {
    const refusal = refusalOf(value);
    expect(refusal.code).toBe('INVALID_STEP_SCHEMA');
    if (typeof words === 'string') expect(refusal.detail).toBe(words);
    else expect(refusal.detail).toMatch(words);
  },
);

test('has a JSON Schema, in which every field of every step is declared', () => {
  const schema = JSON.parse(JSON.stringify(planSchema));
  expect(schema).toMatchObject({
    type: 'object',
    required: ['schemaVersion', 'planId', 'planVersion', 'steps'],
    additionalProperties: false,
    properties: { planId: { type: 'string', pattern: expect.any(String) } },
  });
  const types: { properties: { type: object } }[] = schema.properties.steps.items.oneOf;
  expect(types.map(({ properties }) => properties.type)).toEqual(
    ['job', 'each', 'wait', 'timer'].map((type) => ({ const: type })),
  );
  for (const type of types)
    expect(type).toMatchObject({ type: 'object', additionalProperties: false });
});
