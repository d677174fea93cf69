/**
 * The JSON Schema of a plan, and the check that goes by it. The schemas are plain data, as TypeBox
 * makes them: every process that imports `writ` would load TypeBox otherwise. What a schema cannot
 * say is a rule, a function beside it. Refusals say in words what may stand where, and never repeat
 * a value: one may be a secret.
 */
import { WritRefusal } from '../../errors/index.js';
import { limits, type PlanStep, type Template } from './document.js';
import { mostBytes } from './payload-schema.js';
import { parseRef, refsOf } from './refs.js';

export const wrong = (detail: string, options?: ErrorOptions) =>
  new WritRefusal('INVALID_STEP_SCHEMA', detail, options);

/** Where in the plan something stands, in words: whose field, and which. */
export interface Place {
  readonly owner: string;
  readonly path: string;
}

/** Throws if the value is not what belongs there. */
type Rule = (value: unknown, place: Place) => void;
const rule = Symbol('rule');

/** The part of JSON Schema that plans need. `title` is what the value must be, in words. */
export interface Schema {
  readonly title?: string;
  readonly description?: string;
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly const?: unknown;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly oneOf?: readonly Schema[];
  readonly [rule]?: Rule;
}

const shown = (name: string) =>
  /^[\w.$:-]{1,60}$/.test(name)
    ? name
    : JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);
const within = ({ owner, path }: Place, name: string): Place => ({
  owner,
  path: path ? `${path}.${shown(name)}` : shown(name),
});
const fault = ({ owner, path }: Place, words: string) =>
  wrong(path ? `${owner}: ${path} ${words}` : `${owner} ${words}`);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Throws for the first thing in a value that does not fit. */
function check(schema: Schema, value: unknown, place: Place): void {
  const must = (fits: boolean, words = schema.title) => {
    if (!fits) throw fault(place, `must be ${words}`);
  };
  if ('const' in schema && value !== schema.const)
    throw fault(
      place,
      schema.title
        ? `must be ${schema.title}`
        : `can be nothing but ${JSON.stringify(schema.const)}; leave it out otherwise`,
    );
  if (schema.type === 'string')
    must(typeof value === 'string' && new RegExp(schema.pattern ?? '').test(value));
  if (schema.type === 'integer') {
    const { minimum = 0, maximum = 0 } = schema;
    const fits = Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
    must(fits, `a whole number from ${minimum} to ${maximum}`);
  }
  if (schema.type === 'array') {
    must(Array.isArray(value) && value.length >= (schema.minItems ?? 0));
    const members = value as unknown[];
    if (schema.items && !schema.items.oneOf)
      for (const member of members) check(schema.items, member, place);
    const twice = members.find((member, index) => members.indexOf(member) < index);
    if (schema.uniqueItems && twice !== undefined) throw fault(place, `names ${twice} twice`);
  }
  if (schema.properties) checkFields(schema, schema.properties, value, place);
  schema[rule]?.(value, place);
}

function checkFields(
  { title, required = [] }: Schema,
  properties: Readonly<Record<string, Schema>>,
  value: unknown,
  place: Place,
): void {
  const names = Object.keys(properties);
  if (!isObject(value)) throw fault(place, `must be an object with ${names.join(', ')}`);
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing) throw fault(within(place, missing), 'is missing');
  for (const [name, content] of Object.entries(value)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!schema)
      throw fault(within(place, name), `is not a field of ${title}; those are ${names.join(', ')}`);
    check(schema, content, within(place, name));
  }
}

