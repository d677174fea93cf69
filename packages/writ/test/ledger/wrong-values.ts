/**
 * Values that do not fit a schema, worked out from the schema alone: of every other type, beyond
 * each bound, and wrong in each part.
 */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly propertyNames?: Schema;
  readonly additionalProperties?: unknown;
  readonly items?: Schema | readonly Schema[];
  readonly required?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly uniqueItems?: boolean;
}

const samples: Record<string, unknown[]> = {
  null: [null],
  boolean: [true, false],
  string: ['', 'Some text that nobody expects'],
  number: [0.5, -1.25],
  integer: [3],
  array: [[], [1]],
  object: [{}, { a: 1 }],
};

function typesOf(schema: Schema): string[] {
  if (schema.anyOf) return schema.anyOf.flatMap(typesOf);
  if (schema.enum) return ['string'];
  if (schema.const !== undefined) return [typeof schema.const];
  if (schema.type === 'number') return ['number', 'integer'];
  return [schema.type as string];
}

export function wrongValues(schema: Schema): unknown[] {
  const types = typesOf(schema);
  const others = Object.keys(samples).filter((type) => !types.includes(type));
  return [...others.flatMap((type) => samples[type] as unknown[]), ...partsOf(schema)];
}

/** Of the right type, and wrong all the same. */
function partsOf(schema: Schema): unknown[] {
  if (schema.anyOf) return schema.anyOf.flatMap(partsOf);
  if (schema.enum) return ['no_such_word', '', schema.enum.join('|').padEnd(200, '|')];
  if (schema.const !== undefined) return [schema.const === false ? true : 'something else'];
  switch (schema.type) {
    case 'string':
      return [
        'with a NUL \0 in it',
        'half a pair \ud83d of surrogates',
        ...(schema.minLength ? [''] : []),
        'x'.repeat((schema.maxLength ?? 20_000) + 1),
        ...(schema.maxLength === undefined
          ? ['Not of that form', '']
          : ['\u{1f600}'.repeat(schema.maxLength + 1)]),
      ];
    case 'integer':
    case 'number':
      return [
        (schema.minimum as number) - 1,
        (schema.maximum as number) + 1,
        Number.NaN,
        Number.POSITIVE_INFINITY,
        1e300,
        10n,
        ...(schema.type === 'integer' ? [1.5] : []),
      ];
    case 'array':
      return wrongArrays(schema);
    case 'object':
      return wrongObjects(schema);
    default:
      return [];
  }
}

function wrongArrays(schema: Schema): unknown[] {
  const items = schema.items as Schema | readonly Schema[];
  if (Array.isArray(items)) {
    const right = (items as readonly Schema[]).map((item) => item.minimum);
    return [
      right.slice(1),
      [...right, 1],
      ...(items as readonly Schema[]).flatMap((item, at) =>
        wrongValues(item).map((value) => right.with(at, value as number)),
      ),
    ];
  }
  const item = items as Schema;
  const right = item.enum
    ? item.enum[0]
    : (item.items as readonly Schema[]).map((one) => one.minimum);
  return [
    ...wrongValues(item).map((value) => [value]),
    Array(((schema.maxItems as number) ?? 0) + 1).fill(right),
    ...(schema.minItems ? [[]] : []),
    ...(schema.uniqueItems ? [[right, right]] : []),
  ];
}

function wrongObjects(schema: Schema): unknown[] {
  const [free] = Object.values(schema.patternProperties ?? {});
  if (free) {
    const many = Object.fromEntries(
      Array.from({ length: (schema.maxProperties as number) + 1 }, (_, n) => [`name${n}`, true]),
    );
    return [
      ...wrongValues(free).map((value) => ({ name: value })),
      many,
      { 'not a name': true },
      { ['n'.repeat(65)]: true },
      { '': true },
    ];
  }
  // A commitment: the one object with fields of its own that a context may hold.
  const fields = Object.entries(schema.properties ?? {});
  const right = Object.fromEntries(fields.map(([name]) => [name, 'ab'.repeat(32)]));
  return [
    { ...right, colour: 'crimson' },
    ...fields.flatMap(([name, field]) =>
      wrongValues(field).map((value) => ({ ...right, [name]: value })),
    ),
  ];
}
