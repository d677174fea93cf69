/** Puts the parameters of a template in their places. Nothing here needs Node. */

interface Step {
  readonly step_type: string;
  readonly target: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Returns a step of a template with its parameters in their places, as writ_data.filled does. */
export function filled<S extends Step>(step: S, params: Readonly<Record<string, unknown>>): S {
  const place = 'new_value' in step.parameters ? 'new_value' : 'value';
  if (!(place in step.parameters)) return step;
  return {
    ...step,
    parameters: { ...step.parameters, [place]: fillValue(step.parameters[place], params) },
  };
}

function fillValue(value: unknown, params: Readonly<Record<string, unknown>>): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((one) => fillValue(one, params));
  const entries = Object.entries(value);
  const [first] = entries;
  if (entries.length === 1 && first?.[0] === '$param')
    return Object.hasOwn(params, String(first[1])) ? params[String(first[1])] : null;
  return Object.fromEntries(entries.map(([key, one]) => [key, fillValue(one, params)]));
}
