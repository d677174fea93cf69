/** The fields of a plan and what may stand in them, with the words for what may not. Values are not repeated in words: one may be a secret. */
import { WritRefusal } from '../../errors/index.js';
import { limits, type PlanStep, type Template } from './document.js';
import { parseRef, refsOf } from './refs.js';

export const wrong = (detail: string, options?: ErrorOptions) =>
  new WritRefusal('INVALID_STEP_SCHEMA', detail, options);

/** Where in the plan something stands, in words: whose field, and which. */
export interface Place {
  readonly owner: string;
  readonly path: string;
}

/** Throws if the value is not what belongs there. */
export type Check = (value: unknown, place: Place) => void;

interface Fields {
  readonly required: Readonly<Record<string, Check>>;
  readonly optional?: Readonly<Record<string, Check>>;
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

function text(pattern: RegExp, words: string): Check {
  return (value, place) => {
    if (typeof value !== 'string' || !pattern.test(value)) throw fault(place, `must be ${words}`);
  };
}

function whole(from: number, to: number): Check {
  return (value, place) => {
    if (!Number.isInteger(value) || (value as number) < from || (value as number) > to) {
      throw fault(place, `must be a whole number from ${from} to ${to}`);
    }
  };
}

function only(expected: unknown): Check {
  return (value, place) => {
    if (value !== expected)
      throw fault(place, `can be nothing but ${JSON.stringify(expected)}; leave it out otherwise`);
  };
}

/** An object with these fields and no others. */
export function object({ required, optional = {} }: Fields, what: string): Check {
  const names = [...Object.keys(required), ...Object.keys(optional)];
  return (value, place) => {
    if (!isObject(value)) throw fault(place, `must be an object with ${names.join(', ')}`);
    const missing = Object.keys(required).find((name) => !Object.hasOwn(value, name));
    if (missing) throw fault(within(place, missing), 'is missing');
    for (const [name, content] of Object.entries(value)) {
      const check = Object.hasOwn(required, name)
        ? required[name]
        : Object.hasOwn(optional, name)
          ? optional[name]
          : undefined;
      if (!check)
        throw fault(
          within(place, name),
          `is not a field of ${what}; those are ${names.join(', ')}`,
        );
      check(content, within(place, name));
    }
  };
}

export const name100 = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;
const nameWords = '1 to 100 letters, digits and _ . - beginning with a letter or digit';
const kind = text(
  /^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$/,
  'the name of a kind of job: 1 to 200 letters, digits and _ . : / - beginning with a letter or digit',
);
const time = whole(1, limits.ms);
const retry = object(
  { required: {}, optional: { attempts: whole(1, limits.attempts) } },
  'a retry',
);

const refText: Check = (value, place) => {
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
const template: Check = (value, place) => {
  if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) template(member, within(place, String(index)));
  } else if (isObject(value)) {
    const alone = Object.keys(value).length === 1 ? Object.keys(value)[0] : undefined;
    if (alone === '$ref') refText(value.$ref, place);
    else if (alone === '$secret') secretName(value.$secret, within(place, '$secret'));
    else for (const [name, member] of Object.entries(value)) template(member, within(place, name));
  }
};

const input: Check = (value, place) => {
  template(value, place);
  const refs = [...refsOf(value as Template)].length;
  if (refs > limits.refs) throw fault(place, `has ${refs} references; ${limits.refs} are allowed`);
};

const ref: Check = (value, place) => {
  if (!isObject(value) || Object.keys(value).join() !== '$ref')
    throw fault(place, 'must be a reference: { "$ref": "input.items" }');
  refText(value.$ref, place);
};

/** What something is compared with: JSON that stands for itself. */
const literal: Check = (value, place) => {
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

const number: Check = (value, place) => {
  if (typeof value !== 'number') throw fault(place, 'must be a number');
};
const yesOrNo: Check = (value, place) => {
  if (typeof value !== 'boolean') throw fault(place, 'must be true or false');
};

const comparisons: Readonly<Record<string, Check>> = {
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

const compensation = object({ required: { kind }, optional: { input, retry } }, 'a compensation');

const stepId: Check = (value, place) => {
  text(name100, nameWords)(value, place);
  if (value === 'RUN') throw fault(place, 'is taken: in the log RUN stands for the run itself');
  if (/\.output(?:\.|$)/.test(value as string))
    throw fault(place, 'has output behind a dot, which would make references to it unclear');
};

const after: Check = (value, place) => {
  if (!Array.isArray(value)) throw fault(place, 'must be a list of ids of steps');
  for (const id of value) text(name100, 'a list of ids of steps')(id, place);
  const twice = value.find((id, index) => value.indexOf(id) < index);
  if (twice !== undefined) throw fault(place, `names ${twice} twice`);
};

const anyStep = {
  after,
  when: (value: unknown, place: Place) => condition(value, place),
  optional: only(true),
};
const job = { input, retry, timeoutMs: time, compensate: compensation };

const stepFields: Readonly<Record<PlanStep['type'], Fields>> = {
  job: { required: { kind }, optional: job },
  each: { required: { kind, over: ref, parallel: whole(1, limits.parallel) }, optional: job },
  wait: {
    required: { event: text(name100, nameWords) },
    optional: { timeoutMs: time, onTimeout: only('skip') },
  },
  timer: { required: { ms: time } },
};

const stepChecks = Object.fromEntries(
  Object.entries(stepFields).map(([type, { required, optional }]) => [
    type,
    object(
      {
        required: { id: stepId, type: () => {}, ...required },
        optional: { ...anyStep, ...optional },
      },
      `a step of type ${type}`,
    ),
  ]),
);

/** A step by itself; `position` counts from 1. */
export function checkStep(value: unknown, position: number): asserts value is PlanStep {
  const { id, type } = isObject(value) ? value : {};
  const owner =
    typeof id === 'string' && name100.test(id) ? `step ${id}` : `the ${ordinal(position)} step`;
  if (!isObject(value)) throw wrong(`${owner} must be an object`);
  const check =
    typeof type === 'string' && Object.hasOwn(stepChecks, type) ? stepChecks[type] : undefined;
  if (!check) throw wrong(`${owner}: type must be one of ${Object.keys(stepFields).join(', ')}`);
  check(value, { owner, path: '' });
}

const ordinal = (n: number) =>
  `${n}${n % 100 > 10 && n % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')}`;

const steps: Check = (value, place) => {
  if (!Array.isArray(value) || value.length === 0)
    throw fault(place, 'must be a list of steps, of one at least');
  if (value.length > limits.steps)
    throw fault(place, `has ${value.length} steps; a plan has at most ${limits.steps}`);
};

/** The plan around its steps. */
export const checkPlan = object(
  {
    required: {
      schemaVersion: (value, place) => {
        if (value !== 1) throw fault(place, 'must be 1: this version of Writ knows no other');
      },
      planId: text(name100, nameWords),
      planVersion: text(
        /^[A-Za-z0-9][A-Za-z0-9_.+-]{0,39}$/,
        '1 to 40 letters, digits and _ . + - such as 1.2.0',
      ),
      steps,
    },
    optional: { onFailure: only('pause') },
  },
  'a plan',
);
