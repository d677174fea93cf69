/**
 * Compiled checks of what a request brings. Nothing is converted but query parameters, which are
 * texts. A schema is compiled when it is first used: 150 of them take seconds.
 */
import type { TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { InvalidRequest } from './problem.js';

const most = 20;

/** Refuses a value that does not fit, with each place. */
export function validator(part: string, schema: TSchema): (value: unknown) => void {
  let compiled: ReturnType<typeof Compile> | undefined;
  return (value) => {
    compiled ??= Compile(schema);
    if (compiled.Check(value)) return;
    const places = new Map<string, string>();
    for (const { instancePath, message, keyword } of compiled.Errors(value)) {
      const place = `${part}${instancePath}`;
      // The error of a closed object names the field, and stands once more at the field itself.
      if (keyword !== 'additionalProperties' && !places.has(place) && places.size < most)
        places.set(
          place,
          message === 'schema is false' ? 'is not a field of this request' : message,
        );
    }
    throw new InvalidRequest([...places].map(([place, message]) => ({ place, message })));
  };
}

/** Query parameters in the types of their schema. What is no number or truth stays a text. */
export function queryOf(schema: TObject, given: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const { type } = (schema.properties[name] ?? {}) as { type?: string };
      if (type === 'integer' && typeof value === 'string' && /^(?:0|[1-9]\d{0,15})$/.test(value))
        return [name, Number(value)];
      if (type === 'boolean' && (value === 'true' || value === 'false'))
        return [name, value === 'true'];
      return [name, value];
    }),
  );
}