/** An object with these fields and no others. */
const object = (
  title: string,
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema => ({
  title,
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: false,
});

const text = (pattern: RegExp, title: string): Schema => ({
  title,
  type: 'string',
  pattern: pattern.source,
});
const whole = (minimum: number, maximum: number): Schema => ({ type: 'integer', minimum, maximum });
const only = (value: unknown): Schema => ({ const: value });

export const name100 = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;
const nameWords = '1 to 100 letters, digits and _ . - beginning with a letter or digit';
const kind = text(
  /^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$/,
  'the name of a kind of job: 1 to 200 letters, digits and _ . : / - beginning with a letter or digit',
);
const time = whole(1, limits.ms);
const retry = object('a retry', {}, { attempts: whole(1, limits.attempts) });

const refText: Rule = (value, place) => {
  if (typeof value !== 'string')
    throw fault(place, 'must be the text of a reference, such as input.id');
  if (value.length > limits.refLength)
    throw fault(place, `is longer than ${limits.refLength} characters`);
  if (!parseRef(value)) {
    throw fault(
      place,
      `refers to ${shown(value)}, but references begin with input, item, run.id or steps.ID.output, and have a name between dots`,
    );
  }
};

const secretName = text(/^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$/, 'the name of a secret');

/** Any JSON, and in it references that are such. */
const template: Rule = (value, place) => {
  if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) template(member, within(place, String(index)));
  } else if (isObject(value)) {
    const alone = Object.keys(value).length === 1 ? Object.keys(value)[0] : undefined;
    if (alone === '$ref') refText(value.$ref, place);
    else if (alone === '$secret') check(secretName, value.$secret, within(place, '$secret'));
    else for (const [name, member] of Object.entries(value)) template(member, within(place, name));
  }
};

const input: Schema = {
  description:
    'Any JSON. An object with the single key $ref stands for what it points to, one with the single ' +
    'key $secret for a secret.',
  [rule]: (value, place) => {
    template(value, place);
    const refs = [...refsOf(value as Template)].length;
    if (refs > limits.refs)
      throw fault(place, `has ${refs} references; ${limits.refs} are allowed`);
  },
};

const ref: Schema = {
  type: 'object',
  description: 'A reference to a list: { "$ref": "input.items" }.',
  [rule]: (value, place) => {
    if (!isObject(value) || Object.keys(value).join() !== '$ref')
      throw fault(place, 'must be a reference: { "$ref": "input.items" }');
    refText(value.$ref, place);
  },
};

/** What something is compared with: JSON that stands for itself. */
const literal: Rule = (value, place) => {
  if (Array.isArray(value)) {
    for (const member of value) literal(member, place);
  } else if (isObject(value)) {
    if (Object.keys(value).join() === '$ref')
      throw fault(
        place,
        'is compared with a reference; it can be compared with a plain value only',
      );
    for (const member of Object.values(value)) literal(member, place);
  }
};

const number: Rule = (value, place) => {
  if (typeof value !== 'number') throw fault(place, 'must be a number');
};
const yesOrNo: Rule = (value, place) => {
  if (typeof value !== 'boolean') throw fault(place, 'must be true or false');
};

const comparisons: Readonly<Record<string, Rule>> = {
  is: literal,
  isNot: literal,
  above: number,
  below: number,
  exists: yesOrNo,
};

function condition(value: unknown, place: Place, depth = 0): void {
  if (depth > limits.depth) throw fault(place, `has conditions more than ${limits.depth} deep`);
  const names = isObject(value) ? Object.keys(value) : [];
  const comparison = names.find((name) => Object.hasOwn(comparisons, name));
  if (isObject(value) && names.length === 2 && names.includes('ref') && comparison) {
    refText(value.ref, within(place, 'ref'));
    comparisons[comparison]?.(value[comparison], within(place, comparison));
  } else if (isObject(value) && names.length === 1 && names[0] === 'not') {
    condition(value.not, within(place, 'not'), depth + 1);
  } else if (isObject(value) && names.length === 1 && (names[0] === 'all' || names[0] === 'any')) {
    const members = value[names[0]];
    if (!Array.isArray(members) || members.length === 0)
      throw fault(within(place, names[0]), 'must be a list of conditions, of one at least');
    for (const member of members) condition(member, within(place, names[0]), depth + 1);
  } else {
    throw fault(
      place,
      'must be one condition: ref with one of is, isNot, above, below, exists; or one of all, any, not',
    );
  }
}

