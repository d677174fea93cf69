/**
 * What of a schema the gate can check by itself, as JSON Schema: a delivery may come from a caller
 * that has nothing but SQL. Standard Schemas that can give JSON Schema (zod, valibot, arktype, …)
 * are asked for that of their input. Keywords that SQL and JavaScript understand differently are
 * left out, so that the gate never refuses what the schema takes: patterns, formats, refinements,
 * and references. The library checks those, where it knows the plan.
 */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type PayloadSchema = { readonly [key: string]: Json };

/** A larger schema is checked by the library alone. */
export const mostBytes = 8_192;

/** The part of a schema that goes into the plan; undefined if there is none. */
export function payloadSchemaOf(schema: StandardSchemaV1): PayloadSchema | undefined {
  const { jsonSchema } = schema['~standard'] as Partial<StandardJSONSchemaV1.Props>;
  if (!jsonSchema) return undefined;
  try {
    const given = jsonSchema.input({
      target: 'draft-2020-12',
      libraryOptions: { unrepresentable: 'any' },
    });
    const checked = part(given);
    const whole = takesNothing(schema) ? { anyOf: [{ type: 'null' }, checked] } : checked;
    const isEmpty = Object.keys(checked).length === 0;
    return isEmpty || Buffer.byteLength(JSON.stringify(whole)) > mostBytes ? undefined : whole;
  } catch {
    return undefined; // it cannot be given as JSON Schema
  }
}

/** Whether a delivery without a payload fits. */
function takesNothing(schema: StandardSchemaV1): boolean {
  const result = schema['~standard'].validate(undefined);
  return result instanceof Promise || !result.issues;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const parts = (value: unknown) => (value as unknown[]).map(part);

function part(schema: unknown): PayloadSchema {
  if (schema === false) return { enum: [] };
  if (!isObject(schema)) return {};
  const kept: Record<string, Json> = {};
  for (const name of [
    'type',
    'const',
    'enum',
    'required',
    'minItems',
    'maxItems',
    'minLength',
    'maxLength',
  ] as const)
    if (schema[name] !== undefined) kept[name] = schema[name] as Json;
  for (const name of ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const)
    if (typeof schema[name] === 'number') kept[name] = schema[name];
  if (isObject(schema.properties))
    kept.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, value]) => [name, part(value)]),
    );
  if (
    schema.additionalProperties !== undefined &&
    schema.additionalProperties !== true &&
    !schema.patternProperties
  )
    kept.additionalProperties =
      schema.additionalProperties === false ? false : part(schema.additionalProperties);
  if (schema.items !== undefined && schema.items !== true && !schema.prefixItems)
    kept.items = part(schema.items);
  if (Array.isArray(schema.allOf)) kept.allOf = parts(schema.allOf);
  // Of less strict parts more than one may fit.
  const either = Array.isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
  if (Array.isArray(either)) kept.anyOf = parts(either);
  return kept;
}
