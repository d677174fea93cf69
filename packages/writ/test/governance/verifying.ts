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

/** Starts it for a connection, unless that has one; it ends with the connection. */
export function verifying(writ: Working): Promise<unknown> {
  const known =
    begun.get(writ) ?? writ.work([], { governance: 'verify', trust: 'database', poll: '200ms' });
  begun.set(writ, known);
  return known;
}
