/** Schemas that several operations use. Objects are closed: an unknown field is refused. */
import Type, { type TProperties, type TSchema } from 'typebox';

export const object = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

/** A component of the OpenAPI document. Fields may be added later, so an answer may have more. */
export const component = <Properties extends TProperties>(title: string, properties: Properties) =>
  Type.Object(properties, { title });

export const optional = Type.Optional;
export const text = (maxLength = 200) => Type.String({ minLength: 1, maxLength });
export const uuid = () =>
  Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' });
export const time = () => Type.String({ description: 'RFC 3339.' });
export const nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);
export const oneOf = <Names extends readonly string[]>(names: Names) =>
  Type.Union(names.map((name) => Type.Literal(name))) as unknown as ReturnType<
    typeof Type.Unsafe<Names[number]>
  >;
/** Any JSON value. */
export const json = () => Type.Unknown();
export const integer = (minimum = 0, maximum = Number.MAX_SAFE_INTEGER) =>
  Type.Integer({ minimum, maximum });
export const list = <Schema extends TSchema>(schema: Schema) => Type.Array(schema);

export const paging = {
  limit: optional(integer(1, 100)),
  after: optional(Type.String({ maxLength: 2_000, description: 'The `next` of the page before.' })),
};

/** A page of a list, with the place where the next one begins. */
export const pageOf = <Schema extends TSchema>(row: Schema) =>
  Type.Object({ items: Type.Array(row), next: nullable(Type.String()) });

export const byId = object({ id: uuid() });
export const reason = () => Type.String({ minLength: 1, maxLength: 4_000 });

/** A moment in a request, with its zone. */
export const moment = () =>
  Type.String({
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,6})?)?(Z|[+-]\\d\\d:\\d\\d)$',
  });

/** A moment of a request as the typed API takes it; nothing where none was given. */
export const timeOf = <Name extends string>(
  name: Name,
  given: string | undefined,
): { readonly [name in Name]?: Date } =>
  given === undefined ? {} : ({ [name]: new Date(given) } as { [name in Name]: Date });