const compensation = object('a compensation', { kind }, { input, retry });

const stepId: Schema = {
  ...text(name100, nameWords),
  [rule]: (value, place) => {
    if (value === 'RUN') throw fault(place, 'is taken: in the log RUN stands for the run itself');
    if (/\.output(?:\.|$)/.test(value as string))
      throw fault(place, 'has output behind a dot, which would make references to it unclear');
  },
};

const idsOfSteps = 'a list of ids of steps';
const anyStep = {
  after: {
    title: idsOfSteps,
    type: 'array',
    items: text(name100, idsOfSteps),
    uniqueItems: true,
  },
  when: {
    type: 'object',
    description: 'A condition: ref with is, isNot, above, below or exists; or all, any, not.',
    [rule]: (value, place) => condition(value, place),
  },
  optional: only(true),
} satisfies Record<string, Schema>;
const job = { input, retry, timeoutMs: time, compensate: compensation };

const payload: Schema = {
  type: 'object',
  description: 'A JSON Schema of what is delivered.',
  [rule]: (value, place) => {
    if (!isObject(value)) throw fault(place, 'must be an object: a JSON Schema');
    const bytes = Buffer.byteLength(JSON.stringify(value));
    if (bytes > mostBytes) throw fault(place, `has ${bytes} bytes; ${mostBytes} are allowed`);
  },
};

const step = (
  type: PlanStep['type'],
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema =>
  object(
    `a step of type ${type}`,
    { id: stepId, type: only(type), ...required },
    { ...anyStep, ...optional },
  );

const steps: Readonly<Record<PlanStep['type'], Schema>> = {
  job: step('job', { kind }, job),
  each: step('each', { kind, over: ref, parallel: whole(1, limits.parallel) }, job),
  wait: step(
    'wait',
    { event: text(name100, nameWords) },
    { schema: payload, timeoutMs: time, onTimeout: only('skip') },
  ),
  timer: step('timer', { ms: time }),
};

/** The JSON Schema of a plan. Rules between fields stand beside it, in `validatePlan`. */
export const planSchema = object(
  'a plan',
  {
    schemaVersion: { const: 1, title: '1: this version of Writ knows no other' },
    planId: text(name100, nameWords),
    planVersion: text(
      /^[A-Za-z0-9][A-Za-z0-9_.+-]{0,39}$/,
      '1 to 40 letters, digits and _ . + - such as 1.2.0',
    ),
    steps: {
      title: 'a list of steps, of one at least',
      type: 'array',
      items: { oneOf: Object.values(steps) },
      minItems: 1,
      maxItems: limits.steps,
      [rule]: (value, place) => {
        const { length } = value as unknown[];
        if (length > limits.steps)
          throw fault(place, `has ${length} steps; a plan has at most ${limits.steps}`);
      },
    },
  },
  { onFailure: only('pause') },
);

/** The plan around its steps, which `checkStep` checks one by one. */
export const checkPlan = (plan: unknown): void =>
  check(planSchema, plan, { owner: 'the plan', path: '' });

/** A step by itself; `position` counts from 1. */
export function checkStep(value: unknown, position: number): asserts value is PlanStep {
  const { id, type } = isObject(value) ? value : {};
  const owner =
    typeof id === 'string' && name100.test(id) ? `step ${id}` : `the ${ordinal(position)} step`;
  if (!isObject(value)) throw wrong(`${owner} must be an object`);
  const schema =
    typeof type === 'string' && Object.hasOwn(steps, type)
      ? steps[type as PlanStep['type']]
      : undefined;
  if (!schema) throw wrong(`${owner}: type must be one of ${Object.keys(steps).join(', ')}`);
  check(schema, value, { owner, path: '' });
}

const ordinal = (n: number) =>
  `${n}${n % 100 > 10 && n % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')}`;
