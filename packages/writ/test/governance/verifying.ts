/**
 * Approvals count when an applier has verified them. This one verifies, and does nothing else: the
 * other workers of a test may begin later.
 */
interface Working {
  work(
    handlers: readonly never[],
    options: { governance: 'verify'; trust: 'database'; poll: '200ms' },
  ): Promise<unknown>;
}

const begun = new WeakMap<Working, Promise<unknown>>();

/** Starts one for a connection, which reads with the step types that this knows by now, too. */
export const reading = (writ: Working): Promise<unknown> =>
  writ.work([], { governance: 'verify', trust: 'database', poll: '200ms' });

/** Starts it for a connection, unless that has one; it ends with the connection. */
export function verifying(writ: Working): Promise<unknown> {
  const known = begun.get(writ) ?? reading(writ);
  begun.set(writ, known);
  return known;
}
