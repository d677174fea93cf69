// @ts-check
// What the workers of the wire's runs do: the steps of the runs' fault run, and governors.

/** What could not be decided for a moment is decided later: the checker counts what was not. */
const onError = () => undefined;

export { handlers } from '../runs/plans.mjs';
export const governor = { actions: [], onError };
