/**
 * What the fields of a context are made of. Every text is bounded and can be stored as JSON in a
 * database, every number can be carried by JSON exactly, and everything that names a person or is
 * free text can stand there erasably: as the hash of a value that is kept elsewhere.
 */
import Type from '../typebox.js';

/** No NUL, which jsonb cannot hold, and no half of a surrogate pair, which UTF-8 cannot. */
const storable = '^[^\\u0000\\ud800-\\udfff]*$';
const longestText = 1_000;

/** A name, an identifier: never about a person. */
export const text = (description: string, maxLength = 200) =>
  Type.String({ minLength: 1, maxLength, pattern: storable, description });

/** A word that programs switch on. */
export const code = (description: string) =>
  Type.String({ title: 'code', pattern: '^[a-z][a-z0-9_.:-]{0,99}$', description });

/** One of a known list of words. */
export const oneOf = <const Words extends string[]>(
  words: readonly [...Words],
  description: string,
) => Type.Enum(words, { description });

export const integer = (description: string, minimum = 0) =>
  Type.Integer({ minimum, maximum: Number.MAX_SAFE_INTEGER, description });

/** An integer that may be below zero. */
export const difference = (description: string) => integer(description, Number.MIN_SAFE_INTEGER);

export const number = (description: string) =>
  Type.Number({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, description });

export const boolean = (description: string) => Type.Boolean({ description });

export const uuid = (description: string) =>
  Type.String({
    title: 'UUID',
    pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
    description,
  });

/** SHA-256 in hex. */
export const hash = (description: string) =>
  Type.String({ title: 'SHA-256 in hex', pattern: '^[0-9a-f]{64}$', description });

/** A moment in UTC, to the second or finer. */
export const moment = (description: string) =>
  Type.String({
    title: 'moment in UTC',
    pattern:
      '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?Z$',
    description,
  });

/** What stands in a context in place of an erasable value: its salted hash. */
export const Commitment = Type.Object(
  { erasable: Type.String({ pattern: '^[0-9a-f]{64}$' }) },
  { additionalProperties: false },
);
export type Commitment = Type.Static<typeof Commitment>;

/** What a person wrote, or what names one: itself, or erasable. */
export const prose = (description: string) =>
  Type.Union(
    [Type.String({ minLength: 1, maxLength: longestText, pattern: storable }), Commitment],
    {
      title: 'text up to 1000, or erasable',
      description,
    },
  );

/** Names and plain values that somebody else decides upon. */
export const labels = (description: string) =>
  Type.Record(
    Type.String(),
    Type.Union([
      Type.String({ maxLength: longestText, pattern: storable }),
      Type.Number({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
      Type.Boolean(),
      Commitment,
    ]),
    {
      title: 'names with texts, numbers and booleans, or erasable',
      additionalProperties: false,
      propertyNames: { pattern: '^[A-Za-z][A-Za-z0-9_.-]{0,63}$' },
      maxProperties: 20,
      description,
    },
  );
