import type { StandardSchemaV1 } from '@standard-schema/spec';
import { WritRefusal } from '../errors/index.js';

/**
 * A value as its schema makes it; refuses one that does not fit, in the name of what it was for.
 */
export async function parseWith(
  schema: StandardSchemaV1<unknown, unknown>,
  value: unknown,
  name: string,
): Promise<unknown> {
  const result = await schema['~standard'].validate(value);
  if (!result.issues) return result.value;
  const issues = result.issues.slice(0, 5).map((issue) => {
    const path = issue.path
      ?.map((part) => String(typeof part === 'object' ? part.key : part))
      .join('.');
    return path ? `${path}: ${issue.message}` : issue.message;
  });
  throw new WritRefusal('invalid_input', `${name}: ${issues.join('; ')}`);
}
